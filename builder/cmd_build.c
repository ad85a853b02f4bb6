/*
 * cmd_build.c - dray build: options into a struct, run, report.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/build.h"
#include "builder/recipe.h"
#include "builder/triggerset.h"
#include "dray/digest.h"
#include "dray/num.h"
#include "dray/slot.h"

#define LEVEL_DEFAULT 19
#define LEVEL_FAST 9

static int
missing(const struct build_args *a, const char *option, struct dray_err *e)
{
	dray_fail(e, DRAY_E_USAGE, "%s is missing", option);
	if (a->recipe != NULL && strcmp(option, "-o") != 0)
		return dray_hint(e, "give it as an option, or in the recipe");
	return dray_hint(e, "see dray build --help");
}

static int
need_token(const struct build_args *a, const char *option, const char *value, struct dray_err *e)
{
	char quoted[200];

	if (value == NULL)
		return missing(a, option, e);
	if (!dray_token_ok(value, strlen(value)))
		return dray_fail(e, DRAY_E_USAGE, "%s \"%s\": 1 to 64 of A-Z a-z 0-9 . _ + - are wanted", option,
		    dray_quote(value, strlen(value), quoted, sizeof(quoted)));
	return 0;
}

static int
read_level(const char *text, int *level, struct dray_err *e)
{
	char quoted[100];
	uint64_t n;

	if (text == NULL || strcmp(text, "default") == 0)
		*level = LEVEL_DEFAULT;
	else if (strcmp(text, "fast") == 0)
		*level = LEVEL_FAST;
	else if (strcmp(text, "best") == 0)
		*level = DRAY_LEVEL_BEST;
	else if (dray_parse_u64(text, 1, 19, &n))
		*level = (int)n;
	else
		return dray_fail(e, DRAY_E_USAGE, "--level \"%s\": fast, default, best or 1 to 19 is wanted",
		    dray_quote(text, strlen(text), quoted, sizeof(quoted)));
	return 0;
}

static int
read_apply_cpu(const char *text, uint64_t *ns, struct dray_err *e)
{
	char quoted[100];

	if (text == NULL || build_seconds_ok(text, ns))
		return 0;
	return dray_fail(e, DRAY_E_USAGE, "--apply-cpu \"%s\": 0.001 to 1000000 seconds are wanted, such as 2.5",
	    dray_quote(text, strlen(text), quoted, sizeof(quoted)));
}

static int
read_epoch(struct build_opts *o, struct dray_err *e)
{
	const char *text = getenv("SOURCE_DATE_EPOCH");
	char quoted[100];

	if (text == NULL)
		return 0;
	if (!dray_parse_u64(text, 0, INT64_MAX, &o->built))
		return dray_fail(e, DRAY_E_USAGE, "SOURCE_DATE_EPOCH \"%s\": seconds since 1970 are wanted, digits only",
		    dray_quote(text, strlen(text), quoted, sizeof(quoted)));
	o->has_built = true;
	return 0;
}

/* VERSION[:COUNTER] */
static int
read_base_version(const char *text, struct build_base *b, struct dray_err *e)
{
	size_t n = strcspn(text, ":");
	char quoted[200];

	if (!dray_token_ok(text, n) || (text[n] == ':' && !dray_parse_u64(text + n + 1, 1, INT64_MAX, &b->counter)))
		return dray_fail(e, DRAY_E_USAGE, "--from-version \"%s\": VERSION or VERSION:COUNTER is wanted",
		    dray_quote(text, strlen(text), quoted, sizeof(quoted)));
	memcpy(b->version, text, n);
	b->version[n] = '\0';
	b->named = true;
	return 0;
}

/* a server tells all states that a release had, so one base is enough for all of them: it is called like the release */
static int
take_states(struct build_opts *o, struct build_base *b, struct dray_err *e)
{
	struct build_input *in = &o->inputs[o->n_inputs - 1];
	char release[65], arch[33];

	in->all_states = build_fbsd_is(in->spec);
	if (!in->all_states || b->named)
		return 0;
	if (build_fbsd_spec(in->spec, release, arch, e) != 0)
		return dray_wrap(e, "%s", in->spec);
	memcpy(b->version, release, sizeof(b->version));
	b->named = true;
	return 0;
}

