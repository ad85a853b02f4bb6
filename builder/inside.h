/*
 * inside.h - which contents are a .gz that is packed as what is inside it.
 */
#ifndef BUILD_INSIDE_H
#define BUILD_INSIDE_H

#include "builder/pack_read.h"
#include "builder/work.h"
#include "dray/err.h"

/**
 * build_insides_find - look into each .gz of the release that travels, and into those of the bases; the phase "gzip" if there
 * are any
 * @rs: of @r; gets inside, wrap and make_ns of its contents. All of them are 0
 * @budget_ns: what making all .gz of the release again may cost on the target, by apply_cost.h
 * One of the release must come out bit by bit from its inside, by dray_gzip_make; what does not is taken as it is. So is what
 * people edit. Depends on contents and budget alone.
 */
DRAY_MUST_CHECK int build_insides_find(struct build_resolved *rs, struct pack_reader *r, struct build_work *o,
    uint64_t budget_ns, struct dray_err *e);

/** build_insides_forget - take all contents as they are. Return: were there any that travel? */
bool build_insides_forget(struct build_resolved *rs);

#endif
