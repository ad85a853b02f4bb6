/*
 * fbsd_get.c - the chain of trust of a freebsd-update server, link by link.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/fbsd_get.h"
#include "builder/fbsd_tp.h"
#include "dray/num.h"

const char *const build_fbsd_file_name[BUILD_FBSD_FILES] = { "INDEX-ALL", "INDEX-NEW", "INDEX-OLD" };

int
build_fbsd_text_begin(void *ctx, struct dray_err *e)
{
	struct build_fbsd_text *t = ctx;

	(void)e;
	t->len = 0;
	return 0;
}

int
build_fbsd_text_put(void *ctx, const uint8_t *p, size_t len, struct dray_err *e)
{
	struct build_fbsd_text *t = ctx;
	size_t cap = t->cap == 0 ? 4096 : t->cap;

	/* what is put is bounded by far less than half of all addresses */
	while (cap - t->len <= len)
		cap *= 2;
	if (cap != t->cap) {
		char *q = realloc(t->p, cap);

		if (q == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		t->p = q;
		t->cap = cap;
	}
	memcpy(t->p + t->len, p, len);
	t->len += len;
	t->p[t->len] = '\0';
	return 0;
}

void
build_fbsd_meta_free(struct build_fbsd_meta *m)
{
	if (m == NULL)
		return;
	free(m->key.p);
	free(m->sig.p);
	free(m->tindex.p);
	for (size_t i = 0; i < BUILD_FBSD_FILES; i++)
		free(m->file[i].p);
	free(m);
}

static int
read_all(int fd, struct build_fbsd_text *t, struct dray_err *e)
{
	uint8_t buf[4096];
	ssize_t n;

	t->len = 0;
	while ((n = pread(fd, buf, sizeof(buf), (off_t)t->len)) > 0)
		if (build_fbsd_text_put(t, buf, (size_t)n, e) != 0)
			return -1;
	return n == 0 ? build_fbsd_text_put(t, buf, 0, e) : dray_fail_errno(e, "cannot be read");
}

/* RELEASE/ARCH/@name, small, from the server */
static int
ask(struct build_fbsd_server *s, const struct build_fbsd_meta *m, const char *name, uint64_t max,
    struct build_fbsd_text *t, bool *there, struct dray_err *e)
{
	struct build_fbsd_new file;
	char path[400];
	int rc;

	if (build_fbsd_store_new(s->store, &file, e) != 0)
		return -1;
	snprintf(path, sizeof(path), "%s/%s", m->dir, name);
	rc = build_fbsd_plain(s, path, max, file.fd, there, e);
	if (rc == 0 && *there)
		rc = read_all(file.fd, t, e);
	build_fbsd_store_forget(s->store, &file);
	return rc;
}

/* the same, which must be there; key and tag may come from any of the mirrors */
static int
must_ask(struct build_fbsd_server *s, const struct build_fbsd_meta *m, const char *name, uint64_t max,
    struct build_fbsd_text *t, struct dray_err *e)
{
	char url[300], path[400];
	bool there;

	while (ask(s, m, name, max, t, &there, e) != 0) {
		if (e->code != DRAY_E_IO || !build_fetch_other(s->fetch))
			return -1;
		dray_err_clear(e);
	}
	if (there)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", m->dir, name);
	dray_fail(e, DRAY_E_USAGE, "the server has no %s", build_fetch_url(s->fetch, path, url, sizeof(url)));
	return dray_hint(e, "is the release named as the server names it, such as 14.0-RELEASE/amd64?");
}

static void
name_by_print(const struct build_fbsd_server *s, const char *kind, const struct build_fbsd_meta *m, char name[300])
{
	char hex[65];

	dray_hex(s->keyprint, 32, hex);
	if (m == NULL)
		snprintf(name, 300, "%s/%s", kind, hex);
	else
		snprintf(name, 300, "%s/%s/%s_%s", kind, hex, m->release, m->arch);
}

static int
get_key(struct build_fbsd_server *s, struct build_fbsd_meta *m, struct dray_err *e)
{
	char name[300], buf[DRAY_FBSD_KEY_MAX];
	uint8_t sum[32];
	long n;

	name_by_print(s, "pub", NULL, name);
	n = build_fbsd_store_read(s->store, name, buf, sizeof(buf));
	if (n >= 0) {
		if (dray_sha256_bytes(buf, (size_t)n, sum, e) != 0)
			return -1;
		if (memcmp(sum, s->keyprint, 32) == 0)
			return build_fbsd_text_put(&m->key, (const uint8_t *)buf, (size_t)n, e);
		build_fbsd_store_drop(s->store, name);
	}
	return must_ask(s, m, "pub.ssl", DRAY_FBSD_KEY_MAX, &m->key, e);
}

static int
read_tag(const struct build_fbsd_server *s, const struct build_fbsd_meta *m, const struct build_fbsd_text *sig,
    struct dray_fbsd_tag *out, struct dray_err *e)
{
	char text[DRAY_FBSD_SIG_MAX];
	size_t len;

