/*
 * test_plan.c - each decision of the plan, on small trees and releases described in a few words (plan_mini.h).
 */
#include "tests/unit/test.h"

#include "dray/path.h"

#include "tests/unit/plan_mini.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

/* a tree, a release and the plan for them */
struct scene { char dir[64]; int root; struct pm pm; struct inst_plan *p; struct dray_err e; };

static void
scene_tree(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	strcpy(s->dir, "/tmp/dray-test-XXXXXX");
	if (mkdtemp(s->dir) == NULL || (s->root = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		abort();
}

static int
scene_plan(struct scene *s, unsigned threads, bool component_walk)
{
	struct inst_plan_opts o = { .threads = threads, .state = "var/lib/dray", .component_walk = component_walk };

	inst_plan_free(s->p);
	s->p = NULL;
	return inst_plan_make(s->root, s->pm.b, &o, &s->p, &s->e);
}

static void
scene_release(struct scene *s, const struct pm_row *rows, size_t n, unsigned bases)
{
	if (pm_open(&s->pm, rows, n, bases, false, &s->e) != 0 || scene_plan(s, 2, false) != 0) {
		printf("# %s\n", s->e.text);
		abort();
	}
}

/* the tree as the old side says, and the plan for it */
static void
scene_old(struct scene *s, const struct pm_row *rows, size_t n)
{
	scene_tree(s);
	pm_tree(s->root, rows, n, PM_OLD);
	scene_release(s, rows, n, 1);
}

static void
scene_end(struct scene *s)
{
	struct dray_err e;

	inst_plan_free(s->p);
	pm_close(&s->pm);
	close(s->root);
	CHECK_EQ(inst_rmtree(AT_FDCWD, s->dir, &e), 0);
}

static const struct inst_op *
op_of(const struct scene *s, const char *path)
{
	for (size_t i = 0; i < s->p->n_ops; i++)
		if (s->p->ops[i].len == strlen(path) && memcmp(s->p->ops[i].path, path, strlen(path)) == 0)
			return &s->p->ops[i];
	return NULL;
}

static size_t
nodes_in(const struct scene *s, const struct inst_op *op)
{
	size_t n = 0;

	for (size_t i = 0; i < s->p->n_nodes; i++)
		n += &s->p->ops[s->p->nodes[i].op] == op;
	return n;
}

static const struct inst_note *
note_of(const struct scene *s, const char *path, enum inst_note_kind kind)
{
	for (size_t i = 0; i < s->p->n_notes; i++)
		if (s->p->notes[i].kind == kind && s->p->notes[i].len == strlen(path) &&
		    memcmp(s->p->notes[i].path, path, strlen(path)) == 0)
			return &s->p->notes[i];
	return NULL;
}

/* one expectation about a swap, with the path in the message */
static void
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

static int
type_of(char kind)
{
	return kind == 'f' ? DRAY_FILE : kind == 'd' ? DRAY_DIR : kind == 'l' ? DRAY_SYMLINK : kind == 'p' ? DRAY_FIFO :
	    DRAY_ABSENT;
}

/* every ordered pair of {absent, file, directory with children, symlink, fifo} under the name x<old><new> */
static const char kinds[] = "-dflp";	/* in the order of their bytes */

static size_t
pair_rows(struct pm_row *rows, char names[][16])
{
	static const char *const old[] = { ['-'] = NULL, ['d'] = "d", ['f'] = "f,old", ['l'] = "l,old", ['p'] = "p,600" };
	static const char *const new[] = { ['-'] = NULL, ['d'] = "d", ['f'] = "f,new", ['l'] = "l,new", ['p'] = "p,644" };
	size_t n = 0;

	for (const char *a = kinds; *a != '\0'; a++)
		for (const char *b = kinds; *b != '\0'; b++) {
			if (*a == '-' && *b == '-')
				continue;
			snprintf(names[n], 16, "x%c%c", *a, *b);
			rows[n] = (struct pm_row){ names[n], old[(unsigned char)*a], new[(unsigned char)*b], NULL };
			n++;
			if (*a != 'd' && *b != 'd')
				continue;
			for (const char *c = "cno"; *c != '\0'; c++) {	/* in both, new only, old only */
				if ((*c == 'n' && *b != 'd') || (*c == 'o' && *a != 'd'))
					continue;
				snprintf(names[n], 16, "x%c%c/%c", *a, *b, *c);
				rows[n] = (struct pm_row){ names[n], *a == 'd' && *c != 'n' ? "f,old" : NULL,
				    *b == 'd' && *c != 'o' ? "f,newer" : NULL, NULL };
				n++;
			}
		}
	return n;
}

static void
every_pair_from_the_old_state(void)
{
	struct pm_row rows[100];
	char names[100][16], path[16];
	size_t n = pair_rows(rows, names);
	struct scene s;

	scene_old(&s, rows, n);
	for (const char *a = kinds; *a != '\0'; a++)
		for (const char *b = kinds; *b != '\0'; b++) {
			snprintf(path, sizeof(path), "x%c%c", *a, *b);
			if (*a == '-' && *b == '-')
				continue;
			if (*a == 'p' && *b == 'p') {
				CHECK(op_of(&s, path) != NULL && op_of(&s, path)->kind == INST_OP_META);
			} else if (*a == 'd' && *b == 'd') {
				CHECK(op_of(&s, path) != NULL && op_of(&s, path)->kind == INST_OP_META);	/* its time */
				check_swap(&s, "xdd/c", DRAY_FILE, DRAY_FILE, 0);
				check_swap(&s, "xdd/n", DRAY_ABSENT, DRAY_FILE, 0);
				check_swap(&s, "xdd/o", DRAY_FILE, DRAY_ABSENT, 0);
			} else {
				check_swap(&s, path, type_of(*a), type_of(*b), 0);
				/* what a directory holds moves along with it */
				CHECK_EQ(nodes_in(&s, op_of(&s, path)), *b == '-' ? 0 : *b == 'd' ? 3 : 1);
				strcat(path, "/c");
				CHECK(op_of(&s, path) == NULL);
			}
		}
	CHECK_EQ(s.p->n_notes, 0);
	CHECK_EQ(s.p->unmatched, 0);
	CHECK_EQ(inst_plan_verdict(s.p, &s.e), 0);
	scene_end(&s);
}

static void
every_pair_in_the_new_state_is_left_alone(void)
{
	struct pm_row rows[100];
	char names[100][16];
	size_t n = pair_rows(rows, names);
	struct scene s;

	scene_tree(&s);
	pm_tree(s.root, rows, n, PM_NEW);
	scene_release(&s, rows, n, 1);
	CHECK_EQ(s.p->n_ops, 0);
	CHECK_EQ(s.p->n_nodes, 0);
	CHECK_EQ(s.p->already, s.p->touched);
	CHECK_EQ(s.p->n_notes, 0);
	CHECK_EQ(s.p->room_bytes, 0);
	scene_end(&s);
}

/* a file edited, a symlink pointed elsewhere, a directory with a file more, a fifo or nothing made a file */
static void
edit_pairs(int root)
{
	char path[24];

	for (const char *a = kinds; *a != '\0'; a++)
		for (const char *b = kinds; *b != '\0'; b++) {
			if (*a == '-' && *b == '-')
				continue;
			snprintf(path, sizeof(path), "x%c%c", *a, *b);
			if (*a == 'd')
				strcat(path, "/mine");
			else if (*a != '-' && unlinkat(root, path, 0) != 0)
				abort();
			pm_put(root, path, *a == 'l' ? "l,mine" : "f,mine", NULL);
		}
}

static void
every_pair_with_a_local_edit(void)
{
	struct pm_row rows[100];
	char names[100][16], path[16];
	size_t n = pair_rows(rows, names);
	struct scene s;

	scene_tree(&s);
	pm_tree(s.root, rows, n, PM_OLD);
	edit_pairs(s.root);
	scene_release(&s, rows, n, 1);
	for (const char *a = kinds; *a != '\0'; a++)
		for (const char *b = kinds; *b != '\0'; b++) {
			if (*a == '-' && *b == '-')
				continue;
			snprintf(path, sizeof(path), "x%c%c", *a, *b);
			if (*a == 'p' && *b == 'p') {
				/* only the mode changes, and here it is no fifo: stays as it is */
				CHECK(op_of(&s, path) == NULL && note_of(&s, path, INST_NOTE_KEPT_META) != NULL);
			} else if (*a == 'd' && *b == 'd') {
				check_swap(&s, "xdd/c", DRAY_FILE, DRAY_FILE, 0);
			} else if (*a == 'd' && *b == '-') {
				CHECK(note_of(&s, path, INST_NOTE_KEPT_DIR) != NULL);
				if (note_of(&s, path, INST_NOTE_KEPT_DIR) != NULL)
					CHECK_HAS(note_of(&s, path, INST_NOTE_KEPT_DIR)->why, "xd-/mine");
				check_swap(&s, "xd-/c", DRAY_FILE, DRAY_ABSENT, 0);
				check_swap(&s, "xd-/o", DRAY_FILE, DRAY_ABSENT, 0);
			} else if (*a == 'd' || (*a == 'p' && *b == 'd')) {
				CHECK(op_of(&s, path) == NULL && note_of(&s, path, INST_NOTE_CONFLICT) != NULL);
			} else {
				check_swap(&s, path, *a == 'l' ? DRAY_SYMLINK : DRAY_FILE, type_of(*b), INST_OP_PARK);
				CHECK(note_of(&s, path, INST_NOTE_PARKED) != NULL);
			}
		}
	CHECK_EQ(s.p->conflicts, 4);
	CHECK_EQ(inst_plan_verdict(s.p, &s.e), -1);
	CHECK_EQ(s.e.code, DRAY_E_CONFLICT);
	CHECK_HAS(s.e.text, "4 conflicts: xdf has to give way, but holds xdf/mine; xdl");
	CHECK_HAS(s.e.hint, "nothing was changed");
	scene_end(&s);
}

static void
deleted_here_stays_deleted(void)
{
	static const struct pm_row rows[] = {
		{ "a", "f,1", "f,2", NULL },
		{ "d", "d,700", "d", NULL },
		{ "d/keep", "f,1", "f,2", NULL },
		{ "d/new", NULL, "f,2", NULL },
		{ "e", "d,700", "d", NULL },
		{ "e/keep", "f,1", "f,2", NULL },
		{ "s", "d", "d", NULL },
		{ "s/t", "d", "d", NULL },
		{ "s/t/new", NULL, "f,2", NULL },
	};
	struct scene s;

	scene_tree(&s);
	scene_release(&s, rows, N(rows), 1);
	CHECK(note_of(&s, "a", INST_NOTE_KEPT_DELETED) != NULL && op_of(&s, "a") == NULL);
	/* something new makes the directory come back, but not what it held */
	check_swap(&s, "d", DRAY_ABSENT, DRAY_DIR, 0);
	CHECK_EQ(nodes_in(&s, op_of(&s, "d")), 2);
	CHECK(note_of(&s, "d/keep", INST_NOTE_KEPT_DELETED) != NULL);
	CHECK(note_of(&s, "d", INST_NOTE_KEPT_DELETED) == NULL);
	CHECK(note_of(&s, "e", INST_NOTE_KEPT_DELETED) != NULL && op_of(&s, "e") == NULL);
	/* also one that the release does not touch */
	check_swap(&s, "s", DRAY_ABSENT, DRAY_DIR, 0);
	CHECK_EQ(nodes_in(&s, op_of(&s, "s")), 3);
	CHECK_EQ(s.p->left_alone, 4);
	scene_end(&s);
}

static void
missing_is_added_when_a_base_lacks_it(void)
{
	static const struct pm_row rows[] = { { "a", "f,1", "f,3", "-" }, { "b", "f,1", "f,3", "f,2" } };
	struct scene s;

	scene_tree(&s);
	scene_release(&s, rows, N(rows), 2);
	check_swap(&s, "a", DRAY_ABSENT, DRAY_FILE, 0);
	CHECK(op_of(&s, "b") == NULL && note_of(&s, "b", INST_NOTE_KEPT_DELETED) != NULL);
	CHECK_EQ(s.p->matched[0], 0);
	CHECK_EQ(s.p->matched[1], 1);
	CHECK_EQ(s.p->unmatched, 1);
	scene_end(&s);
	scene_tree(&s);
	scene_release(&s, rows, N(rows), 0);	/* no base at all: everything is wanted */
	check_swap(&s, "a", DRAY_ABSENT, DRAY_FILE, 0);
	check_swap(&s, "b", DRAY_ABSENT, DRAY_FILE, 0);
	scene_end(&s);
}

static void
local_objects_where_releases_have_none_stay(void)
{
	/* base 2 never had them; here somebody made his own */
	static const struct pm_row rows[] = { { "a", "f,1", NULL, "-" }, { "b", "f,1", "f,3", "-" } };
	struct scene s;

	scene_tree(&s);
	pm_put(s.root, "a", "f,mine", NULL);
	pm_put(s.root, "b", "f,mine", NULL);
	scene_release(&s, rows, N(rows), 2);
	CHECK(op_of(&s, "a") == NULL && note_of(&s, "a", INST_NOTE_KEPT_LOCAL) != NULL);
	check_swap(&s, "b", DRAY_FILE, DRAY_FILE, INST_OP_PARK);
	scene_end(&s);
}

static void
a_removed_directory_goes_as_a_whole_or_stays(void)
{
	static const struct pm_row rows[] = {
		{ "k", "d", NULL, NULL }, { "k/a", "f,1", NULL, NULL }, { "k/sub", "d", NULL, NULL },
		{ "k/sub/b", "f,1", NULL, NULL }, { "k/sub/c", "d", NULL, NULL },
		{ "m", "d", NULL, NULL }, { "m/a", "f,1", NULL, NULL }, { "m/sub", "d", NULL, NULL },
		{ "m/sub/b", "f,1", NULL, NULL },
		{ "w", "d", NULL, NULL }, { "w/a", "f,1", NULL, NULL },
	};
	const struct inst_op *op;
	struct scene s;

	scene_tree(&s);
	pm_tree(s.root, rows, N(rows), PM_OLD);
	pm_put(s.root, "m/mine", "f,x", NULL);
	pm_put(s.root, "w/a", "f,edited", NULL);
	scene_release(&s, rows, N(rows), 1);
	check_swap(&s, "k", DRAY_DIR, DRAY_ABSENT, 0);
	CHECK((op_of(&s, "k")->flags & INST_OP_SUBTREE) != 0);
	CHECK(op_of(&s, "k/a") == NULL && op_of(&s, "k/sub") == NULL && op_of(&s, "k/sub/b") == NULL);
	/* the directory stays for the local file; what was the release's goes, the subdirectory as a whole */
	CHECK(note_of(&s, "m", INST_NOTE_KEPT_DIR) != NULL);
	check_swap(&s, "m/a", DRAY_FILE, DRAY_ABSENT, 0);
	check_swap(&s, "m/sub", DRAY_DIR, DRAY_ABSENT, 0);
	CHECK(op_of(&s, "m/sub/b") == NULL);
	/* its time is put back, although it is no longer the release's */
	op = op_of(&s, "m");
	CHECK(op != NULL && op->kind == INST_OP_META && op->entry == DRAY_NONE && op->after.has == DRAY_HAS_MTIME &&
	    op->after.mtime_sec == op->before.mtime_sec);
	/* an edit inside parks the whole, and is named */
	check_swap(&s, "w", DRAY_DIR, DRAY_ABSENT, INST_OP_PARK);
	CHECK(note_of(&s, "w/a", INST_NOTE_PARKED) != NULL);
	CHECK_EQ(s.p->removed, 10);
	scene_end(&s);
}

static void
a_symlink_for_a_directory_is_one_conflict(void)
{
	static const struct pm_row rows[] = {
		{ "d", "d", "d", NULL }, { "d/a", "f,1", "f,2", NULL }, { "d/b", NULL, "f,2", NULL },
		{ "d/c", "f,1", NULL, NULL },
	};
	struct scene s;

	scene_tree(&s);
	pm_put(s.root, "elsewhere", "d", NULL);
	pm_put(s.root, "elsewhere/a", "f,1", NULL);
	pm_put(s.root, "d", "l,elsewhere", NULL);
	scene_release(&s, rows, N(rows), 1);
	CHECK_EQ(s.p->n_ops, 0);
	CHECK_EQ(s.p->n_notes, 1);
	CHECK_EQ(s.p->conflicts, 1);
	CHECK_EQ(inst_plan_verdict(s.p, &s.e), -1);
	CHECK_EQ(s.e.code, DRAY_E_CONFLICT);
	CHECK_STR(s.e.text, "1 conflict: d is a symlink here, a directory in the release");
	scene_end(&s);
}

static void
attributes_alone_are_set_in_place(void)
{
	static const struct pm_row rows[] = {
		{ "d", "d,755", "d,700", NULL },
		{ "edited", "f,1,644", "f,1,600", NULL },
		{ "edited2", "f,1,644,+5", "f,1,644,+6", NULL },
		{ "f", "f,1,644", "f,1,4755", NULL },
		{ "lost", "f,1,644", "f,2,644", NULL },
		{ "t", "f,1,644,+5", "f,1,644,+6", NULL },
	};
	const struct inst_op *op;
	struct scene s;

	scene_tree(&s);
	pm_tree(s.root, rows, N(rows), PM_OLD);
	pm_put(s.root, "edited", "f,mine", NULL);
	pm_put(s.root, "edited2", "f,mine", NULL);
	pm_put(s.root, "lost", "f,1,640", NULL);
	scene_release(&s, rows, N(rows), 1);
	CHECK((op = op_of(&s, "f")) != NULL && op->kind == INST_OP_META && op->before.mode == 0644 &&
	    op->after.mode == 04755 && op->after.has == DRAY_HAS_MODE);
	CHECK((op = op_of(&s, "d")) != NULL && op->kind == INST_OP_META && op->after.mode == 0700);
	CHECK((op = op_of(&s, "t")) != NULL && op->kind == INST_OP_META && op->before.mtime_sec == 5 &&
	    op->after.mtime_sec == 6);
	/* an edit keeps its content and its time */
	CHECK((op = op_of(&s, "edited")) != NULL && op->kind == INST_OP_META && op->after.mode == 0600);
	CHECK(note_of(&s, "edited", INST_NOTE_KEPT_META) != NULL);
	CHECK(op_of(&s, "edited2") == NULL && note_of(&s, "edited2", INST_NOTE_KEPT_META) != NULL);
	/* a mode set here is replaced, and told */
	check_swap(&s, "lost", DRAY_FILE, DRAY_FILE, 0);
	CHECK(note_of(&s, "lost", INST_NOTE_META_LOST) != NULL);
	CHECK(note_of(&s, "f", INST_NOTE_META_LOST) == NULL);
	scene_end(&s);
}

static void
hard_link_groups_are_one_object_afterwards(void)
{
	static const struct pm_row rows[] = {
		{ "c1", "f,c,@c", "f,d,@c", NULL }, { "c2", "f,c,@c", "f,d,@c", NULL },		/* new content */
		{ "f1", "f,q", "f,q,@f", NULL }, { "f2", "f,q", "f,q,@f", NULL },		/* joined */
		{ "g0", NULL, "f,g,@g", NULL }, { "g1", "f,g,@g", "f,g,@g", NULL },		/* a name more */
		{ "m1", "f,m,@m", "f,m,600,@m", NULL }, { "m2", "f,m,@m", "f,m,600,@m", NULL },	/* mode */
		{ "o1", "f,o,@o", "f,o,600,@o", NULL }, { "o2", "f,o,@o", "f,o,600,@o", NULL },	/* mode, linked outside */
		{ "s1", "f,s,@s", "f,s", NULL }, { "s2", "f,s,@s", "f,s", NULL },		/* parted */
	};
	struct scene s;
	uint32_t g1;
	size_t n = 0;

	scene_tree(&s);
	pm_tree(s.root, rows, N(rows), PM_OLD);
	pm_put(s.root, "outside", "f,o", "o1");
	scene_release(&s, rows, N(rows), 1);
	check_swap(&s, "c1", DRAY_FILE, DRAY_FILE, 0);
	check_swap(&s, "c2", DRAY_FILE, DRAY_FILE, 0);
	check_swap(&s, "f1", DRAY_FILE, DRAY_FILE, 0);
	check_swap(&s, "f2", DRAY_FILE, DRAY_FILE, 0);
	/* the content of the new name is at the old one, which is made anew too */
	check_swap(&s, "g0", DRAY_ABSENT, DRAY_FILE, 0);
	check_swap(&s, "g1", DRAY_FILE, DRAY_FILE, 0);
	g1 = dray_index_find(dray_bundle_index(s.pm.b), "g1", 2);
	for (size_t i = 0; i < s.p->n_nodes; i++)
		if (s.p->nodes[i].from_live && s.p->nodes[i].live == g1)
			n++;
	CHECK_EQ(n, 1);
	/* one change in place for all names; but a copy when there are names we do not know */
	CHECK(op_of(&s, "m1") != NULL && op_of(&s, "m1")->kind == INST_OP_META);
	CHECK(op_of(&s, "m2") == NULL);
	check_swap(&s, "o1", DRAY_FILE, DRAY_FILE, 0);
	check_swap(&s, "o2", DRAY_FILE, DRAY_FILE, 0);
	CHECK(note_of(&s, "o1", INST_NOTE_OUTSIDE_LINK) != NULL);
	CHECK(note_of(&s, "c1", INST_NOTE_OUTSIDE_LINK) == NULL);
	check_swap(&s, "s1", DRAY_FILE, DRAY_FILE, 0);
	check_swap(&s, "s2", DRAY_FILE, DRAY_FILE, 0);
	CHECK_EQ(s.p->payload, 10);	/* one frame */
	scene_end(&s);
}

static void
swaps_come_in_an_order_that_runs(void)
{
	static const struct pm_row rows[] = {
		{ "bin", "d", "d", NULL }, { "bin/sh", "f,1,755", "f,2,755", NULL },
		{ "boot", "d", "d", NULL }, { "boot/vmlinuz", "f,1,755", "f,2,755", NULL },
		{ "etc", "d", "d", NULL }, { "etc/conf", "f,1", "f,2", NULL }, { "etc/gone", "d", NULL, NULL },
		{ "etc/gone2", "f,1", NULL, NULL },
		{ "lib", "d", "d", NULL }, { "lib/ld-linux.so.2", "f,1,755", "f,2,755", NULL },
		{ "lib/liba.so.1", "f,1", "f,2", NULL }, { "lib/libc.so.6", "f,1,755", "f,2,755", NULL },
		{ "new", NULL, "d", NULL }, { "new/x", NULL, "f,2", NULL },
	};
	static const char *const want[] = { "new", "lib/ld-linux.so.2", "lib/libc.so.6", "lib/liba.so.1", "bin/sh", "etc/conf",
		"boot/vmlinuz", "etc/gone2", "etc/gone", "lib", "etc", "boot", "bin", "" };
	struct scene s;

	scene_old(&s, rows, N(rows));
	CHECK_EQ(s.p->n_ops, N(want));
	CHECK_EQ(s.p->n_swaps, 9);
	for (size_t i = 0; i < N(want) && i < s.p->n_ops; i++) {
		char got[64];

		snprintf(got, sizeof(got), "%.*s", (int)s.p->ops[i].len, s.p->ops[i].path);
		CHECK_STR(got, want[i]);
		CHECK_EQ(s.p->ops[i].slot, i < 9 ? (int64_t)i : (int64_t)DRAY_NONE);
	}
	scene_end(&s);
}

static void
times_of_directories_are_set_or_put_back(void)
{
	static const struct pm_row rows[] = {
		{ "a", "d,+100", "d,+100", NULL }, { "a/f", "f,1", "f,2", NULL },	/* unchanged, but touched by a swap */
		{ "b", "d,+100", "d,+200", NULL },					/* the release moved it */
		{ "c", "d", "d", NULL }, { "c/f", "f,1", "f,2", NULL },			/* the release has no time for it */
		{ "e", "d,+100", "d,+200", NULL },					/* and here somebody did too */
	};
	const struct inst_op *op;
	struct timespec ts[2] = { { .tv_sec = 7 }, { .tv_sec = 7 } };
	struct scene s;

	scene_tree(&s);
	pm_tree(s.root, rows, N(rows), PM_OLD);
	CHECK_EQ(utimensat(s.root, "c", ts, 0), 0);
	CHECK_EQ(utimensat(s.root, "e", ts, 0), 0);
	scene_release(&s, rows, N(rows), 1);
	CHECK((op = op_of(&s, "a")) != NULL && op->after.mtime_sec == 100 && op->before.mtime_sec == 100);
	CHECK((op = op_of(&s, "b")) != NULL && op->after.mtime_sec == 200 && op->before.mtime_sec == 100);
	CHECK((op = op_of(&s, "c")) != NULL && op->after.mtime_sec == 7 && op->before.mtime_sec == 7);
	CHECK((op = op_of(&s, "e")) != NULL && op->after.mtime_sec == 200 && op->before.mtime_sec == 7);
	CHECK(op_of(&s, "") == NULL);	/* nothing is swapped in the root itself */
	scene_end(&s);
}

static void
a_directory_time_alone_is_no_reason_to_act(void)
{
	static const struct pm_row rows[] = { { "e", "d,+100", "d,+200", NULL } };
	struct timespec ts[2] = { { .tv_sec = 7 }, { .tv_sec = 7 } };
	struct scene s;

	scene_tree(&s);
	pm_tree(s.root, rows, N(rows), PM_OLD);
	CHECK_EQ(utimensat(s.root, "e", ts, 0), 0);
	scene_release(&s, rows, N(rows), 1);
	CHECK_EQ(s.p->n_ops, 0);
	scene_end(&s);
}

static void
the_id_is_of_the_decisions_alone(void)
{
	static const struct pm_row rows[] = {
		{ "a", "f,1,644", "f,2,644", NULL }, { "d", "d", "d,700", NULL }, { "l", "l,1", "l,2", NULL },
	};
	struct scene s, again;
	uint8_t id[32];

	scene_old(&s, rows, N(rows));
	memcpy(id, s.p->id, 32);
	CHECK(id[0] != 0 || id[1] != 0 || id[2] != 0);
	/* another folder, other inodes and times, one thread, no openat2 */
	scene_old(&again, rows, N(rows));
	CHECK(memcmp(id, again.p->id, 32) == 0);
	CHECK_EQ(scene_plan(&again, 1, true), 0);
	CHECK(memcmp(id, again.p->id, 32) == 0);
	/* something made in a directory moves its time, nothing else */
	pm_put(again.root, "d/mine", "f,x", NULL);
	CHECK_EQ(scene_plan(&again, 1, false), 0);
	CHECK(memcmp(id, again.p->id, 32) == 0);
	/* two edits of one size are two plans, and so is a mode */
	pm_put(again.root, "a", "f,3", NULL);
	CHECK_EQ(scene_plan(&again, 1, false), 0);
	CHECK(memcmp(id, again.p->id, 32) != 0);
	memcpy(id, again.p->id, 32);
	pm_put(again.root, "a", "f,4", NULL);
	CHECK_EQ(scene_plan(&again, 1, false), 0);
	CHECK(memcmp(id, again.p->id, 32) != 0);
	memcpy(id, again.p->id, 32);
	CHECK_EQ(fchmodat(again.root, "a", 0600, 0), 0);
	CHECK_EQ(scene_plan(&again, 1, false), 0);
	CHECK(memcmp(id, again.p->id, 32) != 0);
	scene_end(&again);
	scene_end(&s);
}

static void
recheck_finds_what_changed_since(void)
{
	static const struct pm_row rows[] = {
		{ "a", "f,1", "f,2", NULL }, { "d", "d", "d,700", NULL }, { "d/b", "f,1", "f,2", NULL }, { "n", NULL, "f,2", NULL },
	};
	struct scene s;

	scene_old(&s, rows, N(rows));
	CHECK_EQ(inst_plan_recheck(s.root, s.p, 2, &s.e), 0);
	pm_put(s.root, "d/mine", "f,x", NULL);		/* moves the directory's time only */
	CHECK_EQ(inst_plan_recheck(s.root, s.p, 2, &s.e), 0);
	pm_put(s.root, "n", "f,x", NULL);
	CHECK_EQ(inst_plan_recheck(s.root, s.p, 2, &s.e), -1);
	CHECK_EQ(s.e.code, DRAY_E_DRIFT);
	CHECK_STR(s.e.text, "n changed since the plan was made");
	CHECK_EQ(unlinkat(s.root, "n", 0), 0);
	CHECK_EQ(unlinkat(s.root, "d/b", 0), 0);
	pm_put(s.root, "d/b", "f,1", NULL);		/* the same bytes, but another object */
	CHECK_EQ(inst_plan_recheck(s.root, s.p, 2, &s.e), -1);
	CHECK_HAS(s.e.text, "d/b changed");
	scene_end(&s);
}

static void
the_verdict_tells_all_reasons(void)
{
	static const struct pm_row rows[] = {
		{ "d", "d", "f,2", NULL }, { "var", "d", "d", NULL }, { "var/lib", "d", "d", NULL },
		{ "var/lib/x", NULL, "f,2", NULL },
	};
	struct inst_plan_opts o = { .threads = 1, .state = "var/lib/x" };
	struct scene s;

	scene_tree(&s);
	pm_tree(s.root, rows, N(rows), PM_OLD);
	pm_put(s.root, "d/mine", "f,x", NULL);
	scene_release(&s, rows, N(rows), 1);
	inst_plan_free(s.p);
	CHECK_EQ(inst_plan_make(s.root, s.pm.b, &o, &s.p, &s.e), 0);
	CHECK_EQ(s.p->blocked, 1);
	s.p->room_bytes = 3000000;
	s.p->have_bytes = 2000000;
	s.p->room_inodes = 300;
	s.p->have_inodes = 10;
	CHECK_EQ(inst_plan_verdict(s.p, &s.e), -1);
	CHECK_EQ(s.e.code, DRAY_E_SYSTEM);
	CHECK_STR(s.e.text, "1 path cannot be changed here: var/lib/x lies in the state folder; name another one with "
	    "--state; also 1 conflict: d has to give way, but holds d/mine; also not enough room: 3.0 MB needed, "
	    "2.0 MB free, 300 inodes needed, 10 free");
	s.p->blocked = s.p->conflicts = 0;
	CHECK_EQ(inst_plan_verdict(s.p, &s.e), -1);
	CHECK_EQ(s.e.code, DRAY_E_ROOM);
	CHECK_HAS(s.e.hint, "free some room");
	scene_end(&s);
}

static void
a_content_that_is_nowhere_is_a_conflict(void)
{
	static const struct pm_row rows[] = { { "a", "f,1", "f,2", NULL }, { "z", NULL, "f,", NULL } };
	struct scene s;

	scene_tree(&s);
	pm_tree(s.root, rows, N(rows), PM_OLD);
	if (pm_open(&s.pm, rows, N(rows), 1, true, &s.e) != 0) {
		/* the format may refuse such a bundle before any plan sees it: as good */
		CHECK_EQ(s.e.code, DRAY_E_FORMAT);
	} else {
		CHECK_EQ(scene_plan(&s, 1, false), 0);
		CHECK_EQ(s.p->conflicts, 1);
		CHECK(note_of(&s, "a", INST_NOTE_CONFLICT) != NULL);
		CHECK(note_of(&s, "z", INST_NOTE_CONFLICT) == NULL);	/* an empty file needs no bytes */
	}
	scene_end(&s);
}

static void
room_is_counted_in_blocks(void)
{
	static const struct pm_row rows[] = { { "a", "f,1", "f,2", NULL }, { "d", NULL, "d", NULL }, { "d/b", NULL, "f,2", NULL } };
	struct scene s;

	scene_old(&s, rows, N(rows));
	CHECK(s.p->room_bytes >= 1024 * 1024 + 64 * 1024 + 5 * 4096);
	CHECK_EQ(s.p->room_inodes, 203);
	CHECK(s.p->have_bytes > s.p->room_bytes);
	scene_end(&s);
}

int
main(void)
{
	umask(022);
	RUN(every_pair_from_the_old_state);
	RUN(every_pair_in_the_new_state_is_left_alone);
	RUN(every_pair_with_a_local_edit);
	RUN(deleted_here_stays_deleted);
	RUN(missing_is_added_when_a_base_lacks_it);
	RUN(local_objects_where_releases_have_none_stay);
	RUN(a_removed_directory_goes_as_a_whole_or_stays);
	RUN(a_symlink_for_a_directory_is_one_conflict);
	RUN(attributes_alone_are_set_in_place);
	RUN(hard_link_groups_are_one_object_afterwards);
	RUN(swaps_come_in_an_order_that_runs);
	RUN(times_of_directories_are_set_or_put_back);
	RUN(a_directory_time_alone_is_no_reason_to_act);
	RUN(the_id_is_of_the_decisions_alone);
	RUN(recheck_finds_what_changed_since);
	RUN(the_verdict_tells_all_reasons);
	RUN(a_content_that_is_nowhere_is_a_conflict);
	RUN(room_is_counted_in_blocks);
	return test_done();
}
