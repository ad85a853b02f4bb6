/*
 * bend.c - the operations of the tables of cases: rows, texts, frames and attachments at once, all else kept for its stage.
 * README.md of this folder lists them.
 */
#include <string.h>

#include "dray/num.h"
#include "format/index_priv.h"

#include "bundle.h"

static const struct { enum dray_table t; const char *name; uint8_t at, size; } fields[] = {
	{ DRAY_T_ATTRS, "has", A_HAS, 2 }, { DRAY_T_ATTRS, "zero", A_HAS + 2, 2 }, { DRAY_T_ATTRS, "mode", A_MODE, 4 },
	{ DRAY_T_ATTRS, "uid", A_UID, 4 }, { DRAY_T_ATTRS, "gid", A_GID, 4 }, { DRAY_T_ATTRS, "flags", A_FLAGS, 4 },
	{ DRAY_T_ATTRS, "xset", A_XSET, 4 },
	{ DRAY_T_XATTRS, "set", X_SET, 4 }, { DRAY_T_XATTRS, "name", X_NAME, 4 }, { DRAY_T_XATTRS, "name-len", X_NAME_LEN, 2 },
	{ DRAY_T_XATTRS, "zero", X_ZERO, 2 }, { DRAY_T_XATTRS, "value", X_VALUE, 4 }, { DRAY_T_XATTRS, "len", X_LEN, 4 },
	{ DRAY_T_COMPSETS, "mask", C_MASK, 8 },
	{ DRAY_T_STATES, "type", S_TYPE, 1 }, { DRAY_T_STATES, "flags", S_FLAGS, 1 }, { DRAY_T_STATES, "zero", S_ZERO, 2 },
	{ DRAY_T_STATES, "attrs", S_ATTRS, 4 }, { DRAY_T_STATES, "a", S_A, 4 }, { DRAY_T_STATES, "b", S_B, 4 },
	{ DRAY_T_STATES, "link", S_LINK, 4 }, { DRAY_T_STATES, "sec", S_SEC, 8 }, { DRAY_T_STATES, "nsec", S_NSEC, 4 },
	{ DRAY_T_ENTRIES, "path", E_PATH, 4 }, { DRAY_T_ENTRIES, "len", E_LEN, 2 }, { DRAY_T_ENTRIES, "flags", E_FLAGS, 1 },
	{ DRAY_T_ENTRIES, "phase", E_PHASE, 1 }, { DRAY_T_ENTRIES, "compset", E_COMPSET, 2 }, { DRAY_T_ENTRIES, "alts", E_ALTS, 2 },
	{ DRAY_T_ENTRIES, "target", E_TARGET, 4 }, { DRAY_T_ENTRIES, "first", E_ALT, 4 },
	{ DRAY_T_ALTS, "state", L_STATE, 4 }, { DRAY_T_ALTS, "bases", L_BASES, 8 },
	{ DRAY_T_CONTENTS, "size", N_SIZE, 8 }, { DRAY_T_CONTENTS, "first", N_RECIPE, 4 },
	{ DRAY_T_CONTENTS, "recipes", N_RECIPES, 4 }, { DRAY_T_CONTENTS, "sha", N_SHA, 8 },
	{ DRAY_T_RECIPES, "kind", R_KIND, 1 }, { DRAY_T_RECIPES, "wrap", R_WRAP, 1 }, { DRAY_T_RECIPES, "zero", R_ZERO, 2 }, { DRAY_T_RECIPES, "first", R_PIECE, 4 },
	{ DRAY_T_RECIPES, "pieces", R_PIECES, 4 },
	{ DRAY_T_PIECES, "frame", P_FRAME, 4 }, { DRAY_T_PIECES, "offset", P_OFFSET, 4 }, { DRAY_T_PIECES, "len", P_LEN, 4 },
	{ DRAY_T_FRAMES, "kind", F_KIND, 1 }, { DRAY_T_FRAMES, "filter", F_FILTER, 1 }, { DRAY_T_FRAMES, "codec", F_CODEC, 1 }, { DRAY_T_FRAMES, "zero", F_ZERO, 1 },
	{ DRAY_T_FRAMES, "block", F_BLOCK, 4 }, { DRAY_T_FRAMES, "stored", F_STORED, 4 }, { DRAY_T_FRAMES, "output", F_OUT, 4 },
	{ DRAY_T_FRAMES, "raw", F_RAW, 4 }, { DRAY_T_FRAMES, "first", F_RANGE, 4 }, { DRAY_T_FRAMES, "ranges", F_RANGES, 4 },
	{ DRAY_T_FRAMES, "sha", F_SHA, 8 },
	{ DRAY_T_RANGES, "content", G_CONTENT, 4 }, { DRAY_T_RANGES, "offset", G_OFFSET, 8 }, { DRAY_T_RANGES, "len", G_LEN, 8 },
};

