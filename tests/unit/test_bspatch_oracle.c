/*
 * binary patches against bsdiff and bspatch of the system: what bsdiff makes of two contents leads from one to the other, and where
 * bspatch and we both take a damaged patch, we make the same of it
 *   DRAY_BSPATCH_PAIRS=5000       so many generated pairs instead of a few
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

#include "builder/bspatch.h"
#include "test.h"

enum { MOST = 60000 };

static uint32_t seed;

static uint32_t
pick(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)seed * below) >> 32);
}

static int
new_file(void)
{
	int fd = memfd_create("test", 0);

	if (fd == -1)
		abort();
	return fd;
}

/* PROGRAM old new patch, or old new patch of bspatch, which writes the second; all by /dev/fd */
static int
run(const char *program, const int fd[3])
{
	char arg[3][32], name[16], quiet[] = "PATH=/usr/bin:/bin:/usr/local/bin";
	char *argv[] = { name, arg[0], arg[1], arg[2], NULL }, *env[] = { quiet, NULL };
	posix_spawn_file_actions_t fa;
	int status = -1;
	pid_t pid;

	snprintf(name, sizeof(name), "%s", program);
	for (int i = 0; i < 3; i++)
		snprintf(arg[i], sizeof(arg[i]), "/dev/fd/%d", fd[i]);
	if (posix_spawn_file_actions_init(&fa) != 0 || posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0) != 0)
		abort();
	if (posix_spawnp(&pid, program, &fa, NULL, argv, env) != 0 || waitpid(pid, &status, 0) != pid)
		status = -1;
	posix_spawn_file_actions_destroy(&fa);
	if (status == -1)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

struct content { uint8_t p[2 * MOST]; size_t len; };

static int
put(void *ctx, const uint8_t *p, size_t len, struct dray_err *e)
{
	struct content *c = ctx;

	if (len > sizeof(c->p) - c->len)
		return dray_fail(e, DRAY_E_ROOM, "more than it may be");
	memcpy(c->p + c->len, p, len);
	c->len += len;
	return 0;
}

static int
ours(int old, size_t old_len, int patch, struct content *out)
{
	struct build_bspatch b = { .old = { .fd = old, .len = old_len }, .fd = patch, .max = sizeof(out->p), .put = put, .ctx = out };
	struct dray_err e = { .code = DRAY_OK };

	out->len = 0;
	return build_bspatch(&b, &e);
}

/* words, runs and noise; then pieces of it moved, changed and left out, as compilers do */
static void
make_pair(struct content *old, struct content *new)
{
	old->len = 1 + pick(pick(4) == 0 ? 40 : MOST);
	for (size_t i = 0; i < old->len; i++)
		old->p[i] = i % 97 < 60 ? (uint8_t)"the quick brown fox"[i % 19] : (uint8_t)pick(256);
	new->len = 0;
	while (new->len < old->len / 2 + 1) {
		size_t at = pick((uint32_t)old->len), n = 1 + pick((uint32_t)(old->len - at)), first = new->len;

		if (n > MOST - new->len)
			n = MOST - new->len;
		memcpy(new->p + first, old->p + at, n);
		new->len += n;
		for (uint32_t k = pick(20); k > 0; k--)
			new->p[first + pick((uint32_t)n)] += (uint8_t)pick(3);
		for (uint32_t k = pick(30); k > 0 && new->len < MOST; k--)
			new->p[new->len++] = (uint8_t)pick(256);
	}
}

static struct content old, new, got, theirs;
static size_t both, damaged;

static void
look_at_damage(const int fd[3])
{
	struct stat st;
	uint8_t byte;

	if (fstat(fd[2], &st) != 0 || st.st_size == 0)
		abort();
	for (int turn = 0; turn < 2; turn++) {
		off_t at = (off_t)pick((uint32_t)st.st_size);
		int made = new_file();
		const int their_fd[3] = { fd[0], made, fd[2] };

		if (pread(fd[2], &byte, 1, at) != 1)
			abort();
		byte ^= (uint8_t)(1u << pick(8));
		if (pwrite(fd[2], &byte, 1, at) != 1)
			abort();
		damaged++;
		if (ours(fd[0], old.len, fd[2], &got) == 0 && run("bspatch", their_fd) == 0) {
			ssize_t n = pread(made, theirs.p, sizeof(theirs.p), 0);

			both++;
			CHECK(n == (ssize_t)got.len && memcmp(theirs.p, got.p, got.len) == 0);
		}
		close(made);
	}
}

static void
what_bsdiff_makes_leads_to_the_new_content(void)
{
	const char *env = getenv("DRAY_BSPATCH_PAIRS");
	const unsigned long n = env != NULL ? strtoul(env, NULL, 10) : 60;

	for (unsigned long i = 0; i < n; i++) {
		const int fd[3] = { new_file(), new_file(), new_file() };

		seed = (uint32_t)i;
		make_pair(&old, &new);
		if (pwrite(fd[0], old.p, old.len, 0) != (ssize_t)old.len || pwrite(fd[1], new.p, new.len, 0) != (ssize_t)new.len)
			abort();
		CHECK_EQ(run("bsdiff", fd), 0);
		CHECK_EQ(ours(fd[0], old.len, fd[2], &got), 0);
		CHECK(got.len == new.len && memcmp(got.p, new.p, new.len) == 0);
		look_at_damage(fd);
		for (int k = 0; k < 3; k++)
			close(fd[k]);
	}
	printf("# %lu pairs; of %zu damaged patches %zu were taken by both\n", n, damaged, both);
}

int
main(void)
{
	const int none[3] = { new_file(), new_file(), new_file() };

	if (run("bsdiff", none) == -1) {
		printf("# no bsdiff here\nok nothing_to_compare_with\n");
		return 0;
	}
	RUN(what_bsdiff_makes_leads_to_the_new_content);
	return test_done();
}
