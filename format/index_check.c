/*
 * index_check.c - the rules for attributes and states, and the order in which all rules run.
 *
 * Each check says what is wrong with which row; dray_index_load and the writer say where. Nothing here allocates
 * per row. Source: spec/bundle-format.md 5.3.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dray/pool.h"

#include "index_priv.h"

/* do @len bytes at @at lie within STRINGS? */
static int
check_string(const struct dray_index *ix, uint32_t at, uint32_t len, const char *what, struct dray_err *e)
{
	uint32_t have = ix->rows[DRAY_T_STRINGS];

	if (at > have || len > have - at)
		return dray_fail(e, DRAY_E_FORMAT, "%s lies outside the strings", what);
	return 0;
}

static int
cmp_names(const uint8_t *a, size_t alen, const uint8_t *b, size_t blen)
{
	int c = memcmp(a, b, alen < blen ? alen : blen);

	return c != 0 ? c : (alen > blen) - (alen < blen);
}

int
dray_index_check_xattr(const struct dray_index *ix, uint32_t i, struct dray_err *e)
{
	const uint8_t *p = ix_row(ix, DRAY_T_XATTRS, i), *strings = ix->t[DRAY_T_STRINGS], *name;
	uint32_t set = dray_get_u32(p + X_SET), len = dray_get_u16(p + X_NAME_LEN), vlen = dray_get_u32(p + X_LEN);

	if (dray_get_u16(p + X_ZERO) != 0)
		return dray_fail(e, DRAY_E_FORMAT, "a reserved byte is not zero");
	if (len == 0 || len > IX_XNAME_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "its name has %" PRIu32 " bytes, not 1 to %u", len, IX_XNAME_MAX);
	if (vlen > IX_XVALUE_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "its value has %" PRIu32 " bytes, above %u", vlen, IX_XVALUE_MAX);
	if (check_string(ix, dray_get_u32(p + X_NAME), len, "its name", e) != 0 ||
	    check_string(ix, dray_get_u32(p + X_VALUE), vlen, "its value", e) != 0)
		return -1;
	name = strings + dray_get_u32(p + X_NAME);
	if (memchr(name, '\0', len) != NULL)
		return dray_fail(e, DRAY_E_FORMAT, "its name holds a NUL byte");
	if (i == 0 || set != dray_get_u32(p - X_WIDTH + X_SET)) {
		if (set != (i == 0 ? 0 : dray_get_u32(p - X_WIDTH + X_SET) + 1))
			return dray_fail(e, DRAY_E_FORMAT, "set %" PRIu32 " is out of order", set);
	} else if (cmp_names(strings + dray_get_u32(p - X_WIDTH + X_NAME), dray_get_u16(p - X_WIDTH + X_NAME_LEN), name, len) >= 0) {
		return dray_fail(e, DRAY_E_FORMAT, "names of set %" PRIu32 " do not ascend", set);
	}
	return 0;
}

int
dray_index_check_attrs(const struct dray_index *ix, uint32_t i, struct dray_err *e)
{
	static const struct { unsigned has, at; } plain[] = {
		{ DRAY_HAS_MODE, A_MODE }, { DRAY_HAS_UID, A_UID }, { DRAY_HAS_GID, A_GID }, { DRAY_HAS_FLAGS, A_FLAGS },
	};
	const unsigned known = DRAY_HAS_MODE | DRAY_HAS_UID | DRAY_HAS_GID | DRAY_HAS_FLAGS | DRAY_HAS_XATTRS;
	const uint8_t *p = ix_row(ix, DRAY_T_ATTRS, i);
	unsigned has = dray_get_u16(p + A_HAS);
	uint32_t set = dray_get_u32(p + A_XSET), n = ix->rows[DRAY_T_XATTRS];
	uint32_t n_sets = n == 0 ? 0 : dray_get_u32(ix_row(ix, DRAY_T_XATTRS, n - 1) + X_SET) + 1;

	if ((has & ~known) != 0)
		return dray_fail(e, DRAY_E_FORMAT, "unknown attribute bits %#x", has);
	if (dray_get_u16(p + A_HAS + 2) != 0)
		return dray_fail(e, DRAY_E_FORMAT, "a reserved byte is not zero");
	for (size_t k = 0; k < sizeof plain / sizeof plain[0]; k++)
		if ((has & plain[k].has) == 0 && dray_get_u32(p + plain[k].at) != 0)
			return dray_fail(e, DRAY_E_FORMAT, "an absent attribute has a value");
	/* to chown it means "as it is" */
	if (dray_get_u32(p + A_UID) == UINT32_MAX || dray_get_u32(p + A_GID) == UINT32_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "owner or group %" PRIu32 " is nobody's number", UINT32_MAX);
	if (dray_get_u32(p + A_MODE) > 07777)
		return dray_fail(e, DRAY_E_FORMAT, "mode %#" PRIo32 " is above 07777", dray_get_u32(p + A_MODE));
	if (set != DRAY_NONE && (has & DRAY_HAS_XATTRS) == 0)
		return dray_fail(e, DRAY_E_FORMAT, "an absent attribute has a value");
	if (set != DRAY_NONE && set >= n_sets)
		return dray_fail(e, DRAY_E_FORMAT, "names xattr set %" PRIu32 " of %" PRIu32, set, n_sets);
	return 0;
}

