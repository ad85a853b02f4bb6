/*
 * triggerset.c - the named sets. A trigger of a set is taken when the bundle holds a path that it waits for and nothing
 * says that it cannot run or need not: its program is missing where the release has the program's folder, or the release
 * brings all that it would make.
 *
 * In texts of a rule that stands once for each kernel, {V} is its version and {M} the folder of its modules.
 */
#include <stdio.h>
#include <string.h>

#include "builder/triggerset.h"
#include "dray/glob.h"
#include "dray/path.h"
#include "dray/slot.h"
#include "dray/trigger.h"

#define TEXT 400u

struct rule {
	const char *id;
	const char *argv[8], *paths[8], *outputs[5], *after[2];	/* each ends with NULL */
	bool each;		/* once for each kernel of the release */
	bool made;		/* not where the release brings all of its outputs */
	const char *live;	/* "root-live": it tells the running system; NULL: it makes files */
};

/*
 * Source: freebsd-update.sh (install_files: certctl, pwd_mkdb, cap_mkdb, makewhatis, kldxref), usr.sbin/services_mkdb of
 * FreeBSD (services.db). The databases are part of the release, but made of files that are edited.
 */
static const struct rule freebsd[] = {
	{ "kldxref", { "/usr/sbin/kldxref", "-R", "/boot" }, { "boot/kernel", "boot/modules" }, { "boot/kernel/linker.hints" },
	  { NULL }, false, false, NULL },
	{ "certctl", { "/usr/sbin/certctl", "rehash" }, { "usr/share/certs" }, { "etc/ssl/certs" }, { NULL }, false, false, NULL },
	{ "pwd_mkdb", { "/usr/sbin/pwd_mkdb", "-d", "/etc", "-p", "/etc/master.passwd" }, { "etc/master.passwd" },
	  { "etc/passwd", "etc/pwd.db", "etc/spwd.db" }, { NULL }, false, false, NULL },
	{ "cap_mkdb", { "/usr/bin/cap_mkdb", "/etc/login.conf" }, { "etc/login.conf" }, { "etc/login.conf.db" }, { NULL },
	  false, false, NULL },
	{ "services_mkdb", { "/usr/sbin/services_mkdb", "-q", "-o", "/var/db/services.db", "/etc/services" },
	  { "etc/services" }, { "var/db/services.db" }, { NULL }, false, false, NULL },
	{ "makewhatis", { "/usr/bin/makewhatis", "/usr/share/man" }, { "usr/share/man" }, { "usr/share/man/mandoc.db" },
	  { NULL }, false, false, NULL },
	{ "makewhatis-openssl", { "/usr/bin/makewhatis", "/usr/share/openssl/man" }, { "usr/share/openssl/man" },
	  { "usr/share/openssl/man/mandoc.db" }, { NULL }, false, false, NULL },
	{ .id = NULL },
};

/* what Debian's packages do after their files have changed: triggers and postinst of libc-bin, kmod, initramfs-tools, ... */
static const struct rule debian[] = {
	{ "ldconfig", { "/sbin/ldconfig" }, { "lib/**/*.so*", "lib64/**/*.so*", "usr/lib/**/*.so*", "usr/lib64/**/*.so*",
	  "usr/local/lib/**/*.so*", "etc/ld.so.conf", "etc/ld.so.conf.d" }, { "etc/ld.so.cache" }, { NULL }, false, true, NULL },
	{ "depmod-{V}", { "/sbin/depmod", "-a", "{V}" }, { "{M}" }, { "{M}/modules.dep", "{M}/modules.dep.bin",
	  "{M}/modules.alias", "{M}/modules.symbols" }, { NULL }, true, true, NULL },
	{ "initramfs-{V}", { "/usr/sbin/update-initramfs", "-c", "-k", "{V}" }, { "{M}", "boot/vmlinuz-{V}",
	  "usr/share/initramfs-tools", "etc/initramfs-tools" }, { "boot/initrd.img-{V}" }, { "depmod-{V}" }, true, true, NULL },
	{ "systemd", { "/bin/systemctl", "daemon-reload" }, { "lib/systemd/system", "usr/lib/systemd/system",
	  "etc/systemd/system" }, { NULL }, { NULL }, false, false, "root-live" },
	{ "ca-certificates", { "/usr/sbin/update-ca-certificates" }, { "usr/share/ca-certificates",
	  "usr/local/share/ca-certificates", "etc/ca-certificates.conf" }, { "etc/ssl/certs/ca-certificates.crt" }, { NULL },
	  false, true, NULL },
	{ "locale-gen", { "/usr/sbin/locale-gen" }, { "usr/share/i18n", "etc/locale.gen" }, { "usr/lib/locale/locale-archive" },
	  { NULL }, false, true, NULL },
	{ "mandb", { "/usr/bin/mandb", "--quiet" }, { "usr/share/man", "usr/local/man" }, { "var/cache/man/index.db" },
	  { NULL }, false, true, NULL },
	{ .id = NULL },
};

