/*
 * merges.c - a file that was edited here and that the release changes: the edit goes into the release's text, line by line, or
 * it is a conflict. Source: spec/cli.md, "Merging".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/io.h"
#include "dray/json.h"
#include "dray/merge3.h"
#include "dray/num.h"
#include "dray/pool.h"

#include "installer/files.h"
#include "installer/planning.h"
#include "installer/texts.h"

#define ALL_TEXTS (UINT64_C(256) * 1024u * 1024u)	/* most of all new texts together: they are held until they are staged */

enum { LABEL = 96 };	/* bytes of a label at a marker */

struct text { uint8_t *p; size_t len; };

struct worker {
	struct inst_texts *texts;
	struct dray_walk walk;
	struct dray_sha256 *h;
};

struct merging {
	struct inst_planning *pl;
	struct worker *workers;
	size_t tree[DRAY_MAX_BASES];	/* paths that match each base */
};

static void
conflict(struct inst_merge *m, const char *why)
{
	m->result = INST_MERGED_CONFLICT;
	m->why = why;
}

/* what is there, which must be what plan has seen */
static int
read_mine(struct inst_planning *pl, struct worker *w, const struct inst_item *it, struct text *mine, struct dray_err *e)
{
	uint8_t sum[DRAY_SHA256_LEN];
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_entry en;
	int dir, fd, rc = -1;

	dray_index_entry(pl->ix, it->row, &en);
	mine->len = (size_t)it->id.size;
	if ((mine->p = malloc(mine->len + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if ((rc = inst_where_parent(pl->plan, false, &w->walk, &en, &dir, leaf, e)) != 0)
		return rc < 0 ? -1 : dray_fail(e, DRAY_E_DRIFT, "went away while the plan was being made");
	if ((fd = openat(dir, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) == -1)
		return errno == ENOENT || inst_no_file(errno) ? dray_fail(e, DRAY_E_DRIFT, "went away while the plan was being made") :
		    dray_fail_errno(e, "open");
	errno = 0;
	if (!dray_pread_whole(fd, mine->p, mine->len, 0) && errno != 0)
		rc = dray_fail_errno(e, "read");
	else if ((rc = dray_sha256_once(w->h, mine->p, mine->len, sum, e)) == 0 &&
	    memcmp(sum, inst_item_sum(pl->ix, it), sizeof(sum)) != 0)
		rc = dray_fail(e, DRAY_E_DRIFT, "changed while it was being read");
	close(fd);	/* read only */
	return rc;
}

/* a text that was decided on lies beside the policy, named by its hash */
static int
read_decided(const struct inst_planning *pl, struct worker *w, struct inst_merge *m, struct dray_err *e)
{
	const bool state = (size_t)(m->rule - pl->policy->rules.v) < pl->policy->n_decided;
	const char *dir = state ? pl->policy->decided : pl->policy->texts != NULL ? pl->policy->texts : "";
	size_t cap = strlen(dir) + 65;
	char hex[65], q[300], *name = malloc(cap);
	uint8_t sum[DRAY_SHA256_LEN];
	int r;

	if (name == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	snprintf(name, cap, "%s%s", dir, dray_hex(m->rule->sha256, 32, hex));
	r = inst_read_file(AT_FDCWD, name, DRAY_MERGE3_MAX_BYTES, &m->text, &m->len, e);
	if (r == 1)
		r = dray_fail(e, DRAY_E_USAGE, "no such file");
	else if (r == 0 && (r = dray_sha256_once(w->h, m->text, m->len, sum, e)) == 0 && memcmp(sum, m->rule->sha256, sizeof(sum)) != 0)
		r = dray_fail(e, DRAY_E_USAGE, "it is not the text of that name: its hash differs");
	if (r != 0) {
		if (e->code == DRAY_E_SYSTEM)
			e->code = DRAY_E_USAGE;		/* no regular file */
		dray_wrap(e, "the text decided on, %s", dray_quote(name, strlen(name), q, sizeof(q)));
	}
	free(name);
	memcpy(m->sha256, m->rule->sha256, 32);
	if (r == 0 && dray_merge3_marker(m->text, m->len) != 0)
		conflict(m, "the text decided on still holds a conflict marker");
	else
		m->result = INST_MERGED_USED;
	return r;
}

static bool
same_text(const struct text *a, const uint8_t *p, size_t len)
{
	return a->len == len && (len == 0 || memcmp(a->p, p, len) == 0);
}

/* lines that the former text and mine have in common */
static uint64_t
shared(const struct dray_merge3 *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->part[i].take == DRAY_MERGE3_SAME || r->part[i].take == DRAY_MERGE3_FROM_THEIRS)
			n += r->part[i].side[DRAY_MERGE3_MINE].n;
	return n;
}

static const char *
why_of_parts(const struct dray_merge3 *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->part[i].why == dray_merge3_one_number)
			return dray_merge3_one_number;
	return NULL;
}

/* the result of one merge as that of the file; takes its text */
static void
take_result(struct inst_merge *m, struct dray_merge3 *r, uint32_t base, const struct text *mine, const struct text *theirs)
{
	free(m->text);
	m->text = NULL;
	m->len = 0;
	m->base = base;
	m->why = r->why != NULL ? r->why : why_of_parts(r);
	m->places = r->why != NULL ? 0 : r->conflicts;
	if (r->conflicts > 0) {
		m->result = INST_MERGED_CONFLICT;
		if (m->keep) {
			m->text = r->text;
			m->len = r->len;
			r->text = NULL;
		}
	} else if (same_text(theirs, r->text, r->len)) {
		m->result = INST_MERGED_THEIRS;
	} else if (same_text(mine, r->text, r->len)) {
		m->result = INST_MERGED_MINE;
	} else {
		m->result = INST_MERGED;
		m->text = r->text;
		m->len = r->len;
		r->text = NULL;
	}
}

/* "released VERSION" of a base that has the content; several may */
static void
name_base(const struct inst_planning *pl, const struct dray_entry *en, uint32_t content, char label[LABEL])
{
	struct dray_alt alt;
	struct dray_state s;

	snprintf(label, LABEL, "released before");
	for (uint32_t i = 0; i < en->alt_count; i++) {
		dray_index_alt(pl->ix, en->alt_first + i, &alt);
		if (alt.state == DRAY_NONE || alt.bases == 0)
			continue;
		dray_index_state(pl->ix, alt.state, &s);
		if (s.type == DRAY_FILE && s.content == content)
			snprintf(label, LABEL, "released %s", pl->desc->bases[__builtin_ctzll(alt.bases)].version);
	}
}

/* with the former text that fits best: fewest conflicts, then most lines in common with what is here */
static int
try_bases(const struct merging *g, struct worker *w, struct inst_merge *m, const struct text *mine,
    const struct text *theirs, struct dray_err *e)
{
	const struct inst_planning *pl = g->pl;
	const struct inst_item *it = &pl->items[pl->at[m->row]];
	uint32_t v[INST_BASES_MOST];
	size_t n = inst_bases_here(pl, it, g->tree, v), best_conflicts = SIZE_MAX;
	uint64_t best_shared = 0;
	struct dray_merge3_in in = { .side = { { .p = mine->p, .len = mine->len }, { .p = NULL },
	    { .p = theirs->p, .len = theirs->len } }, .no_base = n == 0 };
	char before[LABEL], now[LABEL];
	struct dray_entry en;

	dray_index_entry(pl->ix, m->row, &en);
	snprintf(now, sizeof(now), "released %s", pl->desc->version);
	in.side[DRAY_MERGE3_THEIRS].label = now;
	in.kind = dray_merge3_kind(en.path, en.len);
	conflict(m, "the bundle carries no former text to merge with");
	for (size_t i = 0; i < n || (n == 0 && i == 0); i++) {
		struct text base = { NULL, 0 };
		struct dray_merge3 r;
		int rc = n == 0 ? 0 : inst_text_read(w->texts, v[i], DRAY_MERGE3_MAX_BYTES, &base.p, &base.len, e);

		if (rc == 1)
			continue;
		name_base(pl, &en, n == 0 ? DRAY_NONE : v[i], before);
		in.side[DRAY_MERGE3_BASE] = (struct dray_merge3_text){ .p = base.p, .len = base.len, .label = before };
		if (rc != 0 || dray_merge3(&in, &r, e) != 0) {
			free(base.p);
			return -1;
		}
		if (r.conflicts < best_conflicts || (r.conflicts == best_conflicts && shared(&r) > best_shared)) {
			best_conflicts = r.conflicts;
			best_shared = shared(&r);
			take_result(m, &r, n == 0 ? DRAY_NONE : v[i], mine, theirs);
		}
		dray_merge3_free(&r);
		free(base.p);
	}
	return 0;
}

static int
merge_one(const struct merging *g, struct worker *w, struct inst_merge *m, struct dray_err *e)
{
	struct inst_planning *pl = g->pl;
	const struct inst_item *it = &pl->items[pl->at[m->row]];
	struct text mine = { NULL, 0 }, theirs = { NULL, 0 };
	int rc;

	if (m->rule != NULL && m->rule->action == DRAY_ACT_USE)
		return read_decided(pl, w, m, e);
	if (it->id.size > DRAY_MERGE3_MAX_BYTES) {
		conflict(m, "it is too large to be merged line by line");
		return 0;
	}
	rc = inst_text_read(w->texts, m->theirs, DRAY_MERGE3_MAX_BYTES, &theirs.p, &theirs.len, e);
	if (rc == 1)
		conflict(m, "the bundle carries no full copy to merge with");
	else if (rc == 0 && (rc = read_mine(pl, w, it, &mine, e)) == 0)
		rc = try_bases(g, w, m, &mine, &theirs, e);
	free(mine.p);
	free(theirs.p);
	if (rc == 0 && m->text != NULL)
		rc = dray_sha256_once(w->h, m->text, m->len, m->sha256, e);
	return rc < 0 ? -1 : 0;
}

static int
merge_job(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct merging *g = ctx;
	struct inst_merge *m = &g->pl->plan->merges[i];
	struct dray_entry en;
	char q[300];

	if (g->pl->o->stop != NULL && g->pl->o->stop() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted; nothing was changed");
	if (merge_one(g, &g->workers[worker], m, e) == 0)
		return 0;
	dray_index_entry(g->pl->ix, m->row, &en);
	return dray_wrap(e, "%s", dray_quote(en.path, en.len, q, sizeof(q)));
}

static int
with_workers(struct merging *g, unsigned n, struct dray_err *e)
{
	int rc = -1;

	if ((g->workers = calloc(n, sizeof(*g->workers))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (unsigned i = 0; i < n; i++) {
		dray_walk_init(&g->workers[i].walk, g->pl->root);
		g->workers[i].walk.component_walk = g->pl->o->component_walk;
	}
	for (unsigned i = 0; i < n; i++)
		if (inst_texts_new(g->pl->b, &g->workers[i].texts, e) != 0 || dray_sha256_new(&g->workers[i].h, e) != 0)
			goto out;
	rc = dray_parallel(n, g->pl->plan->n_merges, 1, merge_job, g, e);
out:
	for (unsigned i = 0; i < n; i++) {
		inst_texts_free(g->workers[i].texts);
		dray_sha256_free(g->workers[i].h);
		dray_walk_close(&g->workers[i].walk);
	}
	free(g->workers);
	return rc;
}

static int
list(struct inst_planning *pl, size_t n, struct dray_err *e)
{
	struct inst_plan *p = pl->plan;
	struct dray_state s;
	struct inst_rare *r;

	if ((p->merges = calloc(n + 1, sizeof(*p->merges))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < pl->n; i++) {
		struct inst_item *it = &pl->items[i];

		if (!it->merges || it->decision != INST_D_UPDATE || !inst_item_target(pl, it, &s))
			continue;
		if ((r = inst_rare_new(it, e)) == NULL)
			return -1;
		p->merges[p->n_merges++] = (struct inst_merge){ .row = it->row, .base = DRAY_NONE, .theirs = s.content,
			.rule = inst_rule_of(pl, it->row), .keep = pl->o->conflict_texts };
		r->merge = (uint32_t)p->n_merges;
		p->merges[r->merge - 1].bundled = pl->rule != NULL && pl->rule[it->row] > pl->policy->rules.n - pl->policy->n_bundle;
	}
	return 0;
}

const char *
inst_merge_why(const struct inst_merge *m, char text[INST_MERGE_WHY])
{
	if (m->places == 0)
		snprintf(text, INST_MERGE_WHY, "edited here, changed by the release: %s", m->why);
	else
		snprintf(text, INST_MERGE_WHY, "%zu place%s where both changed it%s%s", m->places, m->places == 1 ? "" : "s",
		    m->why != NULL ? ": " : "", m->why != NULL ? m->why : "");
	return text;
}

static int
settle_conflict(struct inst_item *it, const struct inst_merge *m, struct dray_err *e)
{
	char text[INST_MERGE_WHY];

	if (inst_item_broke(it, inst_merge_why(m, text), e) != 0)
		return -1;
	inst_conflict(it, it->rare->broke);
	it->unmerged = true;
	return 0;
}

static int
settle(struct inst_planning *pl, struct inst_merge *m, struct dray_err *e)
{
	struct inst_item *it = &pl->items[pl->at[m->row]];

	if (m->result == INST_MERGED_USED && memcmp(m->sha256, inst_item_sum(pl->ix, it), 32) == 0)
		m->result = INST_MERGED_MINE;
	it->park = m->result == INST_MERGED_USED;
	switch (m->result) {
	case INST_MERGED:
	case INST_MERGED_USED:
		it->merged = true;
		return 0;
	case INST_MERGED_THEIRS:
		return 0;
	case INST_MERGED_MINE:
		return inst_keep_edit(pl, it, INST_NOTE_MERGED_MINE, e);
	case INST_MERGED_CONFLICT:
		break;
	}
	return settle_conflict(it, m, e);
}

int
inst_merges(struct inst_planning *pl, struct dray_err *e)
{
	struct merging g = { .pl = pl };
	struct inst_plan *p = pl->plan;
	uint64_t bytes = 0;
	size_t n = 0;

	for (size_t i = 0; i < pl->n; i++)
		n += pl->items[i].merges && pl->items[i].decision == INST_D_UPDATE;
	if (n == 0)
		return 0;
	inst_bases_count(pl, g.tree);
	if (list(pl, n, e) != 0 || with_workers(&g, pl->o->threads == 0 ? 1 : pl->o->threads, e) != 0)
		return -1;
	for (size_t i = 0; i < p->n_merges; i++) {
		struct inst_merge *m = &p->merges[i];

		bytes += m->len;
		if (bytes > ALL_TEXTS && m->text != NULL) {
			free(m->text);
			m->text = NULL;
			conflict(m, "more than 256 MiB of texts to merge in one upgrade");
		}
		if (settle(pl, m, e) != 0)
			return -1;
	}
	return 0;
}

void
inst_merge_json(struct dray_json *o, const struct inst_plan *p, const struct inst_merge *m)
{
	static const char *const result[] = { [INST_MERGED] = "merged", [INST_MERGED_THEIRS] = "release", [INST_MERGED_MINE] = "mine",
		[INST_MERGED_CONFLICT] = "conflict", [INST_MERGED_USED] = "decided" };
	static const char *const check[] = { [INST_CHECK_NONE] = "none", [INST_CHECK_PASSED] = "passed", [INST_CHECK_FAILED] = "failed",
		[INST_CHECK_NO_PROGRAM] = "no program", [INST_CHECK_NO_CHROOT] = "no chroot" };
	struct dray_content c;
	struct dray_entry en;
	char hex[65];

	dray_index_entry(p->ix, m->row, &en);
	dray_json_set_path(o, "path", en.path, en.len);
	dray_json_set_str(o, "result", result[m->result]);
	if (m->base != DRAY_NONE) {
		dray_index_content(p->ix, m->base, &c);
		dray_json_set_str(o, "base", dray_hex(c.sha256, 32, hex));
	}
	if (m->result == INST_MERGED || m->result == INST_MERGED_USED)
		dray_json_set_str(o, "sha256", dray_hex(m->sha256, 32, hex));
	if (m->result == INST_MERGED_CONFLICT)
		dray_json_set_int(o, "places", (int64_t)m->places);
	if (m->rule != NULL)
		dray_json_set_int(o, m->bundled ? "rule_of_bundle" : "rule", m->rule->line);
	if (m->check != INST_CHECK_NONE)
		dray_json_set_str(o, "check", check[m->check]);
}

const struct inst_merge *
inst_merge_of(const struct inst_plan *p, const struct inst_item *it)
{
	uint32_t merge = inst_rare(it)->merge;

	return merge == 0 ? NULL : &p->merges[merge - 1];
}

void
inst_merges_let_go(struct inst_plan *p)
{
	for (size_t i = 0; i < p->n_merges; i++) {
		free(p->merges[i].text);
		p->merges[i].text = NULL;
	}
	free(p->owned);
	p->owned = NULL;
	p->n_owned = 0;
}