/* which flags are which number is a thing of the system */
static int
check_fflags(const struct dray_index *ix, const struct dray_desc *desc, uint32_t i, struct dray_err *e)
{
	if (desc == NULL || (dray_get_u16(ix_row(ix, DRAY_T_ATTRS, i) + A_HAS) & DRAY_HAS_FLAGS) == 0 || strcmp(desc->os, "any") != 0)
		return 0;
	return dray_fail(e, DRAY_E_FORMAT, "has file flags, in a bundle for any system");
}

/* what a type says of the fields a and b */
static int
check_by_type(const struct dray_index *ix, const uint8_t *p, struct dray_err *e)
{
	uint32_t a = dray_get_u32(p + S_A), b = dray_get_u32(p + S_B);

	switch (p[S_TYPE]) {
	case DRAY_FILE:
		if (a >= ix->rows[DRAY_T_CONTENTS])
			return dray_fail(e, DRAY_E_FORMAT, "names content %" PRIu32 " of %" PRIu32, a, ix->rows[DRAY_T_CONTENTS]);
		if (b != 0)
			return dray_fail(e, DRAY_E_FORMAT, "a reserved byte is not zero");
		return 0;
	case DRAY_SYMLINK:
		if (b == 0 || b > IX_LINK_MAX)
			return dray_fail(e, DRAY_E_FORMAT, "its symlink target has %" PRIu32 " bytes, not 1 to %u", b, IX_LINK_MAX);
		if (check_string(ix, a, b, "its symlink target", e) != 0)
			return -1;
		if (memchr(ix->t[DRAY_T_STRINGS] + a, '\0', b) != NULL)
			return dray_fail(e, DRAY_E_FORMAT, "its symlink target holds a NUL byte");
		return 0;
	case DRAY_DIR:
		if (dray_get_u32(p + S_LINK) != 0)
			return dray_fail(e, DRAY_E_FORMAT, "a directory is in a hard-link group");
		if (a != 0 || b != 0)
			return dray_fail(e, DRAY_E_FORMAT, "a reserved byte is not zero");
		return 0;
	case DRAY_FIFO:
		if (a != 0 || b != 0)
			return dray_fail(e, DRAY_E_FORMAT, "a reserved byte is not zero");
		return 0;
	case DRAY_CHARDEV:
	case DRAY_BLOCKDEV:
		return 0;
	default:
		return dray_fail(e, DRAY_E_FORMAT, "unknown type %u", p[S_TYPE]);
	}
}

int
dray_index_check_state(const struct dray_index *ix, uint32_t i, struct dray_err *e)
{
	const uint8_t *p = ix_row(ix, DRAY_T_STATES, i);
	uint32_t attrs = dray_get_u32(p + S_ATTRS), nsec = dray_get_u32(p + S_NSEC);

	if ((p[S_FLAGS] & ~S_HAS_MTIME) != 0)
		return dray_fail(e, DRAY_E_FORMAT, "unknown flags %#x", p[S_FLAGS]);
	if (dray_get_u16(p + S_ZERO) != 0)
		return dray_fail(e, DRAY_E_FORMAT, "a reserved byte is not zero");
	if (attrs >= ix->rows[DRAY_T_ATTRS])
		return dray_fail(e, DRAY_E_FORMAT, "names attribute set %" PRIu32 " of %" PRIu32, attrs, ix->rows[DRAY_T_ATTRS]);
	if ((p[S_FLAGS] & S_HAS_MTIME) == 0 && (dray_get_u64(p + S_SEC) != 0 || nsec != 0))
		return dray_fail(e, DRAY_E_FORMAT, "an absent attribute has a value");
	if (nsec >= 1000000000u)
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu32 " nanoseconds are a second or more", nsec);
	return check_by_type(ix, p, e);
}