/* bit i of the sets is set i; 0 is BUILD_TRIGGERS_NONE */
static const struct { const char *name; const struct rule *rules; } sets_known[] = {
	{ "none", NULL }, { "debian", debian }, { "freebsd", freebsd },
};
#define SETS (sizeof(sets_known) / sizeof(sets_known[0]))

struct kernel { char version[65], modules[100]; };

struct making {
	struct build_release *const *rel;
	size_t n;
	struct dray_json *out;
};

int
build_triggerset_add(unsigned *sets, const char *name, struct dray_err *e)
{
	char quoted[100];
	size_t i = 0;

	while (i < SETS && strcmp(sets_known[i].name, name) != 0)
		i++;
	if (i == SETS)
		return dray_fail(e, DRAY_E_USAGE, "there is no set of triggers \"%s\": debian, freebsd, none",
		    dray_quote(name, strlen(name), quoted, sizeof(quoted)));
	*sets |= 1u << i;
	if ((*sets & BUILD_TRIGGERS_NONE) != 0 && *sets != BUILD_TRIGGERS_NONE)
		return dray_fail(e, DRAY_E_USAGE, "\"none\" and other sets of triggers exclude each other");
	return 0;
}

static const struct build_node *
find(const struct build_release *r, const char *path)
{
	size_t low = 0, high = r->n, len = strlen(path);

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = dray_path_cmp(r->v[mid].path, r->v[mid].len, path, len);

		if (c == 0)
			return &r->v[mid];
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* @from with what the braces stand for */
static const char *
expand(const char *from, const struct kernel *k, char out[TEXT])
{
	size_t n = 0;

	for (; *from != '\0' && n < TEXT - 1; from++) {
		const char *by = strncmp(from, "{V}", 3) == 0 ? k->version : strncmp(from, "{M}", 3) == 0 ? k->modules : NULL;

		if (by == NULL) {
			out[n++] = *from;
			continue;
		}
		n += (size_t)snprintf(out + n, TEXT - n, "%s", by);
		n = n < TEXT ? n : TEXT - 1;
		from += 2;
	}
	out[n] = '\0';
	return out;
}

/* does the bundle hold a path that the rule waits for? */
static bool
waits(const struct making *m, const struct rule *r, const struct kernel *k)
{
	char text[TEXT];

	for (size_t p = 0; r->paths[p] != NULL; p++) {
		size_t len = strlen(expand(r->paths[p], k, text));

		for (size_t i = 0; i < m->n; i++)
			for (size_t j = 0; j < m->rel[i]->n; j++)
				if (dray_glob_covers(text, len, m->rel[i]->v[j].path, m->rel[i]->v[j].len))
					return true;
	}
	return false;
}

/* sbin may be a symlink to usr/sbin */
static bool
lacks_program(const struct build_release *target, const char *argv0)
{
	char path[TEXT], folder[TEXT];
	bool knows = false;

	for (int usr = 0; usr < 2; usr++) {
		const struct build_node *nd;

		snprintf(path, sizeof(path), "%s%s", usr ? "usr" : "", argv0 + !usr);
		snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
		if (find(target, path) != NULL)
			return false;
		nd = find(target, folder);
		knows |= nd != NULL && nd->type == DRAY_DIR;
	}
	return knows;
}

static bool
brings_all(const struct build_release *target, const struct rule *r, const struct kernel *k)
{
	char text[TEXT];

	for (size_t i = 0; r->outputs[i] != NULL; i++)
		if (find(target, expand(r->outputs[i], k, text)) == NULL)
			return false;
	return r->outputs[0] != NULL;
}

static bool
has_id(const struct dray_json *all, const char *id)
{
	const char *s;
	struct dray_err e;
	size_t len;

	for (size_t i = 0; i < dray_json_count(all); i++)
		if (dray_json_str(dray_json_at(all, i), "id", &s, &len, "", &e) == 0 && strcmp(s, id) == 0)
			return true;
	return false;
}

static void
put_texts(struct dray_json *t, const char *key, const char *const *v, const struct kernel *k)
{
	struct dray_json *a = dray_json_set_arr(t, key);
	char text[TEXT];

	for (; *v != NULL; v++)
		dray_json_push_str(a, expand(*v, k, text));
}

/* a failure of one stops those that come after it, and no others: each is about files of its own */
static int
put_rule(struct making *m, const struct rule *r, const struct kernel *k, struct dray_err *e)
{
	struct dray_json *t, *a;
	char text[TEXT];

	if (has_id(m->out, expand(r->id, k, text)) || !waits(m, r, k) || lacks_program(m->rel[0], r->argv[0]) ||
	    (r->made && brings_all(m->rel[0], r, k)))
		return 0;
	if (dray_json_count(m->out) == DRAY_MAX_TRIGGERS)
		return dray_fail(e, DRAY_E_USAGE, "more than %u triggers", DRAY_MAX_TRIGGERS);
	t = dray_json_push_obj(m->out);
	dray_json_set_str(t, "id", expand(r->id, k, text));
	put_texts(t, "argv", r->argv, k);
	put_texts(t, "paths", r->paths, k);
	if (r->outputs[0] != NULL)
		put_texts(t, "outputs", r->outputs, k);
	dray_json_set_str(t, "on_failure", "fail");
	if (r->live != NULL)
		dray_json_set_str(t, "needs", r->live);
	if (r->after[0] != NULL && has_id(m->out, expand(r->after[0], k, text))) {
		a = dray_json_set_arr(t, "after");
		dray_json_push_str(a, text);
	}
	return dray_trigger_check(m->out, dray_json_count(m->out) - 1, "trigger of a set", e);
}

/* "lib/modules/6.1.0-50-amd64" */
static bool
is_kernel(const struct build_node *nd, struct kernel *k)
{
	static const char *const above[] = { "lib/modules/", "usr/lib/modules/" };

	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(above[i]);

		/* "initramfs-" and the version make an id */
		if (nd->type != DRAY_DIR || nd->len <= n || nd->len > n + 50 || memcmp(nd->path, above[i], n) != 0 ||
		    !dray_token_ok(nd->path + n, nd->len - n))
			continue;
		snprintf(k->version, sizeof(k->version), "%s", nd->path + n);
		snprintf(k->modules, sizeof(k->modules), "%s", nd->path);
		return true;
	}
	return false;
}

static int
put_set(struct making *m, const struct rule *r, struct dray_err *e)
{
	const struct build_release *target = m->rel[0];
	const struct kernel none = { "", "" };
	struct kernel k;

	for (; r->id != NULL; r++) {
		if (!r->each && put_rule(m, r, &none, e) != 0)
			return -1;
		for (size_t i = 0; r->each && i < target->n; i++)
			if (is_kernel(&target->v[i], &k) && put_rule(m, r, &k, e) != 0)
				return -1;
	}
	return 0;
}

int
build_triggers(const struct dray_json *own, unsigned sets, struct build_release *const *rel, size_t n,
    struct dray_json **out, struct dray_err *e)
{
	struct making m = { .rel = rel, .n = n, .out = dray_json_new_arr() };
	int rc = 0;

	*out = NULL;
	if (m.out == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; own != NULL && i < dray_json_count(own); i++)
		dray_json_push_copy(m.out, dray_json_at(own, i));
	for (size_t i = 1; rc == 0 && i < SETS; i++)
		if ((sets >> i & 1u) != 0)
			rc = put_set(&m, sets_known[i].rules, e);
	if (rc != 0 || dray_json_count(m.out) == 0)
		dray_json_free(m.out);
	else
		*out = m.out;
	return rc;
}
