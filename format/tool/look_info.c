/*
 * look_info.c - info: what a bundle says of itself; verify: whether all of it is true.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dray/fbsd_proof.h"
#include "dray/num.h"
#include "dray/trust.h"
#include "tool/look.h"

/* for scripts */
static const char *
signer_key(enum dray_signer_state s)
{
	switch (s) {
	case DRAY_SIGNER_GOOD:
		return "good";
	case DRAY_SIGNER_UNKNOWN:
		return "unknown";
	case DRAY_SIGNER_REVOKED:
		return "revoked";
	case DRAY_SIGNER_WRONG_PRODUCT:
		return "wrong-product";
	case DRAY_SIGNER_BAD:
		return "bad";
	}
	return "?";
}

/* with a keyring: the verdict; without: who claims to have signed */
static void
json_signers(struct dray_json *o, const struct dray_bundle *b, bool checked)
{
	const struct dray_verdict *v = dray_bundle_verdict(b);
	const struct dray_slot *s = dray_bundle_slot(b);
	struct dray_json *a = dray_json_set_arr(o, "signatures");
	char hex[65];

	dray_json_set_bool(o, "signatures_checked", checked);
	if (checked) {
		dray_json_set_int(o, "signatures_good", v->good);
		dray_json_set_int(o, "signatures_needed", v->needed);
	}
	for (unsigned i = 0; checked && i < v->n; i++) {
		struct dray_json *x = dray_json_push_obj(a);

		dray_json_set_str(x, "key", dray_hex(v->signers[i].key, 32, hex));
		dray_json_set_str(x, "state", signer_key(v->signers[i].state));
		if (v->signers[i].name[0] != '\0')
			dray_json_set_str(x, "name", v->signers[i].name);
	}
	for (unsigned i = 0; !checked && i < s->n; i++) {
		struct dray_json *x = dray_json_push_obj(a);

		dray_json_set_str(x, "key", dray_hex(s->sigs[i].key, 32, hex));
		dray_json_set_str(x, "state", "unchecked");
	}
}

static void
print_signers(const struct dray_bundle *b, bool checked)
{
	const struct dray_verdict *v = dray_bundle_verdict(b);
	const struct dray_slot *s = dray_bundle_slot(b);
	char print[40], quoted[DRAY_QUOTE_CAP(65)];

	for (unsigned i = 0; checked && i < v->n; i++) {
		const struct dray_signer *g = &v->signers[i];

		printf("  signature  %s%s%s\n             %s\n", dray_quote(g->name, strlen(g->name), quoted, sizeof(quoted)),
		    g->name[0] != '\0' ? ": " : "", dray_signer_text(g->state), dray_fingerprint(g->key, print));
	}
	for (unsigned i = 0; !checked && i < s->n; i++)
		printf("  signature  not checked\n             %s\n", dray_fingerprint(s->sigs[i].key, print));
	if (!checked && s->n == 0)
		printf("  signature  none\n");
}

static void
json_base_cost(struct dray_json *o, const struct tool_base_cost *c)
{
	dray_json_set_int(o, "reads_bytes", (int64_t)c->bytes);
	dray_json_set_int(o, "copies", (int64_t)c->contents[DRAY_RECIPE_COPY]);
	dray_json_set_int(o, "deltas", (int64_t)c->contents[DRAY_RECIPE_DELTA]);
	dray_json_set_int(o, "fulls", (int64_t)c->contents[DRAY_RECIPE_FULL]);
}

static void
json_recipe(struct dray_json *o, const struct tool_recipe_cost *c)
{
	dray_json_set_int(o, "contents", (int64_t)c->contents);
	dray_json_set_int(o, "frames", (int64_t)c->frames);
	dray_json_set_int(o, "bytes", (int64_t)c->bytes);
}

static void
json_frames(struct dray_json *o, const struct tool_frame_cost *c)
{
	dray_json_set_int(o, "frames", (int64_t)c->frames);
	dray_json_set_int(o, "bytes", (int64_t)c->bytes);
}

static void
json_costs(struct dray_json *o, const struct tool_costs *c)
{
	static const char *const recipe[] = { NULL, "full", "delta", "copy" };
	static const char *const kind[] = { "plain", "prefix", "addcopy" };
	struct dray_json *a = dray_json_set_obj(o, "recipes");

	for (int i = DRAY_RECIPE_FULL; i <= DRAY_RECIPE_COPY; i++)
		json_recipe(dray_json_set_obj(a, recipe[i]), &c->recipe[i]);
	json_recipe(dray_json_set_obj(a, "former"), &c->former);
	a = dray_json_set_obj(o, "frame_kinds");
	for (int i = 0; i <= DRAY_FRAME_ADDCOPY; i++)
		json_frames(dray_json_set_obj(a, kind[i]), &c->kind[i]);
	json_frames(dray_json_set_obj(o, "lzma"), &c->lzma);
	dray_json_set_int(o, "metadata_bytes", (int64_t)c->metadata);
}

