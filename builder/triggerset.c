/*
 * triggerset.c - the named sets. A trigger of a set is taken when the bundle holds a path that it waits for and nothing
 * says that it cannot run or need not: its program is missing where the release has the program's folder, or the release
 * brings all that it would make.
 *
 * In texts of a rule that stands once for each kernel, {V} is its version and {M} the folder of its modules; in those of one
 * for each architecture, {A} is the name of its folder of libraries.
 */
#include <stdio.h>
#include <string.h>

#include "builder/triggerset.h"
#include "dray/glob.h"
#include "dray/path.h"
#include "dray/slot.h"
#include "dray/trigger.h"

#define TEXT 600u

enum each {
	ONCE,
	KERNEL,		/* for each kernel of the release */
	GONE,		/* for each kernel that bases alone have */
	ARCH,		/* for each folder usr/lib/A of the release where A is like "x86_64-linux-gnu" */
};

struct rule {
	const char *id;
	const char *argv[16], *paths[24];	/* each ends with NULL, as do the others */
	const char *outputs[28];	/* all that it may make, change, or delete: what is put back when the upgrade is */
	const char *made[2];		/* not where the release brings these */
	const char *program;		/* what has to be there; NULL: argv[0] */
	const char *after;
	enum each each;
	const char *live;		/* "root-live": it tells the running system; NULL: it makes files */
};

/*
 * Source: freebsd-update.sh (install_files: certctl, pwd_mkdb, cap_mkdb, makewhatis, kldxref, restart of sshd), usr.sbin/services_mkdb of
 * FreeBSD (services.db). The databases are part of the release, but made of files that are edited.
 */
static const struct rule freebsd[] = {
	{ .id = "kldxref", .argv = { "/usr/sbin/kldxref", "-R", "/boot" }, .paths = { "boot/kernel", "boot/modules" },
	  .outputs = { "boot/kernel/linker.hints" } },
	{ .id = "certctl", .argv = { "/usr/sbin/certctl", "rehash" }, .paths = { "usr/share/certs" }, .outputs = { "etc/ssl/certs" } },
	{ .id = "pwd_mkdb", .argv = { "/usr/sbin/pwd_mkdb", "-d", "/etc", "-p", "/etc/master.passwd" },
	  .paths = { "etc/master.passwd" }, .outputs = { "etc/passwd", "etc/pwd.db", "etc/spwd.db" } },
	{ .id = "cap_mkdb", .argv = { "/usr/bin/cap_mkdb", "/etc/login.conf" }, .paths = { "etc/login.conf" },
	  .outputs = { "etc/login.conf.db" } },
	{ .id = "services_mkdb", .argv = { "/usr/sbin/services_mkdb", "-q", "-o", "/var/db/services.db", "/etc/services" },
	  .paths = { "etc/services" }, .outputs = { "var/db/services.db" } },
	{ .id = "makewhatis", .argv = { "/usr/bin/makewhatis", "/usr/share/man" }, .paths = { "usr/share/man" },
	  .outputs = { "usr/share/man/mandoc.db" } },
	{ .id = "makewhatis-openssl", .argv = { "/usr/bin/makewhatis", "/usr/share/openssl/man" },
	  .paths = { "usr/share/openssl/man" }, .outputs = { "usr/share/openssl/man/mandoc.db" } },
	/* sessions that are open are not touched */
	{ .id = "sshd", .argv = { "/bin/sh", "-c", "! /usr/sbin/service sshd status >/dev/null 2>&1 || "
	  "exec /usr/sbin/service sshd restart" }, .program = "/usr/sbin/service", .paths = { "usr/sbin/sshd",
	  "usr/libexec/sshd-session", "usr/lib/libprivatessh.so*" }, .live = "root-live" },
	{ .id = NULL },
};

#define DEPMOD_FILES "{M}/modules.alias", "{M}/modules.alias.bin", "{M}/modules.builtin.alias", "{M}/modules.builtin.alias.bin", \
	"{M}/modules.builtin.bin", "{M}/modules.dep", "{M}/modules.dep.bin", "{M}/modules.devname", "{M}/modules.softdep", \
	"{M}/modules.symbols", "{M}/modules.symbols.bin", "{M}/modules.weakdep"