	return dray_fbsd_recover(m->key.p, m->key.len, s->keyprint, (const uint8_t *)sig->p, sig->len, text, sizeof(text),
	    &len, e) != 0 ? -1 : dray_fbsd_tag_parse(text, len, m->arch, m->release, out, e);
}

/* the tag that was seen last; what is damaged counts as none */
static bool
last_tag(struct build_fbsd_server *s, const struct build_fbsd_meta *m, struct dray_fbsd_tag *out)
{
	struct dray_err ignored = { .code = DRAY_OK };
	char name[300], buf[DRAY_FBSD_SIG_MAX];
	struct build_fbsd_text sig = { .p = buf };
	long n;

	name_by_print(s, "tag", m, name);
	if ((n = build_fbsd_store_read(s->store, name, buf, sizeof(buf))) < 0)
		return false;
	sig.len = (size_t)n;
	return read_tag(s, m, &sig, out, &ignored) == 0;
}

static int
get_tag(struct build_fbsd_server *s, struct build_fbsd_meta *m, const struct dray_fbsd_tag *last, struct dray_err *e)
{
	char url[300], path[400], name[300];

	snprintf(path, sizeof(path), "%s/latest.ssl", m->dir);
	if (must_ask(s, m, "latest.ssl", DRAY_FBSD_SIG_MAX, &m->sig, e) != 0)
		return -1;
	if (read_tag(s, m, &m->sig, &m->tag, e) != 0)
		return dray_wrap(e, "%s", build_fetch_url(s->fetch, path, url, sizeof(url)));
	if (last == NULL || m->tag.patch >= last->patch)
		return 0;
	name_by_print(s, "tag", m, name);
	dray_fail(e, DRAY_E_FLOOR, "%s: patch level %" PRIu32 " is older than %" PRIu32 ", which was seen before",
	    build_fetch_url(s->fetch, path, url, sizeof(url)), m->tag.patch, last->patch);
	return dray_hint(e, "a mirror that lags, or somebody who wants old faults back; to take it anyway, delete %s/%s",
	    build_fbsd_store_path(s->store), name);
}

/* which files the index at @tag names; for the last one only from the store */
static int
get_tindex(struct build_fbsd_server *s, const struct build_fbsd_meta *m, const struct dray_fbsd_tag *tag,
    struct build_fbsd_text *t, struct dray_err *e)
{
	struct build_fbsd_want w = { .dir = m->dir, .kind = 't' };
	const struct build_gunzip o = { .begin = build_fbsd_text_begin, .put = build_fbsd_text_put, .ctx = t };
	uint64_t size;

	memcpy(w.sha256, tag->tindex, 32);
	return build_fbsd_object(s, &w, &o, &size, e);
}

static int
fill_text(void *ctx, struct build_gzip *g, struct dray_err *e)
{
	const struct build_fbsd_text *t = ctx;

	return build_gzip_put(g, t->p, t->len, e);
}

static int
patch_text(struct build_fbsd_server *s, const uint8_t wanted[32], const struct build_fbsd_text *old, int fd,
    struct dray_err *e)
{
	struct build_fbsd_text patch = { .p = NULL }, made = { .p = NULL };
	const struct build_gunzip o = { .max = DRAY_FBSD_INDEX_MAX, .put = build_fbsd_text_put, .ctx = &patch };
	uint8_t sum[32];
	uint64_t size;
	char name[100];
	int rc = -1;

	if (build_gunzip_fd(fd, &o, s->h, sum, &size, e) == 0 && build_fbsd_text_put(&patch, sum, 0, e) == 0 &&
	    build_fbsd_tp_apply(old->p, old->len, patch.p, patch.len, &made.p, &made.len, e) == 0 &&
	    dray_sha256_once(s->h, made.p, made.len, sum, e) == 0)
		rc = memcmp(sum, wanted, 32) == 0 ? 0 : dray_fail(e, DRAY_E_FORMAT, "the patched file has another hash");
	/* kept as the server would have sent it */
	if (rc == 0) {
		build_fbsd_name('m', wanted, name);
		rc = build_fbsd_store_deflate(s->store, name, fill_text, &made, e);
	}
	free(patch.p);
	free(made.p);
	return rc;
}

/*
 * By a patch on the file that was the newest last time, if the server has one: some kilobytes instead of megabytes.
 * Whatever does not fit, the whole file is fetched instead.
 */
