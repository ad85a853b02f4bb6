/*
 * json_text.c - JSON as bytes: the look at a text before json-c sees it, and the canonical way to write strings.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dray/num.h"

#include "json_text.h"
#include "utf8.h"

bool
dray_json_text_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '+' || c == '-';
}

/* four hexadecimal digits of either case, -1 if they are none */
static int
hex4(const char *p, size_t left)
{
	int v = 0, i;

	if (left < 4)
		return -1;
	for (i = 0; i < 4; i++) {
		const char c = p[i];

		if (is_digit(c))
			v = v << 4 | (c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (c - 'a' + 10);
		else if (c >= 'A' && c <= 'F')
			v = v << 4 | (c - 'A' + 10);
		else
			return -1;
	}
	return v;
}

/* at the backslash; what it takes, 0 after filling e */
static size_t
scan_escape(const char *p, size_t left, size_t at, struct dray_err *e)
{
	int v;

	if (left < 2) {
		dray_fail(e, DRAY_E_FORMAT, "the JSON ends too early, at byte %zu", at + left);
		return 0;
	}
	if (memchr("\"\\/bfnrt", p[1], 8) != NULL)
		return 2;
	if (p[1] != 'u' || (v = hex4(p + 2, left - 2)) == -1) {
		dray_fail(e, DRAY_E_FORMAT, "the JSON has a bad escape at byte %zu", at);
		return 0;
	}
	if (v == 0) {
		dray_fail(e, DRAY_E_FORMAT, "the JSON has a NUL inside a string, at byte %zu", at);
		return 0;
	}
	if (v < 0xd800 || v > 0xdfff)
		return 6;
	/* json-c would quietly make a lone half U+FFFD */
	if (v < 0xdc00 && left >= 12 && p[6] == '\\' && p[7] == 'u') {
		v = hex4(p + 8, left - 8);
		if (v >= 0xdc00 && v <= 0xdfff)
			return 12;
	}
	dray_fail(e, DRAY_E_FORMAT, "the JSON has half a surrogate pair at byte %zu", at);
	return 0;
}

/* at the opening quote; what the string takes, 0 after filling e */
static size_t
scan_string(const char *p, size_t left, size_t at, struct dray_err *e)
{
	size_t i = 1, n;
	uint32_t cp;

	while (i < left) {
		const unsigned char c = (unsigned char)p[i];

		if (c == '"')
			return i + 1;
		if (c < 0x20) {
			dray_fail(e, DRAY_E_FORMAT, "the JSON has a control character in a string, at byte %zu",
			    at + i);
			return 0;
		}
		if (c == '\\') {
			if ((n = scan_escape(p + i, left - i, at + i, e)) == 0)
				return 0;
		} else if ((n = utf8_take((const uint8_t *)p + i, left - i, &cp)) == 0) {
			dray_fail(e, DRAY_E_FORMAT, "the JSON is not valid UTF-8 at byte %zu", at + i);
			return 0;
		}
		i += n;
	}
	dray_fail(e, DRAY_E_FORMAT, "the JSON ends too early, at byte %zu", at + left);
	return 0;
}

/* at '-' or a digit; what the number takes, 0 after filling e */
static size_t
scan_number(const char *p, size_t left, size_t at, struct dray_err *e)
{
	const bool minus = p[0] == '-';
	const uint64_t most = (uint64_t)INT64_MAX + (minus ? 1 : 0);
	size_t i = minus ? 1 : 0;
	const size_t first = i;
	uint64_t v = 0;

	for (; i < left && is_digit(p[i]); i++) {
		if (!dray_mul(v, 10, &v) || !dray_add(v, (uint64_t)(p[i] - '0'), &v) || v > most) {
			dray_fail(e, DRAY_E_FORMAT, "the JSON has a number beyond 64 bits at byte %zu", at);
			return 0;
		}
	}
	if (i == first || (i - first > 1 && p[first] == '0') || (minus && v == 0) || (i < left && is_word(p[i]))) {
		dray_fail(e, DRAY_E_FORMAT, "the JSON has something other than a plain whole number at byte %zu", at);
		return 0;
	}
	return i;
}

/* at a letter; what true or false takes, 0 after filling e */
static size_t
scan_word(const char *p, size_t left, size_t at, struct dray_err *e)
{
	size_t n = 0;

	while (n < left && is_word(p[n]))
		n++;
	if ((n == 4 && memcmp(p, "true", 4) == 0) || (n == 5 && memcmp(p, "false", 5) == 0))
		return n;
	if (n == 4 && memcmp(p, "null", 4) == 0)
		dray_fail(e, DRAY_E_FORMAT, "the JSON has null at byte %zu, which has no meaning here", at);
	else
		dray_fail(e, DRAY_E_FORMAT, "not JSON at byte %zu", at);
	return 0;
}

int
dray_json_text_scan(const char *text, size_t len, unsigned depth_max, size_t *keys, struct dray_err *e)
{
	unsigned depth = 0;
	size_t i = 0, n;

	*keys = 0;
	while (i < len) {
		const char c = text[i];

		n = 1;
		if (c == '"') {
			n = scan_string(text + i, len - i, i, e);
		} else if (c == '-' || is_digit(c)) {
			n = scan_number(text + i, len - i, i, e);
		} else if (c == '{' || c == '[') {
			if (++depth > depth_max)
				return dray_fail(e, DRAY_E_FORMAT, "the JSON is nested deeper than %u at byte %zu",
				    depth_max, i);
		} else if (c == '}' || c == ']') {
			if (depth-- == 0)
				return dray_fail(e, DRAY_E_FORMAT, "not JSON at byte %zu", i);
		} else if (c == ':') {
			(*keys)++;
		} else if (c != ',' && !dray_json_text_blank(c)) {
			n = scan_word(text + i, len - i, i, e);
		}
		if (n == 0)
			return -1;
		i += n;
	}
	return 0;
}

void
dray_json_out_bytes(struct json_out *t, const char *s, size_t len)
{
	uint64_t need, cap;
	size_t fit;
	char *p;

	if (t->failed)
		return;
	if (!dray_add(t->len, len, &need) || !dray_add(need, 1, &need)) {
		t->failed = true;
		return;
	}
	if (need > t->cap) {
		if (!dray_mul(need, 2, &cap) || !dray_fit(cap, &fit) || (p = realloc(t->p, fit)) == NULL) {
			t->failed = true;
			return;
		}
		t->p = p;
		t->cap = fit;
	}
	if (len != 0)
		memcpy(t->p + t->len, s, len);
	t->len += len;
	t->p[t->len] = '\0';
}

/* what stands for a character that cannot stand for itself; its length */
static size_t
escape(unsigned char c, char out[6])
{
	static const char digits[] = "0123456789abcdef";
	static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
	const char *hit = c == 0 ? NULL : strchr(from, c);

	out[0] = '\\';
	if (hit != NULL) {
		out[1] = to[hit - from];
		return 2;
	}
	memcpy(out + 1, "u00", 3);
	out[4] = digits[c >> 4];
	out[5] = digits[c & 15];
	return 6;
}

void
dray_json_out_string(struct json_out *t, const char *s, size_t len)
{
	const uint8_t *p = (const uint8_t *)s;
	size_t i = 0, from = 0, n;
	uint32_t cp = 0;
	char esc[6];

	dray_json_out_bytes(t, "\"", 1);
	while (i < len) {
		n = utf8_take(p + i, len - i, &cp);
		if (n != 0 && cp >= 0x20 && cp != '"' && cp != '\\') {
			i += n;
			continue;
		}
		dray_json_out_bytes(t, s + from, i - from);
		if (n == 0)
			dray_json_out_bytes(t, "\xef\xbf\xbd", 3);
		else
			dray_json_out_bytes(t, esc, escape(p[i], esc));
		from = ++i;
	}
	dray_json_out_bytes(t, s + from, len - from);
	dray_json_out_bytes(t, "\"", 1);
}
