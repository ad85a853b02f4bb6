/*
 * scene.c - the tree that the good bundle upgrades, what a case plants in it, and a look at all that a write would change.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"

static void
must(int rc, const char *what)
{
	if (rc != 0)
		hostile_die("%s: %s", what, strerror(errno));
}

static void
join(char out[4096], const char *a, const char *b)
{
	if (snprintf(out, 4096, "%s/%s", a, b) >= 4096)
		hostile_die("%s/%s is too long", a, b);
}

static int
is_entry(const struct dirent *d)
{
	return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

static void
remove_all(const char *path)
{
	struct dirent **names;
	struct stat st;
	char sub[4096];
	int n;

	if (lstat(path, &st) != 0)
		return;
	if (!S_ISDIR(st.st_mode)) {
		must(unlink(path), path);
		return;
	}
	if ((n = scandir(path, &names, is_entry, NULL)) < 0)
		hostile_die("%s: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		join(sub, path, names[i]->d_name);
		remove_all(sub);
		free(names[i]);
	}
	free(names);
	must(rmdir(path), path);
}

static void
file_at(const char *root, const char *name, const char *text)
{
	char path[4096];

	join(path, root, name);
	hostile_save(path, text, strlen(text));
	must(chmod(path, 0644), path);
}

static void
dir_at(const char *root, const char *name)
{
	char path[4096];

	join(path, root, name);
	must(mkdir(path, 0755), path);
}

/* what base "1" of the good bundle has */
void
scene_new(const char *scene)
{
	char root[4096], one[4096], two[4096];

	remove_all(scene);
	must(mkdir(scene, 0755), scene);
	dir_at(scene, "outside");
	dir_at(scene, "outside/dir");
	file_at(scene, "outside/file", "not ours\n");
	file_at(scene, "outside/dir/copy", "not ours\n");
	dir_at(scene, "shared");
	file_at(scene, "shared/code", "abcd");
	dir_at(scene, "root");
	join(root, scene, "root");
	dir_at(root, "dir");
	file_at(root, "dir/code", "abcd");
	file_at(root, "dir/delta", GOOD_FOX);
	file_at(root, "dir/gone", "moved");
	file_at(root, "hard1", "hard");
	file_at(root, "same", "same");
	join(one, root, "hard1");
	join(two, root, "hard2");
	must(link(one, two), two);
	join(one, root, "fifo");
	must(mkfifo(one, 0644), one);
}

static void
plant(const char *scene, const char *how, const char *name, const char *text)
{
	char root[4096], path[4096], from[4096];

	join(root, scene, "root");
	join(path, root, name);
	remove_all(path);
	if (strcmp(how, "gone") == 0) {
		return;
	} else if (strcmp(how, "dir") == 0) {
		must(mkdir(path, 0755), path);
	} else if (strcmp(how, "link") == 0) {
		must(symlink(text, path), path);
	} else if (strcmp(how, "hard") == 0) {
		join(from, scene, text);
		must(link(from, path), path);
	} else if (strcmp(how, "fifo") == 0) {
		must(mkfifo(path, 0644), path);
	} else if (strcmp(how, "file") == 0) {
		file_at(root, name, text);
	} else {
		hostile_die("plant %s", how);
	}
}

void
scene_plant(const char *scene, const struct hostile_case *c)
{
	for (size_t i = 0; i < c->n_ops; i++)
		if (strcmp(c->op[i].w[0], "plant") == 0)
			plant(scene, c->op[i].w[1], c->op[i].w[2], c->op[i].n > 3 ? c->op[i].w[3] : "");
}

static void
look_at_file(const char *path, struct bytes *out)
{
	FILE *f = fopen(path, "rb");
	uint8_t buf[4096];
	size_t n;

	if (f == NULL)
		hostile_die("%s: %s", path, strerror(errno));
	while ((n = fread(buf, 1, sizeof buf, f)) > 0)
		bytes_put(out, buf, n);
	fclose(f);
}

static bool
holds(const char *dir, const char *path)
{
	const size_t len = strlen(dir);

	return strncmp(dir, path, len) == 0 && path[len] == '/' && strchr(path + len + 1, '/') == NULL;
}

void
scene_look(const char *path, const char *but, struct bytes *out)
{
	struct dirent **names;
	struct stat st;
	char to[4096];
	ssize_t len;
	int n;

	if (but != NULL && strcmp(path, but) == 0)
		return;
	must(lstat(path, &st), path);
	bytes_text(out, path);
	if (but == NULL || !holds(path, but))
		bytes_format(out, " %o %ju %ju %ju %jd.%09ld %jd.%09ld %ju %ju ", (unsigned)st.st_mode, (uintmax_t)st.st_uid,
		    (uintmax_t)st.st_gid, S_ISDIR(st.st_mode) ? 0 : (uintmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec,
		    st.st_mtim.tv_nsec, (intmax_t)st.st_ctim.tv_sec, st.st_ctim.tv_nsec, (uintmax_t)st.st_ino, (uintmax_t)st.st_nlink);
	if (S_ISLNK(st.st_mode) && (len = readlink(path, to, sizeof to)) > 0)
		bytes_put(out, to, (size_t)len);
	else if (S_ISREG(st.st_mode))
		look_at_file(path, out);
	bytes_text(out, "\n");
	if (!S_ISDIR(st.st_mode))
		return;
	if ((n = scandir(path, &names, is_entry, alphasort)) < 0)
		hostile_die("%s: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		join(to, path, names[i]->d_name);
		scene_look(to, but, out);
		free(names[i]);
	}
	free(names);
}

/* PATH with the escapes of texts; TEXT: what the file holds, or with @ before it where a symlink leads to, or ! for nothing */
static bool
is_so(const char *scene, const char *name, const char *text)
{
	struct bytes rel = { 0 }, want = { 0 }, got = { 0 };
	char path[4096], root[4096], to[4096];
	struct stat st;
	bool ok = false;

	hostile_unescape(name, &rel);
	hostile_unescape(text, &want);
	bytes_number(&rel, 0, 1);
	join(root, scene, "root");
	join(path, root, (const char *)rel.p);
	if (strcmp(text, "!") == 0) {
		ok = lstat(path, &st) != 0 && errno == ENOENT;
	} else if (*text == '@') {
		ssize_t len = readlink(path, to, sizeof to);

		ok = len > 0 && (size_t)len + 1 == want.len && memcmp(to, want.p + 1, (size_t)len) == 0;
	} else if (lstat(path, &st) == 0 && S_ISREG(st.st_mode)) {
		look_at_file(path, &got);
		ok = got.len == want.len && (got.len == 0 || memcmp(got.p, want.p, got.len) == 0);
	}
	bytes_free(&rel);
	bytes_free(&want);
	bytes_free(&got);
	return ok;
}

const char *
scene_wants(const char *scene, const struct hostile_case *c)
{
	for (size_t i = 0; i < c->n_ops; i++)
		if (strcmp(c->op[i].w[0], "want") == 0 && !is_so(scene, c->op[i].w[1], c->op[i].w[2]))
			return c->op[i].w[1];
	return NULL;
}