static int
check_xattrs(struct dray_index *ix, struct dray_err *e)
{
	uint32_t n = ix->rows[DRAY_T_XATTRS];

	for (uint32_t i = 0; i < n; i++)
		if (dray_index_check_xattr(ix, i, e) != 0)
			return dray_wrap(e, "xattr %" PRIu32, i);
	ix->n_xsets = n == 0 ? 0 : dray_get_u32(ix_row(ix, DRAY_T_XATTRS, n - 1) + X_SET) + 1;
	free(ix->xset);
	if ((ix->xset = malloc(((size_t)ix->n_xsets + 1) * sizeof *ix->xset)) == NULL)
		return dray_fail_errno(e, "xattr sets");
	for (uint32_t i = n; i-- > 0; )
		ix->xset[dray_get_u32(ix_row(ix, DRAY_T_XATTRS, i) + X_SET)] = i;
	ix->xset[ix->n_xsets] = n;
	return 0;
}

static int
check_compsets(const struct dray_index *ix, const struct dray_desc *desc, struct dray_err *e)
{
	uint64_t known = desc == NULL || desc->n_components >= 64 ? UINT64_MAX : ((uint64_t)1 << desc->n_components) - 1;

	for (uint32_t i = 0; i < ix->rows[DRAY_T_COMPSETS]; i++) {
		uint64_t mask = dray_index_compset(ix, i);

		if (mask == 0)
			return dray_fail(e, DRAY_E_FORMAT, "component set %" PRIu32 ": is empty", i);
		if ((mask & ~known) != 0)
			return dray_fail(e, DRAY_E_FORMAT, "component set %" PRIu32 ": names a component that is not declared", i);
	}
	return 0;
}

/* each state by itself, and that contents are numbered as states first name them */
static int
check_states(const struct dray_index *ix, struct dray_err *e)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < ix->rows[DRAY_T_STATES]; i++) {
		const uint8_t *p = ix_row(ix, DRAY_T_STATES, i);

		if (dray_index_check_state(ix, i, e) != 0)
			return dray_wrap(e, "state %" PRIu32, i);
		if (dray_get_u32(p + S_LINK) > ix->rows[DRAY_T_ENTRIES])
			return dray_fail(e, DRAY_E_FORMAT, "state %" PRIu32 ": its hard-link group begins outside the entries", i);
		if (p[S_TYPE] != DRAY_FILE)
			continue;
		if (dray_get_u32(p + S_A) > next)
			return dray_fail(e, DRAY_E_FORMAT, "state %" PRIu32 ": content %" PRIu32 " is not in order of first use", i,
			    dray_get_u32(p + S_A));
		if (dray_get_u32(p + S_A) == next)
			next++;
	}
	if (next != ix->rows[DRAY_T_CONTENTS])
		return dray_fail(e, DRAY_E_FORMAT, "content %" PRIu32 ": no state names it", next);
	return 0;
}

struct tables {
	struct dray_index *ix;
	const struct dray_desc *desc;
};

/* three parts that read different tables; none relies on what another has found */
static int
check_part(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	const struct tables *t = ctx;

	(void)worker;
	if (i == 0)
		return check_states(t->ix, e);
	if (i == 2)
		return dray_index_check_tree(t->ix, t->desc, e);
	if (dray_index_check_frames(t->ix, t->desc, e) != 0)
		return -1;
	return dray_index_check_contents(t->ix, e);
}

int
dray_index_check(struct dray_index *ix, const struct dray_desc *desc, unsigned threads, struct dray_err *e)
{
	struct tables t = { .ix = ix, .desc = desc };

	if (check_xattrs(ix, e) != 0)
		return -1;
	for (uint32_t i = 0; i < ix->rows[DRAY_T_ATTRS]; i++)
		if (dray_index_check_attrs(ix, i, e) != 0 || check_fflags(ix, desc, i, e) != 0)
			return dray_wrap(e, "attribute set %" PRIu32, i);
	if (check_compsets(ix, desc, e) != 0 || dray_index_check_names(ix, desc, threads, e) != 0)
		return -1;
	/* several damages: the lowest part that failed tells, whatever the threads */
	if (dray_parallel(threads < 3 ? threads : 3, 3, 1, check_part, &t, e) != 0)
		return -1;
	return dray_index_check_bases(ix, desc, e) != 0 ? -1 : dray_index_check_sizes(ix, desc, e);
}
