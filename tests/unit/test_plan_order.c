/*
 * test_plan_order.c - attributes, links, order, times of directories, id, recheck and verdict of a plan.
 */
#include "tests/unit/plan_scene.h"

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
	CHECK((op = op_of(&s, "f")) != NULL && op->kind == INST_OP_META && op->attrs->before.mode == 0644 &&
	    op->attrs->after.mode == 04755 && op->attrs->after.has == DRAY_HAS_MODE);
	CHECK((op = op_of(&s, "d")) != NULL && op->kind == INST_OP_META && op->attrs->after.mode == 0700);
	CHECK((op = op_of(&s, "t")) != NULL && op->kind == INST_OP_META && op->attrs->before.mtime_sec == 5 &&
	    op->attrs->after.mtime_sec == 6);
	/* an edit keeps its content and its time */
	CHECK((op = op_of(&s, "edited")) != NULL && op->kind == INST_OP_META && op->attrs->after.mode == 0600);
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
		{ "lib/libcrypt.so.1", "f,1", "f,2", NULL }, { "lib/libso", "f,1", "f,2", NULL },
		{ "lib/libsys.so.7", "f,1", "f,2", NULL }, { "lib/libthr.so.3", "f,1", "f,2", NULL },
		{ "new", NULL, "d", NULL }, { "new/x", NULL, "f,2", NULL },
	};
	static const char *const want[] = { "new", "lib/ld-linux.so.2", "lib/libsys.so.7", "lib/libc.so.6", "lib/libthr.so.3",
		"lib/liba.so.1", "lib/libcrypt.so.1", "bin/sh", "etc/conf", "lib/libso", "boot/vmlinuz", "etc/gone2", "etc/gone", "lib", "etc", "boot", "bin", "" };
	struct scene s;

	scene_old(&s, rows, N(rows));
	CHECK_EQ(s.p->n_ops, N(want));
	CHECK_EQ(s.p->n_swaps, 13);
	for (size_t i = 0; i < N(want) && i < s.p->n_ops; i++) {
		char got[64];

		snprintf(got, sizeof(got), "%.*s", (int)s.p->ops[i].len, s.p->ops[i].path);
		CHECK_STR(got, want[i]);
		CHECK_EQ(s.p->ops[i].slot, i < 13 ? (int64_t)i : (int64_t)DRAY_NONE);
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
	CHECK((op = op_of(&s, "a")) != NULL && op->attrs->after.mtime_sec == 100 && op->attrs->before.mtime_sec == 100);
	CHECK((op = op_of(&s, "b")) != NULL && op->attrs->after.mtime_sec == 200 && op->attrs->before.mtime_sec == 100);
	CHECK((op = op_of(&s, "c")) != NULL && op->attrs->after.mtime_sec == 7 && op->attrs->before.mtime_sec == 7);
	CHECK((op = op_of(&s, "e")) != NULL && op->attrs->after.mtime_sec == 200 && op->attrs->before.mtime_sec == 7);
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
more_names_than_the_file_system_gives_are_refused(void)
{
	static const struct pm_row rows[] = {
		{ "a", "f,1,@a", "f,2,@a", NULL }, { "b", "f,1,@a", "f,2,@a", NULL }, { "c", "-", "f,2,@a", NULL },
		{ "x", "f,1,@x", "f,2,@x", NULL }, { "y", "f,1,@x", "f,2,@x", NULL },
	};
	struct dray_fs fs;
	struct scene s;

	scene_old(&s, rows, N(rows));
	CHECK_EQ(s.p->blocked, 0);
	s.max_links = 2;
	CHECK_EQ(scene_plan(&s, 2, false), 0);
	CHECK_EQ(s.p->blocked, 1);
	CHECK_EQ(inst_plan_verdict(s.p, &s.e), -1);
	CHECK_EQ(s.e.code, DRAY_E_SYSTEM);
	CHECK_STR(s.e.text, "1 path cannot be changed here: a is one of 3 names of one file; this file system gives it 2 at most");
	s.max_links = 3;
	CHECK_EQ(scene_plan(&s, 2, false), 0);
	CHECK_EQ(inst_plan_verdict(s.p, &s.e), 0);
	CHECK_EQ(os_fs(s.root, &fs), 0);
	CHECK(fs.max_links >= 65000);	/* of ext4, btrfs, xfs; of others no bound is known */
	scene_end(&s);
}

static void
nothing_of_an_absent_component_is_planned(void)
{
	static const struct pm_row rows[] = {
		{ "a", "f,1,@g", "f,2,@g", NULL }, { "b", "f,1,@g,%2", "f,2,@g,%2", NULL },
		{ "dir", "d,%3", NULL, NULL }, { "dir/f", "f,1", NULL, NULL }, { "dir/s", "f,1,%2", NULL, NULL },
		{ "src", "d,%2", "d,%2", NULL }, { "src/f", "f,1,%2", "f,2,%2", NULL },
		{ "src/gone", "f,1,%2", NULL, NULL }, { "src/new", NULL, "f,3,%2", NULL }, { "z", "f,1,%3", "f,2,%3", NULL },
	};
	uint8_t all[32];
	struct scene s;

	scene_old(&s, rows, N(rows));
	CHECK(op_of(&s, "a") != NULL && op_of(&s, "b") != NULL && op_of(&s, "dir") != NULL && op_of(&s, "src/f") != NULL);
	CHECK(op_of(&s, "src/new") != NULL && op_of(&s, "src/gone") != NULL && op_of(&s, "z") != NULL);
	memcpy(all, s.p->id, sizeof(all));
	s.policy.absent = 2;
	CHECK_EQ(scene_plan(&s, 2, false), 0);
	CHECK(op_of(&s, "a") != NULL && op_of(&s, "dir/f") != NULL && op_of(&s, "z") != NULL);
	CHECK_EQ(s.p->n_swaps, 3);
	/* what is left of it is a local object to the directory above, another name to the group */
	if (note_of(&s, "dir", INST_NOTE_KEPT_DIR) != NULL)
		CHECK_HAS(note_of(&s, "dir", INST_NOTE_KEPT_DIR)->why, "dir/s");
	else
		CHECK(note_of(&s, "dir", INST_NOTE_KEPT_DIR) != NULL);
	CHECK(note_of(&s, "a", INST_NOTE_OUTSIDE_LINK) != NULL);
	CHECK(memcmp(all, s.p->id, sizeof(all)) != 0);
	for (size_t i = 0; i < N(rows); i++)
		CHECK_EQ(s.p->decides[i], strcmp(rows[i].path, "b") != 0 && strcmp(rows[i].path, "dir/s") != 0 &&
		    strncmp(rows[i].path, "src", 3) != 0);
	scene_end(&s);
}

static void
recheck_looks_into_a_directory_that_goes_and_at_links(void)
{
	static const struct pm_row rows[] = {
		{ "gone", "d", NULL, NULL }, { "gone/in", "d", NULL, NULL }, { "gone/in/f", "f,1", NULL, NULL },
		{ "m", "f,1", "f,1,600", NULL },
	};
	struct scene s;

	scene_old(&s, rows, N(rows));
	CHECK_EQ(s.p->n_inside, 2);
	CHECK_EQ(inst_plan_recheck(s.root, s.p, 2, &s.e), 0);
	pm_put(s.root, "gone/in/new", "f,x", NULL);	/* a directory's time tells of new names */
	CHECK_EQ(inst_plan_recheck(s.root, s.p, 2, &s.e), -1);
	CHECK_EQ(s.e.code, DRAY_E_DRIFT);
	CHECK_STR(s.e.text, "gone/in changed since the plan was made");
	scene_end(&s);

	scene_old(&s, rows, N(rows));
	CHECK_EQ(unlinkat(s.root, "gone/in/f", 0), 0);
	pm_put(s.root, "gone/in/f", "f,9", NULL);
	CHECK_EQ(inst_plan_recheck(s.root, s.p, 2, &s.e), -1);
	CHECK_HAS(s.e.text, "gone/in");
	scene_end(&s);

	/* attributes set in place would reach a link that was made since */
	scene_old(&s, rows, N(rows));
	CHECK_EQ(linkat(s.root, "m", s.root, "elsewhere", 0), 0);
	CHECK_EQ(inst_plan_recheck(s.root, s.p, 2, &s.e), -1);
	CHECK_STR(s.e.text, "m changed since the plan was made");
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
	s.p->sites[0].need_bytes = 3000000;
	s.p->sites[0].fs.free_bytes = 2000000;
	s.p->sites[0].need_inodes = 300;
	s.p->sites[0].fs.free_inodes = 10;
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
	uint64_t bytes, inodes;
	struct scene s;

	scene_old(&s, rows, N(rows));
	CHECK_EQ(s.p->n_sites, 1);
	CHECK(s.p->sites[0].need_bytes >= 1024 * 1024 + 64 * 1024 + 5 * 4096);
	CHECK_EQ(s.p->sites[0].need_inodes, 203);
	CHECK(!inst_site_short(s.p, 0, &bytes, &inodes));
	CHECK_EQ(bytes, s.p->sites[0].need_bytes);
	CHECK_EQ(inodes, 203);
	scene_end(&s);
}

int
main(void)
{
	umask(022);
	RUN(attributes_alone_are_set_in_place);
	RUN(hard_link_groups_are_one_object_afterwards);
	RUN(swaps_come_in_an_order_that_runs);
	RUN(times_of_directories_are_set_or_put_back);
	RUN(a_directory_time_alone_is_no_reason_to_act);
	RUN(the_id_is_of_the_decisions_alone);
	RUN(recheck_finds_what_changed_since);
	RUN(more_names_than_the_file_system_gives_are_refused);
	RUN(nothing_of_an_absent_component_is_planned);
	RUN(recheck_looks_into_a_directory_that_goes_and_at_links);
	RUN(the_verdict_tells_all_reasons);
	RUN(a_content_that_is_nowhere_is_a_conflict);
	RUN(room_is_counted_in_blocks);
	return test_done();
}
