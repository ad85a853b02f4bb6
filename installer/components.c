/*
 * components.c - parts of a release that this tree may lack: told by the operator, by the record of the last upgrade, or
 * else by what is there. Source: spec/apply.md, "Components".
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dray/path.h"

#include "installer/cmd.h"

bool
inst_row_absent(const struct dray_index *ix, const struct dray_entry *en, uint64_t absent)
{
	return absent != 0 && (dray_index_compset(ix, en->compset) & ~absent) == 0;
}

static uint64_t
all_of(const struct dray_desc *d)
{
	return d->n_components >= 64 ? UINT64_MAX : (UINT64_C(1) << d->n_components) - 1;
}

/* "a,b" as a bit mask */
static int
read_names(const struct dray_desc *d, const char *option, const char *text, uint64_t *mask, struct dray_err *e)
{
	char q[200], list[300] = "";
	size_t at = 0, n;

	*mask = 0;
	for (const char *p = text; ; p += n + 1) {
		size_t i = 0;

		n = strcspn(p, ",");
		while (i < d->n_components && (strlen(d->components[i]) != n || memcmp(d->components[i], p, n) != 0))
			i++;
		if (i == d->n_components) {
			for (i = 0; i < d->n_components && at < sizeof(list); i++)
				at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", i == 0 ? "" : ",", d->components[i]);
			dray_fail(e, DRAY_E_USAGE, "--%s %s: the bundle has no such component", option,
			    dray_quote(p, n, q, sizeof(q)));
			return dray_hint(e, "it has: %s", list);
		}
		*mask |= UINT64_C(1) << i;
		if (p[n] == '\0')
			return 0;
	}
}

/* does a base know something here that is no directory? */
static bool
evidence(const struct dray_index *ix, const struct dray_entry *en)
{
	struct dray_state s;
	struct dray_alt alt;

	if ((en->flags & DRAY_ENTRY_SAME) != 0) {
		dray_index_state(ix, en->target, &s);
		return s.type != DRAY_DIR;
	}
	for (uint32_t i = 0; i < en->alt_count; i++) {
		dray_index_alt(ix, en->alt_first + i, &alt);
		if (alt.state == DRAY_NONE)
			continue;
		dray_index_state(ix, alt.state, &s);
		if (s.type != DRAY_DIR)
			return true;
	}
	return false;
}

/*
 * Is anything there, or on the way to it? A symlink or a file in the place of a directory is for the plan to judge, and so
 * is what this user may not see: neither says that the component is not here.
 */
static int
there(struct dray_walk *w, const struct dray_entry *en, bool *yes, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_stat st;
	int dir, r;

	errno = 0;
	r = dray_walk_parent(w, en->path, en->len, &dir, leaf, e);
	*yes = r == 2 || (r == 0 && os_stat_at(dir, leaf, &st) == 0);
	if (r >= 0 || (errno != EACCES && errno != EPERM))
		return r < 0 ? -1 : 0;
	dray_err_clear(e);
	*yes = true;
	return 0;
}

/* of the components in @ask those of which nothing that belongs to them alone is there, although a base has some */
static int
detect(const struct inst_front *f, uint64_t ask, uint64_t *absent, struct dray_err *e)
{
	const struct dray_index *ix = dray_bundle_index(f->b);
	uint64_t known = 0, found = 0, one;
	struct dray_entry en;
	struct dray_walk w;
	bool yes;
	int rc = 0;

	dray_walk_init(&w, f->st.root);
	for (uint32_t i = 0; rc == 0 && (ask & ~found) != 0 && i < dray_index_rows(ix, DRAY_T_ENTRIES); i++) {
		dray_index_entry(ix, i, &en);
		one = dray_index_compset(ix, en.compset);
		/* what several share is no evidence of any of them */
		if ((one & (one - 1)) != 0 || (one & ask & ~found) == 0 || !evidence(ix, &en))
			continue;
		known |= one;
		rc = there(&w, &en, &yes, e);
		if (rc == 0 && yes)
			found |= one;
	}
	dray_walk_close(&w);
	*absent = known & ~found;
	return rc;
}

/* what is recorded of the bundle's components; the others are in *unknown */
static uint64_t
recorded(const struct dray_desc *d, const struct inst_installed *in, uint64_t *unknown)
{
	uint64_t absent = 0;

	*unknown = all_of(d);
	for (size_t i = 0; i < d->n_components; i++)
		for (size_t k = 0; k < in->n_components; k++)
			if (strcmp(d->components[i], in->components[k].name) == 0) {
				*unknown &= ~(UINT64_C(1) << i);
				absent |= in->components[k].present ? 0 : UINT64_C(1) << i;
			}
	return absent;
}

uint64_t
inst_components_absent(const struct dray_desc *d, const struct inst_installed *in, bool *known)
{
	uint64_t unknown, absent = recorded(d, in, &unknown);

	*known = unknown != all_of(d);
	return absent;
}

static void
tell(const struct inst_front *f)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);

	for (size_t i = 0; i < d->n_components; i++)
		if ((f->policy.absent >> i & 1) != 0)
			inst_say(f, "component %s is not on %s: nothing of it is touched", d->components[i], f->root);
}

/* --components and --without against what is known: *absent */
static int
choose(struct inst_front *f, uint64_t *absent, struct dray_err *e)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);
	uint64_t named = 0, without = 0;

	if (f->components != NULL && f->without != NULL)
		return dray_fail(e, DRAY_E_USAGE, "--components and --without exclude each other");
	if ((f->components != NULL && read_names(d, "components", f->components, &named, e) != 0) ||
	    (f->without != NULL && read_names(d, "without", f->without, &without, e) != 0))
		return -1;
	if (f->components != NULL) {
		f->policy.fresh = *absent & named;
		*absent = all_of(d) & ~named;
	}
	*absent |= without;
	if (*absent != all_of(d))
		return 0;
	dray_fail(e, DRAY_E_USAGE, "--without %s leaves no component", f->without);
	return dray_hint(e, "to take an upgrade away, use rollback");
}

int
inst_components_settle(struct inst_front *f, struct dray_err *e)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);
	uint64_t unknown, absent = recorded(d, &f->anchor.installed, &unknown), missing = 0;

	f->policy.absent = f->policy.fresh = 0;
	if (d->n_components > 1 && unknown != 0 && detect(f, unknown, &missing, e) != 0)
		return -1;
	/* an empty tree lacks all of them, and that is not what is meant */
	if ((absent | missing) != all_of(d))
		absent |= missing;
	if (choose(f, &absent, e) != 0)
		return -1;
	f->policy.absent = absent;
	tell(f);
	return 0;
}

void
inst_components_record(const struct dray_desc *d, uint64_t absent, struct inst_installed *to)
{
	to->n_components = 0;
	for (size_t i = 0; i < d->n_components && d->n_components > 1; i++) {
		memcpy(to->components[i].name, d->components[i], sizeof(to->components[i].name));
		to->components[i].present = (absent >> i & 1) == 0;
		to->n_components = i + 1;
	}
}
