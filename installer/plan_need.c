/*
 * plan_need.c - what the plan costs: frames to read, room and inodes on the target.
 * Source: spec/apply.md, "Plan".
 */
#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/merge3.h"
#include "dray/num.h"

#include "installer/outputs.h"
#include "installer/recipe.h"

#define JOURNAL_OP 256u			/* bytes of one op in the plan file, its path excepted */
#define UNSIZED 2			/* a hard-link group whose content of unknown size was counted */
#define STATE_BYTES (64u * 1024u)	/* log, anchor, bundle.json, folders */
#define STATE_INODES 200u		/* 64 slot folders, log, plan, installer, release head, and what we forgot */

/* sums that cannot wrap: a size nobody has room for stays one */
static uint64_t
plus(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return dray_add(a, b, &sum) ? sum : UINT64_MAX;
}

/* mark the frames of one content */
static void
mark(struct inst_planning *pl, const struct dray_recipe *r)
{
	struct inst_plan *p = pl->plan;
	struct dray_piece piece;
	struct dray_frame f;

	for (uint32_t i = 0; i < r->piece_count; i++) {
		dray_index_piece(pl->ix, r->piece_first + i, &piece);
		if (p->frames[piece.frame] != 0)
			continue;
		p->frames[piece.frame] = 1;
		dray_index_frame(pl->ix, piece.frame, &f);
		p->payload = plus(p->payload, f.stored);
	}
}

/* the base contents a recipe reads */
static void
mark_bases(const struct inst_planning *pl, uint32_t content, const struct dray_recipe *r, uint8_t *needed)
{
	struct dray_piece piece;
	struct dray_frame f;
	struct dray_range range;

	if (r->kind == DRAY_RECIPE_COPY)
		needed[content] = 1;
	for (uint32_t i = 0; i < r->piece_count; i++) {
		dray_index_piece(pl->ix, r->piece_first + i, &piece);
		dray_index_frame(pl->ix, piece.frame, &f);
		for (uint32_t k = 0; k < f.range_count; k++) {
			dray_index_range(pl->ix, f.range_first + k, &range);
			needed[range.content] = 1;
		}
	}
}

