/*
 * good.c - the bundle that all others are bent from: every type of entry, every kind of frame and recipe, both kinds of
 * bases, hard links, attributes, a content of unknown size, a trigger. Rows have the numbers that README.md lists.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/frame.h"

#include "bundle.h"

static void
row(struct bundle *b, enum dray_table t, const char *widths, const uint64_t *v)
{
	for (size_t i = 0; widths[i] != '\0'; i++)
		bytes_number(&b->table[t], v[i], (size_t)(widths[i] - '0'));
}

#define ROW(t, widths, ...) row(b, t, widths, (const uint64_t[]){ __VA_ARGS__ })

static uint64_t
string(struct bundle *b, const void *p, size_t len)
{
	return bytes_put(&b->table[DRAY_T_STRINGS], p, len);
}

#define STRING(s) string(b, s, sizeof(s) - 1)

/* the 300 bytes of `new` */
static void
noise(uint8_t p[300])
{
	uint32_t x = 1;

	for (size_t i = 0; i < 300; i++) {
		x = x * 1664525u + 1013904223u;
		p[i] = (uint8_t)(x >> 24);
	}
}

static void
attributes(struct bundle *b)
{
	ROW(DRAY_T_ATTRS, "2244444", 1, 0, 0755, 0, 0, 0, DRAY_NONE);
	ROW(DRAY_T_ATTRS, "2244444", 1, 0, 0644, 0, 0, 0, DRAY_NONE);
	ROW(DRAY_T_ATTRS, "2244444", 23, 0, 04755, 7, 8, 0, 0);
	ROW(DRAY_T_ATTRS, "2244444", 16, 0, 0, 0, 0, 0, 1);
	ROW(DRAY_T_XATTRS, "442244", 0, STRING("user.a"), 6, 0, STRING("1"), 1);
	ROW(DRAY_T_XATTRS, "442244", 0, STRING("user.b"), 6, 0, STRING("\0\xff"), 2);
	ROW(DRAY_T_XATTRS, "442244", 1, STRING("user.c"), 6, 0, 0, 0);
	ROW(DRAY_T_COMPSETS, "8", 1);
	ROW(DRAY_T_COMPSETS, "8", 3);
}

static void
state(struct bundle *b, uint64_t type, uint64_t attrs, uint64_t a, uint64_t c, uint64_t link)
{
	ROW(DRAY_T_STATES, "112444484", type, 0, 0, attrs, a, c, link, 0, 0);
}

static void
states(struct bundle *b)
{
	state(b, DRAY_DIR, 0, 0, 0, 0);
	for (uint32_t content = 0; content < 3; content++)	/* code, copy, delta */
		state(b, DRAY_FILE, 1, content, 0, 0);
	state(b, DRAY_FIFO, 1, 0, 0, 0);
	state(b, DRAY_FILE, 1, 3, 0, 6 + 1);			/* hard1, hard2 */
	state(b, DRAY_SYMLINK, 1, STRING("dir/copy"), 8, 0);
	for (uint32_t content = 4; content < 10; content++)	/* new, same, zero; former code, delta, an older delta */
		state(b, DRAY_FILE, 1, content, 0, 0);
	state(b, DRAY_CHARDEV, 1, 1, 3, 0);			/* no entry has these two */
	state(b, DRAY_BLOCKDEV, 1, 8, 1, 0);
}

static void
content(struct bundle *b, const void *p, size_t len, uint64_t size, uint64_t first, uint64_t n)
{
	uint8_t sha[32];

	hostile_sha(p, len, sha);
	ROW(DRAY_T_CONTENTS, "844", size, first, n);
	bytes_put(&b->table[DRAY_T_CONTENTS], sha, sizeof sha);
}

static void
contents(struct bundle *b)
{
	uint8_t new[300];

	noise(new);
	content(b, "abd!e", 5, 5, 0, 2);
	content(b, "moved", 5, 5, 2, 1);
	content(b, GOOD_CAT, 43, 43, 3, 2);
	content(b, "hard", 4, 4, 5, 0);
	content(b, new, 300, 300, 5, 1);
	content(b, "same", 4, UINT64_MAX, 6, 0);
	content(b, "", 0, 0, 6, 1);
	content(b, "abcd", 4, 4, 7, 0);
	content(b, GOOD_FOX, 43, 43, 7, 0);
	content(b, "older fox", 9, 9, 7, 0);
}

