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

/* "user.a"=1, "security.capability"=22, "user.b"=333, "trusted.x"=4 in the packed form */
static uint8_t *
some_xattrs(uint32_t *len)
{
	static const char packed[] = "\x06\0\x01\0\0\0user.a1" "\x13\0\x02\0\0\0security.capability22"
	    "\x06\0\x03\0\0\0user.b333" "\x09\0\x01\0\0\0trusted.x4";
	uint8_t *p = malloc(sizeof(packed));

	if (p == NULL)
		abort();
	memcpy(p, packed, sizeof(packed) - 1);
	*len = sizeof(packed) - 1;
	return p;
}

static void
without_owner_only_what_a_user_can_set_is_compared(void)
{
	struct inst_meta want = { .has = DRAY_HAS_MODE | DRAY_HAS_UID | DRAY_HAS_GID | DRAY_HAS_XATTRS | DRAY_HAS_MTIME,
	    .mode = 06755, .uid = 1, .gid = 2, .n_xattrs = 4 };
	struct inst_meta have = { .has = DRAY_HAS_MODE | DRAY_HAS_XATTRS, .mode = 0755, .uid = 9, .n_xattrs = 4 };

	want.xattrs = some_xattrs(&want.xattrs_len);
	have.xattrs = some_xattrs(&have.xattrs_len);
	CHECK(!inst_meta_same(&want, &have));
	inst_meta_plain(&want);
	CHECK_EQ(want.has, DRAY_HAS_MODE | DRAY_HAS_XATTRS | DRAY_HAS_MTIME | INST_HAS_PLAIN);
	CHECK_EQ(want.mode, 0755);
	CHECK_EQ(want.n_xattrs, 2);
	CHECK_EQ(want.xattrs_len, 6 + 6 + 1 + 6 + 6 + 3);
	CHECK(inst_meta_same(&want, &have));	/* the capability that is there is nobody's business */
	have.mode = 04755;
	CHECK(inst_meta_same(&want, &have));
	have.mode = 0700;
	CHECK(!inst_meta_same(&want, &have));
	have.mode = 0755;
	have.xattrs[12] ^= 1;			/* the value of user.a */
	CHECK(!inst_meta_same(&want, &have));
	inst_meta_free(&want);
	inst_meta_free(&have);
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
	RUN(without_owner_only_what_a_user_can_set_is_compared);
	RUN(commands_are_quoted_for_a_shell);
	return test_done();
}