static void
json_parts(struct dray_json *o, const struct dray_desc *d)
{
	struct dray_json *a = dray_json_set_arr(o, "components");

	for (size_t i = 0; i < d->n_components; i++)
		dray_json_push_str(a, d->components[i]);
	a = dray_json_set_arr(o, "phases");
	for (size_t i = 0; i < d->n_phases; i++)
		dray_json_push_str(a, d->phases[i]);
	if (d->triggers != NULL)
		dray_json_set_copy(o, "triggers", d->triggers);
	else
		(void)dray_json_set_arr(o, "triggers");
}

/* @cost: may be NULL */
static void
json_desc(struct dray_json *o, const struct dray_bundle *b, const struct tool_costs *cost)
{
	const struct dray_desc *d = dray_bundle_desc(b);
	struct dray_json *a;
	char hex[65];

	dray_json_set_str(o, "id", dray_hex(dray_bundle_id(b), 32, hex));
	dray_json_set_str(o, "product", d->product);
	dray_json_set_str(o, "version", d->version);
	dray_json_set_int(o, "counter", (int64_t)d->counter);
	dray_json_set_str(o, "mode", d->slim ? "slim" : "complete");
	dray_json_set_str(o, "os", d->os);
	dray_json_set_int(o, "format", d->format);
	dray_json_set_int(o, "built", (int64_t)d->built);
	if (d->eol != 0)
		dray_json_set_int(o, "eol", (int64_t)d->eol);
	dray_json_set_int(o, "bytes", (int64_t)d->length);
	dray_json_set_int(o, "blocks", (int64_t)d->blocks);
	a = dray_json_set_arr(o, "compatible");
	for (size_t i = 0; i < d->n_compatible; i++)
		dray_json_push_str(a, d->compatible[i]);
	a = dray_json_set_arr(o, "bases");
	for (size_t i = 0; i < d->n_bases; i++) {
		struct dray_json *x = dray_json_push_obj(a);

		if (cost != NULL)
			json_base_cost(x, &cost->base[i]);
		dray_json_set_str(x, "version", d->bases[i].version);
		dray_json_set_int(x, "counter", (int64_t)d->bases[i].counter);
		dray_json_set_str(x, "kind", d->bases[i].history ? "history" : "exact");
	}
	json_parts(o, d);
	a = dray_json_set_obj(o, "limits");
	dray_json_set_int(a, "frame", (int64_t)d->limit_frame);
	dray_json_set_int(a, "memory", (int64_t)d->limit_memory);
	dray_json_set_int(a, "window", (int64_t)d->limit_window);
	a = dray_json_set_obj(o, "encoders");
	for (size_t i = 0; i < d->n_encoders; i++)
		dray_json_set_str(a, d->encoders[i].name, d->encoders[i].id);
	a = dray_json_set_arr(o, "members");
	for (size_t i = 0; i < d->n_members; i++) {
		struct dray_json *x = dray_json_push_obj(a);

		dray_json_set_str(x, "name", d->members[i].name);
		dray_json_set_int(x, "offset", (int64_t)d->members[i].offset);
		dray_json_set_int(x, "size", (int64_t)d->members[i].size);
	}
}

static void
json_counts(struct dray_json *o, const struct tool_counts *c)
{
	struct dray_json *x = dray_json_set_obj(o, "entries");

	dray_json_set_int(x, "total", (int64_t)c->entries);
	for (int i = 0; i < TOOL_CHANGES; i++)
		dray_json_set_int(x, tool_change_name[i], (int64_t)c->by[i]);
	dray_json_set_int(o, "files", (int64_t)c->files);
	dray_json_set_int(o, "file_bytes", (int64_t)c->bytes);
	if (c->unsized > 0)
		dray_json_set_int(o, "files_unsized", (int64_t)c->unsized);
	dray_json_set_int(o, "contents_sent", (int64_t)c->sent);
	dray_json_set_int(o, "contents_sent_bytes", (int64_t)c->sent_bytes);
	dray_json_set_int(o, "frames", (int64_t)c->frames);
	dray_json_set_int(o, "frames_bytes", (int64_t)c->stored);
}

static void
print_names(const char *what, const char (*v)[65], size_t n)
{
	if (n < 2)
		return;
	printf("  %-10s", what);
	for (size_t i = 0; i < n; i++)
		printf("%s %s", i == 0 ? "" : ",", v[i]);
	printf("\n");
}