static int
read_bases(struct build_opts *o, const struct build_args *a, struct dray_err *e)
{
	const struct tool_list *from = &a->from, *names = &a->names;

	if (a->history.n > DRAY_MAX_BASES)
		return dray_fail(e, DRAY_E_USAGE, "more than %u times --history", DRAY_MAX_BASES);
	if (from->n + (a->history.n > 0) > DRAY_MAX_BASES)
		return dray_fail(e, DRAY_E_USAGE, "more than %u bases", DRAY_MAX_BASES);
	if (names->n > from->n)
		return dray_fail(e, DRAY_E_USAGE, "more --from-version than --from");
	const bool levels = from->n == 0 && a->history.n == 0 && build_fbsd_is(a->to);

	for (size_t i = 0; i < from->n || (levels && i == 0); i++) {
		struct build_base *b = &o->bases[o->n_bases++];

		b->in = &o->inputs[o->n_inputs];
		/* one patch level to the next, when nothing else is said */
		o->inputs[o->n_inputs++].spec = levels ? a->to : from->v[i];
		if (i < names->n && names->v[i] != NULL && read_base_version(names->v[i], b, e) != 0)
			return -1;
		if (b->counter > o->counter && o->counter != 0)
			return dray_fail(e, DRAY_E_USAGE, "the counter of base %s is above that of the release", b->version);
		if (take_states(o, b, e) != 0)
			return -1;
	}
	for (o->n_history = 0; o->n_history < a->history.n; o->n_history++)
		o->inputs[o->n_inputs++].spec = a->history.v[o->n_history];
	if (o->n_history > 0)
		snprintf(o->bases[o->n_bases++].version, sizeof(o->bases[0].version), "history");
	o->inputs[o->n_inputs++].spec = a->to;
	return 0;
}

static int
add_patterns(struct build_patterns *to, const struct tool_list *from, const char *option, struct dray_err *e)
{
	for (size_t i = 0; i < from->n; i++)
		if (build_patterns_add(to, from->v[i], e) != 0)
			return dray_wrap(e, "%s", option);
	return 0;
}

/* what upstream signed has to be in the bundle as upstream signed it */
static int
check_upstream(const struct build_opts *o, const struct build_args *a, struct dray_err *e)
{
	if (!o->with_upstream)
		return 0;
	if (!build_fbsd_is(a->to)) {
		dray_fail(e, DRAY_E_USAGE, "--with-upstream: %s is no release of a server", a->to);
		return dray_hint(e, "only --to freebsd-update:RELEASE/ARCH has a list that its owner signed");
	}
	if (a->as_root || a->owner_map.n > 0)
		return dray_fail(e, DRAY_E_USAGE, "--with-upstream and %s exclude each other: other owners are not what upstream "
		    "signed", a->as_root ? "--as-root" : "--owner-map");
	if (o->layout->n_components > 0)
		return dray_fail(e, DRAY_E_USAGE, "--with-upstream and components of a recipe exclude each other: upstream's list "
		    "has its own");
	return 0;
}

static int
take_server(struct build_opts *o, const struct build_args *a, struct dray_err *e)
{
	o->fbsd.server = a->server;
	o->fbsd.keyprint = a->keyprint;
	o->fbsd.store = a->fetched;
	o->fbsd.have = a->have;
	for (size_t i = 0; i < a->parts.n; i++)
		if (dray_fbsd_parts_add(&o->fbsd.parts, a->parts.v[i], e) != 0)
			return dray_wrap(e, "--components");
	return 0;
}

