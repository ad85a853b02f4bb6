/* anchor.c - what the tree is known to be: the floors, and the installed release with the head of its bundle */
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/json.h"
#include "dray/num.h"

#include "installer/files.h"
#include "installer/state.h"

#define ANCHOR "anchor.json"
#define MAX_BYTES (64u * 1024u)

static int
read_token(const struct dray_json *o, const char *key, char out[65], struct dray_err *e)
{
	const char *s;
	size_t len;

	if (dray_json_str(o, key, &s, &len, ANCHOR, e) != 0)
		return -1;
	if (!dray_token_ok(s, len))
		return dray_fail(e, DRAY_E_FORMAT, "\"%s\" is not a product or version name", key);
	memcpy(out, s, len + 1);
	return 0;
}

/* a hash that older records lack */
static int
read_hash(const struct dray_json *o, const char *key, uint8_t out[32], struct dray_err *e)
{
	const char *hex;
	size_t len;

	if (!dray_json_has(o, key))
		return 0;
	if (dray_json_str(o, key, &hex, &len, ANCHOR, e) != 0)
		return -1;
	return dray_unhex(hex, len, out, 32) ? 0 : dray_fail(e, DRAY_E_FORMAT, "\"%s\" is not 64 hex digits", key);
}

static bool
all_zero(const uint8_t hash[32])
{
	static const uint8_t zero[32];

	return memcmp(hash, zero, sizeof(zero)) == 0;
}

static int
read_components(const struct dray_json *o, const char *key, bool present, struct inst_installed *in, struct dray_err *e)
{
	const struct dray_json *list;
	const char *s;
	size_t count, len;

	if (!dray_json_has(o, key))
		return 0;
	if (dray_json_arr(o, key, &list, &count, ANCHOR, e) != 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		s = dray_json_text(dray_json_at(list, i), &len);
		if (s == NULL || !dray_part_ok(s, len) || in->n_components == DRAY_MAX_COMPONENTS)
			return dray_fail(e, DRAY_E_FORMAT, "\"%s\" is not a list of components", key);
		memcpy(in->components[in->n_components].name, s, len + 1);
		in->components[in->n_components++].present = present;
	}
	return 0;
}

static int
read_installed(const struct dray_json *o, struct inst_installed *in, struct dray_err *e)
{
	int64_t n;

	if (read_token(o, "product", in->product, e) != 0 || read_token(o, "version", in->version, e) != 0 ||
	    dray_json_int(o, "counter", 1, INT64_MAX, &n, ANCHOR, e) != 0)
		return -1;
	if (!dray_json_has(o, "id"))
		return dray_fail(e, DRAY_E_FORMAT, "\"id\" is missing");
	if (read_hash(o, "id", in->id, e) != 0 || read_hash(o, "release", in->release, e) != 0)
		return -1;
	if (dray_json_has(o, "no_owner") && dray_json_bool(o, "no_owner", &in->no_owner, ANCHOR, e) != 0)
		return -1;
	if (read_components(o, "components", true, in, e) != 0 || read_components(o, "components_absent", false, in, e) != 0)
		return -1;
	in->counter = (uint64_t)n;
	in->known = true;
	return 0;
}

static int
read_tip(const struct dray_json *o, struct inst_anchor *a, struct dray_err *e)
{
	const struct dray_json *tip;
	const char *hex;
	size_t len;
	int64_t n;

	if (dray_json_obj(o, "evidence", &tip, ANCHOR, e) != 0 ||
	    dray_json_int(tip, "records", 1, INT64_MAX, &n, ANCHOR, e) != 0 ||
	    dray_json_str(tip, "last", &hex, &len, ANCHOR, e) != 0)
		return -1;
	if (!dray_unhex(hex, len, a->last, sizeof(a->last)))
		return dray_fail(e, DRAY_E_FORMAT, "\"last\" is not 64 hex digits");
	a->records = (uint64_t)n;
	return 0;
}

