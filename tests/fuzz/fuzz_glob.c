/*
 * fuzz_glob.c - patterns over paths, against a plain and slow reading of spec/cli.md, "Patterns". Input: pattern, NUL, path.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/glob.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST 40u

static char p[MOST + 1], s[MOST + 1];	/* pattern and path */
static size_t pn, sn;
static signed char known[MOST + 1][MOST + 1];	/* 0: not asked, 1: no, 2: yes */

static bool match(size_t i, size_t k);

/* does the set at @i hold @c? *next: behind it */
static bool
in_set(size_t i, unsigned char c, size_t *next)
{
	const bool not = p[i + 1] == '!' || p[i + 1] == '^';
	bool hit = false;
	size_t at = i + 1 + not;

	do {
		unsigned char from, to;

		if (p[at] == '\\')
			at++;
		from = to = (unsigned char)p[at++];
		if (p[at] == '-' && p[at + 1] != ']') {
			at++;
			if (p[at] == '\\')
				at++;
			to = (unsigned char)p[at++];
		}
		hit |= c >= from && c <= to;
	} while (p[at] != ']');
	*next = at + 1;
	return hit != not;
}

/* the part at @i is "**": any number of parts of the path from @k, which begins one */
static bool
parts(size_t i, size_t k)
{
	const size_t after = i + 2;

	if (after == pn)
		return true;
	if (match(after + 1, k))
		return true;
	for (; k < sn; k++)
		if (s[k] == '/' && match(after + 1, k + 1))
			return true;
	return false;
}

static bool
look(size_t i, size_t k)
{
	size_t next = i + 1;

	if (i == pn)
		return k == sn;
	if ((i == 0 || p[i - 1] == '/') && pn - i >= 2 && p[i] == '*' && p[i + 1] == '*' && (i + 2 == pn || p[i + 2] == '/'))
		return parts(i, k);
	/* what follows may be no part at all: the slash in front of it goes with it */
	if (k == sn && pn - i >= 3 && memcmp(p + i, "/**", 3) == 0 && (pn - i == 3 || p[i + 3] == '/'))
		return match(i + 3, k);
	if (p[i] == '*')
		return match(i + 1, k) || (k < sn && s[k] != '/' && match(i, k + 1));
	if (k == sn)
		return false;
	if (p[i] == '?')
		return s[k] != '/' && match(i + 1, k + 1);
	if (p[i] == '[')
		return s[k] != '/' && in_set(i, (unsigned char)s[k], &next) && match(next, k + 1);
	if (p[i] == '\\')
		return s[k] == p[i + 1] && match(i + 2, k + 1);
	return p[i] == s[k] && match(i + 1, k + 1);
}

static bool
match(size_t i, size_t k)
{
	if (known[i][k] == 0) {
		known[i][k] = 1;
		known[i][k] = look(i, k) ? 2 : 1;
	}
	return known[i][k] == 2;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size > 0 ? memchr(data, '\0', size) : NULL;
	const char *why = NULL;
	bool covers = false;

	pn = nul == NULL ? size : (size_t)(nul - data);
	sn = nul == NULL ? 0 : size - pn - 1;
	if (pn > MOST || sn > MOST)
		return 0;
	memset(p, 0, sizeof(p));
	memset(s, 0, sizeof(s));
	memcpy(p, data, pn);
	if (nul != NULL)
		memcpy(s, nul + 1, sn);
	if (!dray_glob_ok(p, pn, &why)) {
		if (why == NULL)
			abort();
		return 0;
	}
	/* paths of a release: neither a slash at an end nor two of them together */
	if (sn == 0 || s[0] == '/' || s[sn - 1] == '/' || memchr(s, '\0', sn) != NULL || strstr(s, "//") != NULL)
		return 0;
	for (size_t len = sn; len > 0; len--) {
		bool hit;

		if (len < sn && s[len] != '/')
			continue;
		memset(known, 0, sizeof(known));
		sn = len;
		if ((hit = match(0, 0)) != dray_glob_match(p, pn, s, len))
			abort();
		covers |= hit;
	}
	sn = size - pn - 1;
	if (covers != dray_glob_covers(p, pn, s, sn))
		abort();
	return 0;
}