/* what each would run; this program runs none of them */
static void
print_triggers(const struct dray_desc *d)
{
	for (size_t i = 0; i < d->n_triggers; i++) {
		const struct dray_json *t = dray_json_at(d->triggers, i), *argv;
		const char *id, *word;
		char quoted[200];
		struct dray_err e;
		size_t n, len;

		if (dray_json_str(t, "id", &id, &len, "", &e) != 0 || dray_json_arr(t, "argv", &argv, &n, "", &e) != 0)
			continue;
		printf("  trigger    %s:", id);
		for (size_t k = 0; k < n; k++)
			if ((word = dray_json_text(dray_json_at(argv, k), &len)) != NULL)
				printf(" %s", dray_quote(word, len, quoted, sizeof(quoted)));
		printf("\n");
	}
}

static void
print_desc(const struct dray_desc *d, const uint8_t *id)
{
	char print[40], when[40], eol[TOOL_EOL_CAP], h[32], h2[32], h3[32];

	printf("  id         %s\n", dray_fingerprint(id, print));
	printf("  product    %s", d->product);
	for (size_t i = 0; i < d->n_compatible; i++)
		printf("%s%s", i == 0 ? "; also for " : ", ", d->compatible[i]);
	printf("\n  system     %s\n", d->os);
	printf("  release    %s, counter %" PRIu64 ", built %s\n", d->version, d->counter,
	    tool_time((int64_t)d->built, when));
	if (d->eol != 0)
		printf("  support    %s\n", tool_eol(d->eol, time(NULL), eol));
	if (d->n_bases == 0)
		printf("  from       nothing: this bundle installs into an empty tree\n");
	for (size_t i = 0; i < d->n_bases; i++) {
		printf("  from       %s", d->bases[i].version);
		if (d->bases[i].counter != 0)
			printf(", counter %" PRIu64, d->bases[i].counter);
		printf("%s\n", d->bases[i].history ? " (former states: a machine may mix them)" : "");
	}
	print_names("components", d->components, d->n_components);
	print_names("phases", d->phases, d->n_phases);
	print_triggers(d);
	printf("  mode       %s\n", d->slim ? "slim: only for unmodified bases" : "complete: every changed file is in it");
	printf("  size       %s in %" PRIu64 " blocks\n", tool_human(d->length, h), d->blocks);
	printf("  needs      %s memory per worker (frame %s, window %s)\n", tool_human(d->limit_memory, h),
	    tool_human(d->limit_frame, h2), tool_human(d->limit_window, h3));
}

static void
print_counts(const struct tool_counts *c)
{
	char h[32], h2[32];

	tool_counts_print(c);
	printf("  contents   %zu, %s, stored in %zu frames of %s\n", c->sent, tool_human(c->sent_bytes, h), c->frames,
	    tool_human(c->stored, h2));
	if (c->unsized > 0)
		printf("  unsized    %zu files that no machine needs: known by hash alone\n", c->unsized);
}

static void
print_costs(const struct tool_costs *c, const struct dray_desc *d)
{
	char h[32], h2[32], h3[32];

	printf("  bytes      full %s, deltas %s, metadata %s;\n             %zu copies cost nothing\n",
	    tool_human(c->recipe[DRAY_RECIPE_FULL].bytes, h), tool_human(c->recipe[DRAY_RECIPE_DELTA].bytes, h2),
	    tool_human(c->metadata, h3), c->recipe[DRAY_RECIPE_COPY].contents);
	if (c->former.contents > 0)
		printf("  to merge   %zu former texts of config files, %s\n", c->former.contents, tool_human(c->former.bytes, h));
	for (size_t i = 0; i < d->n_bases; i++) {
		const struct tool_base_cost *b = &c->base[i];

		printf("  reads      %s%s from %s:\n             %zu deltas, %zu copies, %zu full\n",
		    d->bases[i].history ? "at most " : "", tool_human(b->bytes, h), d->bases[i].version,
		    b->contents[DRAY_RECIPE_DELTA], b->contents[DRAY_RECIPE_COPY], b->contents[DRAY_RECIPE_FULL]);
	}
}

/* with all that this command was told, so that it can be typed */
static void
print_next(const struct tool_look *o, const char *prog, const char *verb, const char *more)
{
	printf("next: %s %s ", prog, verb);
	tool_shell_print(stdout, o->name);
	fputs(more, stdout);
	if (o->keyring.n == 0)
		printf(" --keyring ops.pub");
	for (size_t i = 0; i < o->keyring.n && !o->keyring_usual; i++) {
		printf(" --keyring ");
		tool_shell_print(stdout, o->keyring.v[i]);
	}
	for (size_t i = 0; i < o->dirs.n; i++) {
		printf(" -d ");
		tool_shell_print(stdout, o->dirs.v[i]);
	}
	putchar('\n');
}

