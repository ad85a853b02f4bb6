/*
 * cursor.c - a window on bytes we do not trust: one comparison, everything else built on it.
 */
#include "dray/cursor.h"
#include "dray/num.h"

bool
dray_cursor_take(struct dray_cursor *c, size_t n, struct dray_cursor *sub)
{
	struct dray_cursor front;

	if (n > c->left)
		return false;
	front = (struct dray_cursor){ .p = c->p, .left = n, .at = c->at };
	if (n != 0)	/* an empty window may have no address at all */
		c->p += n;
	c->left -= n;
	c->at += n;
	*sub = front;
	return true;
}

bool
dray_cursor_bytes(struct dray_cursor *c, size_t n, const uint8_t **p)
{
	struct dray_cursor s;

	if (!dray_cursor_take(c, n, &s))
		return false;
	*p = s.p;
	return true;
}

bool
dray_cursor_u8(struct dray_cursor *c, uint8_t *v)
{
	struct dray_cursor s;

	if (!dray_cursor_take(c, 1, &s))
		return false;
	*v = s.p[0];
	return true;
}

bool
dray_cursor_u16(struct dray_cursor *c, uint16_t *v)
{
	struct dray_cursor s;

	if (!dray_cursor_take(c, 2, &s))
		return false;
	*v = dray_get_u16(s.p);
	return true;
}

bool
dray_cursor_u32(struct dray_cursor *c, uint32_t *v)
{
	struct dray_cursor s;

	if (!dray_cursor_take(c, 4, &s))
		return false;
	*v = dray_get_u32(s.p);
	return true;
}

bool
dray_cursor_u64(struct dray_cursor *c, uint64_t *v)
{
	struct dray_cursor s;

	if (!dray_cursor_take(c, 8, &s))
		return false;
	*v = dray_get_u64(s.p);
	return true;
}

bool
dray_cursor_zeros(struct dray_cursor *c, size_t n)
{
	struct dray_cursor next = *c, s;
	size_t i;

	if (!dray_cursor_take(&next, n, &s))
		return false;
	for (i = 0; i < n; i++) {
		if (s.p[i] != 0)
			return false;
	}
	*c = next;
	return true;
}
