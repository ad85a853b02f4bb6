/*
 * plan_live.c - where each base content lies in the live tree now. Paths that were looked at are certain; paths the
 * release does not change are taken at their word, and only the hash of what is made from them counts. A slim bundle
 * has nothing to fall back on, so there the files it builds on are hashed before the plan says yes.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/pool.h"

#include "installer/planning.h"
#include "installer/recipe.h"

enum { BUF = 256 * 1024 };

int
inst_live(struct inst_planning *pl, struct dray_err *e)
{
	uint32_t contents = dray_index_rows(pl->ix, DRAY_T_CONTENTS), rows = dray_index_rows(pl->ix, DRAY_T_ENTRIES);
	struct inst_plan *p = pl->plan;
	struct dray_entry en;
	struct dray_state s;

	p->live_of = malloc(((size_t)contents + 1) * sizeof(*p->live_of));
	pl->sure = calloc((size_t)contents + 1, 1);
	if (p->live_of == NULL || pl->sure == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (uint32_t i = 0; i < contents; i++)
		p->live_of[i] = DRAY_NONE;
	for (uint32_t i = 0; i < rows; i++) {
		uint32_t content = DRAY_NONE;
		bool sure = pl->at[i] != DRAY_NONE;

		dray_index_entry(pl->ix, i, &en);
		if (sure) {
			const struct inst_item *it = &pl->items[pl->at[i]];

			if (it->way == INST_WAY_THERE && it->id.type == DRAY_FILE && !it->unreadable)
				content = it->content;
		} else if (en.target != DRAY_NONE && !inst_row_absent(pl->ix, &en, pl->policy->absent)) {
			dray_index_state(pl->ix, en.target, &s);
			content = s.type == DRAY_FILE ? s.content : DRAY_NONE;
		}
		if (content == DRAY_NONE || (p->live_of[content] != DRAY_NONE && (pl->sure[content] || !sure)))
			continue;
		p->live_of[content] = i;
		pl->sure[content] = sure;
	}
	return 0;
}

uint64_t
inst_live_size(struct inst_planning *pl, uint32_t row)
{
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_err ignored = { 0 };
	struct dray_stat st = { .size = 0 };
	struct dray_walk *w;
	struct dray_entry en;
	int dir;

	if (pl->at[row] != DRAY_NONE)
		return pl->items[pl->at[row]].id.size;
	if ((w = malloc(sizeof(*w))) == NULL)
		return 0;
	dray_index_entry(pl->ix, row, &en);
	dray_walk_init(w, pl->root);
	w->component_walk = pl->o->component_walk;
	if (inst_where_parent(pl->plan, true, w, &en, &dir, leaf, &ignored) != 0 || os_stat_at(dir, leaf, &st) != 0)
		st.size = 0;
	dray_walk_close(w);
	free(w);
	return st.size;
}

struct proof {
	struct inst_planning *pl;
	uint32_t *content;	/* to be proved */
	size_t n;
	uint8_t *wrong;		/* per row of @content */
};

static int
stopped(const struct inst_planning *pl, struct dray_err *e)
{
	return pl->o->stop != NULL && pl->o->stop() != 0 ?
	    dray_fail(e, DRAY_E_SIGNAL, "interrupted; nothing was changed") : 0;
}

static int
watch(void *ctx, size_t len, struct dray_err *e)
{
	(void)len;
	return stopped(ctx, e);
}

