/*
 * runner.c - one program of the target, run to its end.
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

#include "dray/os.h"

#include "installer/runner.h"

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
become(const struct inst_program *p, int out, int tell, pid_t parent)
{
	static char path[] = "PATH=/sbin:/bin:/usr/sbin:/usr/bin", lang[] = "LC_ALL=C", home[] = "HOME=/";
	char *const env[] = { path, lang, home, NULL };
	struct sigaction usual = { .sa_handler = SIG_DFL };
	bool mounts = false;
	sigset_t none;
	int null, err;

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
	null = open("/dev/null", O_RDONLY);
	if (p->rootfd != -1 && fchdir(p->rootfd) == -1)
		null = -1;
	else if (p->confine)
		mounts = os_confine();
	if (null != -1 && dup2(null, 0) == 0 && (p->rootfd == -1 || chroot(".") == 0) && chdir("/") == 0 &&
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

/* until it ends: what it has started and left behind may hold the pipe, which nobody waits for */
static int
watch(pid_t child, int out, const struct inst_program *p, struct inst_ran *r, struct dray_err *e)
{
	const long long begin = now_ms();
	bool open = true, stopped = false, late = false;
	long long asked = 0;
	int status = 0;

	for (;;) {
		long long now;

		if (open)
			open = drain(out, r, SLICE_MS);
		else
			poll(NULL, 0, SLICE_MS);
		if (waitpid(child, &status, WNOHANG) == child)
			break;
		now = now_ms();
		if (asked == 0) {
			stopped = p->stop != NULL && p->stop() != 0;
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
	return stopped ? dray_fail(e, DRAY_E_SIGNAL, "interrupted") : 0;
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

int
inst_run_program(const struct inst_program *p, struct inst_ran *r, struct dray_err *e)
{
	int out[2], tell[2], rc = -1;
	pid_t child, parent = getpid();

	*r = (struct inst_ran){ .len = 0 };
	if (pipe2(out, O_CLOEXEC) == -1)
		return dray_fail_errno(e, "start %s", p->argv[0]);
	if (pipe2(tell, O_CLOEXEC) == -1) {
		dray_fail_errno(e, "start %s", p->argv[0]);
		goto out;
	}
	fflush(NULL);
	child = fork();
	if (child == 0)
		become(p, out[1], tell[1], parent);
	close(out[1]);
	close(tell[1]);
	out[1] = -1;
	if (child == -1)
		dray_fail_errno(e, "start %s", p->argv[0]);
	else if (!started(tell[0], child, r))
		rc = 0;
	else
		rc = watch(child, out[0], p, r, e);
	close(tell[0]);
out:
	close(out[0]);
	if (out[1] != -1)
		close(out[1]);
	return rc;
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
