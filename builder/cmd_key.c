/*
 * cmd_key.c - dray key new, dray key show.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/num.h"
#include "dray/trust.h"
#include "tool/tool.h"

#include "builder/sign.h"

enum { KEY_FILE_MAX = 64 * 1024 };

static void
set_key(struct dray_json *o, const uint8_t id[32])
{
	char print[40], hex[65];

	dray_json_set_str(o, "fingerprint", dray_fingerprint(id, print));
	dray_json_set_str(o, "sha256", dray_hex(id, 32, hex));
}

static int
tell_new(const struct tool_common *c, const char *name, const uint8_t id[32], struct dray_err *e)
{
	char print[40], q[DRAY_QUOTE_CAP(255)];
	struct dray_json *o;

	if (c->json) {
		o = dray_json_new_obj();
		dray_json_set_path(o, "name", name, strlen(name));
		set_key(o, id);
		return tool_json(o, e);
	}
	if (c->quiet)
		return 0;
	dray_quote(name, strlen(name), q, sizeof q);
	printf("private key  %s.key   (keep it secret, keep a copy)\n", q);
	printf("public key   %s.pub   (give it to every machine)\n", q);
	printf("fingerprint  %s\n", dray_fingerprint(id, print));
	printf("next: dray build --from dir:OLD --to dir:NEW --product NAME\n"
	       "          --version V --counter N --key %s.key -o up.dray\n", q);
	return 0;
}

int
build_cmd_key_new(int argc, char **argv, const struct tool_cmd *self)
{
	const char *name, *pass_file = NULL;
	struct tool_opt opts[] = {
		{ "passphrase-file", 0, TOOL_TEXT, &pass_file, 0, 0, "FILE", "encrypt the key with the first line of FILE" },
		{ 0 },
	};
	struct tool_common common;
	struct dray_err e = { 0 };
	struct dray_key *key = NULL;
	char *pass = NULL;
	uint8_t id[32];
	size_t n;
	int rc;

	if ((rc = tool_parse(argc, argv, self, opts, &common, 1, 1, &name, &n)) != -1)
		return rc;
	if ((pass_file != NULL && build_pass_load(pass_file, &pass, &e) != 0) || dray_key_generate(&key, &e) != 0 ||
	    dray_key_save(key, name, pass, &e) != 0) {
		rc = tool_error(&common, "cannot make a key", &e);
	} else {
		dray_key_id(key, id);
		rc = tell_new(&common, name, id, &e) == 0 ? 0 : tool_error(&common, "cannot tell the result", &e);
	}
	dray_key_free(key);
	build_pass_free(pass);
	return rc;
}

/* the hash of a public or a private key file */
static int
identify(const char *path, const char *pass_file, uint8_t id[32], bool *private_half, struct dray_err *e)
{
	struct dray_key *key = NULL;
	char *text;
	size_t len;
	int rc;

	if (build_file_load(path, KEY_FILE_MAX, &text, &len, e) != 0)
		return -1;
	*private_half = strstr(text, "PRIVATE KEY-----") != NULL;
	if (*private_half) {
		if ((rc = build_key_load(path, pass_file, &key, e)) == 0)
			dray_key_id(key, id);
		dray_key_free(key);
	} else if ((rc = dray_spki_sha256_pem(text, len, id, e)) != 0) {
		dray_wrap(e, "%s", path);
	}
	explicit_bzero(text, len);
	free(text);
	return rc;
}

/* one page that travels another way than the key does: read out, compared, signed, filed */
static void
print_sheet(const char *path, const uint8_t id[32])
{
	const char *name = tool_leaf_of(path);
	char hex[65], print[40], q[DRAY_QUOTE_CAP(255)];

	printf("KEY SHEET\n\nkey          %s\nalgorithm    Ed25519\nfingerprint  %s\n\n", dray_quote(name, strlen(name), q, sizeof(q)),
	    dray_fingerprint(id, print));
	printf("the whole of it, in numbered groups:\n\n");
	dray_hex(id, 32, hex);
	for (int i = 0; i < 16; i++)
		printf("  %2d %.4s%s", i + 1, hex + i * 4, i % 4 == 3 ? "\n" : "   ");
	printf("\non a machine that trusts no key yet, with the key's file from another way:\n\n"
	    "  dray-install trust init %s \\\n      --fingerprint \"%s\"\n\n"
	    "made by   ______________________   date ____________\n\n"
	    "compared  ______________________   date ____________\n", q, print);
}

int
build_cmd_key_show(int argc, char **argv, const struct tool_cmd *self)
{
	const char *path, *pass_file = NULL;
	bool sheet = false;
	struct tool_opt opts[] = {
		{ "passphrase-file", 0, TOOL_TEXT, &pass_file, 0, 0, "FILE", "for an encrypted private key" },
		{ "sheet", 0, TOOL_FLAG, &sheet, 0, 0, NULL, "one page to print, for those who shall trust it" },
		{ 0 },
	};
	struct tool_common common;
	struct dray_err e = { 0 };
	char print[40], hex[65];
	struct dray_json *o;
	bool private_half;
	uint8_t id[32];
	size_t n;
	int rc;

	if ((rc = tool_parse(argc, argv, self, opts, &common, 1, 1, &path, &n)) != -1)
		return rc;
	if (identify(path, pass_file, id, &private_half, &e) != 0)
		return tool_error(&common, "cannot show the key", &e);
	if (common.json) {
		o = dray_json_new_obj();
		dray_json_set_str(o, "algorithm", "ed25519");
		dray_json_set_bool(o, "private", private_half);
		set_key(o, id);
		return tool_json(o, &e) == 0 ? 0 : tool_error(&common, "cannot tell the result", &e);
	}
	if (sheet) {
		if (!private_half) {
			print_sheet(path, id);
			return 0;
		}
		dray_fail(&e, DRAY_E_USAGE, "%s is a private key", path);
		dray_hint(&e, "the sheet is for the public one, the .pub beside it");
		return tool_error(&common, "cannot print a sheet", &e);
	}
	printf("%s key, Ed25519\n", private_half ? "private" : "public");
	printf("fingerprint  %s\n", dray_fingerprint(id, print));
	printf("sha256       %s\n", dray_hex(id, 32, hex));
	if (!private_half) {
		printf("next: dray key show ");
		tool_shell_print(stdout, path);
		printf(" --sheet\n");
	} else {
		printf("next: dray sign up.dray --key ");
		tool_shell_print(stdout, path);
		putchar('\n');
	}
	return 0;
}
