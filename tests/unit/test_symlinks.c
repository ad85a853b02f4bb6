/*
 * test_symlinks.c - directories of the release that are symlinks here: where they lead in words, and each decision.
 */
#include "tests/unit/plan_scene.h"

static const struct pm_row rows[] = {
	{ "d", "d", "d", NULL }, { "d/a", "f,1", "f,2", NULL }, { "d/b", NULL, "f,2", NULL },
	{ "d/c", "f,1", NULL, NULL }, { "d/same", "f,s", "f,s", NULL }, { "d/sub", "d,700", "d,755", NULL },
	{ "d/sub/x", "f,1", "f,2", NULL },
	{ "e", "d", "d", NULL }, { "e/f", "f,1", "f,2", NULL },
};

/* a tree in which d is a symlink with this text, and what it should lead to lies in data */
static void
linked(struct scene *s, const char *text)
{
	char words[80];

	scene_tree(s);
	pm_put(s->root, "data", "d", NULL);
	pm_put(s->root, "data/a", "f,1", NULL);
	pm_put(s->root, "data/c", "f,1", NULL);
	pm_put(s->root, "data/same", "f,s", NULL);
	pm_put(s->root, "data/sub", "d,700", NULL);
	pm_put(s->root, "data/sub/x", "f,1", NULL);
	pm_put(s->root, "e", "d", NULL);
	pm_put(s->root, "e/f", "f,1", NULL);
	snprintf(words, sizeof(words), "l,%s", text);
	pm_put(s->root, "d", words, NULL);
}

static void
decide(struct scene *s, struct inst_link *link, enum inst_link_how how)
{
	*link = (struct inst_link){ .path = "d", .len = 1, .how = how };
	s->policy.links = link;
	s->policy.n_links = 1;
}

static void
where_it_leads_is_told(void)
{
	static const struct { const char *text, *undecided, *redirect; } way[] = {
		{ "data", " (leads to data)", NULL },
		{ "./data/", " (leads to data)", NULL },
		{ "/data", " (leads to data, taken as beneath the root)", NULL },
		{ "nowhere", " (dangles: nowhere is not there)", "it dangles: nowhere is not there" },
		{ "/data/no/x", " (dangles: data/no is not there beneath the root)",
		    "it dangles: data/no is not there beneath the root" },
		{ "data/a", " (leads to data/a, which is no directory)", "it leads to data/a, which is no directory" },
		{ "../out", " (leads out of the root: ../out)", "it leads out of the root: ../out" },
		{ "/../../out", " (leads out of the root: /../../out)", "it leads out of the root: /../../out" },
		{ "d", " (leads back to itself: d)", "it leads back to itself: d" },
		{ "d/x", " (leads back to itself: d/x)", "it leads back to itself: d/x" },
		{ "loop", " (leads back to itself: loop)", "it leads back to itself: loop" },
		{ "link", " (leads through another symlink, link)", "it leads through another symlink, link" },
		{ "link/sub", " (leads through another symlink, link)", "it leads through another symlink, link" },
		{ "/", " (leads to the root directory itself)", "it leads to the root directory itself" },
		{ "data/../data", " (has a part .. behind a name, which is not followed: data/../data)",
		    "it has a part .. behind a name, which is not followed: data/../data" },
		{ "e", " (leads to e)", NULL },
	};
	struct inst_link link;
	char want[300];

	for (size_t i = 0; i < N(way); i++) {
		struct scene s;

		linked(&s, way[i].text);
		pm_put(s.root, "loop", "l,d", NULL);
		pm_put(s.root, "link", "l,data", NULL);
		scene_release(&s, rows, N(rows), 1);
		CHECK_EQ(s.p->conflicts, 1);
		CHECK_EQ(s.p->asking, 1);
		CHECK_EQ(inst_plan_verdict(s.p, &s.e), -1);
		CHECK_EQ(s.e.code, DRAY_E_CONFLICT);
		snprintf(want, sizeof(want), "1 conflict: d is a symlink here, a directory in the release%s", way[i].undecided);
		CHECK_STR(s.e.text, want);
		CHECK_HAS(s.e.hint, "--symlink PATH=ignore");
		decide(&s, &link, INST_LINK_REDIRECT);
		CHECK_EQ(scene_plan(&s, 2, true), 0);
		CHECK_EQ(s.p->conflicts, way[i].redirect != NULL);
		if (way[i].redirect != NULL) {
			CHECK_EQ(inst_plan_verdict(s.p, &s.e), -1);
			snprintf(want, sizeof(want), "1 conflict: d cannot be redirected: %s", way[i].redirect);
			CHECK_STR(s.e.text, want);
		}
		scene_end(&s);
	}
}

