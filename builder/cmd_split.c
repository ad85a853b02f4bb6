/*
 * cmd_split.c - dray split: a bundle as volumes of one size, so that it fits on media that are smaller than it, or on file
 * systems that cannot hold it. Source: spec/cli.md, "Media"; spec/bundle-format.md, 12 "Volumes".
 */
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/media.h"
#include "builder/temp.h"
#include "dray/digest.h"
#include "dray/io.h"
#include "dray/num.h"
#include "dray/volume.h"
#include "tool/look.h"

#define SMALLEST (DRAY_VOLUME_HEAD + 512u)

static const struct { const char *name; uint64_t size; } sizes[] = {
	{ "fat32", (UINT64_C(4) << 30) - 4096 },	/* a file there has at most 2^32 - 1 bytes */
	{ "dvd", UINT64_C(4480) << 20 },		/* of 4,700,372,992 bytes; the rest is for the file system */
};

struct folder {
	const char *path;	/* as given */
	dev_t dev;
	ino_t ino;
	uint64_t room;		/* bytes free at the start; of the first folder on a file system alone */
	size_t pays;		/* that folder */
};

struct split {
	struct tool_common common;
	const char *size_text, *file;
	struct tool_list dirs;
	bool replace;
	uint64_t size, total;
	uint32_t count;
	char *stem;		/* of the names of the volumes: the bundle's without ".dray" */
	struct folder *folders;
	size_t n_folders;
	size_t *in;		/* per volume its folder */
	char **paths;		/* per volume */
	char **old;		/* volumes of an earlier splitting */
	size_t n_old;
	uint32_t made;		/* volumes that have their name */
};

static int
read_size(struct split *s, struct dray_err *e)
{
	if (s->size_text == NULL) {
		dray_fail(e, DRAY_E_USAGE, "no size");
		return dray_hint(e, "say how large a volume may be: --size fat32, --size dvd, --size 700M");
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (strcmp(sizes[i].name, s->size_text) == 0) {
			s->size = sizes[i].size;
			return 0;
		}
	if (dray_parse_size(s->size_text, SMALLEST, INT64_MAX, &s->size))
		return 0;
	return dray_fail(e, DRAY_E_USAGE, "--size takes fat32, dvd or a number of bytes from %u on, with k, M or G behind it",
	    SMALLEST);
}

static uint64_t
volume_len(const struct split *s, uint32_t i)
{
	uint64_t most = s->size - DRAY_VOLUME_HEAD;

	return i + 1 < s->count ? most : s->total - most * (s->count - 1);
}

static int
count_volumes(struct split *s, struct dray_err *e)
{
	uint64_t most = s->size - DRAY_VOLUME_HEAD, n;

	if (s->total <= s->size)
		return dray_fail(e, DRAY_E_USAGE, "it has %" PRIu64 " bytes and fits as it is: nothing to split", s->total);
	n = (s->total + most - 1) / most;
	if (n > DRAY_VOLUMES_MAX) {
		dray_fail(e, DRAY_E_USAGE, "that would be %" PRIu64 " volumes; there can be %d", n, DRAY_VOLUMES_MAX);
		return dray_hint(e, "take larger ones");
	}
	s->count = (uint32_t)n;
	return 0;
}

/* by any name: what an earlier splitting left there would be the new volumes themselves, by the other name */
static bool
is_known(const struct split *s, const struct stat *st)
{
	for (size_t i = 0; i < s->n_folders; i++)
		if (s->folders[i].dev == st->st_dev && s->folders[i].ino == st->st_ino)
			return true;
	return false;
}

static int
look_at_folders(struct split *s, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)];
	struct statvfs vfs;
	struct stat st;

	if ((s->folders = calloc(s->dirs.n, sizeof(*s->folders))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < s->dirs.n; i++) {
		struct folder *f = &s->folders[s->n_folders];

		f->path = s->dirs.v[i];
		dray_quote(f->path, strlen(f->path), q, sizeof(q));
		if (stat(f->path, &st) != 0 || statvfs(f->path, &vfs) != 0)
			return dray_fail_errno(e, "folder %s", q);
		if (!S_ISDIR(st.st_mode))
			return dray_fail(e, DRAY_E_USAGE, "%s is no folder", q);
		if (is_known(s, &st))
			continue;
		f->dev = st.st_dev;
		f->ino = st.st_ino;
		if (!dray_mul(vfs.f_bavail, vfs.f_frsize, &f->room))
			f->room = UINT64_MAX;
		f->pays = s->n_folders;
		for (size_t k = s->n_folders; k-- > 0;)
			if (s->folders[k].dev == f->dev)
				f->pays = k;
		s->n_folders++;
	}
	return 0;
}

