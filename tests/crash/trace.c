/*
 * trace.c - seccomp and ptrace: a program stops where a table of system calls says so (trace.h)
 *
 * strace --seccomp-bpf would do, but loses the signals that it shall inject. After a stop at entry the kernel skips the call
 * when a fatal signal is pending. openat2 cannot be looked into by a filter, so no test but TRACE_ALWAYS fits it.
 */
#include "tests/crash/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_CALLS = 120, MAX_TASKS = 1024 };

static struct {
	pid_t id[MAX_TASKS];
	size_t n;
} tasks;	/* threads and children that are stopped now and then */

static void
note_task(pid_t pid)
{
	for (size_t i = 0; i < tasks.n; i++)
		if (tasks.id[i] == pid)
			return;
	if (tasks.n < MAX_TASKS)
		tasks.id[tasks.n++] = pid;
}

static void
forget_task(pid_t pid)
{
	for (size_t i = 0; i < tasks.n; i++)
		if (tasks.id[i] == pid)
			tasks.id[i] = tasks.id[--tasks.n];
}

/* the filter: for each call, stop with its row of the table as the message */
static void
install_filter(const struct trace_watch *w)
{
	struct sock_filter f[MAX_CALLS * 5 + 2], *p = f;
	struct sock_fprog prog;

	*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < w->n_calls; i++) {
		const struct trace_call *c = &w->calls[i];
		unsigned int stop = SECCOMP_RET_TRACE | (unsigned int)i;

		if (c->test == TRACE_ALWAYS) {
			*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, c->number, 0, 1);
			*p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, stop);
			continue;
		}
		*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, c->number, 0, 4);
		if (c->test == TRACE_CREATES) {
			*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			    offsetof(struct seccomp_data, args[2]));
			/* O_TMPFILE holds O_DIRECTORY, which is none of ours */
			*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K,
			    (unsigned int)(O_CREAT | (O_TMPFILE & ~O_DIRECTORY)), 0, 1);
		} else {
			*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			    offsetof(struct seccomp_data, args[0]));
			*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 2, 0, 1);
		}
		*p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, stop);
		*p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	*p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prog = (struct sock_fprog){ .len = (unsigned short)(p - f), .filter = f };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0) {
		perror(w->self);
		_exit(125);
	}
}

static _Noreturn void
start(const struct trace_watch *w, char **argv)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
		perror(w->self);
		_exit(125);
	}
	raise(SIGSTOP);		/* the tracer sets its options now */
	install_filter(w);
	execv(argv[0], argv);
	fprintf(stderr, "%s: %s: %s\n", w->self, argv[0], strerror(errno));
	_exit(125);
}

static void
kill_all(void)
{
	for (size_t i = 0; i < tasks.n; i++)
		kill(tasks.id[i], SIGKILL);
}

/* one stop of a thread, and on with it */
static void
stopped(const struct trace_watch *w, pid_t pid, int status)
{
	int event = status >> 16, sig = WSTOPSIG(status);
	enum trace_next next = TRACE_GO;
	unsigned long row;

	if (event == PTRACE_EVENT_SECCOMP) {
		if (ptrace(PTRACE_GETEVENTMSG, pid, NULL, &row) == 0 && row < w->n_calls)
			next = w->enter(pid, row, w->ctx);
	} else if (sig == (SIGTRAP | 0x80)) {	/* the end of a call: no other stop of that kind was asked for */
		if (w->leave != NULL)
			w->leave(pid, w->ctx);
	} else if (event == PTRACE_EVENT_EXEC && w->loaded != NULL) {
		w->loaded(pid, w->ctx);
	}
	if (next == TRACE_KILL) {
		kill_all();
		return;
	}
	/* a new thread begins with a stop of its own; every other signal is the program's */
	if (event != 0 || sig == SIGSTOP || (sig & 0x7f) == SIGTRAP)
		sig = 0;
	ptrace(next == TRACE_LEAVE ? PTRACE_SYSCALL : PTRACE_CONT, pid, NULL, (void *)(long)sig);
}

int
trace_run(const struct trace_watch *w, char **argv)
{
	int status, result = 125;
	pid_t child, pid;

	if (w->n_calls > MAX_CALLS || (child = fork()) == -1)
		return 125;
	if (child == 0)
		start(w, argv);
	note_task(child);
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, child, NULL,
	    (void *)(PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
	    PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) != 0 ||
	    ptrace(PTRACE_CONT, child, NULL, NULL) != 0) {
		perror(w->self);
		return 125;
	}
	while ((pid = waitpid(-1, &status, __WALL)) != -1 || errno == EINTR) {
		if (pid == -1)
			continue;
		note_task(pid);
		if (WIFSTOPPED(status)) {
			stopped(w, pid, status);
			continue;
		}
		forget_task(pid);
		if (pid == child)
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	return result;
}
