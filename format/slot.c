/*
 * slot.c - the signature slot and the signed text. Source: spec/bundle-format.md, 3 "Signature slot and signed text".
 *
 * The slot is read before anything is verified: no allocation, every length compared with what is left, and nothing
 * in it is believed. The text is bytes here; only dray_signed_parse, which comes after a signature, looks inside.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dray/cursor.h"
#include "dray/num.h"
#include "dray/slot.h"

static const uint8_t magic[8] = { 'D', 'R', 'A', 'Y', 'S', 'I', 'G', '1' };

enum { SLOT_HEAD = 16, SIG_HEAD = 36 };

static int
bad(const struct dray_cursor *c, const char *what, struct dray_err *e)
{
	return dray_fail(e, DRAY_E_TRUST, "signature slot, byte %" PRIu64 ": %s", c->at, what);
}

static int
parse_sigs(struct dray_cursor *c, unsigned n, struct dray_slot *out, struct dray_err *e)
{
	for (unsigned i = 0; i < n; i++) {
		struct dray_sig *s = &out->sigs[i];
		const uint8_t *key;
		uint16_t len;

		if (!dray_cursor_u8(c, &s->alg) || !dray_cursor_zeros(c, 1) || !dray_cursor_u16(c, &len) ||
		    !dray_cursor_bytes(c, sizeof s->key, &key))
			return bad(c, "damaged signature record", e);
		if (len == 0 || len > DRAY_SIG_MAX || !dray_cursor_bytes(c, len, &s->sig))
			return bad(c, "a signature has an impossible length", e);
		s->len = len;
		memcpy(s->key, key, sizeof s->key);
		/* ascending, so that no key stands twice and none can be counted twice */
		if (i > 0 && memcmp(out->sigs[i - 1].key, s->key, sizeof s->key) >= 0)
			return bad(c, "signatures are not in ascending order of their keys", e);
	}
	out->n = n;
	return 0;
}

static int
check_roots(struct dray_cursor c, struct dray_err *e)
{
	const uint8_t *p;
	uint32_t len;

	while (c.left > 0)
		if (!dray_cursor_u32(&c, &len) || len == 0 || !dray_cursor_bytes(&c, len, &p))
			return bad(&c, "a root document does not fit", e);
	return 0;
}

int
dray_slot_parse(const uint8_t *p, size_t size, struct dray_slot *out, struct dray_err *e)
{
	struct dray_cursor c = { .p = p, .left = size }, roots;
	const uint8_t *m, *text;
	uint16_t text_len, n;
	uint32_t roots_len;

	memset(out, 0, sizeof *out);
	if (size < DRAY_SLOT_TEXT_MAX || size > DRAY_SLOT_MAX || size % 512 != 0)
		return dray_fail(e, DRAY_E_TRUST, "a signature slot of %zu bytes is not possible", size);
	if (!dray_cursor_bytes(&c, sizeof magic, &m) || memcmp(m, magic, sizeof magic) != 0)
		return bad(&c, "the magic number is missing", e);
	if (!dray_cursor_u16(&c, &text_len) || !dray_cursor_u16(&c, &n) || !dray_cursor_u32(&c, &roots_len))
		return bad(&c, "cut short", e);
	if (text_len == 0 || text_len > DRAY_SLOT_TEXT_MAX || !dray_cursor_bytes(&c, text_len, &text))
		return bad(&c, "the signed text has an impossible length", e);
	if (n > DRAY_SLOT_SIGS_MAX)
		return bad(&c, "more than 64 signatures", e);
	if (parse_sigs(&c, n, out, e) != 0)
		return -1;
	if (!dray_cursor_take(&c, roots_len, &roots))
		return bad(&c, "root documents do not fit", e);
	if (check_roots(roots, e) != 0)
		return -1;
	if (!dray_cursor_zeros(&c, c.left))
		return bad(&c, "bytes after the last record are not zero", e);
	out->text = (const char *)text;
	out->text_len = text_len;
	out->roots = roots.p;
	out->roots_len = roots.left;
	return 0;
}

int
dray_slot_write(const struct dray_slot *s, uint8_t *p, size_t size, struct dray_err *e)
{
	size_t need = SLOT_HEAD, at = SLOT_HEAD;

	if (size < 512 || size > DRAY_SLOT_MAX || size % 512 != 0)
		return dray_fail(e, DRAY_E_TRUST, "a signature slot of %zu bytes is not possible", size);
	if (s->text_len == 0 || s->text_len > DRAY_SLOT_TEXT_MAX || s->roots_len > DRAY_SLOT_MAX)
		return dray_fail(e, DRAY_E_TRUST, "the signed text or the root documents have an impossible length");
	if (s->n > DRAY_SLOT_SIGS_MAX)
		return dray_fail(e, DRAY_E_TRUST, "%u signatures, at most %u fit", s->n, DRAY_SLOT_SIGS_MAX);
	for (unsigned i = 0; i < s->n; i++) {
		if (s->sigs[i].len == 0 || s->sigs[i].len > DRAY_SIG_MAX)
			return dray_fail(e, DRAY_E_TRUST, "signature %u has an impossible length", i + 1);
		if (i > 0 && memcmp(s->sigs[i - 1].key, s->sigs[i].key, 32) >= 0)
			return dray_fail(e, DRAY_E_TRUST, "signatures are not in ascending order of their keys");
		need += SIG_HEAD + s->sigs[i].len;
	}
	need += s->text_len + s->roots_len;
	if (need > size) {
		dray_fail(e, DRAY_E_TRUST, "%u signatures need %zu bytes, the signature slot has %zu", s->n, need, size);
		return dray_hint(e, "build the bundle with a larger slot, or replace signatures with 'dray resign'");
	}
	memset(p, 0, size);
	memcpy(p, magic, sizeof magic);
	dray_put_u16(p + 8, (uint16_t)s->text_len);
	dray_put_u16(p + 10, (uint16_t)s->n);
	dray_put_u32(p + 12, (uint32_t)s->roots_len);
	memcpy(p + at, s->text, s->text_len);
	at += s->text_len;
	for (unsigned i = 0; i < s->n; i++) {
		p[at] = s->sigs[i].alg;
		dray_put_u16(p + at + 2, (uint16_t)s->sigs[i].len);
		memcpy(p + at + 4, s->sigs[i].key, 32);
		memcpy(p + at + SIG_HEAD, s->sigs[i].sig, s->sigs[i].len);
		at += SIG_HEAD + s->sigs[i].len;
	}
	if (s->roots_len > 0)
		memcpy(p + at, s->roots, s->roots_len);
	return 0;
}

