/*
 * look_list.c - list: every path of a bundle and what happens to it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/num.h"
#include "dray/path.h"
#include "tool/look.h"

static const char type_letter[] = { '?', '-', 'd', 'l', 'p', 'c', 'b' };
static const char *const type_name[] = { "absent", "file", "dir", "symlink", "fifo", "chardev", "blockdev" };

static void
mode_text(uint8_t type, const struct dray_attrs *a, char out[12])
{
	uint32_t m = a->mode;

	snprintf(out, 12, "%c%s", type_letter[type], "?????????");
	if ((a->has & DRAY_HAS_MODE) != 0) {
		for (unsigned i = 0; i < 9; i++)
			out[1 + i] = (m >> (8 - i) & 1) != 0 ? "rwxrwxrwx"[i] : '-';
		if ((m & 04000) != 0)
			out[3] = (m & 0100) != 0 ? 's' : 'S';
		if ((m & 02000) != 0)
			out[6] = (m & 0010) != 0 ? 's' : 'S';
		if ((m & 01000) != 0)
			out[9] = (m & 0001) != 0 ? 't' : 'T';
	} else if (type == DRAY_SYMLINK) {
		memcpy(out + 1, "rwxrwxrwx", 9);
	}
	if (a->xattr_count > 0)
		memcpy(out + 10, "+", 2);
}

static void
size_text(const struct dray_index *ix, const struct dray_state *s, char out[32])
{
	uint64_t size = s->type == DRAY_SYMLINK ? s->target_len : 0;
	struct dray_content c;

	if (s->type == DRAY_FILE) {
		dray_index_content(ix, s->content, &c);
		size = c.size;
	}
	if (s->type == DRAY_CHARDEV || s->type == DRAY_BLOCKDEV)
		snprintf(out, 32, "%" PRIu32 ",%" PRIu32, s->rdev_major, s->rdev_minor);
	else if (size == DRAY_SIZE_UNKNOWN)
		snprintf(out, 32, "?");
	else
		snprintf(out, 32, "%" PRIu64, size);
}

/* attributes of a state in front of the path */
static void
print_attrs(const struct dray_index *ix, const struct dray_state *s)
{
	char mode[12], when[40], owner[32], size[32];
	struct dray_attrs a;

	dray_index_attrs(ix, s->attrs, &a);
	mode_text(s->type, &a, mode);
	snprintf(owner, sizeof(owner), "%" PRIu32 ":%" PRIu32, a.uid, a.gid);
	size_text(ix, s, size);
	printf("%-11s %-7s %10s %s ", mode, owner, size, s->has_mtime ? tool_time(s->mtime_sec, when) : "-");
}

/* where a symlink leads, and the first name of a file that has several */
static void
print_links(const struct dray_index *ix, const struct dray_state *s, uint32_t row)
{
	char quoted[DRAY_QUOTE_CAP(DRAY_PATH_MAX)];
	struct dray_entry first;

	if (s->type == DRAY_SYMLINK)
		printf(" -> %s", dray_quote(s->target, s->target_len, quoted, sizeof(quoted)));
	if (s->link == 0 || s->link == row + 1)
		return;
	dray_index_entry(ix, s->link - 1, &first);
	printf(" link to %s", dray_quote(first.path, first.len, quoted, sizeof(quoted)));
}

static void
print_entry(const struct dray_index *ix, const struct dray_entry *en, uint32_t row, const uint32_t *moves,
    enum tool_change change, bool long_list)
{
	char quoted[DRAY_QUOTE_CAP(DRAY_PATH_MAX)];
	uint32_t show = en->target;
	struct dray_state s;
	struct dray_alt alt;

	/* of a removed path the first state a base has */
	for (uint32_t i = 0; show == DRAY_NONE && i < en->alt_count; i++) {
		dray_index_alt(ix, en->alt_first + i, &alt);
		show = alt.state;
	}
	printf("%c ", tool_change_letter[change]);
	dray_quote(en->path, en->len, quoted, sizeof(quoted));
	if (long_list && show != DRAY_NONE) {
		dray_index_state(ix, show, &s);
		print_attrs(ix, &s);
		printf("%s", quoted);
		print_links(ix, &s, row);
	} else {
		printf("%s", quoted);
	}
	tool_move_print(ix, moves, row, change);
	printf("\n");
}