static int
read_anchor(const struct dray_json *o, struct inst_anchor *a, struct dray_err *e)
{
	const struct dray_json *list, *sub;
	int64_t n;
	size_t i, count;

	if (dray_json_int(o, "dray_anchor", 1, 1, &n, ANCHOR, e) != 0 ||
	    dray_json_arr(o, "floors", &list, &count, ANCHOR, e) != 0)
		return -1;
	if (count > sizeof(a->floors) / sizeof(a->floors[0]))
		return dray_fail(e, DRAY_E_FORMAT, "too many floors");
	for (i = 0; i < count; i++) {
		sub = dray_json_at(list, i);
		if (!dray_json_is_obj(sub))
			return dray_fail(e, DRAY_E_FORMAT, "floor %zu is not an object", i);
		if (read_token(sub, "product", a->floors[i].product, e) != 0 ||
		    read_hash(sub, "release", a->floors[i].release, e) != 0 ||
		    dray_json_int(sub, "counter", 1, INT64_MAX, &n, ANCHOR, e) != 0)
			return -1;
		a->floors[i].counter = (uint64_t)n;
		a->n_floors = i + 1;
	}
	if (dray_json_has(o, "evidence") && read_tip(o, a, e) != 0)
		return -1;
	if (!dray_json_has(o, "installed"))
		return 0;
	if (dray_json_obj(o, "installed", &sub, ANCHOR, e) != 0)
		return -1;
	return read_installed(sub, &a->installed, e);
}

int
inst_anchor_load(const struct inst_state *s, struct inst_anchor *a, struct dray_err *e)
{
	struct dray_json *doc = NULL;
	uint8_t *p = NULL;
	size_t len;
	int r;

	*a = (struct inst_anchor){ 0 };
	if (s->dir == -1)
		return 0;
	r = inst_read_file(s->dir, ANCHOR, MAX_BYTES, &p, &len, e);
	if (r == 1) {
		a->lost = faccessat(s->dir, "release", F_OK, AT_SYMLINK_NOFOLLOW) == 0;	/* made by the first upgrade's end */
		return 0;
	}
	if (r == 0 && (r = dray_json_parse((const char *)p, len, false, &doc, e)) == 0)
		r = dray_json_is_obj(doc) ? read_anchor(doc, a, e) : dray_fail(e, DRAY_E_FORMAT, "not a JSON object");
	dray_json_free(doc);
	free(p);
	if (r != 0) {
		dray_wrap(e, "%s/%s", s->rel, ANCHOR);
		if (e->code == DRAY_E_IO)	/* of the disk, or for want of memory: nothing is known of the file */
			return -1;
		e->code = DRAY_E_SYSTEM;
		return dray_hint(e, "put the file back from a backup; deleting it drops the downgrade floor");
	}
	return 0;
}

static void
set_hash(struct dray_json *o, const char *key, const uint8_t hash[32])
{
	char hex[2 * 32 + 1];

	if (!all_zero(hash))
		dray_json_set_str(o, key, dray_hex(hash, 32, hex));
}

static void
set_components(struct dray_json *o, const struct inst_installed *in)
{
	struct dray_json *here, *absent;

	if (in->n_components == 0)
		return;
	here = dray_json_set_arr(o, "components");
	absent = dray_json_set_arr(o, "components_absent");
	for (size_t i = 0; i < in->n_components; i++)
		dray_json_push_str(in->components[i].present ? here : absent, in->components[i].name);
}

void
inst_anchor_json(const struct inst_anchor *a, struct dray_json *doc)
{
	struct dray_json *list, *o;
	char hex[2 * 32 + 1];
	size_t i;

	dray_json_set_int(doc, "dray_anchor", 1);
	list = dray_json_set_arr(doc, "floors");
	for (i = 0; i < a->n_floors; i++) {
		o = dray_json_push_obj(list);
		dray_json_set_str(o, "product", a->floors[i].product);
		dray_json_set_int(o, "counter", (int64_t)a->floors[i].counter);
		set_hash(o, "release", a->floors[i].release);
	}
	if (a->records > 0) {
		o = dray_json_set_obj(doc, "evidence");
		dray_json_set_int(o, "records", (int64_t)a->records);
		dray_json_set_str(o, "last", dray_hex(a->last, 32, hex));
	}
	if (a->installed.known) {
		o = dray_json_set_obj(doc, "installed");
		dray_json_set_str(o, "product", a->installed.product);
		dray_json_set_str(o, "version", a->installed.version);
		dray_json_set_int(o, "counter", (int64_t)a->installed.counter);
		dray_json_set_str(o, "id", dray_hex(a->installed.id, 32, hex));
		set_hash(o, "release", a->installed.release);
		if (a->installed.no_owner)
			dray_json_set_bool(o, "no_owner", true);
		set_components(o, &a->installed);
	}
}

