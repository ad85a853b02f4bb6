/*
 * bytes.c - bytes and numbers of the hostile kit.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/digest.h"
#include "dray/num.h"

#include "bytes.h"

void
hostile_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("hostile: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

uint8_t *
bytes_room(struct bytes *b, size_t n)
{
	if (n > SIZE_MAX / 4 - b->len)
		hostile_die("out of memory");
	if (b->len + n > b->cap) {
		b->cap = (b->len + n) * 2;
		if ((b->p = realloc(b->p, b->cap)) == NULL)
			hostile_die("out of memory");
	}
	memset(b->p + b->len, 0, n);
	b->len += n;
	return b->p + b->len - n;
}

size_t
bytes_put(struct bytes *b, const void *p, size_t n)
{
	uint8_t *to = bytes_room(b, n == 0 ? 1 : n);

	if (n == 0)
		b->len--;
	else
		memcpy(to, p, n);
	return b->len - n;
}

void
bytes_number(struct bytes *b, uint64_t v, size_t n)
{
	uint8_t *p = bytes_room(b, n);

	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

void
bytes_text(struct bytes *b, const char *s)
{
	bytes_put(b, s, strlen(s));
}

void
bytes_format(struct bytes *b, const char *fmt, ...)
{
	char s[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s, sizeof s, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof s)
		hostile_die("a text is too long");
	bytes_put(b, s, (size_t)n);
}

void
bytes_pad(struct bytes *b)
{
	if (b->len % 512 != 0)
		bytes_room(b, 512 - b->len % 512);
}

void
bytes_free(struct bytes *b)
{
	free(b->p);
	*b = (struct bytes){ 0 };
}

void
bytes_splice(struct bytes *b, size_t at, size_t n, const void *p, size_t len)
{
	struct bytes out = { 0 };

	if (at > b->len || n > b->len - at)
		hostile_die("byte %zu is outside", at);
	bytes_put(&out, b->p, at);
	bytes_put(&out, p, len);
	bytes_put(&out, b->p + at + n, b->len - at - n);
	bytes_free(b);
	*b = out;
}

bool
bytes_sub(struct bytes *b, size_t from_len, const void *from, size_t to_len, const void *to)
{
	const uint8_t *hit = b->len == 0 ? NULL : memmem(b->p, b->len, from, from_len);

	if (hit == NULL)
		return false;
	bytes_splice(b, (size_t)(hit - b->p), from_len, to, to_len);
	return true;
}

void
hostile_sha(const void *p, size_t n, uint8_t out[32])
{
	struct dray_err e = { .code = DRAY_OK };

	if (dray_sha256_bytes(p, n, out, &e) != 0)
		hostile_die("%s", e.text);
}

static uint8_t
hex_pair(const char *s)
{
	uint8_t v;

	if (strlen(s) < 2 || !dray_unhex(s, 2, &v, 1))
		hostile_die("\"%s\" does not begin with two hex digits", s);
	return v;
}

void
hostile_hex(const char *s, struct bytes *out)
{
	for (; *s != '\0'; s += 2)
		bytes_number(out, hex_pair(s), 1);
}

/* \{N:TEXT} from behind the brace on; what follows the closing one */
static const char *
repeat(const char *s, struct bytes *out)
{
	const char *end = strchr(s, '}');
	char *text;
	unsigned long n = strtoul(s, &text, 10);
	struct bytes once = { 0 };
	char *inner;

	if (end == NULL || *text != ':' || (inner = strndup(text + 1, (size_t)(end - text - 1))) == NULL)
		hostile_die("\\{%s is no repetition", s);
	hostile_unescape(inner, &once);
	free(inner);
	while (n-- > 0)
		bytes_put(out, once.p, once.len);
	bytes_free(&once);
	return end + 1;
}

void
hostile_unescape(const char *s, struct bytes *out)
{
	while (*s != '\0') {
		if (*s != '\\') {
			bytes_put(out, s++, 1);
			continue;
		}
		switch (s[1]) {
		case 'n':
			bytes_text(out, "\n");
			break;
		case 's':
			bytes_text(out, " ");
			break;
		case '\\':
			bytes_text(out, "\\");
			break;
		case 'x':
			bytes_number(out, hex_pair(s + 2), 1);
			s += 2;
			break;
		case '{':
			s = repeat(s + 2, out);
			continue;
		default:
			hostile_die("unknown escape in %s", s);
		}
		s += 2;
	}
}

uint64_t
hostile_number(const char *s)
{
	char *end;
	uint64_t v;

	if (strcmp(s, "max") == 0)
		return UINT64_MAX;
	if (strcmp(s, "none") == 0)
		return UINT32_MAX;
	if (strncmp(s, "2^", 2) == 0) {
		unsigned long n = strtoul(s + 2, &end, 10);

		if (n > 64)
			hostile_die("%s is too large", s);
		v = n == 64 ? 0 : UINT64_C(1) << n;
		s = end;
		if (*s == '-')
			return v - hostile_number(s + 1);
		if (*s == '+')
			return v + hostile_number(s + 1);
	} else if (*s == '-') {
		return -hostile_number(s + 1);
	} else {
		v = strtoull(s, &end, 0);
	}
	if (end == s && *s != '\0')
		hostile_die("\"%s\" is no number", s);
	if (*end != '\0')
		hostile_die("\"%s\" is no number", s);
	return v;
}
