/*
 * restart.c - dray-install status --needs-restart: processes that still map files an upgrade has replaced or removed.
 *
 * A mapping is old when
 *   - it lies in the stash, which is where /proc says a file is after it was swapped out (also once forget deleted it),
 *   - or it is, by device and inode, an object that a journal knows as replaced (systems that cannot exchange names),
 *   - or it is program code whose name was given to another file: "PATH (deleted)", and something else is at PATH.
 */
#include <sys/stat.h>

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/num.h"

#include "installer/cmd.h"
#include "installer/slots.h"
#include "installer/switch.h"

#define DELETED " (deleted)"

/* a replaced file: its inode, its device as stat tells it and as /proc/PID/maps does */
struct old { uint64_t ino, pair; dev_t dev; const struct inst_op *op; };

struct look {
	const struct inst_front *f;
	char *stash;			/* "/ROOT/STATE/tx/" as /proc writes it */
	char *root;			/* "/ROOT", "" for the root directory */
	struct inst_tx **tx;		/* with their plans */
	size_t n_tx;
	struct old *old;		/* replaced files by inode */
	size_t n_old;
	size_t processes, unread;
	struct dray_json *list;		/* with --json */
};

struct mapping { char perms[8], *path; unsigned major, minor; uint64_t from, to, ino; };

static int
by_ino(const void *a, const void *b)
{
	const struct old *x = a, *y = b;

	return (x->ino > y->ino) - (x->ino < y->ino);
}

/* the files one journal has replaced; slots of a file system that is not mounted are nobody's to map */
static int
add_old(struct look *l, const struct inst_tx *tx, struct dray_err *e)
{
	struct dray_stat pair;
	struct stat st;

	for (size_t k = 0; k < tx->n_swaps; k++) {
		const struct inst_op *op = &tx->ops[k];
		int dir;

		if (op->old.type != DRAY_FILE || inst_slots_of(tx, op, &dir, e) != 0)
			continue;
		if (fstat(dir, &st) == -1 || os_stat_at(dir, "", &pair) == -1)
			return dray_fail_errno(e, "look at a slot folder");
		l->old[l->n_old++] = (struct old){ .ino = op->old.ino, .dev = st.st_dev, .pair = pair.dev, .op = op };
	}
	dray_err_clear(e);
	return 0;
}

/* the journals whose old objects are still on the disk */
static int
load_journals(struct look *l, struct dray_err *e)
{
	const struct inst_state *s = &l->f->st;
	uint32_t *numbers;
	size_t n, count = 0;
	int rc = -1;

	if (inst_tx_list(s, &numbers, &n, e) != 0)
		return -1;
	if ((l->tx = calloc(n + 1, sizeof(*l->tx))) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	for (; l->n_tx < n; l->n_tx++) {
		if (inst_tx_open(s, numbers[l->n_tx], false, &l->tx[l->n_tx], e) != 0)
			goto out;
		count += l->tx[l->n_tx]->n_swaps;
	}
	if ((l->old = calloc(count + 1, sizeof(*l->old))) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	for (size_t i = 0; i < n; i++)
		if ((l->tx[i]->state == INST_TX_DONE || l->tx[i]->state == INST_TX_FINISHED) && add_old(l, l->tx[i], e) != 0)
			goto out;
	if (l->n_old > 0)
		qsort(l->old, l->n_old, sizeof(*l->old), by_ino);
	rc = 0;
out:
	free(numbers);
	return rc;
}

/* "from-to perms offset major:minor inode path" */
static bool
parse(char *line, struct mapping *m)
{
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*x %x:%x %" SCNu64 " %n", &m->from, &m->to, m->perms, &m->major,
	    &m->minor, &m->ino, &at) != 6 || at == 0)
		return false;
	m->path = line + at;
	return m->ino != 0 && m->path[0] == '/';
}

