/* want.c - from the plan's nodes to wanted contents, and from those to the frames that hold them */
#include <stdlib.h>
#include <string.h>

#include "dray/num.h"

#include "installer/recipe.h"
#include "installer/staging.h"

static int
alloc_tables(struct stage *s, uint32_t **want_of, uint32_t **group_first, struct dray_err *e)
{
	size_t nodes = s->p->n_nodes, contents = dray_index_rows(s->ix, DRAY_T_CONTENTS),
	    entries = dray_index_rows(s->ix, DRAY_T_ENTRIES), i;

	s->next_node = calloc(nodes + 1, sizeof(*s->next_node));
	s->link_to = calloc(nodes + 1, sizeof(*s->link_to));
	s->plain = calloc(nodes + 1, sizeof(*s->plain));
	s->wants = calloc(nodes + 1, sizeof(*s->wants));
	*want_of = calloc(contents + 1, sizeof(**want_of));
	*group_first = calloc(entries + 1, sizeof(**group_first));
	if (s->next_node == NULL || s->link_to == NULL || s->plain == NULL || s->wants == NULL || *want_of == NULL ||
	    *group_first == NULL)
		return dray_fail_errno(e, "staging tables");
	for (i = 0; i < nodes; i++)
		s->next_node[i] = s->link_to[i] = DRAY_NONE;
	for (i = 0; i < contents; i++)
		(*want_of)[i] = DRAY_NONE;
	for (i = 0; i <= entries; i++)
		(*group_first)[i] = DRAY_NONE;
	return 0;
}

int
inst_stage_collect(struct stage *s, struct dray_err *e)
{
	uint32_t *want_of = NULL, *group_first = NULL;
	struct dray_content c;
	struct dray_entry en;
	struct dray_state st;
	size_t i;
	int rc = -1;

	if (alloc_tables(s, &want_of, &group_first, e) != 0)
		goto out;
	for (i = 0; i < s->p->n_nodes; i++) {
		const struct inst_node *n = &s->p->nodes[i];
		uint32_t w;

		dray_index_entry(s->ix, n->entry, &en);
		dray_index_state(s->ix, en.target, &st);
		if (n->rel == en.len)
			s->p->ops[n->op].now.type = st.type;	/* this op has a new side; its identity follows */
		if (st.type == DRAY_DIR)
			continue;
		if (n->group != 0) {
			if (group_first[n->group] != DRAY_NONE) {
				s->link_to[i] = group_first[n->group];
				continue;
			}
			group_first[n->group] = (uint32_t)i;
		}
		if (st.type != DRAY_FILE || n->from_live || n->merge != 0) {
			s->plain[s->n_plain++] = (uint32_t)i;
			continue;
		}
		dray_index_content(s->ix, st.content, &c);
		if (c.size == 0) {
			s->plain[s->n_plain++] = (uint32_t)i;
			continue;
		}
		w = want_of[st.content];
		if (w == DRAY_NONE) {
			w = want_of[st.content] = (uint32_t)s->n_wants++;
			s->wants[w].content = st.content;
			s->wants[w].first_node = DRAY_NONE;
			if (!dray_add(s->meter.total, dray_content_bytes(&c), &s->meter.total)) {
				dray_fail(e, DRAY_E_FORMAT, "sizes add up to more than 2^64 bytes");
				goto out;
			}
		}
		s->next_node[i] = s->wants[w].first_node;
		s->wants[w].first_node = (uint32_t)i;
		s->wants[w].n_nodes++;
	}
	rc = 0;
out:
	free(want_of);
	free(group_first);
	return rc;
}

static int
by_frame(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	if (x->frame != y->frame)
		return x->frame < y->frame ? -1 : 1;
	if (x->want != y->want)
		return x->want < y->want ? -1 : 1;
	return (x->piece > y->piece) - (x->piece < y->piece);
}

static struct pieces *
new_pieces(struct dray_err *e)
{
	struct pieces *p = calloc(1, sizeof(*p));

	if (p == NULL || dray_sha256_new(&p->hash, e) != 0) {
		free(p);
		dray_fail(e, DRAY_E_IO, "out of memory");
		return NULL;
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->turn, NULL);
	return p;
}

static void
free_pieces(struct pieces *p)
{
	if (p == NULL)
		return;
	dray_sha256_free(p->hash);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->turn);
	free(p);
}