static int
table_of(const char *name)
{
	for (int t = 0; t < DRAY_TABLES; t++)
		if (strcmp(dray_index_name[t], name) == 0)
			return t;
	hostile_die("there is no table %s", name);
}

static uint8_t *
row_at(struct bundle *b, int t, const char *number)
{
	const size_t width = dray_index_width[t], i = hostile_number(number);

	if ((i + 1) * width > b->table[t].len)
		hostile_die("%s has no row %zu", dray_index_name[t], i);
	return b->table[t].p + i * width;
}

void
bundle_set(struct bundle *b, int t, const char *row, const char *field, uint64_t v)
{
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		if ((int)fields[i].t == t && strcmp(fields[i].name, field) == 0) {
			for (size_t k = 0; k < fields[i].size; k++)
				row_at(b, t, row)[fields[i].at + k] = (uint8_t)(v >> 8 * k);
			return;
		}
	hostile_die("%s has no field %s", dray_index_name[t], field);
}

/* a text of a row: behind all others, and where it stands */
static void
set_text(struct bundle *b, int t, const char *row, const char *text, bool value)
{
	struct bytes s = { 0 };
	const char *at = t == DRAY_T_ENTRIES ? "path" : t == DRAY_T_STATES ? "a" : value ? "value" : "name";
	const char *len = t == DRAY_T_ENTRIES ? "len" : t == DRAY_T_STATES ? "b" : value ? "len" : "name-len";

	hostile_unescape(text, &s);
	bundle_set(b, t, row, at, bytes_put(&b->table[DRAY_T_STRINGS], s.p, s.len));
	bundle_set(b, t, row, len, s.len);
	bytes_free(&s);
}

/* rows T N: no more than N rows, or as many more as it takes, all zero; *N: each the one before it again */
static void
set_rows(struct bundle *b, int t, const char *n)
{
	const size_t width = dray_index_width[t], len = hostile_number(n) * width;

	if (len < b->table[t].len)
		b->table[t].len = len;
	else
		bytes_room(&b->table[t], len - b->table[t].len);
}

static void
copy_row(struct bundle *b, int t, const char *from, const char *to)
{
	memmove(row_at(b, t, to), row_at(b, t, from), dray_index_width[t]);
}

static void
swap_rows(struct bundle *b, int t, const char *one, const char *other)
{
	uint8_t keep[64];

	memcpy(keep, row_at(b, t, one), dray_index_width[t]);
	copy_row(b, t, other, one);
	memcpy(row_at(b, t, other), keep, dray_index_width[t]);
}

/* content ROW TEXT: it is that of these bytes */
static void
set_content(struct bundle *b, const char *row, const char *text)
{
	struct bytes s = { 0 };
	uint8_t *p = row_at(b, DRAY_T_CONTENTS, row);

	hostile_unescape(text, &s);
	bundle_set(b, DRAY_T_CONTENTS, row, "size", s.len);
	hostile_sha(s.p, s.len, p + N_SHA);
	bytes_free(&s);
}

/* what a plain frame of ours holds: behind head and block header of one raw block */
static void
plain_of(const struct bytes *stored, struct bytes *out)
{
	bytes_put(out, stored->p + 12, stored->len - 12);
}

