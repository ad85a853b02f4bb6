/*
 * facts.c - what the plan knows of each path it changes or leaves alone, as the list that stays for good, and which
 * triggers are due. Source: spec/apply.md, "Evidence".
 */
#include <string.h>

#include "dray/digest.h"
#include "dray/glob.h"
#include "dray/json.h"

#include "installer/planning.h"

/* 0: nothing happens to it, and nobody chose so either */
static char
letter(const struct inst_item *it)
{
	switch ((enum inst_decision)it->decision) {
	case INST_D_ADD:
		return '+';
	case INST_D_UPDATE:
		return '~';
	case INST_D_REMOVE:
		return '-';
	case INST_D_TYPE:
		return 't';
	case INST_D_META:
		return it->times_only ? '\0' : 'm';
	case INST_D_KEEP:
		return it->untouched ? '\0' : '.';
	case INST_D_SAME:
	case INST_D_CONFLICT:	/* these refuse the plan as a whole */
	case INST_D_BLOCKED:
	case INST_D_UNREAD:
	case INST_D_UNDER:
		break;
	}
	return '\0';
}

static int
before(const struct dray_index *ix, const struct inst_item *it, struct dray_sha256 *h, struct dray_ev_side *s, struct dray_err *e)
{
	*s = (struct dray_ev_side){ .type = it->id.type };
	if (s->type == DRAY_ABSENT)
		return 0;
	s->has = (uint8_t)(it->has & (DRAY_HAS_MODE | DRAY_HAS_UID | DRAY_HAS_GID));
	s->mode = it->mode;
	s->uid = it->uid;
	s->gid = it->gid;
	if (s->type == DRAY_FILE)
		memcpy(s->sha256, inst_item_sum(ix, it), 32);
	else if (s->type == DRAY_SYMLINK)
		return dray_sha256_once(h, inst_rare(it)->link, inst_rare(it)->link_len, s->sha256, e);
	return 0;
}

/* what the release does not tell of the attributes, or what was not asked for, stays as it is */
static int
attributes(const struct inst_planning *pl, const struct dray_state *state, struct dray_ev_side *s, struct dray_err *e)
{
	struct inst_meta m;

	if (inst_meta_of_state(pl->ix, state, &m, e) != 0)
		return -1;
	if (pl->policy->no_owner)
		inst_meta_plain(&m);
	if ((m.has & DRAY_HAS_MODE) != 0)
		s->mode = m.mode;
	if ((m.has & DRAY_HAS_UID) != 0)
		s->uid = m.uid;
	if ((m.has & DRAY_HAS_GID) != 0)
		s->gid = m.gid;
	s->has |= (uint8_t)(m.has & (DRAY_HAS_MODE | DRAY_HAS_UID | DRAY_HAS_GID));
	inst_meta_free(&m);
	return 0;
}

static int
after(const struct inst_planning *pl, const struct inst_item *it, struct dray_sha256 *h, struct dray_ev_row *row,
    struct dray_err *e)
{
	struct dray_ev_side *s = &row->after;
	struct dray_content c;
	struct dray_state state;

	*s = (struct dray_ev_side){ .type = DRAY_ABSENT };
	if (row->change == '.')
		*s = row->before;
	if (row->change == '.' || row->change == '-' || !inst_item_target(pl, it, &state))
		return 0;
	if (row->change == 'm') {
		*s = row->before;
		return attributes(pl, &state, s, e);
	}
	s->type = state.type;
	if (attributes(pl, &state, s, e) != 0)
		return -1;
	if (state.type == DRAY_FILE) {
		dray_index_content(pl->ix, state.content, &c);
		memcpy(s->sha256, c.sha256, 32);
	} else if (state.type == DRAY_SYMLINK) {
		return dray_sha256_once(h, state.target, state.target_len, s->sha256, e);
	}
	return 0;
}

/* the triggers that wait for a change of this path; their shape was checked with the descriptor */
static int
call_triggers(struct inst_planning *pl, const struct dray_ev_row *row, struct dray_err *e)
{
	const struct dray_json *paths;
	const char *pattern;
	size_t n, len;

	for (size_t i = 0; i < pl->desc->n_triggers; i++) {
		if (pl->plan->due[i])
			continue;
		if (dray_json_arr(dray_json_at(pl->desc->triggers, i), "paths", &paths, &n, "trigger", e) != 0)
			return -1;
		for (size_t k = 0; k < n && !pl->plan->due[i]; k++) {
			pattern = dray_json_text(dray_json_at(paths, k), &len);
			pl->plan->due[i] = pattern != NULL && dray_glob_covers(pattern, len, row->path, row->len);
		}
	}
	return 0;
}

int
inst_facts(struct inst_planning *pl, struct dray_err *e)
{
	struct dray_sha256 *h = NULL;
	struct dray_ev_row row;
	struct dray_entry en;
	int rc = -1;

	if (dray_sha256_new(&h, e) != 0)
		return -1;
	for (size_t i = 0; i < pl->n; i++) {
		const struct inst_item *it = &pl->items[i];

		if ((row.change = letter(it)) == '\0')
			continue;
		dray_index_entry(pl->ix, it->row, &en);
		row.path = en.path;
		row.len = en.len;
		row.flags = (uint8_t)((it->park ? DRAY_EV_PARKED : 0) | (it->edited && row.change == 'm' ? DRAY_EV_EDIT : 0) |
		    (it->lost ? DRAY_EV_ATTRS : 0) | ((en.flags & DRAY_ENTRY_CONFIG) != 0 ? DRAY_EV_CONFIG : 0));
		if (before(pl->ix, it, h, &row.before, e) != 0 || after(pl, it, h, &row, e) != 0 ||
		    dray_ev_add(&pl->plan->list, &row, e) != 0 ||
		    (row.change != '.' && call_triggers(pl, &row, e) != 0))
			goto out;
	}
	rc = dray_ev_end(&pl->plan->list, e);
out:
	dray_sha256_free(h);
	return rc;
}
