/*
 * utf8.h - one strict look at UTF-8, for quoting and for JSON. Private to libdray.
 */
#ifndef UTF8_H
#define UTF8_H

#include <stddef.h>
#include <stdint.h>

/**
 * utf8_take - the character at the front of @p
 * @left: bytes there are
 * @cp:   the code point
 *
 * Overlong forms, surrogates and numbers above U+10FFFF are no characters.
 * Return: bytes it takes, 1 .. 4; 0 if there is none. Source: RFC 3629, section 4.
 */
static inline size_t
utf8_take(const uint8_t *p, size_t left, uint32_t *cp)
{
	uint32_t c, low;
	size_t n, i;

	if (left == 0)
		return 0;
	c = p[0];
	if (c < 0x80) {
		*cp = c;
		return 1;
	}
	if (c >= 0xc2 && c <= 0xdf) {
		n = 2;
		low = 0x80;
		c &= 0x1f;
	} else if (c >= 0xe0 && c <= 0xef) {
		n = 3;
		low = 0x800;
		c &= 0x0f;
	} else if (c >= 0xf0 && c <= 0xf4) {
		n = 4;
		low = 0x10000;
		c &= 0x07;
	} else {
		return 0;
	}
	if (n > left)
		return 0;
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < low || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*cp = c;
	return n;
}

#endif