/* choose a recipe for each wanted content; a slim bundle's bases are proved first, since nothing can stand in */
static int
choose_recipes(struct inst_planning *pl, struct dray_err *e)
{
	uint32_t contents = dray_index_rows(pl->ix, DRAY_T_CONTENTS);
	struct inst_plan *p = pl->plan;
	struct dray_recipe r;
	uint8_t *needed;
	bool again;
	int rc = 0;

	if ((needed = malloc((size_t)contents + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	do {
		again = false;
		memset(needed, 0, (size_t)contents + 1);
		for (uint32_t i = 0; i < contents; i++) {
			if (p->recipe_of[i] == INST_RECIPE_UNWANTED)
				continue;
			p->recipe_of[i] = inst_recipe_next(pl->ix, i, 0, p->live_of, &r);
			if (p->recipe_of[i] != INST_RECIPE_NONE)
				mark_bases(pl, i, &r, needed);
		}
		if (pl->desc->slim)
			rc = inst_live_prove(pl, needed, &again, e);
	} while (rc == 0 && again);
	free(needed);
	if (rc != 0)
		return -1;
	for (uint32_t i = 0; i < contents; i++)
		if (p->recipe_of[i] < INST_RECIPE_UNWANTED && inst_recipe_next(pl->ix, i, p->recipe_of[i], p->live_of, &r) !=
		    INST_RECIPE_NONE && r.kind != DRAY_RECIPE_COPY)
			mark(pl, &r);
	return 0;
}

/* a path with this content in some base or in the release, for messages */
static bool
path_of(const struct inst_planning *pl, uint32_t content, struct dray_entry *en)
{
	struct dray_state s;
	struct dray_alt alt;

	for (uint32_t i = 0; i < dray_index_rows(pl->ix, DRAY_T_ENTRIES); i++) {
		dray_index_entry(pl->ix, i, en);
		for (uint32_t k = 0; k <= en->alt_count; k++) {
			uint32_t row = en->target;

			if (k < en->alt_count) {
				dray_index_alt(pl->ix, en->alt_first + k, &alt);
				row = alt.state;
			}
			if (row == DRAY_NONE)
				continue;
			dray_index_state(pl->ix, row, &s);
			if (s.type == DRAY_FILE && s.content == content)
				return true;
		}
	}
	return false;
}

static int
no_recipe(struct inst_planning *pl, struct inst_item *it, uint32_t content, struct dray_err *e)
{
	static const char text[] = "builds on a file that is not here as released: ";
	struct dray_content c;
	struct dray_recipe r;
	struct dray_entry en;
	char q[100], why[sizeof(text) + sizeof(q)];

	pl->plan->lacking++;
	it->decision = INST_D_CONFLICT;
	it->why = "the bundle holds no copy of it";
	dray_index_content(pl->ix, content, &c);
	if (c.recipe_count == 0)
		return 0;
	dray_index_recipe(pl->ix, c.recipe_first, &r);
	if (!path_of(pl, inst_recipe_missing(pl->ix, content, &r, pl->plan->live_of), &en))
		return 0;
	snprintf(why, sizeof(why), "%s%s", text, dray_quote(en.path, en.len, q, sizeof(q)));
	if (inst_item_broke(it, why, e) != 0)
		return -1;
	it->why = it->rare->broke;
	return 0;
}

static uint64_t
rounded(uint64_t size, uint64_t block)
{
	uint64_t out;

	return dray_round_up(size, block, &out) ? out : UINT64_MAX;
}

/* the copy of the installer that is kept beside the journal */
static uint64_t
own_size(void)
{
	struct stat st;
	uint64_t size = 0;
	int fd = os_self_exe();

	if (fd == -1)
		return 0;
	if (fstat(fd, &st) == 0 && st.st_size > 0)
		size = (uint64_t)st.st_size;
	close(fd);
	return size;
}

uint64_t
inst_ballast(uint64_t names_added)
{
	/* nobody has UINT64_MAX */
	return plus(names_added > UINT64_MAX / 4096 ? UINT64_MAX : names_added * 4096, 1024 * 1024);
}

/* the release's texts that are kept beside edits that stay: theirs.c */
static void
need_theirs(const struct inst_planning *pl, uint32_t content)
{
	struct inst_site *root = &pl->plan->sites[0];
	struct dray_content c;

	dray_index_content(pl->ix, content, &c);
	if (c.recipe_count == 0 || c.size > DRAY_MERGE3_MAX_BYTES)
		return;
	root->need_bytes = plus(root->need_bytes, rounded(c.size, root->fs.block));
	root->need_inodes = plus(root->need_inodes, 1);
}

static void
need_all_theirs(const struct inst_planning *pl)
{
	struct dray_state s;

	for (size_t i = 0; i < pl->n; i++)
		if (pl->items[i].note == INST_NOTE_MINE + 1 && inst_item_target(pl, &pl->items[i], &s) && s.type == DRAY_FILE)
			need_theirs(pl, s.content);
	for (size_t i = 0; i < pl->plan->n_merges; i++)
		if (pl->plan->merges[i].result == INST_MERGED_USED)
			need_theirs(pl, pl->plan->merges[i].theirs);
}

/* copies of what triggers will change */
static void
need_outputs(struct inst_planning *pl)
{
	for (size_t i = 0; pl->n_outputs > 0 && i < pl->plan->n_swaps; i++) {
		const struct inst_op *op = &pl->plan->ops[i];
		struct inst_site *site = &pl->plan->sites[op->site];

		for (size_t k = 0; inst_op_copies(op) && k < pl->n_outputs; k++)
			if (pl->outputs[k].path == op->path) {
				site->need_bytes = plus(site->need_bytes, rounded(pl->outputs[k].bytes, site->fs.block));
				site->need_bytes = plus(site->need_bytes, site->fs.block);
				site->need_inodes = plus(site->need_inodes, pl->outputs[k].objects);
			}
	}
}

/* what the journal takes on the root's own file system, and the ballast on each */
static void
need_room(struct inst_planning *pl)
{
	struct inst_plan *p = pl->plan;
	struct inst_site *root = &p->sites[0];

	if (p->n_ops == 0)
		return;
	for (size_t i = 0; i < p->n_ops; i++) {
		const struct inst_op *op = &p->ops[i];

		root->need_bytes = plus(root->need_bytes, JOURNAL_OP + op->len);
		if (op->kind == INST_OP_META)
			root->need_bytes = plus(root->need_bytes, (uint64_t)op->attrs->before.xattrs_len + op->attrs->after.xattrs_len);
		/* an upper bound: as if no two additions shared a directory */
		if (op->kind == INST_OP_SWAP && op->old.type == DRAY_ABSENT)
			p->sites[op->site].names_added++;
	}
	root->need_bytes = plus(root->need_bytes, plus(STATE_BYTES, rounded(p->list_len, root->fs.block)));
	root->need_bytes = plus(root->need_bytes, rounded(dray_bundle_head_len(pl->b), root->fs.block));
	root->need_bytes = plus(root->need_bytes, rounded(own_size(), root->fs.block));
	need_all_theirs(pl);
	need_outputs(pl);
	for (size_t i = 0; i < p->n_sites; i++) {
		struct inst_site *site = &p->sites[i];

		site->need_bytes = plus(site->need_bytes, inst_ballast(site->names_added));
		site->need_inodes = plus(site->need_inodes, STATE_INODES);
	}
}

bool
inst_site_short(const struct inst_plan *p, size_t site, uint64_t *bytes, uint64_t *inodes)
{
	const struct inst_site *s = &p->sites[site];

	*bytes = *inodes = 0;
	if (s->shares != site)	/* counted there */
		return false;
	for (size_t i = site; i < p->n_sites; i++)
		if (p->sites[i].shares == site) {
			*bytes = plus(*bytes, p->sites[i].need_bytes);
			*inodes = plus(*inodes, p->sites[i].need_inodes);
		}
	return *bytes > s->fs.free_bytes || *inodes > s->fs.free_inodes;
}

/* the file node's content, if the bundle has to give it; a hard-link group wants its content once */
static bool
wants(struct inst_planning *pl, const struct inst_node *node, uint8_t *groups, struct dray_state *s)
{
	if (!inst_item_target(pl, &pl->items[pl->at[node->entry]], s))
		return false;
	if (node->group != 0) {
		if (groups[node->group] != 0)
			return false;
		groups[node->group] = 1;
	}
	return true;
}

/* a content of unknown size is only ever copied, and takes what the file takes that has it */
static void
need_unsized(struct inst_planning *pl, const struct inst_node *node, uint8_t *groups)
{
	struct inst_site *site = &pl->plan->sites[pl->plan->ops[node->op].site];
	struct dray_content c;
	struct dray_state s;

	if (!node->from_live || !inst_item_target(pl, &pl->items[pl->at[node->entry]], &s) || s.type != DRAY_FILE)
		return;
	dray_index_content(pl->ix, s.content, &c);
	if (c.size != DRAY_SIZE_UNKNOWN || groups[node->group] == UNSIZED)
		return;
	if (node->group != 0)
		groups[node->group] = UNSIZED;
	site->need_bytes = plus(site->need_bytes, rounded(inst_live_size(pl, node->live), site->fs.block));
}

int
inst_need(struct inst_planning *pl, struct dray_err *e)
{
	struct inst_plan *p = pl->plan;
	uint32_t n_frames = dray_index_rows(pl->ix, DRAY_T_FRAMES), n_rows = dray_index_rows(pl->ix, DRAY_T_ENTRIES),
	    contents = dray_index_rows(pl->ix, DRAY_T_CONTENTS);
	uint8_t *groups;		/* hard-link groups whose object has its content already */
	struct dray_content c;
	struct dray_state s;
	int rc = -1;

	p->frames = calloc((size_t)n_frames + 1, 1);
	p->recipe_of = malloc(((size_t)contents + 1) * sizeof(*p->recipe_of));
	groups = calloc((size_t)n_rows + 2, 1);
	if (p->frames == NULL || groups == NULL || p->recipe_of == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	for (uint32_t i = 0; i < contents; i++)
		p->recipe_of[i] = INST_RECIPE_UNWANTED;
	for (size_t i = 0; i < p->n_nodes; i++) {
		struct inst_site *site = &p->sites[p->ops[p->nodes[i].op].site];

		site->need_inodes = plus(site->need_inodes, 1);
		if (!wants(pl, &p->nodes[i], groups, &s))
			continue;
		site->need_bytes = plus(site->need_bytes, site->fs.block);
		if (s.type != DRAY_FILE)
			continue;
		if (p->nodes[i].merge != 0) {
			site->need_bytes = plus(site->need_bytes, rounded(p->merges[p->nodes[i].merge - 1].len, site->fs.block));
			continue;
		}
		dray_index_content(pl->ix, s.content, &c);
		site->need_bytes = plus(site->need_bytes, rounded(dray_content_bytes(&c), site->fs.block));
		if (!p->nodes[i].from_live && c.size != 0)
			p->recipe_of[s.content] = 0;
	}
	if (inst_live(pl, e) != 0 || inst_live_adopt(pl, e) != 0 || choose_recipes(pl, e) != 0)
		goto out;
	for (size_t i = 0; i < p->n_nodes; i++) {
		struct inst_item *it = &pl->items[pl->at[p->nodes[i].entry]];

		need_unsized(pl, &p->nodes[i], groups);
		if (!p->nodes[i].from_live && p->nodes[i].merge == 0 && inst_item_target(pl, it, &s) && s.type == DRAY_FILE &&
		    p->recipe_of[s.content] == INST_RECIPE_NONE && inst_rare(it)->broke == NULL && no_recipe(pl, it, s.content, e) != 0)
			goto out;
	}
	need_room(pl);
	rc = 0;
out:
	free(groups);
	return rc;
}
