/*
 * descriptor.c - dray.json read: every field, limit and offset checked. Source: spec/bundle-format.md, 4 "Descriptor".
 * Writing is descriptor_write.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/descriptor.h"
#include "dray/json.h"
#include "dray/num.h"
#include "dray/slot.h"
#include "dray/tar.h"
#include "dray/trigger.h"

#define WHERE "dray.json"

/* required features this reader has */
static const char *const known_features[] = { "delta", "gzip", "history", "lzma", NULL };

/* copy a string that must be a name by @ok, of at most cap - 1 bytes */
static int
copy_name(const char *s, size_t len, bool (*ok)(const char *, size_t), char *out, size_t cap, const char *what, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(70)];

	if (len >= cap || !ok(s, len))
		return dray_fail(e, DRAY_E_FORMAT, "%s: \"%s\" is no %s", WHERE, dray_quote(s, len, q, sizeof q), what);
	memcpy(out, s, len);
	out[len] = 0;
	return 0;
}

static int
read_token(const struct dray_json *o, const char *key, char *out, size_t cap, struct dray_err *e)
{
	const char *s;
	size_t len;

	if (dray_json_str(o, key, &s, &len, WHERE, e) != 0)
		return -1;
	return copy_name(s, len, dray_token_ok, out, cap, key, e);
}

static int
read_u64(const struct dray_json *o, const char *key, uint64_t min, uint64_t max, uint64_t *out, struct dray_err *e)
{
	int64_t n;

	if (dray_json_int(o, key, (int64_t)min, (int64_t)max, &n, WHERE, e) != 0)
		return -1;
	*out = (uint64_t)n;
	return 0;
}

/* an array of distinct tokens; @ascending: in strict byte order */
static int
read_names(const struct dray_json *o, const char *key, bool (*ok)(const char *, size_t), size_t min, size_t max, bool ascending,
    char (*out)[65], size_t *count, struct dray_err *e)
{
	const struct dray_json *a;
	size_t n, len;

	if (dray_json_arr(o, key, &a, &n, WHERE, e) != 0)
		return -1;
	if (n < min || n > max)
		return dray_fail(e, DRAY_E_FORMAT, "%s: %s has %zu names, %zu to %zu are allowed", WHERE, key, n, min, max);
	for (size_t i = 0; i < n; i++) {
		const char *s = dray_json_text(dray_json_at(a, i), &len);

		if (s == NULL)
			return dray_fail(e, DRAY_E_FORMAT, "%s: %s holds something that is no string", WHERE, key);
		if (copy_name(s, len, ok, out[i], sizeof out[i], key, e) != 0)
			return -1;
		for (size_t j = 0; j < i; j++)
			if (strcmp(out[j], out[i]) == 0)
				return dray_fail(e, DRAY_E_FORMAT, "%s: %s names %s twice", WHERE, key, out[i]);
		if (ascending && i > 0 && strcmp(out[i - 1], out[i]) > 0)
			return dray_fail(e, DRAY_E_FORMAT, "%s: %s is not in ascending order", WHERE, key);
	}
	*count = n;
	return 0;
}

/* format and features come before all else, so that a newer document is told as newer and not as damaged */
static int
read_version(const struct dray_json *o, struct dray_desc *d, struct dray_err *e)
{
	static const char *const keys[] = { "optional", "required", NULL };
	const struct dray_json *f;

	if (dray_json_int(o, "format", 1, INT64_MAX, &d->format, WHERE, e) != 0)
		return -1;
	if (d->format > DRAY_FORMAT_VERSION) {
		dray_fail(e, DRAY_E_NEWER, "the bundle has format %" PRId64 ", this program reads format %d", d->format,
		    DRAY_FORMAT_VERSION);
		return dray_hint(e, "use a newer dray-install");
	}
	if (dray_json_obj(o, "features", &f, WHERE, e) != 0 || dray_json_only(f, keys, WHERE ": features", e) != 0 ||
	    read_names(f, "required", dray_token_ok, 0, DRAY_MAX_FEATURES, true, d->required, &d->n_required, e) != 0 ||
	    read_names(f, "optional", dray_token_ok, 0, DRAY_MAX_FEATURES, true, d->optional, &d->n_optional, e) != 0)
		return -1;
	for (size_t i = 0; i < d->n_required; i++) {
		size_t k = 0;

		while (known_features[k] != NULL && strcmp(known_features[k], d->required[i]) != 0)
			k++;
		if (known_features[k] == NULL) {
			dray_fail(e, DRAY_E_NEWER, "the bundle needs the feature \"%s\", which this program lacks",
			    d->required[i]);
			return dray_hint(e, "use a newer dray-install");
		}
	}
	return 0;
}

