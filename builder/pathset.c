/*
 * pathset.c - the named sets. A rule is a pattern and what becomes of the paths it matches.
 *
 * Directories that a running system fills are kept, hollow and without times, so that an image installs whole and a
 * new time of /tmp changes nothing. What makes a machine this machine (its id, its host keys) is left out. Package
 * databases are right only where each machine has exactly the packages of the tree, so they are a set of their own.
 */
#include <string.h>

#include "builder/pathset.h"
#include "dray/glob.h"

struct rule {
	const char *pattern;
	enum build_fate fate;
};

struct set {
	const char *name;
	const char *left_out, *hollow, *missed;	/* words of the notices */
	const char *const *marks;	/* patterns: the tree looks like this system */
	const struct rule *rules;
	const char *const *config, *const *not_config;
	const char *unless;		/* set that switches the rules of this one off; they speak up */
};

static const struct rule debian_rules[] = {
	{ "proc", BUILD_HOLLOW }, { "sys", BUILD_HOLLOW }, { "dev", BUILD_HOLLOW }, { "run", BUILD_HOLLOW },
	{ "tmp", BUILD_HOLLOW }, { "var/tmp", BUILD_HOLLOW }, { "var/log", BUILD_HOLLOW }, { "var/cache", BUILD_HOLLOW },
	{ "etc/machine-id", BUILD_LEAVE_OUT }, { "var/lib/dbus/machine-id", BUILD_LEAVE_OUT },
	{ "var/lib/systemd/random-seed", BUILD_LEAVE_OUT }, { "etc/ssh/ssh_host_*", BUILD_LEAVE_OUT },
	{ "**/lost+found", BUILD_LEAVE_OUT }, { NULL, BUILD_PACK },
};

static const struct rule freebsd_rules[] = {
	{ "proc", BUILD_HOLLOW }, { "dev", BUILD_HOLLOW }, { "tmp", BUILD_HOLLOW }, { "var/run", BUILD_HOLLOW },
	{ "var/tmp", BUILD_HOLLOW }, { "var/log", BUILD_HOLLOW }, { "var/cache", BUILD_HOLLOW },
	{ "var/db/entropy", BUILD_HOLLOW }, { "entropy", BUILD_LEAVE_OUT }, { "boot/entropy", BUILD_LEAVE_OUT },
	{ "etc/hostid", BUILD_LEAVE_OUT }, { "etc/machine-id", BUILD_LEAVE_OUT },
	{ "etc/ssh/ssh_host_*", BUILD_LEAVE_OUT }, { "**/lost+found", BUILD_LEAVE_OUT }, { "**/.snap", BUILD_LEAVE_OUT },
	{ "**/.sujournal", BUILD_LEAVE_OUT }, { NULL, BUILD_PACK },
};

static const struct rule debian_fleet_rules[] = {
	{ "var/lib/dpkg", BUILD_HOLLOW }, { "var/lib/apt", BUILD_HOLLOW }, { NULL, BUILD_PACK },
};

static const struct rule freebsd_fleet_rules[] = {
	{ "var/db/pkg", BUILD_HOLLOW }, { NULL, BUILD_PACK },
};

static const struct rule image_rules[] = {
	{ "proc", BUILD_HOLLOW }, { "sys", BUILD_HOLLOW }, { "dev", BUILD_HOLLOW }, { "run", BUILD_HOLLOW },
	{ "tmp", BUILD_HOLLOW }, { "var/tmp", BUILD_HOLLOW }, { "var/log", BUILD_HOLLOW }, { "var/cache", BUILD_HOLLOW },
	{ "etc/machine-id", BUILD_LEAVE_OUT }, { "etc/ssh/ssh_host_*", BUILD_LEAVE_OUT },
	{ "**/lost+found", BUILD_LEAVE_OUT }, { NULL, BUILD_PACK },
};

static const struct rule no_rules[] = { { NULL, BUILD_PACK } };
static const char *const nothing[] = { NULL };

static const char *const debian_marks[] = { "var/lib/dpkg/status", "etc/debian_version", NULL };
static const char *const freebsd_marks[] = { "bin/freebsd-version", "var/db/pkg", "var/db/freebsd-update", NULL };
static const char *const any_marks[] = { "**", NULL };

static const char *const debian_config[] = { "etc", NULL };
/* written by programs from what lies beside them, or never edited in place */
static const char *const debian_not_config[] = { "etc/ld.so.cache", "etc/alternatives", "etc/ssl/certs", NULL };
static const char *const freebsd_config[] = { "etc", "boot/loader.conf", "boot/loader.conf.local", "boot/device.hints",
	"usr/local/etc", "root/.*", NULL };
static const char *const freebsd_not_config[] = { "etc/pwd.db", "etc/spwd.db", "etc/rc.d", "etc/defaults", NULL };
static const char *const image_config[] = { "etc/passwd", "etc/group", "etc/shadow", "etc/gshadow",
	"etc/master.passwd", NULL };

