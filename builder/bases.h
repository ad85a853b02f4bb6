/*
 * bases.h - for each wanted content the old contents it is best made from, and what kind of content it is.
 */
#ifndef BUILD_BASES_H
#define BUILD_BASES_H

#include <stddef.h>
#include <stdint.h>

#include "builder/pack_read.h"
#include "builder/resolve.h"
#include "builder/work.h"
#include "dray/err.h"

enum build_kind {	/* in the order in which frames of small contents are filled */
	BUILD_TEXT, BUILD_CATALOGUE, BUILD_BINARY, BUILD_OBJECT, BUILD_DENSE,
	BUILD_PROGRAM,		/* ELF executable or shared object: a frame of its own */
	BUILD_PROGRAM_X86,	/* the same, and the filter helps */
};

struct build_choice {
	uint32_t content, base;	/* rows */
	uint64_t bases;		/* the base is chosen for these, and all of them hold it, a history at times */
};

struct build_bases {
	uint8_t *kind;		/* by content: enum build_kind, of the wanted and the former ones */
	struct build_choice *v;	/* by content, then by lowest base, then by row of the old content */
	size_t n;
};

/**
 * build_bases_choose - look at all contents once; the phase "compare"
 * Of a history each state of the chosen path is a choice of its own: a machine has one of them.
 * Takes the sums of wanted contents above DRAY_FRAME_DEFAULT. Depends on contents and paths alone.
 */
DRAY_MUST_CHECK int build_bases_choose(struct pack_reader *r, struct build_work *o, struct build_bases *out,
    struct dray_err *e);
void build_bases_free(struct build_bases *b);

/** build_kind_of - from the first bytes of a content */
enum build_kind build_kind_of(const uint8_t *p, size_t len);

/** build_fold_cmp - an order of paths in which numbers and versions do not count */
int build_fold_cmp(const char *a, size_t a_len, const char *b, size_t b_len);

/* names of files of the bases, looked up with versions folded */
struct build_names;
DRAY_MUST_CHECK int build_names_new(const struct build_resolved *rs, struct build_names **out, struct dray_err *e);
void build_names_free(struct build_names *n);

/** build_names_find - the file of base @base whose name is most like @path: its number in rs->olds; DRAY_NONE: none has its
 * last part */
uint32_t build_names_find(const struct build_names *n, const char *path, size_t len, unsigned base);

#endif
