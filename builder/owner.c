/*
 * owner.c - rules for owners, and putting them on a release.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/acl.h"
#include "builder/owner.h"
#include "dray/num.h"

#define ID_MAX (UINT32_MAX - 1)		/* all ones mean "no change" to chown(2) */

/* decimal digits up to @stop; *p moves behind it */
static bool
number(const char **p, char stop, uint32_t *out)
{
	const char *end = strchr(*p, stop);
	char text[12];
	uint64_t n;

	if (end == NULL || (size_t)(end - *p) >= sizeof(text))
		return false;
	memcpy(text, *p, (size_t)(end - *p));
	text[end - *p] = '\0';
	if (!dray_parse_u64(text, 0, ID_MAX, &n))
		return false;
	*out = (uint32_t)n;
	*p = stop == '\0' ? end : end + 1;
	return true;
}

static bool
parse_rule(const char *s, struct build_owner_rule *r)
{
	*r = (struct build_owner_rule){ .uid = *s != 'g', .gid = *s != 'u', .last = ID_MAX };
	if (*s == 'u' || *s == 'g')
		s++;
	if (*s == '*') {	/* all become one, not shifted */
		r->all = true;
		s++;
		return *s++ == ':' && number(&s, '\0', &r->to);
	}
	if (strchr(s, '-') != NULL) {
		if (!number(&s, '-', &r->first) || !number(&s, ':', &r->last) || r->last < r->first)
			return false;
	} else {
		if (!number(&s, ':', &r->first))
			return false;
		r->last = r->first;
	}
	return number(&s, '\0', &r->to) && r->to <= ID_MAX - (r->last - r->first);
}

int
build_owner_parse(const char *text, struct build_owner *o, struct dray_err *e)
{
	char rule[64], quoted[200];

	for (const char *p = text;;) {
		size_t n = strcspn(p, ",");

		snprintf(rule, sizeof(rule), "%.*s", n < sizeof(rule) ? (int)n : 0, p);
		if (o->n == BUILD_OWNER_RULES)
			return dray_fail(e, DRAY_E_USAGE, "more than %u rules for owners", BUILD_OWNER_RULES);
		if (!parse_rule(rule, &o->v[o->n++]))
			return dray_fail(e, DRAY_E_USAGE, "owner rule \"%s\": FROM:TO, FROM-LAST:TO or *:TO is wanted, with u or "
			    "g in front for users or groups alone", dray_quote(p, n, quoted, sizeof(quoted)));
		if (p[n] == '\0')
			return 0;
		p += n + 1;
	}
}

/* false: no rule names it */
static bool
by_rule(const struct build_owner *o, bool group, uint32_t id, uint32_t *to)
{
	for (size_t i = 0; i < o->n; i++) {
		const struct build_owner_rule *r = &o->v[i];

		if ((group ? !r->gid : !r->uid) || id < r->first || id > r->last)
			continue;
		*to = r->all ? r->to : r->to + (id - r->first);
		return true;
	}
	return false;
}

static uint32_t
other(const struct build_owner *o, bool group, uint32_t id)
{
	uint32_t to;

	if (by_rule(o, group, id, &to))
		return to;
	return o->as_root ? 0 : id;
}

/* users and groups of ACLs follow the rules; --as-root is about owners */
static int
map_acl(const struct build_owner *o, struct build_arena *arena, struct dray_xattr *x, struct dray_err *e)
{
	uint8_t *p;

	if (x->len == 0 || !build_acl_ok(x->value, x->len))
		return 0;
	if ((p = (uint8_t *)build_arena_copy(arena, x->value, x->len)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < (x->len - BUILD_ACL_HEAD) / BUILD_ACL_ENTRY; i++) {
		struct build_acl_entry en = build_acl_get(p, i);

		if (en.tag != BUILD_ACL_USER && en.tag != BUILD_ACL_GROUP)
			continue;
		if (by_rule(o, en.tag == BUILD_ACL_GROUP, en.id, &en.id))
			build_acl_put(p, i, &en);
	}
	build_acl_sort(p, x->len);
	for (size_t i = 1; i < (x->len - BUILD_ACL_HEAD) / BUILD_ACL_ENTRY; i++) {
		struct build_acl_entry a = build_acl_get(p, i - 1), b = build_acl_get(p, i);

		if (a.tag == b.tag && a.id == b.id)
			return dray_fail(e, DRAY_E_USAGE, "the owner rules make two entries of its ACL the same");
	}
	x->value = p;
	return 0;
}

static int
map_acls(const struct build_owner *o, struct build_release *r, struct build_node *nd, struct dray_err *e)
{
	struct dray_xattr *v;
	bool any = false;

	for (uint32_t i = 0; i < nd->n_xattrs; i++)
		any |= strcmp(nd->xattrs[i].name, BUILD_ACL_ACCESS) == 0 || strcmp(nd->xattrs[i].name, BUILD_ACL_DEFAULT) == 0;
	if (!any || o->n == 0)
		return 0;
	if ((v = build_arena_take(&r->arenas[0], nd->n_xattrs * sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	memcpy(v, nd->xattrs, nd->n_xattrs * sizeof(*v));
	for (uint32_t i = 0; i < nd->n_xattrs; i++)
		if ((strcmp(v[i].name, BUILD_ACL_ACCESS) == 0 || strcmp(v[i].name, BUILD_ACL_DEFAULT) == 0) &&
		    map_acl(o, &r->arenas[0], &v[i], e) != 0)
			return -1;
	nd->xattrs = v;
	return 0;
}

int
build_owner_apply(const struct build_owner *o, struct build_release *r, struct dray_err *e)
{
	for (size_t i = 0; i < r->n; i++) {
		struct build_node *nd = &r->v[i];
		uint32_t uid = other(o, false, nd->uid), gid = other(o, true, nd->gid);
		bool root = (nd->mode & 04000u) != 0 && uid == 0 && nd->uid != 0;

		root |= (nd->mode & 02000u) != 0 && gid == 0 && nd->gid != 0;
		if (nd->type == DRAY_FILE && root) {
			struct build_notice n = { nd->path, nd->len,
				"setuid or setgid, and given to root by the owner rules", false };

			if (build_release_note(r, &n, e) != 0)
				return -1;
		}
		nd->uid = uid;
		nd->gid = gid;
		if (map_acls(o, r, nd, e) != 0)
			return build_path_err(e, r, nd->path, nd->len);
	}
	return 0;
}
