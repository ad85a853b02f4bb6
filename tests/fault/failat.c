/*
 * failat.c - run a program and let chosen system calls fail, fall short, or meet a world that has just changed
 *
 *   failat LIST RULE... -- PROGRAM ARG...      LIST: a file that gets "number name class" of each call that a rule touched
 *
 * RULE is CALLS:WHEN:WHAT. CALLS: names of calls or classes (below), joined by commas; the class create are those that open
 * with O_CREAT or O_TMPFILE; with @NAME behind them, only those whose first argument is a handle of a file of that name.
 * WHEN: N, the Nth such call of all threads together; N+, that and all after it; 0, none: they are only listed. WHAT:
 *   EIO, ENOSPC, ...   the call is not made and fails with it; close is made and fails, as the handle is gone in any case
 *   zero               the call is not made and returns 0
 *   short              read, write: asked for half as much (at least one byte)
 *   flip               write: one bit of the bytes that go out is another one; the program's memory is as before afterwards
 *   run=COMMAND        the shell runs COMMAND, then the call is made
 *   clock=SECONDS      clock_gettime, gettimeofday, time: it is that many seconds after 1970 (the vdso is hidden from the program)
 * Handles 0 to 2 do not count for write. Exit status: the program's, 125 for our own failures. On x86-64 Linux.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/crash/trace.h"
#include "tests/fault/calls.h"

enum { MAX_RULES = 8, MAX_PENDING = 64 };

static const struct {
	const char *name;
	int number;
} errors[] = {
	{ "EACCES", EACCES }, { "EAGAIN", EAGAIN }, { "EBADF", EBADF }, { "EBUSY", EBUSY }, { "EDQUOT", EDQUOT },
	{ "EEXIST", EEXIST }, { "EINTR", EINTR }, { "EIO", EIO }, { "EMFILE", EMFILE }, { "ENFILE", ENFILE },
	{ "ENOENT", ENOENT }, { "ENOLCK", ENOLCK }, { "ENOMEM", ENOMEM }, { "ENOSPC", ENOSPC }, { "ENOSYS", ENOSYS },
	{ "ENOTSUP", ENOTSUP }, { "EPERM", EPERM }, { "EROFS", EROFS }, { "ESTALE", ESTALE }, { "ETXTBSY", ETXTBSY },
};

enum what { FAIL, SHORT, FLIP, RUN, CLOCK };

struct rule {
	bool of[FAULT_CALLS];
	bool creates[FAULT_CALLS];	/* ... if it may make a file */
	const char *file;	/* ... if it is about a handle of this file; NULL: any */
	unsigned long when, count;
	bool after;		/* the Nth and all that follow */
	enum what what;
	long result;		/* FAIL: what the call seems to return */
	long long seconds;
	const char *command;
};

static struct failing {
	struct rule rules[MAX_RULES];
	size_t n_rules;
	struct trace_call calls[FAULT_CALLS];
	size_t row_of[FAULT_CALLS];	/* from the filter's rows to fault_calls[] */
	size_t n_calls;
	FILE *list;
	bool begun;		/* the exec of the program itself, which is ours, is past */
	struct pending {	/* what has to be done when a call ends */
		pid_t thread;
		uint64_t at;
		int byte;		/* FLIP: what stood there */
		long long seconds;	/* CLOCK */
		long result;		/* FAIL of close; 0: none */
		bool asked;		/* SHORT and brk: the arguments, which a program expects to find again */
		unsigned long long rdi, rdx;
	} pending[MAX_PENDING];
} failing;

static _Noreturn void
usage(const char *what)
{
	fprintf(stderr, "failat: %s\nusage: failat LIST CALLS:WHEN:WHAT... -- PROGRAM ARG...\n", what);
	exit(125);
}

