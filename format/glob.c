/*
 * glob.c - matching, with one step back at each level: a star gives up only to the latest star of its own level. That
 * is enough (an earlier star can take up no more than a later one could), and it keeps hostile patterns from taking
 * exponential time.
 */
#include <stdint.h>
#include <string.h>

#include "dray/glob.h"
#include "dray/path.h"

/* one part of a pattern or path */
struct part {
	const char *s;
	size_t len;
};

/* the part at *at, which moves behind the slash after it; false at the end */
static bool
next_part(const char *s, size_t len, size_t *at, struct part *p)
{
	const char *slash;

	if (*at > len || len == 0)
		return false;
	p->s = s + *at;
	slash = memchr(p->s, '/', len - *at);
	p->len = slash == NULL ? len - *at : (size_t)(slash - p->s);
	*at += p->len + 1;
	return true;
}

/* length of the set that begins with the '[' at @p, or 0: it does not end. Its first byte may be ']'. */
static size_t
set_len(const char *p, size_t n)
{
	size_t i = 1;

	if (i < n && (p[i] == '!' || p[i] == '^'))
		i++;
	for (size_t first = i; i < n; i++) {
		if (p[i] == ']' && i > first)
			return i + 1;
		if (p[i] == '\\')
			i++;
	}
	return 0;
}

/* one byte of a set, escaped or not; *i moves behind it */
static unsigned char
set_byte(const char *p, size_t *i)
{
	if (p[*i] == '\\')
		++*i;
	return (unsigned char)p[(*i)++];
}

/* @n: length of the whole set at @p */
static bool
in_set(const char *p, size_t n, unsigned char c)
{
	size_t i = 1, end = n - 1;
	bool inverse = p[i] == '!' || p[i] == '^', hit = false;

	i += inverse;
	while (i < end) {
		unsigned char low = set_byte(p, &i), high = low;

		if (i + 1 < end && p[i] == '-') {
			i++;
			high = set_byte(p, &i);
		}
		hit |= low <= c && c <= high;
	}
	return hit != inverse;
}

/* does the item of the pattern at *i take @c? *i moves behind it if so */
static bool
take_one(const struct part *p, size_t *i, char c)
{
	size_t n = 1;
	bool ok;

	if (p->s[*i] == '?') {
		ok = true;
	} else if (p->s[*i] == '[') {
		n = set_len(p->s + *i, p->len - *i);
		ok = in_set(p->s + *i, n, (unsigned char)c);
	} else if (p->s[*i] == '\\') {
		n = 2;
		ok = p->s[*i + 1] == c;
	} else {
		ok = p->s[*i] == c;
	}
	*i += ok ? n : 0;
	return ok;
}

static bool
match_part(const struct part *p, const struct part *s)
{
	size_t i = 0, k = 0, star = SIZE_MAX, star_k = 0;

	while (k < s->len) {
		if (i < p->len && p->s[i] == '*') {
			star = ++i;
			star_k = k;
		} else if (i < p->len && take_one(p, &i, s->s[k])) {
			k++;
		} else if (star != SIZE_MAX) {
			i = star;	/* the star takes one byte more */
			k = ++star_k;
		} else {
			return false;
		}
	}
	while (i < p->len && p->s[i] == '*')
		i++;
	return i == p->len;
}

static bool
any_parts(const struct part *p)
{
	return p->len == 2 && p->s[0] == '*' && p->s[1] == '*';
}

/* @beneath: it is enough that a directory above the path matches, as if the pattern had one more ** at its end */
static bool
match(const char *pattern, size_t plen, const char *path, size_t len, bool beneath)
{
	size_t i = 0, k = 0, star = SIZE_MAX, star_k = 0, next_i, next_k;
	struct part p = { NULL, 0 }, s = { NULL, 0 };
	bool have_p, have_s;

	for (;;) {
		next_i = i;
		next_k = k;
		have_p = next_part(pattern, plen, &next_i, &p);
		have_s = next_part(path, len, &next_k, &s);
		if (!have_p && beneath)
			return true;
		if (have_p && any_parts(&p)) {
			i = star = next_i;
			star_k = k;
		} else if (!have_s) {
			return !have_p;
		} else if (have_p && match_part(&p, &s)) {
			i = next_i;
			k = next_k;
		} else if (star != SIZE_MAX) {
			k = star_k;
			(void)next_part(path, len, &k, &s);	/* ** takes one part more */
			star_k = k;
			i = star;
		} else {
			return false;
		}
	}
}

bool
dray_glob_match(const char *pattern, size_t plen, const char *path, size_t len)
{
	return match(pattern, plen, path, len, false);
}

bool
dray_glob_covers(const char *pattern, size_t plen, const char *path, size_t len)
{
	return len > 0 && match(pattern, plen, path, len, true);
}

static const char *
part_flaw(const struct part *p)
{
	if (p->len == 0)
		return "it has an empty part (no slash in front, at the end, or twice)";
	if (any_parts(p))
		return NULL;
	if ((p->len == 1 && p->s[0] == '.') || (p->len == 2 && p->s[0] == '.' && p->s[1] == '.'))
		return "it has a part \".\" or \"..\"";
	for (size_t i = 0, n; i < p->len; i += n) {
		n = 1;
		if (p->s[i] == '\\' && (n = 2) > p->len - i)
			return "it ends in a backslash";
		if (p->s[i] == '[' && (n = set_len(p->s + i, p->len - i)) == 0)
			return "a [ has no ]";
		if (p->s[i] == '*' && i + 1 < p->len && p->s[i + 1] == '*')
			return "** stands for whole parts only";
	}
	return NULL;
}

bool
dray_glob_ok(const char *pattern, size_t plen, const char **why)
{
	const char *flaw = NULL;
	struct part p;

	if (plen == 0)
		flaw = "it is empty";
	else if (plen >= DRAY_PATH_MAX)
		flaw = "it is longer than 4095 bytes";
	else if (memchr(pattern, '\0', plen) != NULL)
		flaw = "it holds a NUL byte";
	for (size_t at = 0; flaw == NULL && next_part(pattern, plen, &at, &p);)
		flaw = part_flaw(&p);
	if (why != NULL)
		*why = flaw;
	return flaw == NULL;
}
