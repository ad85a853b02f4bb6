/*
 * cmd_trust.c - dray-install trust init, trust show: the first key that this system trusts, held against a fingerprint that
 * came another way, and what is trusted now. Source: spec/cli.md, "trust".
 */
#include <sys/stat.h>

#include <ctype.h>
#include <errno.h>
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

#include "installer/cmd.h"
#include "installer/fence.h"
#include "installer/files.h"

#define FOLDER "/etc/dray"

struct trusting {
	struct tool_common common;
	const char *key, *groups;	/* init: the file, and what was read out or printed */
};

/* "9D3A 77c0:..." as bytes: 16 as they are printed, or all 32; Return: how many, 0: neither */
static size_t
read_groups(const char *text, uint8_t out[32])
{
	char hex[65];
	size_t n = 0;

	for (; *text != '\0'; text++) {
		if (*text == ' ' || *text == ':' || *text == '-')
			continue;
		if (n == 64 || !isxdigit((unsigned char)*text))
			return 0;
		hex[n++] = (char)tolower((unsigned char)*text);
	}
	return (n == 32 || n == 64) && dray_unhex(hex, n, out, n / 2) ? n / 2 : 0;
}

/* what the machine will know the key by: the name of its file, if a keyring takes that */
static int
name_of(const char *path, char out[80], struct dray_err *e)
{
	const char *name = tool_leaf_of(path);
	size_t n = strlen(name);

	if (n > 4 && strcmp(name + n - 4, ".pub") == 0)
		n -= 4;
	if (n == 0 || n > 64 || name[0] == '.')
		return dray_fail(e, DRAY_E_USAGE, "the name of a key has 1 to 64 bytes and does not begin with a dot");
	snprintf(out, 80, "%.*s.pub", (int)n, name);
	return 0;
}

/* the one key in the file; text is malloc'ed */
static int
load(const struct trusting *t, uint8_t **text, size_t *len, uint8_t id[32], struct dray_err *e)
{
	struct dray_keyring *k = NULL;
	int rc;

	*text = NULL;
	if ((rc = inst_read_file(AT_FDCWD, t->key, DRAY_KEYRING_MAX_BYTES, text, len, e)) == 1)
		return dray_fail(e, DRAY_E_USAGE, "no such file");
	if (rc != 0 || dray_keyring_parse((const char *)*text, *len, "it", t->common.allow_test_keys, &k, e) != 0)
		return -1;
	rc = 0;
	if (dray_keyring_count(k) != 1 || dray_keyring_is_document(k))
		rc = dray_fail(e, DRAY_E_USAGE, "holds more than one bare public key");
	else
		memcpy(id, dray_keyring_key(k, 0).id, 32);
	dray_keyring_free(k);
	return rc;
}

static int
hold_against(const struct trusting *t, const uint8_t id[32], struct dray_err *e)
{
	uint8_t said[32];
	char a[40];
	size_t n;

	if (t->groups == NULL) {
		dray_fail(e, DRAY_E_USAGE, "no fingerprint");
		return dray_hint(e, "the one that came another way, on paper or by telephone: --fingerprint \"9d3a 77c0 ...\"");
	}
	if ((n = read_groups(t->groups, said)) == 0)
		return dray_fail(e, DRAY_E_USAGE, "a fingerprint has 8 groups of 4 digits and letters a to f, or 64 of them");
	if (memcmp(said, id, n) == 0)
		return 0;
	dray_fail(e, DRAY_E_TRUST, "it is another key: its fingerprint is %s", dray_fingerprint(id, a));
	return dray_hint(e, "nothing is trusted because of it; ask again for the fingerprint, and for the key");
}

/* there is to be no keyring yet: adding to one is a decision of those whom it trusts, not of a first use */
static int
none_yet(struct dray_err *e)
{
	struct dray_err no = { .code = DRAY_OK };
	struct dray_keyring *k = NULL;
	const char *usual = tool_keyring_usual();
	bool bad;

	if (usual == NULL)
		return 0;
	/* a folder without keys is none: it is removed, and made again */
	bad = dray_keyring_load(&usual, 1, false, &k, &no) != 0;
	dray_keyring_free(k);
	if (bad && strcmp(usual, TOOL_KEYRING_DIR) == 0 && rmdir(usual) == 0)
		return 0;
	if (bad) {
		dray_fail(e, DRAY_E_SYSTEM, "%s is there, and no keyring can be made of it: %s", usual, no.text);
		return dray_hint(e, "look at what is in it; remove it if nobody needs it, and try again");
	}
	dray_fail(e, DRAY_E_SYSTEM, "this system has its keys already, in %s", usual);
	return dray_hint(e, "dray-install trust show lists them; who may change them is for those to say who run this system");
}

/* who may write there may change whom this system trusts */
static int
ours_alone(int dir, const char *path, struct dray_err *e)
{
	struct stat st;

	if (fstat(dir, &st) != 0)
		return dray_fail_errno(e, "look at %s", path);
	if ((st.st_uid == 0 || st.st_uid == geteuid()) && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return 0;
	dray_fail(e, DRAY_E_SYSTEM, "%s belongs to uid %lu with mode %04o: others could change whom this system trusts", path,
	    (unsigned long)st.st_uid, (unsigned)(st.st_mode & 07777));
	return dray_hint(e, "chown root and chmod 755 it, look at what is in it, and try again");
}

static int
open_folder(int at, const char *name, const char *path, int flags, int *dir, struct dray_err *e)
{
	if (mkdirat(at, name, 0755) != 0 && errno != EEXIST)
		return dray_fail_errno(e, "make %s", path);
	if ((*dir = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags)) == -1)
		return dray_fail_errno(e, "open %s", path);
	return ours_alone(*dir, path, e);
}

