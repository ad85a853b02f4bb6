/*
 * test_bundle_property.c - every byte of a bundle is covered by exactly one check, and by the right one.
 *
 * On a small bundle every bit is flipped, one at a time; the file is cut at every byte; a byte is appended; parts of
 * equal size are swapped between two bundles of the same key. Each must be refused with the status and the words of
 * the check that covers the place, and the counters in the JSON reader and in front of zstd prove that nothing damaged
 * was parsed or decoded on the way. In the signature slot a flip may take a signer away but never add one.
 *
 * The work is split over processes, not threads: the counters belong to the process.
 */
#include <sys/wait.h>

#include "dray/bundle.h"
#include "dray/json.h"
#include "dray/os.h"
#include "dray/trust.h"

#include "mini.h"
#include "test.h"

/* sanitizers make this twenty times slower: one bit of each byte there, all eight otherwise */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { FEW = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { FEW = 1 };
#else
enum { FEW = 0 };
#endif
#else
enum { FEW = 0 };
#endif

enum { MAX_REGIONS = 64 };

struct region {
	size_t at, len;
	const char *words;		/* that must stand in the message */
	uint64_t parses, decodes;	/* no more documents parsed and frames decoded than these */
	enum dray_code code;
	bool slot;
};

static struct region regions[MAX_REGIONS];
static size_t n_regions;
static struct dray_key *a_key, *b_key, *stranger;
static struct dray_keyring *ring, *ring2;	/* both know a_key and b_key; 1 and 2 signatures needed */
static struct mini m, other;			/* signed by a_key and a stranger */
static struct dray_err e;

static void
region(size_t *at, size_t len, enum dray_code code, const char *words, uint64_t parses, uint64_t decodes)
{
	if (len == 0)
		return;
	regions[n_regions++] = (struct region){ *at, len, words, parses, decodes, code, false };
	*at += len;
}

static void
member(size_t *at, size_t len, const char *header, const char *data, const char *padding, uint64_t parses,
    uint64_t decodes, uint64_t data_decodes)
{
	region(at, 512, DRAY_E_FORMAT, header, parses, decodes);
	region(at, len, DRAY_E_FORMAT, data, parses, data_decodes);
	region(at, -len & 511, DRAY_E_FORMAT, padding, parses, decodes);
}

/* index/01, chunk by chunk: those before the damaged one are decoded, it and what follows is not */
static void
chunk_regions(size_t *at, uint32_t *n_chunks)
{
	const struct dray_member *dir = &m.d->members[1];
	const uint8_t *p = m.p + dir->offset;
	uint32_t tables = dray_get_u32(p + 8);

	*n_chunks = dray_get_u32(p + 12);
	for (uint32_t i = 0; i < *n_chunks; i++) {
		static char words[MAX_REGIONS][64];

		snprintf(words[i], sizeof words[i], "chunk %u: digest differs from index/00", i);
		region(at, dray_get_u32(p + 16 + 16 * tables + 48 * i), DRAY_E_FORMAT, words[i], 1, i);
	}
}

static void
lay_out(void)
{
	static const char zero[] = " is not zero";
	const struct dray_member *mb = m.d->members;
	static char header[2][64];
	uint32_t chunks;
	size_t at = 0;

	member(&at, m.json_len, "member dray.json", "dray.json does not have the hash in the signed text", zero, 0, 0, 0);
	region(&at, 512, DRAY_E_FORMAT, "member dray.sig", 0, 0);
	region(&at, (size_t)m.d->slot, DRAY_E_TRUST, "", 0, 0);
	regions[n_regions - 1].slot = true;
	chunks = dray_get_u32(m.p + mb[1].offset + 12);
	member(&at, (size_t)mb[0].size, "member README.txt", "README.txt does not have the hash in dray.json", zero, 1, 0,
	    chunks);
	member(&at, (size_t)mb[1].size, "member index/00", "index/00 does not have the hash in dray.json", zero, 1, 0, 0);
	region(&at, 512, DRAY_E_FORMAT, "member index/01", 1, 0);
	chunk_regions(&at, &chunks);
	region(&at, -mb[2].size & 511, DRAY_E_FORMAT, zero, 1, 0);
	member(&at, (size_t)mb[3].size, "member notes/changes.txt", "notes/changes.txt does not have the hash", zero, 1, 0,
	    chunks);
	for (unsigned i = 0; i < MINI_FRAMES; i += 2) {
		static char words[MINI_FRAMES][64];
		size_t len = 0;

		snprintf(header[i / 2], sizeof header[0], "member blocks/%06u", i / 2);
		/* the frames before may be decoded already, those of this block are not even read */
		region(&at, 512, DRAY_E_FORMAT, header[i / 2], 1, chunks + i);
		for (unsigned k = i; k < i + 2 && k < MINI_FRAMES; k++) {
			snprintf(words[k], sizeof words[k], "its bytes do not have the hash in the index");
			region(&at, m.stored[k], DRAY_E_FORMAT, words[k], 1, chunks + k);
			len += m.stored[k];
		}
		region(&at, -len & 511, DRAY_E_FORMAT, zero, 1, chunks + i + 2);
	}
	region(&at, DRAY_TAR_END, DRAY_E_FORMAT, zero, 1, chunks + MINI_FRAMES);
	CHECK_EQ(at, m.len);
}

/* open and check all of it. *good: signers counted. Return: 0 or -1 with e */
static int
try(int fd, const struct dray_keyring *k, unsigned *good)
{
	const struct dray_bundle_opts o = { .keyring = k, .threads = 1 };
	const struct dray_check_opts c = { .threads = 1, .deep = true };
	struct dray_bundle *b;
	int rc;

	*good = 0;
	dray_err_clear(&e);
	if (dray_bundle_open(fd, &o, &b, &e) != 0)
		return -1;
	*good = dray_bundle_verdict(b)->good;
	rc = dray_bundle_check(b, &c, &e);
	dray_bundle_close(b);
	return rc;
}

static bool
complain(const char *what, size_t at, int bit)
{
	printf("# %s, byte %zu bit %d: status %d, \"%s\"\n", what, at, bit, (int)e.code, e.text);
	return false;
}

static bool
flip_is_refused(int fd, const struct region *r, size_t at, int bit)
{
	uint64_t parses = dray_json_count_parses(), decodes = dray_decode_count();
	uint8_t flipped = (uint8_t)(m.p[at] ^ 1u << bit);
	unsigned good, good2;
	bool ok = true;
	int rc;

	if (pwrite(fd, &flipped, 1, (off_t)at) != 1)
		return complain("cannot write", at, bit);
	rc = try(fd, ring, &good);
	if (r->slot) {
		if (rc == 0 ? good > 1 : e.code != DRAY_E_TRUST)
			ok = complain("a signer more, or another check than the slot's", at, bit);
		if (rc != 0 && dray_json_count_parses() != parses)
			ok = complain("parsed before the slot was right", at, bit);
		if (try(fd, ring2, &good2) == 0 || good2 > 1)
			ok = complain("two signers out of one", at, bit);
	} else if (rc == 0) {
		ok = complain("not refused", at, bit);
	} else if (e.code != r->code || strstr(e.text, r->words) == NULL) {
		ok = complain("refused by another check", at, bit);
	} else if (dray_json_count_parses() - parses > r->parses || dray_decode_count() - decodes > r->decodes) {
		ok = complain("parsed or decoded before it was checked", at, bit);
	}
	if (pwrite(fd, m.p + at, 1, (off_t)at) != 1)
		return complain("cannot write", at, bit);
	return ok;
}

static bool
flip_share(unsigned part, unsigned parts)
{
	int fd = mini_fd(m.p, m.len);
	unsigned bad = 0;

	for (size_t i = 0; i < n_regions; i++)
		for (size_t k = 0; k < regions[i].len && bad < 5; k++) {
			size_t at = regions[i].at + k;

			if (at % parts != part)
				continue;
			for (int bit = FEW ? (int)(at % 8) : 0; bit < (FEW ? (int)(at % 8) + 1 : 8); bit++)
				bad += !flip_is_refused(fd, &regions[i], at, bit);
		}
	close(fd);
	return bad == 0;
}

/* cut at every byte: the length is in the signed text, so nothing is parsed */
static bool
cut_share(unsigned part, unsigned parts)
{
	uint64_t parses = dray_json_count_parses(), decodes = dray_decode_count();
	int fd = mini_fd(m.p, m.len);
	unsigned bad = 0, good;
	char words[64];

	for (size_t len = m.len; len-- > 0 && bad < 5;) {
		if (ftruncate(fd, (off_t)len) != 0)
			return complain("cannot cut", len, 0);
		if (len % parts != part)
			continue;
		snprintf(words, sizeof words, "bundle ends at byte %zu", len);
		if (try(fd, ring, &good) == 0 || e.code != DRAY_E_FORMAT || strstr(e.text, words) == NULL)
			bad += !complain("cut", len, 0);
	}
	close(fd);
	return bad == 0 && dray_json_count_parses() == parses && dray_decode_count() == decodes;
}

/* the work of each part in its own process; printf of all goes to one place */
static bool
in_parts(bool (*share)(unsigned part, unsigned parts))
{
	unsigned parts = os_cpus() > 4 ? 4 : os_cpus();
	bool ok = true;
	int status;

	fflush(stdout);
	for (unsigned i = 0; i < parts; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			ok = share(i, parts);
			fflush(stdout);
			_exit(ok ? 0 : 1);
		}
		ok = ok && pid != -1;
	}
	while (wait(&status) > 0)
		ok = ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
	return ok;
}

