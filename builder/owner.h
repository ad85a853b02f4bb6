/*
 * owner.h - other owners than those of the source: a tree unpacked by a person, or in a container with its own range
 * of numbers, becomes what the machines shall see.
 */
#ifndef BUILD_OWNER_H
#define BUILD_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/release.h"
#include "dray/err.h"

#define BUILD_OWNER_RULES 64u

struct build_owner_rule {
	bool uid, gid;			/* which numbers it speaks of */
	bool all;			/* all of them become @to */
	uint32_t first, last, to;	/* first + i becomes to + i */
};

struct build_owner {
	struct build_owner_rule v[BUILD_OWNER_RULES];
	size_t n;
	bool as_root;			/* what no rule names becomes 0 */
};

/**
 * build_owner_parse - add RULE[,RULE...]; RULE is [u|g]FROM[-LAST]:TO, or [u|g]*:TO for all numbers
 * Without u or g it holds for users and groups. DRAY_E_USAGE names what is wrong.
 */
DRAY_MUST_CHECK int build_owner_parse(const char *text, struct build_owner *o, struct dray_err *e);

/**
 * build_owner_apply - the first rule that holds is used, for owners and for the numbers within ACLs
 * Programs that run with their owner's rights and come to belong to root are noticed.
 */
DRAY_MUST_CHECK int build_owner_apply(const struct build_owner *o, struct build_release *r, struct dray_err *e);

#endif
