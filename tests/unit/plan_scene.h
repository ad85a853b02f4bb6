/*
 * plan_scene.h - a tree, a release and the plan for them, and words to ask the plan about single paths.
 */
#ifndef PLAN_SCENE_H
#define PLAN_SCENE_H

#include "tests/unit/test.h"

#include "dray/path.h"

#include "tests/unit/plan_mini.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

/* a tree, a release and the plan for them */
struct scene { char dir[64]; void (*progress)(void *ctx, const struct dray_progress *at); int root; struct pm pm; struct inst_policy policy; uint64_t max_links; struct inst_plan *p; struct dray_err e; };

static inline void
scene_tree(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	strcpy(s->dir, "/tmp/dray-test-XXXXXX");
	if (mkdtemp(s->dir) == NULL || (s->root = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		abort();
}

static inline int
scene_plan(struct scene *s, unsigned threads, bool component_walk)
{
	struct inst_plan_opts o = { .threads = threads, .state = "var/lib/dray", .component_walk = component_walk,
	    .policy = &s->policy, .max_links = s->max_links, .progress = s->progress, .ctx = s };

	inst_plan_free(s->p);
	s->p = NULL;
	return inst_plan_make(s->root, s->pm.b, &o, &s->p, &s->e);
}

static inline void
scene_release(struct scene *s, const struct pm_row *rows, size_t n, unsigned bases)
{
	if (pm_open(&s->pm, rows, n, bases, false, &s->e) != 0 || scene_plan(s, 2, false) != 0) {
		printf("# %s\n", s->e.text);
		abort();
	}
}

/* the tree as the old side says, and the plan for it */
static inline void
scene_old(struct scene *s, const struct pm_row *rows, size_t n)
{
	scene_tree(s);
	pm_tree(s->root, rows, n, PM_OLD);
	scene_release(s, rows, n, 1);
}

static inline void
scene_end(struct scene *s)
{
	struct dray_err e;

	inst_plan_free(s->p);
	pm_close(&s->pm);
	close(s->root);
	CHECK_EQ(inst_rmtree(AT_FDCWD, s->dir, &e), 0);
}

static inline const struct inst_op *
op_of(const struct scene *s, const char *path)
{
	for (size_t i = 0; i < s->p->n_ops; i++)
		if (s->p->ops[i].len == strlen(path) && memcmp(s->p->ops[i].path, path, strlen(path)) == 0)
			return &s->p->ops[i];
	return NULL;
}

static inline size_t
nodes_in(const struct scene *s, const struct inst_op *op)
{
	size_t n = 0;

	for (size_t i = 0; i < s->p->n_nodes; i++)
		n += &s->p->ops[s->p->nodes[i].op] == op;
	return n;
}

static inline const struct inst_note *
note_of(const struct scene *s, const char *path, enum inst_note_kind kind)
{
	for (size_t i = 0; i < s->p->n_notes; i++)
		if (s->p->notes[i].kind == kind && s->p->notes[i].len == strlen(path) &&
		    memcmp(s->p->notes[i].path, path, strlen(path)) == 0)
			return &s->p->notes[i];
	return NULL;
}

/* one expectation about a swap, with the path in the message */
static inline void
check_swap(const struct scene *s, const char *path, int old, int now, unsigned flags)
{
	const struct inst_op *op = op_of(s, path);

	if (op == NULL || op->kind != INST_OP_SWAP || op->old.type != old || op->now.type != now ||
	    (op->flags & INST_OP_PARK) != flags) {
		test_bad++;
		printf("# %s: op %s, kind %d, old %d, now %d, flags %d; wanted a swap, old %d, now %d, flags %u\n", path,
		    op == NULL ? "missing" : "there", op == NULL ? 0 : op->kind, op == NULL ? 0 : op->old.type,
		    op == NULL ? 0 : op->now.type, op == NULL ? 0 : op->flags, old, now, flags);
	}
}

#endif
