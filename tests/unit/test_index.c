/*
 * test_index.c - for each rule of bundle-format.md 5 to 7 one index that breaks it alone, and the whole message.
 */
#include <stddef.h>

#include "test.h"

#include "index_raw.h"

/* what is spoilt: a field, bytes of a path or of another text, the number of rows, a field of the descriptor */
enum what { NOTHING, FIELD, PATH, TEXT, ROWS, DESC };

struct patch {
	enum what what;
	enum dray_table t;
	size_t row, at, size;
	uint64_t value;
	const char *text;
};

struct bad {
	const char *name;
	enum dray_code code;
	const char *text;		/* the message after "index: "; with "..." at its end, how it begins */
	struct patch p[4];
};

#define DAMAGED DRAY_E_FORMAT
#define NEWER DRAY_E_NEWER
#define SET(t, row, at, size, value) { FIELD, t, row, at, size, value, NULL }
#define NAME(entry, text) { PATH, DRAY_T_ENTRIES, entry, 0, 0, 0, text }	/* no longer than the path that is there */
#define LETTER(t, row, at, skip, c) { TEXT, t, row, at, skip, c, NULL }	/* one byte of the text a field points to */
#define COUNT(t, n) { ROWS, t, n, 0, 0, 0, NULL }
#define DECLARE(field, value) { DESC, 0, 0, offsetof(struct dray_desc, field), sizeof(((struct dray_desc *)0)->field), value, NULL }

