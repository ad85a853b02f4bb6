/*
 * runs_paths.c - the list of paths of one run, row by row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/index.h"
#include "dray/io.h"
#include "dray/num.h"

#include "runs.h"

static const char *const type_name[] = { [DRAY_ABSENT] = "absent", [DRAY_FILE] = "file", [DRAY_DIR] = "directory",
	[DRAY_SYMLINK] = "symlink", [DRAY_FIFO] = "fifo", [DRAY_CHARDEV] = "chardev", [DRAY_BLOCKDEV] = "blockdev" };

static const struct { uint8_t bit; const char *name; } flag_name[] = { { DRAY_EV_PARKED, "parked" },
	{ DRAY_EV_EDIT, "edit-kept" }, { DRAY_EV_ATTRS, "attributes-replaced" }, { DRAY_EV_CONFIG, "config" },
	{ DRAY_EV_MERGED, "merged" }, { DRAY_EV_OWN_ATTRS, "attributes-kept" } };

static const char *
name_of(uint8_t type)
{
	return type < sizeof(type_name) / sizeof(type_name[0]) ? type_name[type] : "other";
}

static bool
hashed(const struct dray_ev_side *s)
{
	return s->type == DRAY_FILE || s->type == DRAY_SYMLINK;
}

static void
json_side(struct dray_json *row, const char *key, const struct dray_ev_side *s)
{
	struct dray_json *o = dray_json_set_obj(row, key);
	char text[65];

	dray_json_set_str(o, "type", name_of(s->type));
	if (s->type == DRAY_ABSENT)
		return;
	if ((s->has & DRAY_HAS_MODE) != 0) {
		snprintf(text, sizeof(text), "%04o", (unsigned)s->mode);
		dray_json_set_str(o, "mode", text);
	}
	if ((s->has & DRAY_HAS_UID) != 0)
		dray_json_set_int(o, "uid", s->uid);
	if ((s->has & DRAY_HAS_GID) != 0)
		dray_json_set_int(o, "gid", s->gid);
	if (hashed(s))
		dray_json_set_str(o, "sha256", dray_hex(s->sha256, 32, text));
}

static void
json_row(struct dray_json *list, const struct dray_ev_row *row)
{
	const char change[2] = { row->change, '\0' };
	struct dray_json *o = dray_json_push_obj(list), *flags;

	dray_json_set_path(o, "path", row->path, row->len);
	dray_json_set_str(o, "change", change);
	flags = dray_json_set_arr(o, "flags");
	for (size_t i = 0; i < sizeof(flag_name) / sizeof(flag_name[0]); i++)
		if ((row->flags & flag_name[i].bit) != 0)
			dray_json_push_str(flags, flag_name[i].name);
	json_side(o, "before", &row->before);
	json_side(o, "after", &row->after);
}

static void
print_side(const struct dray_ev_side *s)
{
	char hex[65];

	printf("  %-9s", name_of(s->type));
	if (hashed(s))
		printf(" %.16s", dray_hex(s->sha256, 32, hex));
	else
		printf(" %16s", "");
	if ((s->has & DRAY_HAS_MODE) != 0)
		printf(" %04o", (unsigned)s->mode);
	else
		printf(" %4s", "");
}

static void
print_row(const struct dray_ev_row *row)
{
	char quoted[DRAY_QUOTE_CAP(DRAY_PATH_MAX)];

	printf("%c %s\n", row->change, dray_quote(row->path, row->len, quoted, sizeof(quoted)));
	print_side(&row->before);
	printf(" ->");
	print_side(&row->after);
	for (size_t i = 0; i < sizeof(flag_name) / sizeof(flag_name[0]); i++)
		if ((row->flags & flag_name[i].bit) != 0)
			printf(" %s", flag_name[i].name);
	putchar('\n');
}

int
tool_runs_paths(const struct tool_common *c, const struct tool_span *list, struct dray_json *o, struct dray_err *e)
{
	struct dray_json *rows = o == NULL ? NULL : dray_json_set_arr(o, "paths");
	struct dray_ev_reader *r = NULL;
	struct dray_ev_row row;
	uint8_t *p = NULL;
	size_t len;
	int got = -1;

	if (list->size > DRAY_EV_LIST_MAX || !dray_fit(list->size, &len))
		return dray_fail(e, DRAY_E_FORMAT, "the list of paths is longer than one can be");
	if ((p = malloc(len + 1)) == NULL || (r = malloc(sizeof(*r))) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	if (!dray_pread_whole(list->fd, p, len, list->at)) {
		dray_fail(e, DRAY_E_IO, "the list of paths cannot be read");
		goto out;
	}
	if (dray_ev_open(r, p, len, e) != 0)
		goto out;
	while ((got = dray_ev_next(r, &row, e)) == 1) {
		if (rows != NULL)
			json_row(rows, &row);
		else if (!c->quiet)
			print_row(&row);
	}
out:
	free(p);
	free(r);
	return got;
}
