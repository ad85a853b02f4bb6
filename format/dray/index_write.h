/*
 * index_write.h - build the tables. Rows are added in the order the spec demands; the writer lays out chunks,
 * compresses them on all cores and gives the bytes of index/00 and index/01. Never linked into dray-install.
 */
#ifndef DRAY_INDEX_WRITE_H
#define DRAY_INDEX_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"
#include "dray/index.h"

struct dray_index_writer;

DRAY_MUST_CHECK int dray_iw_new(struct dray_index_writer **out, struct dray_err *e);
void dray_iw_free(struct dray_index_writer *w);

/* Each returns the row number in *row. Equal attribute sets, component sets and states are found again. Limits and
 * grammar of the spec are enforced here as by the reader (DRAY_E_FORMAT names the path). */
DRAY_MUST_CHECK int dray_iw_attrs(struct dray_index_writer *w, const struct dray_attrs *a,
    const struct dray_xattr *x, size_t n_x, uint32_t *row, struct dray_err *e);	/* xattr_first/count are ignored */
DRAY_MUST_CHECK int dray_iw_compset(struct dray_index_writer *w, uint64_t mask, uint32_t *row, struct dray_err *e);
DRAY_MUST_CHECK int dray_iw_state(struct dray_index_writer *w, const struct dray_state *s, uint32_t *row, struct dray_err *e);
/* contents: in the order in which states first name them; recipes and frames are set later */
DRAY_MUST_CHECK int dray_iw_content(struct dray_index_writer *w, uint64_t size, const uint8_t sha256[32],
    uint32_t *row, struct dray_err *e);		/* an equal one (size and hash) is found again */
DRAY_MUST_CHECK int dray_iw_entry(struct dray_index_writer *w, const struct dray_entry *en,
    const struct dray_alt *alts, size_t n_alts, struct dray_err *e);	/* path order; alt_first/count ignored */
DRAY_MUST_CHECK int dray_iw_frame(struct dray_index_writer *w, const struct dray_frame *f,
    const struct dray_range *r, size_t n_r, uint32_t *row, struct dray_err *e);	/* bundle order; .at and .range_*
	 * ignored, .raw 0: as .out; contents of ranges are rows that dray_iw_content gave */
/* all recipes of one content, best first; any content at most once */
DRAY_MUST_CHECK int dray_iw_recipes(struct dray_index_writer *w, uint32_t content,
    const struct dray_recipe *recipes, size_t n, const struct dray_piece *const *pieces, struct dray_err *e);

/** dray_iw_finish - @level: zstd level of the chunks; both outputs malloc'ed */
DRAY_MUST_CHECK int dray_iw_finish(struct dray_index_writer *w, int level, unsigned threads,
    uint8_t **dir, size_t *dir_len, uint8_t **chunks, size_t *chunks_len, struct dray_err *e);

#endif