static void
recipes(struct bundle *b)
{
	ROW(DRAY_T_RECIPES, "1344", DRAY_RECIPE_DELTA, 0, 0, 1);
	ROW(DRAY_T_RECIPES, "1344", DRAY_RECIPE_FULL, 0, 1, 1);
	ROW(DRAY_T_RECIPES, "1344", DRAY_RECIPE_COPY, 0, 2, 0);
	ROW(DRAY_T_RECIPES, "1344", DRAY_RECIPE_DELTA, 0, 2, 1);
	ROW(DRAY_T_RECIPES, "1344", DRAY_RECIPE_FULL, 0, 3, 1);
	ROW(DRAY_T_RECIPES, "1344", DRAY_RECIPE_FULL, 0, 4, 2);
	ROW(DRAY_T_RECIPES, "1344", DRAY_RECIPE_FULL, 0, 6, 0);
	ROW(DRAY_T_PIECES, "444", 1, 0, 5);
	ROW(DRAY_T_PIECES, "444", 2, 0, 5);
	ROW(DRAY_T_PIECES, "444", 0, 0, 43);
	ROW(DRAY_T_PIECES, "444", 2, 5, 43);
	ROW(DRAY_T_PIECES, "444", 2, 48, 200);
	ROW(DRAY_T_PIECES, "444", 3, 0, 100);
	ROW(DRAY_T_RANGES, "488", 8, 0, 43);
	ROW(DRAY_T_RANGES, "488", 7, 0, 4);
}

static void
frame(struct bundle *b, uint64_t kind, uint64_t filter, uint64_t block, uint64_t out, uint64_t raw, uint64_t range,
    uint64_t ranges)
{
	ROW(DRAY_T_FRAMES, "112444444", kind, filter, 0, block, 0, out, raw, range, ranges);
	bytes_room(&b->table[DRAY_T_FRAMES], 32);	/* stored bytes and their hash: bundle_make */
	b->n_frames++;
}

/* the prefix frame and the addcopy frame are the examples of spec/bundle-format.md 6.3 and 6.4 */
static void
frames(struct bundle *b)
{
	uint8_t new[300];
	struct bytes full = { 0 };

	noise(new);
	frame(b, DRAY_FRAME_PREFIX, 0, 0, 43, 43, 0, 1);
	hostile_hex("28b52ffd202b5d0000186361740200001c872820", &b->frame[0]);
	frame(b, DRAY_FRAME_ADDCOPY, DRAY_FILTER_X86, 0, 5, 26, 1, 1);
	hostile_hex("28b52ffd201ad1000009000000040000000100000002000201010301000000000002" "21", &b->frame[1]);
	bytes_text(&full, "abd!e" GOOD_CAT);
	bytes_put(&full, new, 200);
	frame(b, DRAY_FRAME_PLAIN, 0, 1, full.len, full.len, 2, 0);
	bundle_zstd(full.p, full.len, "plain", &b->frame[2]);
	frame(b, DRAY_FRAME_PLAIN, 0, 2, 100, 100, 2, 0);
	bundle_zstd(new + 200, 100, "plain", &b->frame[3]);
	bytes_free(&full);
}

static void
entry(struct bundle *b, const char *path, unsigned flags, uint32_t target, unsigned first, unsigned alts)
{
	const size_t len = strlen(path);
	const uint64_t at = string(b, path, len);

	ROW(DRAY_T_ENTRIES, "42112244", at, len, flags, 0, 0, alts, target, first);
}

static void
entries(struct bundle *b)
{
	static const uint32_t alts[][2] = {	/* state, bases */
		{ 10, 3 }, { DRAY_NONE, 3 }, { 11, 3 }, { 12, 2 }, { 2, 3 }, { DRAY_NONE, 3 }, { DRAY_NONE, 3 }, { DRAY_NONE, 3 },
	};

	entry(b, "dir", DRAY_ENTRY_SAME, 0, 0, 0);
	entry(b, "dir/code", 0, 1, 0, 1);
	entry(b, "dir/copy", 0, 2, 1, 1);
	entry(b, "dir/delta", 0, 3, 2, 2);
	entry(b, "dir/gone", 0, DRAY_NONE, 4, 1);
	entry(b, "fifo", DRAY_ENTRY_SAME, 4, 5, 0);
	entry(b, "hard1", DRAY_ENTRY_SAME, 5, 5, 0);
	entry(b, "hard2", DRAY_ENTRY_SAME, 5, 5, 0);
	entry(b, "link", 0, 6, 5, 1);
	entry(b, "new", 0, 7, 6, 1);
	entry(b, "same", DRAY_ENTRY_SAME, 8, 7, 0);
	entry(b, "zero", DRAY_ENTRY_CONFIG, 9, 7, 1);
	for (size_t i = 0; i < sizeof alts / sizeof alts[0]; i++)
		ROW(DRAY_T_ALTS, "48", alts[i][0], alts[i][1]);
}

struct bundle *
bundle_good(void)
{
	struct bundle *b = calloc(1, sizeof *b);

	if (b == NULL)
		hostile_die("out of memory");
	attributes(b);
	states(b);
	contents(b);
	recipes(b);
	frames(b);
	entries(b);
	b->slot = 1024;
	strcpy(b->note[0].name, "notes/changes.txt");
	bytes_text(&b->note[0].data, "what changed\n");
	b->n_notes = 1;
	return b;
}

void
bundle_free(struct bundle *b)
{
	for (size_t t = 0; t < DRAY_TABLES; t++)
		bytes_free(&b->table[t]);
	for (size_t i = 0; i < FRAMES_MAX; i++)
		bytes_free(&b->frame[i]);
	for (size_t i = 0; i < b->n_notes; i++)
		bytes_free(&b->note[i].data);
	bytes_free(&b->json_text);
	bytes_free(&b->out);
	free(b);
}
