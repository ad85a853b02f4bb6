/*
 * staging.h - the inside of stage: what is wanted, and what each worker holds. Not for others.
 */
#ifndef INST_STAGING_H
#define INST_STAGING_H

#include <pthread.h>
#include <stdatomic.h>

#include "dray/digest.h"
#include "dray/frame.h"
#include "dray/gzip.h"
#include "dray/meter.h"
#include "dray/pool.h"

#include "installer/place.h"
#include "installer/stage.h"

/* a content of several pieces: they are written in any order and hashed in theirs */
struct pieces {
	pthread_mutex_t lock;
	pthread_cond_t turn;
	uint32_t next;
	struct dray_sha256 *hash;
};

/* one content that must be made, for all nodes that hold it */
struct want {
	uint32_t content;
	uint32_t first_node;		/* chained by stage.next_node */
	uint32_t ordinal;		/* of the recipe in use */
	uint32_t n_pieces;
	uint32_t n_nodes;
	struct pieces *pieces;		/* made for more than one; owned */
	uint8_t kind, wrap;		/* DRAY_RECIPE_*, DRAY_DEFLATE_* of the recipe in use */
	bool have;			/* made, or taken over from an earlier staging */
	bool made;			/* files exist; with several pieces under their lock */
	atomic_bool failed;		/* what it was made from was not what the recipe needs: the next recipe's turn */
};

/* one piece of a wanted content, found in a frame */
struct use {
	uint32_t frame, want, piece, offset, len;
	uint64_t at;			/* in the content */
};

struct stage_worker {
	struct dray_decoder *dec;
	struct dray_sha256 *sha;
	uint8_t *out;			/* one frame's output */
	struct dray_gzip_room gzip;
	uint8_t *ref;			/* base bytes of a delta frame */
	size_t ref_len, ref_cap;
	struct dray_range *ranges;	/* of that frame */
	size_t ranges_cap;
	struct inst_place place;
	struct dray_walk live;		/* beneath the root */
};

struct stage {
	int root;
	const struct dray_bundle *b;
	const struct dray_index *ix;
	struct inst_plan *p;
	struct inst_tx *tx;
	struct inst_stage_opts *o;
	unsigned threads;
	struct want *wants;
	size_t n_wants;
	struct use *uses;		/* by frame, then content */
	size_t n_uses;
	uint32_t *next_node;		/* per node: next one of the same content */
	uint32_t *link_to;		/* per node: the node whose inode it shares, DRAY_NONE: its own */
	uint32_t *copies;		/* wants whose recipe is a copy of a live file, in this pass */
	size_t n_copies;
	uint32_t *plain;		/* nodes made without the bundle: no file, empty, or copied from the live tree */
	size_t n_plain;
	struct stage_worker *workers;
	size_t n_workers;
	struct dray_pool *pool;
	struct dray_meter meter;	/* bytes of output */
};

/* want.c */
DRAY_MUST_CHECK int inst_stage_collect(struct stage *s, struct dray_err *e);
DRAY_MUST_CHECK int inst_stage_list_uses(struct stage *s, struct dray_err *e);
/* after a pass: wants that failed get their next recipe; *again: there are some. DRAY_E_DRIFT when one has none. */
DRAY_MUST_CHECK int inst_stage_fall_back(struct stage *s, bool *again, struct dray_err *e);
void inst_stage_release(struct stage *s);
DRAY_MUST_CHECK int inst_stage_workers(struct stage *s, size_t n, struct dray_err *e);

/* object.c */
DRAY_MUST_CHECK int inst_stage_node_at(struct stage *s, struct inst_place *pl, uint32_t node, int *dir,
    char leaf[DRAY_NAME_MAX + 1], struct dray_err *e);
DRAY_MUST_CHECK int inst_stage_make_dirs(struct stage *s, struct dray_err *e);
DRAY_MUST_CHECK int inst_stage_make_plain(struct stage *s, struct dray_err *e);
DRAY_MUST_CHECK int inst_stage_make_copies(struct stage *s, struct dray_err *e);
DRAY_MUST_CHECK int inst_stage_make_links(struct stage *s, struct dray_err *e);
DRAY_MUST_CHECK int inst_stage_close_dirs(struct stage *s, struct dray_err *e);
/* file flags of what lies inside a directory that goes as a whole; the op of what has a slot of its own sets them */
DRAY_MUST_CHECK int inst_stage_fflags(struct stage *s, struct dray_err *e);
DRAY_MUST_CHECK int inst_stage_create(struct stage *s, struct inst_place *pl, uint32_t node, int *fd, struct dray_err *e);
DRAY_MUST_CHECK int inst_stage_dress(struct stage *s, struct inst_place *pl, uint32_t node, int fd, struct dray_err *e);
int inst_stage_blame(struct stage *s, uint32_t node, struct dray_err *e);	/* wrap with the node's path; -1 */

/* output_copy.c: what triggers will change, copied into its slot */
DRAY_MUST_CHECK int inst_stage_outputs(struct stage *s, struct dray_err *e);

/* content.c */
/* @good: w->out holds the frame's output; false: it could not be made, so the want fails and the next recipe is tried */
DRAY_MUST_CHECK int inst_stage_use(struct stage *s, struct stage_worker *w, const struct use *u, bool good,
    struct dray_err *e);
DRAY_MUST_CHECK int inst_stage_unmake(struct stage *s, struct want *w, struct dray_err *e);	/* delete what it has written */

/* reference.c */
DRAY_MUST_CHECK int inst_stage_reference(struct stage *s, struct stage_worker *w, const struct dray_frame *f, bool *here,
    struct dray_err *e);

/* reuse.c */
DRAY_MUST_CHECK int inst_stage_write_manifest(struct stage *s, struct dray_err *e);
DRAY_MUST_CHECK int inst_stage_reuse(struct stage *s, struct dray_err *e);

/* stage_cost.c: for the progress alone, by the weights of dray/meter.h; frames and pieces as they are told when they are done */
uint64_t inst_stage_cost_frame(const struct stage *s, const struct dray_frame *f);
uint64_t inst_stage_cost_use(const struct want *w, uint32_t piece, uint32_t len);
/* of the bytes of a live file that are copied once */
uint64_t inst_stage_cost_copy(uint64_t bytes);
/* what is still to be done, with the recipes in use; @plain: what is made without the bundle as well */
DRAY_MUST_CHECK int inst_stage_cost_left(const struct stage *s, bool plain, uint64_t *sum, struct dray_err *e);
/* has a signal come? -1: DRAY_E_SIGNAL */
DRAY_MUST_CHECK int inst_stage_stopped(const struct stage *s, struct dray_err *e);

#endif