static void
json_state(struct dray_json *o, const struct dray_index *ix, const struct dray_state *s)
{
	struct dray_json *a;
	struct dray_attrs at;
	char text[65];

	dray_index_attrs(ix, s->attrs, &at);
	dray_json_set_str(o, "type", type_name[s->type]);
	if ((at.has & DRAY_HAS_MODE) != 0) {
		snprintf(text, sizeof(text), "%04" PRIo32, at.mode);
		dray_json_set_str(o, "mode", text);
	}
	if ((at.has & DRAY_HAS_UID) != 0)
		dray_json_set_int(o, "uid", at.uid);
	if ((at.has & DRAY_HAS_GID) != 0)
		dray_json_set_int(o, "gid", at.gid);
	if (s->has_mtime) {
		dray_json_set_int(o, "mtime", s->mtime_sec);
		dray_json_set_int(o, "mtime_nsec", s->mtime_nsec);
	}
	if (s->type == DRAY_FILE) {
		struct dray_content c;

		dray_index_content(ix, s->content, &c);
		if (c.size != DRAY_SIZE_UNKNOWN)
			dray_json_set_int(o, "size", (int64_t)c.size);
		dray_json_set_str(o, "sha256", dray_hex(c.sha256, 32, text));
	}
	if (s->type == DRAY_SYMLINK)
		dray_json_set_path(o, "target", s->target, s->target_len);
	if (s->type == DRAY_CHARDEV || s->type == DRAY_BLOCKDEV) {
		dray_json_set_int(o, "rdev_major", s->rdev_major);
		dray_json_set_int(o, "rdev_minor", s->rdev_minor);
	}
	if (s->link != 0) {
		struct dray_entry first;

		dray_index_entry(ix, s->link - 1, &first);
		dray_json_set_path(o, "link", first.path, first.len);
	}
	if (at.xattr_count == 0)
		return;
	a = dray_json_set_arr(o, "xattrs");
	for (uint32_t i = 0; i < at.xattr_count; i++) {
		struct dray_json *v = dray_json_push_obj(a);
		struct dray_xattr x;

		dray_index_xattr(ix, at.xattr_first + i, &x);
		dray_json_set_path(v, "name", x.name, x.name_len);
		dray_json_set_int(v, "bytes", (int64_t)x.len);
	}
}

/* only what says something: with one component or phase every path is in it */
static void
json_place(struct dray_json *o, const struct dray_index *ix, const struct dray_desc *d, const struct dray_entry *en)
{
	uint64_t mask = dray_index_compset(ix, en->compset);
	struct dray_json *a;

	if ((en->flags & DRAY_ENTRY_CONFIG) != 0)
		dray_json_set_bool(o, "config", true);
	if (d->n_phases > 1)
		dray_json_set_str(o, "phase", d->phases[en->phase]);
	if (d->n_components < 2)
		return;
	a = dray_json_set_arr(o, "components");
	for (size_t i = 0; i < d->n_components; i++)
		if ((mask >> i & 1u) != 0)
			dray_json_push_str(a, d->components[i]);
}

static void
list_entries(const struct dray_index *ix, const struct dray_desc *d, const uint32_t *moves, const struct tool_look *o,
    struct dray_json *list)
{
	for (uint32_t i = 0; i < dray_index_rows(ix, DRAY_T_ENTRIES); i++) {
		enum tool_change change;
		struct dray_entry en;
		struct dray_state s;
		struct dray_json *x;

		dray_index_entry(ix, i, &en);
		change = tool_change_of(ix, moves, i, &en);
		if (o->changed_only && change == TOOL_SAME)
			continue;
		if (!o->common->json) {
			print_entry(ix, &en, i, moves, change, o->long_list);
			continue;
		}
		x = dray_json_push_obj(list);
		dray_json_set_path(x, "path", en.path, en.len);
		dray_json_set_str(x, "change", tool_change_name[change]);
		tool_move_json(x, ix, moves, i, change);
		json_place(x, ix, d, &en);
		if (en.target == DRAY_NONE)
			continue;
		dray_index_state(ix, en.target, &s);
		json_state(x, ix, &s);
	}
}

int
tool_list_paths(int fd, const struct tool_look *o, struct dray_err *e)
{
	struct dray_json *j = o->common->json ? dray_json_new_obj() : NULL;
	struct dray_json *list = j != NULL ? dray_json_set_arr(j, o->why.n > 0 ? "why" : "entries") : NULL;
	uint32_t *moves = NULL;
	struct dray_bundle *b;
	char hex[65];
	int rc = 0;

	if (tool_look_open(fd, o, &b, e) != 0) {
		dray_json_free(j);
		return -1;
	}
	if (o->why.n > 0)
		rc = tool_why(dray_bundle_index(b), dray_bundle_desc(b), &o->why, list, e);
	else if ((moves = tool_moves_of(dray_bundle_index(b))) == NULL)
		rc = dray_fail(e, DRAY_E_IO, "out of memory");
	else
		list_entries(dray_bundle_index(b), dray_bundle_desc(b), moves, o, list);
	free(moves);
	dray_hex(dray_bundle_id(b), 32, hex);
	dray_bundle_close(b);
	if (rc != 0) {
		dray_json_free(j);
		return -1;
	}
	if (j != NULL) {
		dray_json_set_str(j, "id", hex);
		dray_json_set_bool(j, "signatures_checked", o->keyring.n > 0);
		return tool_json(j, e) == 0 ? 0 : -1;
	}
	if (tool_flush(e) != 0)
		return -1;
	if (o->keyring.n == 0 && !o->common->quiet)
		fprintf(stderr, "%s: signatures were not checked (no --keyring)\n", tool_prog);
	return 0;
}
