/*
 * runner_serve.c - the process that runs programs. What it is asked comes from a process that has read foreign bytes since, so
 * nothing of that is taken for granted: whoever asks in another way than told in runner_in.h is not answered any more.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/io.h"

#include "installer/runner_in.h"

bool
inst_fd_write(int fd, const void *p, size_t len)
{
	const uint8_t *from = p;

	while (len > 0) {
		ssize_t n = write(fd, from, len);

		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		from += n;
		len -= (size_t)n;
	}
	return true;
}

/* may this one be run so? *argv: its words, to be freed when they are its own */
static bool
granted(const struct inst_allowed *a, bool chroot, const char *text, size_t len, const struct inst_runner_opts *o, int rootfd,
    char ***own)
{
	*own = NULL;
	if (strlen(text) != len || (chroot && (!o->chroot || rootfd == -1)))
		return false;
	switch (a->kind) {
	case INST_PROGRAM_TRIGGER:
	case INST_PROGRAM_CONFINED:
		return len == 0 && (chroot || o->here);
	case INST_PROGRAM_CHECK:
		return (chroot || o->here) && inst_allowed_file_ok(o->state, text) && (*own = inst_allowed_with(a->argv, text)) != NULL;
	case INST_PROGRAM_HOOK:
		return !chroot && len < INST_RAN_INPUT;
	}
	return false;
}

static bool
answer(int fd, enum inst_runner_said said, const struct inst_ran *r)
{
	struct inst_answer a = { .said = said, .how = r->how, .code = r->code, .len = said == INST_SAID_RAN ? (uint32_t)r->len : 0 };

	return inst_fd_write(fd, &a, sizeof(a)) && inst_fd_write(fd, r->output, a.len);
}

static bool
run(const struct inst_ask *q, const char *text, int asks, int answers, int rootfd, const struct inst_runner_opts *o,
    const struct inst_allowed_list *l)
{
	const bool chroot = (q->b & 1) != 0;
	const struct inst_allowed *a;
	struct inst_ran r = { .len = 0 };
	char **own = NULL;
	struct inst_child c;
	bool ok;

	if (!l->sealed || q->a >= l->n || q->b > 1 || !granted(a = &l->v[q->a], chroot, text, q->len, o, rootfd, &own))
		return answer(answers, INST_SAID_REFUSED, &r);
	c = (struct inst_child){ .argv = own != NULL ? own : a->argv, .rootfd = chroot ? rootfd : -1,
	    .confine = chroot || a->kind == INST_PROGRAM_CONFINED, .timeout_s = a->timeout_s,
	    .input = a->kind == INST_PROGRAM_HOOK ? text : NULL, .asks = asks };
	ok = answer(answers, inst_child_run(&c, &r), &r);
	free(own);
	return ok;
}

_Noreturn void
inst_runner_serve(int asks, int answers, int rootfd, const struct inst_runner_opts *o, struct inst_allowed_list *l)
{
	/* a key on the terminal is for the run, which tells what is to be done; a closed pipe is an end */
	static const int deaf[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP };
	struct dray_err ignored;
	struct inst_ask q;
	char *text;
	bool ok = true;

	for (size_t i = 0; i < sizeof(deaf) / sizeof(deaf[0]); i++)
		signal(deaf[i], SIG_IGN);
	while (ok && dray_read_whole(asks, &q, sizeof(q)) && q.len <= INST_ALLOWED_BYTES) {
		if ((text = malloc((size_t)q.len + 1)) == NULL)
			break;
		text[q.len] = '\0';
		if (!dray_read_whole(asks, text, q.len)) {
			free(text);
			break;
		}
		switch (q.what) {
		case INST_ASK_ALLOW:
			/* those of the site are known from before */
			ok = (q.a == INST_PROGRAM_TRIGGER || q.a == INST_PROGRAM_CONFINED || q.a == INST_PROGRAM_CHECK) &&
			    inst_allowed_add(l, (enum inst_program_kind)q.a, q.b, text, q.len, &ignored) == 0;
			break;
		case INST_ASK_SEAL:
			ok = q.len == 0;
			l->sealed = true;
			break;
		case INST_ASK_RUN:
			ok = run(&q, text, asks, answers, rootfd, o, l);
			break;
		case INST_ASK_STOP:
			ok = q.len == 0;	/* it had ended already */
			break;
		default:
			ok = false;
		}
		free(text);
	}
	_exit(0);
}
