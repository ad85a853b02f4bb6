/*
 * fbsd_pairs.h - which binary patches a server may have: of two states of one path, from the older content to the newer.
 */
#ifndef BUILD_FBSD_PAIRS_H
#define BUILD_FBSD_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/fbsd_get.h"
#include "dray/err.h"
#include "dray/fbsd_lines.h"

enum build_fbsd_chance {
	BUILD_FBSD_LIKELY,		/* a server that makes patches has made this one */
	BUILD_FBSD_NEWEST,		/* clients may ask for it: the new content is what the release holds now */
	BUILD_FBSD_ANY,
};

struct build_fbsd_pair {
	uint8_t from[32], to[32];
	const char *path;		/* @path_len bytes, of the lines that it came from */
	size_t path_len;
	bool cross;			/* to-RELEASE/ARCH/bp instead of RELEASE/ARCH/bp */
	enum build_fbsd_chance chance;
};

struct build_fbsd_pairs {
	struct build_fbsd_pair *v;	/* by new content, the better chance first, then that within the release */
	size_t n, cap;
};

void build_fbsd_pairs_free(struct build_fbsd_pairs *p);

/**
 * build_fbsd_pairs_of - all that lead to contents of the release @m
 * @from: @n_from releases at the same server, @m among them or not
 * Errors: those of dray_fbsd_lines_add.
 */
DRAY_MUST_CHECK int build_fbsd_pairs_of(struct build_fbsd_pairs *p, const struct build_fbsd_meta *m,
    struct build_fbsd_meta *const *from, size_t n_from, const struct dray_fbsd_parts *parts, struct dray_err *e);

/** build_fbsd_pair_path - with the server, for a content of the release @m */
void build_fbsd_pair_path(const struct build_fbsd_pair *p, const struct build_fbsd_meta *m, char path[400]);

#endif
