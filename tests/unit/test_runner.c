/*
 * test_runner.c - the process that runs programs: only those that were declared, only as they were declared, and none outlives
 * who asked for it.
 */
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dray/io.h"
#include "dray/os.h"

#include "installer/runner_in.h"

#include "test.h"

static char sh[] = "/bin/sh", minus_c[] = "-c", says[] = "echo here; echo \"$@\"; cat; exit 3", zero[] = "zero", word[] = "a%fb";
static char *const trigger[] = { sh, minus_c, says, zero, zero, NULL };
static char *const other[] = { sh, minus_c, says, NULL };
static char *const check[] = { sh, minus_c, says, zero, word, NULL };
static struct inst_ran ran;

static void
begin(bool here, bool chroot)
{
	struct dray_err e;

	CHECK_EQ(inst_runner_allow(INST_PROGRAM_HOOK, 5, other, &e), 0);
	inst_runner_begin(&(struct inst_runner_opts){ .root = "/", .state = "var/lib/dray", .here = here, .chroot = chroot });
	CHECK_EQ(inst_runner_allow(INST_PROGRAM_TRIGGER, 5, trigger, &e), 0);
	CHECK_EQ(inst_runner_allow(INST_PROGRAM_TRIGGER, 5, trigger, &e), 0);
	CHECK_EQ(inst_runner_allow(INST_PROGRAM_CHECK, 5, check, &e), 0);
}

static struct inst_program
ask_for(enum inst_program_kind kind, char *const *argv, const char *text)
{
	return (struct inst_program){ .kind = kind, .argv = argv, .timeout_s = 5, .text = text };
}

static void
refused(struct inst_program p, const char *why)
{
	struct dray_err e = { .code = DRAY_OK };

	CHECK_EQ(inst_run_program(&p, &ran, &e), -1);
	CHECK_EQ(e.code, DRAY_E_SYSTEM);
	CHECK_HAS(e.text, why);
}

static void
runs(struct inst_program p, const char *output)
{
	struct dray_err e = { .code = DRAY_OK };

	CHECK_EQ(inst_run_program(&p, &ran, &e), 0);
	CHECK_EQ(ran.how, INST_RAN_EXIT);
	CHECK_EQ(ran.code, 3);
	CHECK_STR(ran.output, output);
}

static void
only_what_was_declared_is_run(void)
{
	struct inst_program p = ask_for(INST_PROGRAM_TRIGGER, trigger, NULL);
	struct dray_err e;

	begin(true, false);
	refused(p, "none of the programs that were declared");		/* not all of them are known yet */
	CHECK_EQ(inst_runner_seal(&e), 0);
	runs(p, "here\nzero\n");
	runs(p, "here\nzero\n");
	refused(ask_for(INST_PROGRAM_TRIGGER, other, NULL), "/bin/sh is none of the programs");
	refused(ask_for(INST_PROGRAM_HOOK, trigger, NULL), "none of the programs");
	p.timeout_s = 6;
	refused(p, "none of the programs");
	CHECK_EQ(inst_runner_allow(INST_PROGRAM_TRIGGER, 6, trigger, &e), -1);
	inst_runner_end();
}

static void
a_hook_reads_what_it_is_given(void)
{
	struct dray_err e;

	begin(false, false);
	CHECK_EQ(inst_runner_seal(&e), 0);
	runs(ask_for(INST_PROGRAM_HOOK, other, "{\"facts\":1}\n"), "here\n\n{\"facts\":1}\n");
	inst_runner_end();
}

