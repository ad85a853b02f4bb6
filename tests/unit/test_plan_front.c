/*
 * test_plan_front.c - the floor without a record, the rights of other users' plans, and the commands that are printed.
 */
#include "tests/unit/test.h"

#include "tests/unit/plan_mini.h"

#include "installer/cmd.h"

static const struct pm_row rows[] = { { "a", "f,1", "f,2", NULL }, { "b", "f,1", "f,2", NULL } };

/* an open front on a tree with the two files; @content: of b, "1" is the base's */
static int
floor_of(uint64_t base_counter, const char *content, bool recorded, struct dray_err *e)
{
	struct inst_plan_opts o = { .threads = 1 };
	char dir[] = "/tmp/dray-test-XXXXXX";
	struct inst_plan *p = NULL;
	struct inst_front f;
	struct pm pm;
	int root, rc = 2;

	inst_front_init(&f, "plan");
	pm_base_counter = base_counter;
	if (mkdtemp(dir) == NULL || (root = open(dir, O_RDONLY | O_DIRECTORY)) == -1)
		abort();
	pm_put(root, "a", "f,x", NULL);
	pm_put(root, "b", content, NULL);
	if (pm_open(&pm, rows, 2, 1, false, e) == 0 && inst_plan_make(root, pm.b, &o, &p, e) == 0) {
		f.b = pm.b;
		f.root = "root";
		f.anchor.installed.known = recorded;
		rc = inst_front_floor(&f, p, e);
	} else {
		printf("# %s\n", e->text);
	}
	inst_plan_free(p);
	pm_close(&pm);
	close(root);
	if (inst_rmtree(AT_FDCWD, dir, e) != 0)
		abort();
	return rc;
}

static void
a_newer_base_that_the_tree_matches_is_the_floor(void)
{
	struct dray_err e = { .code = DRAY_OK };

	CHECK_EQ(floor_of(3, "f,1", false, &e), -1);
	CHECK_EQ(e.code, DRAY_E_FLOOR);
	CHECK_STR(e.text, "demo 1.1 has release counter 2, but root looks like 1.0.0 with 3");
	CHECK_EQ(floor_of(2, "f,1", false, &e), 0);
	CHECK_EQ(floor_of(3, "f,other", false, &e), 0);	/* nothing matches: not that release */
	CHECK_EQ(floor_of(3, "f,1", true, &e), 0);	/* recorded: the record counts */
}

static void
commands_are_quoted_for_a_shell(void)
{
	const char *keys[] = { "ops.pub", "it's.pub" };
	struct inst_front f;
	char *text;

	inst_front_init(&f, "plan");
	CHECK_STR(text = inst_command(&f, "status", NULL), "dray-install status");
	free(text);
	f.bundle = "my up.dray";
	f.root = "/mnt/$HOME";
	f.state = "var/x";
	f.keyring = (struct tool_list){ keys, 2 };
	CHECK_STR(text = inst_command(&f, "apply", "--plan 00"), "dray-install apply 'my up.dray' --root '/mnt/$HOME' "
	    "--state var/x --keyring ops.pub --keyring 'it'\\''s.pub' --plan 00");
	free(text);
	f.bundle = "a\033[31mb";	/* must not reach the terminal */
	f.keyring.n = 0;
	CHECK_STR(text = inst_command(&f, "plan", NULL), "dray-install plan 'a?[31mb' --root '/mnt/$HOME' --state var/x");
	free(text);
}

int
main(void)
{
	umask(022);
	RUN(a_newer_base_that_the_tree_matches_is_the_floor);
	RUN(commands_are_quoted_for_a_shell);
	return test_done();
}
