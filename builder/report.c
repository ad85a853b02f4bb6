/*
 * report.c - what a build tells: what it left out, what changed, where the bytes went, what to do next.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "builder/apply_cost.h"
#include "builder/build.h"
#include "dray/num.h"
#include "dray/path.h"
#include "dray/trust.h"
#include "tool/look.h"

#define WARNINGS_SHOWN 20

static size_t
count_quiet(const struct build_release *r)
{
	size_t n = 0;

	while (n < r->n_notices && r->notices[r->n_notices - 1 - n].quiet)
		n++;
	return n;
}

static void
warn_release(const struct build_opts *o, const struct build_release *r)
{
	char quoted[DRAY_QUOTE_CAP(DRAY_PATH_MAX)];

	for (size_t i = 0; i < r->n_notices; i++) {
		const struct build_notice *n = &r->notices[i];

		/* those asked for stand behind the others */
		if (n->quiet && o->common->verbose == 0)
			break;
		if (i == WARNINGS_SHOWN && o->common->verbose == 0) {
			fprintf(stderr, "%s: warning: %s: %zu more like these; -v shows all\n", tool_prog, r->name,
			    r->n_notices - i - count_quiet(r));
			break;
		}
		fprintf(stderr, "%s: %s%s: %s: %s\n", tool_prog, n->quiet ? "" : "warning: ", r->name,
		    dray_quote(n->path, n->len, quoted, sizeof(quoted)), n->why);
	}
}

void
build_warnings(const struct build_opts *o, const struct build_result *r)
{
	char quoted[300], eol[TOOL_EOL_CAP];

	/* the bundle is the same all the same: no clock goes into it */
	if (r->target != NULL && r->target->facts != NULL && tool_is_past(r->target->facts->eol, time(NULL)))
		fprintf(stderr, "%s: warning: %s: %s; whoever made it gives no more fixes\n", tool_prog, r->target->name,
		    tool_eol(r->target->facts->eol, time(NULL), eol));
	if (r->stale > 0 && !o->common->quiet)
		fprintf(stderr, "%s: removed %zu temporary file%s of a build that was killed\n", tool_prog, r->stale,
		    r->stale == 1 ? "" : "s");
	/* the usual cache is used as far as it can be, and nobody has asked for it */
	if (r->cache != NULL && o->cache_dir != NULL && build_cache_read_only(r->cache))
		fprintf(stderr, "%s: warning: the cache %s cannot be written: it is read, not added to\n", tool_prog,
		    dray_quote(o->cache_dir, strlen(o->cache_dir), quoted, sizeof(quoted)));
	for (size_t i = 0; i < o->n_inputs; i++)
		if (o->inputs[i].release != NULL)
			warn_release(o, o->inputs[i].release);
}

static void
json_notices(struct dray_json *a, const struct build_release *r, bool quiet)
{
	for (size_t i = 0; i < r->n_notices; i++) {
		struct dray_json *x;

		if (r->notices[i].quiet != quiet)
			continue;
		x = dray_json_push_obj(a);
		dray_json_set_str(x, "source", r->name);
		dray_json_set_path(x, "path", r->notices[i].path, r->notices[i].len);
		dray_json_set_str(x, "text", r->notices[i].why);
	}
}

static const char *const kind_name[] = { "plain", "prefix", "addcopy" };

static void
json_sum(struct dray_json *o, const char *name, const char *count, const struct build_kind_sum *s)
{
	struct dray_json *x = dray_json_set_obj(o, name);

	dray_json_set_int(x, count, (int64_t)s->n);
	dray_json_set_int(x, "bytes", (int64_t)s->out);
	dray_json_set_int(x, "stored", (int64_t)s->stored);
}

static void
json_sources(struct dray_json *b, const struct build_opts *o, const struct build_base *base)
{
	struct dray_json *a;

	dray_json_set_str(b, "kind", base->in != NULL && !base->in->all_states ? "exact" : "history");
	if (base->in != NULL) {
		dray_json_set_path(b, "source", base->in->spec, strlen(base->in->spec));
		return;
	}
	a = dray_json_set_arr(b, "sources");
	for (size_t i = o->n_inputs - 1 - o->n_history; i < o->n_inputs - 1; i++)
		dray_json_set_path(dray_json_push_obj(a), "source", o->inputs[i].spec, strlen(o->inputs[i].spec));
}

