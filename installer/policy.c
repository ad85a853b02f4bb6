/*
 * policy.c - the options of plan and apply that decide beforehand.
 */
#include <sys/stat.h>

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

/* rules about directories that are symlinks here say the same as --symlink, which goes first */
static void
links_of_rules(struct inst_policy *p)
{
	for (size_t i = 0; i < p->rules.n; i++) {
		const struct dray_rule *r = &p->rules.v[i];
		const struct inst_link link = { .path = r->pattern, .len = r->len, .ruled = true,
			.how = r->action == DRAY_ACT_RESTORE ? INST_LINK_RESTORE : INST_LINK_REDIRECT };
		bool known = r->action != DRAY_ACT_RESTORE && r->action != DRAY_ACT_REDIRECT;

		for (size_t k = 0; k < p->n_links && !known; k++)
			known = by_path(&p->links[k], &link) == 0;
		if (!known)
			p->links[p->n_links++] = link;
	}
}

static int
read_links(struct inst_front *f, struct dray_err *e)
{
	struct inst_policy *p = &f->policy;
	char q[200];

	if (f->symlinks.n == 0 && p->rules.n == 0)
		return 0;
	if ((p->links = calloc(f->symlinks.n + p->rules.n, sizeof(*p->links))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < f->symlinks.n; i++)
		if (read_link(f->symlinks.v[i], &p->links[i], e) != 0)
			return -1;
	p->n_links = f->symlinks.n;
	links_of_rules(p);
	qsort(p->links, p->n_links, sizeof(*p->links), by_path);
	for (size_t i = 1; i < p->n_links; i++)
		if (by_path(&p->links[i - 1], &p->links[i]) == 0)
			return dray_fail(e, DRAY_E_USAGE, "--symlink decides twice about %s",
			    dray_quote(p->links[i].path, p->links[i].len, q, sizeof(q)));
	return 0;
}

/* texts that were decided on lie beside the policy */
static int
folder_of_texts(struct inst_front *f, struct dray_err *e)
{
	f->policy.texts = strndup(f->policy_file, (size_t)(tool_leaf_of(f->policy_file) - f->policy_file));
	return f->policy.texts != NULL ? 0 : dray_fail(e, DRAY_E_IO, "out of memory");
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
	if (f->policy_file != NULL && (inst_rules_load(f->policy_file, &f->policy.rules, e) != 0 || folder_of_texts(f, e) != 0))
		return -1;
	f->decided = true;
	return read_links(f, e);
}

bool
inst_is_running_system(const struct inst_front *f)
{
	struct stat here, slash;

	return fstat(f->st.root, &here) == 0 && stat("/", &slash) == 0 && here.st_dev == slash.st_dev &&
	    here.st_ino == slash.st_ino;
}

int
inst_policy_settle(struct inst_front *f, bool changes, struct dray_err *e)
{
	bool recorded = f->anchor.installed.no_owner;

	if (f->no_owner && f->owner)
		return dray_fail(e, DRAY_E_USAGE, "--owner and --no-owner exclude each other");
	f->policy.no_owner = f->no_owner || (recorded && !f->owner);
	if (!f->policy.no_owner)
		return 0;
	if (changes && inst_is_running_system(f)) {
		dray_fail(e, f->no_owner ? DRAY_E_USAGE : DRAY_E_SYSTEM, f->no_owner ? "--no-owner is never for /" :
		    "/ was installed with --no-owner, and that must not go on");
		return dray_hint(e, "nothing was changed; run it as root%s", f->no_owner ? "" : " with --owner");
	}
	if (!f->no_owner)
		inst_say(f, "owners are left alone, as in the last upgrade of %s; --owner changes that", f->root);
	return 0;
}