static void
poke(pid_t thread, uint64_t at, const void *bytes, size_t n)
{
	/* process_vm_writev does not write where the program itself may not, which is what we want */
	struct iovec here = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = n };
	struct iovec there = { .iov_base = (void *)(uintptr_t)at, .iov_len = n };	/* of the other process */

	if (process_vm_writev(thread, &here, 1, &there, 1, 0) != (ssize_t)n)
		perror("failat: write memory");
}

static bool
peek(pid_t thread, uint64_t at, void *bytes, size_t n)
{
	struct iovec here = { .iov_base = bytes, .iov_len = n };
	struct iovec there = { .iov_base = (void *)(uintptr_t)at, .iov_len = n };

	return process_vm_readv(thread, &here, 1, &there, 1, 0) == (ssize_t)n;
}

static struct pending *
remember(pid_t thread, uint64_t at)
{
	for (size_t i = 0; i < MAX_PENDING; i++)
		if (failing.pending[i].thread == 0) {
			failing.pending[i] = (struct pending){ .thread = thread, .at = at, .byte = -1 };
			return &failing.pending[i];
		}
	usage("too many threads");
}

static void
set_registers(pid_t thread, struct user_regs_struct *regs)
{
	if (ptrace(PTRACE_SETREGS, thread, NULL, regs) != 0)
		perror("failat: set registers");
}

/* the call is made with other arguments */
static void
ask(pid_t thread, struct user_regs_struct *regs, unsigned long long rdi, unsigned long long rdx)
{
	struct pending *p = remember(thread, 0);

	p->asked = true;
	p->rdi = regs->rdi;
	p->rdx = regs->rdx;
	regs->rdi = rdi;
	regs->rdx = rdx;
	set_registers(thread, regs);
}

/* the kernel refuses no end of the heap that lies in a page which is the heap's already, and malloc counts on that */
static bool
heap_holds(pid_t thread, uint64_t wanted)
{
	char name[40], line[400];
	unsigned long from, to;
	bool holds = false;
	FILE *maps;

	snprintf(name, sizeof name, "/proc/%d/maps", (int)thread);
	if ((maps = fopen(name, "re")) == NULL)
		return false;
	while (fgets(line, sizeof line, maps) != NULL)
		if (strstr(line, "[heap]") != NULL && sscanf(line, "%lx-%lx", &from, &to) == 2)
			holds = wanted <= to;
	fclose(maps);
	return holds;
}

static void
call_shell(const char *command)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	if (pid == -1 || waitpid(pid, &status, 0) != pid || status != 0)
		fprintf(stderr, "failat: the command failed: %s\n", command);
}

static enum trace_next
act(const struct rule *r, pid_t thread, struct user_regs_struct *regs)
{
	struct pending *p;
	unsigned char byte;

	switch (r->what) {
	case FAIL:
		if (regs->orig_rax == SYS_brk) {	/* tells of its failure by the present end of the heap */
			if (heap_holds(thread, regs->rdi))
				return TRACE_GO;
			ask(thread, regs, 0, regs->rdx);
			return TRACE_LEAVE;
		}
		if (regs->orig_rax == SYS_close) {
			remember(thread, 0)->result = r->result;
			return TRACE_LEAVE;
		}
		regs->orig_rax = (unsigned long long)-1;	/* no such call: the kernel leaves the result alone */
		regs->rax = (unsigned long long)r->result;
		break;
	case SHORT:
		ask(thread, regs, regs->rdi, regs->rdx > 1 ? regs->rdx / 2 : regs->rdx);
		return TRACE_LEAVE;
	case FLIP:
		if (regs->rdx == 0 || !peek(thread, regs->rsi + regs->rdx / 2, &byte, 1))
			return TRACE_GO;
		p = remember(thread, regs->rsi + regs->rdx / 2);
		p->byte = byte;
		byte ^= 4;
		poke(thread, p->at, &byte, 1);
		return TRACE_LEAVE;
	case RUN:
		call_shell(r->command);
		return TRACE_GO;
	case CLOCK:
		if (regs->orig_rax == SYS_time) {
			regs->orig_rax = (unsigned long long)-1;
			regs->rax = (unsigned long long)r->seconds;
			break;
		}
		/* CLOCK_REALTIME and its coarse sister; gettimeofday has the place in its first argument */
		if (regs->orig_rax == SYS_clock_gettime && regs->rdi != 0 && regs->rdi != 5)
			return TRACE_GO;
		p = remember(thread, regs->orig_rax == SYS_clock_gettime ? regs->rsi : regs->rdi);
		p->seconds = r->seconds;
		return TRACE_LEAVE;
	}
	set_registers(thread, regs);
	return TRACE_GO;
}

