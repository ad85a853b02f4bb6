/*
 * num.c - checked arithmetic, numbers as text, little-endian stores.
 */
#include <string.h>

#include "dray/num.h"

bool
dray_add(uint64_t a, uint64_t b, uint64_t *sum)
{
	uint64_t r;

	if (__builtin_add_overflow(a, b, &r))
		return false;
	*sum = r;
	return true;
}

bool
dray_mul(uint64_t a, uint64_t b, uint64_t *product)
{
	uint64_t r;

	if (__builtin_mul_overflow(a, b, &r))
		return false;
	*product = r;
	return true;
}

bool
dray_fit(uint64_t n, size_t *out)
{
	if (n > SIZE_MAX)
		return false;
	*out = (size_t)n;
	return true;
}

bool
dray_round_up(uint64_t n, uint64_t to, uint64_t *out)
{
	uint64_t r;

	if (to == 0 || (to & (to - 1)) != 0 || !dray_add(n, to - 1, &r))
		return false;
	*out = r & ~(to - 1);
	return true;
}

/* the digits at the front of s; how many there are, 0 if they are no number of ours */
static size_t
take_digits(const char *s, uint64_t *out)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; s[i] >= '0' && s[i] <= '9'; i++) {
		if (!dray_mul(n, 10, &n) || !dray_add(n, (uint64_t)(s[i] - '0'), &n))
			return 0;
	}
	if (i > 1 && s[0] == '0')
		return 0;
	*out = n;
	return i;
}

bool
dray_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t n = 0;
	size_t len = take_digits(s, &n);

	if (len == 0 || s[len] != '\0' || n < min || n > max)
		return false;
	*out = n;
	return true;
}

bool
dray_parse_size(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t n = 0, unit = 1;
	size_t len = take_digits(s, &n);

	if (len == 0)
		return false;
	if (s[len] == 'k' || s[len] == 'K')
		unit = UINT64_C(1) << 10;
	else if (s[len] == 'M')
		unit = UINT64_C(1) << 20;
	else if (s[len] == 'G')
		unit = UINT64_C(1) << 30;
	if (unit != 1)
		len++;
	if (s[len] != '\0' || !dray_mul(n, unit, &n) || n < min || n > max)
		return false;
	*out = n;
	return true;
}

const char *
dray_hex(const uint8_t *src, size_t len, char *dst)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < len; i++) {
		dst[2 * i] = digits[src[i] >> 4];
		dst[2 * i + 1] = digits[src[i] & 15];
	}
	dst[2 * len] = '\0';
	return dst;
}

static bool
hex_digit(char c, unsigned *v)
{
	if (c >= '0' && c <= '9')
		*v = (unsigned)(c - '0');
	else if (c >= 'a' && c <= 'f')
		*v = (unsigned)(c - 'a') + 10;
	else
		return false;
	return true;
}

bool
dray_unhex(const char *hex, size_t hex_len, uint8_t *dst, size_t len)
{
	unsigned high = 0, low = 0;
	size_t i;

	if (hex_len / 2 != len || hex_len % 2 != 0)
		return false;
	/* all is looked at before anything is written */
	for (i = 0; i < hex_len; i++) {
		if (!hex_digit(hex[i], &low))
			return false;
	}
	for (i = 0; i < len; i++) {
		if (hex_digit(hex[2 * i], &high) && hex_digit(hex[2 * i + 1], &low))
			dst[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

void
dray_put_u16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v & 0xff);
	p[1] = (uint8_t)(v >> 8);
}

void
dray_put_u32(uint8_t *p, uint32_t v)
{
	dray_put_u16(p, (uint16_t)(v & 0xffff));
	dray_put_u16(p + 2, (uint16_t)(v >> 16));
}

void
dray_put_u64(uint8_t *p, uint64_t v)
{
	dray_put_u32(p, (uint32_t)(v & 0xffffffff));
	dray_put_u32(p + 4, (uint32_t)(v >> 32));
}
