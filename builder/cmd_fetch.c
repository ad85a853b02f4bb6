/*
 * cmd_fetch.c - dray fetch: bring a release of a freebsd-update server here, and write it as a server's folder.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/build.h"
#include "builder/fbsd_bring.h"
#include "builder/fbsd_contents.h"
#include "builder/fbsd_mirror.h"
#include "builder/fbsd_source.h"
#include "dray/digest.h"
#include "tool/tool.h"

#define MOST 16			/* releases at a time */

struct fetching {
	struct tool_common common;
	struct build_fbsd_opts fbsd;
	struct tool_list parts;
	const char *mirror;
	struct tool_progress progress;
	uint64_t bytes;			/* that came for the release at hand */
	struct build_fbsd_server server;
	struct build_fbsd_meta *meta[MOST];
	size_t n;
	struct dray_json *releases;
};

static void
came(void *ctx, uint64_t n)
{
	struct fetching *f = ctx;

	f->bytes += n;
	tool_progress_at(&f->progress, f->bytes, 0);
}

static void
tell(struct fetching *f, const struct build_fbsd_meta *m, size_t n, const struct build_fbsd_brought *got)
{
	size_t all = got->fetched + got->patched.n;
	char size[32], patches[32];

	if (f->releases != NULL) {
		struct dray_json *o = dray_json_push_obj(f->releases);

		dray_json_set_str(o, "arch", m->arch);
		dray_json_set_int(o, "bytes", (int64_t)f->bytes);
		dray_json_set_int(o, "contents", (int64_t)n);
		dray_json_set_int(o, "eol", m->tag.eol);
		dray_json_set_int(o, "fetched", (int64_t)all);
		dray_json_set_int(o, "patch", (int64_t)m->tag.patch);
		dray_json_set_int(o, "patch_bytes", (int64_t)got->patched.bytes);
		dray_json_set_int(o, "patched", (int64_t)got->patched.n);
		dray_json_set_str(o, "release", m->release);
		return;
	}
	if (f->common.quiet)
		return;
	printf("%s-p%" PRIu32 ": %zu contents, %zu of them fetched now, %s from the server\n", m->dir, m->tag.patch, n, all,
	    tool_human(f->bytes, size));
	if (got->patched.n > 0)
		printf("  by patches %zu of them, %s\n", got->patched.n, tool_human(got->patched.bytes, patches));
}

static int
warn_wrong(void *ctx, const struct build_fbsd_pair *p, const char *why, struct dray_err *e)
{
	char quoted[300];

	(void)ctx, (void)e;
	fprintf(stderr, "%s: warning: %s: a patch of no use: %s\n", tool_prog, dray_quote(p->path, p->path_len, quoted, sizeof(quoted)),
	    why);
	return 0;
}

/* a release as any client may ask for it: all states of all paths */
static int
get(struct fetching *f, struct build_fbsd_meta *m, struct dray_err *e)
{
	const struct build_fbsd_patch_opts wrong = { .wrong = warn_wrong };
	struct dray_fbsd_lines l = { .v = NULL };
	struct build_fbsd_pairs pairs = { .v = NULL };
	struct build_fbsd_brought got = { .fetched = 0 };
	struct build_fbsd_want *v = NULL;
	size_t n = 0;
	int rc = -1;

	for (enum build_fbsd_file i = 0; i < BUILD_FBSD_FILES; i++) {
		const struct dray_fbsd_list list = build_fbsd_list(m, i);

		if (dray_fbsd_lines_add(&l, &list, &f->fbsd.parts, e) != 0)
			goto out;
	}
	if (build_fbsd_contents(&l, m->dir, &v, &n, e) != 0 ||
	    build_fbsd_pairs_of(&pairs, m, f->meta, f->n, &f->fbsd.parts, e) != 0 ||
	    build_fbsd_bring(&f->server, m, v, n, &pairs, &wrong, &got, e) != 0 ||
	    (f->mirror != NULL && build_fbsd_mirror(f->mirror, &f->server, m, v, n, e) != 0))
		goto out;
	tell(f, m, n, &got);
	rc = 0;
out:
	build_fbsd_pairs_free(&pairs);
	free(v);
	dray_fbsd_lines_free(&l);
	return rc;
}