static bool
is_creating(pid_t thread, const struct user_regs_struct *regs)
{
	uint64_t flags = 0;

	switch (regs->orig_rax) {
	case SYS_open: flags = regs->rsi; break;
	case SYS_openat: flags = regs->rdx; break;
	case SYS_openat2: (void)peek(thread, regs->rdx, &flags, sizeof flags); break;	/* the first of its struct */
	default: break;
	}
	return (flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) != 0;
}

static bool
is_of_file(pid_t thread, const struct user_regs_struct *regs, const char *name)
{
	char link[48], path[4096], *slash;
	ssize_t n;

	snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)thread, (int)regs->rdi);
	if ((n = readlink(link, path, sizeof path - 1)) <= 0)
		return false;
	path[n] = '\0';
	return (slash = strrchr(path, '/')) != NULL && strcmp(slash + 1, name) == 0;
}

/* is this call one of those that the rule counts? */
static bool
is_meant(const struct rule *r, size_t call, pid_t thread, const struct user_regs_struct *regs)
{
	if (!r->of[call] && !(r->creates[call] && is_creating(thread, regs)))
		return false;
	return r->file == NULL || is_of_file(thread, regs, r->file);
}

static enum trace_next
enter(pid_t thread, size_t row, void *ctx)
{
	struct user_regs_struct regs;
	size_t call = failing.row_of[row];
	enum trace_next next = TRACE_GO;

	(void)ctx;
	if (ptrace(PTRACE_GETREGS, thread, NULL, &regs) != 0 || (!failing.begun && regs.orig_rax == SYS_execve)) {
		failing.begun = true;
		return TRACE_GO;
	}
	for (size_t i = 0; i < failing.n_rules; i++) {
		struct rule *r = &failing.rules[i];

		if (!is_meant(r, call, thread, &regs))
			continue;
		++r->count;
		if (r->when != 0 && r->count != r->when && !(r->after && r->count > r->when))
			continue;
		if (r->what != CLOCK)
			fprintf(failing.list, "%lu %s %s%s%s\n", r->count, fault_calls[call].name,
			    r->creates[call] ? "create" : fault_calls[call].class, r->file != NULL ? "@" : "",
			    r->file != NULL ? r->file : "");
		if (r->when == 0)
			continue;
		next = act(r, thread, &regs);
	}
	return next;
}

static void
leave(pid_t thread, void *ctx)
{
	struct user_regs_struct regs;

	(void)ctx;
	for (size_t i = 0; i < MAX_PENDING; i++) {
		struct pending *p = &failing.pending[i];
		unsigned char byte = (unsigned char)p->byte;

		if (p->thread != thread)
			continue;
		if (p->result != 0) {
			if (ptrace(PTRACE_GETREGS, thread, NULL, &regs) == 0) {
				regs.rax = (unsigned long long)p->result;
				set_registers(thread, &regs);
			}
		} else if (p->asked && ptrace(PTRACE_GETREGS, thread, NULL, &regs) == 0) {
			regs.rdi = p->rdi;
			regs.rdx = p->rdx;
			set_registers(thread, &regs);
		} else if (p->byte >= 0)
			poke(thread, p->at, &byte, 1);
		else if (!p->asked)
			poke(thread, p->at, &p->seconds, sizeof p->seconds);
		p->thread = 0;
	}
}