/* in the order in which build_pathset_missed looks at them */
static const struct set sets[] = {
	{ "debian", "left out by the path set debian", "what it holds is left out by the path set debian",
	  "and others like it: would be left out with --path-set debian", debian_marks, debian_rules, debian_config,
	  debian_not_config, NULL },
	{ "freebsd", "left out by the path set freebsd", "what it holds is left out by the path set freebsd",
	  "and others like it: would be left out with --path-set freebsd", freebsd_marks, freebsd_rules, freebsd_config,
	  freebsd_not_config, NULL },
	{ "image", "left out by the path set image", "what it holds is left out by the path set image",
	  "and others like it: would be left out with --path-set image", any_marks, image_rules, image_config, nothing,
	  NULL },
	{ "debian-fleet", NULL, "a package database: left out; --path-set debian-fleet packs it", NULL, nothing,
	  debian_fleet_rules, nothing, nothing, "debian" },
	{ "freebsd-fleet", NULL, "a package database: left out; --path-set freebsd-fleet packs it", NULL, nothing,
	  freebsd_fleet_rules, nothing, nothing, "freebsd" },
};
#define SETS (sizeof(sets) / sizeof(sets[0]))

static bool
is_on(const struct build_filter *f, size_t i)
{
	return (f->sets >> i & 1u) != 0;
}

static size_t
number_of(const char *name)
{
	size_t i = 0;

	while (i < SETS && strcmp(sets[i].name, name) != 0)
		i++;
	return i;
}

int
build_pathset_add(struct build_filter *f, const char *name, struct dray_err *e)
{
	size_t i = number_of(name);
	char quoted[100];

	if (i == SETS)
		return dray_fail(e, DRAY_E_USAGE, "there is no path set \"%s\": debian, debian-fleet, freebsd, freebsd-fleet, "
		    "image", dray_quote(name, strlen(name), quoted, sizeof(quoted)));
	f->sets |= 1u << i;
	return 0;
}

/* those of a fleet set hold while it is off and its system's set is on; their matter is packed when it is on */
static const struct rule *
rules_of(const struct build_filter *f, size_t i)
{
	const struct set *s = &sets[i];

	if (s->unless != NULL)
		return !is_on(f, i) && is_on(f, number_of(s->unless)) ? s->rules : no_rules;
	return is_on(f, i) ? s->rules : no_rules;
}

static bool
matches(const char *pattern, const char *path, size_t len)
{
	return dray_glob_match(pattern, strlen(pattern), path, len);
}

enum build_fate
build_filter_path(const struct build_filter *f, const char *path, size_t len, bool dir, struct build_notice *n)
{
	*n = (struct build_notice){ .quiet = true };
	if (f == NULL)
		return BUILD_PACK;
	for (size_t i = 0; i < f->ignore.n; i++)
		if (matches(f->ignore.v[i], path, len)) {
			n->why = "left out by an ignore rule";
			return BUILD_LEAVE_OUT;
		}
	for (size_t i = 0; i < SETS; i++)
		for (const struct rule *r = rules_of(f, i); r->pattern != NULL; r++) {
			if ((r->fate == BUILD_HOLLOW && !dir) || !matches(r->pattern, path, len))
				continue;
			n->why = r->fate == BUILD_HOLLOW ? sets[i].hollow : sets[i].left_out;
			n->quiet = sets[i].unless == NULL;
			return r->fate;
		}
	return BUILD_PACK;
}

static int
add_all(struct build_patterns *to, const char *const *v, struct dray_err *e)
{
	for (; *v != NULL; v++)
		if (build_patterns_add(to, *v, e) != 0)
			return -1;
	return 0;
}

int
build_pathset_config(const struct build_filter *f, struct build_layout *l, struct dray_err *e)
{
	for (size_t i = 0; i < SETS; i++)
		if (is_on(f, i) && (add_all(&l->config, sets[i].config, e) != 0 ||
		    add_all(&l->not_config, sets[i].not_config, e) != 0))
			return -1;
	return 0;
}

static bool
looks_like(const struct set *s, const struct build_release *r)
{
	for (const char *const *m = s->marks; *m != NULL; m++)
		for (size_t i = 0; i < r->n; i++)
			if (matches(*m, r->v[i].path, r->v[i].len))
				return true;
	return false;
}

/* would @s leave out @nd itself? */
static bool
would_leave_out(const struct set *s, const struct build_node *nd)
{
	size_t above = nd->len;

	while (above > 0 && nd->path[above - 1] != '/')
		above--;
	above -= above > 0;
	for (const struct rule *r = s->rules; r->pattern != NULL; r++)
		/* a hollow directory itself stays */
		if (dray_glob_covers(r->pattern, strlen(r->pattern), nd->path, r->fate == BUILD_LEAVE_OUT ? nd->len : above))
			return true;
	return false;
}

int
build_pathset_missed(const struct build_filter *f, struct build_release *r, struct dray_err *e)
{
	for (size_t i = 0; i < SETS; i++) {
		if (sets[i].unless != NULL || !looks_like(&sets[i], r))
			continue;
		if (is_on(f, i))
			return 0;
		for (size_t k = 0; k < r->n; k++)
			if (would_leave_out(&sets[i], &r->v[k])) {
				struct build_notice n = { r->v[k].path, r->v[k].len, sets[i].missed, false };

				return build_release_note(r, &n, e);
			}
		return 0;
	}
	return 0;
}
