/*
 * rules.c - a policy file in a plan: which rule decides about which path of the release.
 * Source: spec/cli.md, "Policy files".
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "installer/files.h"
#include "installer/planning.h"

int
inst_rules_load(const char *file, struct dray_policy *out, struct dray_err *e)
{
	uint8_t *text = NULL;
	char q[300];
	size_t len;
	int r = inst_read_file(AT_FDCWD, file, DRAY_POLICY_MAX_BYTES, &text, &len, e);

	if (r == 1)
		dray_fail(e, DRAY_E_USAGE, "no such file");
	else if (r == 0)
		r = dray_policy_parse((const char *)text, len, out, e);
	free(text);
	if (r < 0 && e->code == DRAY_E_SYSTEM)
		e->code = DRAY_E_USAGE;		/* no regular file: a mistake of who named it */
	return r == 0 ? 0 : dray_wrap(e, "--policy %s", dray_quote(file, strlen(file), q, sizeof(q)));
}

static int
check_bundled(const struct dray_policy *p, struct dray_err *e)
{
	for (size_t i = 0; i < p->n; i++)
		if (!dray_policy_bundled(p->v[i].action))
			return dray_fail(e, DRAY_E_FORMAT, "%s is nothing that a bundle can say", dray_action_name(p->v[i].action));
	return 0;
}

static bool
has_policy(const struct dray_desc *d)
{
	for (size_t i = 0; i < d->n_members; i++)
		if (strcmp(d->members[i].name, DRAY_POLICY_NOTE) == 0)
			return true;
	return false;
}

int
inst_rules_of_bundle(const struct dray_bundle *b, struct inst_policy *p, struct dray_err *e)
{
	struct dray_policy rules = { .v = NULL };
	bool json = p->rules.json;
	uint8_t *text = NULL;
	size_t len;
	int rc;

	if (p->bundle_asked || p->repair != NULL)
		return 0;
	p->bundle_asked = true;
	if (!has_policy(dray_bundle_desc(b)))
		return 0;
	rc = dray_bundle_member(b, DRAY_POLICY_NOTE, DRAY_POLICY_MAX_BYTES, &text, &len, e);
	if (rc == 0 && (rc = dray_policy_parse((const char *)text, len, &rules, e)) != 0)
		e->code = DRAY_E_FORMAT;
	if (rc == 0)
		rc = check_bundled(&rules, e);
	p->n_bundle = rules.n;
	if (rc == 0)
		rc = dray_policy_join(&p->rules, &rules, e);
	p->rules.json = json;
	dray_policy_free(&rules);
	free(text);
	return rc == 0 ? 0 : dray_wrap(e, "the bundle's " DRAY_POLICY_NOTE);
}

/* what the release does to the path, as the bundle alone tells it */
static uint8_t
case_of(const struct dray_index *ix, const struct dray_entry *en)
{
	struct dray_alt alt;

	if (en->target == DRAY_NONE)
		return DRAY_WHEN_REMOVED;
	if ((en->flags & DRAY_ENTRY_SAME) != 0)
		return DRAY_WHEN_CHANGED;
	for (uint32_t i = 0; i < en->alt_count; i++) {
		dray_index_alt(ix, en->alt_first + i, &alt);
		if (alt.state != DRAY_NONE)
			return DRAY_WHEN_CHANGED;
	}
	return DRAY_WHEN_ADDED;
}

/* SHA-256 of the file that the release has there; NULL: none */
static const uint8_t *
release_sum(const struct dray_index *ix, const struct dray_entry *en)
{
	struct dray_content c;
	struct dray_state s;

	if (en->target == DRAY_NONE)
		return NULL;
	dray_index_state(ix, en->target, &s);
	if (s.type != DRAY_FILE)
		return NULL;
	dray_index_content(ix, s.content, &c);
	return c.sha256;
}

int
inst_rules_begin(struct inst_planning *pl, struct dray_err *e)
{
	const struct dray_policy *p = &pl->policy->rules;
	uint32_t rows = dray_index_rows(pl->ix, DRAY_T_ENTRIES);
	const struct dray_rule *r;
	struct dray_entry en;

	if (p->n == 0)
		return 0;
	pl->rule = calloc((size_t)rows + 1, sizeof(*pl->rule));
	pl->plan->rules_used = calloc(p->n, 1);
	if (pl->rule == NULL || pl->plan->rules_used == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (uint32_t row = 0; row < rows; row++) {
		dray_index_entry(pl->ix, row, &en);
		if ((r = dray_policy_find(p, en.path, en.len, case_of(pl->ix, &en), release_sum(pl->ix, &en))) == NULL)
			continue;
		pl->rule[row] = (uint16_t)(r - p->v + 1);
		pl->plan->rules_used[r - p->v] = 1;
	}
	return 0;
}

const struct dray_rule *
inst_rule_of(const struct inst_planning *pl, uint32_t row)
{
	return pl->rule == NULL || pl->rule[row] == 0 ? NULL : &pl->policy->rules.v[pl->rule[row] - 1];
}

enum dray_action
inst_rule(const struct inst_planning *pl, uint32_t row)
{
	const struct dray_rule *r = inst_rule_of(pl, row);

	return r == NULL ? DRAY_ACT_NONE : r->action;
}

bool
inst_wants_strict(const struct inst_planning *pl, uint32_t row)
{
	enum dray_action a = inst_rule(pl, row);

	return a == DRAY_ACT_THEIRS || a == DRAY_ACT_STRICT || ((a == DRAY_ACT_NONE || a == DRAY_ACT_KEEP_METADATA) && pl->policy->strict);
}

void
inst_rules_apply(const struct inst_planning *pl, struct inst_item *it)
{
	enum dray_action a = inst_rule(pl, it->row);

	it->held = it->decision == INST_D_KEEP && it->id.type != DRAY_ABSENT && (a == DRAY_ACT_IGNORE || a == DRAY_ACT_MINE);
	if (it->untouched || it->decision == INST_D_SAME || it->decision == INST_D_KEEP || it->decision == INST_D_UNREAD)
		return;
	if (a == DRAY_ACT_IGNORE)
		inst_keep(it, it->id.type == DRAY_ABSENT ? INST_NOTE_NOT_ADDED : INST_NOTE_IGNORED);
	else if (a == DRAY_ACT_MINE && it->id.type != DRAY_ABSENT && it->bases == 0 && !it->is_target)
		inst_keep(it, INST_NOTE_MINE);
	else
		return;
	it->held = it->id.type != DRAY_ABSENT;
	it->park = it->edited = it->lost = it->merges = it->own_attrs = false;
	it->why = NULL;
}
