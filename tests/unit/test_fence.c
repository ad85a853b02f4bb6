/*
 * test_fence.c - what a process has given up by os_fence stays given up: each call is tried, in a process of its own, and so is
 * what has to go on working.
 */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dray/os.h"

#include "child.h"
#include "scratch.h"
#include "test.h"

static char dir_name[] = "/tmp/dray-fence-XXXXXX";

/* @body in a process behind the fence; its status, or 256 and the signal. @body returns 0 when all is as it should be */
static int
behind(unsigned wanted, int (*body)(void))
{
	const char *const in[] = { "in", child_counters() };
	pid_t pid;

	fflush(stdout);
	if ((pid = fork()) == 0) {
		unsigned up = os_fence(in, in[1] != NULL ? 2 : 1);

		child_end((up & wanted) == wanted ? body() : 77);
	}
	return child_status(pid);
}

/* is it there at all? 77 of @behind: not to be shown on this machine */
static bool
held(int status)
{
	if (status == 77)
		printf("# not to be had on this machine\n");
	else
		CHECK_EQ(status, 0);
	return status == 0;
}

static int refused_calls;

static void
refuses(const char *name, long rc)
{
	if (rc == -1 && errno == EPERM)
		return;
	refused_calls++;
	printf("# %s gives %ld, errno %d\n", name, rc, errno);
	fflush(stdout);
}

#define REFUSED(call) (errno = 0, refuses(#call, (long)(call)))

