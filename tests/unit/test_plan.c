/*
 * test_plan.c - what the plan decides for each kind of path, on small trees described in a few words (plan_mini.h).
 */
#include <sys/socket.h>
#include <sys/un.h>

#include <stdatomic.h>

#include "dray/meter.h"

#include "tests/unit/plan_scene.h"

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
	CHECK_EQ(s.p->sites[0].need_bytes, 0);
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
	CHECK(op != NULL && op->kind == INST_OP_META && op->entry == DRAY_NONE && op->attrs->after.has == DRAY_HAS_MTIME &&
	    op->attrs->after.mtime_sec == op->attrs->before.mtime_sec);
	/* an edit inside parks the whole, and is named */
	check_swap(&s, "w", DRAY_DIR, DRAY_ABSENT, INST_OP_PARK);
	CHECK(note_of(&s, "w/a", INST_NOTE_PARKED) != NULL);
	CHECK_EQ(s.p->removed, 10);
	scene_end(&s);
}

static void
a_directory_gives_way_with_all_it_holds_when_told_so(void)
{
	static const struct pm_row rows[] = {
		{ "d", "d", "f,new", NULL }, { "d/a", "f,1", NULL, NULL }, { "d/s", "f,1", NULL, "f,1" },
		{ "d/sub", "d", NULL, NULL }, { "d/sub/b", "f,1", NULL, NULL }, { "d/was", "-", NULL, "f,1" },
	};
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct scene s;
	int fd;

	scene_tree(&s);
	pm_tree(s.root, rows, N(rows), PM_OLD);
	pm_put(s.root, "d/sub/mine", "f,x", NULL);
	pm_put(s.root, "d/was", "f,mine", NULL);
	/* a socket where the release had a file */
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/d/s", s.dir);
	if (unlink(at.sun_path) != 0 || (fd = socket(AF_UNIX, SOCK_STREAM, 0)) == -1 ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0)
		abort();
	close(fd);
	scene_release(&s, rows, N(rows), 2);
	CHECK_EQ(s.p->n_ops, 0);
	CHECK_EQ(s.p->conflicts, 2);
	CHECK_EQ(s.p->holding, 1);
	CHECK_EQ(inst_plan_verdict(s.p, &s.e), -1);
	CHECK_HAS(s.e.hint, "--park");
	s.policy.park = true;
	CHECK_EQ(scene_plan(&s, 2, true), 0);
	CHECK_EQ(s.p->conflicts, 0);
	CHECK_EQ(inst_plan_verdict(s.p, &s.e), 0);
	check_swap(&s, "d", DRAY_DIR, DRAY_FILE, INST_OP_PARK);
	CHECK(op_of(&s, "d/a") == NULL && op_of(&s, "d/sub") == NULL && op_of(&s, "d/was") == NULL);
	CHECK(note_of(&s, "d/s", INST_NOTE_PARKED) != NULL && note_of(&s, "d/sub/mine", INST_NOTE_PARKED) != NULL &&
	    note_of(&s, "d/was", INST_NOTE_PARKED) != NULL && note_of(&s, "d/a", INST_NOTE_PARKED) == NULL);
	CHECK_EQ(s.p->n_along, 3);
	CHECK_EQ(s.p->parked, 3);
	scene_end(&s);
}