/* each folder in turn takes what it has room for */
static int
place(struct split *s, struct dray_err *e)
{
	size_t at = 0;

	if ((s->in = calloc(s->count, sizeof(*s->in))) == NULL || (s->paths = calloc(s->count, sizeof(*s->paths))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (uint32_t i = 0; i < s->count; i++) {
		uint64_t need = DRAY_VOLUME_HEAD + volume_len(s, i);
		struct folder *f;

		while (at < s->n_folders && s->folders[s->folders[at].pays].room < need)
			at++;
		if (at == s->n_folders) {
			dray_fail(e, DRAY_E_ROOM, "no room for volume %" PRIu32 " of %" PRIu32 ": it has %" PRIu64 " bytes", i + 1,
			    s->count, need);
			return dray_hint(e, "name one more folder: --dir DIR; nothing was written");
		}
		f = &s->folders[at];
		s->folders[f->pays].room -= need;
		s->in[i] = at;
		if (asprintf(&s->paths[i], "%s%s%s.part%" PRIu32 "of%" PRIu32, f->path,
		    f->path[strlen(f->path) - 1] == '/' ? "" : "/", s->stem, i + 1, s->count) == -1) {
			s->paths[i] = NULL;
			return dray_fail(e, DRAY_E_IO, "out of memory");
		}
	}
	return 0;
}

/* STEM.partNofM, with any numbers */
static bool
is_part_name(const char *name, const char *stem)
{
	size_t n = strlen(stem);

	if (strncmp(name, stem, n) != 0 || strncmp(name + n, ".part", 5) != 0)
		return false;
	name += n + 5;
	if ((n = strspn(name, "0123456789")) == 0 || strncmp(name + n, "of", 2) != 0)
		return false;
	name += n + 2;
	return (n = strspn(name, "0123456789")) > 0 && name[n] == '\0';
}

static bool
is_new(const struct split *s, const char *path)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (strcmp(s->paths[i], path) == 0)
			return true;
	return false;
}

static int
add_old(struct split *s, const char *dir, const char *name, struct dray_err *e)
{
	char *path, **v;

	if (asprintf(&path, "%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", name) == -1)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if ((v = realloc(s->old, (s->n_old + 1) * sizeof(*v))) == NULL) {
		free(path);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	s->old = v;
	v[s->n_old++] = path;
	return 0;
}

/* volumes of that name from before would be taken for parts of this splitting by people, and fill the medium */
static int
find_old(struct split *s, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)];
	struct dirent *de;
	int rc = 0;
	DIR *d;

	for (size_t i = 0; i < s->n_folders && rc == 0; i++) {
		const char *dir = s->folders[i].path;

		if ((d = opendir(dir)) == NULL)
			return dray_fail_errno(e, "folder %s", dray_quote(dir, strlen(dir), q, sizeof(q)));
		while (rc == 0 && (errno = 0, de = readdir(d)) != NULL)
			if (is_part_name(de->d_name, s->stem))
				rc = add_old(s, dir, de->d_name, e);
		if (rc == 0 && errno != 0)
			rc = dray_fail_errno(e, "folder %s", dray_quote(dir, strlen(dir), q, sizeof(q)));
		closedir(d);
	}
	if (rc != 0 || s->replace || s->n_old == 0)
		return rc;
	dray_fail(e, DRAY_E_USAGE, "%s is there already%s", dray_quote(s->old[0], strlen(s->old[0]), q, sizeof(q)),
	    s->n_old > 1 ? ", and more of them" : "");
	return dray_hint(e, "--replace takes the place of those volumes; or name another folder");
}

static int
write_one(struct split *s, const struct dray_bundle *b, uint32_t i, struct tool_progress *p, struct dray_err *e)
{
	struct dray_volume_head h = { .number = i + 1, .count = s->count, .total = s->total, .len = volume_len(s, i),
		.at = (s->size - DRAY_VOLUME_HEAD) * i };
	uint8_t head[DRAY_VOLUME_HEAD];
	char q[DRAY_QUOTE_CAP(255)];
	struct build_temp t;
	int rc = -1;

	memcpy(h.id, dray_bundle_id(b), 32);
	if (build_temp_open(s->paths[i], &t, e) == 0 &&
	    build_media_bytes(b, h.at, h.len, t.fd, DRAY_VOLUME_HEAD, p, h.sha256, e) == 0) {
		dray_volume_put(&h, head);
		if ((rc = build_temp_write(t.fd, 0, head, sizeof(head), e)) == 0)
			rc = build_temp_commit(&t, e);
	}
	build_temp_drop(&t);
	if (rc == 0)
		s->made++;
	return rc == 0 ? 0 : dray_wrap(e, "%s", dray_quote(s->paths[i], strlen(s->paths[i]), q, sizeof(q)));
}

static int
write_all(struct split *s, const struct dray_bundle *b, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)];
	struct tool_progress p;
	int rc = 0;

	tool_progress_begin(&p, &s->common, "split", s->total);
	for (uint32_t i = 0; i < s->count && rc == 0; i++)
		rc = write_one(s, b, i, &p, e);
	tool_progress_end(&p, rc == 0);
	/* some of them alone are of no use; what stood there under a new name is gone already */
	for (uint32_t i = 0; rc != 0 && i < s->made; i++)
		(void)unlink(s->paths[i]);
	for (size_t i = 0; rc == 0 && i < s->n_old; i++)
		if (!is_new(s, s->old[i]) && unlink(s->old[i]) != 0)
			rc = dray_fail_errno(e, "remove %s", dray_quote(s->old[i], strlen(s->old[i]), q, sizeof(q)));
	return rc;
}

