/*
 * fit.c - is the bundle for this tree: its system, its product, and not older than what was there before? Each refusal
 * names both sides.
 */
#include <inttypes.h>
#include <string.h>

#include "dray/os.h"

#include "installer/cmd.h"
#include "installer/release.h"

static int
fits_product(const struct inst_front *f, struct dray_err *e)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);
	const struct inst_installed *have = &f->anchor.installed;
	bool fits = strcmp(have->product, d->product) == 0;

	for (size_t i = 0; i < d->n_compatible; i++)
		fits |= strcmp(have->product, d->compatible[i]) == 0;
	if (!have->known || fits)
		return 0;
	dray_fail(e, DRAY_E_SYSTEM, "the bundle is for product %s%s, but %s has %s %s", d->product,
	    d->n_compatible > 0 ? " and compatible ones" : "", f->root, have->product, have->version);
	return dray_hint(e, "take a bundle for %s, or name the right --root", have->product);
}

/* older than it may be, unless this very counter was allowed */
static int
refuse_older(const struct inst_front *f, struct dray_err *e)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);

	if (f->allow_downgrade == 0)
		return dray_hint(e, "older releases are refused; use rollback to go back, or --allow-downgrade %" PRIu64,
		    d->counter);
	inst_say(f, "allowed by --allow-downgrade %" PRIu64 ": %s", f->allow_downgrade, e->text);
	dray_err_clear(e);
	return 0;
}

static int
fits_counter(const struct inst_front *f, struct dray_err *e)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);
	const struct inst_floor *floor = inst_anchor_floor(&f->anchor, d->product);
	static const uint8_t unknown[32];
	const char *version = "";
	uint8_t release[32];

	/* exactly this counter: what stands in a script fits one bundle and no later one */
	if (f->allow_downgrade != 0 && f->allow_downgrade != d->counter) {
		dray_fail(e, DRAY_E_USAGE, "--allow-downgrade %" PRIu64 ", but %s %s has release counter %" PRIu64,
		    f->allow_downgrade, d->product, d->version, d->counter);
		return dray_hint(e, "name the counter of the one bundle that may be older, or leave the option out");
	}
	if (floor == NULL || d->counter > floor->counter)
		return 0;
	if (d->counter < floor->counter) {
		dray_fail(e, DRAY_E_FLOOR, "%s %s has release counter %" PRIu64 ", but %s already had %" PRIu64,
		    d->product, d->version, d->counter, f->root, floor->counter);
		return refuse_older(f, e);
	}
	if (memcmp(floor->release, unknown, sizeof(unknown)) == 0)
		return 0;
	if (inst_release_digest(dray_bundle_index(f->b), release, e) != 0)
		return -1;
	if (memcmp(floor->release, release, sizeof(release)) == 0)
		return 0;
	/* the version is known of what is installed now, and that may be an older one again */
	if (f->anchor.installed.known && f->anchor.installed.counter == d->counter)
		version = f->anchor.installed.version;
	dray_fail(e, DRAY_E_FLOOR, "%s %s has release counter %" PRIu64 ", but %s already had another release with it%s%s",
	    d->product, d->version, d->counter, f->root, version[0] != '\0' ? ": " : "", version);
	dray_hint(e, "build it again with a higher --counter, or accept it with --allow-downgrade %" PRIu64, d->counter);
	return refuse_older(f, e);
}

int
inst_front_fits(const struct inst_front *f, struct dray_err *e)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);

	if (strcmp(d->os, "any") != 0 && strcmp(d->os, os_name()) != 0) {
		dray_fail(e, DRAY_E_SYSTEM, "the bundle is for %s, this system is %s", d->os, os_name());
		return dray_hint(e, "take the bundle that was built for %s", os_name());
	}
	if (f->anchor.lost)
		inst_say(f, "%s/anchor.json is gone: what was installed, and how old a release may be, is not known any more",
		    f->st.rel);
	return fits_product(f, e) != 0 ? -1 : fits_counter(f, e);
}

int
inst_front_floor(const struct inst_front *f, const struct inst_plan *p, struct dray_err *e)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);
	size_t best = 0;

	if (f->anchor.installed.known || inst_anchor_floor(&f->anchor, d->product) != NULL)
		return 0;
	for (size_t i = 1; i < d->n_bases; i++)
		if (p->matched[i] > p->matched[best])
			best = i;
	if (d->n_bases == 0 || p->matched[best] == 0 || d->bases[best].history || d->bases[best].counter <= d->counter)
		return 0;
	dray_fail(e, DRAY_E_FLOOR, "%s %s has release counter %" PRIu64 ", but %s looks like %s with %" PRIu64, d->product,
	    d->version, d->counter, f->root, d->bases[best].version, d->bases[best].counter);
	return refuse_older(f, e);
}
