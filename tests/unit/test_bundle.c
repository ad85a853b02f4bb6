/*
 * test_bundle.c - bundles opened and checked: order of the checks, lengths, stored heads, members, deep checks.
 */
#include <stdatomic.h>

#include "dray/bundle.h"
#include "dray/meter.h"
#include "dray/trust.h"

#include "mini.h"
#include "test.h"

static struct dray_key *key;
static struct dray_keyring *ring;
static struct dray_err e;

static void
make(const struct mini_opts *o, struct mini *m)
{
	struct mini_opts with = *o;
	const struct dray_key *keys[1] = { key };

	with.keys = keys;
	with.n_keys = 1;
	dray_err_clear(&e);
	if (mini_make(&with, m, &e) != 0) {
		printf("# cannot make a bundle: %s\n", e.text);
		exit(1);
	}
}

/* open bytes as a bundle; the handle stays open in *fd */
static int
open_bytes(const void *p, size_t len, const struct dray_bundle_opts *o, int *fd, struct dray_bundle **b)
{
	dray_err_clear(&e);
	*fd = mini_fd(p, len);
	return dray_bundle_open(*fd, o, b, &e);
}

static void
a_good_bundle_opens_and_checks(void)
{
	struct dray_bundle_opts o = { .keyring = ring, .threads = 2 };
	struct dray_check_opts c = { .threads = 2, .deep = true };
	struct dray_bundle *b;
	struct mini m;
	uint8_t *p;
	size_t n;
	int fd;

	make(&(struct mini_opts){ 0 }, &m);
	CHECK(m.len <= 32768);
	CHECK_EQ(open_bytes(m.p, m.len, &o, &fd, &b), 0);
	CHECK_STR(e.text, "");
	if (b != NULL) {
		CHECK_STR(dray_bundle_desc(b)->product, "demo");
		CHECK_EQ(dray_bundle_verdict(b)->good, 1);
		CHECK_EQ(dray_index_rows(dray_bundle_index(b), DRAY_T_ENTRIES), 4);
		CHECK_EQ(dray_bundle_head_len(b), m.frame[0] - 512);
		CHECK_EQ(dray_bundle_check(b, &c, &e), 0);
		CHECK_STR(e.text, "");
		CHECK_EQ(dray_bundle_member(b, "notes/changes.txt", 100, &p, &n, &e), 0);
		CHECK_STR((const char *)p, "what changed\n");
		free(p);
		CHECK_EQ(dray_bundle_member(b, "notes/changes.txt", 5, &p, &n, &e), -1);
		CHECK_HAS(e.text, "at most 5");
		CHECK_EQ(dray_bundle_member(b, "notes/none", 5, &p, &n, &e), -1);
		CHECK_HAS(e.text, "no member notes/none");
	}
	dray_bundle_close(b);
	close(fd);
	mini_free(&m);
}