static void
the_bundle_itself_is_accepted(void)
{
	int fd = mini_fd(m.p, m.len);
	unsigned good;

	CHECK(m.len <= 32768);
	CHECK_EQ(try(fd, ring, &good), 0);
	CHECK_STR(e.text, "");
	CHECK_EQ(good, 1);
	CHECK_EQ(try(fd, ring2, &good), -1);
	CHECK_HAS(e.text, "1 of 2 needed signatures");
	close(fd);
}

static void
each_flipped_bit_is_refused_by_the_check_that_covers_it(void)
{
	lay_out();
	CHECK(in_parts(flip_share));
}

static void
a_bundle_cut_anywhere_is_refused_before_anything_is_parsed(void)
{
	CHECK(in_parts(cut_share));
}

static void
an_appended_byte_is_refused_before_anything_is_parsed(void)
{
	uint64_t parses = dray_json_count_parses(), decodes = dray_decode_count();
	uint8_t *p = malloc(m.len + 1);
	unsigned good;

	memcpy(p, m.p, m.len);
	for (int v = 0; v < 256; v++) {
		int fd;

		p[m.len] = (uint8_t)v;
		fd = mini_fd(p, m.len + 1);
		CHECK_EQ(try(fd, ring, &good), -1);
		CHECK_EQ(e.code, DRAY_E_FORMAT);
		CHECK_HAS(e.text, "bundle has 1 bytes after its end");
		close(fd);
	}
	CHECK_EQ(dray_json_count_parses(), parses);
	CHECK_EQ(dray_decode_count(), decodes);
	free(p);
}