/* what the bundle is made of, and what each upgrade reads of it */
static void
json_packed(const struct build_opts *o, const struct build_result *r, struct dray_json *j, struct dray_json *bases)
{
	const struct build_packed *p = r->packed;
	struct build_cache_counts c;
	struct dray_json *x;

	dray_json_set_str(j, "mode", o->slim ? "slim" : "complete");
	for (size_t i = 0; i < o->n_bases; i++) {
		struct dray_json *b = dray_json_push_obj(bases);

		dray_json_set_str(b, "version", o->bases[i].version);
		dray_json_set_int(b, "counter", (int64_t)o->bases[i].counter);
		json_sources(b, o, &o->bases[i]);
		dray_json_set_int(b, "apply_cpu_ms", (int64_t)build_cost_ms(p->apply_ns[i]));
		dray_json_set_int(b, "reads", (int64_t)r->costs.base[i].bytes);
	}
	if (o->n_bases == 0)
		dray_json_set_int(j, "apply_cpu_ms", (int64_t)build_cost_ms(p->apply_ns[0]));
	if (o->apply_ns != 0) {
		x = dray_json_set_obj(j, "cheaper");
		dray_json_set_int(x, "bound_ms", (int64_t)build_cost_ms(o->apply_ns));
		dray_json_set_int(x, "frames", (int64_t)p->cheaper.frames);
		dray_json_set_int(x, "bytes", p->cheaper.bytes);
	}
	x = dray_json_set_obj(j, "recipes");
	json_sum(x, "copy", "contents", &p->copy);
	for (size_t i = 0; i < sizeof(kind_name) / sizeof(kind_name[0]); i++)
		json_sum(x, kind_name[i], "frames", &p->kind[i]);
	json_sum(x, "lzma", "frames", &p->by_lzma);
	json_sum(x, "former", "contents", &p->former);
	dray_json_set_int(x, "contents_with_base", (int64_t)p->n_delta);
	dray_json_set_int(x, "contents_full", (int64_t)p->n_full);
	dray_json_set_int(x, "contents_without_full", (int64_t)p->n_only);
	if (r->cache == NULL)
		return;
	c = build_cache_counts(r->cache);
	x = dray_json_set_obj(j, "cache");
	dray_json_set_path(x, "path", build_cache_path(r->cache), strlen(build_cache_path(r->cache)));
	dray_json_set_int(x, "found", (int64_t)c.hits);
	dray_json_set_int(x, "made", (int64_t)c.misses);
	dray_json_set_int(x, "damaged", (int64_t)c.damaged);
	dray_json_set_bool(x, "read_only", build_cache_read_only(r->cache));
}

/* what came from servers for all sources */
static struct build_came
all_came(const struct build_opts *o)
{
	struct build_came all = { .bytes = 0 };

	for (size_t i = 0; i < o->n_inputs; i++) {
		const struct build_came *c = &o->inputs[i].release->came;

		all.bytes += c->bytes;
		all.whole += c->whole;
		all.patched += c->patched;
		all.patch_bytes += c->patch_bytes;
	}
	return all;
}

static int
report_json(const struct build_opts *o, const struct build_result *r, struct dray_err *e)
{
	struct dray_json *j = dray_json_new_obj(), *x;
	const struct build_came came = all_came(o);
	char hex[65];

	dray_json_set_path(j, "bundle", o->output, strlen(o->output));
	dray_json_set_str(j, "id", dray_hex(r->id, 32, hex));
	dray_json_set_str(j, "product", o->product);
	dray_json_set_str(j, "version", o->version);
	dray_json_set_int(j, "counter", (int64_t)o->counter);
	dray_json_set_int(j, "built", (int64_t)r->built);
	if (r->target->facts != NULL && r->target->facts->eol != 0)
		dray_json_set_int(j, "eol", (int64_t)r->target->facts->eol);
	dray_json_set_int(j, "signatures", (int64_t)r->n_signed);
	json_packed(o, r, j, dray_json_set_arr(j, "bases"));
	x = dray_json_set_obj(j, "entries");
	dray_json_set_int(x, "total", (int64_t)r->counts.entries);
	for (int i = 0; i < TOOL_CHANGES; i++)
		dray_json_set_int(x, tool_change_name[i], (int64_t)r->counts.by[i]);
	dray_json_set_int(j, "contents_sent", (int64_t)r->counts.sent);
	dray_json_set_int(j, "contents_sent_bytes", (int64_t)r->counts.sent_bytes);
	x = dray_json_set_obj(j, "bytes");
	dray_json_set_int(x, "total", (int64_t)r->sizes.total);
	dray_json_set_int(x, "frames", (int64_t)r->sizes.frames);
	dray_json_set_int(x, "index", (int64_t)r->sizes.index);
	dray_json_set_int(x, "descriptor", (int64_t)r->sizes.descriptor);
	dray_json_set_int(x, "readme", (int64_t)r->sizes.readme);
	dray_json_set_int(x, "notes", (int64_t)r->sizes.notes);
	dray_json_set_int(x, "slot", (int64_t)r->sizes.slot);
	dray_json_set_int(x, "container", (int64_t)r->sizes.container);
	x = dray_json_set_obj(j, "fetched");
	dray_json_set_int(x, "bytes", (int64_t)came.bytes);
	dray_json_set_int(x, "contents", (int64_t)(came.whole + came.patched));
	dray_json_set_int(x, "patched", (int64_t)came.patched);
	dray_json_set_int(x, "patch_bytes", (int64_t)came.patch_bytes);
	x = dray_json_set_obj(j, "milliseconds");
	dray_json_set_int(x, "read", r->scan_ms);
	dray_json_set_int(x, "compare", r->packed->look_ms);
	dray_json_set_int(x, "pack", r->packed->encode_ms);
	dray_json_set_int(x, "write", r->write_ms);
	dray_json_set_int(x, "check", r->check_ms);
	for (int quiet = 0; quiet < 2; quiet++) {
		x = dray_json_set_arr(j, quiet ? "left_out" : "warnings");
		for (size_t i = 0; i < o->n_inputs; i++)
			json_notices(x, o->inputs[i].release, quiet != 0);
	}
	return tool_json(j, e) == 0 ? 0 : -1;
}