static void
without_a_keyring_nothing_opens(void)
{
	struct dray_bundle_opts o = { 0 };
	struct dray_bundle *b;
	struct mini m;
	int fd;

	make(&(struct mini_opts){ 0 }, &m);
	CHECK_EQ(open_bytes(m.p, m.len, &o, &fd, &b), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_HAS(e.text, "no keyring");
	CHECK(b == NULL);
	close(fd);
	o.unsigned_ok = true;
	CHECK_EQ(open_bytes(m.p, m.len, &o, &fd, &b), 0);
	CHECK_EQ(dray_bundle_verdict(b)->good, 0);
	CHECK_EQ(dray_bundle_verdict(b)->n, 1);
	dray_bundle_close(b);
	close(fd);
	mini_free(&m);
}

static void
lengths_are_told_exactly(void)
{
	struct dray_bundle_opts o = { .keyring = ring };
	char want[80];
	struct dray_bundle *b;
	struct mini m;
	uint8_t *longer;
	int fd;

	make(&(struct mini_opts){ 0 }, &m);
	CHECK_EQ(open_bytes(m.p, m.len - 700, &o, &fd, &b), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	snprintf(want, sizeof want, "bundle ends at byte %zu, should be %zu", m.len - 700, m.len);
	CHECK_STR(e.text, want);
	close(fd);
	longer = calloc(1, m.len + 512);
	memcpy(longer, m.p, m.len);
	CHECK_EQ(open_bytes(longer, m.len + 512, &o, &fd, &b), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	snprintf(want, sizeof want, "bundle has 512 bytes after its end at byte %zu", m.len);
	CHECK_STR(e.text, want);
	close(fd);
	CHECK_EQ(open_bytes("", 0, &o, &fd, &b), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_HAS(e.text, "bundle ends at byte 0");
	close(fd);
	memset(longer, 'x', m.len);
	CHECK_EQ(open_bytes(longer, m.len, &o, &fd, &b), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_HAS(e.text, "not a dray bundle");
	close(fd);
	free(longer);
	mini_free(&m);
}

/* what a descriptor says is what a signer saw, even when somebody signs a text that tells another story */
static void
a_signed_text_that_tells_another_story_is_refused(void)
{
	struct dray_bundle_opts o = { .keyring = ring };
	char text[DRAY_SLOT_TEXT_MAX + 1];
	uint8_t id[32];
	const struct dray_key *keys[1] = { key };
	struct mini_opts mo = { .keys = keys, .n_keys = 1 };
	struct dray_bundle *b;
	struct mini m;
	size_t len;
	int fd;

	make(&mo, &m);
	CHECK_EQ(mini_hash(m.p + m.json, m.json_len, id, &e), 0);
	CHECK_EQ(dray_signed_text("demo", "1.2", 2, m.len, id, text, &len, &e), 0);
	CHECK_EQ(mini_sign(&mo, text, len, m.p + m.sig, 512, &e), 0);
	CHECK_EQ(open_bytes(m.p, m.len, &o, &fd, &b), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_HAS(e.text, "the signed text does not tell what dray.json says");
	close(fd);
	mini_free(&m);
}

static void
a_stored_head_opens_by_its_id_only(void)
{
	struct dray_bundle_opts o = { .head_only = true };
	struct dray_bundle *b;
	uint8_t id[32];
	struct mini m;
	size_t head;
	int fd;

	make(&(struct mini_opts){ 0 }, &m);
	head = m.frame[0] - 512;
	CHECK_EQ(mini_hash(m.p + m.json, m.json_len, id, &e), 0);
	CHECK_EQ(open_bytes(m.p, head, &o, &fd, &b), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	close(fd);
	o.expect_id = id;
	CHECK_EQ(open_bytes(m.p, head, &o, &fd, &b), 0);
	CHECK_STR(e.text, "");
	if (b != NULL) {
		CHECK_EQ(dray_index_rows(dray_bundle_index(b), DRAY_T_ENTRIES), 4);
		CHECK_EQ(dray_bundle_check(b, &(struct dray_check_opts){ .threads = 1 }, &e), -1);
		CHECK_HAS(e.text, "only a whole bundle");
	}
	dray_bundle_close(b);
	close(fd);
	CHECK_EQ(open_bytes(m.p, head - 1, &o, &fd, &b), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_HAS(e.text, "bundle ends at byte");
	close(fd);
	CHECK_EQ(open_bytes(m.p, m.len, &o, &fd, &b), -1);
	CHECK_HAS(e.text, "after its end");
	close(fd);
	id[0] ^= 1;
	CHECK_EQ(open_bytes(m.p, head, &o, &fd, &b), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_HAS(e.text, "does not have the expected hash");
	close(fd);
	mini_free(&m);
}

/* signed, but not true: only unpacking shows it */
static void
a_deep_check_compares_contents(void)
{
	static const struct mini_opts flaws[2] = { { .wrong_content = true }, { .wrong_pieces = true } };
	static const char *const where[2] = { "needed for a", "needed for large" };
	struct dray_bundle_opts o = { .keyring = ring };
	struct dray_bundle *b;
	struct mini m;
	int fd;

	for (int i = 0; i < 2; i++) {
		for (unsigned threads = 1; threads <= 2; threads++) {
			make(&flaws[i], &m);
			CHECK_EQ(open_bytes(m.p, m.len, &o, &fd, &b), 0);
			CHECK_EQ(dray_bundle_check(b, &(struct dray_check_opts){ .threads = threads }, &e), 0);
			CHECK_EQ(dray_bundle_check(b, &(struct dray_check_opts){ .threads = threads, .deep = true }, &e), -1);
			CHECK_EQ(e.code, DRAY_E_FORMAT);
			CHECK_HAS(e.text, where[i]);
			CHECK_HAS(e.text, "does not have its hash after unpacking");
			dray_bundle_close(b);
			close(fd);
			mini_free(&m);
		}
	}
}

static _Atomic int asked;

static int
stop_soon(void)
{
	return atomic_fetch_add(&asked, 1) >= 1;
}

static _Atomic uint64_t told, of, spent, costs;

/* called by the reader and by the workers, and the last call need not be the one that tells most */
static void
tell(void *ctx, const struct dray_progress *at)
{
	uint64_t most = told, done = at->done;

	(void)ctx;
	while (most < done && !atomic_compare_exchange_weak(&told, &most, done))
		;
	for (most = spent; most < at->cost && !atomic_compare_exchange_weak(&spent, &most, at->cost);)
		;
	of = at->total;
	costs = at->costs;
}

static void
a_check_tells_its_bytes_and_can_be_stopped(void)
{
	struct dray_bundle_opts o = { .keyring = ring };
	struct dray_check_opts c = { .threads = 1, .progress = tell };
	struct dray_bundle *b;
	struct mini m;
	int fd;

	make(&(struct mini_opts){ 0 }, &m);
	CHECK_EQ(open_bytes(m.p, m.len, &o, &fd, &b), 0);
	CHECK_EQ(dray_bundle_check(b, &c, &e), 0);
	CHECK_EQ(of, m.len);
	CHECK_EQ(told, m.len - 1024);	/* all but the end mark */
	CHECK_EQ(spent, costs);
	/* what is unpacked counts too */
	c.deep = true;
	CHECK_EQ(dray_bundle_check(b, &c, &e), 0);
	CHECK(of > m.len);
	CHECK_EQ(told, of - 1024);
	CHECK(spent > told);
	CHECK_EQ(spent, costs);
	/* before the second frame */
	told = 0;
	c.stop = stop_soon;
	CHECK_EQ(dray_bundle_check(b, &c, &e), -1);
	CHECK_EQ(e.code, DRAY_E_SIGNAL);
	CHECK_STR(e.text, "interrupted");
	CHECK(told < of - 1024);
	dray_bundle_close(b);
	close(fd);
	mini_free(&m);
}

static void
a_damaged_frame_names_a_path(void)
{
	struct dray_bundle_opts o = { .keyring = ring };
	struct dray_bundle *b;
	struct mini m;
	int fd;

	make(&(struct mini_opts){ 0 }, &m);
	m.p[m.frame[2] + 20] ^= 0x40;
	CHECK_EQ(open_bytes(m.p, m.len, &o, &fd, &b), 0);
	CHECK_EQ(dray_bundle_check(b, &(struct dray_check_opts){ .threads = 2, .deep = true }, &e), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_HAS(e.text, "frame 2 at byte");
	CHECK_HAS(e.text, "needed for large: its bytes do not have the hash in the index");
	CHECK_HAS(e.hint, "copy it again");
	dray_bundle_close(b);
	close(fd);
	mini_free(&m);
}

static void
other_objects_than_files_are_refused(void)
{
	struct dray_bundle_opts o = { .keyring = ring };
	struct dray_bundle *b;
	int fds[2];

	dray_err_clear(&e);
	CHECK_EQ(pipe(fds), 0);
	CHECK_EQ(dray_bundle_open(fds[0], &o, &b, &e), -1);
	CHECK_EQ(e.code, DRAY_E_IO);
	CHECK_HAS(e.text, "read at byte 0");
	close(fds[0]);
	close(fds[1]);
}

int
main(void)
{
	char pem[160];

	if (dray_key_generate(&key, &e) != 0)
		return 1;
	mini_pem(key, pem);
	if (dray_keyring_parse(pem, strlen(pem), "ops.pub", false, &ring, &e) != 0) {
		printf("# %s\n", e.text);
		return 1;
	}
	RUN(a_good_bundle_opens_and_checks);
	RUN(without_a_keyring_nothing_opens);
	RUN(lengths_are_told_exactly);
	RUN(a_signed_text_that_tells_another_story_is_refused);
	RUN(a_stored_head_opens_by_its_id_only);
	RUN(a_deep_check_compares_contents);
	RUN(a_check_tells_its_bytes_and_can_be_stopped);
	RUN(a_damaged_frame_names_a_path);
	RUN(other_objects_than_files_are_refused);
	dray_keyring_free(ring);
	dray_key_free(key);
	return test_done();
}