static int
read_identity(const struct dray_json *o, struct dray_desc *d, struct dray_err *e)
{
	if (read_token(o, "product", d->product, sizeof d->product, e) != 0 ||
	    read_token(o, "version", d->version, sizeof d->version, e) != 0 ||
	    read_token(o, "os", d->os, sizeof d->os, e) != 0 ||
	    read_u64(o, "counter", 1, INT64_MAX, &d->counter, e) != 0 ||
	    read_u64(o, "built", 0, INT64_MAX, &d->built, e) != 0 ||
	    (dray_json_has(o, "eol") && read_u64(o, "eol", 1, DRAY_EOL_MAX, &d->eol, e) != 0) ||
	    read_names(o, "compatible", dray_token_ok, 0, 16, true, d->compatible, &d->n_compatible, e) != 0)
		return -1;
	if (strcmp(d->os, "linux") != 0 && strcmp(d->os, "freebsd") != 0 && strcmp(d->os, "any") != 0)
		return dray_fail(e, DRAY_E_FORMAT, "%s: os is \"%s\", not linux, freebsd or any", WHERE, d->os);
	for (size_t i = 0; i < d->n_compatible; i++)
		if (strcmp(d->compatible[i], d->product) == 0)
			return dray_fail(e, DRAY_E_FORMAT, "%s: compatible names the product itself", WHERE);
	return 0;
}

static int
read_bases(const struct dray_json *o, struct dray_desc *d, struct dray_err *e)
{
	static const char *const keys[] = { "counter", "kind", "version", NULL };
	const struct dray_json *a;
	const char *kind;
	size_t len;

	if (dray_json_arr(o, "bases", &a, &d->n_bases, WHERE, e) != 0)
		return -1;
	if (d->n_bases > DRAY_MAX_BASES)
		return dray_fail(e, DRAY_E_FORMAT, "%s: more than %u bases", WHERE, DRAY_MAX_BASES);
	for (size_t i = 0; i < d->n_bases; i++) {
		const struct dray_json *b = dray_json_at(a, i);
		struct dray_base *out = &d->bases[i];

		if (!dray_json_is_obj(b))
			return dray_fail(e, DRAY_E_FORMAT, "%s: bases holds something that is no object", WHERE);
		if (dray_json_only(b, keys, WHERE ": bases", e) != 0 ||
		    read_u64(b, "counter", 0, INT64_MAX, &out->counter, e) != 0 ||
		    dray_json_str(b, "kind", &kind, &len, WHERE, e) != 0 ||
		    read_token(b, "version", out->version, sizeof out->version, e) != 0)
			return -1;
		out->history = strcmp(kind, "history") == 0;
		if (!out->history && strcmp(kind, "exact") != 0)
			return dray_fail(e, DRAY_E_FORMAT, "%s: a base is neither \"exact\" nor \"history\"", WHERE);
	}
	return 0;
}

