/*
 * diff_entry.c - two states of one path, field by field, in the order in which a person would ask.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "builder/diff.h"
#include "dray/num.h"

enum { F_TYPE, F_CONTENT, F_TARGET, F_DEVICE, F_LINK, F_MODE, F_UID, F_GID, F_FLAGS, F_XATTRS, F_MTIME, FIELDS };

static const char *const names[FIELDS] = { "type", "content", "target", "device", "link", "mode", "uid", "gid", "flags",
	"xattrs", "mtime" };
static const char *const type_name[] = { "absent", "file", "dir", "symlink", "fifo", "chardev", "blockdev" };

bool
build_diff_field_ok(const char *name)
{
	for (int i = 0; i < FIELDS; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool
same_bytes(const void *a, size_t alen, const void *b, size_t blen)
{
	return alen == blen && (alen == 0 || memcmp(a, b, alen) == 0);
}

static void
content_text(const struct diff_item *it, char out[DIFF_TEXT])
{
	char hex[65], size[32] = "?";

	if (it->size != DRAY_SIZE_UNKNOWN)
		snprintf(size, sizeof(size), "%" PRIu64, it->size);
	snprintf(out, DIFF_TEXT, "%s bytes, sha256 %s", size, dray_hex(it->sha256, 32, hex));
}

static void
quoted_text(const char *p, size_t len, char out[DIFF_TEXT])
{
	if (p == NULL)
		snprintf(out, DIFF_TEXT, "none");
	else
		dray_quote(p, len, out, DIFF_TEXT);
}

static void
time_text(const struct diff_item *it, char out[DIFF_TEXT])
{
	char when[40];

	snprintf(out, DIFF_TEXT, "%.20s +%" PRIu32 " ns", tool_time(it->mtime_sec, when), it->mtime_nsec);
}

/* the first attribute that is not the same on both sides */
static bool
xattrs_differ(const struct diff_item *a, const struct diff_item *b, struct diff_text *out)
{
	uint32_t i = 0, k = 0;

	while (i < a->n_xattrs || k < b->n_xattrs) {
		struct dray_xattr x = { 0 }, y = { 0 };
		char name[400];
		int c;

		if (i < a->n_xattrs)
			build_diff_xattr(a, i, &x);
		if (k < b->n_xattrs)
			build_diff_xattr(b, k, &y);
		if (x.name == NULL || y.name == NULL) {
			c = x.name == NULL ? 1 : -1;
		} else {
			c = memcmp(x.name, y.name, x.name_len < y.name_len ? x.name_len : y.name_len);
			c = c != 0 ? c : (x.name_len > y.name_len) - (x.name_len < y.name_len);
		}
		if (c == 0 && same_bytes(x.value, x.len, y.value, y.len)) {
			i++;
			k++;
			continue;
		}
		if (c <= 0)
			dray_quote(x.name, x.name_len, name, sizeof(name));
		else
			dray_quote(y.name, y.name_len, name, sizeof(name));
		snprintf(out->a, DIFF_TEXT, c > 0 ? "no %s" : "%s of %zu bytes", name, x.len);
		snprintf(out->b, DIFF_TEXT, c < 0 ? "no %s" : "%s of %zu bytes", name, y.len);
		return true;
	}
	return false;
}

static void
number_text(unsigned field, const struct diff_item *it, uint16_t bit, char out[DIFF_TEXT])
{
	const uint32_t n = field == F_MODE ? it->mode : field == F_UID ? it->uid : field == F_GID ? it->gid : it->flags;

	if ((it->has & bit) == 0)
		snprintf(out, DIFF_TEXT, "not told");
	else if (field == F_MODE)
		snprintf(out, DIFF_TEXT, "%04" PRIo32, n);
	else if (field == F_FLAGS)
		snprintf(out, DIFF_TEXT, "0x%" PRIx32, n);
	else
		snprintf(out, DIFF_TEXT, "%" PRIu32, n);
}

static bool
attribute_differs(unsigned field, const struct diff_item *a, const struct diff_item *b, bool strict,
    struct diff_text *out)
{
	static const uint16_t bits[FIELDS] = { [F_MODE] = DRAY_HAS_MODE, [F_UID] = DRAY_HAS_UID, [F_GID] = DRAY_HAS_GID,
		[F_FLAGS] = DRAY_HAS_FLAGS, [F_XATTRS] = DRAY_HAS_XATTRS, [F_MTIME] = DRAY_HAS_MTIME };
	const uint16_t bit = bits[field], both = a->has & b->has & bit, any = (a->has | b->has) & bit;

	if (any == 0 || (both == 0 && !strict))
		return false;
	if (field == F_XATTRS || field == F_MTIME) {
		if (both == 0) {
			snprintf(out->a, DIFF_TEXT, "%s", (a->has & bit) != 0 ? "told" : "not told");
			snprintf(out->b, DIFF_TEXT, "%s", (b->has & bit) != 0 ? "told" : "not told");
			return true;
		}
		if (field == F_XATTRS)
			return xattrs_differ(a, b, out);
		if (a->mtime_sec == b->mtime_sec && a->mtime_nsec == b->mtime_nsec)
			return false;
		time_text(a, out->a);
		time_text(b, out->b);
		return true;
	}
	number_text(field, a, bit, out->a);
	number_text(field, b, bit, out->b);
	return strcmp(out->a, out->b) != 0;
}

static bool
differs(unsigned field, const struct diff_item *a, const struct diff_item *b, bool strict, struct diff_text *out)
{
	switch (field) {
	case F_TYPE:
		snprintf(out->a, DIFF_TEXT, "%s", type_name[a->type]);
		snprintf(out->b, DIFF_TEXT, "%s", type_name[b->type]);
		return a->type != b->type;
	case F_CONTENT:
		if (a->type != DRAY_FILE || b->type != DRAY_FILE ||
		    memcmp(a->sha256, b->sha256, 32) == 0)
			return false;
		content_text(a, out->a);
		content_text(b, out->b);
		return true;
	case F_TARGET:
		if (same_bytes(a->target, a->target_len, b->target, b->target_len))
			return false;
		quoted_text(a->target, a->target_len, out->a);
		quoted_text(b->target, b->target_len, out->b);
		return true;
	case F_DEVICE:
		snprintf(out->a, DIFF_TEXT, "%" PRIu32 ",%" PRIu32, a->rdev_major, a->rdev_minor);
		snprintf(out->b, DIFF_TEXT, "%" PRIu32 ",%" PRIu32, b->rdev_major, b->rdev_minor);
		return a->rdev_major != b->rdev_major || a->rdev_minor != b->rdev_minor;
	case F_LINK:
		if (same_bytes(a->link, a->link_len, b->link, b->link_len))
			return false;
		quoted_text(a->link, a->link_len, out->a);
		quoted_text(b->link, b->link_len, out->b);
		return true;
	default:
		return attribute_differs(field, a, b, strict, out);
	}
}

bool
build_diff_fields(const struct diff_item *a, const struct diff_item *b, bool strict, unsigned *at, struct diff_text *out)
{
	while (*at < FIELDS) {
		unsigned field = (*at)++;

		/* of objects of two types the rest cannot be compared */
		if (field > F_TYPE && a->type != b->type)
			return false;
		if (differs(field, a, b, strict, out)) {
			out->field = names[field];
			return true;
		}
	}
	return false;
}
