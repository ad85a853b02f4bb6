/*
 * lines.c - texts cut into lines, and equal lines given equal numbers. Lines are sorted by a hash and then by their bytes, so
 * that nobody gains anything by finding lines with equal hashes.
 */
#include <stdlib.h>
#include <string.h>

#include "lines.h"

struct key {
	uint64_t hash;
	const uint8_t *p;
	uint32_t len, text, line;
};

int
dray_lines_split(const uint8_t *p, size_t len, struct dray_lines *out, struct dray_err *e)
{
	const uint8_t *nl;
	size_t n = 0, at;

	*out = (struct dray_lines){ .p = p };
	for (at = 0; at < len; n++) {
		nl = memchr(p + at, '\n', len - at);
		at = nl == NULL ? len : (size_t)(nl - p) + 1;
	}
	out->at = calloc(n + 1, sizeof(*out->at));
	out->id = calloc(n + 1, sizeof(*out->id));
	if (out->at == NULL || out->id == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (at = 0; at < len; ) {
		nl = memchr(p + at, '\n', len - at);
		at = nl == NULL ? len : (size_t)(nl - p) + 1;
		out->at[++out->n] = (uint32_t)at;
	}
	return 0;
}

void
dray_lines_free(struct dray_lines *l)
{
	free(l->at);
	free(l->id);
	*l = (struct dray_lines){ .p = NULL };
}

const uint8_t *
dray_lines_get(const struct dray_lines *l, uint32_t i, size_t *len)
{
	*len = l->at[i + 1] - l->at[i];
	return l->p + l->at[i];
}

static uint64_t
hash(const uint8_t *p, size_t len)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3u;
	return h;
}

static int
compare(const void *va, const void *vb)
{
	const struct key *a = va, *b = vb;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return memcmp(a->p, b->p, a->len);
}

int
dray_lines_number(struct dray_lines *v, size_t n, uint32_t *ids, struct dray_err *e)
{
	size_t all = 0, k = 0, len;
	struct key *key;

	*ids = 0;
	for (size_t t = 0; t < n; t++)
		all += v[t].n;
	if ((key = calloc(all + 1, sizeof(*key))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t t = 0; t < n; t++) {
		for (uint32_t i = 0; i < v[t].n; i++, k++) {
			key[k] = (struct key){ .p = dray_lines_get(&v[t], i, &len), .text = (uint32_t)t, .line = i };
			key[k].len = (uint32_t)len;
			key[k].hash = hash(key[k].p, len);
		}
	}
	qsort(key, all, sizeof(*key), compare);
	for (k = 0; k < all; k++) {
		if (k > 0 && compare(&key[k - 1], &key[k]) != 0)
			++*ids;
		v[key[k].text].id[key[k].line] = *ids;
	}
	*ids += all > 0;
	free(key);
	return 0;
}
