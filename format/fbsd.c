/*
 * fbsd.c - tag, metadata index and metadata lines of a freebsd-update server.
 */
#include <inttypes.h>
#include <string.h>

#include "dray/fbsd.h"
#include "dray/num.h"
#include "dray/path.h"

const char dray_fbsd_keyprint[65] = "800651ef4b4c71c27e60786d7b487188970f4b4169cc055784e21eb71d410cc5";

struct field {
	const char *p;
	size_t len;
};

bool
dray_fbsd_name_ok(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		bool plain = (p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z');

		if (!plain && (p[i] == '\0' || strchr("-+./:=,%@_[~", p[i]) == NULL))
			return false;
	}
	return true;
}

bool
dray_fbsd_release_ok(const char *p)
{
	size_t len = strlen(p);

	if (len == 0 || len > 64 || p[0] == '.' || p[0] == '-')
		return false;
	return strspn(p, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._-") == len;
}

/* split at '|' into at most @cap fields. Return: how many there are, cap + 1 for more */
static size_t
split(const char *p, size_t len, struct field *v, size_t cap)
{
	size_t n = 0;

	for (;;) {
		const char *bar = memchr(p, '|', len);
		size_t part = bar != NULL ? (size_t)(bar - p) : len;

		if (n == cap)
			return cap + 1;
		v[n++] = (struct field){ p, part };
		if (bar == NULL)
			return n;
		p = bar + 1;
		len -= part + 1;
	}
}

static bool
is(const struct field *f, const char *text)
{
	return f->len == strlen(text) && memcmp(f->p, text, f->len) == 0;
}

/* digits of @base; leading zeros are no harm */
static bool
number(const struct field *f, unsigned base, uint64_t max, uint64_t *out)
{
	uint64_t n = 0;

	if (f->len == 0)
		return false;
	for (size_t i = 0; i < f->len; i++) {
		unsigned d = (unsigned)(unsigned char)f->p[i] - '0';

		if (d >= base || n > (max - d) / base)
			return false;
		n = n * base + d;
	}
	*out = n;
	return true;
}

static bool
number32(const struct field *f, unsigned base, uint32_t *out)
{
	uint64_t n;

	if (!number(f, base, UINT32_MAX, &n))
		return false;
	*out = (uint32_t)n;
	return true;
}

static bool
hash(const struct field *f, uint8_t out[32])
{
	return f->len == 64 && dray_unhex(f->p, f->len, out, 32);
}

int
dray_fbsd_tag_parse(const char *text, size_t len, const char *arch, const char *release, struct dray_fbsd_tag *out,
    struct dray_err *e)
{
	struct field f[6];
	char quoted[120];
	uint64_t n;

	if (len == 0 || text[len - 1] != '\n' || memchr(text, '\n', len - 1) != NULL)
		return dray_fail(e, DRAY_E_FORMAT, "the tag is not one line");
	len--;
	if (split(text, len, f, 6) != 6 || !is(&f[0], "freebsd-update"))
		return dray_fail(e, DRAY_E_FORMAT, "the tag \"%s\" has not the form freebsd-update|arch|release|patch|hash|eol",
		    dray_quote(text, len, quoted, sizeof(quoted)));
	if ((arch != NULL && !is(&f[1], arch)) || (release != NULL && !is(&f[2], release)))
		return dray_fail(e, DRAY_E_FORMAT, "the tag \"%s\" is not for %s/%s",
		    dray_quote(text, len, quoted, sizeof(quoted)), release, arch);
	if (f[1].len >= sizeof(out->arch) || f[2].len >= sizeof(out->release))
		return dray_fail(e, DRAY_E_FORMAT, "the tag names a release or architecture that is too long");
	memset(out, 0, sizeof(*out));
	memcpy(out->arch, f[1].p, f[1].len);
	memcpy(out->release, f[2].p, f[2].len);
	if (!dray_fbsd_release_ok(out->arch) || !dray_fbsd_release_ok(out->release))
		return dray_fail(e, DRAY_E_FORMAT, "the tag names no release and architecture");
	/* a counter of releases has five digits for it */
	if (!number(&f[3], 10, 99999, &n))
		return dray_fail(e, DRAY_E_FORMAT, "the tag has no patch level from 0 to 99999");
	out->patch = (uint32_t)n;
	if (!hash(&f[4], out->tindex))
		return dray_fail(e, DRAY_E_FORMAT, "the tag has no SHA-256 of the metadata index");
	if (!number(&f[5], 10, INT64_MAX, &n))
		return dray_fail(e, DRAY_E_FORMAT, "the tag has no end of life in seconds");
	out->eol = (int64_t)n;
	return 0;
}

int
dray_fbsd_tindex_find(const char *text, size_t len, const char *name, uint8_t out[32], struct dray_err *e)
{
	size_t at = 0, found = 0;

	while (at < len) {
		const char *nl = memchr(text + at, '\n', len - at);
		size_t line = nl != NULL ? (size_t)(nl - text) - at : len - at;
		struct field f[2];

		if (split(text + at, line, f, 2) >= 1 && is(&f[0], name)) {
			if (split(text + at, line, f, 2) != 2 || !hash(&f[1], out))
				return dray_fail(e, DRAY_E_FORMAT, "the line of %s holds no SHA-256", name);
			found++;
		}
		at += line + (nl != NULL ? 1 : 0);
	}
	if (found == 1)
		return 0;
	return dray_fail(e, DRAY_E_FORMAT, found == 0 ? "%s is not in it" : "%s stands in it more than once", name);
}

/* "/a/b/" -> "a/b"; the empty one and "/" are the root */
static bool
take_path(const struct field *f, const char **p, uint32_t *len, const char **why)
{
	const char *at = f->p;
	size_t n = f->len;

	if (!dray_fbsd_name_ok(at, n)) {
		*why = "a byte in the path is outside the class of names";
		return false;
	}
	if (n > 0 && at[0] == '/') {
		at++;
		n--;
	}
	if (n > 0 && at[n - 1] == '/')
		n--;
	*p = at;
	*len = (uint32_t)n;
	return n == 0 || dray_path_ok(at, n, why);
}

static bool
lower(const struct field *f, bool digits)
{
	for (size_t i = 0; i < f->len; i++)
		if (!((f->p[i] >= 'a' && f->p[i] <= 'z') ||
		    (digits && ((f->p[i] >= '0' && f->p[i] <= '9') || f->p[i] == '-'))))
			return false;
	return f->len > 0 && f->len <= 64;
}

/* the digit of setuid, setgid and sticky, then the nine low bits without zeros in front: "0555", "4554", "044", "00" */
static bool
take_mode(const struct field *f, uint32_t *mode)
{
	const struct field high = { f->p, 1 }, low = { f->p + 1, f->len - 1 };
	uint32_t h, l;

	if (f->len < 2 || f->len > 4 || !number32(&high, 8, &h) || !number32(&low, 8, &l))
		return false;
	*mode = h << 9 | l;
	return true;
}

static bool
take_value(const struct field *f, struct dray_fbsd_line *out, const char **why)
{
	const struct field *value = &f[8], *link = &f[9];

	switch (out->type) {
	case 'f':
		*why = "a file without SHA-256";
		if (!hash(value, out->sha256))
			return false;
		if (link->len == 0)
			return true;
		if (!take_path(link, &out->target, &out->target_len, why))
			return false;
		*why = "a hard link to the root";
		return out->target_len > 0;
	case 'L':
		*why = "a byte in the target of a symlink is outside the class of names";
		if (!dray_fbsd_name_ok(value->p, value->len))
			return false;
		*why = "a symlink with an empty or too long target";
		if (value->len == 0 || value->len >= DRAY_PATH_MAX)
			return false;
		out->target = value->p;
		out->target_len = (uint32_t)value->len;
		*why = "a symlink that is a hard link";
		return link->len == 0;
	default:
		*why = "a directory with a value";
		return value->len == 0 && link->len == 0;
	}
}

bool
dray_fbsd_line_parse(const char *line, size_t len, struct dray_fbsd_line *out, const char **why)
{
	struct field f[10];

	memset(out, 0, sizeof(*out));
	*why = "not ten fields";
	if (split(line, len, f, 10) != 10)
		return false;
	*why = "no name of a component";
	if (!lower(&f[0], false) || !lower(&f[1], true))
		return false;
	out->component = f[0].p;
	out->component_len = (uint32_t)f[0].len;
	out->sub = f[1].p;
	out->sub_len = (uint32_t)f[1].len;
	if (!take_path(&f[2], &out->path, &out->path_len, why))
		return false;
	*why = "the type is none of f, d, L and -";
	if (f[3].len != 1 || strchr("fdL-", f[3].p[0]) == NULL || f[3].p[0] == '\0')
		return false;
	out->type = f[3].p[0];
	if (out->type == '-') {
		*why = "a path that was not there has attributes";
		for (size_t i = 4; i < 10; i++)
			if (f[i].len != 0)
				return false;
		return true;
	}
	*why = "no owner, group, mode or flags in it";
	if (!number32(&f[4], 10, &out->uid) || !number32(&f[5], 10, &out->gid) || !take_mode(&f[6], &out->mode) ||
	    !number32(&f[7], 8, &out->flags))
		return false;
	return take_value(f, out, why);
}