static void
frame(struct bundle *b, char *const *w, size_t n)
{
	const size_t i = hostile_number(w[1]);
	struct bytes in = { 0 }, part[3] = { { 0 } };
	struct bytes *f = &b->frame[i];

	if (i >= FRAMES_MAX)
		hostile_die("frame %zu is too many", i);
	if (i >= b->n_frames)
		b->n_frames = i + 1;
	if (strcmp(w[2], "hex") == 0 && n == 4) {		/* stored bytes */
		f->len = 0;
		hostile_hex(w[3], f);
	} else if (strcmp(w[2], "bytes") == 0 && n == 4) {	/* what it holds */
		hostile_unescape(w[3], &in);
		bundle_zstd(in.p, in.len, "plain", f);
	} else if (strcmp(w[2], "delta") == 0 && n == 6) {	/* control, difference, extra */
		for (size_t k = 0; k < 3; k++) {
			hostile_hex(strcmp(w[3 + k], "-") == 0 ? "" : w[3 + k], &part[k]);
			bytes_number(&in, part[k].len, 4);
		}
		for (size_t k = 0; k < 3; k++) {
			bytes_put(&in, part[k].p, part[k].len);
			bytes_free(&part[k]);
		}
		bundle_set(b, DRAY_T_FRAMES, w[1], "raw", in.len);
		bundle_zstd(in.p, in.len, "plain", f);
	} else if (n == 3) {					/* the same in a zstd frame with a flaw */
		plain_of(f, &in);
		bundle_zstd(in.p, in.len, w[2], f);
	} else {
		hostile_die("frame: %s", w[2]);
	}
	bytes_free(&in);
}

static void
note(struct bundle *b, const char *name, const char *text)
{
	size_t i = 0;

	if (b->n_notes == NOTES_MAX || strlen(name) > 100)
		hostile_die("note %s", name);
	while (i < b->n_notes && strcmp(b->note[i].name, name) < 0)
		i++;
	memmove(&b->note[i + 1], &b->note[i], (b->n_notes - i) * sizeof b->note[0]);
	memset(&b->note[i], 0, sizeof b->note[i]);
	strcpy(b->note[i].name, name);
	hostile_unescape(text, &b->note[i].data);
	b->n_notes++;
}

/* names ROW N: so many entries more behind that row, which the release adds: its path, "-" and a number, with its state */
static void
names(struct bundle *b, const char *row, size_t n)
{
	const size_t at = hostile_number(row) + 1;
	struct bytes *strings = &b->table[DRAY_T_STRINGS], rows = { 0 }, alts = { 0 }, path = { 0 };
	uint8_t e[E_WIDTH];
	uint32_t first;

	memcpy(e, row_at(b, DRAY_T_ENTRIES, row), E_WIDTH);
	bytes_put(&path, strings->p + dray_get_u32(e + E_PATH), dray_get_u16(e + E_LEN));
	first = dray_get_u32(e + E_ALT) + dray_get_u16(e + E_ALTS);
	dray_put_u16(e + E_LEN, (uint16_t)(path.len + 8));
	e[E_FLAGS] = 0;
	dray_put_u16(e + E_ALTS, 1);
	for (size_t i = 0; i < n; i++) {
		dray_put_u32(e + E_PATH, (uint32_t)bytes_put(strings, path.p, path.len));
		bytes_format(strings, "-%07zu", i);
		dray_put_u32(e + E_ALT, first + (uint32_t)i);
		bytes_put(&rows, e, E_WIDTH);
		bytes_number(&alts, DRAY_NONE, 4);
		bytes_number(&alts, 3, 8);	/* in neither base */
	}
	for (uint8_t *p = b->table[DRAY_T_ENTRIES].p + at * E_WIDTH; p < b->table[DRAY_T_ENTRIES].p + b->table[DRAY_T_ENTRIES].len;
	     p += E_WIDTH)
		dray_put_u32(p + E_ALT, dray_get_u32(p + E_ALT) + (uint32_t)n);
	bytes_splice(&b->table[DRAY_T_ENTRIES], at * E_WIDTH, 0, rows.p, rows.len);
	bytes_splice(&b->table[DRAY_T_ALTS], (size_t)first * L_WIDTH, 0, alts.p, alts.len);
	bytes_free(&rows);
	bytes_free(&alts);
	bytes_free(&path);
}