/* what is left out, and what becomes of the rest */
static int
check_rules(struct build_opts *o, const struct build_args *a, struct dray_err *e)
{
	o->owner.as_root = a->as_root;
	for (size_t i = 0; i < a->owner_map.n; i++)
		if (build_owner_parse(a->owner_map.v[i], &o->owner, e) != 0)
			return -1;
	for (size_t i = 0; i < a->path_sets.n; i++)
		if (build_pathset_add(&o->filter, a->path_sets.v[i], e) != 0)
			return -1;
	if (add_patterns(&o->filter.ignore, &a->ignore, "--ignore", e) != 0 ||
	    add_patterns(&o->xattrs, &a->xattrs, "--xattr", e) != 0 ||
	    add_patterns(&o->mounts, &a->mounts, "--mount", e) != 0 ||
	    add_patterns(&o->layout->config, &a->config, "--config", e) != 0)
		return -1;
	for (size_t i = 0; i < a->trigger_sets.n; i++)
		if (build_triggerset_add(&o->trigger_sets, a->trigger_sets.v[i], e) != 0)
			return -1;
	/* a server's release is FreeBSD's */
	if (o->trigger_sets == 0 && build_fbsd_is(a->to) && build_triggerset_add(&o->trigger_sets, "freebsd", e) != 0)
		return -1;
	return build_pathset_config(&o->filter, o->layout, e);
}

static int
check_compatible(const struct build_opts *o, const struct build_args *a, struct dray_err *e)
{
	const struct tool_list *l = &o->compatible;

	if (l->n > BUILD_COMPATIBLE_MAX)
		return dray_fail(e, DRAY_E_USAGE, "more than %u times --compatible", BUILD_COMPATIBLE_MAX);
	for (size_t i = 0; i < l->n; i++) {
		if (need_token(a, "--compatible", l->v[i], e) != 0)
			return -1;
		if (o->product != NULL && strcmp(l->v[i], o->product) == 0)	/* else a server tells it later */
			return dray_fail(e, DRAY_E_USAGE, "--compatible %s is the product itself", l->v[i]);
		for (size_t k = 0; k < i; k++)
			if (strcmp(l->v[i], l->v[k]) == 0)
				return dray_fail(e, DRAY_E_USAGE, "--compatible %s is given twice", l->v[i]);
	}
	return 0;
}

static int
check_opts(struct build_opts *o, const struct build_args *a, struct dray_err *e)
{
	o->product = a->product;
	o->version = a->version;
	if (a->to == NULL)
		return missing(a, "--to", e);
	o->os = a->os != NULL ? a->os : build_fbsd_is(a->to) ? "freebsd" : "any";
	o->counter = a->counter;
	o->slot = a->slot != 0 ? a->slot : DRAY_SLOT_DEFAULT;
	o->compatible = a->compatible;
	o->notes = a->notes;
	o->slim = a->slim;
	o->portable_names = a->portable_names;
	o->triggers = a->triggers;
	o->with_upstream = a->with_upstream;
	if (o->output == NULL)
		return missing(a, "-o", e);
	/* a server says these itself */
	if ((o->product != NULL || !build_fbsd_is(a->to)) && need_token(a, "--product", o->product, e) != 0)
		return -1;
	if ((o->version != NULL || !build_fbsd_is(a->to)) && need_token(a, "--version", o->version, e) != 0)
		return -1;
	if (o->counter == 0 && !build_fbsd_is(a->to)) {
		dray_fail(e, DRAY_E_USAGE, "--counter is missing");
		return dray_hint(e, "give each release of a product a higher number than the one before");
	}
	o->fbsd.os = o->os;
	if (!build_os_ok(o->os))
		return dray_fail(e, DRAY_E_USAGE, "--os: linux, freebsd or any is wanted");
	if (o->slot % 512 != 0)
		return dray_fail(e, DRAY_E_USAGE, "--slot: a multiple of 512 is wanted");
	if (o->keys.n > DRAY_SLOT_SIGS_MAX)
		return dray_fail(e, DRAY_E_USAGE, "more than %u keys", DRAY_SLOT_SIGS_MAX);
	if (o->pass_file != NULL && o->keys.n == 0)
		return dray_fail(e, DRAY_E_USAGE, "--passphrase-file goes with --key only");
	if (o->slim && a->from.n == 0 && a->history.n == 0 && !build_fbsd_is(a->to))
		return dray_fail(e, DRAY_E_USAGE, "--slim goes with --from or --history: without a base all copies are full");
	if (o->no_cache && o->cache_dir != NULL)
		return dray_fail(e, DRAY_E_USAGE, "--cache and --no-cache exclude each other");
	if (check_upstream(o, a, e) != 0 || check_compatible(o, a, e) != 0 || read_apply_cpu(a->apply_cpu, &o->apply_ns, e) != 0 ||
	    read_level(a->level, &o->level, e) != 0 || read_epoch(o, e) != 0 || read_bases(o, a, e) != 0 ||
	    take_server(o, a, e) != 0)
		return -1;
	return check_rules(o, a, e);
}

