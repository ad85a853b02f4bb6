/*
 * cmd_sign.c - dray sign: add signatures, or let them travel to and from a signing room; dray resign: replace them.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/num.h"
#include "dray/trust.h"
#include "tool/look.h"
#include "tool/tool.h"

#include "builder/sign.h"
#include "builder/temp.h"

enum { SIGNATURE_FILE_MAX = 64 * 1024 };

struct args {
	struct tool_common common;
	struct tool_list keys, add;
	const char *pass_file, *make, *out, *bundle;
	bool request;
	struct dray_key *loaded[DRAY_SLOT_SIGS_MAX];
};

static int
load_keys(struct args *a, struct dray_err *e)
{
	if (a->keys.n > DRAY_SLOT_SIGS_MAX)
		return dray_fail(e, DRAY_E_USAGE, "more than %u keys", DRAY_SLOT_SIGS_MAX);
	for (size_t i = 0; i < a->keys.n; i++)
		if (build_key_load(a->keys.v[i], a->pass_file, &a->loaded[i], e) != 0)
			return -1;
	return 0;
}

static int
write_out(const char *path, const void *p, size_t len, struct dray_err *e)
{
	char quoted[300];
	struct build_temp t;
	int rc;

	if ((rc = build_temp_open(path, &t, e)) == 0) {
		if ((rc = build_temp_write(t.fd, 0, p, len, e)) == 0)
			rc = build_temp_commit(&t, e);
		if (rc != 0)
			build_temp_drop(&t);
	}
	return rc == 0 ? 0 : dray_wrap(e, "%s", dray_quote(path, strlen(path), quoted, sizeof(quoted)));
}

static int
open_bundle(const struct args *a, int mode, int *fd, struct dray_err *e)
{
	return tool_bundle_open(a->bundle, mode, fd, e);
}

static int
tell_count(const struct args *a, const struct build_sign_count *n, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)];
	struct dray_json *o;

	if (a->common.json) {
		o = dray_json_new_obj();
		dray_json_set_path(o, "bundle", a->bundle, strlen(a->bundle));
		dray_json_set_int(o, "added", n->added);
		dray_json_set_int(o, "already", n->already);
		dray_json_set_int(o, "signatures", n->total);
		return tool_json(o, e);
	}
	if (a->common.quiet)
		return 0;
	dray_quote(a->bundle, strlen(a->bundle), q, sizeof q);
	if (n->already > 0)
		printf("signed already by %u of these keys; left as it was\n", n->already);
	printf("%s: %u signature%s added, it has %u now\n", q, n->added, n->added == 1 ? "" : "s", n->total);
	printf("next: dray verify ");
	tool_shell_print(stdout, a->bundle);
	printf(" --keyring ops.pub\n");
	return 0;
}

static int
tell_text(const struct args *a, const struct dray_signed *t, const char *signer, struct dray_err *e)
{
	char hex[65], print[40];
	struct dray_json *o;

	dray_fingerprint(t->sha256, print);
	if (a->common.json) {
		o = dray_json_new_obj();
		dray_json_set_str(o, "product", t->product);
		dray_json_set_str(o, "version", t->version);
		dray_json_set_int(o, "counter", (int64_t)t->counter);
		dray_json_set_int(o, "size", (int64_t)t->size);
		dray_json_set_str(o, "id", dray_hex(t->sha256, 32, hex));
		if (signer != NULL)
			dray_json_set_str(o, "signer", signer);
		return tool_json(o, e);
	}
	if (a->common.quiet)
		return 0;
	printf("product      %s\nversion      %s\ncounter      %" PRIu64 "\nsize         %" PRIu64 " bytes\n", t->product,
	    t->version, t->counter, t->size);
	printf("bundle id    %s\n", print);
	if (signer != NULL)
		printf("signed by    %s\n", signer);
	return 0;
}

/* BUNDLE --key K...: sign here */
static int
sign_here(struct args *a, bool replace, struct dray_err *e)
{
	struct build_sign_count count;
	int fd = -1, rc = -1;

	if (load_keys(a, e) != 0)
		return -1;
	if (open_bundle(a, O_RDWR, &fd, e) != 0)
		return -1;
	if (build_sign_count_fd(fd, (const struct dray_key *const *)a->loaded, a->keys.n, replace, &count, e) == 0)
		rc = tell_count(a, &count, e);
	close(fd);
	return rc;
}

/* BUNDLE --request -o FILE: what travels to the signing room */
static int
make_request(struct args *a, struct dray_err *e)
{
	char text[DRAY_SLOT_TEXT_MAX + 1];
	struct dray_signed said;
	int fd, rc = -1;
	size_t len;

	if (open_bundle(a, O_RDONLY, &fd, e) != 0)
		return -1;
	if (build_sign_text(fd, text, &len, e) == 0 && dray_signed_parse(text, len, &said, e) == 0 &&
	    write_out(a->out, text, len, e) == 0)
		rc = tell_text(a, &said, NULL, e);
	close(fd);
	if (rc == 0 && !a->common.json && !a->common.quiet) {
		printf("next: dray sign --make ");
		tool_shell_print(stdout, a->out);
		printf(" --key NAME.key -o NAME.sig\n");
	}
	return rc;
}

