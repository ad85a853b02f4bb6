/*
 * test_cache.c - what was kept comes back, what is damaged is told, removed and made anew, and a folder that is taken away
 * or cannot be written does no harm
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/cache.h"
#include "scratch.h"
#include "test.h"

static char dir[] = "/tmp/dray-test-XXXXXX";
static struct dray_sha256 *h;
static const uint8_t key[32] = { 0xab, 0xcd, 1 }, other[32] = { 0xab, 0xce, 1 };

static struct build_cache *
open_in(const char *name)
{
	struct build_cache *c;
	struct dray_err e;
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	dray_err_clear(&e);
	if (build_cache_open(path, &c, &e) != 0) {
		printf("# %s\n", e.text);
		abort();
	}
	return c;
}

/* the one file in the cache "a" */
static void
file_of(char *path, size_t cap)
{
	snprintf(path, cap, "%s/a/ab/cd0100000000000000000000000000000000000000000000000000000000", dir);
	for (size_t n = strlen(path); n < strlen(dir) + 6 + 62; n++) {
		path[n] = '0';
		path[n + 1] = '\0';
	}
}

static void
what_was_put_comes_back(void)
{
	struct build_cache *c = open_in("a/b/c");	/* folders above are made */
	struct build_cached v = { .p = NULL };

	CHECK(!build_cache_get(c, h, key, &v));
	build_cache_put(c, h, key, 2, 1, 77, (const uint8_t *)"hello", 5);
	CHECK(!build_cache_get(c, h, other, &v));
	CHECK(build_cache_get(c, h, key, &v));
	CHECK_EQ(v.kind, 2);
	CHECK_EQ(v.raw, 77);
	CHECK_EQ(v.len, 5);
	CHECK(memcmp(v.p, "hello", 5) == 0);
	/* again over it, as another build would */
	build_cache_put(c, h, key, 1, 0, 5, (const uint8_t *)"world", 5);
	CHECK(build_cache_get(c, h, key, &v));
	CHECK(memcmp(v.p, "world", 5) == 0);
	CHECK_EQ(build_cache_counts(c).hits, 2);
	CHECK_EQ(build_cache_counts(c).misses, 2);
	CHECK_EQ(build_cache_counts(c).damaged, 0);
	free(v.p);
	build_cache_close(c);
}

static void
each_flipped_byte_is_found_and_the_file_removed(void)
{
	struct build_cache *c = open_in("a");
	struct build_cached v = { .p = NULL };
	struct stat st;
	char path[200];
	uint64_t bad = 0;

	file_of(path, sizeof(path));
	for (off_t i = 0; i < 52 + 5 + 32; i++) {
		uint8_t b;
		int fd;

		build_cache_put(c, h, key, 2, 1, 77, (const uint8_t *)"hello", 5);
		fd = open(path, O_RDWR | O_CLOEXEC);
		CHECK(fd != -1 && pread(fd, &b, 1, i) == 1);
		b ^= 1;
		CHECK_EQ(pwrite(fd, &b, 1, i), 1);
		close(fd);
		bad += !build_cache_get(c, h, key, &v);
		CHECK(stat(path, &st) == -1);
	}
	CHECK_EQ(bad, 52 + 5 + 32);
	CHECK_EQ(build_cache_counts(c).damaged, bad);
	free(v.p);
	build_cache_close(c);
}

static void
a_file_cut_short_or_stretched_is_found(void)
{
	static const off_t sizes[] = { 0, 1, 51, 52, 84, 88, 90, 1000 };
	struct build_cache *c = open_in("a");
	struct build_cached v = { .p = NULL };
	char path[200];

	file_of(path, sizeof(path));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		build_cache_put(c, h, key, 2, 1, 77, (const uint8_t *)"hello", 5);
		CHECK_EQ(truncate(path, sizes[i]), 0);
		CHECK(!build_cache_get(c, h, key, &v));
	}
	CHECK_EQ(build_cache_counts(c).damaged, sizeof(sizes) / sizeof(sizes[0]));
	free(v.p);
	build_cache_close(c);
}

static void
a_link_in_place_of_a_file_is_not_followed(void)
{
	struct build_cache *c = open_in("a");
	struct build_cached v = { .p = NULL };
	char path[200], to[210];

	file_of(path, sizeof(path));
	build_cache_put(c, h, key, 2, 1, 77, (const uint8_t *)"hello", 5);
	snprintf(to, sizeof(to), "%s.moved", path);
	CHECK_EQ(rename(path, to), 0);
	CHECK_EQ(symlink(to, path), 0);
	CHECK(!build_cache_get(c, h, key, &v));
	free(v.p);
	build_cache_close(c);
}

static void
a_folder_taken_away_does_no_harm(void)
{
	struct build_cache *c = open_in("gone");
	struct build_cached v = { .p = NULL };
	char path[200];

	snprintf(path, sizeof(path), "%s/gone", dir);
	CHECK_EQ(rmdir(path), 0);
	build_cache_put(c, h, key, 2, 1, 77, (const uint8_t *)"hello", 5);
	CHECK(!build_cache_get(c, h, key, &v));
	build_cache_close(c);
}

static void
a_given_folder_that_cannot_be_is_an_error_and_the_usual_one_is_not(void)
{
	struct build_cache *c;
	struct dray_err e;
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "%s/file", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd != -1);
	close(fd);
	dray_err_clear(&e);
	CHECK_EQ(build_cache_open(path, &c, &e), -1);
	CHECK(c == NULL);
	CHECK_EQ(e.code, DRAY_E_IO);
	CHECK_HAS(e.text, "the cache ");
	CHECK_HAS(e.text, "/file cannot be used");
	setenv("XDG_CACHE_HOME", path, 1);
	CHECK_EQ(build_cache_open(NULL, &c, &e), 0);
	CHECK(c == NULL);
	snprintf(path, sizeof(path), "%s/xdg", dir);
	setenv("XDG_CACHE_HOME", path, 1);
	CHECK_EQ(build_cache_open(NULL, &c, &e), 0);
	CHECK(c != NULL);
	CHECK_HAS(build_cache_path(c), "/xdg/dray");
	build_cache_close(c);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	CHECK_EQ(build_cache_open(NULL, &c, &e), 0);
	CHECK(c == NULL);
}

int
main(void)
{
	struct dray_err e;

	if (mkdtemp(dir) == NULL || dray_sha256_new(&h, &e) != 0)
		return 1;
	RUN(what_was_put_comes_back);
	RUN(each_flipped_byte_is_found_and_the_file_removed);
	RUN(a_file_cut_short_or_stretched_is_found);
	RUN(a_link_in_place_of_a_file_is_not_followed);
	RUN(a_folder_taken_away_does_no_harm);
	RUN(a_given_folder_that_cannot_be_is_an_error_and_the_usual_one_is_not);
	dray_sha256_free(h);
	scratch_remove(dir);
	return test_done();
}