static int
try_patch(struct build_fbsd_server *s, const struct build_fbsd_meta *m, const uint8_t old_sum[32],
    const uint8_t sum[32], struct dray_err *e)
{
	struct build_fbsd_text old = { .p = NULL };
	const struct build_gunzip o = { .begin = build_fbsd_text_begin, .put = build_fbsd_text_put, .ctx = &old };
	struct build_fbsd_want w = { .dir = m->dir, .kind = 'm' };
	struct dray_err why = { .code = DRAY_OK };
	char path[400], name[100], a[65], b[65];
	struct build_fbsd_new file;
	bool there = false;
	uint64_t size;
	int rc;

	build_fbsd_name('m', sum, name);
	if (build_fbsd_store_has(s->store, name))
		return 0;
	build_fbsd_name('m', old_sum, name);
	if (!build_fbsd_store_has(s->store, name))
		return 0;
	if (build_fbsd_store_new(s->store, &file, e) != 0)
		return -1;
	snprintf(path, sizeof(path), "%s/tp/%s-%s.gz", m->dir, dray_hex(old_sum, 32, a), dray_hex(sum, 32, b));
	rc = build_fbsd_plain(s, path, DRAY_FBSD_INDEX_MAX, file.fd, &there, e);
	memcpy(w.sha256, old_sum, 32);
	if (rc == 0 && there && build_fbsd_object(s, &w, &o, &size, &why) == 0)
		(void)patch_text(s, sum, &old, file.fd, &why);
	build_fbsd_store_forget(s->store, &file);
	free(old.p);
	return rc;
}

static int
get_file(struct build_fbsd_server *s, struct build_fbsd_meta *m, enum build_fbsd_file i, const struct build_fbsd_text *last,
    struct dray_err *e)
{
	const struct build_gunzip o = { .begin = build_fbsd_text_begin, .put = build_fbsd_text_put, .ctx = &m->file[i] };
	struct build_fbsd_want w = { .dir = m->dir, .kind = 'm' };
	struct dray_err ignored = { .code = DRAY_OK };
	uint8_t old_sum[32];
	char hex[65];
	uint64_t size;

	if (dray_fbsd_tindex_find(m->tindex.p, m->tindex.len, build_fbsd_file_name[i], m->sha256[i], e) != 0)
		return dray_wrap(e, "%s/t/%s", m->dir, dray_hex(m->tag.tindex, 32, hex));
	if (last->p != NULL &&
	    dray_fbsd_tindex_find(last->p, last->len, build_fbsd_file_name[i], old_sum, &ignored) == 0 &&
	    try_patch(s, m, old_sum, m->sha256[i], e) != 0)
		return -1;
	memcpy(w.sha256, m->sha256[i], 32);
	/* an empty file is a text too */
	return build_fbsd_object(s, &w, &o, &size, e) != 0 ? -1 : build_fbsd_text_put(&m->file[i], old_sum, 0, e);
}

static int
get_all(struct build_fbsd_server *s, struct build_fbsd_meta *m, const bool wanted[BUILD_FBSD_FILES], struct dray_err *e)
{
	struct build_fbsd_text last_index = { .p = NULL };
	struct dray_err ignored = { .code = DRAY_OK };
	struct dray_fbsd_tag last;
	char name[300];
	int rc = -1;
	bool known;

	if (get_key(s, m, e) != 0)
		return -1;
	known = last_tag(s, m, &last);
	if (get_tag(s, m, known ? &last : NULL, e) != 0)
		return -1;
	name_by_print(s, "pub", NULL, name);
	if (!build_fbsd_store_has(s->store, name) && build_fbsd_store_write(s->store, name, m->key.p, m->key.len, e) != 0)
		return -1;
	if (known && memcmp(last.tindex, m->tag.tindex, 32) != 0) {
		build_fbsd_name('t', last.tindex, name);
		if (build_fbsd_store_has(s->store, name) && get_tindex(s, m, &last, &last_index, &ignored) != 0)
			last_index.len = 0;
	}
	if (get_tindex(s, m, &m->tag, &m->tindex, e) != 0)
		goto out;
	for (enum build_fbsd_file i = 0; i < BUILD_FBSD_FILES; i++)
		if (wanted[i] && get_file(s, m, i, &last_index, e) != 0)
			goto out;
	/* last, so that the next run finds the way from here to what is newer then */
	name_by_print(s, "tag", m, name);
	rc = build_fbsd_store_write(s->store, name, m->sig.p, m->sig.len, e);
out:
	free(last_index.p);
	return rc;
}

int
build_fbsd_meta_get(struct build_fbsd_server *s, const char *release, const char *arch,
    const bool wanted[BUILD_FBSD_FILES], struct build_fbsd_meta **out, struct dray_err *e)
{
	struct build_fbsd_meta *m;

	*out = NULL;
	if (!dray_fbsd_release_ok(release) || !dray_fbsd_release_ok(arch) || strlen(arch) >= sizeof(m->arch))
		return dray_fail(e, DRAY_E_USAGE, "no release and architecture, such as 14.0-RELEASE/amd64");
	if ((m = calloc(1, sizeof(*m))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	snprintf(m->release, sizeof(m->release), "%s", release);
	snprintf(m->arch, sizeof(m->arch), "%s", arch);
	snprintf(m->dir, sizeof(m->dir), "%s/%s", release, arch);
	if (get_all(s, m, wanted, e) != 0) {
		build_fbsd_meta_free(m);
		return -1;
	}
	*out = m;
	return 0;
}

struct dray_fbsd_list
build_fbsd_list(const struct build_fbsd_meta *m, enum build_fbsd_file which)
{
	return (struct dray_fbsd_list){ .file = build_fbsd_file_name[which], .of = m->dir, .p = m->file[which].p,
		.len = m->file[which].len, .tree = which == BUILD_FBSD_ALL };
}