static int
keep(const char *name, const uint8_t *text, size_t len, struct dray_err *e)
{
	mode_t mask = umask(022);	/* as the programs that will read it need it */
	int etc = -1, dir = -1, rc = -1;

	/* the folder may be a symlink of the administrator's, to where configuration lies */
	if (open_folder(AT_FDCWD, FOLDER, FOLDER, 0, &etc, e) == 0 &&
	    open_folder(etc, "keyring.d", TOOL_KEYRING_DIR, O_NOFOLLOW, &dir, e) == 0)
		rc = inst_write_file(dir, name, text, len, 0644, e);
	umask(mask);
	if (dir != -1)
		close(dir);
	if (etc != -1)
		close(etc);
	return rc;
}

static int
init(const struct trusting *t, struct dray_err *e)
{
	char name[80], print[40], hex[65], q[DRAY_QUOTE_CAP(80)];
	uint8_t id[32], *text;
	struct dray_json *o;
	size_t len;
	int rc;

	rc = load(t, &text, &len, id, e) == 0 && name_of(t->key, name, e) == 0 && hold_against(t, id, e) == 0 &&
	    none_yet(e) == 0 && keep(name, text, len, e) == 0 ? 0 : -1;
	free(text);
	if (rc != 0)
		return -1;
	if (t->common.json) {
		o = dray_json_new_obj();
		dray_json_set_path(o, "file", name, strlen(name));
		dray_json_set_str(o, "sha256", dray_hex(id, 32, hex));
		return tool_json(o, e) == 0 ? 0 : -1;
	}
	if (!t->common.quiet)
		printf("%s/%s: trusted from now on\n  fingerprint %s\nnext: dray-install verify BUNDLE\n", TOOL_KEYRING_DIR,
		    dray_quote(name, strlen(name), q, sizeof(q)), dray_fingerprint(id, print));
	return 0;
}

static int
show(const struct trusting *t, struct dray_err *e)
{
	const char *usual = tool_keyring_usual();
	struct dray_keyring *k = NULL;
	struct dray_json *o = NULL, *list = NULL, *v;
	char print[40], hex[65], q[DRAY_QUOTE_CAP(65)];

	if (usual == NULL) {
		dray_fail(e, DRAY_E_TRUST, "no key is trusted here: there is neither %s nor %s", TOOL_KEYRING_FILE, TOOL_KEYRING_DIR);
		return dray_hint(e, "dray-install trust init KEY --fingerprint GROUPS makes a beginning");
	}
	if (dray_keyring_load(&usual, 1, t->common.allow_test_keys, &k, e) != 0)
		return -1;
	if (t->common.json) {
		o = dray_json_new_obj();
		dray_json_set_str(o, "from", usual);
		dray_json_set_int(o, "threshold", dray_keyring_threshold(k));
		list = dray_json_set_arr(o, "keys");
	} else {
		printf("%s: %u of these %zu must sign\n", usual, dray_keyring_threshold(k), dray_keyring_count(k));
	}
	for (size_t i = 0; i < dray_keyring_count(k); i++) {
		struct dray_known_key key = dray_keyring_key(k, i);

		if (list != NULL) {
			v = dray_json_push_obj(list);
			dray_json_set_path(v, "name", key.name, strlen(key.name));
			dray_json_set_str(v, "sha256", dray_hex(key.id, 32, hex));
			dray_json_set_bool(v, "revoked", key.revoked);
			dray_json_set_bool(v, "all_products", !key.bound);
			continue;
		}
		printf("  %s  %s%s%s\n", dray_fingerprint(key.id, print),
		    key.name[0] == '\0' ? "-" : dray_quote(key.name, strlen(key.name), q, sizeof(q)),
		    key.revoked ? ", revoked: never counts" : "", key.bound ? ", for some products alone" : "");
	}
	dray_keyring_free(k);
	if (o == NULL)
		printf("next: dray-install verify BUNDLE\n");
	return o == NULL || tool_json(o, e) == 0 ? 0 : -1;
}

int
inst_cmd_trust_init(int argc, char **argv, const struct tool_cmd *self)
{
	struct trusting t = { .key = NULL };
	struct tool_opt opts[] = {
		{ .name = "fingerprint", .kind = TOOL_TEXT, .out = &t.groups, .arg = "GROUPS",
		    .help = "of the key, as it came another way: 8 groups of 4" },
		{ .name = NULL },
	};
	struct dray_err e = { .code = DRAY_OK };
	char what[340], q[300];
	const char *operand[1];
	size_t n;
	int rc;

	if ((rc = tool_parse(argc, argv, self, opts, &t.common, 1, 1, operand, &n)) != -1)
		return rc;
	t.key = operand[0];
	inst_fence_only("/");	/* its folder may be a symlink to anywhere */
	snprintf(what, sizeof(what), "cannot trust %s", dray_quote(t.key, strlen(t.key), q, sizeof(q)));
	return init(&t, &e) == 0 ? 0 : tool_error(&t.common, what, &e);
}

int
inst_cmd_trust_show(int argc, char **argv, const struct tool_cmd *self)
{
	struct trusting t = { .key = NULL };
	struct tool_opt opts[] = { { .name = NULL } };
	struct dray_err e = { .code = DRAY_OK };
	size_t n;
	int rc;

	if ((rc = tool_parse(argc, argv, self, opts, &t.common, 0, 0, NULL, &n)) != -1)
		return rc;
	inst_fence_only(NULL);
	return show(&t, &e) == 0 ? 0 : tool_error(&t.common, NULL, &e);
}
