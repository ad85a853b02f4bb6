/*
 * symlink_lead.c - where a symlink leads: never followed by the kernel, only ever taken as text beneath the root, and
 * only when a plain directory is there.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "installer/symlinks.h"

#define HOPS_MAX 40	/* as the kernel's own limit; followed only to tell a loop from a detour */

/* the text of a symlink as a path beneath the root */
static void
aim(struct inst_lead *l, const char *at, size_t at_len, const char *text, size_t len)
{
	bool named = false;
	size_t n;

	l->kind = INST_LEAD_DIR;
	l->absolute = len > 0 && text[0] == '/';
	l->len = l->absolute ? 0 : inst_parent_len(at, at_len);
	memcpy(l->path, at, l->len);
	for (size_t i = 0; i < len && l->kind == INST_LEAD_DIR; i += n + 1) {
		for (n = 0; i + n < len && text[i + n] != '/'; n++)
			;
		if (n == 0 || (n == 1 && text[i] == '.'))
			continue;
		if (n == 2 && memcmp(text + i, "..", 2) == 0) {
			/* behind a name it would have to be followed: the name could be another symlink */
			if (named)
				l->kind = INST_LEAD_TWISTED;
			else if (l->len == 0)
				l->kind = INST_LEAD_OUT;
			else
				l->len = inst_parent_len(l->path, l->len);
			continue;
		}
		named = true;
		if (n > DRAY_NAME_MAX || l->len + 1 + n >= DRAY_PATH_MAX) {
			l->kind = INST_LEAD_GONE;
			return;
		}
		if (l->len > 0)
			l->path[l->len++] = '/';
		memcpy(l->path + l->len, text + i, n);
		l->len += n;
	}
	if (l->kind == INST_LEAD_DIR && l->len == 0)
		l->kind = INST_LEAD_ROOT;
}

/* the first thing on the way that is no directory; absent: all of it is one. *n: length of its path */
static int
first_other(struct dray_walk *w, const struct inst_lead *l, size_t *n, struct inst_ident *id, struct dray_err *e)
{
	for (*n = 0; *n < l->len; ) {
		for (++*n; *n < l->len && l->path[*n] != '/'; ++*n)
			;
		if (inst_look(w, l->path, *n, id, NULL, e) != 0)
			return -1;
		if (id->type != DRAY_DIR)
			return 0;
	}
	id->type = DRAY_DIR;
	return 0;
}

int
inst_link_text(struct dray_walk *w, const char *path, size_t len, char text[DRAY_PATH_MAX + 1], size_t *n,
    struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1];
	ssize_t got;
	int dir, r = dray_walk_parent(w, path, len, &dir, leaf, e);

	*n = 0;
	if (r != 0)
		return r < 0 ? -1 : 1;
	if ((got = readlinkat(dir, leaf, text, DRAY_PATH_MAX)) == -1)
		return errno == EINVAL || errno == ENOENT ? 1 : dray_fail_errno(e, "read link");
	*n = (size_t)got;
	return 0;
}

int
inst_lead_find(struct dray_walk *w, const char *at, size_t at_len, const char *text, size_t text_len,
    struct inst_lead *l, struct dray_err *e)
{
	char hop_text[DRAY_PATH_MAX + 1];
	struct inst_lead hop;
	struct inst_ident id;
	size_t n;
	int r;

	aim(l, at, at_len, text, text_len);
	hop = *l;
	for (int hops = 0; hops < HOPS_MAX && hop.kind == INST_LEAD_DIR; hops++) {
		if (dray_path_under(hop.path, hop.len, at, at_len)) {
			l->kind = INST_LEAD_LOOP;
			return 0;
		}
		if (first_other(w, &hop, &n, &id, e) != 0)
			return -1;
		if (hops == 0 && id.type != DRAY_DIR) {
			l->len = n;
			l->kind = id.type == DRAY_ABSENT ? INST_LEAD_GONE : id.type == DRAY_SYMLINK ? INST_LEAD_LINK :
			    INST_LEAD_NO_DIR;
		}
		if (id.type != DRAY_SYMLINK)
			return 0;
		if ((r = inst_link_text(w, hop.path, n, hop_text, &text_len, e)) != 0)
			return r < 0 ? -1 : 0;
		aim(&hop, hop.path, n, hop_text, text_len);
	}
	if (hop.kind == INST_LEAD_DIR)
		l->kind = INST_LEAD_LOOP;
	return 0;
}

const char *
inst_lead_text(const struct inst_lead *l, const char *text, size_t text_len, char out[INST_LEAD_TEXT])
{
	char path[60], raw[60];

	dray_quote(l->path, l->len, path, sizeof(path));
	dray_quote(text, text_len, raw, sizeof(raw));
	switch (l->kind) {
	case INST_LEAD_DIR:
		snprintf(out, INST_LEAD_TEXT, "leads to %s%s", path, l->absolute ? ", taken as beneath the root" : "");
		break;
	case INST_LEAD_GONE:
		snprintf(out, INST_LEAD_TEXT, "dangles: %s is not there%s", path, l->absolute ? " beneath the root" : "");
		break;
	case INST_LEAD_NO_DIR:
		snprintf(out, INST_LEAD_TEXT, "leads to %s, which is no directory", path);
		break;
	case INST_LEAD_LINK:
		snprintf(out, INST_LEAD_TEXT, "leads through another symlink, %s", path);
		break;
	case INST_LEAD_LOOP:
		snprintf(out, INST_LEAD_TEXT, "leads back to itself: %s", raw);
		break;
	case INST_LEAD_OUT:
		snprintf(out, INST_LEAD_TEXT, "leads out of the root: %s", raw);
		break;
	case INST_LEAD_ROOT:
		snprintf(out, INST_LEAD_TEXT, "leads to the root directory itself");
		break;
	case INST_LEAD_TWISTED:
		snprintf(out, INST_LEAD_TEXT, "has a part .. behind a name, which is not followed: %s", raw);
		break;
	}
	return out;
}