/* delta-only: content 0 has no full recipe, so that a delta which cannot be made is nobody's second choice */
static void
delta_only(struct bundle *b)
{
	static const uint8_t first[] = { N_RECIPE, R_PIECE };
	static const enum dray_table table[] = { DRAY_T_CONTENTS, DRAY_T_RECIPES };

	bytes_splice(&b->table[DRAY_T_RECIPES], R_WIDTH, R_WIDTH, "", 0);
	bytes_splice(&b->table[DRAY_T_PIECES], P_WIDTH, P_WIDTH, "", 0);
	bundle_set(b, DRAY_T_CONTENTS, "0", "recipes", 1);
	for (size_t k = 0; k < 2; k++)
		for (size_t at = dray_index_width[table[k]]; at < b->table[table[k]].len; at += dray_index_width[table[k]])
			b->table[table[k]].p[at + first[k]]--;
}

static struct edits *
stage_of(struct bundle *b, const char *op)
{
	static const char *const file_ops[] = { "header", "sum", "data", "pad", "cut", "cut-at", "more", "insert", "drop", "twice" };

	if (strcmp(op, "set") == 0)
		return &b->late;
	if (strcmp(op, "chunk") == 0)
		return &b->chunk;
	if (strncmp(op, "dir", 3) == 0)
		return &b->dir;
	if (strncmp(op, "json", 4) == 0)
		return &b->json;
	if (strcmp(op, "signed") == 0)
		return &b->text;
	if (strcmp(op, "record") == 0)
		return &b->record;
	if (strcmp(op, "slot") == 0 || strcmp(op, "roots") == 0)
		return &b->slot_bytes;
	for (size_t i = 0; i < sizeof file_ops / sizeof file_ops[0]; i++)
		if (strcmp(op, file_ops[i]) == 0)
			return &b->file;
	return NULL;
}

static bool
keep(struct bundle *b, char *const *w, size_t n)
{
	struct edits *s = stage_of(b, w[0]);
	struct edit *e;

	if (s == NULL)
		return false;
	if (s->n == EDITS_MAX)
		hostile_die("too many edits: %s", w[0]);
	e = &s->e[s->n++];
	e->op = w[0];
	for (size_t i = 0; i < sizeof e->arg / sizeof e->arg[0]; i++)
		e->arg[i] = i + 1 < n ? w[i + 1] : "";
	return true;
}

bool
bundle_bend(struct bundle *b, char *const *w, size_t n)
{
	const char *op = w[0];

	if (strcmp(op, "set") == 0 && n == 5) {
		if (strcmp(w[1], "frames") == 0 && (strcmp(w[3], "stored") == 0 || strcmp(w[3], "sha") == 0))
			return keep(b, w, n);
		bundle_set(b, table_of(w[1]), w[2], w[3], hostile_number(w[4]));
	} else if (strcmp(op, "rows") == 0 && n == 3) {
		set_rows(b, table_of(w[1]), w[2]);
	} else if (strcmp(op, "copy") == 0 && n == 4) {
		copy_row(b, table_of(w[1]), w[2], w[3]);
	} else if (strcmp(op, "swap") == 0 && n == 4) {
		swap_rows(b, table_of(w[1]), w[2], w[3]);
	} else if ((strcmp(op, "text") == 0 || strcmp(op, "value") == 0) && n == 4) {
		set_text(b, table_of(w[1]), w[2], w[3], op[0] == 'v');
	} else if (strcmp(op, "content") == 0 && n == 3) {
		set_content(b, w[1], w[2]);
	} else if (strcmp(op, "chunk-size") == 0 && n == 3) {
		b->chunk_len[table_of(w[1])] = (uint32_t)hostile_number(w[2]);
	} else if (strcmp(op, "frame") == 0 && n >= 3) {
		frame(b, w, n);
	} else if (strcmp(op, "note") == 0 && n == 3) {
		note(b, w[1], w[2]);
	} else if (strcmp(op, "slot-size") == 0 && n == 2) {
		b->slot = hostile_number(w[1]);
	} else if (strcmp(op, "names") == 0 && n == 3) {
		names(b, w[1], hostile_number(w[2]));
	} else if (strcmp(op, "delta-only") == 0) {
		delta_only(b);
	} else if (strcmp(op, "unsigned") == 0) {
		b->unsigned_ = true;
	} else {
		return keep(b, w, n);
	}
	return true;
}

