/*
 * kept.c - what upgrades left alone because somebody here had decided so.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/json.h"
#include "dray/num.h"
#include "dray/path.h"

#include "installer/check.h"
#include "installer/files.h"
#include "installer/kept.h"

#define KEPT "kept"		/* in a transaction: the record that it brings */
#define KEPT_WAS "kept.was"	/* the one that it replaced, of the same bundle */
#define MAX_BYTES (256u * 1024u * 1024u)

static const char *const word[] = { [INST_LOCAL_DELETED] = "deleted", [INST_LOCAL_EDITED] = "edited",
	[INST_LOCAL_SYMLINK] = "symlink", [INST_LOCAL_POLICY] = "policy", [INST_LOCAL_ATTRS] = "attributes",
	[INST_LOCAL_OWN] = "edited-attributes" };

static const char *
record_name(const uint8_t id[32], char out[2 * 32 + 16])
{
	char hex[2 * 32 + 1];

	snprintf(out, 2 * 32 + 16, "release/%s.kept", dray_hex(id, 32, hex));
	return out;
}

/* one decision of the record */
static int
read_one(const struct dray_json *o, const struct dray_index *ix, uint8_t *kind, struct dray_err *e)
{
	uint8_t path[DRAY_PATH_MAX];
	const char *text, *what;
	size_t len, n;
	uint32_t row;

	if (!dray_json_is_obj(o))
		return dray_fail(e, DRAY_E_FORMAT, "a path is no object");
	if (dray_json_str(o, "what", &what, &n, KEPT, e) != 0)
		return -1;
	if (dray_json_has(o, "path_hex")) {
		if (dray_json_str(o, "path_hex", &text, &n, KEPT, e) != 0)
			return -1;
		len = n / 2;
		if (len >= sizeof(path) || !dray_unhex(text, n, path, len))
			return dray_fail(e, DRAY_E_FORMAT, "\"path_hex\" is no path");
	} else {
		if (dray_json_str(o, "path", &text, &len, KEPT, e) != 0)
			return -1;
		if (len >= sizeof(path))
			return dray_fail(e, DRAY_E_FORMAT, "\"path\" is too long");
		memcpy(path, text, len);
	}
	if ((row = dray_index_find(ix, (const char *)path, len)) == DRAY_NONE)
		return 0;
	for (size_t k = 0; k < sizeof(word) / sizeof(word[0]); k++)
		if (word[k] != NULL && strcmp(what, word[k]) == 0)
			kind[row] = (uint8_t)k;
	return 0;
}

static int
read_all(const char *text, size_t len, const struct dray_index *ix, uint8_t *kind, struct dray_err *e)
{
	const struct dray_json *paths;
	struct dray_json *doc = NULL;
	int64_t version;
	size_t n;
	int rc = -1;

	if (dray_json_parse(text, len, false, &doc, e) != 0)
		return -1;
	if (!dray_json_is_obj(doc)) {
		dray_fail(e, DRAY_E_FORMAT, "not a JSON object");
		goto out;
	}
	if (dray_json_int(doc, "dray_kept", 1, 1, &version, KEPT, e) != 0 ||
	    dray_json_arr(doc, "paths", &paths, &n, KEPT, e) != 0)
		goto out;
	for (size_t i = 0; i < n; i++)
		if (read_one(dray_json_at(paths, i), ix, kind, e) != 0)
			goto out;
	rc = 0;
out:
	dray_json_free(doc);
	return rc;
}