static const struct bad bads[] = {
	/* XATTRS */
	{ "xattr reserved", DAMAGED, "xattr 1: a reserved byte is not zero",
	    { SET(DRAY_T_XATTRS, 1, X_ZERO, 2, 1) } },
	{ "xattr no name", DAMAGED, "xattr 1: its name has 0 bytes, not 1 to 255",
	    { SET(DRAY_T_XATTRS, 1, X_NAME_LEN, 2, 0) } },
	{ "xattr long name", DAMAGED, "xattr 1: its name has 256 bytes, not 1 to 255",
	    { SET(DRAY_T_XATTRS, 1, X_NAME_LEN, 2, 256) } },
	{ "xattr name outside", DAMAGED, "xattr 1: its name lies outside the strings",
	    { SET(DRAY_T_XATTRS, 1, X_NAME, 4, 0xfffffffe) } },
	{ "xattr value outside", DAMAGED, "xattr 1: its value lies outside the strings",
	    { SET(DRAY_T_XATTRS, 1, X_VALUE, 4, 0xffffffff) } },
	{ "xattr long value", DAMAGED, "xattr 1: its value has 65537 bytes, above 65536",
	    { SET(DRAY_T_XATTRS, 1, X_LEN, 4, 65537) } },
	{ "xattr NUL", DAMAGED, "xattr 1: its name holds a NUL byte",
	    { LETTER(DRAY_T_XATTRS, 1, X_NAME, 5, 0) } },
	{ "xattr twice", DAMAGED, "xattr 1: names of set 0 do not ascend",
	    { LETTER(DRAY_T_XATTRS, 1, X_NAME, 5, 'a') } },
	{ "xattr first set", DAMAGED, "xattr 0: set 1 is out of order",
	    { SET(DRAY_T_XATTRS, 0, X_SET, 4, 1) } },
	{ "xattr set skipped", DAMAGED, "xattr 2: set 2 is out of order",
	    { SET(DRAY_T_XATTRS, 2, X_SET, 4, 2) } },
	{ "xattr set back", DAMAGED, "xattr 2: set 0 is out of order",
	    { SET(DRAY_T_XATTRS, 1, X_SET, 4, 1), SET(DRAY_T_XATTRS, 2, X_SET, 4, 0) } },
	/* ATTRS */
	{ "attrs unknown bit", DAMAGED, "attribute set 1: unknown attribute bits 0x21",
	    { SET(DRAY_T_ATTRS, 1, A_HAS, 2, 33) } },
	{ "attrs reserved", DAMAGED, "attribute set 1: a reserved byte is not zero",
	    { SET(DRAY_T_ATTRS, 1, A_HAS + 2, 2, 1) } },
	{ "attrs mode", DAMAGED, "attribute set 1: mode 010000 is above 07777",
	    { SET(DRAY_T_ATTRS, 1, A_MODE, 4, 010000) } },
	{ "attrs absent uid", DAMAGED, "attribute set 1: an absent attribute has a value",
	    { SET(DRAY_T_ATTRS, 1, A_UID, 4, 1) } },
	{ "attrs absent xattrs", DAMAGED, "attribute set 1: an absent attribute has a value",
	    { SET(DRAY_T_ATTRS, 1, A_XSET, 4, 0) } },
	{ "attrs set outside", DAMAGED, "attribute set 4: names xattr set 2 of 2",
	    { SET(DRAY_T_ATTRS, 4, A_XSET, 4, 2) } },
	/* COMPSETS */
	{ "compset empty", DAMAGED, "component set 1: is empty",
	    { SET(DRAY_T_COMPSETS, 1, 0, 8, 0) } },
	{ "compset unknown", DAMAGED, "component set 1: names a component that is not declared",
	    { DECLARE(n_components, 1) } },
	/* STATES */
	{ "state type 0", DAMAGED, "state 8: unknown type 0",
	    { SET(DRAY_T_STATES, ST_PIPE, S_TYPE, 1, 0) } },
	{ "state type 7", DAMAGED, "state 8: unknown type 7",
	    { SET(DRAY_T_STATES, ST_PIPE, S_TYPE, 1, 7) } },
	{ "state flags", DAMAGED, "state 8: unknown flags 0x2",
	    { SET(DRAY_T_STATES, ST_PIPE, S_FLAGS, 1, 2) } },
	{ "state reserved", DAMAGED, "state 8: a reserved byte is not zero",
	    { SET(DRAY_T_STATES, ST_PIPE, S_ZERO, 2, 256) } },
	{ "state attrs", DAMAGED, "state 8: names attribute set 5 of 5",
	    { SET(DRAY_T_STATES, ST_PIPE, S_ATTRS, 4, 5) } },
	{ "state absent mtime", DAMAGED, "state 8: an absent attribute has a value",
	    { SET(DRAY_T_STATES, ST_PIPE, S_NSEC, 4, 1) } },
	{ "state nanoseconds", DAMAGED, "state 0: 1000000000 nanoseconds are a second or more",
	    { SET(DRAY_T_STATES, ST_DIR, S_NSEC, 4, 1000000000) } },
	{ "state content", DAMAGED, "state 1: names content 5 of 5",
	    { SET(DRAY_T_STATES, ST_LS, S_A, 4, 5) } },
	{ "state content order", DAMAGED, "state 1: content 1 is not in order of first use",
	    { SET(DRAY_T_STATES, ST_LS, S_A, 4, 1) } },
	{ "state file b", DAMAGED, "state 1: a reserved byte is not zero",
	    { SET(DRAY_T_STATES, ST_LS, S_B, 4, 1) } },
	{ "state fifo a", DAMAGED, "state 8: a reserved byte is not zero",
	    { SET(DRAY_T_STATES, ST_PIPE, S_A, 4, 1) } },
	{ "state dir b", DAMAGED, "state 0: a reserved byte is not zero",
	    { SET(DRAY_T_STATES, ST_DIR, S_B, 4, 1) } },
	{ "state dir link", DAMAGED, "state 0: a directory is in a hard-link group",
	    { SET(DRAY_T_STATES, ST_DIR, S_LINK, 4, 1) } },
	{ "state link outside", DAMAGED, "state 8: its hard-link group begins outside the entries",
	    { SET(DRAY_T_STATES, ST_PIPE, S_LINK, 4, 17) } },
	{ "symlink empty", DAMAGED, "state 7: its symlink target has 0 bytes, not 1 to 4095",
	    { SET(DRAY_T_STATES, ST_LNK, S_B, 4, 0) } },
	{ "symlink long", DAMAGED, "state 7: its symlink target has 4096 bytes, not 1 to 4095",
	    { SET(DRAY_T_STATES, ST_LNK, S_B, 4, 4096) } },
	{ "symlink outside", DAMAGED, "state 7: its symlink target lies outside the strings",
	    { SET(DRAY_T_STATES, ST_LNK, S_A, 4, 0xfffffffd) } },
	{ "symlink NUL", DAMAGED, "state 7: its symlink target holds a NUL byte",
	    { LETTER(DRAY_T_STATES, ST_LNK, S_A, 1, 0) } },
	{ "content unnamed", DAMAGED, "content 4: no state names it",
	    { SET(DRAY_T_STATES, ST_BIG, S_A, 4, CO_EMPTY) } },
	/* FRAMES */
	{ "frame kind", NEWER, "frame 1: kind 3 is not known to this version",
	    { SET(DRAY_T_FRAMES, 1, F_KIND, 1, 3) } },
	{ "frame filter", NEWER, "frame 1: filter 2 is not known to this version",
	    { SET(DRAY_T_FRAMES, 1, F_FILTER, 1, 2) } },
	{ "frame reserved", DAMAGED, "frame 1: a reserved byte is not zero",
	    { SET(DRAY_T_FRAMES, 1, F_ZERO, 2, 1) } },
	{ "frame empty", DAMAGED, "frame 1: 0 bytes of output, the limit is 4194304",
	    { SET(DRAY_T_FRAMES, 1, F_OUT, 4, 0) } },
	{ "frame large", DAMAGED, "frame 1: 2000 bytes of output, the limit is 1999",
	    { DECLARE(limit_frame, 1999) } },
	{ "frame nothing stored", DAMAGED, "frame 1: 0 stored bytes for 2000 bytes of output",
	    { SET(DRAY_T_FRAMES, 1, F_STORED, 4, 0) } },
	{ "frame much stored", DAMAGED, "frame 1: 3032 stored bytes for 2000 bytes of output",
	    { SET(DRAY_T_FRAMES, 1, F_STORED, 4, 3032) } },
	{ "frame ranges", DAMAGED, "frame 1: a plain frame has base ranges",
	    { SET(DRAY_T_FRAMES, 1, F_RANGES, 4, 1) } },
	{ "frame first range", DAMAGED, "frame 1: its base ranges do not follow those before them",
	    { SET(DRAY_T_FRAMES, 1, F_RANGE, 4, 1) } },
	{ "frame first block", DAMAGED, "frame 0: block 1 is out of order",
	    { SET(DRAY_T_FRAMES, 0, F_BLOCK, 4, 1) } },
	{ "frame block skipped", DAMAGED, "frame 2: block 2 is out of order",
	    { SET(DRAY_T_FRAMES, 2, F_BLOCK, 4, 2) } },
	{ "frame block back", DAMAGED, "frame 2: block 0 is out of order",
	    { SET(DRAY_T_FRAMES, 1, F_BLOCK, 4, 1), SET(DRAY_T_FRAMES, 2, F_BLOCK, 4, 0) } },
	{ "frame block wraps", DAMAGED, "frame 1: block 4294967295 is out of order",
	    { SET(DRAY_T_FRAMES, 1, F_BLOCK, 4, 0xffffffff) } },
	{ "range without frame", DAMAGED, "range 0: belongs to no frame",
	    { COUNT(DRAY_T_RANGES, 1) } },
	{ "blocks declared", DAMAGED, "frames fill 2 blocks, 3 are declared",
	    { DECLARE(blocks, 3) } },
	{ "length declared", DAMAGED, "frames end the bundle at byte ...",
	    { DECLARE(length, 512) } },
	{ "block large", DAMAGED, "block 0: 4194424 bytes in 2 frames are above 4194304",
	    { SET(DRAY_T_FRAMES, 1, F_STORED, 4, 4194304), SET(DRAY_T_FRAMES, 1, F_OUT, 4, 4194304),
	    SET(DRAY_T_FRAMES, 1, F_RAW, 4, 4194304) } },
	/* CONTENTS, RECIPES, PIECES */
	{ "content empty size", DAMAGED, "content 0: its size does not fit its hash, which is or is not that of no bytes",
	    { SET(DRAY_T_CONTENTS, CO_LS, N_SIZE, 8, 0) } },
	{ "content huge", DAMAGED, "content 1: 9223372036854775808 bytes are more than a file can have",
	    { SET(DRAY_T_CONTENTS, CO_OLD, N_SIZE, 8, UINT64_C(1) << 63) } },
	{ "content first recipe", DAMAGED, "content 2: its recipes do not follow those before them",
	    { SET(DRAY_T_CONTENTS, CO_X, N_RECIPE, 4, 0) } },
	{ "content many recipes", DAMAGED, "content 2: its recipes do not follow those before them",
	    { SET(DRAY_T_CONTENTS, CO_X, N_RECIPES, 4, 0xffffffff) } },
	{ "recipe kind 0", NEWER, "content 2: recipe 0: kind 0 is not known to this version",
	    { SET(DRAY_T_RECIPES, 1, R_KIND, 1, 0) } },
	{ "recipe kind 4", NEWER, "content 2: recipe 0: kind 4 is not known to this version",
	    { SET(DRAY_T_RECIPES, 1, R_KIND, 1, 4) } },
	{ "recipe reserved", DAMAGED, "content 2: recipe 0: a reserved byte is not zero",
	    { SET(DRAY_T_RECIPES, 1, R_ZERO + 2, 1, 1) } },
	{ "recipe first piece", DAMAGED, "content 2: recipe 0: its pieces do not follow those before them",
	    { SET(DRAY_T_RECIPES, 1, R_PIECE, 4, 2) } },
	{ "recipe many pieces", DAMAGED, "content 2: recipe 0: its pieces do not follow those before them",
	    { SET(DRAY_T_RECIPES, 1, R_PIECES, 4, 4) } },
	{ "recipe unowned", DAMAGED, "content 4: its recipes do not follow those before them",
	    { COUNT(DRAY_T_RECIPES, 3) } },
	{ "recipe left over", DAMAGED, "recipe 3: belongs to no content",
	    { SET(DRAY_T_CONTENTS, CO_BIG, N_RECIPES, 4, 0) } },
	{ "piece missing", DAMAGED, "content 4: recipe 0: its pieces do not follow those before them",
	    { COUNT(DRAY_T_PIECES, 3) } },
	{ "piece left over", DAMAGED, "piece 3: belongs to no recipe",
	    { SET(DRAY_T_RECIPES, 3, R_PIECES, 4, 1), SET(DRAY_T_CONTENTS, CO_BIG, N_SIZE, 8, 2000) } },
	{ "piece frame", DAMAGED, "content 4: recipe 0: piece 1: names frame 3 of 3",
	    { SET(DRAY_T_PIECES, 3, P_FRAME, 4, 3) } },
	{ "piece empty", DAMAGED, "content 4: recipe 0: piece 1: lies outside the output of frame 2",
	    { SET(DRAY_T_PIECES, 3, P_LEN, 4, 0) } },
	{ "piece beyond", DAMAGED, "content 4: recipe 0: piece 1: lies outside the output of frame 2",
	    { SET(DRAY_T_PIECES, 3, P_OFFSET, 4, 1) } },
	{ "piece wraps", DAMAGED, "content 4: recipe 0: piece 1: lies outside the output of frame 2",
	    { SET(DRAY_T_PIECES, 3, P_OFFSET, 4, 2), SET(DRAY_T_PIECES, 3, P_LEN, 4, 0xfffffffe) } },
	{ "piece back", DAMAGED, "content 4: recipe 0: piece 1: does not follow the one before it",
	    { SET(DRAY_T_PIECES, 2, P_FRAME, 4, 2), SET(DRAY_T_PIECES, 2, P_LEN, 4, 1000) } },
	{ "piece sum", DAMAGED, "content 4: recipe 0: its pieces make 2999 bytes of 3000",
	    { SET(DRAY_T_PIECES, 3, P_LEN, 4, 999) } },
	{ "content empty hash", DAMAGED, "content 3: its size does not fit its hash, which is or is not that of no bytes",
	    { SET(DRAY_T_CONTENTS, CO_EMPTY, N_SHA, 1, 0) } },
	{ "content two full", DAMAGED, "content 2: recipe 1: follows the full one, which must be the last",
	    { SET(DRAY_T_CONTENTS, CO_X, N_RECIPES, 4, 2), SET(DRAY_T_CONTENTS, CO_X, N_SIZE, 8, 50),
	    SET(DRAY_T_RECIPES, 2, R_PIECES, 4, 1), SET(DRAY_T_PIECES, 2, P_LEN, 4, 50) } },
	{ "content twice", DAMAGED, "content 4: stands twice", { SET(DRAY_T_CONTENTS, CO_BIG, N_SHA, 8, 0x0101010101010101),
	    SET(DRAY_T_CONTENTS, CO_BIG, N_SHA + 8, 8, 0x0101010101010101), SET(DRAY_T_CONTENTS, CO_BIG, N_SHA + 16, 8, 0x0101010101010101),
	    SET(DRAY_T_CONTENTS, CO_BIG, N_SHA + 24, 8, 0x0101010101010101) } },
	{ "frame unused", DAMAGED, "frame 2: no content needs it", { SET(DRAY_T_PIECES, 2, P_LEN, 4, 1000),
	    SET(DRAY_T_PIECES, 3, P_FRAME, 4, 1), SET(DRAY_T_PIECES, 3, P_OFFSET, 4, 1000),
	    SET(DRAY_T_CONTENTS, CO_BIG, N_SIZE, 8, 2000) } },
	{ "piece overlaps", DAMAGED, "content 4: recipe 0: piece 1: does not follow the one before it",
	    { SET(DRAY_T_PIECES, 3, P_FRAME, 4, 1) } },
	/* ENTRIES and ALTS */
	{ "path outside", DAMAGED, "entry 1: its path lies outside the strings",
	    { SET(DRAY_T_ENTRIES, EN_LS, E_PATH, 4, 0xffffffff) } },
	{ "path long", DAMAGED, "entry 1: its path lies outside the strings",
	    { SET(DRAY_T_ENTRIES, EN_LS, E_LEN, 2, 0xffff) } },
	{ "path empty", DAMAGED, "entry 1 (): not a path: ...",
	    { SET(DRAY_T_ENTRIES, EN_LS, E_LEN, 2, 0) } },
	{ "path ..", DAMAGED, "entry 1 (bin/..): not a path: ...",
	    { NAME(EN_LS, "bin/..") } },
	{ "path absolute", DAMAGED, "entry 11 (/ipe): not a path: ...",
	    { NAME(EN_PIPE, "/ipe") } },
	{ "path NUL", DAMAGED, "entry 11 (p\\x00pe): not a path: ...",
	    { LETTER(DRAY_T_ENTRIES, EN_PIPE, E_PATH, 1, 0) } },
	{ "path reserved", DAMAGED, "entry 0 (.dray): the path is reserved for dray itself",
	    { NAME(EN_BIN, ".dray"), SET(DRAY_T_ENTRIES, EN_BIN, E_LEN, 2, 5) } },
	{ "path order", DAMAGED, "entry 3 (bin/ab): the path does not follow the one before it",
	    { NAME(EN_X2, "bin/ab") } },
	{ "path twice", DAMAGED, "entry 3 (bin/x1): the path does not follow the one before it",
	    { NAME(EN_X2, "bin/x1") } },
	{ "no parent", DAMAGED, "entry 5 (dex/null): the release has no directory for it",
	    { NAME(EN_NULL, "dex/null"), NAME(EN_SDA, "dex/sda") } },
	{ "no parent between", DAMAGED, "entry 6 (dev/t/a): the release has no directory for it",
	    { NAME(EN_SDA, "dev/t/a") } },
	{ "parent is a file", DAMAGED, "entry 5 (dev/null): the release has no directory for it",
	    { SET(DRAY_T_ENTRIES, EN_DEV, E_TARGET, 4, ST_PIPE) } },
	{ "entry flags", DAMAGED, "entry 1 (bin/ls): unknown flags 0x4",
	    { SET(DRAY_T_ENTRIES, EN_LS, E_FLAGS, 1, 4) } },
	{ "entry phase", DAMAGED, "entry 1 (bin/ls): phase 2 of 2",
	    { SET(DRAY_T_ENTRIES, EN_LS, E_PHASE, 1, 2) } },
	{ "entry compset", DAMAGED, "entry 1 (bin/ls): names component set 2 of 2",
	    { SET(DRAY_T_ENTRIES, EN_LS, E_COMPSET, 2, 2) } },
	{ "entry state", DAMAGED, "entry 1 (bin/ls): names state 11 of 11",
	    { SET(DRAY_T_ENTRIES, EN_LS, E_TARGET, 4, ST_ROWS) } },
	{ "entry first alt", DAMAGED, "entry 8 (etc/empty): its alternatives do not follow those before them",
	    { SET(DRAY_T_ENTRIES, EN_EMPTY, E_ALT, 4, 1) } },
	{ "entry many alts", DAMAGED, "entry 15 (y2): its alternatives do not follow those before them",
	    { SET(DRAY_T_ENTRIES, EN_Y2, E_ALTS, 2, 2) } },
	{ "alt missing", DAMAGED, "entry 15 (y2): its alternatives do not follow those before them",
	    { COUNT(DRAY_T_ALTS, 6) } },
	{ "alt left over", DAMAGED, "alternative row 6: belongs to no entry",
	    { COUNT(DRAY_T_ENTRIES, EN_Y2) } },
	{ "alt state", DAMAGED, "entry 9 (gone): alternative 0: names state 11 of 11",
	    { SET(DRAY_T_ALTS, AL_GONE, L_STATE, 4, ST_ROWS) } },
	{ "alt no base", DAMAGED, "entry 9 (gone): alternative 0: belongs to no base",
	    { SET(DRAY_T_ALTS, AL_GONE, L_BASES, 8, 0) } },
	{ "alt unknown base", DAMAGED, "entry 1 (bin/ls): alternative 0: names a base that is not declared",
	    { DECLARE(n_bases, 2) } },
	{ "alt base untold", DAMAGED, "entry 1 (bin/ls): not every base is told of",
	    { DECLARE(n_bases, 4) } },
	{ "alt exact base missing", DAMAGED, "entry 9 (gone): not every base is told of",
	    { SET(DRAY_T_ALTS, AL_GONE, L_BASES, 8, 6) } },
	{ "alt exact base twice", DAMAGED, "entry 1 (bin/ls): alternative 1: an exact base has two states",
	    { SET(DRAY_T_ALTS, AL_LS_ABSENT, L_BASES, 8, 3) } },
	{ "alt exact, not history", DAMAGED, "entry 1 (bin/ls): alternative 1: an exact base has two states",
	    { DECLARE(bases[2].history, 0) } },
	{ "alt same state twice", DAMAGED, "entry 1 (bin/ls): alternative 1: states do not ascend",
	    { SET(DRAY_T_ALTS, AL_LS_ABSENT, L_STATE, 4, ST_OLD) } },
	{ "alt order", DAMAGED, "entry 1 (bin/ls): alternative 1: states do not ascend",
	    { SET(DRAY_T_ALTS, AL_LS_ABSENT, L_STATE, 4, ST_DIR) } },
	{ "entry of nothing", DAMAGED, "entry 9 (gone): neither the release nor a base has it",
	    { SET(DRAY_T_ALTS, AL_GONE, L_STATE, 4, DRAY_NONE) } },
	{ "same with alternatives", DAMAGED, "entry 1 (bin/ls): flag same with alternatives or without a state in the release",
	    { SET(DRAY_T_ENTRIES, EN_LS, E_FLAGS, 1, 1) } },
	{ "same without state", DAMAGED, "entry 9 (gone): flag same with alternatives or without a state in the release",
	    { SET(DRAY_T_ENTRIES, EN_GONE, E_FLAGS, 1, 1) } },
	{ "same without bases", DAMAGED, "entry 0 (bin): flag same in a bundle without bases",
	    { DECLARE(n_bases, 0) } },
	{ "not same, no alternatives", DAMAGED, "entry 0 (bin): not every base is told of",
	    { SET(DRAY_T_ENTRIES, EN_BIN, E_FLAGS, 1, 0) } },
	/* hard links */
	{ "link later", DAMAGED, "entry 2 (bin/x1): its hard-link group is not named by the first member",
	    { SET(DRAY_T_STATES, ST_X, S_LINK, 4, EN_X2 + 1) } },
	{ "link to another", DAMAGED, "entry 2 (bin/x1): the first member of its hard-link group has another state",
	    { SET(DRAY_T_STATES, ST_X, S_LINK, 4, EN_LS + 1) } },
	{ "link member differs", DAMAGED, "entry 3 (bin/x2): the first member of its hard-link group has another state",
	    { SET(DRAY_T_ENTRIES, EN_X1, E_TARGET, 4, ST_CHR) } },
	{ "link base later", DAMAGED, "entry 14 (y1): its hard-link group is not named by the first member",
	    { SET(DRAY_T_STATES, ST_Y, S_LINK, 4, EN_Y2 + 1) } },
	{ "link base differs", DAMAGED, "entry 15 (y2): the first member of its hard-link group has another state",
	    { SET(DRAY_T_ALTS, AL_Y1, L_STATE, 4, ST_OLD) } },
	{ "link same, first not", DAMAGED, "entry 2 (bin/x1): not every base is told of",
	    { SET(DRAY_T_ENTRIES, EN_X1, E_FLAGS, 1, 0) } },
};