static void
strict_leaves_no_local_edit_in_place(void)
{
	static const struct pm_row rows[] = {
		{ "deleted", "f,1", "f,2", "f,1" }, { "dir", "d", "d", "d" }, { "dir/same", "f,s", "f,s", "f,s" },
		{ "local", "f,1", NULL, "-" }, { "meta", "f,1,600", "f,1,644", "f,1,600" }, { "mode", "f,m", "f,m", "f,m" },
		{ "moved", "f,s", "f,s", "f,s" }, { "rm", "d", NULL, "d" }, { "rm/a", "f,1", NULL, "f,1" },
	};
	struct scene s;

	scene_tree(&s);
	pm_tree(s.root, rows, N(rows), PM_OLD);
	pm_put(s.root, "local", "f,mine", NULL);
	pm_put(s.root, "meta", "f,mine", NULL);
	pm_put(s.root, "mode", "f,m,600", NULL);
	pm_put(s.root, "rm/mine", "f,x", NULL);
	if (unlinkat(s.root, "deleted", 0) != 0 || unlinkat(s.root, "dir/same", 0) != 0)
		abort();
	scene_release(&s, rows, N(rows), 2);
	CHECK(op_of(&s, "dir/same") == NULL && op_of(&s, "mode") == NULL);
	CHECK(note_of(&s, "deleted", INST_NOTE_KEPT_DELETED) != NULL && note_of(&s, "local", INST_NOTE_KEPT_LOCAL) != NULL &&
	    note_of(&s, "meta", INST_NOTE_KEPT_META) != NULL && note_of(&s, "rm", INST_NOTE_KEPT_DIR) != NULL);
	s.policy.strict = true;
	CHECK_EQ(scene_plan(&s, 2, false), 0);
	CHECK_EQ(inst_plan_verdict(s.p, &s.e), 0);
	CHECK_EQ(s.p->left_alone, 0);
	check_swap(&s, "deleted", DRAY_ABSENT, DRAY_FILE, 0);
	check_swap(&s, "dir/same", DRAY_ABSENT, DRAY_FILE, 0);
	check_swap(&s, "local", DRAY_FILE, DRAY_ABSENT, INST_OP_PARK);
	check_swap(&s, "meta", DRAY_FILE, DRAY_FILE, INST_OP_PARK);
	check_swap(&s, "rm", DRAY_DIR, DRAY_ABSENT, INST_OP_PARK);
	CHECK(note_of(&s, "rm/mine", INST_NOTE_PARKED) != NULL);
	CHECK(op_of(&s, "mode") != NULL && op_of(&s, "mode")->kind == INST_OP_META);
	CHECK(op_of(&s, "moved") == NULL);
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
	CHECK_STR(s.e.text, "1 conflict: d is a symlink here, a directory in the release (leads to elsewhere)");
	scene_end(&s);
}

static _Atomic uint64_t spent, costs;

static void
spend(void *ctx, const struct dray_progress *at)
{
	uint64_t most = spent;

	(void)ctx;
	while (most < at->cost && !atomic_compare_exchange_weak(&spent, &most, at->cost))
		;
	costs = at->costs;
}

/* as they were thought, edited, gone, or another kind */
static void
looking_costs_what_was_thought_before(void)
{
	static const struct pm_row rows[] = { { "a", "f,old", "f,new", NULL }, { "b", "f,old", "f,newer", NULL },
		{ "c", "f,older", "f,new", NULL }, { "d", "d", "d", NULL }, { "d/f", "f,old", NULL, NULL },
		{ "e", "f,one", "f,two", NULL }, { "l", "l,old", "l,new", NULL } };
	struct scene s;

	scene_old(&s, rows, N(rows));
	CHECK_EQ(unlinkat(s.root, "b", 0), 0);
	CHECK_EQ(unlinkat(s.root, "c", 0), 0);
	CHECK_EQ(mkdirat(s.root, "c", 0755), 0);
	CHECK_EQ(unlinkat(s.root, "e", 0), 0);
	CHECK_EQ(symlinkat("elsewhere", s.root, "e"), 0);
	s.progress = spend;
	CHECK_EQ(scene_plan(&s, 2, false), 0);
	CHECK(costs >= 6 * (uint64_t)DRAY_COST_FILE);
	CHECK_EQ(spent, costs);
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
	RUN(a_directory_gives_way_with_all_it_holds_when_told_so);
	RUN(strict_leaves_no_local_edit_in_place);
	RUN(a_symlink_for_a_directory_is_one_conflict);
	RUN(looking_costs_what_was_thought_before);
	return test_done();
}