/* the recipe in use, with the mutex and the hash that several pieces need */
static int
take_recipe(struct stage *s, struct want *w, struct dray_recipe *r, struct dray_err *e)
{
	w->ordinal = inst_recipe_next(s->ix, w->content, w->ordinal, s->p->live_of, r);
	if (w->ordinal == INST_RECIPE_NONE) {
		dray_fail(e, DRAY_E_DRIFT, "what it is made from changed since the plan, and the bundle holds no full copy");
		dray_hint(e, "nothing was changed; run plan again, or bring a complete bundle");
		return inst_stage_blame(s, w->first_node, e);
	}
	w->kind = r->kind;
	w->wrap = r->wrap;
	w->n_pieces = r->piece_count;
	w->made = false;
	atomic_store(&w->failed, false);
	if (r->piece_count <= 1)
		return 0;
	if (w->pieces == NULL && (w->pieces = new_pieces(e)) == NULL)
		return -1;
	w->pieces->next = 0;
	return dray_sha256_begin(w->pieces->hash, e);
}

int
inst_stage_list_uses(struct stage *s, struct dray_err *e)
{
	struct dray_recipe r;
	struct dray_piece pc;
	size_t i, n = 0;
	uint64_t at;
	uint32_t k;

	free(s->uses);
	free(s->copies);
	s->uses = NULL;
	s->n_uses = s->n_copies = 0;
	if ((s->copies = calloc(s->n_wants + 1, sizeof(*s->copies))) == NULL)
		return dray_fail_errno(e, "staging tables");
	for (i = 0; i < s->n_wants; i++) {
		if (s->wants[i].have)
			continue;
		if (take_recipe(s, &s->wants[i], &r, e) != 0)
			return -1;
		if (r.kind == DRAY_RECIPE_COPY)
			s->copies[s->n_copies++] = (uint32_t)i;
		n += r.piece_count;
	}
	if ((s->uses = calloc(n + 1, sizeof(*s->uses))) == NULL)
		return dray_fail_errno(e, "staging tables");
	for (i = 0; i < s->n_wants; i++) {
		const struct want *w = &s->wants[i];

		if (w->have || inst_recipe_next(s->ix, w->content, w->ordinal, s->p->live_of, &r) != w->ordinal)
			continue;
		for (k = 0, at = 0; k < r.piece_count; k++) {
			dray_index_piece(s->ix, r.piece_first + k, &pc);
			s->uses[s->n_uses++] = (struct use){ .frame = pc.frame, .want = (uint32_t)i, .piece = k,
				.offset = pc.offset, .len = pc.len, .at = at };
			at += pc.len;	/* the index has proved the sum */
		}
	}
	if (s->n_uses > 1)
		qsort(s->uses, s->n_uses, sizeof(*s->uses), by_frame);
	return 0;
}

int
inst_stage_fall_back(struct stage *s, bool *again, struct dray_err *e)
{
	size_t i;

	*again = false;
	for (i = 0; i < s->n_wants; i++) {
		struct want *w = &s->wants[i];

		if (w->have)
			continue;
		if (!atomic_load(&w->failed)) {
			w->have = true;
			continue;
		}
		if (inst_stage_unmake(s, w, e) != 0)
			return -1;
		w->ordinal++;
		*again = true;
	}
	return 0;
}

int
inst_stage_workers(struct stage *s, size_t n, struct dray_err *e)
{
	uint64_t cap = dray_bundle_desc(s->b)->limit_frame;
	size_t i, len;

	if (!dray_fit(cap, &len))
		return dray_fail(e, DRAY_E_FORMAT, "frames of %ju bytes do not fit into memory", (uintmax_t)cap);
	if ((s->workers = calloc(n, sizeof(*s->workers))) == NULL)
		return dray_fail_errno(e, "workers");
	for (i = 0; i < n; i++) {
		struct stage_worker *w = &s->workers[i];

		s->n_workers = i + 1;
		inst_place_init(&w->place, s->tx);
		dray_walk_init(&w->live, s->root);
		if (dray_decoder_new(&w->dec, e) != 0 || dray_sha256_new(&w->sha, e) != 0)
			return -1;
		if ((w->out = malloc(len)) == NULL)
			return dray_fail_errno(e, "workers");
	}
	return 0;
}

void
inst_stage_release(struct stage *s)
{
	size_t i;

	for (i = 0; i < s->n_wants; i++)
		free_pieces(s->wants[i].pieces);
	for (i = 0; i < s->n_workers; i++) {
		struct stage_worker *w = &s->workers[i];

		inst_place_close(&w->place);
		dray_walk_close(&w->live);
		dray_decoder_free(w->dec);
		dray_sha256_free(w->sha);
		dray_gzip_room_free(&w->gzip);
		free(w->out);
		free(w->ref);
		free(w->ranges);
	}
	free(s->workers);
	free(s->wants);
	free(s->uses);
	free(s->copies);
	free(s->next_node);
	free(s->link_to);
	free(s->plain);
}