static void
put(uint8_t *p, size_t size, uint64_t value)
{
	for (size_t i = 0; i < size; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

static void
spoil(const struct patch *p, struct raw *r)
{
	switch (p->what) {
	case FIELD:
		put(raw_row(r, p->t, p->row) + p->at, p->size, p->value);
		break;
	case PATH:
		memcpy(raw_path(r, p->row), p->text, strlen(p->text));
		break;
	case TEXT:
		r->t[DRAY_T_STRINGS][ix_u32(raw_row(r, p->t, p->row) + p->at) + p->size] = (uint8_t)p->value;
		break;
	case ROWS:
		r->rows[p->t] = (uint32_t)p->row;
		break;
	case NOTHING:
	case DESC:
		break;
	}
}

static void
declare(const struct patch *p, struct dray_desc *d)
{
	const bool b = p->value != 0;
	const uint32_t u32 = (uint32_t)p->value;

	if (p->what == DESC)
		memcpy((char *)d + p->at, p->size == 1 ? (const void *)&b : p->size == 4 ? (const void *)&u32 : &p->value,
		    p->size);
}

/* packs what the case spoilt and loads it */
static int
load_bad(const struct bad *b, struct dray_err *e)
{
	const size_t n = sizeof b->p / sizeof b->p[0];
	struct raw r = { 0 };
	uint8_t *dir, *chunks;
	size_t dir_len, chunks_len;
	struct dray_index *ix;
	struct dray_desc *d;
	int rc;

	raw_good(&r);
	for (size_t k = 0; k < n; k++)
		spoil(&b->p[k], &r);
	raw_pack(&r, &dir, &dir_len, &chunks, &chunks_len);
	d = raw_desc(&r, chunks_len);
	for (size_t k = 0; k < n; k++)
		declare(&b->p[k], d);
	rc = raw_load(d, dir, dir_len, chunks, chunks_len, 1, &ix, e);
	CHECK(rc == 0 || ix == NULL);
	dray_index_free(ix);
	free(dir);
	free(chunks);
	raw_free(&r);
	return rc;
}

static void
each_rule_refuses_by_itself(void)
{
	for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
		const struct bad *b = &bads[i];
		struct dray_err e = { 0 };
		unsigned before = test_bad;
		size_t len = strlen(b->text);
		char want[512];

		CHECK_EQ(load_bad(b, &e), -1);
		CHECK_EQ(e.code, b->code);
		snprintf(want, sizeof want, "index: %s", b->text);
		if (len > 3 && strcmp(b->text + len - 3, "...") == 0)
			e.text[len + 7 - 3] = want[len + 7 - 3] = '\0';
		CHECK_STR(e.text, want);
		if (test_bad != before)
			printf("# in case \"%s\"\n", b->name);
	}
}

int
main(void)
{
	RUN(each_rule_refuses_by_itself);
	return test_done();
}