static int
read_encoders(const struct dray_json *o, struct dray_desc *d, struct dray_err *e)
{
	const struct dray_json *enc;

	if (dray_json_obj(o, "encoders", &enc, WHERE, e) != 0)
		return -1;
	d->n_encoders = dray_json_count(enc);
	if (d->n_encoders > sizeof d->encoders / sizeof d->encoders[0])
		return dray_fail(e, DRAY_E_FORMAT, "%s: more than 16 encoders", WHERE);
	for (size_t i = 0; i < d->n_encoders; i++) {
		const char *name = dray_json_key(enc, i);

		if (copy_name(name, strlen(name), dray_token_ok, d->encoders[i].name, sizeof d->encoders[i].name, "encoder", e) != 0 ||
		    read_token(enc, name, d->encoders[i].id, sizeof d->encoders[i].id, e) != 0)
			return -1;
	}
	return 0;
}

/* which members stand where: README.txt, index/00, index/01, then notes/... ascending */
static int
check_member_name(const struct dray_desc *d, size_t i, struct dray_err *e)
{
	static const char *const first[] = { "README.txt", "index/00", "index/01" };
	const char *name = d->members[i].name;
	char q[DRAY_QUOTE_CAP(101)];

	if (i < 3) {
		if (strcmp(name, first[i]) == 0)
			return 0;
		return dray_fail(e, DRAY_E_FORMAT, "%s: member %zu is \"%s\", not %s", WHERE, i,
		    dray_quote(name, strlen(name), q, sizeof q), first[i]);
	}
	/* a leading dot would make "..": tar must be able to unpack a bundle anywhere */
	if (strncmp(name, "notes/", 6) != 0 || name[6] == '.' ||
	    strspn(name + 6, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") != strlen(name + 6) ||
	    name[6] == 0)
		return dray_fail(e, DRAY_E_FORMAT, "%s: \"%s\" is no member name", WHERE,
		    dray_quote(name, strlen(name), q, sizeof q));
	if (i > 3 && strcmp(d->members[i - 1].name, name) >= 0)
		return dray_fail(e, DRAY_E_FORMAT, "%s: notes are not in ascending order", WHERE);
	return 0;
}

static int
read_member(const struct dray_json *m, struct dray_desc *d, size_t i, struct dray_err *e)
{
	static const char *const hashed[] = { "name", "offset", "sha256", "size", NULL };
	static const char *const chunked[] = { "name", "offset", "size", NULL };
	struct dray_member *out = &d->members[i];
	const char *s;
	size_t len;

	if (!dray_json_is_obj(m))
		return dray_fail(e, DRAY_E_FORMAT, "%s: members holds something that is no object", WHERE);
	if (dray_json_str(m, "name", &s, &len, WHERE, e) != 0)
		return -1;
	if (len >= sizeof out->name)
		return dray_fail(e, DRAY_E_FORMAT, "%s: a member name is too long", WHERE);
	memcpy(out->name, s, len + 1);
	if (check_member_name(d, i, e) != 0)
		return -1;
	out->by_chunks = i == 2;
	if (dray_json_only(m, out->by_chunks ? chunked : hashed, WHERE ": members", e) != 0 ||
	    read_u64(m, "offset", 0, INT64_MAX, &out->offset, e) != 0 ||
	    read_u64(m, "size", 0, DRAY_TAR_MEMBER_MAX, &out->size, e) != 0)
		return -1;
	if (out->by_chunks)
		return 0;
	if (dray_json_str(m, "sha256", &s, &len, WHERE, e) != 0)
		return -1;
	if (!dray_unhex(s, len, out->sha256, sizeof out->sha256))
		return dray_fail(e, DRAY_E_FORMAT, "%s: sha256 of %s is not 64 lower case hex digits", WHERE, out->name);
	return 0;
}

uint64_t
dray_desc_head(const struct dray_desc *d)
{
	const struct dray_member *m = &d->members[d->n_members - 1];

	/* read_members, or the layout, has kept these far from overflow */
	return m->offset + (m->size + DRAY_TAR_BLOCK - 1) / DRAY_TAR_BLOCK * DRAY_TAR_BLOCK;
}

/* there is one place where each member can stand, so the offsets are computed and compared */
static int
read_members(const struct dray_json *o, struct dray_desc *d, size_t json_len, struct dray_err *e)
{
	const struct dray_json *a;
	uint64_t at, step;

	if (dray_json_arr(o, "members", &a, &d->n_members, WHERE, e) != 0)
		return -1;
	if (d->n_members < 3 || d->n_members > DRAY_MAX_MEMBERS)
		return dray_fail(e, DRAY_E_FORMAT, "%s: %zu members, 3 to %u are possible", WHERE, d->n_members,
		    DRAY_MAX_MEMBERS);
	if (!dray_round_up(json_len, DRAY_TAR_BLOCK, &at))
		return dray_fail(e, DRAY_E_FORMAT, "%s is too long", WHERE);
	at += 3 * DRAY_TAR_BLOCK + d->slot;
	for (size_t i = 0; i < d->n_members; i++) {
		if (read_member(dray_json_at(a, i), d, i, e) != 0)
			return -1;
		if (d->members[i].offset != at)
			return dray_fail(e, DRAY_E_FORMAT, "%s: %s is said to be at byte %" PRIu64 ", it can only be at %" PRIu64,
			    WHERE, d->members[i].name, d->members[i].offset, at);
		if (!dray_round_up(d->members[i].size, DRAY_TAR_BLOCK, &step) || !dray_add(at, step, &at) ||
		    !dray_add(at, DRAY_TAR_BLOCK, &at))
			return dray_fail(e, DRAY_E_FORMAT, "%s: %s is too long", WHERE, d->members[i].name);
	}
	at -= DRAY_TAR_BLOCK;	/* end of the last member */
	/* every block has a header and at least one byte, which takes a whole tar block */
	if (d->length < at + DRAY_TAR_END || (d->length - at - DRAY_TAR_END) / (2 * DRAY_TAR_BLOCK) < d->blocks ||
	    (d->blocks == 0 && d->length != at + DRAY_TAR_END))
		return dray_fail(e, DRAY_E_FORMAT, "%s: a length of %" PRIu64 " does not fit the members", WHERE, d->length);
	return 0;
}

static bool
has_feature(const struct dray_desc *d, const char *name)
{
	for (size_t i = 0; i < d->n_required; i++)
		if (strcmp(d->required[i], name) == 0)
			return true;
	for (size_t i = 0; i < d->n_optional; i++)
		if (strcmp(d->optional[i], name) == 0)
			return true;
	return false;
}

static bool
has_phase(const struct dray_desc *d, const char *name)
{
	for (size_t i = 0; i < d->n_phases; i++)
		if (strcmp(d->phases[i], name) == 0)
			return true;
	return false;
}

static int
read_triggers(const struct dray_json *a, struct dray_desc *d, struct dray_err *e)
{
	const char *phase;
	char where[48];

	if (!has_feature(d, "triggers"))
		return dray_fail(e, DRAY_E_FORMAT, "%s: triggers without the feature for them", WHERE);
	if (d->n_triggers > DRAY_MAX_TRIGGERS)
		return dray_fail(e, DRAY_E_FORMAT, "%s: more than %u triggers", WHERE, DRAY_MAX_TRIGGERS);
	for (size_t i = 0; i < d->n_triggers; i++) {
		snprintf(where, sizeof where, "%s: trigger %zu", WHERE, i + 1);
		if (dray_trigger_check(a, i, where, e) != 0)
			return -1;
		phase = dray_trigger_phase(dray_json_at(a, i));
		if (phase != NULL && !has_phase(d, phase))
			return dray_fail(e, DRAY_E_FORMAT, "%s: there is no phase %s", where, phase);
	}
	if ((d->triggers = dray_json_copy(a)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	return 0;
}

static int
read_shape(const struct dray_json *o, struct dray_desc *d, size_t json_len, struct dray_err *e)
{
	static const char *const limits[] = { "frame", "memory", "window", NULL };
	const struct dray_json *l, *t;
	const char *mode;
	size_t len;

	if (read_u64(o, "slot", 512, DRAY_SLOT_MAX, &d->slot, e) != 0 ||
	    read_u64(o, "length", 0, INT64_MAX, &d->length, e) != 0 ||
	    read_u64(o, "blocks", 0, UINT32_MAX - 1, &d->blocks, e) != 0 ||
	    dray_json_obj(o, "limits", &l, WHERE, e) != 0 || dray_json_only(l, limits, WHERE ": limits", e) != 0 ||
	    read_u64(l, "frame", 1, DRAY_FRAME_MAX, &d->limit_frame, e) != 0 ||
	    read_u64(l, "memory", 0, INT64_MAX, &d->limit_memory, e) != 0 ||
	    read_u64(l, "window", 1024, DRAY_WINDOW_MAX, &d->limit_window, e) != 0 ||
	    dray_json_str(o, "mode", &mode, &len, WHERE, e) != 0 ||
	    read_names(o, "components", dray_part_ok, 1, DRAY_MAX_COMPONENTS, false, d->components, &d->n_components, e) != 0 ||
	    read_names(o, "phases", dray_token_ok, 1, DRAY_MAX_PHASES, false, d->phases, &d->n_phases, e) != 0 ||
	    dray_json_arr(o, "triggers", &t, &d->n_triggers, WHERE, e) != 0)
		return -1;
	if (d->slot % DRAY_TAR_BLOCK != 0 || d->length % DRAY_TAR_BLOCK != 0)
		return dray_fail(e, DRAY_E_FORMAT, "%s: slot and length must be multiples of 512", WHERE);
	d->slim = strcmp(mode, "slim") == 0;
	if (!d->slim && strcmp(mode, "complete") != 0)
		return dray_fail(e, DRAY_E_FORMAT, "%s: mode is neither \"complete\" nor \"slim\"", WHERE);
	if (d->n_triggers != 0 && read_triggers(t, d, e) != 0)
		return -1;
	return read_members(o, d, json_len, e);
}

struct dray_desc *
dray_desc_new(void)
{
	return calloc(1, sizeof(struct dray_desc));
}

void
dray_desc_free(struct dray_desc *d)
{
	if (d == NULL)
		return;
	dray_json_free(d->triggers);
	free(d);
}

int
dray_desc_parse(const char *text, size_t len, struct dray_desc **out, struct dray_err *e)
{
	static const char *const keys[] = { "bases", "blocks", "built", "compatible", "components", "counter",
		"encoders", "eol", "features", "format", "length", "limits", "members", "mode", "os", "phases", "product", "slot",
		"triggers", "version", NULL };
	struct dray_json *o = NULL;
	struct dray_desc *d = NULL;
	int rc = -1;

	*out = NULL;
	if (len == 0 || len > DRAY_DESC_MAX_BYTES)
		return dray_fail(e, DRAY_E_FORMAT, "%s: %zu bytes, 1 to %u are possible", WHERE, len, DRAY_DESC_MAX_BYTES);
	if (dray_json_parse(text, len, true, &o, e) != 0) {
		dray_wrap(e, WHERE);
		goto out;
	}
	if (!dray_json_is_obj(o)) {
		dray_fail(e, DRAY_E_FORMAT, "%s is no object", WHERE);
		goto out;
	}
	if ((d = dray_desc_new()) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	if (read_version(o, d, e) != 0 || dray_json_only(o, keys, WHERE, e) != 0 || read_identity(o, d, e) != 0 ||
	    read_bases(o, d, e) != 0 || read_encoders(o, d, e) != 0 || read_shape(o, d, len, e) != 0)
		goto out;
	*out = d;
	d = NULL;
	rc = 0;
out:
	dray_desc_free(d);
	dray_json_free(o);
	return rc;
}