int
inst_anchor_save(const struct inst_state *s, const struct inst_anchor *a, struct dray_err *e)
{
	struct dray_json *doc = dray_json_new_obj();
	char *text = NULL;
	size_t len;
	int rc;

	inst_anchor_json(a, doc);
	rc = dray_json_write(doc, &text, &len, e);
	dray_json_free(doc);
	if (rc == 0)
		rc = inst_write_file(s->dir, ANCHOR, text, len, 0600, e);
	free(text);
	return rc == 0 ? 0 : dray_wrap(e, "%s/%s", s->rel, ANCHOR);
}

void
inst_installed_of(const struct dray_bundle *b, struct inst_installed *in)
{
	const struct dray_desc *d = dray_bundle_desc(b);

	*in = (struct inst_installed){ .known = true, .counter = d->counter };
	memcpy(in->product, d->product, sizeof(in->product));
	memcpy(in->version, d->version, sizeof(in->version));
	memcpy(in->id, dray_bundle_id(b), sizeof(in->id));
}

void
inst_installed_json(struct dray_json *o, const char *key, const struct inst_installed *in)
{
	struct dray_json *i;
	char hex[65];

	if (!in->known)
		return;
	i = dray_json_set_obj(o, key);
	dray_json_set_str(i, "product", in->product);
	dray_json_set_str(i, "version", in->version);
	dray_json_set_int(i, "counter", (int64_t)in->counter);
	dray_json_set_str(i, "bundle_id", dray_hex(in->id, 32, hex));
	set_components(i, in);
}

const struct inst_floor *
inst_anchor_floor(const struct inst_anchor *a, const char *product)
{
	for (size_t i = 0; i < a->n_floors; i++)
		if (strcmp(a->floors[i].product, product) == 0)
			return &a->floors[i];
	return NULL;
}

int
inst_anchor_raise(struct inst_anchor *a, const struct inst_installed *now, struct dray_err *e)
{
	struct inst_floor *f;
	size_t i;

	for (i = 0; i < a->n_floors; i++)
		if (strcmp(a->floors[i].product, now->product) == 0)
			break;
	if (i == sizeof(a->floors) / sizeof(a->floors[0]))
		return dray_fail(e, DRAY_E_SYSTEM, "floors of %zu products are recorded; no room for %s", i, now->product);
	f = &a->floors[i];
	if (i == a->n_floors) {
		*f = (struct inst_floor){ .counter = 0 };
		memcpy(f->product, now->product, sizeof(f->product));
		a->n_floors++;
	}
	if (now->counter > f->counter) {
		f->counter = now->counter;
		memcpy(f->release, now->release, sizeof(f->release));
	}
	return 0;
}

int
inst_head_open(const struct inst_state *s, const uint8_t id[32], int *fd, struct dray_bundle **b, struct dray_err *e)
{
	struct dray_bundle_opts o = { .head_only = true, .expect_id = id, .threads = 2 };
	char name[2 * 32 + 32], hex[2 * 32 + 1];
	struct stat st;

	*b = NULL;
	*fd = -1;
	snprintf(name, sizeof(name), "release/%s.head", dray_hex(id, 32, hex));
	/* a pipe in its place is not waited for */
	if (s->dir != -1 && (*fd = openat(s->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) == -1 &&
	    errno != ENOENT && errno != ENOTDIR && !inst_no_file(errno))
		return dray_fail_errno(e, "open %s/%s", s->rel, name);
	if (*fd != -1 && (fstat(*fd, &st) == -1 || !S_ISREG(st.st_mode))) {
		close(*fd);
		*fd = -1;
	}
	if (*fd == -1) {
		dray_fail(e, DRAY_E_SYSTEM, "no record of what is installed in %s", s->rel);
		return dray_hint(e, "give the bundle: dray-install check BUNDLE --root %s", s->root_path);
	}
	if (dray_bundle_open(*fd, &o, b, e) != 0) {
		close(*fd);
		*fd = -1;
		return dray_wrap(e, "%s/%s", s->rel, name);
	}
	return 0;
}