static int
fetch(struct fetching *f, const char *spec, struct dray_err *e)
{
	const bool wanted[BUILD_FBSD_FILES] = { true, true, true };
	char release[65], arch[33], quoted[200];
	int rc = -1;

	f->bytes = 0;
	tool_progress_begin(&f->progress, &f->common, "fetch", 0);
	if (build_fbsd_spec(spec, release, arch, e) == 0 && (f->server.fetch != NULL ||
	    build_fbsd_server_open(&f->fbsd, came, f, &f->server, e) == 0) &&
	    build_fbsd_meta_get(&f->server, release, arch, wanted, &f->meta[f->n], e) == 0) {
		f->n++;
		rc = get(f, f->meta[f->n - 1], e);
	}
	tool_progress_end(&f->progress, rc == 0);
	return rc == 0 ? 0 : dray_wrap(e, "%s", dray_quote(spec, strlen(spec), quoted, sizeof(quoted)));
}

/* patches between the contents of all releases that were named; each release is whole without */
static int
mirror_patches(struct fetching *f, struct dray_err *e)
{
	const struct build_fbsd_patch_opts wrong = { .wrong = warn_wrong };
	struct build_fbsd_patched done = { .n = 0 };
	char size[32];
	int rc = 0;

	tool_progress_begin(&f->progress, &f->common, "fetch", 0);
	for (size_t i = 0; rc == 0 && i < f->n; i++) {
		struct build_fbsd_pairs pairs = { .v = NULL };

		rc = build_fbsd_pairs_of(&pairs, f->meta[i], f->meta, f->n, &f->fbsd.parts, e);
		if (rc == 0)
			rc = build_fbsd_mirror_patches(f->mirror, &f->server, f->meta[i], &pairs, &wrong, &done, e);
		build_fbsd_pairs_free(&pairs);
	}
	tool_progress_end(&f->progress, rc == 0);
	if (rc == 0 && done.n > 0 && f->releases == NULL && !f->common.quiet)
		printf("patches in the mirror: %zu more, %s\n", done.n, tool_human(done.bytes, size));
	return rc;
}

static int
fetch_all(struct fetching *f, const char *const *spec, size_t n, struct dray_err *e)
{
	int rc = dray_crypto_init(e);

	for (size_t i = 0; rc == 0 && i < f->parts.n; i++)
		if ((rc = dray_fbsd_parts_add(&f->fbsd.parts, f->parts.v[i], e)) != 0)
			dray_wrap(e, "--components");
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = fetch(f, spec[i], e);
	if (rc == 0 && f->mirror != NULL)
		rc = mirror_patches(f, e);
	for (size_t i = 0; i < MOST; i++)
		build_fbsd_meta_free(f->meta[i]);
	build_fbsd_server_close(&f->server);
	return rc;
}

int
build_cmd_fetch(int argc, char **argv, const struct tool_cmd *self)
{
	struct fetching f = { .mirror = NULL };
	struct dray_err e = { .code = DRAY_OK };
	struct dray_json *o;
	const char *operand[MOST];
	size_t n;
	int rc;
	struct tool_opt opts[] = {
		{ "server", 0, TOOL_TEXT, &f.fbsd.server, 0, 0, "URL", "default update.FreeBSD.org" },
		{ "keyprint", 0, TOOL_TEXT, &f.fbsd.keyprint, 0, 0, "HEX",
		  "SHA-256 of its pub.ssl; default the FreeBSD project's" },
		{ "components", 0, TOOL_LIST, &f.parts, 0, 0, "NAME,...", "such as world/base,kernel; default all" },
		{ "mirror", 0, TOOL_TEXT, &f.mirror, 0, 0, "DIR", "write what a server serves: for clients beyond the gap" },
		{ "fetched", 0, TOOL_TEXT, &f.fbsd.store, 0, 0, "DIR",
		  "what servers sent; default ~/.cache/dray/freebsd-update" },
		{ "connections", 0, TOOL_NUMBER, &f.fbsd.parallel, 1, 64, "N", "at a time; default 4" },
		{ .name = NULL },
	};

	if ((rc = tool_parse(argc, argv, self, opts, &f.common, 1, MOST, operand, &n)) != -1)
		return rc;
	o = f.common.json ? dray_json_new_obj() : NULL;
	f.releases = o != NULL ? dray_json_set_arr(o, "releases") : NULL;
	rc = fetch_all(&f, operand, n, &e);
	if (rc == 0 && o == NULL && !f.common.quiet) {
		printf("next: dray build --to ");
		tool_shell_print(stdout, operand[n - 1]);
		printf(" --key ops.key -o up.dray\n");
	}
	if (rc == 0 && o != NULL)
		rc = tool_json(o, &e);
	else
		dray_json_free(o);
	return rc == 0 ? 0 : tool_error(&f.common, "cannot fetch", &e);
}