/* header and data of a member: where they are */
static size_t
member_of(const struct bundle *b, const char *number)
{
	const size_t i = hostile_number(number);

	if (i >= b->n_members)
		hostile_die("there is no member %zu", i);
	return b->member_at[i];
}

static size_t
data_len(const struct bundle *b, size_t at)
{
	size_t len = 0;

	for (size_t i = 124; i < 135; i++)
		len = len << 3 | (size_t)(b->out.p[at + i] & 7);
	return len;
}

static void
overwrite(struct bytes *out, size_t at, const char *hex)
{
	struct bytes h = { 0 };

	hostile_hex(hex, &h);
	if (h.len > out->len || at > out->len - h.len)
		hostile_die("byte %zu is outside the file", at);
	memcpy(out->p + at, h.p, h.len);
	bytes_free(&h);
}

/* the checksum of a header that was bent, made right */
static void
right_sum(uint8_t *h)
{
	unsigned sum = 0;

	memset(h + 148, ' ', 8);
	for (size_t i = 0; i < 512; i++)
		sum += h[i];
	for (size_t i = 0; i < 6; i++)
		h[148 + 5 - i] = (uint8_t)('0' + (sum >> 3 * i & 7));
	h[154] = 0;
	h[155] = ' ';
}

void
bundle_apply_file(struct bundle *b, const struct edit *e)
{
	struct bytes *out = &b->out, h = { 0 };
	const char *op = e->op;
	size_t at, end;

	if (strcmp(op, "header") == 0) {		/* header MEMBER AT HEX: with the right checksum */
		at = member_of(b, e->arg[0]);
		overwrite(out, at + hostile_number(e->arg[1]), e->arg[2]);
		right_sum(out->p + at);
	} else if (strcmp(op, "sum") == 0) {		/* sum MEMBER HEX */
		overwrite(out, member_of(b, e->arg[0]) + 148, e->arg[1]);
	} else if (strcmp(op, "data") == 0) {		/* data MEMBER AT HEX */
		overwrite(out, member_of(b, e->arg[0]) + 512 + hostile_number(e->arg[1]), e->arg[2]);
	} else if (strcmp(op, "pad") == 0) {		/* pad MEMBER: the first byte behind its data */
		at = member_of(b, e->arg[0]);
		overwrite(out, at + 512 + data_len(b, at), "01");
	} else if (strcmp(op, "cut") == 0) {		/* cut N: from the end */
		out->len -= hostile_number(e->arg[0]);
	} else if (strcmp(op, "cut-at") == 0) {		/* cut-at MEMBER N: N bytes behind the beginning of its header */
		out->len = member_of(b, e->arg[0]) + hostile_number(e->arg[1]);
	} else if (strcmp(op, "more") == 0) {		/* more HEX: behind the end */
		hostile_hex(e->arg[0], out);
	} else {
		at = member_of(b, e->arg[0]);
		end = at + 512 + (data_len(b, at) + 511) / 512 * 512;
		if (strcmp(op, "insert") == 0) {	/* insert MEMBER HEX: before its header */
			hostile_hex(e->arg[1], &h);
			bytes_splice(out, at, 0, h.p, h.len);
		} else if (strcmp(op, "drop") == 0) {
			bytes_splice(out, at, end - at, "", 0);
		} else {				/* twice MEMBER */
			bytes_put(&h, out->p + at, end - at);
			bytes_splice(out, at, 0, h.p, h.len);
		}
		bytes_free(&h);
	}
}
