/*
 * os_linux_fence.c - what a process gives up for good: system calls by seccomp(2), and by landlock(7) changes outside of the
 * directories it works in. Written against the kernel's own interface, which is stable; each is left out where it is missing.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

#include "dray/os.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#define FOREIGN_BIT 0x40000000u		/* x32: other numbers for the same calls */
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__i386__)
#define ARCH AUDIT_ARCH_I386
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARCH AUDIT_ARCH_PPC64LE
#endif

/* the sanitizers' leak check stops all threads through a process that traces them, and they map code when they report */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(leak_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifdef ARCH
/* io_uring would make the same calls without being asked */
static const unsigned short refused[] = {
#ifdef SYS_socketcall
	SYS_socketcall,
#endif
#ifdef SYS_fork
	SYS_fork, SYS_vfork,
#endif
#ifdef SYS_iopl
	SYS_iopl, SYS_ioperm, SYS_modify_ldt,
#endif
#ifndef SANITIZED
	SYS_ptrace,
#endif
	/* no network, and no other process to talk to */
	SYS_socket, SYS_socketpair, SYS_bind, SYS_listen, SYS_connect, SYS_accept4, SYS_sendto, SYS_sendmsg, SYS_sendmmsg, SYS_recvfrom,
	SYS_recvmsg, SYS_recvmmsg, SYS_getsockname, SYS_getpeername, SYS_setsockopt, SYS_getsockopt, SYS_shutdown,
#ifdef SYS_accept
	SYS_accept,
#endif
	SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
	SYS_kill, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_open, SYS_pidfd_send_signal, 438 /* pidfd_getfd */,
	SYS_process_vm_readv, SYS_process_vm_writev, 440 /* process_madvise */, SYS_kcmp, SYS_shmget, SYS_shmat,
	/* no program: others run those that were declared */
	SYS_execve, SYS_execveat,
	/* the root stays what it is, and so does what is mounted */
	SYS_mount, SYS_umount2, SYS_move_mount, SYS_open_tree, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick, 442 /* mount_setattr */,
	467 /* open_tree_attr */, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, SYS_open_by_handle_at, SYS_swapon, SYS_swapoff,
	/* the kernel is not ours to change */
	SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_add_key,
	SYS_request_key, SYS_keyctl, SYS_reboot, SYS_syslog, SYS_acct, SYS_personality, SYS_sethostname, SYS_setdomainname,
	SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex,
#ifdef SYS_kexec_file_load
	SYS_kexec_file_load,
#endif
};

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, field))
/* the lower half of an argument: flags and commands are in it */
#define LOAD_ARG(i) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, args) + 8u * (i) + \
	(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4u : 0u))
#define SKIP_UNLESS(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(value), 0, (n))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define REFUSE(error) RETURN(SECCOMP_RET_ERRNO | (error))

enum { FIXED_MAX = 48 };

struct program { struct sock_filter v[2 * sizeof(refused) / sizeof(refused[0]) + FIXED_MAX]; unsigned short n; };

static void
put(struct program *p, struct sock_filter one)
{
	p->v[p->n++] = one;
}

#ifndef SANITIZED
/* @number with @bit in argument @arg is refused, or (@without) the one that lacks it */
static void
put_bit(struct program *p, unsigned number, unsigned arg, unsigned bit, bool without)
{
	put(p, (struct sock_filter)SKIP_UNLESS(number, 4));
	put(p, (struct sock_filter)LOAD_ARG(arg));
	put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bit, without ? 1 : 0, without ? 0 : 1));
	put(p, (struct sock_filter)REFUSE(EPERM));
	put(p, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
}
#endif

/*
 * A refused call fails with EPERM: a library may try one and do without, and a run that was killed for it in the middle of a
 * switch would be killed again by each boot that has to finish it. Only calls in the dress of another machine are no
 * library's: these kill.
 */
static bool
fence_calls(void)
{
	struct program p = { .n = 0 };
	struct sock_fprog prog;

	put(&p, (struct sock_filter)LOAD(arch));
	put(&p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0));
	put(&p, (struct sock_filter)RETURN(SECCOMP_RET_KILL_PROCESS));
	put(&p, (struct sock_filter)LOAD(nr));
	/* what a tracer has taken the place of: no call any more */
	put(&p, (struct sock_filter)SKIP_UNLESS(-1, 1));
	put(&p, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
#ifdef FOREIGN_BIT
	put(&p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, FOREIGN_BIT, 0, 1));
	put(&p, (struct sock_filter)RETURN(SECCOMP_RET_KILL_PROCESS));
