/*
 * fuzz_runner.c - what the process that runs programs is asked by one that has read foreign bytes. Nothing is run here: the
 * target stands in place of the function that would, and looks at what it would have been.
 *
 * First byte: bit 0, programs of the running system may be run; 1, in a chroot; 2, a hook of the site is known. Then asks, as
 * they come through the pipe.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "installer/runner_in.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static jmp_buf back;
static bool armed;
static struct inst_allowed_list list;
static struct inst_runner_opts opts = { .root = "/", .state = "var/lib/dray" };

/* ends a round instead of the process */
void
_exit(int status)
{
	if (armed)
		longjmp(back, 1);
	for (;;)
		(void)syscall(SYS_exit_group, status);
}

enum inst_runner_said
inst_child_run(const struct inst_child *c, struct inst_ran *r)
{
	const bool chroot = c->rootfd != -1;
	bool known = false;

	/* sealed, of the list or made from it, and where it may be run */
	for (size_t i = 0; i < list.n; i++)
		known |= strcmp(c->argv[0], list.v[i].argv[0]) == 0 || (list.v[i].kind == INST_PROGRAM_CHECK && strstr(list.v[i].argv[0], "%f") != NULL);
	if (!list.sealed || !known || (chroot && !opts.chroot) || (!chroot && !opts.here && c->input == NULL))
		abort();
	*r = (struct inst_ran){ .how = INST_RAN_EXIT, .len = 2, .output = "ok" };
	return INST_SAID_RAN;
}

/* every answer is whole, and one that was given */
static void
look_at(const uint8_t *p, size_t left)
{
	while (left > 0) {
		struct inst_answer a;

		if (left < sizeof(a))
			abort();
		memcpy(&a, p, sizeof(a));
		p += sizeof(a);
		left -= sizeof(a);
		if ((a.said != INST_SAID_RAN && a.said != INST_SAID_REFUSED) || a.len != (a.said == INST_SAID_RAN ? 2u : 0u) || a.len > left)
			abort();
		p += a.len;
		left -= a.len;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char hook[] = "/etc/dray/hooks.d/after-commit/x";
	static int asks = -1, answers = -1;
	static uint8_t said[1u << 16];
	struct dray_err e = { .code = DRAY_OK };
	ssize_t n;

	if (size == 0)
		return 0;
	if (asks == -1 && ((asks = memfd_create("asks", MFD_CLOEXEC)) == -1 || (answers = memfd_create("answers", MFD_CLOEXEC)) == -1))
		abort();
	if (ftruncate(asks, 0) != 0 || ftruncate(answers, 0) != 0 || pwrite(asks, data + 1, size - 1, 0) != (ssize_t)size - 1 ||
	    lseek(asks, 0, SEEK_SET) != 0 || lseek(answers, 0, SEEK_SET) != 0)
		abort();
	opts.here = (data[0] & 1) != 0;
	opts.chroot = (data[0] & 2) != 0;
	if ((data[0] & 4) != 0 && inst_allowed_add(&list, INST_PROGRAM_HOOK, 60, hook, sizeof(hook), &e) != 0)
		abort();
	armed = true;
	if (setjmp(back) == 0)
		inst_runner_serve(asks, answers, opts.chroot ? 0 : -1, &opts, &list);
	armed = false;
	inst_allowed_free(&list);
	list.sealed = false;
	if ((n = pread(answers, said, sizeof(said), 0)) < 0)
		abort();
	if ((size_t)n < sizeof(said))
		look_at(said, (size_t)n);
	return 0;
}