static int
tell(const struct split *s, const struct dray_bundle *b, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)], h[32], hex[65];
	struct dray_json *o, *list, *v;

	if (s->common.json) {
		o = dray_json_new_obj();
		dray_json_set_str(o, "id", dray_hex(dray_bundle_id(b), 32, hex));
		list = dray_json_set_arr(o, "volumes");
		for (uint32_t i = 0; i < s->count; i++) {
			v = dray_json_push_obj(list);
			dray_json_set_path(v, "file", s->paths[i], strlen(s->paths[i]));
			dray_json_set_int(v, "size", (int64_t)(DRAY_VOLUME_HEAD + volume_len(s, i)));
		}
		return tool_json(o, e) == 0 ? 0 : -1;
	}
	if (s->common.quiet)
		return 0;
	for (uint32_t i = 0; i < s->count; i++)
		printf("%s: %s\n", dray_quote(s->paths[i], strlen(s->paths[i]), q, sizeof(q)),
		    tool_human(DRAY_VOLUME_HEAD + volume_len(s, i), h));
	printf("next: dray-install verify ");
	tool_shell_print(stdout, s->paths[0]);
	printf(" --keyring ops.pub");
	for (size_t i = 1; i < s->n_folders; i++) {
		printf(" -d ");
		tool_shell_print(stdout, s->folders[i].path);
	}
	putchar('\n');
	return 0;
}

size_t
build_media_stem(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && strcmp(name + n - 5, ".dray") == 0 ? n - 5 : n;
}

static int
run_open(struct split *s, const struct dray_bundle *b, struct dray_err *e)
{
	const char *one[1], *name = tool_leaf_of(s->file);
	char *own = NULL;
	int rc = -1;

	s->total = dray_bundle_desc(b)->length;
	if (s->dirs.n == 0) {
		if ((own = tool_folder_of(s->file)) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		one[0] = own;
		s->dirs = (struct tool_list){ one, 1 };
	}
	if ((s->stem = strndup(name, build_media_stem(name))) == NULL)
		dray_fail(e, DRAY_E_IO, "out of memory");
	else if (count_volumes(s, e) == 0 && look_at_folders(s, e) == 0 && place(s, e) == 0 && find_old(s, e) == 0 &&
	    write_all(s, b, e) == 0)
		rc = tell(s, b, e);
	if (own != NULL)
		s->dirs = (struct tool_list){ NULL, 0 };
	free(own);
	return rc;
}

static int
run(struct split *s, struct dray_err *e)
{
	struct dray_bundle_opts o = { .unsigned_ok = true, .no_index = true };
	struct dray_bundle *b;
	int fd, rc;

	if (read_size(s, e) != 0 || dray_crypto_init(e) != 0 || tool_bundle_fd(s->file, &fd, e) != 0)
		return -1;
	if ((rc = dray_bundle_open(fd, &o, &b, e)) == 0) {
		rc = run_open(s, b, e);
		dray_bundle_close(b);
	}
	close(fd);
	return rc;
}

static void
drop(struct split *s)
{
	for (uint32_t i = 0; s->paths != NULL && i < s->count; i++)
		free(s->paths[i]);
	for (size_t i = 0; i < s->n_old; i++)
		free(s->old[i]);
	free(s->old);
	free(s->paths);
	free(s->in);
	free(s->folders);
	free(s->stem);
}

int
build_cmd_split(int argc, char **argv, const struct tool_cmd *self)
{
	struct split s = { .file = NULL };
	struct tool_opt opts[] = {
		{ .name = "size", .kind = TOOL_TEXT, .out = &s.size_text, .arg = "SIZE",
		    .help = "bytes of a volume: fat32, dvd, or a number with k, M or G" },
		{ .name = "dir", .letter = 'd', .kind = TOOL_LIST, .out = &s.dirs, .arg = "DIR",
		    .help = "where they go; the next one takes what the one before has no room for; repeats" },
		{ .name = "replace", .kind = TOOL_FLAG, .out = &s.replace, .help = "remove the volumes of an earlier splitting" },
		{ .name = NULL },
	};
	struct dray_err e = { .code = DRAY_OK };
	char text[340], q[300];
	const char *operand[1];
	size_t n;
	int rc;

	if ((rc = tool_parse(argc, argv, self, opts, &s.common, 1, 1, operand, &n)) != -1)
		return rc;
	s.file = operand[0];
	rc = run(&s, &e);
	drop(&s);
	snprintf(text, sizeof(text), "cannot split %s", dray_quote(s.file, strlen(s.file), q, sizeof(q)));
	return rc == 0 ? 0 : tool_error(&s.common, text, &e);
}
