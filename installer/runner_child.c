/*
 * runner_child.c - one program, run to its end by the process that was made for that.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dray/io.h"
#include "dray/os.h"

#include "installer/runner_in.h"

#define SLICE_MS 50
#define CHUNK 4096u
#define GRACE_MS 3000		/* from being asked to end until being killed */
#define TELL 3			/* the handle by which a child tells that it could not become the program */

static long long
now_ms(void)
{
	struct timespec t = { .tv_sec = 0 };

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* what is not the program yet waits for the process that is; as the first of its namespace that one ends all others */
static void
confine(bool mounts)
{
	int status = 0;
	pid_t inner;

	if ((inner = fork()) == 0 && os_die_with_parent() == 0) {
		os_furnish(mounts);
		return;
	}
	if (inner <= 0)
		_exit(126);
	close(TELL);
	while (waitpid(inner, &status, 0) == -1 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		raise(WTERMSIG(status));
	_exit(WEXITSTATUS(status));
}

/* in the child: what fails goes back as an errno */
static _Noreturn void
become(const struct inst_child *p, int in, int out, int tell, pid_t parent)
{
	static char path[] = "PATH=/sbin:/bin:/usr/sbin:/usr/bin", lang[] = "LC_ALL=C", home[] = "HOME=/";
	char *const env[] = { path, lang, home, NULL };
	struct sigaction usual = { .sa_handler = SIG_DFL };
	bool mounts = false;
	sigset_t none;
	int err;

	/* a run that is killed leaves no program behind */
	if (os_die_with_parent() == -1 || getppid() != parent)
		_exit(126);
	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int sig = 1; sig < 32; sig++)	/* ignored signals would stay ignored; two of them cannot be set */
		sigaction(sig, &usual, NULL);
	umask(022);
	/* ours: another tree may have none */
	if (in == -1)
		in = open("/dev/null", O_RDONLY);
	if (p->rootfd != -1 && fchdir(p->rootfd) == -1)
		in = -1;
	else if (p->confine)
		mounts = os_confine();
	if (in != -1 && dup2(in, 0) == 0 && (p->rootfd == -1 || chroot(".") == 0) && chdir("/") == 0 &&
	    dup2(out, 1) == 1 && dup2(out, 2) == 2 && (tell == TELL || dup2(tell, TELL) == TELL) &&
	    fcntl(TELL, F_SETFD, FD_CLOEXEC) == 0) {
		tell = TELL;
		os_close_above(TELL);
		if (p->confine)
			confine(mounts);
		execve(p->argv[0], p->argv, env);
	}
	err = errno;
	if (write(tell, &err, sizeof(err)) != (ssize_t)sizeof(err))
		_exit(126);
	_exit(127);
}

/* keeps the end of what is written; @len: at most CHUNK, which is less than there is room for */
static void
keep(struct inst_ran *r, const char *p, size_t len)
{
	const size_t cap = sizeof(r->output) - 1;

	if (r->len + len > cap) {
		memmove(r->output, r->output + (r->len + len - cap), cap - len);
		r->len = cap - len;
	}
	memcpy(r->output + r->len, p, len);
	r->len += len;
	r->output[r->len] = '\0';
}

/* what is there to be read, for at most @ms; false: the other end is closed */
static bool
drain(int fd, struct inst_ran *r, int ms)
{
	struct pollfd pf = { .fd = fd, .events = POLLIN };
	char buf[CHUNK];
	ssize_t n;

	if (poll(&pf, 1, ms) <= 0)
		return true;
	n = read(fd, buf, sizeof(buf));
	if (n > 0)
		keep(r, buf, (size_t)n);
	return n > 0 || (n == -1 && (errno == EINTR || errno == EAGAIN));
}

static void
end_of(int status, struct inst_ran *r)
{
	r->how = WIFSIGNALED(status) ? INST_RAN_SIGNAL : INST_RAN_EXIT;
	r->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static int
reap(pid_t child, int *status)
{
	pid_t got;

	do
		got = waitpid(child, status, 0);
	while (got == -1 && errno == EINTR);
	return got == child ? 0 : -1;
}

/* the run that asked: does it want the end of it? When it is gone itself, nothing of ours is left behind */
static bool
told_to_stop(int asks, pid_t child)
{
	struct pollfd pf = { .fd = asks, .events = POLLIN };
	struct inst_ask q;

	if (poll(&pf, 1, 0) <= 0)
		return false;
	if (dray_read_whole(asks, &q, sizeof(q)) && q.what == INST_ASK_STOP && q.len == 0)
		return true;
	kill(-child, SIGKILL);
	kill(child, SIGKILL);	/* should it not have its own group yet */
	_exit(0);
}

/* what is left of its input; *fd -1: no more, or it does not want it */
static void
feed(int *fd, const char **input)
{
	ssize_t n;

	if (*fd == -1)
		return;
	while (**input != '\0' && (n = write(*fd, *input, strlen(*input))) > 0)
		*input += n;
	if (**input != '\0' && errno == EAGAIN)
		return;
	close(*fd);
	*fd = -1;
}

/* until it ends: what it has started and left behind may hold the pipe, which nobody waits for */
static enum inst_runner_said
watch(pid_t child, int *in, int out, const struct inst_child *p, struct inst_ran *r)
{
	const long long begin = now_ms();
	bool open = true, stopped = false, late = false;
	const char *input = p->input;
	long long asked = 0;
	int status = 0;

	for (;;) {
		long long now;

		feed(in, &input);
		if (open)
			open = drain(out, r, SLICE_MS);
		else
			poll(NULL, 0, SLICE_MS);
		if (waitpid(child, &status, WNOHANG) == child)
			break;
		now = now_ms();
		stopped = told_to_stop(p->asks, child) || stopped;
		if (asked == 0) {
			late = !stopped && p->timeout_s > 0 && now >= begin + (long long)p->timeout_s * 1000;
			if (stopped || late) {
				asked = now;
				kill(-child, SIGTERM);
			}
		} else if (now >= asked + GRACE_MS) {
			kill(-child, SIGKILL);
			reap(child, &status);
			break;
		}
	}
	kill(-child, SIGKILL);		/* and what is left of its group */
	for (int i = 0; open && i < 64; i++)
		open = drain(out, r, 0);
	end_of(status, r);
	if (late) {
		r->how = INST_RAN_TIMEOUT;
		r->code = 0;
	}
	return stopped ? INST_SAID_STOPPED : INST_SAID_RAN;
}

/* did it start? *r: not, and why */
static bool
started(int tell, pid_t child, struct inst_ran *r)
{
	int err = 0, status;
	ssize_t n;

	do
		n = read(tell, &err, sizeof(err));
	while (n == -1 && errno == EINTR);
	if (n != (ssize_t)sizeof(err))
		return true;
	reap(child, &status);
	r->how = INST_RAN_MISSING;
	r->code = err;
	return false;
}

static void
shut(int *fd)
{
	if (*fd != -1)
		close(*fd);
	*fd = -1;
}

/* both ends; none where nothing is to be read */
static int
input_pipe(const struct inst_child *p, int in[2])
{
	if (p->input == NULL)
		return 0;
	return pipe2(in, O_CLOEXEC) == -1 ? -1 : fcntl(in[1], F_SETFL, O_NONBLOCK);
}

enum inst_runner_said
inst_child_run(const struct inst_child *p, struct inst_ran *r)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, tell[2] = { -1, -1 };
	enum inst_runner_said said = INST_SAID_NOT_STARTED;
	pid_t child = -1, parent = getpid();

	*r = (struct inst_ran){ .len = 0 };
	if (pipe2(out, O_CLOEXEC) == 0 && pipe2(tell, O_CLOEXEC) == 0 && input_pipe(p, in) == 0 && (child = fork()) == 0)
		become(p, in[0], out[1], tell[1], parent);
	r->code = errno;
	shut(&in[0]);
	shut(&out[1]);
	shut(&tell[1]);
	if (child != -1) {
		r->code = 0;
		said = started(tell[0], child, r) ? watch(child, &in[1], out[0], p, r) : INST_SAID_RAN;
	}
	shut(&in[1]);
	shut(&out[0]);
	shut(&tell[0]);
	return said;
}