static void
free_opts(struct build_opts *o)
{
	free(o->filter.ignore.v);
	free(o->xattrs.v);
	free(o->mounts.v);
	build_layout_free(o->layout);
	free(o->layout);
	free(o);
}

int
cmd_build(int argc, char **argv, const struct tool_cmd *self)
{
	struct tool_common common = { .json = false };
	struct build_args a = { .recipe = NULL };
	struct build_opts *o = calloc(1, sizeof(*o));
	struct build_result r = { .target = NULL };
	struct build_recipe *recipe = NULL;
	struct dray_err e;
	size_t n;
	int rc;

	dray_err_clear(&e);
	if (o == NULL || (o->layout = calloc(1, sizeof(*o->layout))) == NULL) {
		free(o);
		dray_fail(&e, DRAY_E_IO, "out of memory");
		return tool_error(NULL, "cannot build", &e);
	}
	struct tool_opt opts[] = {
		{ "recipe", 0, TOOL_TEXT, &a.recipe, 0, 0, "FILE", "all of this but -o, --key and --tmpdir, and more, as JSON" },
		{ "from", 0, TOOL_LIST, &a.from, 0, 0, "SOURCE", "where an upgrade may start; repeats; none: full install" },
		{ "history", 0, TOOL_LIST, &a.history, 0, 0, "SOURCE",
		  "former states: a machine may mix those of all --history, path by path; repeats" },
		{ "to", 0, TOOL_TEXT, &a.to, 0, 0, "SOURCE", "the new release: dir:PATH, archive:FILE[,FILE...] or freebsd-update:RELEASE/ARCH" },
		{ "product", 0, TOOL_TEXT, &a.product, 0, 0, "NAME", "product of the release" },
		{ "version", 0, TOOL_TEXT, &a.version, 0, 0, "VERSION", "its version, for people" },
		{ "counter", 0, TOOL_NUMBER, &a.counter, 1, INT64_MAX, "N", "its number, higher than the release before" },
		{ "output", 'o', TOOL_TEXT, &o->output, 0, 0, "FILE", "the bundle" },
		{ "key", 0, TOOL_LIST, &o->keys, 0, 0, "FILE", "sign with this private key; repeats" },
		{ "passphrase-file", 0, TOOL_TEXT, &o->pass_file, 0, 0, "FILE", "its first line opens encrypted keys" },
		{ "from-version", 0, TOOL_LIST, &a.names, 0, 0, "VERSION[:COUNTER]",
		  "name of the first, second, ... --from; default base-1, base-2, ..." },
		{ "compatible", 0, TOOL_LIST, &a.compatible, 0, 0, "NAME", "another product it fits; repeats" },
		{ "os", 0, TOOL_TEXT, &a.os, 0, 0, "NAME", "linux, freebsd or any (default)" },
		{ "level", 0, TOOL_TEXT, &a.level, 0, 0, "LEVEL", "fast (9), default (19), best (19 and LZMA) or 1 to 19" },
		{ "slim", 0, TOOL_FLAG, &a.slim, 0, 0, NULL,
		  "no full copy of what every base can be made into the new one: for targets without local changes" },
		{ "apply-cpu", 0, TOOL_TEXT, &a.apply_cpu, 0, 0, "SECONDS",
		  "so much CPU of one core may applying cost: frames are stored in larger ways that are cheaper to decode" },
		{ "cache", 0, TOOL_TEXT, &o->cache_dir, 0, 0, "DIR", "compressed frames of earlier builds; default ~/.cache/dray" },
		{ "no-cache", 0, TOOL_FLAG, &o->no_cache, 0, 0, NULL, "compress everything anew, keep nothing" },
		{ "note", 0, TOOL_LIST, &a.notes, 0, 0, "FILE", "attach this file; repeats" },
		{ "config", 0, TOOL_LIST, &a.config, 0, 0, "PATTERN", "files that people edit; repeats" },
		{ "path-set", 0, TOOL_LIST, &a.path_sets, 0, 0, "NAME",
		  "leave out what is the machine's own: debian, freebsd, image; repeats" },
		{ "triggers", 0, TOOL_LIST, &a.trigger_sets, 0, 0, "NAME",
		  "what the system has to do afterwards: debian, freebsd, none; repeats" },
		{ "ignore", 0, TOOL_LIST, &a.ignore, 0, 0, "PATTERN", "leave out these paths; repeats" },
		{ "mount", 0, TOOL_LIST, &a.mounts, 0, 0, "PATTERN", "dir: enter the file systems mounted here; repeats" },
		{ "xattr", 0, TOOL_LIST, &a.xattrs, 0, 0, "PATTERN", "take these attributes as well; repeats" },
		{ "owner-map", 0, TOOL_LIST, &a.owner_map, 0, 0, "[u|g]FROM[-LAST]:TO,...", "other owners; repeats" },
		{ "as-root", 0, TOOL_FLAG, &a.as_root, 0, 0, NULL, "what no --owner-map names belongs to root" },
		{ "portable-names", 0, TOOL_FLAG, &a.portable_names, 0, 0, NULL, "refuse names that differ only by case" },
		{ "allow-empty", 0, TOOL_FLAG, &o->empty_ok, 0, 0, NULL, "a release may hold nothing" },
		{ "server", 0, TOOL_TEXT, &a.server, 0, 0, "URL", "of freebsd-update; default update.FreeBSD.org" },
		{ "keyprint", 0, TOOL_TEXT, &a.keyprint, 0, 0, "HEX", "SHA-256 of its pub.ssl; default the FreeBSD project's" },
		{ "components", 0, TOOL_LIST, &a.parts, 0, 0, "NAME,...",
		  "of freebsd-update, such as world/base,kernel; default all" },
		{ "have", 0, TOOL_LIST, &a.have, 0, 0, "SOURCE",
		  "contents in it need not be fetched, such as archive:base.txz; repeats" },
		{ "with-upstream", 0, TOOL_FLAG, &a.with_upstream, 0, 0, NULL,
		  "of freebsd-update: attach key, tag and list, for verify --upstream" },
		{ "fetched", 0, TOOL_TEXT, &a.fetched, 0, 0, "DIR",
		  "what servers sent; default ~/.cache/dray/freebsd-update" },
		{ "tmpdir", 0, TOOL_TEXT, &o->tmpdir, 0, 0, "DIR", "for temporary files; default: beside the bundle" },
		{ "slot", 0, TOOL_SIZE, &a.slot, 512, DRAY_SLOT_MAX, "SIZE", "room for signatures, default 8k" },
		{ .name = NULL },
	};
	o->common = &common;
	if ((rc = tool_parse(argc, argv, self, opts, &common, 0, 0, NULL, &n)) != -1) {
		free_opts(o);
		return rc;
	}
	rc = a.recipe == NULL ? 0 : build_recipe_load(&a, o->layout, &recipe, &e);
	if (rc == 0)
		rc = check_opts(o, &a, &e);
	if (rc == 0)
		rc = dray_crypto_init(&e);
	if (rc == 0)
		rc = build_run(o, &r, &e);
	build_warnings(o, &r);
	if (rc == 0)
		rc = build_report(o, &r, &e);
	build_result_free(o, &r);
	if (rc != 0) {
		char what[340], quoted[300];

		snprintf(what, sizeof(what), "cannot build %s", o->output == NULL ? "a bundle" :
		    dray_quote(o->output, strlen(o->output), quoted, sizeof(quoted)));
		rc = tool_error(&common, what, &e);
	}
	free_opts(o);
	build_recipe_free(recipe);
	return rc;
}
