/*
 * fuzz_fbsd.c - what a freebsd-update server says, after its hash matched: the first byte says which.
 *
 *   T tag, I index of metadata files, L one line, A lines of a file that describes a tree, H lines of one that does not,
 *   K key and signature of the tag, P a metadata file and a text patch of it, C names of components, O what a bundle says it
 *   left out, NUL, the list that it is held against; parts of an input have NULs between
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "builder/fbsd_tp.h"
#include "dray/digest.h"
#include "dray/fbsd.h"
#include "dray/fbsd_proof.h"
#include "dray/path.h"

#include "tests/unit/plan_mini.h"

#include "folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
lines(const char *p, size_t len, bool tree)
{
	const struct dray_fbsd_list t = { .file = "INDEX-ALL", .of = "13.2-RELEASE/amd64", .p = p, .len = len, .tree = tree };
	static const struct dray_fbsd_parts all;
	struct dray_fbsd_lines l = { .v = NULL };
	struct dray_err e = { .code = DRAY_OK };

	if (dray_fbsd_lines_add(&l, &t, &all, &e) != 0 && e.text[0] == '\0')
		abort();
	dray_fbsd_lines_sort(&l);
	for (size_t i = 0; i < l.n; i++) {
		struct dray_attrs a;

		if (l.v[i].path < p || l.v[i].path_len > len || (l.v[i].path_len > 0 && !dray_path_ok(l.v[i].path, l.v[i].path_len, NULL)))
			abort();
		if (l.v[i].type != '-')
			dray_fbsd_attrs(&l.v[i], "freebsd", &a);
	}
	dray_fbsd_lines_free(&l);
}

/* a text that was signed is that of the key, whoever made it */
static void
key(const uint8_t *p, size_t left)
{
	struct dray_err e = { .code = DRAY_OK };
	char out[DRAY_FBSD_SIG_MAX];
	uint8_t print[32];
	const uint8_t *pem;
	size_t len = fuzz_cut(&p, &left, &pem), n = 0;

	if (dray_sha256_bytes(pem, len, print, &e) != 0)
		abort();
	if (dray_fbsd_recover(pem, len, print, p, left, out, sizeof(out), &n, &e) != 0) {
		if (e.text[0] == '\0' || (e.code != DRAY_E_TRUST && e.code != DRAY_E_FORMAT))
			abort();
	} else if (n > sizeof(out)) {
		abort();
	}
}

/* what a patch makes is in order, and the same patch changes nothing of it that it has not changed already */
static void
patch(const uint8_t *p, size_t left)
{
	struct dray_err e = { .code = DRAY_OK };
	const uint8_t *old;
	size_t len = fuzz_cut(&p, &left, &old), out_len, before = 0;
	char *out;

	if (build_fbsd_tp_apply((const char *)old, len, (const char *)p, left, &out, &out_len, &e) != 0) {
		if (out != NULL || e.code != DRAY_E_FORMAT)
			abort();
		return;
	}
	if (out_len > len + left + 2)
		abort();
	for (size_t at = 0; at < out_len; at = before) {
		const char *end = memchr(out + at, '\n', out_len - at);

		if (end == NULL)
			abort();
		before = (size_t)(end - out) + 1;
		if (before < out_len) {
			const char *next = memchr(out + before, '\n', out_len - before);
			size_t a = before - at - 1, b = next == NULL ? 0 : (size_t)(next - out) - before;
			int c = memcmp(out + at, out + before, a < b ? a : b);

			if (c > 0 || (c == 0 && a > b))
				abort();
		}
	}
	free(out);
}

static void
parts(const uint8_t *p, size_t len)
{
	struct dray_err e = { .code = DRAY_OK };
	static struct dray_fbsd_parts v;
	char *text = calloc(len + 1, 1);	/* strndup(3) wants a text, says a sanitizer that is strict about them */

	if (text == NULL)
		abort();
	memcpy(text, p, len);
	v.n = 0;
	if ((dray_fbsd_parts_add(&v, text, &e) != 0 && e.code != DRAY_E_USAGE) || v.n > DRAY_FBSD_PARTS)
		abort();
	free(text);
}

/* against a release of a few paths */
static void
proof(const uint8_t *p, size_t left)
{
	static const struct pm_row rows[] = { { "a", NULL, "f,a,444", NULL }, { "bin", NULL, "d", NULL }, { "bin/ls", NULL, "f,ls,755,@a", NULL },
		{ "bin/x", NULL, "f,ls,755,@a", NULL }, { "l", NULL, "l,bin", NULL } };
	static struct pm pm;
	struct dray_err e = { .code = DRAY_OK };
	struct dray_fbsd_proof *out = calloc(1, sizeof(*out));
	struct dray_fbsd_list list = { .file = "INDEX-ALL", .of = "14.0-RELEASE/amd64", .tree = true };
	const uint8_t *left_out;
	size_t len = fuzz_cut(&p, &left, &left_out);

	if (out == NULL || (pm.b == NULL && pm_open(&pm, rows, sizeof(rows) / sizeof(rows[0]), 0, false, &e) != 0))
		abort();
	list.p = (const char *)p;
	list.len = left;
	if (dray_fbsd_compare(dray_bundle_desc(pm.b), dray_bundle_index(pm.b), &list, (const char *)left_out, len, out, &e) != 0 &&
	    e.text[0] == '\0')
		abort();
	dray_fbsd_proof_free(out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dray_err e = { .code = DRAY_OK };
	struct dray_fbsd_tag tag;
	struct dray_fbsd_line line;
	const char *p = (const char *)data + 1, *why = NULL;
	uint8_t sha[32];

	if (size == 0)
		return 0;
	size--;
	if ((data[0] == 'T' && dray_fbsd_tag_parse(p, size, NULL, NULL, &tag, &e) != 0 && e.text[0] == '\0') ||
	    (data[0] == 'I' && dray_fbsd_tindex_find(p, size, "INDEX-ALL", sha, &e) != 0 && e.text[0] == '\0') ||
	    (data[0] == 'L' && !dray_fbsd_line_parse(p, size, &line, &why) && why == NULL))
		abort();
	switch (data[0]) {
	case 'A': lines(p, size, true); break;
	case 'H': lines(p, size, false); break;
	case 'K': key(data + 1, size); break;
	case 'P': patch(data + 1, size); break;
	case 'C': parts(data + 1, size); break;
	case 'O': proof(data + 1, size); break;
	default: break;
	}
	return 0;
}