/* @m with @n parts of @other in their places */
static void
swap(const size_t (*part)[2], size_t n, const char *words, uint64_t parses, uint64_t decodes)
{
	uint64_t parses_before = dray_json_count_parses(), decodes_before = dray_decode_count();
	uint8_t *p = malloc(m.len);
	unsigned good;
	int fd;

	memcpy(p, m.p, m.len);
	for (size_t i = 0; i < n; i++) {
		CHECK(memcmp(p + part[i][0], other.p + part[i][0], part[i][1]) != 0);	/* else nothing is tested */
		memcpy(p + part[i][0], other.p + part[i][0], part[i][1]);
	}
	fd = mini_fd(p, m.len);
	CHECK_EQ(try(fd, ring, &good), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_HAS(e.text, words);
	CHECK_EQ(dray_json_count_parses() - parses_before, parses);
	CHECK_EQ(dray_decode_count() - decodes_before, decodes);
	close(fd);
	free(p);
}

static void
parts_of_another_bundle_by_the_same_key_are_refused(void)
{
	const struct dray_member *mb = m.d->members, *ob = other.d->members;
	uint32_t chunks = dray_get_u32(m.p + mb[1].offset + 12), tables = dray_get_u32(m.p + mb[1].offset + 8), swapped = 0;
	size_t at = (size_t)mb[2].offset;

	CHECK_EQ(m.len, other.len);
	CHECK_EQ(m.json_len, other.json_len);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(mb[i].size, ob[i].size);
	/* descriptors; slots; both, so that the signature is right and what follows is not */
	swap((const size_t[][2]){ { m.json, m.json_len } }, 1, "dray.json does not have the hash in the signed text", 0, 0);
	swap((const size_t[][2]){ { m.sig, 512 } }, 1, "dray.json does not have the hash in the signed text", 0, 0);
	swap((const size_t[][2]){ { m.json, m.json_len }, { m.sig, 512 } }, 2,
	    "index/00 does not have the hash in dray.json", 1, 0);
	swap((const size_t[][2]){ { mb[1].offset, mb[1].size } }, 1, "index/00 does not have the hash in dray.json", 1, 0);
	/* chunks of the index, one at a time */
	for (uint32_t i = 0; i < chunks; i++) {
		const uint8_t *rec = m.p + mb[1].offset + 16 + 16 * tables + 48 * i;
		uint32_t stored = dray_get_u32(rec);
		char words[64];

		snprintf(words, sizeof words, "chunk %u: digest differs", i);
		if (memcmp(m.p + at, other.p + at, stored) != 0) {
			swap((const size_t[][2]){ { at, stored } }, 1, words, 1, i);
			swapped++;
		}
		at += stored;
	}
	CHECK(swapped >= 2);	/* contents and frames hold hashes, which differ */
	for (uint32_t i = 0; i < MINI_FRAMES; i++) {
		CHECK_EQ(m.stored[i], other.stored[i]);
		swap((const size_t[][2]){ { m.frame[i], m.stored[i] } }, 1, "its bytes do not have the hash in the index", 1,
		    chunks + i);
	}
	/* everything before the blocks: a right bundle with the wrong blocks */
	swap((const size_t[][2]){ { 0, m.frame[0] - 512 } }, 1, "its bytes do not have the hash in the index", 1, chunks);
}

static void
read_ring(unsigned threshold, struct dray_keyring **out)
{
	char pem[2][160], text[600];
	int n;

	mini_pem(a_key, pem[0]);
	mini_pem(b_key, pem[1]);
	for (int i = 0; i < 2; i++)	/* JSON takes no line break in a string */
		for (char *p = pem[i]; *p != 0; p++)
			if (*p == '\n')
				*p = '|';
	n = snprintf(text, sizeof text, "{\"dray_keyring\":1,\"keys\":[{\"name\":\"a\",\"pem\":\"%s\"},{\"name\":\"b\","
	    "\"pem\":\"%s\"}],\"threshold\":%u}", pem[0], pem[1], threshold);
	for (char *p = text; (p = strchr(p, '|')) != NULL; n++) {
		memmove(p + 2, p + 1, strlen(p));
		memcpy(p, "\\n", 2);
	}
	if (dray_keyring_parse(text, (size_t)n, "ring", false, out, &e) != 0) {
		printf("# %s\n", e.text);
		exit(1);
	}
}

int
main(void)
{
	const struct dray_key *keys[2];

	if (dray_key_generate(&a_key, &e) != 0 || dray_key_generate(&b_key, &e) != 0 || dray_key_generate(&stranger, &e) != 0)
		return 1;
	read_ring(1, &ring);
	read_ring(2, &ring2);
	keys[0] = a_key;
	keys[1] = stranger;
	if (mini_make(&(struct mini_opts){ .keys = keys, .n_keys = 2, .seed = 1 }, &m, &e) != 0 ||
	    mini_make(&(struct mini_opts){ .keys = keys, .n_keys = 2, .seed = 2 }, &other, &e) != 0) {
		printf("# %s\n", e.text);
		return 1;
	}
	RUN(the_bundle_itself_is_accepted);
	RUN(each_flipped_bit_is_refused_by_the_check_that_covers_it);
	RUN(a_bundle_cut_anywhere_is_refused_before_anything_is_parsed);
	RUN(an_appended_byte_is_refused_before_anything_is_parsed);
	RUN(parts_of_another_bundle_by_the_same_key_are_refused);
	mini_free(&m);
	mini_free(&other);
	dray_keyring_free(ring);
	dray_keyring_free(ring2);
	dray_key_free(a_key);
	dray_key_free(b_key);
	dray_key_free(stranger);
	return test_done();
}