/*
 * What Debian's packages do after their files have changed: triggers and postinst of libc-bin, kmod, initramfs-tools, ...
 * Names that a program uses only until it is done are among the outputs, for it may be cut. tools/debian-proof.sh holds them to
 * what is written.
 */
static const struct rule debian[] = {
	/* also where the release brings the cache: a machine may have libraries of its own. -X: it makes no links among the libraries */
	{ .id = "ldconfig", .argv = { "/sbin/ldconfig", "-X" }, .paths = { "lib/**/*.so*", "lib64/**/*.so*", "usr/lib/**/*.so*",
	  "usr/lib64/**/*.so*", "usr/local/lib/**/*.so*", "etc/ld.so.conf", "etc/ld.so.conf.d" },
	  .outputs = { "etc/ld.so.cache", "etc/ld.so.cache~", "var/cache/ldconfig" } },
	/* before the initrd, which holds a copy */
	{ .id = "udev-hwdb", .argv = { "/bin/systemd-hwdb", "--usr", "update" }, .paths = { "lib/udev/hwdb.d", "usr/lib/udev/hwdb.d" },
	  .outputs = { "usr/lib/udev/hwdb.bin" }, .made = { "usr/lib/udev/hwdb.bin" } },
	/* those about a kernel look whether it is there: on the way back they are called again, and then it is the other way round */
	{ .id = "depmod-{V}", .argv = { "/bin/sh", "-c", "test ! -d /{M} || exec /sbin/depmod -a {V}" }, .paths = { "{M}" },
	  .outputs = { DEPMOD_FILES }, .made = { "{M}/modules.dep.bin" }, .program = "/sbin/depmod", .each = KERNEL },
	{ .id = "depmod-gone-{V}", .argv = { "/bin/sh", "-c", "test -e /boot/vmlinuz-{V} || test ! -d /{M} || { cd /{M} && rm -f "
	  "modules.alias modules.alias.bin modules.builtin.alias modules.builtin.alias.bin modules.builtin.bin modules.dep "
	  "modules.dep.bin modules.devname modules.softdep modules.symbols modules.symbols.bin modules.weakdep; }" },
	  .paths = { "boot/vmlinuz-{V}" }, .outputs = { DEPMOD_FILES }, .program = "/sbin/depmod", .each = GONE },
	/* the programs whose packages ask for it, too */
	{ .id = "initramfs-{V}", .argv = { "/bin/sh", "-c", "test ! -d /{M} || exec /usr/sbin/update-initramfs -c -k {V}" },
	  .paths = { "{M}", "boot/vmlinuz-{V}",
	  "usr/share/initramfs-tools", "etc/initramfs-tools", "etc/modprobe.d", "lib/modprobe.d", "usr/lib/modprobe.d", "lib/udev",
	  "usr/lib/udev", "**/systemd-udevd", "**/bin/udevadm", "**/bin/kmod", "**/bin/busybox", "lib/klibc*", "usr/lib/klibc*",
	  "**/sbin/fsck*", "**/sbin/e2fsck", "**/sbin/dmsetup", "**/sbin/lvm", "**/sbin/mdadm", "**/sbin/cryptsetup" },
	  .outputs = { "boot/initrd.img-{V}", "boot/initrd.img-{V}.new", "boot/initrd.img-{V}.dpkg-bak", "boot/initrd.img-{V}.bak" },
	  .made = { "boot/initrd.img-{V}" }, .program = "/usr/sbin/update-initramfs", .after = "depmod-{V}", .each = KERNEL },
	{ .id = "initramfs-gone-{V}", .argv = { "/bin/sh", "-c",
	  "test -e /boot/vmlinuz-{V} || exec /usr/sbin/update-initramfs -d -k {V}" }, .paths = { "boot/vmlinuz-{V}" },
	  .outputs = { "boot/initrd.img-{V}", "boot/initrd.img-{V}.bak" }, .program = "/usr/sbin/update-initramfs", .each = GONE },
	/* it looks for kernels and asks where file systems lie: only the machine itself can tell */
	{ .id = "grub", .argv = { "/usr/sbin/update-grub" }, .paths = { "boot/vmlinuz-*", "boot/initrd.img-*", "etc/default/grub",
	  "etc/default/grub.d", "etc/grub.d" }, .outputs = { "boot/grub/grub.cfg", "boot/grub/grub.cfg.new" },
	  .made = { "boot/grub/grub.cfg" }, .live = "root-live" },
	{ .id = "systemd", .argv = { "/bin/systemctl", "daemon-reload" }, .paths = { "lib/systemd/system", "usr/lib/systemd/system",
	  "etc/systemd/system" }, .live = "root-live" },
	{ .id = "systemd-catalog", .argv = { "/bin/journalctl", "--update-catalog" }, .paths = { "usr/lib/systemd/catalog" },
	  .outputs = { "var/lib/systemd/catalog" }, .made = { "var/lib/systemd/catalog/database" } },
	/*
	 * Also where the release brings them: a machine may trust authorities of its own. It adds to the file that a killed run of
	 * it has left, and sees no reason to make the links that one did not get to: such a run is begun anew.
	 */
	{ .id = "ca-certificates", .argv = { "/bin/sh", "-c", "new=/etc/ssl/certs/ca-certificates.crt.new; test -e $new || "
	  "exec /usr/sbin/update-ca-certificates; rm $new && exec /usr/sbin/update-ca-certificates --fresh" },
	  .program = "/usr/sbin/update-ca-certificates", .paths = { "usr/share/ca-certificates",
	  "usr/local/share/ca-certificates", "etc/ca-certificates.conf" }, .outputs = { "etc/ssl/certs" } },
	{ .id = "locale-gen", .argv = { "/usr/sbin/locale-gen" }, .paths = { "usr/share/i18n", "etc/locale.gen" },
	  .outputs = { "usr/lib/locale/locale-archive" }, .made = { "usr/lib/locale/locale-archive" } },
	/* from nothing, for it trusts the times of folders, which are those of the release; as the user whose files they are */
	{ .id = "mandb", .argv = { "/usr/bin/setpriv", "--reuid", "man", "--regid", "man", "--init-groups", "--", "/usr/bin/mandb",
	  "--create", "--quiet" }, .paths = { "usr/share/man", "usr/local/man", "usr/local/share/man" },
	  .outputs = { "var/cache/man" }, .made = { "var/cache/man/index.db" }, .program = "/usr/bin/mandb" },
	{ .id = "info", .argv = { "/usr/sbin/update-info-dir" }, .paths = { "usr/share/info" }, .outputs = { "usr/share/info/dir",
	  "usr/share/info/dir.old" }, .made = { "usr/share/info/dir" } },
	{ .id = "mailcap", .argv = { "/usr/sbin/update-mime", "--triggered" }, .paths = { "usr/lib/mime/packages",
	  "usr/share/applications" }, .outputs = { "etc/mailcap", "etc/mailcap.new" }, .made = { "etc/mailcap" } },
	{ .id = "desktop-database", .argv = { "/usr/bin/update-desktop-database", "-q" }, .paths = { "usr/share/applications" },
	  .outputs = { "usr/share/applications/mimeinfo.cache" }, .made = { "usr/share/applications/mimeinfo.cache" } },
	{ .id = "mime-database", .argv = { "/usr/bin/update-mime-database", "/usr/share/mime" }, .paths = { "usr/share/mime/packages" },
	  .outputs = { "usr/share/mime/XMLnamespaces", "usr/share/mime/aliases", "usr/share/mime/application", "usr/share/mime/audio",
	  "usr/share/mime/chemical", "usr/share/mime/font", "usr/share/mime/generic-icons", "usr/share/mime/globs",
	  "usr/share/mime/globs2", "usr/share/mime/icons", "usr/share/mime/image", "usr/share/mime/inode", "usr/share/mime/magic",
	  "usr/share/mime/message", "usr/share/mime/mime.cache", "usr/share/mime/model", "usr/share/mime/multipart",
	  "usr/share/mime/subclasses", "usr/share/mime/text", "usr/share/mime/treemagic", "usr/share/mime/types",
	  "usr/share/mime/version", "usr/share/mime/video", "usr/share/mime/x-content", "usr/share/mime/x-epoc" },
	  .made = { "usr/share/mime/mime.cache" } },
	{ .id = "fontconfig", .argv = { "/usr/bin/fc-cache", "-s" }, .paths = { "usr/share/fonts", "etc/fonts" },
	  .outputs = { "var/cache/fontconfig" } },
	{ .id = "icons", .argv = { "/usr/bin/gtk-update-icon-cache", "--force", "--quiet", "/usr/share/icons/hicolor" },
	  .paths = { "usr/share/icons/hicolor" }, .outputs = { "usr/share/icons/hicolor/icon-theme.cache" },
	  .made = { "usr/share/icons/hicolor/icon-theme.cache" } },
	{ .id = "glib-schemas-{A}", .argv = { "/usr/lib/{A}/glib-2.0/glib-compile-schemas", "/usr/share/glib-2.0/schemas" },
	  .paths = { "usr/share/glib-2.0/schemas" }, .outputs = { "usr/share/glib-2.0/schemas/gschemas.compiled" },
	  .made = { "usr/share/glib-2.0/schemas/gschemas.compiled" }, .each = ARCH },
	{ .id = "gio-modules-{A}", .argv = { "/usr/lib/{A}/glib-2.0/gio-querymodules", "/usr/lib/{A}/gio/modules" },
	  .paths = { "usr/lib/{A}/gio/modules" }, .outputs = { "usr/lib/{A}/gio/modules/giomodule.cache" },
	  .made = { "usr/lib/{A}/gio/modules/giomodule.cache" }, .each = ARCH },
	{ .id = "gdk-pixbuf-{A}", .argv = { "/usr/lib/{A}/gdk-pixbuf-2.0/gdk-pixbuf-query-loaders", "--update-cache" },
	  .paths = { "usr/lib/{A}/gdk-pixbuf-2.0/2.10.0/loaders" }, .outputs = { "usr/lib/{A}/gdk-pixbuf-2.0/2.10.0/loaders.cache" },
	  .made = { "usr/lib/{A}/gdk-pixbuf-2.0/2.10.0/loaders.cache" }, .each = ARCH },
	{ .id = NULL },
};

