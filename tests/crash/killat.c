/*
 * killat.c - run a program and kill it on entry to its Nth system call that changes a file, in any thread
 *
 *   killat N LIST PROGRAM ARG...      N = 0: kill nothing, write "number name" of each such call to LIST
 *
 * Exit status: the program's; 137 when it was killed, and LIST then names the call. What opens without O_CREAT, and what
 * writes to the three standard streams, does not count; openat2 cannot be looked into by a filter, and os_open_beneath
 * creates nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "tests/crash/trace.h"

static const struct trace_call calls[] = {
	{ "openat", SYS_openat, TRACE_CREATES },
	{ "write", SYS_write, TRACE_NOT_STANDARD },
	{ "writev", SYS_writev, TRACE_NOT_STANDARD },
	{ "pwrite64", SYS_pwrite64, TRACE_ALWAYS },
	{ "pwritev", SYS_pwritev, TRACE_ALWAYS },
	{ "copy_file_range", SYS_copy_file_range, TRACE_ALWAYS },
	{ "mkdirat", SYS_mkdirat, TRACE_ALWAYS },
	{ "mknodat", SYS_mknodat, TRACE_ALWAYS },
	{ "symlinkat", SYS_symlinkat, TRACE_ALWAYS },
	{ "linkat", SYS_linkat, TRACE_ALWAYS },
	{ "unlinkat", SYS_unlinkat, TRACE_ALWAYS },
	{ "renameat", SYS_renameat, TRACE_ALWAYS },
	{ "renameat2", SYS_renameat2, TRACE_ALWAYS },
	{ "fchmod", SYS_fchmod, TRACE_ALWAYS },
	{ "fchmodat", SYS_fchmodat, TRACE_ALWAYS },
	{ "fchown", SYS_fchown, TRACE_ALWAYS },
	{ "fchownat", SYS_fchownat, TRACE_ALWAYS },
	{ "utimensat", SYS_utimensat, TRACE_ALWAYS },
	{ "setxattr", SYS_setxattr, TRACE_ALWAYS },
	{ "lsetxattr", SYS_lsetxattr, TRACE_ALWAYS },
	{ "fsetxattr", SYS_fsetxattr, TRACE_ALWAYS },
	{ "removexattr", SYS_removexattr, TRACE_ALWAYS },
	{ "lremovexattr", SYS_lremovexattr, TRACE_ALWAYS },
	{ "fremovexattr", SYS_fremovexattr, TRACE_ALWAYS },
	{ "ftruncate", SYS_ftruncate, TRACE_ALWAYS },
	{ "fallocate", SYS_fallocate, TRACE_ALWAYS },
	{ "fsync", SYS_fsync, TRACE_ALWAYS },
	{ "fdatasync", SYS_fdatasync, TRACE_ALWAYS },
	{ "syncfs", SYS_syncfs, TRACE_ALWAYS },
#ifdef SYS_open	/* the older names, where the machine has them */
	{ "creat", SYS_creat, TRACE_ALWAYS },
	{ "mkdir", SYS_mkdir, TRACE_ALWAYS },
	{ "rmdir", SYS_rmdir, TRACE_ALWAYS },
	{ "link", SYS_link, TRACE_ALWAYS },
	{ "symlink", SYS_symlink, TRACE_ALWAYS },
	{ "unlink", SYS_unlink, TRACE_ALWAYS },
	{ "rename", SYS_rename, TRACE_ALWAYS },
	{ "chmod", SYS_chmod, TRACE_ALWAYS },
	{ "chown", SYS_chown, TRACE_ALWAYS },
	{ "lchown", SYS_lchown, TRACE_ALWAYS },
#endif
};

struct killing {
	unsigned long n, count;
	FILE *list;
};

static enum trace_next
enter(pid_t thread, size_t row, void *ctx)
{
	struct killing *k = ctx;

	(void)thread;
	++k->count;
	if (k->n == 0 || k->count == k->n)
		fprintf(k->list, "%lu %s\n", k->count, calls[row].name);
	return k->count == k->n ? TRACE_KILL : TRACE_GO;
}

int
main(int argc, char **argv)
{
	struct killing k = { 0 };
	const struct trace_watch w = { .self = "killat", .calls = calls, .n_calls = sizeof calls / sizeof calls[0],
	    .enter = enter, .ctx = &k };
	int result;

	if (argc < 4) {
		fprintf(stderr, "usage: killat N LIST PROGRAM ARG...\n");
		return 125;
	}
	k.n = strtoul(argv[1], NULL, 10);
	if ((k.list = fopen(argv[2], "we")) == NULL) {
		fprintf(stderr, "killat: %s: %s\n", argv[2], strerror(errno));
		return 125;
	}
	result = trace_run(&w, argv + 3);
	return fclose(k.list) == 0 ? result : 125;
}
