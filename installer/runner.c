/*
 * runner.c - the run's side of the runner: make it, tell it which programs there are, ask for one.
 */
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/io.h"

#include "installer/runner_in.h"

#define SLICE_MS 50

/* one for each run: what a process may do is no property of a part of it */
static struct {
	pid_t pid;		/* 0: not begun */
	int asks, answers, error;	/* @error: why it could not be made */
	struct inst_allowed_list list;
} runner;

void
inst_runner_begin(const struct inst_runner_opts *o)
{
	int down[2] = { -1, -1 }, up[2] = { -1, -1 }, root;

	if (pipe2(down, O_CLOEXEC) == -1 || pipe2(up, O_CLOEXEC) == -1)
		goto failed;
	fflush(NULL);
	root = open(o->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);	/* that it is not there is told by others */
	if ((runner.pid = fork()) == 0) {
		close(down[1]);
		close(up[0]);
		inst_runner_serve(down[0], up[1], root, o, &runner.list);
	}
	if (root != -1)
		close(root);
	if (runner.pid == -1)
		goto failed;
	close(down[0]);
	close(up[1]);
	runner.asks = down[1];
	runner.answers = up[0];
	return;
failed:
	runner.error = errno;
	runner.pid = 0;
	for (int i = 0; i < 2; i++) {
		if (down[i] != -1)
			close(down[i]);
		if (up[i] != -1)
			close(up[i]);
	}
}

static void
dismiss(void)
{
	int status;

	if (runner.pid <= 0)
		return;
	close(runner.asks);
	close(runner.answers);
	while (waitpid(runner.pid, &status, 0) == -1 && errno == EINTR)
		;
	runner.pid = 0;
}

void
inst_runner_end(void)
{
	dismiss();
	inst_allowed_free(&runner.list);
	runner.error = 0;
}

static int
gone(struct dray_err *e)
{
	dray_fail(e, DRAY_E_IO, "the process that runs programs has gone");
	return dray_hint(e, "look at what the kernel says: was it killed, or was memory short?");
}

static int
not_begun(struct dray_err *e)
{
	errno = runner.error != 0 ? runner.error : ECHILD;
	return dray_fail_errno(e, "make the process that runs programs");
}

static int
ask(enum inst_runner_what what, uint32_t a, uint32_t b, const void *p, size_t len, struct dray_err *e)
{
	struct inst_ask q = { .what = what, .a = a, .b = b, .len = (uint32_t)len };

	if (runner.pid == 0)
		return not_begun(e);
	return inst_fd_write(runner.asks, &q, sizeof(q)) && inst_fd_write(runner.asks, p, len) ? 0 : gone(e);
}

int
inst_runner_allow(enum inst_program_kind kind, unsigned timeout_s, char *const *argv, struct dray_err *e)
{
	size_t len = 0, at = 0;
	char *words;
	int rc;

	for (size_t i = 0; argv[i] != NULL; i++)
		len += strlen(argv[i]) + 1;
	if ((words = malloc(len + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; argv[i] != NULL; i++) {
		memcpy(words + at, argv[i], strlen(argv[i]) + 1);
		at += strlen(argv[i]) + 1;
	}
	rc = inst_allowed_add(&runner.list, kind, timeout_s, words, len, e);
	/* where there is no runner, that is told when a program shall be run */
	if (rc == 0 && runner.pid != 0)
		rc = ask(INST_ASK_ALLOW, kind, timeout_s, words, len, e);
	free(words);
	return rc < 0 ? -1 : 0;
}

int
inst_runner_seal(struct dray_err *e)
{
	runner.list.sealed = true;
	if (runner.list.n == 0)
		dismiss();
	return runner.pid == 0 ? 0 : ask(INST_ASK_SEAL, 0, 0, NULL, 0, e);
}

/* the answer; meanwhile a signal that was seen is told */
static int
wait_for(int (*stop)(void), struct inst_answer *a, struct dray_err *e)
{
	struct pollfd pf = { .fd = runner.answers, .events = POLLIN };
	bool told = false;
	int n;

	while ((n = poll(&pf, 1, SLICE_MS)) == 0 || (n == -1 && errno == EINTR)) {
		if (told || stop == NULL || stop() == 0)
			continue;
		told = true;
		if (ask(INST_ASK_STOP, 0, 0, NULL, 0, e) != 0)
			return -1;
	}
	return dray_read_whole(runner.answers, a, sizeof(*a)) ? 0 : gone(e);
}

int
inst_run_program(const struct inst_program *p, struct inst_ran *r, struct dray_err *e)
{
	long number = inst_allowed_find(&runner.list, p->kind, p->timeout_s, p->argv);
	const char *text = p->text != NULL ? p->text : "";
	struct inst_answer a;

	*r = (struct inst_ran){ .len = 0 };
	if (number == -1 || !runner.list.sealed)
		return dray_fail(e, DRAY_E_SYSTEM, "%s is none of the programs that were declared before this run began", p->argv[0]);
	if (runner.pid == 0)
		return not_begun(e);
	if (ask(INST_ASK_RUN, (uint32_t)number, p->chroot, text, strlen(text), e) != 0 || wait_for(p->stop, &a, e) != 0)
		return -1;
	if (a.len >= sizeof(r->output) || !dray_read_whole(runner.answers, r->output, a.len))
		return gone(e);
	r->len = a.len;
	r->output[r->len] = '\0';
	r->how = (enum inst_ran_how)a.how;
	r->code = a.code;
	switch (a.said) {
	case INST_SAID_RAN:
		return 0;
	case INST_SAID_STOPPED:
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
	case INST_SAID_NOT_STARTED:
		errno = a.code;
		return dray_fail_errno(e, "start %s", p->argv[0]);
	default:
		return dray_fail(e, DRAY_E_SYSTEM, "%s may not be run so on this tree", p->argv[0]);
	}
}

const char *
inst_ran_text(const struct inst_ran *r, char out[80])
{
	switch (r->how) {
	case INST_RAN_EXIT:
		snprintf(out, 80, "exit status %d", r->code);
		break;
	case INST_RAN_SIGNAL:
		snprintf(out, 80, "ended by signal %d", r->code);
		break;
	case INST_RAN_TIMEOUT:
		snprintf(out, 80, "took too long and was ended");
		break;
	case INST_RAN_MISSING:
		snprintf(out, 80, r->code == ENOENT || r->code == ENOTDIR ? "no such program here" : "it cannot be run here (error %d)",
		    r->code);
		break;
	}
	return out;
}
