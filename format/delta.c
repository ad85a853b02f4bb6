/*
 * delta.c - the content of an addcopy frame into its output. Every number is checked against what is left before a byte
 * moves; whatever stands in the three parts and in the base, nothing outside of the given buffers is touched. Source:
 * spec/bundle-format.md 6.4.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "dray/cursor.h"
#include "dray/delta.h"
#include "dray/frame.h"

struct parts { struct dray_cursor control, diff, extra; };

static int
split(const uint8_t *raw, size_t raw_len, size_t out_len, struct parts *s, struct dray_err *e)
{
	struct dray_cursor c = { .p = raw, .left = raw_len };
	uint32_t control, diff, extra;

	if (!dray_cursor_u32(&c, &control) || !dray_cursor_u32(&c, &diff) || !dray_cursor_u32(&c, &extra))
		return dray_fail(e, DRAY_E_FORMAT, "delta: ends inside its lengths");
	if ((uint64_t)diff + extra != out_len)
		return dray_fail(e, DRAY_E_FORMAT, "delta: %" PRIu32 " difference and %" PRIu32 " extra bytes are not the output of %zu",
		    diff, extra, out_len);
	if (control < DRAY_DELTA_LEAST - 12 || control > DRAY_DELTA_OVERHEAD((uint64_t)out_len) - 12)
		return dray_fail(e, DRAY_E_FORMAT, "delta: %" PRIu32 " control bytes for %zu bytes of output", control, out_len);
	if (!dray_cursor_take(&c, control, &s->control) || !dray_cursor_take(&c, diff, &s->diff) ||
	    !dray_cursor_take(&c, extra, &s->extra) || c.left != 0)
		return dray_fail(e, DRAY_E_FORMAT, "delta: its parts do not make its %zu bytes", raw_len);
	return 0;
}

/* LEB128, at most ten bytes, the only way to write the number */
static int
number(struct dray_cursor *c, uint64_t *v, struct dray_err *e)
{
	uint8_t b;

	*v = 0;
	for (unsigned shift = 0; shift < 70; shift += 7) {
		if (!dray_cursor_u8(c, &b))
			return dray_fail(e, DRAY_E_FORMAT, "delta: control ends inside a number");
		if (shift == 63 && b > 1)
			return dray_fail(e, DRAY_E_FORMAT, "delta: a number is above 64 bits");
		*v |= (uint64_t)(b & 0x7f) << shift;
		if ((b & 0x80) == 0) {
			if (b == 0 && shift != 0)
				return dray_fail(e, DRAY_E_FORMAT, "delta: a number is longer than it must be");
			return 0;
		}
	}
	/* not reached: a tenth byte above 1 was refused */
	return dray_fail(e, DRAY_E_FORMAT, "delta: a number is above 64 bits");
}

/* zigzag: even numbers go forward, odd ones back */
static int
seek(uint64_t z, size_t ref_len, size_t *pos, struct dray_err *e)
{
	uint64_t by = z >> 1;

	if ((z & 1) == 0 ? by > ref_len - *pos : by >= *pos)
		return dray_fail(e, DRAY_E_FORMAT, "delta: a seek leaves the base of %zu bytes", ref_len);
	*pos = (z & 1) == 0 ? *pos + (size_t)by : *pos - (size_t)by - 1;
	return 0;
}

int
dray_delta_apply(const uint8_t *raw, size_t raw_len, const uint8_t *ref, size_t ref_len, uint8_t *out, size_t out_len,
    struct dray_err *e)
{
	struct parts s = { 0 };
	size_t pos = 0;

	if (split(raw, raw_len, out_len, &s, e) != 0)
		return -1;
	while (s.control.left != 0) {
		uint64_t add, copy, z;
		const uint8_t *d, *x;

		if (number(&s.control, &add, e) != 0 || number(&s.control, &copy, e) != 0 || number(&s.control, &z, e) != 0)
			return -1;
		if (add == 0 && copy == 0)
			return dray_fail(e, DRAY_E_FORMAT, "delta: a step makes nothing");
		if (add > ref_len - pos)
			return dray_fail(e, DRAY_E_FORMAT, "delta: a step reads %" PRIu64 " bytes at %zu of a base of %zu", add, pos,
			    ref_len);
		if (add > s.diff.left || !dray_cursor_bytes(&s.diff, (size_t)add, &d))
			return dray_fail(e, DRAY_E_FORMAT, "delta: a step takes %" PRIu64 " difference bytes of %zu", add, s.diff.left);
		if (copy > s.extra.left || !dray_cursor_bytes(&s.extra, (size_t)copy, &x))
			return dray_fail(e, DRAY_E_FORMAT, "delta: a step takes %" PRIu64 " extra bytes of %zu", copy, s.extra.left);
		/* difference and extra together are exactly the output, so both fit */
		for (size_t i = 0; i < add; i++)
			out[i] = (uint8_t)(d[i] + ref[pos + i]);
		out += add;
		pos += (size_t)add;
		if (copy != 0)
			memcpy(out, x, (size_t)copy);
		out += copy;
		if (seek(z, ref_len, &pos, e) != 0)
			return -1;
	}
	if (s.diff.left != 0 || s.extra.left != 0)
		return dray_fail(e, DRAY_E_FORMAT, "delta: control ends with %zu difference and %zu extra bytes left", s.diff.left,
		    s.extra.left);
	return 0;
}