bool
dray_token_ok(const char *s, size_t len)
{
	if (len == 0 || len > 64)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = s[i];

		if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
		    c == '_' || c == '+' || c == '-'))
			return false;
	}
	return true;
}

bool
dray_part_ok(const char *s, size_t len)
{
	const char *slash = memchr(s, '/', len);

	if (slash == NULL)
		return dray_token_ok(s, len);
	return len <= 64 && dray_token_ok(s, (size_t)(slash - s)) && dray_token_ok(slash + 1, len - (size_t)(slash + 1 - s));
}

int
dray_signed_text(const char *product, const char *version, uint64_t counter, uint64_t size,
    const uint8_t json_sha256[32], char out[DRAY_SLOT_TEXT_MAX + 1], size_t *len, struct dray_err *e)
{
	char hex[65];
	int n;

	if (!dray_token_ok(product, strlen(product)))
		return dray_fail(e, DRAY_E_FORMAT, "a product has 1 to 64 of A-Z a-z 0-9 . _ + -");
	if (!dray_token_ok(version, strlen(version)))
		return dray_fail(e, DRAY_E_FORMAT, "a version has 1 to 64 of A-Z a-z 0-9 . _ + -");
	if (counter == 0 || counter > INT64_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "a release counter is 1 to %" PRId64, INT64_MAX);
	n = snprintf(out, DRAY_SLOT_TEXT_MAX + 1,
	    "dray-bundle-v1\nproduct=%s\nversion=%s\ncounter=%" PRIu64 "\nsize=%" PRIu64 "\nsha256=%s\n", product, version,
	    counter, size, dray_hex(json_sha256, 32, hex));
	if (n <= 0 || n > (int)DRAY_SLOT_TEXT_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "the signed text does not fit");
	*len = (size_t)n;
	return 0;
}

/* the value of the next line "KEY=value\n" into @out (NUL-terminated, at most @cap bytes) */
static bool
take_value(const char **p, size_t *left, const char *key, char *out, size_t cap)
{
	size_t klen = strlen(key), n;
	const char *nl;

	if (*left < klen || memcmp(*p, key, klen) != 0)
		return false;
	*p += klen;
	*left -= klen;
	if ((nl = memchr(*p, '\n', *left)) == NULL)
		return false;
	n = (size_t)(nl - *p);
	if (n >= cap || memchr(*p, 0, n) != NULL)
		return false;
	memcpy(out, *p, n);
	out[n] = 0;
	*p += n + 1;
	*left -= n + 1;
	return true;
}

int
dray_signed_parse(const char *text, size_t len, struct dray_signed *out, struct dray_err *e)
{
	char first[1], counter[24], size[24], hex[65], again[DRAY_SLOT_TEXT_MAX + 1];
	const char *p = text;
	size_t left = len, again_len = 0;
	struct dray_signed s;

	memset(out, 0, sizeof *out);
	memset(&s, 0, sizeof s);
	if (!take_value(&p, &left, "dray-bundle-v1", first, sizeof first) ||
	    !take_value(&p, &left, "product=", s.product, sizeof s.product) ||
	    !take_value(&p, &left, "version=", s.version, sizeof s.version) ||
	    !take_value(&p, &left, "counter=", counter, sizeof counter) ||
	    !take_value(&p, &left, "size=", size, sizeof size) || !take_value(&p, &left, "sha256=", hex, sizeof hex) ||
	    left != 0 || !dray_parse_u64(counter, 1, INT64_MAX, &s.counter) ||
	    !dray_parse_u64(size, 0, UINT64_MAX, &s.size) || !dray_unhex(hex, strlen(hex), s.sha256, sizeof s.sha256))
		return dray_fail(e, DRAY_E_TRUST, "the signed text is not one of a dray bundle");
	/* one text for one meaning: what we would have written ourselves, or nothing */
	if (dray_signed_text(s.product, s.version, s.counter, s.size, s.sha256, again, &again_len, e) != 0 ||
	    again_len != len || memcmp(again, text, len) != 0)
		return dray_fail(e, DRAY_E_TRUST, "the signed text is not one of a dray bundle");
	*out = s;
	return 0;
}