#endif
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		put(&p, (struct sock_filter)SKIP_UNLESS(refused[i], 1));
		put(&p, (struct sock_filter)REFUSE(EPERM));
	}
	/* characters that would be typed on the caller's terminal */
	put(&p, (struct sock_filter)SKIP_UNLESS(SYS_ioctl, 5));
	put(&p, (struct sock_filter)LOAD_ARG(1));
	put(&p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 1, 0));
	put(&p, (struct sock_filter)SKIP_UNLESS(TIOCLINUX, 1));
	put(&p, (struct sock_filter)REFUSE(EPERM));
	put(&p, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
#ifndef SANITIZED
	/* threads, and no process; its successor hides the flags, and the C library knows the way back */
	put_bit(&p, SYS_clone, 0, CLONE_THREAD, true);
	put(&p, (struct sock_filter)SKIP_UNLESS(SYS_clone3, 1));
	put(&p, (struct sock_filter)REFUSE(ENOSYS));
	/* no code but the program's own */
	put_bit(&p, SYS_mprotect, 2, PROT_EXEC, false);
	put_bit(&p, SYS_pkey_mprotect, 2, PROT_EXEC, false);
#ifdef SYS_mmap
	put_bit(&p, SYS_mmap, 2, PROT_EXEC, false);
#endif
#ifdef SYS_mmap2
	put_bit(&p, SYS_mmap2, 2, PROT_EXEC, false);
#endif
#endif
	put(&p, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
	prog = (struct sock_fprog){ .len = p.n, .filter = p.v };
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &prog) == 0;
}
#else
static bool
fence_calls(void)
{
	return false;	/* numbers and order of arguments of this machine are not known here */
}
#endif

/* landlock(7); older headers do not have all of it */
enum { LL_CREATE = 444, LL_ADD = 445, LL_RESTRICT = 446, LL_VERSION = 1, LL_BENEATH = 1 };
enum {
	LL_EXECUTE = 1 << 0, LL_WRITE = 1 << 1, LL_REMOVE_DIR = 1 << 4, LL_REMOVE_FILE = 1 << 5, LL_MAKE = 0x7f << 6, LL_REFER = 1 << 13,
	LL_TRUNCATE = 1 << 14,
	LL_TCP = 3, LL_SCOPES = 3
};
struct ll_rules { uint64_t files, net, scopes; };
struct __attribute__((packed)) ll_beneath { uint64_t allowed; int32_t dir; };

/* what is not there needs no rule: nothing can be made beneath it */
static bool
add(int rules, const char *path, uint64_t allowed)
{
	struct ll_beneath b = { .allowed = allowed, .dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) };
	bool ok;

	if (b.dir == -1)
		return true;
	ok = syscall(LL_ADD, rules, LL_BENEATH, &b, 0) == 0;
	close(b.dir);
	return ok;
}

/* before version 2 nothing may be renamed from one directory to another, which is what a switch does */
static bool
fence_files(const char *const *beneath, size_t n)
{
	long version = syscall(LL_CREATE, NULL, 0, LL_VERSION);
	struct ll_rules r = { .files = LL_EXECUTE | LL_WRITE | LL_REMOVE_DIR | LL_REMOVE_FILE | LL_MAKE | LL_REFER };
	size_t size = sizeof(r.files);
	bool ok = true;
	int fd;

	if (version < 2)
		return false;
	if (version >= 3)
		r.files |= LL_TRUNCATE;
	if (version >= 4) {
		r.net = LL_TCP;
		size = offsetof(struct ll_rules, scopes);
	}
	if (version >= 6) {
		r.scopes = LL_SCOPES;
		size = sizeof(r);
	}
	if ((fd = (int)syscall(LL_CREATE, &r, size, 0)) == -1)
		return false;
	for (size_t i = 0; i < n; i++)
		ok = ok && add(fd, beneath[i], r.files & ~(uint64_t)LL_EXECUTE);
	ok = ok && syscall(LL_RESTRICT, fd, 0) == 0;
	close(fd);
	return ok;
}

unsigned
os_fence(const char *const *beneath, size_t n)
{
	unsigned up = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return 0;
	if (fence_files(beneath, n))
		up |= OS_FENCE_FILES;
	if (fence_calls())
		up |= OS_FENCE_CALLS;
	return up;
}