/* bit i of the sets is set i; 0 is BUILD_TRIGGERS_NONE */
static const struct { const char *name; const struct rule *rules; } sets_known[] = {
	{ "none", NULL }, { "debian", debian }, { "freebsd", freebsd },
};
#define SETS (sizeof(sets_known) / sizeof(sets_known[0]))

struct place { char version[65], modules[100], arch[65]; };	/* what the braces stand for */

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
expand(const char *from, const struct place *at, char out[TEXT])
{
	size_t n = 0;

	for (; *from != '\0' && n < TEXT - 1; from++) {
		const char *by = strncmp(from, "{V}", 3) == 0 ? at->version : strncmp(from, "{M}", 3) == 0 ? at->modules :
		    strncmp(from, "{A}", 3) == 0 ? at->arch : NULL;

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
waits(const struct making *m, const struct rule *r, const struct place *at)
{
	char text[TEXT];

	for (size_t p = 0; r->paths[p] != NULL; p++) {
		size_t len = strlen(expand(r->paths[p], at, text));

		for (size_t i = 0; i < m->n; i++)
			for (size_t j = 0; j < m->rel[i]->n; j++)
				if (dray_glob_covers(text, len, m->rel[i]->v[j].path, m->rel[i]->v[j].len))
					return true;
	}
	return false;
}

/* bin and sbin may be symlinks to those in usr */
static bool
lacks_program(const struct build_release *target, const char *program)
{
	char path[TEXT], folder[TEXT];
	bool knows = false;

	for (int usr = 0; usr < 2; usr++) {
		const struct build_node *nd;

		snprintf(path, sizeof(path), "%s%s", usr ? "usr" : "", program + !usr);
		snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
		if (find(target, path) != NULL)
			return false;
		nd = find(target, folder);
		knows |= nd != NULL && nd->type == DRAY_DIR;
	}
	return knows;
}

static bool
brings_all(const struct build_release *target, const struct rule *r, const struct place *at)
{
	char text[TEXT];

	for (size_t i = 0; r->made[i] != NULL; i++)
		if (find(target, expand(r->made[i], at, text)) == NULL)
			return false;
	return r->made[0] != NULL;
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
put_texts(struct dray_json *t, const char *key, const char *const *v, const struct place *at)
{
	struct dray_json *a = dray_json_set_arr(t, key);
	char text[TEXT];

	for (; *v != NULL; v++)
		dray_json_push_str(a, expand(*v, at, text));
}

/* a failure of one stops those that come after it, and no others: each is about files of its own */
static int
put_rule(struct making *m, const struct rule *r, const struct place *at, struct dray_err *e)
{
	struct dray_json *t, *a;
	char text[TEXT];

	if (has_id(m->out, expand(r->id, at, text)) ||
	    lacks_program(m->rel[0], expand(r->program != NULL ? r->program : r->argv[0], at, text)) ||
	    brings_all(m->rel[0], r, at) || !waits(m, r, at))
		return 0;
	if (dray_json_count(m->out) == DRAY_MAX_TRIGGERS)
		return dray_fail(e, DRAY_E_USAGE, "more than %u triggers", DRAY_MAX_TRIGGERS);
	t = dray_json_push_obj(m->out);
	dray_json_set_str(t, "id", expand(r->id, at, text));
	put_texts(t, "argv", r->argv, at);
	put_texts(t, "paths", r->paths, at);
	if (r->outputs[0] != NULL)
		put_texts(t, "outputs", r->outputs, at);
	dray_json_set_str(t, "on_failure", "fail");
	if (r->live != NULL)
		dray_json_set_str(t, "needs", r->live);
	if (r->after != NULL && has_id(m->out, expand(r->after, at, text))) {
		a = dray_json_set_arr(t, "after");
		dray_json_push_str(a, text);
	}
	return dray_trigger_check(m->out, dray_json_count(m->out) - 1, "trigger of a set", e);
}

/* "lib/modules/6.1.0-50-amd64" */
static bool
is_kernel(const struct build_node *nd, struct place *at)
{
	static const char *const above[] = { "lib/modules/", "usr/lib/modules/" };

	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(above[i]);

		/* "initramfs-gone-" and the version make an id */
		if (nd->type != DRAY_DIR || nd->len <= n || nd->len > n + 49 || memcmp(nd->path, above[i], n) != 0 ||
		    !dray_token_ok(nd->path + n, nd->len - n))
			continue;
		snprintf(at->version, sizeof(at->version), "%s", nd->path + n);
		snprintf(at->modules, sizeof(at->modules), "%s", nd->path);
		return true;
	}
	return false;
}

/* "usr/lib/x86_64-linux-gnu" */
static bool
is_arch(const struct build_node *nd, struct place *at)
{
	const size_t n = strlen("usr/lib/");

	if (nd->type != DRAY_DIR || nd->len <= n || nd->len > n + 49 || memcmp(nd->path, "usr/lib/", n) != 0 ||
	    !dray_token_ok(nd->path + n, nd->len - n) || strstr(nd->path + n, "-linux-") == NULL)
		return false;
	snprintf(at->arch, sizeof(at->arch), "%s", nd->path + n);
	return true;
}

/* has the release no such kernel, in whichever folder? */
static bool
is_gone(const struct build_release *target, const struct place *at)
{
	char path[TEXT];

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%s", i == 0 ? "boot/vmlinuz-" : i == 1 ? "lib/modules/" : "usr/lib/modules/", at->version);
		if (find(target, path) != NULL)
			return false;
	}
	return true;
}

/* does the rule stand for @nd, of the release @i? */
static bool
stands(const struct making *m, const struct rule *r, size_t i, const struct build_node *nd, struct place *at)
{
	if (r->each == GONE)
		return i > 0 && is_kernel(nd, at) && is_gone(m->rel[0], at);
	return i == 0 && (r->each == KERNEL ? is_kernel(nd, at) : is_arch(nd, at));
}

static int
put_set(struct making *m, const struct rule *r, struct dray_err *e)
{
	struct place at = { .version = "" };

	for (; r->id != NULL; r++) {
		if (r->each == ONCE && put_rule(m, r, &at, e) != 0)
			return -1;
		for (size_t i = 0; r->each != ONCE && i < m->n; i++)
			for (size_t j = 0; j < m->rel[i]->n; j++)
				if (stands(m, r, i, &m->rel[i]->v[j], &at) && put_rule(m, r, &at, e) != 0)
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