static void
print_step(const char *what, int64_t ms)
{
	printf("%s %" PRId64 ".%" PRId64 " s", what, ms / 1000, ms % 1000 / 100);
}

/* what applying costs, and what a bound on it has added */
static void
print_apply(const struct build_opts *o, const struct build_packed *p)
{
	char text[BUILD_COST_TEXT], human[32];

	for (size_t i = 0; i < o->n_bases || i == 0; i++)
		printf("  apply      about %s s of CPU on one core%s%s\n", build_cost_text(p->apply_ns[i], text),
		    o->n_bases > 0 ? " from " : "", o->n_bases > 0 ? o->bases[i].version : "");
	if (o->apply_ns == 0)
		return;
	printf("  cheaper    %" PRIu64 " frame%s, %s %s, for at most %s s\n", p->cheaper.frames,
	    p->cheaper.frames == 1 ? "" : "s", tool_human((uint64_t)llabs(p->cheaper.bytes), human),
	    p->cheaper.bytes < 0 ? "less" : "more", build_cost_text(o->apply_ns, text));
}

/* which recipes there are, and what they cost */
static void
print_packed(const struct build_opts *o, const struct build_result *r)
{
	const struct build_packed *p = r->packed;
	char h1[32], h2[32], quoted[300];

	if (p->copy.n > 0)
		printf("  copied     %" PRIu64 " content%s of a base, %s\n", p->copy.n, p->copy.n == 1 ? "" : "s",
		    tool_human(p->copy.out, h1));
	for (size_t i = sizeof(kind_name) / sizeof(kind_name[0]); i-- > 0;)
		if (p->kind[i].n > 0)
			printf("  %-10s %" PRIu64 " frame%s, %s stored as %s\n", kind_name[i], p->kind[i].n,
			    p->kind[i].n == 1 ? "" : "s", tool_human(p->kind[i].out, h1), tool_human(p->kind[i].stored, h2));
	if (p->by_lzma.n > 0)
		printf("  by LZMA    %" PRIu64 " of these frames, %s stored as %s: small, and slower to apply\n", p->by_lzma.n,
		    tool_human(p->by_lzma.out, h1), tool_human(p->by_lzma.stored, h2));
	if (p->former.n > 0)
		printf("  to merge   %" PRIu64 " former text%s of config files, %s stored as %s\n", p->former.n,
		    p->former.n == 1 ? "" : "s", tool_human(p->former.out, h1), tool_human(p->former.stored, h2));
	for (size_t i = 0; i < o->n_bases; i++)
		printf("  reads      %s%s from %s\n", o->bases[i].in == NULL ? "at most " : "",
		    tool_human(r->costs.base[i].bytes, h1), o->bases[i].version);
	if (!o->slim && o->n_bases > 0)
		printf("  reads      %s without any base\n", tool_human(r->costs.recipe[DRAY_RECIPE_FULL].bytes, h1));
	print_apply(o, p);
	if (r->cache != NULL) {
		struct build_cache_counts c = build_cache_counts(r->cache);
		const char *path = build_cache_path(r->cache);

		printf("  cache      %" PRIu64 " found, %" PRIu64 " made, in %s\n", c.hits, c.misses,
		    dray_quote(path, strlen(path), quoted, sizeof(quoted)));
		if (c.damaged > 0)
			printf("             %" PRIu64 " damaged and made anew\n", c.damaged);
	}
}