static void
a_check_sees_a_copy_in_the_state_folder_alone(void)
{
	static const char *const bad[] = { "/etc/passwd", "/var/lib/dray/tx/000001/check/../../log", "/var/lib/dray/tx/000001/check/",
		"/var/lib/dray/tx/000001/check/..", "/var/lib/dray/tx/000001/plan", "/var/lib/dray/tx//check/x", "/var/lib/dray/tx/1/check/x",
		"var/lib/dray/tx/000001/check/x", "/var/lib/drayx/tx/000001/check/x", "" };
	struct dray_err e;

	begin(true, false);
	CHECK_EQ(inst_runner_seal(&e), 0);
	runs(ask_for(INST_PROGRAM_CHECK, check, "/var/lib/dray/tx/000001/check/rc.conf"), "here\na/var/lib/dray/tx/000001/check/rc.confb\n");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refused(ask_for(INST_PROGRAM_CHECK, check, bad[i]), "may not be run so on this tree");
	refused(ask_for(INST_PROGRAM_TRIGGER, trigger, "/var/lib/dray/tx/000001/check/rc.conf"), "may not be run so");
	inst_runner_end();
}

static void
where_it_may_be_run_is_no_matter_of_who_asks(void)
{
	struct inst_program p = ask_for(INST_PROGRAM_TRIGGER, trigger, NULL);
	struct dray_err e;

	/* another tree, and no chroot allowed: neither here nor there */
	begin(false, false);
	CHECK_EQ(inst_runner_seal(&e), 0);
	refused(p, "may not be run so");
	p.chroot = true;
	refused(p, "may not be run so");
	inst_runner_end();
	begin(false, true);
	CHECK_EQ(inst_runner_seal(&e), 0);
	p.chroot = false;
	refused(p, "may not be run so");
	inst_runner_end();
	/* a hook is never of the tree */
	begin(true, true);
	CHECK_EQ(inst_runner_seal(&e), 0);
	p = ask_for(INST_PROGRAM_HOOK, other, "");
	p.chroot = true;
	refused(p, "may not be run so");
	inst_runner_end();
}

/* one that speaks past the rules: the runner does not answer, and is gone. @text, with its NUL, follows each that has a length */
static void
serve_these(const struct inst_ask *asks, size_t n, const char *text, enum inst_runner_said want, bool answered)
{
	struct inst_allowed_list l = { .n = 0 };
	struct inst_runner_opts o = { .root = "/", .state = "s", .here = true };
	struct inst_answer a;
	struct dray_err e;
	int down[2], up[2], status = -1;
	pid_t pid;

	CHECK_EQ(inst_allowed_add(&l, INST_PROGRAM_HOOK, 5, "/bin/true", 10, &e), 0);
	if (pipe(down) != 0 || pipe(up) != 0) {
		CHECK(false);
		return;
	}
	fflush(stdout);
	if ((pid = fork()) == 0) {
		close(down[1]);
		close(up[0]);
		inst_runner_serve(down[0], up[1], -1, &o, &l);
	}
	close(down[0]);
	close(up[1]);
	for (size_t i = 0; i < n; i++)
		if (!inst_fd_write(down[1], &asks[i], sizeof(asks[i])) ||
		    !inst_fd_write(down[1], text, asks[i].len > strlen(text) + 1 ? strlen(text) + 1 : asks[i].len))
			break;
	CHECK_EQ(dray_read_whole(up[0], &a, sizeof(a)), answered);
	if (answered)
		CHECK_EQ(a.said, want);
	close(down[1]);
	close(up[0]);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	inst_allowed_free(&l);
}