/* anything that keeps it from being read as it should be makes it wrong, and is no failure */
static bool
holds(struct inst_planning *pl, struct dray_walk *w, uint32_t content, struct dray_sha256 *h, uint8_t *buf)
{
	const struct dray_watch each = { watch, pl };
	uint8_t sum[DRAY_SHA256_LEN];
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_err ignored = { 0 };
	struct dray_content c;
	struct dray_entry en;
	struct dray_stat st;
	uint64_t size = 0;
	bool same;
	int dir, fd;

	dray_index_content(pl->ix, content, &c);
	dray_index_entry(pl->ix, pl->plan->live_of[content], &en);
	if (inst_where_parent(pl->plan, true, w, &en, &dir, leaf, &ignored) != 0 ||
	    (fd = openat(dir, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) == -1)
		return false;
	same = os_stat_at(fd, "", &st) == 0 && (st.mode & 0170000) == 0100000 &&
	    dray_content_fits(&c, st.size) &&
	    dray_sha256_fd_watch(h, fd, buf, BUF, &each, &size, sum, &ignored) == 0 && dray_content_is(&c, size, sum);
	close(fd);
	return same;
}

static int
prove_job(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct proof *p = ctx;
	struct dray_sha256 *h = NULL;
	struct dray_walk *w = malloc(sizeof(*w));
	uint8_t *buf = malloc(BUF);
	int rc = -1;

	(void)worker;
	if (w == NULL || buf == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
	} else if (dray_sha256_new(&h, e) == 0) {
		dray_walk_init(w, p->pl->root);
		w->component_walk = p->pl->o->component_walk;
		p->wrong[i] = !holds(p->pl, w, p->content[i], h, buf);
		dray_walk_close(w);
		rc = stopped(p->pl, e);
	}
	dray_sha256_free(h);
	free(buf);
	free(w);
	return rc;
}

int
inst_live_prove(struct inst_planning *pl, const uint8_t *needed, bool *changed, struct dray_err *e)
{
	uint32_t contents = dray_index_rows(pl->ix, DRAY_T_CONTENTS);
	struct proof p = { .pl = pl };
	int rc = -1;

	*changed = false;
	p.content = calloc((size_t)contents + 1, sizeof(*p.content));
	p.wrong = calloc((size_t)contents + 1, 1);
	if (p.content == NULL || p.wrong == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	for (uint32_t i = 0; i < contents; i++)
		if (needed[i] != 0 && !pl->sure[i] && pl->plan->live_of[i] != DRAY_NONE)
			p.content[p.n++] = i;
	if (dray_parallel(pl->o->threads < 8 ? 8 : pl->o->threads, p.n, 1, prove_job, &p, e) != 0)
		goto out;
	for (size_t i = 0; i < p.n; i++) {
		pl->sure[p.content[i]] = 1;
		if (p.wrong[i] != 0) {
			pl->plan->live_of[p.content[i]] = DRAY_NONE;
			*changed = true;
		}
	}
	rc = 0;
out:
	free(p.content);
	free(p.wrong);
	return rc;
}

/* is there a symlink above the node, for the release's directory that comes back? */
static bool
behind_link(const struct inst_plan *p, const struct dray_entry *en)
{
	const char *path = en->path;
	char buf[DRAY_PATH_MAX];
	size_t len = en->len;

	return inst_where(p, true, &path, &len, buf) && path == buf;
}

/* the content of a node that the bundle never sends; DRAY_NONE: it can be made from the bundle, or there is none */
static uint32_t
never_sent(const struct inst_planning *pl, const struct inst_node *n, struct dray_entry *en)
{
	struct dray_content c;
	struct dray_state s;

	dray_index_entry(pl->ix, n->entry, en);
	dray_index_state(pl->ix, en->target, &s);
	if (n->from_live || n->merge != 0 || s.type != DRAY_FILE)
		return DRAY_NONE;
	dray_index_content(pl->ix, s.content, &c);
	return c.recipe_count == 0 && c.size > 0 ? s.content : DRAY_NONE;
}

int
inst_live_adopt(struct inst_planning *pl, struct dray_err *e)
{
	struct inst_plan *p = pl->plan;
	uint8_t *needed = calloc((size_t)dray_index_rows(pl->ix, DRAY_T_CONTENTS) + 1, 1);
	struct dray_entry en;
	uint32_t content;
	bool changed;

	if (needed == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	/* first what the index knows of; then, where that is nothing, what a parked symlink leads to */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < p->n_nodes; i++) {
			if ((content = never_sent(pl, &p->nodes[i], &en)) == DRAY_NONE)
				continue;
			needed[content] = 1;
			if (pass == 1 && p->live_of[content] == DRAY_NONE && behind_link(p, &en)) {
				p->live_of[content] = p->nodes[i].entry;
				pl->sure[content] = 0;
			}
		}
		if (inst_live_prove(pl, needed, &changed, e) != 0) {
			free(needed);
			return -1;
		}
	}
	for (size_t i = 0; i < p->n_nodes; i++) {
		if ((content = never_sent(pl, &p->nodes[i], &en)) == DRAY_NONE || p->live_of[content] == DRAY_NONE)
			continue;
		p->nodes[i].from_live = true;
		p->nodes[i].live = p->live_of[content];
		p->recipe_of[content] = INST_RECIPE_UNWANTED;
	}
	free(needed);
	return 0;
}
