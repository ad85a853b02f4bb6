/*
 * components.c - parts of a release that this tree may lack: told by the operator, by the record of the last upgrade, or
 * else by what is there. Source: spec/apply.md, "Components".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

/* bases that always had something here that is no directory: what a base had at times only proves nothing when it is missing */
static uint64_t
evidence(const struct dray_index *ix, const struct dray_entry *en)
{
	uint64_t bases = 0, lack = 0;
	struct dray_state s;
	struct dray_alt alt;

	if ((en->flags & DRAY_ENTRY_SAME) != 0) {
		dray_index_state(ix, en->target, &s);
		return s.type != DRAY_DIR ? UINT64_MAX : 0;
	}
	for (uint32_t i = 0; i < en->alt_count; i++) {
		dray_index_alt(ix, en->alt_first + i, &alt);
		if (alt.state == DRAY_NONE) {
			lack |= alt.bases;
			continue;
		}
		dray_index_state(ix, alt.state, &s);
		if (s.type != DRAY_DIR)
			bases |= alt.bases;
	}
	return bases & ~lack;
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

/* paths that belong to one component alone, by base: how many there are, and are here */
struct counts { uint32_t of[DRAY_MAX_COMPONENTS][DRAY_MAX_BASES], here[DRAY_MAX_COMPONENTS][DRAY_MAX_BASES]; };

static size_t
number_of(uint64_t one)
{
	size_t i = 0;

	while ((one >> i & 1) == 0)
		i++;
	return i;
}

/* what several share is no evidence of any of them */
static uint64_t
proves(const struct dray_index *ix, const struct dray_entry *en, uint64_t ask, size_t *part)
{
	uint64_t one = dray_index_compset(ix, en->compset);

	if ((one & (one - 1)) != 0 || (one & ask) == 0)
		return 0;
	*part = number_of(one);
	return evidence(ix, en);
}

/* the base of which most is here, by its share; false: no base has anything of it */
static bool
best_base(const struct counts *c, size_t part, size_t n_bases, uint32_t *here, uint32_t *of)
{
	*here = *of = 0;
	for (size_t b = 0; b < n_bases; b++)
		if (c->of[part][b] != 0 &&
		    (*of == 0 || (uint64_t)c->here[part][b] * *of > (uint64_t)*here * c->of[part][b])) {
			*here = c->here[part][b];
			*of = c->of[part][b];
		}
	return *of != 0;
}

static bool
most_is_here(const struct counts *c, size_t part, size_t n_bases)
{
	uint32_t here, of;

	return best_base(c, part, n_bases, &here, &of) && here > of / 2;
}

/* the number of paths first, without a look at the tree; so the look can end as soon as more than half was seen */
static int
count_paths(const struct inst_front *f, uint64_t ask, struct counts *c, struct dray_err *e)
{
	const struct dray_index *ix = dray_bundle_index(f->b);
	size_t part = 0, n_bases = dray_bundle_desc(f->b)->n_bases;
	struct dray_entry en;
	struct dray_walk w;
	bool yes;
	int rc = 0;

	dray_walk_init(&w, f->st.root);
	for (int look = 0; look < 2; look++)
		for (uint32_t i = 0; rc == 0 && ask != 0 && i < dray_index_rows(ix, DRAY_T_ENTRIES); i++) {
			uint64_t bases;

			dray_index_entry(ix, i, &en);
			if ((bases = proves(ix, &en, ask, &part)) == 0)
				continue;
			yes = true;
			if (look == 1)
				rc = there(&w, &en, &yes, e);
			for (size_t b = 0; yes && b < n_bases; b++)
				(look == 0 ? c->of : c->here)[part][b] += (uint32_t)(bases >> b & 1);
			if (look == 1 && yes && most_is_here(c, part, n_bases))
				ask &= ~(UINT64_C(1) << part);
		}
	dray_walk_close(&w);
	return rc;
}

/* of the components in @ask those of which not more than half is here, of any base; f->counted tells of each */
static int
detect(struct inst_front *f, uint64_t ask, uint64_t *absent, struct dray_err *e)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);
	struct counts *c = calloc(1, sizeof(*c));

	*absent = 0;
	if (c == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (count_paths(f, ask, c, e) != 0) {
		free(c);
		return -1;
	}
	for (size_t i = 0; i < d->n_components; i++) {
		struct inst_counted *at = &f->counted[i];

		if ((ask >> i & 1) != 0 && best_base(c, i, d->n_bases, &at->here, &at->of) && at->here <= at->of / 2)
			*absent |= UINT64_C(1) << i;
	}
	free(c);
	return 0;
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

/* how it is known that a component is not here */
static const char *
reason(const struct inst_front *f, size_t part, char *buf, size_t cap)
{
	const struct inst_counted *c = &f->counted[part];

	if (f->components != NULL || f->without != NULL)
		return f->components != NULL ? "left out by --components" : "left out by --without, or not here before";
	if (c->of == 0)
		return "as recorded";
	if (c->here == 0)
		snprintf(buf, cap, "none of its %u paths is here", (unsigned)c->of);
	else
		snprintf(buf, cap, "only %u of its %u paths are here; if it is to be whole again, name it in --components",
		    (unsigned)c->here, (unsigned)c->of);
	return buf;
}

static void
tell(const struct inst_front *f)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);
	char why[120];

	for (size_t i = 0; i < d->n_components; i++)
		if ((f->policy.absent >> i & 1) != 0)
			inst_say(f, "component %s is not on %s: nothing of it is touched (%s)", d->components[i], f->root,
			    reason(f, i, why, sizeof(why)));
		else if (f->counted[i].of != 0 && f->components == NULL && f->policy.absent != 0)
			inst_say(f, "%s is on %s: more than half of its paths are here", d->components[i], f->root);
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
	memset(f->counted, 0, sizeof(f->counted));
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