static void
ignored_beneath_it_nothing_happens(void)
{
	struct inst_link link;
	struct scene s;

	linked(&s, "data");
	decide(&s, &link, INST_LINK_IGNORE);
	scene_release(&s, rows, N(rows), 1);
	CHECK_EQ(inst_plan_verdict(s.p, &s.e), 0);
	CHECK_EQ(s.p->n_swaps, 1);
	check_swap(&s, "e/f", DRAY_FILE, DRAY_FILE, 0);
	CHECK(note_of(&s, "d", INST_NOTE_LINK_IGNORED) != NULL);
	scene_end(&s);
}

static void
redirected_all_of_it_happens_there(void)
{
	struct inst_link link;
	struct scene s;

	for (int absolute = 0; absolute < 2; absolute++) {
		linked(&s, absolute ? "/data" : "data");
		decide(&s, &link, INST_LINK_REDIRECT);
		scene_release(&s, rows, N(rows), 1);
		CHECK_EQ(inst_plan_verdict(s.p, &s.e), 0);
		CHECK_EQ(s.p->n_swaps, 5);
		check_swap(&s, "data/a", DRAY_FILE, DRAY_FILE, 0);
		check_swap(&s, "data/b", DRAY_ABSENT, DRAY_FILE, 0);
		check_swap(&s, "data/c", DRAY_FILE, DRAY_ABSENT, 0);
		check_swap(&s, "data/sub/x", DRAY_FILE, DRAY_FILE, 0);
		/* the mode of the directory beneath, and its time, in one */
		CHECK(op_of(&s, "data/sub") != NULL && op_of(&s, "data/sub")->kind == INST_OP_META &&
		    op_of(&s, "data/sub")->attrs->after.mode == 0755);
		/* the time of the place itself is put back */
		CHECK(op_of(&s, "data") != NULL && op_of(&s, "data")->entry == DRAY_NONE);
		CHECK(note_of(&s, "d", INST_NOTE_LINK_REDIRECTED) != NULL);
		CHECK_STR(note_of(&s, "d", INST_NOTE_LINK_REDIRECTED)->why,
		    "is a symlink here; what is beneath it goes to data");
		scene_end(&s);
	}
}

/* @more: a row of the release, and @text: of the symlink; why the redirect cannot be */
static void
refused_with(const struct pm_row *more, const char *text, const char *why)
{
	struct pm_row all[N(rows) + 1];
	struct inst_link link;
	struct scene s;
	size_t n = 0;

	for (size_t i = 0; i < N(rows) && strcmp(rows[i].path, more->path) < 0; i++)
		all[n++] = rows[i];
	all[n] = *more;
	memcpy(all + n + 1, rows + n, (N(rows) - n) * sizeof(*rows));
	linked(&s, text);
	decide(&s, &link, INST_LINK_REDIRECT);
	scene_release(&s, all, N(rows) + 1, 1);
	CHECK_EQ(s.p->conflicts, 1);
	CHECK_EQ(inst_plan_verdict(s.p, &s.e), -1);
	CHECK_STR(s.e.text, why);
	scene_end(&s);
}

static void
a_redirect_must_not_meet_the_release_itself(void)
{
	refused_with(&(struct pm_row){ "e/a", NULL, "f,9", NULL }, "e",
	    "1 conflict: d cannot be redirected: d/a would meet e/a");
	/* the release removes it: then it would go and come */
	refused_with(&(struct pm_row){ "e/same", "f,1", NULL, NULL }, "e",
	    "1 conflict: d cannot be redirected: d/same would meet e/same");
	refused_with(&(struct pm_row){ "data", "d", NULL, NULL }, "data",
	    "1 conflict: d cannot be redirected: data is no directory in the release");
}

static void
two_directories_may_meet_and_one_is_looked_after(void)
{
	struct pm_row all[N(rows) + 1];
	struct inst_link link;
	struct scene s;

	memcpy(all, rows, sizeof(rows));
	all[N(rows)] = (struct pm_row){ "e/sub", "d,700", "d,750", NULL };
	linked(&s, "e");
	pm_put(s.root, "e/sub", "d,700", NULL);
	pm_put(s.root, "e/sub/x", "f,1", NULL);
	decide(&s, &link, INST_LINK_REDIRECT);
	scene_release(&s, all, N(all), 1);
	CHECK_EQ(inst_plan_verdict(s.p, &s.e), 0);
	CHECK(op_of(&s, "e/sub") != NULL && op_of(&s, "e/sub")->attrs->after.mode == 0750);
	check_swap(&s, "e/sub/x", DRAY_FILE, DRAY_FILE, 0);
	check_swap(&s, "e/b", DRAY_ABSENT, DRAY_FILE, 0);
	scene_end(&s);
}