/* the vdso answers without a system call: its address is taken out of what the kernel gives to a new program */
static void
hide_vdso(pid_t thread, void *ctx)
{
	struct user_regs_struct regs;
	uint64_t at, word, pair[2];
	int lists = 0;

	(void)ctx;
	if (ptrace(PTRACE_GETREGS, thread, NULL, &regs) != 0)
		return;
	for (at = regs.rsp + 8; lists < 2 && peek(thread, at, &word, 8); at += 8)	/* arguments, environment */
		lists += word == 0;
	for (; peek(thread, at, pair, sizeof pair) && pair[0] != AT_NULL; at += sizeof pair)
		if (pair[0] == AT_SYSINFO_EHDR) {
			word = AT_IGNORE;
			poke(thread, at, &word, sizeof word);
		}
}

static void
parse_what(struct rule *r, const char *what)
{
	r->what = FAIL;
	if (strcmp(what, "zero") == 0)
		return;
	if (strcmp(what, "short") == 0) {
		r->what = SHORT;
		return;
	}
	if (strcmp(what, "flip") == 0) {
		r->what = FLIP;
		return;
	}
	if (strncmp(what, "run=", 4) == 0) {
		r->what = RUN;
		r->command = what + 4;
		return;
	}
	if (strncmp(what, "clock=", 6) == 0) {
		r->what = CLOCK;
		r->seconds = strtoll(what + 6, NULL, 10);
		return;
	}
	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
		if (strcmp(what, errors[i].name) == 0) {
			r->result = -errors[i].number;
			return;
		}
	usage("no such failure");
}

static void
parse_rule(struct rule *r, char *text)
{
	char *when = strchr(text, ':'), *what = when != NULL ? strchr(when + 1, ':') : NULL, *end;

	if (what == NULL)
		usage("a rule is CALLS:WHEN:WHAT");
	*when++ = *what++ = '\0';
	if ((end = strchr(text, '@')) != NULL) {
		*end = '\0';
		r->file = end + 1;
	}
	for (char *name = strtok(text, ","); name != NULL; name = strtok(NULL, ",")) {
		bool found = false;

		for (size_t i = 0; i < FAULT_CALLS; i++)
			if (strcmp(name, fault_calls[i].name) == 0 || strcmp(name, fault_calls[i].class) == 0)
				found = r->of[i] = true;
			else if (strcmp(name, "create") == 0 && strcmp(fault_calls[i].class, "open") == 0)
				found = r->creates[i] = true;
		if (!found)
			usage("no such call");
	}
	r->when = strtoul(when, &end, 10);
	r->after = *end == '+';
	parse_what(r, what);
}

int
main(int argc, char **argv)
{
	struct trace_watch w = { .self = "failat", .calls = failing.calls, .enter = enter, .leave = leave };
	int i, result;

	for (i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (failing.n_rules == MAX_RULES)
			usage("too many rules");
		parse_rule(&failing.rules[failing.n_rules++], argv[i]);
		if (failing.rules[failing.n_rules - 1].what == CLOCK)
			w.loaded = hide_vdso;
	}
	if (i + 1 >= argc)
		usage("no program");
	for (size_t k = 0; k < FAULT_CALLS; k++)
		for (size_t r = 0; r < failing.n_rules; r++)
			if (failing.rules[r].of[k] || failing.rules[r].creates[k]) {
				failing.row_of[failing.n_calls] = k;
				failing.calls[failing.n_calls++] = (struct trace_call){ .name = fault_calls[k].name,
				    .number = fault_calls[k].number, .test = fault_calls[k].test };
				break;
			}
	w.n_calls = failing.n_calls;
	if ((failing.list = fopen(argv[1], "we")) == NULL) {
		fprintf(stderr, "failat: %s: %s\n", argv[1], strerror(errno));
		return 125;
	}
	result = trace_run(&w, argv + i + 1);
	return fclose(failing.list) == 0 ? result : 125;
}