/* arguments for which the kernel would give another error than EPERM: so it is the filter that answers */
static int
try_calls(void)
{
	char *const argv[] = { NULL };
	int pair[2];

	REFUSED(socket(AF_INET, SOCK_STREAM, 0));
	REFUSED(socket(AF_UNIX, SOCK_STREAM, 0));
	REFUSED(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	REFUSED(connect(-1, NULL, 0));
	REFUSED(sendto(-1, "", 0, 0, NULL, 0));
	REFUSED(syscall(SYS_io_uring_setup, 0, NULL));
	REFUSED(execve("none", argv, argv));
	REFUSED(syscall(SYS_execveat, -1, "none", argv, argv, 0));
	REFUSED(kill(getppid(), 0));
	REFUSED(syscall(SYS_process_vm_readv, getpid(), NULL, 0, NULL, 0, 0));
	REFUSED(syscall(SYS_process_vm_writev, getpid(), NULL, 0, NULL, 0, 0));
	REFUSED(syscall(SYS_pidfd_open, getpid(), 0));
	REFUSED(mount("none", "none", "none", 0, NULL));
	REFUSED(umount2("none", 0));
	REFUSED(syscall(SYS_move_mount, -1, "none", -1, "none", 0));
	REFUSED(syscall(SYS_open_tree, -1, "none", 0));
	REFUSED(syscall(SYS_fsopen, "none", 0));
	REFUSED(syscall(SYS_pivot_root, "none", "none"));
	REFUSED(chroot("none"));
	REFUSED(unshare(CLONE_NEWUSER));
	REFUSED(syscall(SYS_setns, -1, 0));
	REFUSED(syscall(SYS_open_by_handle_at, -1, NULL, 0));
	REFUSED(syscall(SYS_init_module, NULL, 0, ""));
	REFUSED(syscall(SYS_finit_module, -1, "", 0));
	REFUSED(syscall(SYS_delete_module, "none", 0));
	REFUSED(syscall(SYS_kexec_load, 0, 0, NULL, 0));
	REFUSED(syscall(SYS_bpf, 0, NULL, 0));
	REFUSED(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
	REFUSED(syscall(SYS_userfaultfd, 0xffff));
	REFUSED(syscall(SYS_keyctl, 0, 0, 0, 0, 0));
	REFUSED(syscall(SYS_reboot, 0, 0, 0, NULL));
	REFUSED(ioctl(-1, TIOCSTI, "x"));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	REFUSED(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
	REFUSED(fork());
	REFUSED(syscall(SYS_clone, SIGCHLD | CLONE_NEWUSER, NULL, NULL, NULL, NULL));
	REFUSED(mprotect(NULL, 4096, PROT_READ | PROT_EXEC) == -1 ? -1 : 0);
	REFUSED(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
#endif
	return refused_calls == 0 ? 0 : 1;
}

static void
what_a_run_never_needs_is_refused(void)
{
	held(behind(OS_FENCE_CALLS, try_calls));
}

static void *
in_thread(void *arg)
{
	int *bad = arg;

	*bad = !(socket(AF_INET, SOCK_STREAM, 0) == -1 && errno == EPERM) ||
	    (open("out/thread", O_WRONLY | O_CREAT, 0600) != -1);
	return NULL;
}

static int
try_work(void)
{
	pthread_t t;
	int bad = 1, fd;
	void *p;

	if ((fd = open("in/file", O_RDWR | O_CREAT | O_EXCL, 0600)) == -1 || write(fd, "x", 1) != 1 || fsync(fd) != 0 ||
	    ftruncate(fd, 0) != 0 || fchmod(fd, 0640) != 0 || close(fd) != 0)
		return 2;
	if (mkdir("in/a", 0700) != 0 || mkdir("in/b", 0700) != 0 || rename("in/file", "in/a/file") != 0 ||
	    link("in/a/file", "in/b/file") != 0 || symlink("x", "in/b/link") != 0 || mkfifo("in/b/fifo", 0600) != 0 ||
	    (os_exchange(AT_FDCWD, "in/a", AT_FDCWD, "in/b") != 0 && errno != ENOSYS) || unlink("in/a/file") != 0)
		return 3;
	if (open("out/there", O_RDONLY) == -1)
		return 4;
	if ((p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) == MAP_FAILED)
		return 5;
	munmap(p, 4096);
	if (raise(0) != 0)
		return 6;
	if (pthread_create(&t, NULL, in_thread, &bad) != 0 || pthread_join(t, NULL) != 0)
		return 7;
	return bad != 0 ? 8 : 0;
}

static void
work_beneath_the_root_goes_on(void)
{
	held(behind(OS_FENCE_CALLS | OS_FENCE_FILES, try_work));
}

/* as the kernel answers: by the right that is missing, or as if the directories were on two file systems */
#define KEPT_OUT(call) ((call) == -1 && (errno == EACCES || errno == EXDEV))

static int
try_outside(void)
{
	int fd;

	if (!KEPT_OUT(open("out/new", O_WRONLY | O_CREAT, 0600)) || !KEPT_OUT(open("out/there", O_WRONLY)) ||
	    !KEPT_OUT(open("in/../out/there", O_WRONLY)))
		return 2;
	if (!KEPT_OUT(unlink("out/there")) || !KEPT_OUT(mkdir("out/dir", 0700)) || !KEPT_OUT(rename("in/own", "out/own")) ||
	    !KEPT_OUT(rename("out/there", "in/there")) || !KEPT_OUT(link("out/there", "in/linked")) ||
	    !KEPT_OUT(symlink("x", "out/link")))
		return 3;
	/* a symlink of the tree leads out, and is followed: still no */
	if (!KEPT_OUT(open("in/lead", O_WRONLY)))
		return 4;
	if ((fd = open("in/own", O_WRONLY)) == -1 || write(fd, "y", 1) != 1)
		return 5;
	return 0;
}

static void
outside_of_the_root_nothing_is_written(void)
{
	struct stat st;

	if (!held(behind(OS_FENCE_FILES, try_outside)))
		return;
	CHECK_EQ(stat("out/there", &st), 0);
	CHECK_EQ(st.st_size, 5);
	CHECK_EQ(access("out/new", F_OK), -1);
}

static int
exec_foreign(void)
{
#ifdef __x86_64__
	syscall(0x40000000L | SYS_getpid);	/* x32 */
#else
	raise(SIGSYS);
#endif
	return 1;
}

static void
a_call_in_the_dress_of_another_machine_kills(void)
{
	int status = behind(OS_FENCE_CALLS, exec_foreign);

	if (status != 77)
		CHECK_EQ(status, 256 + SIGSYS);
}

static int
try_again(void)
{
	const char *all = "/";

	/* a second fence takes nothing back */
	os_fence(&all, 1);
	return KEPT_OUT(open("out/new", O_WRONLY | O_CREAT, 0600)) && socket(AF_INET, SOCK_STREAM, 0) == -1 && errno == EPERM ? 0 : 1;
}

static void
it_cannot_be_taken_back(void)
{
	held(behind(OS_FENCE_CALLS | OS_FENCE_FILES, try_again));
}

static void
put(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	CHECK(fd != -1 && write(fd, "hello", 5) == 5 && close(fd) == 0);
}

int
main(void)
{
	if (mkdtemp(dir_name) == NULL || chdir(dir_name) != 0 || mkdir("in", 0700) != 0 || mkdir("out", 0700) != 0) {
		perror(dir_name);
		return 1;
	}
	put("out/there");
	put("in/own");
	CHECK_EQ(symlink("../out/there", "in/lead"), 0);
	RUN(what_a_run_never_needs_is_refused);
	RUN(work_beneath_the_root_goes_on);
	RUN(outside_of_the_root_nothing_is_written);
	RUN(a_call_in_the_dress_of_another_machine_kills);
	RUN(it_cannot_be_taken_back);
	if (scratch_remove(dir_name) != 0)
		return 1;
	return test_done();
}