static void
restored_the_whole_directory_comes_back(void)
{
	struct inst_link link;
	struct scene s;

	linked(&s, "data");
	decide(&s, &link, INST_LINK_RESTORE);
	scene_release(&s, rows, N(rows), 1);
	CHECK_EQ(inst_plan_verdict(s.p, &s.e), 0);
	CHECK_EQ(s.p->n_swaps, 2);
	check_swap(&s, "d", DRAY_SYMLINK, DRAY_DIR, INST_OP_PARK);
	CHECK_EQ(nodes_in(&s, op_of(&s, "d")), 6);
	CHECK(note_of(&s, "d", INST_NOTE_PARKED) != NULL);
	scene_end(&s);
}

/* what the bundle does not hold comes from where the symlink leads, or the plan says no */
static void
restored_from_where_the_symlink_leads(void)
{
	static const struct pm_row all[] = {
		{ "d", "d", "d", NULL }, { "d/more", "-", "d", NULL }, { "d/one", "f,1", "f,1", NULL },
		{ "d/two", "f,22", "f,22", NULL },
	};
	struct inst_link link;
	struct dray_err e;
	struct scene s;

	scene_tree(&s);
	pm_put(s.root, "data", "d", NULL);
	pm_put(s.root, "data/one", "f,1", NULL);
	pm_put(s.root, "data/two", "f,22", NULL);
	pm_put(s.root, "d", "l,data", NULL);
	decide(&s, &link, INST_LINK_RESTORE);
	if (pm_open(&s.pm, all, N(all), 1, true, &e) != 0)
		abort();
	CHECK_EQ(scene_plan(&s, 2, false), 0);
	CHECK_EQ(inst_plan_verdict(s.p, &s.e), 0);
	CHECK_EQ(nodes_in(&s, op_of(&s, "d")), 4);
	CHECK_EQ(s.p->nodes[2].from_live && s.p->nodes[3].from_live, 1);
	if (unlinkat(s.root, "data/two", 0) != 0)
		abort();
	pm_put(s.root, "data/two", "f,33", NULL);
	CHECK_EQ(scene_plan(&s, 2, false), 0);
	CHECK_EQ(inst_plan_verdict(s.p, &s.e), -1);
	CHECK_STR(s.e.text, "1 conflict: d/two the bundle holds no copy of it");
	scene_end(&s);
}

static void
a_decision_about_nothing_is_told(void)
{
	struct inst_link link = { .path = "d", .len = 1, .how = INST_LINK_IGNORE };
	struct scene s;

	scene_tree(&s);
	pm_tree(s.root, rows, N(rows), PM_OLD);
	decide(&s, &link, INST_LINK_IGNORE);
	scene_release(&s, rows, N(rows), 1);
	CHECK(note_of(&s, "d", INST_NOTE_NO_SYMLINK) != NULL);
	check_swap(&s, "d/a", DRAY_FILE, DRAY_FILE, 0);
	link = (struct inst_link){ .path = "d/a", .len = 3, .how = INST_LINK_IGNORE };
	CHECK_EQ(scene_plan(&s, 2, false), -1);
	CHECK_EQ(s.e.code, DRAY_E_USAGE);
	CHECK_STR(s.e.text, "--symlink: d/a is no directory of the release");
	link.path = "zz";
	link.len = 2;
	CHECK_EQ(scene_plan(&s, 2, false), -1);
	CHECK_STR(s.e.text, "--symlink: zz is no directory of the release");
	scene_end(&s);
}

static void
also_where_a_base_had_nothing(void)
{
	static const struct pm_row all[] = { { "d", "-", "d", NULL }, { "d/a", "-", "f,2", NULL } };
	struct scene s;

	scene_tree(&s);
	pm_put(s.root, "data", "d", NULL);
	pm_put(s.root, "d", "l,data", NULL);
	scene_release(&s, all, N(all), 1);
	CHECK_EQ(s.p->asking, 1);
	CHECK_EQ(s.p->n_ops, 0);
	scene_end(&s);
}

int
main(void)
{
	umask(022);
	RUN(where_it_leads_is_told);
	RUN(ignored_beneath_it_nothing_happens);
	RUN(redirected_all_of_it_happens_there);
	RUN(a_redirect_must_not_meet_the_release_itself);
	RUN(two_directories_may_meet_and_one_is_looked_after);
	RUN(restored_the_whole_directory_comes_back);
	RUN(restored_from_where_the_symlink_leads);
	RUN(a_decision_about_nothing_is_told);
	RUN(also_where_a_base_had_nothing);
	return test_done();
}
