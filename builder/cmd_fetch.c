/*
 * cmd_fetch.c - dray fetch: bring a release of a freebsd-update server here, and write it as a server's folder.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/build.h"
#include "builder/fbsd_contents.h"
#include "builder/fbsd_mirror.h"
#include "builder/fbsd_source.h"
#include "dray/digest.h"
#include "tool/tool.h"

struct fetching {
	struct tool_common common;
	struct build_fbsd_opts fbsd;
	struct tool_list parts;
	const char *mirror;
	struct tool_progress progress;
	uint64_t bytes;
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
tell(struct fetching *f, const struct build_fbsd_meta *m, size_t n, size_t fetched)
{
	char size[32];

	if (f->releases != NULL) {
		struct dray_json *o = dray_json_push_obj(f->releases);

		dray_json_set_str(o, "arch", m->arch);
		dray_json_set_int(o, "bytes", (int64_t)f->bytes);
		dray_json_set_int(o, "contents", (int64_t)n);
		dray_json_set_int(o, "eol", m->tag.eol);
		dray_json_set_int(o, "fetched", (int64_t)fetched);
		dray_json_set_int(o, "patch", (int64_t)m->tag.patch);
		dray_json_set_str(o, "release", m->release);
		return;
	}
	if (!f->common.quiet)
		printf("%s-p%" PRIu32 ": %zu contents, %zu of them fetched now, %s from the server\n", m->dir, m->tag.patch, n,
		    fetched, tool_human(f->bytes, size));
}

/* a release as any client may ask for it: all states of all paths */
static int
get(struct fetching *f, struct build_fbsd_server *s, struct build_fbsd_meta *m, struct dray_err *e)
{
	struct dray_fbsd_lines l = { .v = NULL };
	struct build_fbsd_want *v = NULL;
	size_t n = 0, fetched = 0;
	int rc = -1;

	for (enum build_fbsd_file i = 0; i < BUILD_FBSD_FILES; i++) {
		const struct dray_fbsd_list list = build_fbsd_list(m, i);

		if (dray_fbsd_lines_add(&l, &list, &f->fbsd.parts, e) != 0)
			goto out;
	}
	if (build_fbsd_contents(&l, m->dir, &v, &n, e) != 0 || build_fbsd_pull(s, v, n, &fetched, e) != 0 ||
	    (f->mirror != NULL && build_fbsd_mirror(f->mirror, s, m, v, n, e) != 0))
		goto out;
	tell(f, m, n, fetched);
	rc = 0;
out:
	free(v);
	dray_fbsd_lines_free(&l);
	return rc;
}

static int
fetch(struct fetching *f, const char *spec, struct dray_err *e)
{
	const bool wanted[BUILD_FBSD_FILES] = { true, true, true };
	struct build_fbsd_meta *m = NULL;
	struct build_fbsd_server s = { .fetch = NULL };
	char release[65], arch[33], quoted[200];
	int rc = -1;

	f->bytes = 0;
	tool_progress_begin(&f->progress, &f->common, "fetch", 0);
	if (build_fbsd_spec(spec, release, arch, e) == 0 && build_fbsd_server_open(&f->fbsd, came, f, &s, e) == 0 &&
	    build_fbsd_meta_get(&s, release, arch, wanted, &m, e) == 0)
		rc = get(f, &s, m, e);
	tool_progress_end(&f->progress, rc == 0);
	build_fbsd_meta_free(m);
	build_fbsd_server_close(&s);
	return rc == 0 ? 0 : dray_wrap(e, "%s", dray_quote(spec, strlen(spec), quoted, sizeof(quoted)));
}

int
build_cmd_fetch(int argc, char **argv, const struct tool_cmd *self)
{
	struct fetching f = { .mirror = NULL };
	struct dray_err e = { .code = DRAY_OK };
	struct dray_json *o;
	const char *operand[16];
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

	if ((rc = tool_parse(argc, argv, self, opts, &f.common, 1, 16, operand, &n)) != -1)
		return rc;
	o = f.common.json ? dray_json_new_obj() : NULL;
	f.releases = o != NULL ? dray_json_set_arr(o, "releases") : NULL;
	rc = dray_crypto_init(&e);
	for (size_t i = 0; rc == 0 && i < f.parts.n; i++)
		if ((rc = dray_fbsd_parts_add(&f.fbsd.parts, f.parts.v[i], &e)) != 0)
			dray_wrap(&e, "--components");
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = fetch(&f, operand[i], &e);
	if (rc == 0 && o != NULL)
		rc = tool_json(o, &e);
	else
		dray_json_free(o);
	return rc == 0 ? 0 : tool_error(&f.common, "cannot fetch", &e);
}
