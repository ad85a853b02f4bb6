/*
 * test_build_extract.c - extract from bundles that somebody signed though they are wrong: hashes that do not fit what the
 * frames give. Index and signatures are good, so only what is made tells.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "builder/extract.h"

#include "mini.h"
#include "scratch.h"
#include "test.h"

static char folder[64];

static int
extract(const struct mini_opts *mo, const char *const *paths, size_t n, const char *dir, unsigned threads,
    struct build_extracted *r, struct dray_err *e)
{
	const struct tool_common common = { .quiet = true, .jobs = threads };
	const struct build_extract_opts o = { .common = &common, .dir = dir, .paths = paths, .n_paths = n };
	const struct dray_bundle_opts bo = { .unsigned_ok = true, .threads = 1 };
	struct dray_bundle *b = NULL;
	struct mini m;
	int fd, rc = -1;

	dray_err_clear(e);
	if (mini_make(mo, &m, e) != 0)
		return -1;
	fd = mini_fd(m.p, m.len);
	mini_free(&m);
	if (dray_bundle_open(fd, &bo, &b, e) == 0)
		rc = build_extract(b, &o, r, e);
	dray_bundle_close(b);
	close(fd);
	return rc;
}

static bool
there(const char *dir, const char *name)
{
	char path[200];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return lstat(path, &st) == 0;
}

static void
a_good_bundle_gives_all_its_files(void)
{
	struct build_extracted r;
	char dir[100], path[120];
	struct dray_err e;
	struct stat st;

	snprintf(dir, sizeof(dir), "%s/good", folder);
	CHECK_EQ(extract(&(struct mini_opts){ .seed = 1 }, NULL, 0, dir, 2, &r, &e), 0);
	CHECK_EQ(r.files, 4);
	CHECK_EQ(r.full, 4);
	CHECK_EQ(r.bytes, 3 * 60 + 350);
	CHECK(there(dir, "a") && there(dir, "b") && there(dir, "c\n\"") && there(dir, "large"));
	snprintf(path, sizeof(path), "%s/large", dir);
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_size, 350);
	CHECK_EQ(st.st_mode & 07777, 0644);
}

static void
a_content_that_is_not_its_hash_is_refused_and_nothing_stays(void)
{
	struct build_extracted r;
	char dir[100];
	struct dray_err e;

	snprintf(dir, sizeof(dir), "%s/wrong", folder);
	for (unsigned threads = 1; threads <= 4; threads++) {
		CHECK_EQ(extract(&(struct mini_opts){ .wrong_content = true }, NULL, 0, dir, threads, &r, &e), -1);
		CHECK_EQ(e.code, DRAY_E_FORMAT);
		CHECK_STR(e.text, "b: what the bundle holds for it does not have its hash");
		CHECK_STR(e.hint, "what had been written was removed again");
		CHECK(!there(dir, ""));
	}
}

static void
a_content_of_two_pieces_that_is_not_its_hash_is_refused(void)
{
	struct build_extracted r;
	char dir[100];
	struct dray_err e;

	snprintf(dir, sizeof(dir), "%s/pieces", folder);
	CHECK_EQ(extract(&(struct mini_opts){ .wrong_pieces = true }, NULL, 0, dir, 2, &r, &e), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_STR(e.text, "large: what the bundle holds for it does not have its hash");
	CHECK(!there(dir, ""));
}

static void
what_the_flaw_does_not_touch_can_be_had(void)
{
	const char *const paths[] = { "a", "large" };
	struct build_extracted r;
	char dir[100];
	struct dray_err e;

	snprintf(dir, sizeof(dir), "%s/rest", folder);
	CHECK_EQ(extract(&(struct mini_opts){ .wrong_content = true }, paths, 2, dir, 1, &r, &e), 0);
	CHECK_EQ(r.files, 2);
	CHECK(there(dir, "a") && there(dir, "large") && !there(dir, "b"));
}

int
main(void)
{
	const char *tmp = getenv("TMPDIR");
	struct dray_err e = { 0 };

	snprintf(folder, sizeof(folder), "%s/dray-extract-XXXXXX", tmp != NULL && strlen(tmp) < 30 ? tmp : "/tmp");
	if (mkdtemp(folder) == NULL || dray_crypto_init(&e) != 0)
		return 1;
	RUN(a_good_bundle_gives_all_its_files);
	RUN(a_content_that_is_not_its_hash_is_refused_and_nothing_stays);
	RUN(a_content_of_two_pieces_that_is_not_its_hash_is_refused);
	RUN(what_the_flaw_does_not_touch_can_be_had);
	if (scratch_remove(folder) != 0)
		return 1;
	return test_done();
}
