/*
 * policy.c - the options of plan and apply that decide beforehand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/path.h"

#include "installer/cmd.h"

static const char *const how_name[] = { [INST_LINK_IGNORE] = "ignore", [INST_LINK_RESTORE] = "restore",
	[INST_LINK_REDIRECT] = "redirect" };

/* PATH=ignore|restore|redirect; the path as people write it, with slashes around */
static int
read_link(const char *text, struct inst_link *link, struct dray_err *e)
{
	const char *how = strrchr(text, '='), *why = "no =";
	char q[200];

	link->how = INST_LINK_ASK;
	for (size_t i = INST_LINK_IGNORE; how != NULL && i < sizeof(how_name) / sizeof(how_name[0]); i++)
		if (strcmp(how + 1, how_name[i]) == 0)
			link->how = (enum inst_link_how)i;
	if (link->how == INST_LINK_ASK) {
		dray_fail(e, DRAY_E_USAGE, "--symlink %s: no decision", dray_quote(text, strlen(text), q, sizeof(q)));
		return dray_hint(e, "give PATH=ignore, PATH=restore or PATH=redirect");
	}
	link->path = text + strspn(text, "/");
	link->len = how > link->path ? (size_t)(how - link->path) : 0;
	while (link->len > 0 && link->path[link->len - 1] == '/')
		link->len--;
	if (dray_path_ok(link->path, link->len, &why))
		return 0;
	return dray_fail(e, DRAY_E_USAGE, "--symlink %s: %s", dray_quote(text, strlen(text), q, sizeof(q)), why);
}

static int
by_path(const void *a, const void *b)
{
	const struct inst_link *x = a, *y = b;

	return dray_path_cmp(x->path, x->len, y->path, y->len);
}

static int
read_links(struct inst_front *f, struct dray_err *e)
{
	struct inst_policy *p = &f->policy;
	char q[200];

	if (f->symlinks.n == 0)
		return 0;
	if ((p->links = calloc(f->symlinks.n, sizeof(*p->links))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < f->symlinks.n; i++)
		if (read_link(f->symlinks.v[i], &p->links[i], e) != 0)
			return -1;
	p->n_links = f->symlinks.n;
	qsort(p->links, p->n_links, sizeof(*p->links), by_path);
	for (size_t i = 1; i < p->n_links; i++)
		if (by_path(&p->links[i - 1], &p->links[i]) == 0)
			return dray_fail(e, DRAY_E_USAGE, "--symlink decides twice about %s",
			    dray_quote(p->links[i].path, p->links[i].len, q, sizeof(q)));
	return 0;
}

int
inst_policy_read(struct inst_front *f, struct dray_err *e)
{
	char q[100];

	if (f->profile != NULL) {
		f->policy.strict = strcmp(f->profile, "strict") == 0;
		if (!f->policy.strict && strcmp(f->profile, "preserve") != 0) {
			dray_fail(e, DRAY_E_USAGE, "--profile %s: no such profile",
			    dray_quote(f->profile, strlen(f->profile), q, sizeof(q)));
			return dray_hint(e, "there are preserve, the default, and strict");
		}
	}
	return read_links(f, e);
}
