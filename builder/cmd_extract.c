/*
 * cmd_extract.c - dray extract: options into a struct, run, report.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/extract.h"
#include "tool/look.h"

struct extract_cmd {
	struct tool_common common;
	struct tool_look look;
	struct build_extract_opts o;
	struct tool_list bases, dirs;
};

static int
check_opts(struct extract_cmd *c, struct dray_err *e)
{
	if (c->o.dir == NULL || *c->o.dir == '\0') {
		dray_fail(e, DRAY_E_USAGE, "no folder to write into");
		return dray_hint(e, "say where: -C DIR");
	}
	if (c->o.preserve && c->look.keyring.n == 0) {
		dray_fail(e, DRAY_E_USAGE, "--preserve restores what gives rights, and nobody vouches for this bundle");
		return dray_hint(e, "say whom you trust: --keyring ops.pub");
	}
	if (c->o.preserve && geteuid() != 0)
		return dray_fail(e, DRAY_E_SYSTEM, "--preserve needs the rights of root");
	return 0;
}

static void
print_left_out(const struct build_extracted *r)
{
	if (r->left_devices + r->left_setuid + r->left_xattrs == 0)
		return;
	printf("  left out   %zu devices, setuid or setgid of %zu files, %zu privileged\n"
	    "             attributes: --preserve restores them\n", r->left_devices, r->left_setuid, r->left_xattrs);
}

static int
report(const struct extract_cmd *c, const struct dray_bundle *b, const struct build_extracted *r, struct dray_err *e)
{
	const struct dray_desc *d = dray_bundle_desc(b);
	char dir[400], name[400], h[32];
	struct dray_json *j, *x;

	dray_quote(c->o.dir, strlen(c->o.dir), dir, sizeof(dir));
	dray_quote(c->look.name, strlen(c->look.name), name, sizeof(name));
	if (!c->common.json) {
		if (c->common.quiet)
			return 0;
		printf("%s: %zu paths of %s %s\n", dir, r->paths, d->product, d->version);
		printf("  written    %zu files (%s), %zu directories, %zu symlinks,\n"
		    "             %zu further names of files, %zu others\n", r->files, tool_human(r->bytes, h), r->dirs, r->symlinks,
		    r->links, r->others);
		printf("  made from  the bundle %zu, copies from a base %zu, deltas %zu\n", r->full, r->copy, r->delta);
		print_left_out(r);
		if (!r->owners)
			printf("  owners     not set: %s\n", c->o.no_owner ? "--no-owner" : "that needs the rights of root");
		printf("next: dray diff %s dir:%s\n", name, dir);
		return 0;
	}
	j = dray_json_new_obj();
	dray_json_set_path(j, "bundle", c->look.name, strlen(c->look.name));
	dray_json_set_path(j, "directory", c->o.dir, strlen(c->o.dir));
	dray_json_set_bool(j, "signatures_checked", c->look.keyring.n > 0);
	dray_json_set_bool(j, "owners", r->owners);
	dray_json_set_int(j, "paths", (int64_t)r->paths);
	dray_json_set_int(j, "files", (int64_t)r->files);
	dray_json_set_int(j, "file_bytes", (int64_t)r->bytes);
	x = dray_json_set_obj(j, "made_from");
	dray_json_set_int(x, "full", (int64_t)r->full);
	dray_json_set_int(x, "copy", (int64_t)r->copy);
	dray_json_set_int(x, "delta", (int64_t)r->delta);
	x = dray_json_set_obj(j, "left_out");
	dray_json_set_int(x, "devices", (int64_t)r->left_devices);
	dray_json_set_int(x, "setuid", (int64_t)r->left_setuid);
	dray_json_set_int(x, "xattrs", (int64_t)r->left_xattrs);
	return tool_json(j, e) == 0 ? 0 : -1;
}

static int
run(struct extract_cmd *c, struct dray_err *e)
{
	struct build_extracted r;
	struct tool_media m;
	struct dray_bundle *b;
	int rc;

	if (check_opts(c, e) != 0 || dray_crypto_init(e) != 0)
		return -1;
	if (tool_media_open(c->look.name, &c->dirs, &m, e) != 0) {
		tool_media_close(&m);
		return -1;
	}
	c->look.volumes = tool_media_volumes(&m);
	if ((rc = tool_look_open(m.fd, &c->look, &b, e)) == 0) {
		if (c->look.keyring.n == 0 && !c->common.quiet)
			fprintf(stderr, "%s: signatures were not checked (no --keyring): whoever made this bundle decides what is "
			    "written\n", tool_prog);
		rc = build_extract(b, &c->o, &r, e);
		if (rc == 0)
			rc = report(c, b, &r, e);
		dray_bundle_close(b);
	}
	tool_media_close(&m);
	return rc;
}

int
build_cmd_extract(int argc, char **argv, const struct tool_cmd *self)
{
	struct extract_cmd c = { .o = { .common = NULL } };
	struct tool_opt opts[] = {
		{ "directory", 'C', TOOL_TEXT, &c.o.dir, 0, 0, "DIR", "write beneath this folder; made when it is missing" },
		{ "base", 0, TOOL_LIST, &c.bases, 0, 0, "SOURCE", "an old tree or archive, for bytes that the bundle lacks; repeats" },
		TOOL_OPT_DIR(c.dirs),
		{ "keyring", 0, TOOL_LIST, &c.look.keyring, 0, 0, "FILE", "public keys, a keyring, or a folder of *.pub" },
		{ "preserve", 'p', TOOL_FLAG, &c.o.preserve, 0, 0, NULL, "as root, with --keyring: also setuid, capabilities, devices" },
		{ "no-owner", 0, TOOL_FLAG, &c.o.no_owner, 0, 0, NULL, "leave owners alone also as root" },
		{ .name = NULL },
	};
	const char **operand = calloc((size_t)argc + 1, sizeof(*operand));
	char text[340], quoted[300];
	struct dray_err e;
	size_t n;
	int rc;

	dray_err_clear(&e);
	if (operand == NULL) {
		dray_fail(&e, DRAY_E_IO, "out of memory");
		return tool_error(NULL, "cannot extract", &e);
	}
	if ((rc = tool_parse(argc, argv, self, opts, &c.common, 1, (size_t)argc, operand, &n)) != -1) {
		free(operand);
		return rc;
	}
	c.look.common = c.o.common = &c.common;
	c.look.name = operand[0];
	c.o.paths = operand + 1;
	c.o.n_paths = n - 1;
	c.o.bases = c.bases.v;
	c.o.n_bases = c.bases.n;
	snprintf(text, sizeof(text), "cannot extract %s", dray_quote(operand[0], strlen(operand[0]), quoted, sizeof(quoted)));
	rc = run(&c, &e);
	free(operand);
	return rc == 0 ? 0 : tool_error(&c.common, text, &e);
}