static void
a_run_that_was_taken_over_gets_no_further(void)
{
	const struct inst_ask seal = { .what = INST_ASK_SEAL }, run = { .what = INST_ASK_RUN, .a = 0 };
	struct inst_ask v[3] = { seal, run };

	signal(SIGPIPE, SIG_IGN);
	serve_these(v, 2, "", INST_SAID_RAN, true);
	serve_these(&run, 1, "", INST_SAID_REFUSED, true);	/* before it is sealed */
	v[1].a = 1;						/* no such number */
	serve_these(v, 2, "", INST_SAID_REFUSED, true);
	v[1] = (struct inst_ask){ .what = INST_ASK_RUN, .b = 1 };	/* a hook in the tree */
	serve_these(v, 2, "", INST_SAID_REFUSED, true);
	v[1] = (struct inst_ask){ .what = INST_ASK_RUN, .b = 2 };
	serve_these(v, 2, "", INST_SAID_REFUSED, true);
	/* one more program behind the seal, a hook of one's own, no absolute path, nothing known, more than there may be */
	v[1] = (struct inst_ask){ .what = INST_ASK_ALLOW, .a = INST_PROGRAM_TRIGGER, .len = 9 };
	v[2] = run;
	serve_these(v, 3, "/bin/who", INST_SAID_RAN, false);
	v[0] = (struct inst_ask){ .what = INST_ASK_ALLOW, .a = INST_PROGRAM_HOOK, .len = 9 };
	v[1] = seal;
	serve_these(v, 3, "/bin/who", INST_SAID_RAN, false);
	v[0].a = INST_PROGRAM_TRIGGER;
	serve_these(v, 3, "bin//who", INST_SAID_RAN, false);
	serve_these(&(struct inst_ask){ .what = 99 }, 1, "", INST_SAID_RAN, false);
	serve_these(&(struct inst_ask){ .what = INST_ASK_RUN, .len = UINT32_MAX }, 1, "", INST_SAID_RAN, false);
}

static int
seen(void)
{
	return 1;
}

static void
a_signal_ends_it(void)
{
	char wait[] = "sleep 600 & wait";
	char *const argv[] = { sh, minus_c, wait, NULL };
	struct inst_program p = { .kind = INST_PROGRAM_TRIGGER, .argv = argv, .stop = seen };
	struct dray_err e = { .code = DRAY_OK };

	inst_runner_begin(&(struct inst_runner_opts){ .root = "/", .state = "s", .here = true });
	CHECK_EQ(inst_runner_allow(INST_PROGRAM_TRIGGER, 0, argv, &e), 0);
	CHECK_EQ(inst_runner_seal(&e), 0);
	CHECK_EQ(inst_run_program(&p, &ran, &e), -1);
	CHECK_EQ(e.code, DRAY_E_SIGNAL);
	inst_runner_end();
}

/* a run that is killed while its program runs: a pipe that the runner and nobody else holds tells when that is gone too */
static void
a_killed_run_takes_its_runner_along(void)
{
	struct inst_allowed_list l = { .n = 0 };
	struct inst_runner_opts o = { .root = "/", .state = "s", .here = true };
	const struct inst_ask asks[] = { { .what = INST_ASK_SEAL }, { .what = INST_ASK_RUN } };
	int alive[2], down[2], up[2], status;
	struct dray_err e;
	pid_t run;
	char byte;

	CHECK_EQ(inst_allowed_add(&l, INST_PROGRAM_TRIGGER, 0, "/bin/sleep\0" "600", 15, &e), 0);
	if (pipe(alive) != 0 || pipe(down) != 0 || pipe(up) != 0) {
		CHECK(false);
		return;
	}
	fflush(stdout);
	if ((run = fork()) == 0) {
		if (fork() == 0) {
			close(down[1]);
			close(up[0]);
			inst_runner_serve(down[0], up[1], -1, &o, &l);
		}
		close(alive[1]);
		if (inst_fd_write(down[1], asks, sizeof(asks)))
			pause();
		_exit(1);
	}
	close(alive[1]);
	close(down[0]);
	close(down[1]);
	close(up[1]);
	kill(run, SIGKILL);
	CHECK_EQ(waitpid(run, &status, 0), run);
	CHECK(!dray_read_whole(alive[0], &byte, 1));
	close(alive[0]);
	close(up[0]);
	inst_allowed_free(&l);
}

int
main(void)
{
	RUN(only_what_was_declared_is_run);
	RUN(a_hook_reads_what_it_is_given);
	RUN(a_check_sees_a_copy_in_the_state_folder_alone);
	RUN(where_it_may_be_run_is_no_matter_of_who_asks);
	RUN(a_run_that_was_taken_over_gets_no_further);
	RUN(a_signal_ends_it);
	RUN(a_killed_run_takes_its_runner_along);
	return test_done();
}