/* --make REQUEST --key K -o FILE: in the signing room, which sees what it signs */
static int
make_signature(struct args *a, struct dray_err *e)
{
	char *text = NULL, *file = NULL, print[40];
	struct dray_signed said;
	size_t len, file_len;
	uint8_t id[32];
	int rc = -1;

	if (load_keys(a, e) != 0 || build_file_load(a->make, DRAY_SLOT_TEXT_MAX, &text, &len, e) != 0)
		return -1;
	if (dray_signed_parse(text, len, &said, e) != 0) {
		dray_wrap(e, "%s", a->make);
		goto out;
	}
	if (build_sign_detached(text, len, a->loaded[0], &file, &file_len, e) != 0 ||
	    write_out(a->out, file, file_len, e) != 0)
		goto out;
	dray_key_id(a->loaded[0], id);
	rc = tell_text(a, &said, dray_fingerprint(id, print), e);
	if (rc == 0 && !a->common.json && !a->common.quiet) {
		printf("next: dray sign BUNDLE --add ");
		tool_shell_print(stdout, a->out);
		putchar('\n');
	}
out:
	free(text);
	free(file);
	return rc;
}

/* BUNDLE --add FILE...: what came back */
static int
add_signatures(struct args *a, struct dray_err *e)
{
	struct build_sign_count count, sum = { 0 };
	char *file = NULL;
	int fd, rc = -1;
	size_t len;

	if (open_bundle(a, O_RDWR, &fd, e) != 0)
		return -1;
	for (size_t i = 0; i < a->add.n; i++) {
		if (build_file_load(a->add.v[i], SIGNATURE_FILE_MAX, &file, &len, e) != 0)
			goto out;
		if (build_sign_add(fd, file, len, &count, e) != 0) {
			dray_wrap(e, "%s", a->add.v[i]);
			goto out;
		}
		free(file);
		file = NULL;
		sum.added += count.added;
		sum.already += count.already;
		sum.total = count.total;
	}
	rc = tell_count(a, &sum, e);
out:
	free(file);
	close(fd);
	return rc;
}

/* what the options ask for, or a complaint */
static int
choose(struct args *a, size_t n_operands, struct dray_err *e)
{
	int modes = (a->keys.n > 0 && a->make == NULL) + a->request + (a->make != NULL) + (a->add.n > 0);

	if (modes != 1)
		return dray_fail(e, DRAY_E_USAGE, "say one of --key, --request, --make, --add");
	if (a->make != NULL && a->keys.n != 1)
		return dray_fail(e, DRAY_E_USAGE, "--make takes exactly one --key");
	if ((a->make != NULL) != (n_operands == 0))
		return dray_fail(e, DRAY_E_USAGE, a->make != NULL ? "--make takes no bundle" : "name the bundle to sign");
	if ((a->out != NULL) != (a->request || a->make != NULL))
		return dray_fail(e, DRAY_E_USAGE, a->out != NULL ? "-o goes with --request and --make only" :
		    "say where to write with -o FILE");
	if (a->pass_file != NULL && a->keys.n == 0)
		return dray_fail(e, DRAY_E_USAGE, "--passphrase-file goes with --key only");
	if (a->request)
		return make_request(a, e);
	if (a->make != NULL)
		return make_signature(a, e);
	if (a->add.n > 0)
		return add_signatures(a, e);
	return sign_here(a, false, e);
}

static int
finish(struct args *a, int rc, struct dray_err *e)
{
	char what[DRAY_QUOTE_CAP(255) + 32], q[DRAY_QUOTE_CAP(255)];

	for (size_t i = 0; i < DRAY_SLOT_SIGS_MAX; i++)
		dray_key_free(a->loaded[i]);
	if (rc == 0)
		return 0;
	if (a->bundle == NULL)
		return tool_error(&a->common, "cannot sign", e);
	snprintf(what, sizeof what, "cannot sign %s", dray_quote(a->bundle, strlen(a->bundle), q, sizeof q));
	return tool_error(&a->common, what, e);
}

int
build_cmd_sign(int argc, char **argv, const struct tool_cmd *self)
{
	struct args a = { 0 };
	struct tool_opt opts[] = {
		{ "key", 0, TOOL_LIST, &a.keys, 0, 0, "FILE", "sign with this private key (repeats)" },
		{ "passphrase-file", 0, TOOL_TEXT, &a.pass_file, 0, 0, "FILE", "its first line opens encrypted keys" },
		{ "request", 0, TOOL_FLAG, &a.request, 0, 0, NULL, "write the text to be signed into the file of -o" },
		{ "make", 0, TOOL_TEXT, &a.make, 0, 0, "REQUEST", "sign a request; the signature goes into the file of -o" },
		{ "add", 0, TOOL_LIST, &a.add, 0, 0, "FILE", "put a signature made with --make into the bundle (repeats)" },
		{ "output", 'o', TOOL_TEXT, &a.out, 0, 0, "FILE", "for --request and --make" },
		{ 0 },
	};
	struct dray_err e = { 0 };
	size_t n;
	int rc;

	if ((rc = tool_parse(argc, argv, self, opts, &a.common, 0, 1, &a.bundle, &n)) != -1)
		return rc;
	if (n == 0)
		a.bundle = NULL;
	return finish(&a, choose(&a, n, &e), &e);
}

int
build_cmd_resign(int argc, char **argv, const struct tool_cmd *self)
{
	struct args a = { 0 };
	struct tool_opt opts[] = {
		{ "key", 0, TOOL_LIST, &a.keys, 0, 0, "FILE", "sign with this private key (repeats)" },
		{ "passphrase-file", 0, TOOL_TEXT, &a.pass_file, 0, 0, "FILE", "its first line opens encrypted keys" },
		{ 0 },
	};
	struct dray_err e = { 0 };
	size_t n;
	int rc;

	if ((rc = tool_parse(argc, argv, self, opts, &a.common, 1, 1, &a.bundle, &n)) != -1)
		return rc;
	if (a.keys.n == 0)
		rc = dray_fail(&e, DRAY_E_USAGE, "name at least one --key; all signatures are replaced");
	else
		rc = sign_here(&a, true, &e);
	return finish(&a, rc, &e);
}