int
tool_info(int fd, const struct tool_look *o, struct dray_err *e)
{
	bool checked = o->keyring.n > 0;
	const struct dray_desc *d;
	struct dray_bundle *b;
	struct tool_costs cost;
	struct tool_counts c;
	char quoted[300];
	int rc = 0;

	if (tool_look_open(fd, o, &b, e) != 0)
		return -1;
	d = dray_bundle_desc(b);
	if (tool_cost(dray_bundle_index(b), d, &cost, e) != 0 || tool_count(dray_bundle_index(b), &c, e) != 0) {
		dray_bundle_close(b);
		return -1;
	}
	dray_quote(o->name, strlen(o->name), quoted, sizeof(quoted));
	if (o->common->json) {
		struct dray_json *j = dray_json_new_obj();

		json_desc(j, b, &cost);
		json_counts(j, &c);
		json_costs(j, &cost);
		json_signers(j, b, checked);
		rc = tool_json(j, e) == 0 ? 0 : -1;
	} else {
		printf("%s: %s %s\n", quoted, d->product, d->version);
		print_desc(d, dray_bundle_id(b));
		print_counts(&c);
		print_costs(&cost, d);
		for (size_t i = 0; i < d->n_members; i++) {
			char h[32];

			printf("  member     %s, %s\n", d->members[i].name, tool_human(d->members[i].size, h));
		}
		print_signers(b, checked);
		if (!checked)
			printf("nothing of this is proven: signatures were not checked (no --keyring)\n");
		print_next(o, tool_prog, "verify", "");
	}
	dray_bundle_close(b);
	return rc;
}

/* frames that build on a base are hashed; what they give shows where the base is, against the signed hash */
static void
print_checked(const struct dray_bundle *b)
{
	const struct dray_index *ix = dray_bundle_index(b);
	uint32_t n = dray_index_rows(ix, DRAY_T_FRAMES), deltas = 0;
	struct dray_frame f;
	char h[32];

	for (uint32_t i = 0; i < n; i++) {
		dray_index_frame(ix, i, &f);
		deltas += f.range_count > 0;
	}
	printf("  bytes      %s, all checked", tool_human(dray_bundle_desc(b)->length, h));
	if (deltas == 0)
		printf(", every content unpacked and compared\n");
	else
		printf("; %" PRIu32 " of %" PRIu32 " frames unpacked\n             and compared, the others build on a base\n",
		    n - deltas, n);
}

int
tool_verify(int fd, const struct tool_look *o, struct dray_err *e)
{
	struct tool_progress p;
	struct dray_check_opts co = { .threads = (unsigned)o->common->jobs, .deep = true, .stop = tool_signal_seen,
		.progress = tool_progress_tell, .ctx = &p };
	struct dray_fbsd_proof *proof = NULL;
	const struct dray_verdict *v;
	const struct dray_desc *d;
	struct dray_bundle *b;
	char quoted[300], print[40];
	uint8_t keyprint[32];
	int rc;

	if (o->upstream != NULL && tool_keyprint(o->upstream, keyprint, e) != 0)
		return dray_wrap(e, "--upstream");
	tool_progress_begin(&p, o->common, "opening", 0);
	rc = tool_look_open(fd, o, &b, e);
	tool_progress_end(&p, rc == 0);
	if (rc != 0)
		return -1;
	d = dray_bundle_desc(b);
	v = dray_bundle_verdict(b);
	tool_progress_begin(&p, o->common, "verify", d->length);
	rc = dray_bundle_check(b, &co, e);
	tool_progress_end(&p, rc == 0);
	if (rc == 0 && o->upstream != NULL)
		rc = dray_fbsd_prove(b, keyprint, &proof, e);
	dray_quote(o->name, strlen(o->name), quoted, sizeof(quoted));
	if (rc == 0 && o->common->json) {
		struct dray_json *j = dray_json_new_obj();

		json_desc(j, b, NULL);
		json_signers(j, b, true);
		dray_json_set_bool(j, "verified", true);
		if (proof != NULL)
			tool_upstream_json(j, proof);
		rc = tool_json(j, e) == 0 ? 0 : -1;
	} else if (rc == 0 && !o->common->quiet) {
		printf("%s: %s %s, counter %" PRIu64 ": verified\n", quoted, d->product, d->version, d->counter);
		printf("  id         %s\n", dray_fingerprint(dray_bundle_id(b), print));
		print_signers(b, true);
		printf("  trust      %u good of %u needed\n", v->good, v->needed);
		print_checked(b);
		if (proof != NULL)
			tool_upstream_print(proof);
		print_next(o, "dray-install", "plan", o->keyring_usual ? "" : " --root DIR");
	}
	dray_fbsd_proof_free(proof);
	dray_bundle_close(b);
	return rc;
}
