/*
 * bundle.h - a bundle in parts that can be bent one by one, and the one function that makes right again what hangs on
 * them. None of the product's writers is used: only hashing, signing and the layout of index rows.
 */
#ifndef HOSTILE_BUNDLE_H
#define HOSTILE_BUNDLE_H

#include "dray/index.h"
#include "dray/key.h"

#include "bytes.h"

enum { FRAMES_MAX = 8, EDITS_MAX = 80, NOTES_MAX = 1100 };

/* something to be done to the bytes of a later stage: kept as words, done when that stage is reached */
struct edit {
	const char *op;
	const char *arg[6];
};

struct edits {
	struct edit e[EDITS_MAX];
	size_t n;
};

struct bundle {
	struct bytes table[DRAY_TABLES];	/* rows; STRINGS: bytes */
	struct bytes frame[FRAMES_MAX];		/* stored bytes */
	size_t n_frames;
	uint32_t chunk_len[DRAY_TABLES];	/* bytes of output of a chunk; 0: all in one */
	struct { char name[101]; struct bytes data; } note[NOTES_MAX];
	size_t n_notes;
	uint64_t slot;				/* size of dray.sig */
	bool unsigned_;
	struct edits late,		/* fields of FRAMES that follow from what was made */
	    chunk, dir, json, text, record, slot_bytes, file;
	/* made by bundle_make */
	struct bytes json_text, out;
	size_t member_at[NOTES_MAX + 16];	/* where headers begin: dray.json, dray.sig, README.txt, ... */
	size_t n_members;
	size_t blocks, length;
	size_t index_len[2];
	uint8_t sha[2][32];			/* of README.txt and of index/00 */
};

struct bundle *bundle_good(void);	/* one that every reader takes */
void bundle_free(struct bundle *b);

/** bundle_make - chunks, hashes, dray.json, signed text, signature, layout; each edit where its turn is. In b->out */
void bundle_make(struct bundle *b, const struct dray_key *key);

/** bundle_zstd - one frame of raw blocks around @p; @how: "plain", or one of the flaws of tools/hostile/README.md */
void bundle_zstd(const uint8_t *p, size_t len, const char *how, struct bytes *out);

/** bundle_bend - one operation of a table, its words in @w; false: there is no such operation */
bool bundle_bend(struct bundle *b, char *const *w, size_t n);

/* used by bundle_make, in the file that knows the bytes */
void bundle_json(struct bundle *b);				/* b->json_text, once the sizes are known */
void bundle_apply_json(struct bytes *json, const struct edit *e);
void bundle_apply_file(struct bundle *b, const struct edit *e);
void bundle_set(struct bundle *b, int table, const char *row, const char *field, uint64_t v);

#define HOSTILE_README "How to read this file: spec/bundle-format.md\n"

/* contents of the good bundle, for the tree that it upgrades */
#define GOOD_FOX "the quick brown fox jumps over the lazy dog"
#define GOOD_CAT "the quick brown cat jumps over the lazy dog"

#endif