/* a line for each source, with the base that it is or is a part of */
static void
print_from(const struct build_opts *o)
{
	char quoted[300];

	for (size_t i = 0; i < o->n_bases; i++)
		if (o->bases[i].in != NULL)
			printf("  from       %s: %s\n", o->bases[i].version,
			    dray_quote(o->bases[i].in->spec, strlen(o->bases[i].in->spec), quoted, sizeof(quoted)));
	for (size_t i = o->n_inputs - 1 - o->n_history; i < o->n_inputs - 1; i++)
		printf("  from       history, each path as in: %s\n",
		    dray_quote(o->inputs[i].spec, strlen(o->inputs[i].spec), quoted, sizeof(quoted)));
}

static void
print_came(const struct build_opts *o)
{
	struct build_came c = all_came(o);
	size_t n = c.whole + c.patched;
	char all[32], patches[32];

	if (c.bytes == 0)
		return;
	printf("  fetched    %zu content%s, %s\n", n, n == 1 ? "" : "s", tool_human(c.bytes, all));
	if (c.patched > 0)
		printf("             %zu of them by patches, %s\n", c.patched, tool_human(c.patch_bytes, patches));
}

static void
report_text(const struct build_opts *o, const struct build_result *r)
{
	char quoted[300], print[40], h1[32], h2[32], h3[32];
	const struct tool_counts *c = &r->counts;
	size_t left_out = 0;

	for (size_t i = 0; i < o->n_inputs; i++)
		left_out += count_quiet(o->inputs[i].release);
	dray_quote(o->output, strlen(o->output), quoted, sizeof(quoted));
	printf("%s: %s %s, counter %" PRIu64 "\n", quoted, o->product, o->version, o->counter);
	printf("  id         %s\n", dray_fingerprint(r->id, print));
	if (o->n_bases == 0)
		printf("  from       nothing: this bundle installs into an empty tree\n");
	print_from(o);
	print_came(o);
	tool_counts_print(c);
	if (left_out > 0)
		printf("  left out   %zu path%s of the sources, as asked (-v names them)\n", left_out, left_out == 1 ? "" : "s");
	printf("  contents   %zu, %s, stored as %s\n", c->sent, tool_human(c->sent_bytes, h1),
	    tool_human(r->sizes.frames, h2));
	print_packed(o, r);
	printf("  metadata   %s (index %s, signature slot %s)\n",
	    tool_human(r->sizes.total - r->sizes.frames - r->sizes.notes, h1), tool_human(r->sizes.index, h2),
	    tool_human(r->sizes.slot, h3));
	if (r->n_notes > 0)
		printf("  notes      %zu, %s\n", r->n_notes, tool_human(r->sizes.notes, h1));
	printf("  size       %s\n", tool_human(r->sizes.total, h1));
	printf("  signed     by %zu key%s\n", r->n_signed, r->n_signed == 1 ? "" : "s");
	print_step("  time       read", r->scan_ms);
	print_step(", compare", r->packed->look_ms);
	print_step(", pack", r->packed->encode_ms);
	print_step(", write", r->write_ms);
	print_step(", check", r->check_ms);
	printf("\n");
	if (o->n_bases > 0 && c->by[TOOL_SAME] == c->entries)
		printf("nothing changes: the release is the same as its bases\n");
	if (o->slim)
		printf("slim: %zu of the contents are made from files of the base alone. It\n"
		    "installs where those are as they were released; plan names each one that\n"
		    "is not, and then nothing is changed (exit 20). Config files have full copies.\n", r->packed->n_only);
	if (r->n_signed == 0)
		printf("next: dray sign ");
	else
		printf("next: dray-install plan ");
	tool_shell_print(stdout, o->output);
	printf(r->n_signed == 0 ? " --key ops.key\n" : " --root DIR --keyring ops.pub\n");
}

int
build_report(const struct build_opts *o, const struct build_result *r, struct dray_err *e)
{
	if (o->common->json)
		return report_json(o, r, e);
	if (!o->common->quiet)
		report_text(o, r);
	return 0;
}