int
inst_kept_load(const struct inst_state *st, const struct inst_installed *release, const struct dray_index *ix,
    uint8_t **out, struct dray_err *e)
{
	char name[2 * 32 + 16];
	uint8_t *kind = NULL, *p = NULL;
	size_t len;
	int r;

	*out = NULL;
	if (st->dir == -1 || !release->known)
		return 0;
	if ((kind = calloc((size_t)dray_index_rows(ix, DRAY_T_ENTRIES) + 1, 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	r = inst_read_file(st->dir, record_name(release->id, name), MAX_BYTES, &p, &len, e);
	if (r == 0)
		r = read_all((const char *)p, len, ix, kind, e);
	free(p);
	if (r != 0)
		free(kind);
	if (r == 1)
		return 0;
	if (r != 0) {
		dray_wrap(e, "%s/%s", st->rel, name);
		if (e->code == DRAY_E_IO)
			return -1;
		e->code = DRAY_E_SYSTEM;
		return dray_hint(e, "it says what upgrades left alone; without it check takes all of that for damage");
	}
	*out = kind;
	return 0;
}

static void
put(struct dray_json *paths, const char *path, size_t len, uint8_t kind)
{
	struct dray_json *o = dray_json_push_obj(paths);

	dray_json_set_path(o, "path", path, len);
	dray_json_set_str(o, "what", word[kind]);
}

static int
write_record(struct inst_tx *tx, const struct dray_index *ix, const uint8_t *kind, struct dray_err *e)
{
	struct dray_json *doc = dray_json_new_obj(), *paths;
	struct dray_entry en;
	char *text = NULL;
	size_t len;
	int rc;

	dray_json_set_int(doc, "dray_kept", 1);
	paths = dray_json_set_arr(doc, "paths");
	for (uint32_t row = 0; row < dray_index_rows(ix, DRAY_T_ENTRIES); row++) {
		if (kind[row] == INST_LOCAL_NO)
			continue;
		dray_index_entry(ix, row, &en);
		put(paths, en.path, en.len, kind[row]);
	}
	rc = dray_json_write(doc, &text, &len, e);
	dray_json_free(doc);
	if (rc == 0)
		rc = inst_write_file(tx->dir, KEPT, text, len, 0600, e);
	free(text);
	return rc == 0 ? 0 : dray_wrap(e, "record of what is left alone");
}

/* what a note says for later */
static uint8_t
local_of(enum inst_note_kind note)
{
	if (note == INST_NOTE_KEPT_DELETED)
		return INST_LOCAL_DELETED;
	if (note == INST_NOTE_KEPT_META || note == INST_NOTE_MERGED || note == INST_NOTE_MERGED_MINE || note == INST_NOTE_USED ||
	    note == INST_NOTE_KEPT_DB)
		return INST_LOCAL_EDITED;
	if (note == INST_NOTE_KEPT_ATTRS)
		return INST_LOCAL_ATTRS;
	if (note == INST_NOTE_MINE || note == INST_NOTE_IGNORED || note == INST_NOTE_NOT_ADDED)
		return INST_LOCAL_POLICY;
	if (note == INST_NOTE_LINK_IGNORED || note == INST_NOTE_LINK_REDIRECTED)
		return INST_LOCAL_SYMLINK;
	return INST_LOCAL_NO;
}

/* content and attributes of one file may both be local */
static uint8_t
both(uint8_t had, uint8_t is)
{
	return (had == INST_LOCAL_EDITED && is == INST_LOCAL_ATTRS) || (had == INST_LOCAL_ATTRS && is == INST_LOCAL_EDITED) ?
	    INST_LOCAL_OWN : is;
}

int
inst_kept_write(const struct inst_state *st, struct inst_tx *tx, const struct inst_installed *now,
    const struct inst_plan *plan, struct dray_err *e)
{
	uint32_t rows = dray_index_rows(plan->ix, DRAY_T_ENTRIES);
	uint8_t *kind;
	bool needed;
	int rc = 0;

	if (inst_kept_load(st, now, plan->ix, &kind, e) != 0)
		return -1;
	needed = kind != NULL;	/* a record that says nothing replaces one that said something */
	if (kind == NULL && (kind = calloc((size_t)rows + 1, 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (uint32_t row = 0; row < rows; row++)
		if (plan->decides[row] != 0)
			kind[row] = INST_LOCAL_NO;
	for (size_t i = 0; i < plan->n_notes; i++) {
		const struct inst_note *n = &plan->notes[i];
		uint32_t row = dray_index_find(plan->ix, n->path, n->len);

		if (row != DRAY_NONE && local_of(n->kind) != INST_LOCAL_NO)
			kind[row] = both(kind[row], local_of(n->kind));
	}
	for (uint32_t row = 0; row < rows; row++)
		needed |= kind[row] != INST_LOCAL_NO;
	if (needed)
		rc = write_record(tx, plan->ix, kind, e);
	free(kind);
	return rc;
}

/* of a file that an earlier run, cut since, may have moved already */
static int
move(int from, const char *a, int to, const char *b, struct dray_err *e)
{
	if (renameat(from, a, to, b) == -1 && errno != ENOENT)
		return dray_fail_errno(e, "record of what is left alone");
	return 0;
}

static bool
there(int dir, const char *name)
{
	return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int
inst_kept_finish(const struct inst_state *st, const struct inst_tx *tx, struct dray_err *e)
{
	char name[2 * 32 + 16];

	record_name(tx->to.id, name);
	if (!there(tx->dir, KEPT))	/* an earlier run moved it and was cut */
		return 0;
	if (!there(tx->dir, KEPT_WAS) && move(st->dir, name, tx->dir, KEPT_WAS, e) != 0)
		return -1;
	return move(tx->dir, KEPT, st->dir, name, e);
}

int
inst_kept_back(const struct inst_state *st, const struct inst_tx *tx, struct dray_err *e)
{
	char name[2 * 32 + 16];

	if (!there(tx->dir, KEPT_WAS))
		return 0;
	return move(tx->dir, KEPT_WAS, st->dir, record_name(tx->to.id, name), e);
}