/* @rest: "xx/N" and perhaps a path inside, beneath the slots of @tx, or of one that is gone (NULL) */
static int
name_slot(const struct inst_tx *tx, const char *rest, struct inst_foreign *uses, struct dray_err *e)
{
	static const char freed[] = "something that forget has freed";
	const struct inst_op *op;
	size_t len, more;
	unsigned slot;
	char *path;
	int at = 0, rc;

	if (tx == NULL || sscanf(rest, "%*[0-9a-f]/%u%n", &slot, &at) != 1 || at == 0 || slot >= tx->n_swaps)
		return inst_foreign_add(uses, freed, sizeof(freed) - 1, e);
	rest += at + (rest[at] == '~');
	op = &tx->ops[slot];
	more = strlen(rest);
	len = op->len + more;
	if ((path = malloc(len + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	memcpy(path, op->path, op->len);
	memcpy(path + op->len, rest, more);
	rc = inst_foreign_add(uses, path, len, e);
	free(path);
	return rc;
}

/* does the path lie in a stash of this tree? *tx: whose, NULL: one that is gone; *rest: what follows its slot folders */
static bool
in_stash(const struct look *l, const char *path, const struct inst_tx **tx, const char **rest)
{
	size_t stash = strlen(l->stash), root = strlen(l->root);
	const char *token;
	unsigned number;
	int at = 0;

	*tx = NULL;
	if (strncmp(path, l->stash, stash) == 0) {
		if (sscanf(path + stash, "%u/%n", &number, &at) != 1 || at == 0)
			return false;
		for (size_t i = 0; i < l->n_tx; i++)
			if (l->tx[i]->number == number)
				*tx = l->tx[i];
		*rest = path + stash + at;
		return true;
	}
	/* on another file system of the tree: MOUNT/.dray/TOKEN/ */
	if (strncmp(path, l->root, root) != 0 || (token = strstr(path + root, "/.dray/")) == NULL)
		return false;
	token += sizeof("/.dray/") - 1;
	if (strspn(token, "0123456789abcdef") != 32 || token[32] != '/')
		return false;
	for (size_t i = 0; i < l->n_tx; i++)
		for (size_t k = 1; k < l->tx[i]->n_slots; k++)
			if (strncmp(l->tx[i]->slots[k].token, token, 32) == 0)
				*tx = l->tx[i];
	*rest = token + 33;
	return true;
}

/* by device and inode: /proc/PID/map_files asks the file system itself, where we may; `maps` tells the device below it */
static const struct inst_op *
known_old(const struct look *l, const char *pid, const struct mapping *m)
{
	struct old key = { .ino = m->ino }, *hit;
	char name[120];
	struct stat st;
	bool asked;

	if (l->n_old == 0)
		return NULL;
	snprintf(name, sizeof(name), "/proc/%s/map_files/%" PRIx64 "-%" PRIx64, pid, m->from, m->to);
	asked = stat(name, &st) == 0;
	if (asked)
		key.ino = (uint64_t)st.st_ino;
	if ((hit = bsearch(&key, l->old, l->n_old, sizeof(*l->old), by_ino)) == NULL)
		return NULL;
	while (hit > l->old && hit[-1].ino == key.ino)
		hit--;
	for (; hit < l->old + l->n_old && hit->ino == key.ino; hit++)
		if (asked ? hit->dev == st.st_dev : hit->pair == ((uint64_t)m->major << 32 | m->minor))
			return hit->op;
	return NULL;
}

/* "PATH (deleted)" beneath the root, and another file has that name now; *len: without the mark and the root */
static bool
given_away(const struct look *l, const struct mapping *m, const char **path, size_t *len)
{
	size_t n = strlen(m->path), mark = sizeof(DELETED) - 1, root = strlen(l->root);
	struct dray_err ignored = { .code = DRAY_OK };	/* what cannot be looked at is not there */
	struct inst_ident id;
	struct dray_walk w;
	bool other;

	if (strchr(m->perms, 'x') == NULL || n <= mark || strcmp(m->path + n - mark, DELETED) != 0 ||
	    strncmp(m->path, l->root, root) != 0 || m->path[root] != '/')
		return false;
	*path = m->path + root + 1;
	*len = n - mark - root - 1;
	if (!dray_path_ok(*path, *len, NULL))
		return false;
	dray_walk_init(&w, l->f->st.root);
	other = inst_look(&w, *path, *len, &id, NULL, &ignored) == 0 && id.type == DRAY_FILE && id.ino != m->ino;
	dray_walk_close(&w);
	return other;
}

static int
add_use(const struct look *l, const char *pid, char *line, struct inst_foreign *uses, struct dray_err *e)
{
	const struct inst_tx *tx;
	const struct inst_op *op;
	const char *path;
	struct mapping m;
	size_t len;

	if (!parse(line, &m))
		return 0;
	if (in_stash(l, m.path, &tx, &path)) {
		if ((len = strlen(m.path)) >= sizeof(DELETED) && strcmp(m.path + len - (sizeof(DELETED) - 1), DELETED) == 0)
			m.path[len - (sizeof(DELETED) - 1)] = '\0';
		return name_slot(tx, path, uses, e);
	}
	if ((op = known_old(l, pid, &m)) != NULL)
		return inst_foreign_add(uses, op->path, op->len, e);
	return given_away(l, &m, &path, &len) ? inst_foreign_add(uses, path, len, e) : 0;
}

/* its words, or the name the kernel has for it */
static void
command_of(const char *pid, char out[200])
{
	char name[64], raw[64];
	ssize_t n = 0;
	int fd;

	snprintf(name, sizeof(name), "/proc/%s/cmdline", pid);
	if ((fd = open(name, O_RDONLY | O_CLOEXEC)) != -1) {
		n = read(fd, raw, sizeof(raw));
		close(fd);
	}
	while (n > 0 && raw[n - 1] == '\0')
		n--;
	for (ssize_t i = 0; i < n; i++)
		if (raw[i] == '\0')
			raw[i] = ' ';
	dray_quote(n > 0 ? raw : "?", n > 0 ? (size_t)n : 1, out, 200);
}

static void
tell(struct look *l, const char *pid, const struct inst_foreign *uses)
{
	struct dray_json *o, *list;
	char command[200];

	l->processes++;
	command_of(pid, command);
	if (l->list == NULL) {
		inst_say(l->f, "process %s (%s) still uses:", pid, command);
		for (size_t i = 0; i < uses->n; i++)
			inst_say(l->f, "  %s", uses->paths[i]);
		return;
	}
	o = dray_json_push_obj(l->list);
	dray_json_set_int(o, "pid", atoll(pid));
	dray_json_set_str(o, "command", command);
	list = dray_json_set_arr(o, "uses");
	for (size_t i = 0; i < uses->n; i++)
		dray_json_push_str(list, uses->paths[i]);
}

/* one process; it may end meanwhile */
static int
look_process(struct look *l, const char *pid, struct dray_err *e)
{
	struct inst_foreign uses = { .n = 0 };
	char name[64], *line = NULL;
	size_t cap = 0;
	FILE *maps;
	int rc = 0;

	snprintf(name, sizeof(name), "/proc/%s/maps", pid);
	if ((maps = fopen(name, "re")) == NULL) {
		l->unread += errno == EACCES || errno == EPERM;
		return 0;
	}
	errno = 0;
	while (rc == 0 && getline(&line, &cap, maps) > 0)
		rc = add_use(l, pid, line, &uses, e);
	l->unread += rc == 0 && (errno == EACCES || errno == EPERM);
	free(line);
	fclose(maps);
	if (rc == 0 && uses.n > 0)
		tell(l, pid, &uses);
	inst_foreign_free(&uses);
	return rc;
}

static int
look_all(struct look *l, struct dray_err *e)
{
	struct dirent *de;
	DIR *d = opendir("/proc");
	int rc = 0;

	if (d == NULL)
		return dray_fail_errno(e, "list /proc");
	while (rc == 0 && (de = readdir(d)) != NULL)
		if (isdigit((unsigned char)de->d_name[0]) && strlen(de->d_name) < 20 && atoll(de->d_name) != (long long)getpid())
			rc = look_process(l, de->d_name, e);
	closedir(d);
	return rc;
}

static int
look_open(struct look *l, const struct inst_front *f, struct dray_err *e)
{
	size_t cap;

	*l = (struct look){ .f = f };
	if (access("/proc/self/maps", R_OK) == -1) {
		dray_fail(e, DRAY_E_SYSTEM, "there is no /proc here that tells which files processes use");
		return dray_hint(e, "which have to be restarted is not known; mount /proc, or reboot");
	}
	if ((l->root = realpath(f->root, NULL)) == NULL)
		return dray_fail_errno(e, "resolve %s", f->root);
	if (strcmp(l->root, "/") == 0)
		l->root[0] = '\0';
	cap = strlen(l->root) + strlen(f->st.rel) + 8;
	if ((l->stash = malloc(cap)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	snprintf(l->stash, cap, "%s/%s/tx/", l->root, f->st.rel);
	return load_journals(l, e);
}

static void
look_close(struct look *l)
{
	for (size_t i = 0; l->tx != NULL && i < l->n_tx; i++)
		inst_tx_close(l->tx[i]);
	free(l->tx);
	free(l->old);
	free(l->root);
	free(l->stash);
}

int
inst_restart(struct inst_front *f, bool *advised, struct dray_err *e)
{
	struct dray_json *o = NULL;
	struct look l;
	int rc = -1;

	if (look_open(&l, f, e) != 0)
		goto out;
	assert(l.stash != NULL && l.root != NULL);
	if (f->common.json) {
		o = dray_json_new_obj();
		l.list = dray_json_set_arr(o, "processes");
	}
	if (look_all(&l, e) != 0)
		goto out;
	*advised = l.processes > 0;
	if (o != NULL) {
		dray_json_set_int(o, "unread", (int64_t)l.unread);
		rc = tool_json(o, e) == 0 ? 0 : -1;
		o = NULL;
		goto out;
	}
	if (l.unread > 0)
		inst_say(f, "%zu %s could not be looked at%s", l.unread, l.unread == 1 ? "process" : "processes",
		    geteuid() == 0 ? "" : ": run it as root");
	if (l.processes == 0)
		inst_say(f, "no process%s uses what was replaced: nothing to restart", l.unread > 0 ? " that was looked at" : "");
	else
		inst_say(f, "next: restart %s, or reboot", l.processes == 1 ? "it" : "them");
	rc = 0;
out:
	dray_json_free(o);
	look_close(&l);
	return rc;
}
