/* fstab.c - the mounts of etc/fstab that are missing (fstab.h) */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/os.h"
#include "dray/path.h"

#include "installer/files.h"
#include "installer/fstab.h"

#define FSTAB_MAX ((size_t)1 << 20)

/* the next field of a line, "\040" and the like undone in place; NULL: none left */
static char *
field(char **at)
{
	char *p = *at + strspn(*at, " \t"), *to = p, *start = p;

	if (*p == '\0')
		return NULL;
	while (*p != '\0' && *p != ' ' && *p != '\t') {
		if (p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' && p[3] >= '0' && p[3] <= '7') {
			*to++ = (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0'));
			p += 4;
		} else {
			*to++ = *p++;
		}
	}
	*at = *p == '\0' ? p : p + 1;
	*to = '\0';
	return start;
}

/* is @word one of the words of @list, which has commas between? */
static bool
listed(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (; list != NULL; list = strchr(list, ',')) {
		list += *list == ',';
		if (strncmp(list, word, n) == 0 && (list[n] == ',' || list[n] == '\0'))
			return true;
	}
	return false;
}

static bool
diskless(const char *type)
{
	return listed("swap,none,proc,sysfs,tmpfs,ramfs,devpts,devtmpfs,cgroup,cgroup2,debugfs,tracefs,securityfs,efivarfs,"
	    "configfs,fusectl,mqueue,hugetlbfs,binfmt_misc,devfs,procfs,fdescfs,linprocfs,linsysfs", type);
}

/* 1: something is mounted on it, or it is no directory that one could write below */
static int
is_mounted(struct dray_walk *w, const char *path, size_t len, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_stat up, st;
	int dir, r = dray_walk_parent(w, path, len, &dir, leaf, e);

	if (r != 0)
		return r > 0 ? 1 : -1;
	if (os_stat_at(dir, "", &up) == -1)
		return dray_fail_errno(e, "look at a directory");
	if (os_stat_at(dir, leaf, &st) == -1)
		return errno == ENOENT ? 0 : dray_fail_errno(e, "look at a mount of etc/fstab");
	return !S_ISDIR(st.mode) || st.mount_root || st.dev != up.dev || st.mnt_id != up.mnt_id;
}

static int
add(struct inst_fstab *f, const char *path, size_t len, struct dray_err *e)
{
	struct inst_fstab_row *v, row = { .len = len };
	char q[100];
	size_t cap = sizeof(q) + 80;

	if ((v = realloc(f->v, (f->n + 1) * sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	f->v = v;
	row.path = strndup(path, len);
	row.why = malloc(cap);
	if (row.path == NULL || row.why == NULL) {
		free(row.path);
		free(row.why);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	snprintf(row.why, cap, "lies below /%s, which etc/fstab mounts and which is not mounted",
	    dray_quote(path, len, q, sizeof(q)));
	f->v[f->n++] = row;
	return 0;
}

static int
one_line(struct inst_fstab *f, struct dray_walk *w, char *line, struct dray_err *e)
{
	char *what = field(&line), *where = field(&line), *type = field(&line), *options = field(&line);
	size_t len;
	int r;

	if (what == NULL || what[0] == '#' || where == NULL || where[0] != '/' || type == NULL || diskless(type) ||
	    (options != NULL && listed(options, "noauto")))
		return 0;
	where += strspn(where, "/");
	for (len = strlen(where); len > 0 && where[len - 1] == '/'; len--)
		continue;
	if (len == 0 || !dray_path_ok(where, len, NULL))
		return 0;	/* the root itself, or nothing one could mount */
	if ((r = is_mounted(w, where, len, e)) != 0)
		return r > 0 ? 0 : -1;
	return add(f, where, len, e);
}

int
inst_fstab_load(int rootfd, struct inst_fstab *out, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1], *next, *line;
	struct dray_walk w;
	struct dray_stat st;
	uint8_t *p = NULL;
	size_t len;
	int dir, r;

	*out = (struct inst_fstab){ .v = NULL };
	dray_walk_init(&w, rootfd);
	r = dray_walk_parent(&w, "etc/fstab", 9, &dir, leaf, e);
	if (r == 0) {
		r = os_stat_at(dir, leaf, &st) == 0 && S_ISREG(st.mode) && st.size <= FSTAB_MAX ?
		    inst_read_file(dir, leaf, FSTAB_MAX, &p, &len, e) : 1;
		if (r < 0 && (errno == EACCES || errno == EPERM)) {
			dray_err_clear(e);	/* somebody who may not read it is no one who writes here */
			r = 1;
		}
	}
	/* a line at a time; a NUL ends the text */
	for (next = r == 0 ? (char *)p : NULL; next != NULL && r == 0; ) {
		line = next;
		if ((next = strchr(line, '\n')) != NULL)
			*next++ = '\0';
		r = one_line(out, &w, line, e);
	}
	free(p);
	dray_walk_close(&w);
	return r < 0 ? -1 : 0;
}

void
inst_fstab_free(struct inst_fstab *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].path);
		free(f->v[i].why);
	}
	free(f->v);
	*f = (struct inst_fstab){ .v = NULL };
}

const char *
inst_fstab_below(const struct inst_fstab *f, const char *path, size_t len)
{
	for (size_t i = 0; i < f->n; i++)
		if (len > f->v[i].len && dray_path_under(path, len, f->v[i].path, f->v[i].len))
			return f->v[i].why;
	return NULL;
}
