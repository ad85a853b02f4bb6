/*
 * killat.c - run a program and kill it on entry to its Nth system call that changes a file, in any thread
 *
 *   killat N LIST PROGRAM ARG...      N = 0: kill nothing, write "number name" of each such call to LIST
 *
 * Exit status: the program's; 137 when it was killed, and LIST then names the call. A seccomp filter picks the calls, so
 * that all others run at full speed: strace --seccomp-bpf would do, but loses the signals that it shall inject. Linux
 * only. What opens without O_CREAT, and what writes to the three standard streams, does not count; openat2 cannot be
 * looked into by a filter, and os_open_beneath creates nothing. The call does not happen: after a ptrace stop the kernel
 * skips it when a fatal signal is pending.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum test { ALWAYS, CREATES, NOT_STANDARD };

static const struct {
	const char *name;
	unsigned int number;
	enum test test;
} calls[] = {
	{ "openat", SYS_openat, CREATES },
	{ "write", SYS_write, NOT_STANDARD },
	{ "writev", SYS_writev, NOT_STANDARD },
	{ "pwrite64", SYS_pwrite64, ALWAYS },
	{ "pwritev", SYS_pwritev, ALWAYS },
	{ "copy_file_range", SYS_copy_file_range, ALWAYS },
	{ "mkdirat", SYS_mkdirat, ALWAYS },
	{ "mknodat", SYS_mknodat, ALWAYS },
	{ "symlinkat", SYS_symlinkat, ALWAYS },
	{ "linkat", SYS_linkat, ALWAYS },
	{ "unlinkat", SYS_unlinkat, ALWAYS },
	{ "renameat", SYS_renameat, ALWAYS },
	{ "renameat2", SYS_renameat2, ALWAYS },
	{ "fchmod", SYS_fchmod, ALWAYS },
	{ "fchmodat", SYS_fchmodat, ALWAYS },
	{ "fchown", SYS_fchown, ALWAYS },
	{ "fchownat", SYS_fchownat, ALWAYS },
	{ "utimensat", SYS_utimensat, ALWAYS },
	{ "setxattr", SYS_setxattr, ALWAYS },
	{ "lsetxattr", SYS_lsetxattr, ALWAYS },
	{ "fsetxattr", SYS_fsetxattr, ALWAYS },
	{ "removexattr", SYS_removexattr, ALWAYS },
	{ "lremovexattr", SYS_lremovexattr, ALWAYS },
	{ "fremovexattr", SYS_fremovexattr, ALWAYS },
	{ "ftruncate", SYS_ftruncate, ALWAYS },
	{ "fallocate", SYS_fallocate, ALWAYS },
	{ "fsync", SYS_fsync, ALWAYS },
	{ "fdatasync", SYS_fdatasync, ALWAYS },
	{ "syncfs", SYS_syncfs, ALWAYS },
#ifdef SYS_open	/* the older names, where the machine has them */
	{ "creat", SYS_creat, ALWAYS },
	{ "mkdir", SYS_mkdir, ALWAYS },
	{ "rmdir", SYS_rmdir, ALWAYS },
	{ "link", SYS_link, ALWAYS },
	{ "symlink", SYS_symlink, ALWAYS },
	{ "unlink", SYS_unlink, ALWAYS },
	{ "rename", SYS_rename, ALWAYS },
	{ "chmod", SYS_chmod, ALWAYS },
	{ "chown", SYS_chown, ALWAYS },
	{ "lchown", SYS_lchown, ALWAYS },
#endif
};
#define N_CALLS (sizeof calls / sizeof calls[0])

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "killat: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* the filter: for each call, stop with its row of the table as the message */
static void
install_filter(void)
{
	struct sock_filter f[N_CALLS * 5 + 2], *p = f;
	struct sock_fprog prog;
	size_t i;

	*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (i = 0; i < N_CALLS; i++) {
		unsigned int stop = SECCOMP_RET_TRACE | (unsigned int)i;

		if (calls[i].test == ALWAYS) {
			*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1);
			*p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, stop);
			continue;
		}
		*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 4);
		if (calls[i].test == CREATES) {
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
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0)
		die("seccomp");
}

static _Noreturn void
start(char **argv)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		die("ptrace");
	raise(SIGSTOP);		/* the tracer sets its options now */
	install_filter();
	execv(argv[0], argv);
	die(argv[0]);
}

/* one stop of a thread; true when the call that it enters is the one to die at */
static bool
stopped(pid_t pid, int status, unsigned long n, unsigned long *count, FILE *list)
{
	int event = status >> 16, sig = WSTOPSIG(status);
	unsigned long row;

	if (event == PTRACE_EVENT_SECCOMP) {
		++*count;
		if (ptrace(PTRACE_GETEVENTMSG, pid, NULL, &row) == 0 && row < N_CALLS && (n == 0 || *count == n))
			fprintf(list, "%lu %s\n", *count, calls[row].name);
		if (*count == n)
			return true;
	}
	/* a new thread begins with a stop of its own; every other signal is the program's */
	if (event != 0 || sig == SIGSTOP || sig == SIGTRAP)
		sig = 0;
	ptrace(PTRACE_CONT, pid, NULL, (void *)(long)sig);
	return false;
}

int
main(int argc, char **argv)
{
	unsigned long n, count = 0;
	int status, result = 125;
	pid_t child, pid;
	FILE *list;

	if (argc < 4) {
		fprintf(stderr, "usage: killat N LIST PROGRAM ARG...\n");
		return 125;
	}
	n = strtoul(argv[1], NULL, 10);
	if ((list = fopen(argv[2], "we")) == NULL)
		die(argv[2]);
	if ((child = fork()) == -1)
		die("fork");
	if (child == 0)
		start(argv + 3);
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		die("wait");
	if (ptrace(PTRACE_SETOPTIONS, child, NULL,
	    (void *)(PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
	    PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) != 0 ||
	    ptrace(PTRACE_CONT, child, NULL, NULL) != 0)
		die("ptrace");
	while ((pid = waitpid(-1, &status, __WALL)) != -1 || errno == EINTR) {
		if (pid == -1)
			continue;
		if (WIFSTOPPED(status)) {
			if (stopped(pid, status, n, &count, list))
				kill(child, SIGKILL);	/* not continued: the call never happens */
		} else if (pid == child) {
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		}
	}
	return fclose(list) == 0 ? result : 125;
}
