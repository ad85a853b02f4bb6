/*
 * err.c - errors of fixed size, and foreign text made printable.
 *
 * Nothing here allocates, so that running out of memory can be told like anything else.
 */
/* the POSIX strerror_r, which fills a buffer, on every system */
#undef _GNU_SOURCE
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "dray/err.h"

#include "utf8.h"

/* format into dst; what does not fit is cut at a character and marked "..." ; says whether all fitted */
static bool DRAY_PRINTF(3, 0)
format_cut(char *dst, size_t cap, const char *fmt, va_list ap)
{
	int n = vsnprintf(dst, cap, fmt, ap);
	size_t at;

	if (n >= 0 && (size_t)n < cap)
		return true;
	if (n < 0)
		dst[0] = '\0';
	at = strlen(dst);
	if (at > cap - 4)
		at = cap - 4;
	while (at > 0 && ((unsigned char)dst[at] & 0xc0) == 0x80)
		at--;
	memcpy(dst + at, "...", 4);
	return false;
}

int
dray_fail(struct dray_err *e, enum dray_code code, const char *fmt, ...)
{
	char text[sizeof(e->text)];	/* the arguments may point into *e */
	va_list ap;

	va_start(ap, fmt);
	format_cut(text, sizeof(text), fmt, ap);
	va_end(ap);
	e->code = code;
	e->hint[0] = '\0';
	memcpy(e->text, text, sizeof(text));
	return -1;
}

static void
errno_text(int err, char *dst, size_t cap)
{
	if (err == ENOMEM) {
		snprintf(dst, cap, "out of memory");
		return;
	}
	if (strerror_r(err, dst, cap) != 0) {
		snprintf(dst, cap, "error %d", err);
		return;
	}
	/* our texts are lower case; "I/O", "RPC" and the like stay */
	if (dst[0] >= 'A' && dst[0] <= 'Z' && dst[1] >= 'a' && dst[1] <= 'z')
		dst[0] = (char)(dst[0] - 'A' + 'a');
}

int
dray_fail_errno(struct dray_err *e, const char *fmt, ...)
{
	const int err = errno;
	char text[sizeof(e->text)], why[128];
	size_t len, why_len;
	va_list ap;

	errno_text(err, why, sizeof(why));
	va_start(ap, fmt);
	format_cut(text, sizeof(text), fmt, ap);
	va_end(ap);

	e->code = err == ENOSPC || err == EDQUOT ? DRAY_E_ROOM : DRAY_E_IO;
	e->hint[0] = '\0';
	if (err == EMFILE)
		dray_hint(e, "raise the limit of open files (ulimit -n), or take fewer threads (-j)");
	len = strlen(text);
	why_len = strlen(why);
	/* the cause is what must stay */
	if (len + 2 + why_len + 1 > sizeof(text)) {
		len = sizeof(text) - why_len - 2 - 3 - 1;
		while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
			len--;
		memcpy(text + len, "...", 3);
		len += 3;
	}
	memcpy(e->text, text, len);
	memcpy(e->text + len, ": ", 2);
	memcpy(e->text + len + 2, why, why_len + 1);
	errno = err;
	return -1;
}

int
dray_wrap(struct dray_err *e, const char *fmt, ...)
{
	char front[sizeof(e->text)];
	size_t front_len, len;
	va_list ap;
	bool whole;

	va_start(ap, fmt);
	whole = format_cut(front, sizeof(front), fmt, ap);
	va_end(ap);
	front_len = strlen(front);
	len = strlen(e->text);
	if (!whole || front_len + 2 + len + 1 > sizeof(e->text))
		return -1;
	memmove(e->text + front_len + 2, e->text, len + 1);
	memcpy(e->text, front, front_len);
	memcpy(e->text + front_len, ": ", 2);
	return -1;
}

int
dray_hint(struct dray_err *e, const char *fmt, ...)
{
	char hint[sizeof(e->hint)];
	va_list ap;

	if (e->hint[0] != '\0')
		return -1;
	va_start(ap, fmt);
	format_cut(hint, sizeof(hint), fmt, ap);
	va_end(ap);
	memcpy(e->hint, hint, sizeof(hint));
	return -1;
}

void
dray_err_clear(struct dray_err *e)
{
	e->code = DRAY_OK;
	e->text[0] = '\0';
	e->hint[0] = '\0';
}

bool
dray_char_moves(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp <= 0x9f) || cp == 0x61c || cp == 0x200e || cp == 0x200f ||
	    (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069);
}

const char *
dray_quote(const void *src, size_t len, char *dst, size_t cap)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *p = src;
	size_t at = 0, i = 0, k, n, dots_at = 0, dots;
	uint32_t cp = 0;

	if (cap == 0)
		return dst;
	while (i < len) {
		char out[16];
		size_t out_len = 0;

		n = utf8_take(p + i, len - i, &cp);
		/* a backslash would be taken for an escape of ours */
		if (n == 0 || cp == '\\' || dray_char_moves(cp)) {
			if (n == 0)
				n = 1;
			for (k = 0; k < n; k++) {
				out[out_len++] = '\\';
				out[out_len++] = 'x';
				out[out_len++] = digits[p[i + k] >> 4];
				out[out_len++] = digits[p[i + k] & 15];
			}
		} else {
			memcpy(out, p + i, n);
			out_len = n;
		}
		/* the last place from where "..." would still fit */
		if (at + 4 <= cap)
			dots_at = at;
		if (out_len >= cap - at) {
			dots = cap - 1 - dots_at < 3 ? cap - 1 - dots_at : 3;
			memset(dst + dots_at, '.', dots);
			dst[dots_at + dots] = '\0';
			return dst;
		}
		memcpy(dst + at, out, out_len);
		at += out_len;
		i += n;
	}
	dst[at] = '\0';
	return dst;
}
