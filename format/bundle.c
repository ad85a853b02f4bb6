/*
 * bundle.c - open a bundle: bytes, then their hash, then their meaning. Source: spec/bundle-format.md, 10 "Reading".
 *
 * The order is the whole point. Before the signature only dray_tar_check and dray_slot_parse look at bytes; dray.json
 * is a blob until its hash is the signed one, index/00 until its hash stands in dray.json, a chunk until its hash
 * stands in index/00. The file was opened once by the caller; what was hashed is in memory and that is what is used.
 */
#include <sys/stat.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/num.h"
#include "dray/tar.h"

#include "bundle_priv.h"

#define INDEX_DIR_MAX (64u * 1024u * 1024u)	/* index/00 of a million chunks */

static int
short_read(const struct dray_bundle *b, uint64_t end, struct dray_err *e)
{
	if (b->length != 0)
		dray_fail(e, DRAY_E_FORMAT, "bundle ends at byte %" PRIu64 ", should be %" PRIu64, end, b->length);
	else
		dray_fail(e, DRAY_E_FORMAT, "bundle ends at byte %" PRIu64 ", inside its first members", end);
	return dray_hint(e, "it was not copied whole: copy the bundle again");
}

/* as pread(2), of the bundle wherever its bytes lie; *name: the volume, or NULL */
static ssize_t
read_some(const struct dray_bundle *b, uint64_t at, void *buf, size_t len, const char **name)
{
	const struct dray_volume *v;
	uint64_t skip, left;

	*name = NULL;
	if (b->volumes == NULL)
		return pread(b->fd, buf, len, (off_t)at);
	if ((v = dray_volumes_at(b->volumes, at, &skip, &left)) == NULL)
		return 0;
	*name = v->name;
	return pread(v->fd, buf, len < left ? len : (size_t)left, (off_t)skip);
}

int
dray_bundle_read(const struct dray_bundle *b, uint64_t at, void *buf, size_t len, struct dray_err *e)
{
	const char *name, *of;
	size_t done = 0;
	ssize_t n;

	if (at > INT64_MAX || len > INT64_MAX - at)	/* off_t has 63 bits */
		return dray_fail(e, DRAY_E_FORMAT, "byte %" PRIu64 " of a bundle does not exist", at);
	while (done < len) {
		n = read_some(b, at + done, (uint8_t *)buf + done, len - done, &name);
		if (n == -1 && errno == EINTR)
			continue;
		of = name == NULL ? "" : " in ";
		name = name == NULL ? "" : name;
		if (n == -1 && (errno == EIO || errno == ENXIO || errno == ENODEV || errno == ESTALE)) {
			dray_fail(e, DRAY_E_MEDIUM, "the medium stopped answering at byte %" PRIu64 "%s%s", at + done, of, name);
			return dray_hint(e, "check the medium and its cable, or copy the bundle from another one");
		}
		if (n == -1)
			return dray_fail_errno(e, "read at byte %" PRIu64 "%s%s", at + done, of, name);
		if (n == 0)
			return short_read(b, at + done, e);
		done += (size_t)n;
	}
	return 0;
}

int
dray_bundle_padding(const struct dray_bundle *b, uint64_t end, struct dray_err *e)
{
	uint8_t pad[DRAY_TAR_BLOCK];
	size_t n = (size_t)(-end & (DRAY_TAR_BLOCK - 1));

	if (n == 0)
		return 0;
	if (dray_bundle_read(b, end, pad, n, e) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (pad[i] != 0)
			return dray_fail(e, DRAY_E_FORMAT, "padding at byte %" PRIu64 " is not zero", end + i);
	return 0;
}

int
dray_bundle_header(const struct dray_bundle *b, uint64_t at, const char *name, uint64_t size, struct dray_err *e)
{
	uint8_t got[DRAY_TAR_BLOCK];
	uint64_t said;

	if (dray_bundle_read(b, at, got, sizeof got, e) != 0 || dray_tar_check(got, name, UINT64_MAX, &said, e) != 0)
		return -1;
	if (said != size)
		return dray_fail(e, DRAY_E_FORMAT, "the header of %s says %" PRIu64 " bytes, it has %" PRIu64, name, said, size);
	return 0;
}

/* shorter than one header: a piece of a bundle, or some other small file? */
static int
told_short(const struct dray_bundle *b, struct dray_err *e)
{
	static const char name[] = "dray.json";
	char head[sizeof name - 1];
	const char *volume;
	ssize_t n = read_some(b, 0, head, sizeof head, &volume);

	if (n <= 0 || memcmp(head, name, (size_t)n) == 0)
		return -1;
	e->hint[0] = '\0';
	return dray_fail(e, DRAY_E_FORMAT, "not a dray bundle");
}

/* dray.json as bytes, at the very start */
static int
take_json(struct dray_bundle *b, struct dray_err *e)
{
	uint8_t head[DRAY_TAR_BLOCK];
	uint64_t size;

	if (dray_bundle_read(b, 0, head, sizeof head, e) != 0)
		return e->code == DRAY_E_FORMAT ? told_short(b, e) : -1;
	if (dray_volume_begins(head)) {
		dray_fail(e, DRAY_E_FORMAT, "a volume of a bundle, not a whole one");
		return dray_hint(e, "dray join makes one file of its volumes");
	}
	if (dray_tar_check(head, "dray.json", DRAY_DESC_MAX_BYTES, &size, e) != 0)
		return dray_wrap(e, "not a dray bundle, or its start is damaged");
	if (!dray_fit(size, &b->json_len) || (b->json = malloc(b->json_len + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	b->json[b->json_len] = 0;
	if (dray_bundle_read(b, DRAY_TAR_BLOCK, b->json, b->json_len, e) != 0)
		return -1;
	return dray_bundle_padding(b, DRAY_TAR_BLOCK + size, e);
}

static int
take_slot(struct dray_bundle *b, struct dray_err *e)
{
	uint8_t head[DRAY_TAR_BLOCK];
	uint64_t at = DRAY_TAR_BLOCK + (b->json_len + DRAY_TAR_BLOCK - 1) / DRAY_TAR_BLOCK * DRAY_TAR_BLOCK;

	if (dray_bundle_read(b, at, head, sizeof head, e) != 0 ||
	    dray_tar_check(head, "dray.sig", DRAY_SLOT_MAX, &b->slot_len, e) != 0)
		return -1;
	if (b->slot_len < 512 || b->slot_len % 512 != 0)
		return dray_fail(e, DRAY_E_TRUST, "a signature slot of %" PRIu64 " bytes is not possible", b->slot_len);
	if ((b->slot_bytes = malloc((size_t)b->slot_len)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (dray_bundle_read(b, at + DRAY_TAR_BLOCK, b->slot_bytes, (size_t)b->slot_len, e) != 0)
		return -1;
	return dray_slot_parse(b->slot_bytes, (size_t)b->slot_len, &b->slot, e);
}

/* without a keyring: who claims to have signed, for the builder's own commands */
static void
list_signers(struct dray_bundle *b)
{
	for (unsigned i = 0; i < b->slot.n; i++) {
		memcpy(b->verdict.signers[i].key, b->slot.sigs[i].key, 32);
		b->verdict.signers[i].state = DRAY_SIGNER_UNKNOWN;
	}
	b->verdict.n = b->slot.n;
}

/* is the dray.json in memory the one that was signed (or expected), by enough keys? Nothing is parsed before this. */
static int
establish_trust(struct dray_bundle *b, const struct dray_bundle_opts *o, struct dray_err *e)
{
	struct dray_signed text;
	struct dray_sha256 *h;
	int rc;

	if (dray_sha256_new(&h, e) != 0)
		return -1;
	rc = dray_sha256_once(h, b->json, b->json_len, b->id, e);
	dray_sha256_free(h);
	if (rc != 0)
		return -1;
	if (o->expect_id != NULL) {
		list_signers(b);
		if (memcmp(b->id, o->expect_id, 32) != 0)
			return dray_fail(e, DRAY_E_FORMAT, "dray.json does not have the expected hash");
	} else if (o->keyring != NULL) {
		if (dray_trust_check(o->keyring, &b->slot, &b->verdict, e) != 0) {
			if (!o->unsigned_ok || e->code != DRAY_E_TRUST)
				return -1;
			dray_err_clear(e);
		}
	} else if (o->unsigned_ok) {
		list_signers(b);
	} else {
		return dray_fail(e, DRAY_E_TRUST, "no keyring says whom to trust");
	}
	if (dray_signed_parse(b->slot.text, b->slot.text_len, &text, e) != 0)
		return -1;
	if (memcmp(text.sha256, b->id, 32) != 0) {
		dray_fail(e, DRAY_E_FORMAT, "dray.json does not have the hash in the signed text");
		return dray_hint(e, "the bundle is damaged or was changed: copy it again");
	}
	b->length = text.size;
	return 0;
}

/* the file must end where the signed text says, before any more of it is looked at */
static int
check_length(const struct dray_bundle *b, uint64_t want, struct dray_err *e)
{
	struct stat st = { .st_mode = 0 };
	uint64_t is;

	if (b->volumes == NULL && fstat(b->fd, &st) != 0)
		return dray_fail_errno(e, "look at the bundle");
	if (b->volumes == NULL && !S_ISREG(st.st_mode))
		return dray_fail(e, DRAY_E_FORMAT, "not a regular file");
	is = b->volumes == NULL ? (uint64_t)st.st_size : b->volumes->total;
	if (is < want) {
		dray_fail(e, DRAY_E_FORMAT, "bundle ends at byte %" PRIu64 ", should be %" PRIu64, is, want);
		return dray_hint(e, "it was not copied whole: copy the bundle again");
	}
	if (is > want)
		return dray_fail(e, DRAY_E_FORMAT, "bundle has %" PRIu64 " bytes after its end at byte %" PRIu64, is - want, want);
	return 0;
}

/* the text that was signed, made again from what dray.json says: a signer saw what we obey */
static int
check_text(const struct dray_bundle *b, struct dray_err *e)
{
	char again[DRAY_SLOT_TEXT_MAX + 1];
	size_t len;

	if (dray_signed_text(b->desc->product, b->desc->version, b->desc->counter, b->desc->length, b->id, again, &len,
	    e) != 0)
		return -1;
	if (len != b->slot.text_len || memcmp(again, b->slot.text, len) != 0)
		return dray_fail(e, DRAY_E_TRUST, "the signed text does not tell what dray.json says");
	if (b->desc->slot != b->slot_len)
		return dray_fail(e, DRAY_E_FORMAT, "the signature slot has %" PRIu64 " bytes, should be %" PRIu64, b->slot_len,
		    b->desc->slot);
	return 0;
}

static int
hashed_member(const struct dray_bundle *b, const struct dray_member *m, uint8_t **out, struct dray_err *e)
{
	struct dray_sha256 *h = NULL;
	uint8_t got[32], *p;
	size_t len;

	*out = NULL;
	if (!dray_fit(m->size, &len) || (p = malloc(len + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	p[len] = 0;
	if (dray_bundle_read(b, m->offset, p, len, e) != 0 || dray_sha256_new(&h, e) != 0)
		goto fail;
	if (dray_sha256_once(h, p, len, got, e) != 0)
		goto fail;
	if (memcmp(got, m->sha256, sizeof got) != 0) {
		dray_fail(e, DRAY_E_FORMAT, "%s does not have the hash in dray.json", m->name);
		goto fail;
	}
	dray_sha256_free(h);
	*out = p;
	return 0;
fail:
	dray_sha256_free(h);
	free(p);
	return -1;
}

static int
read_for_index(void *ctx, uint64_t at, void *buf, size_t len, struct dray_err *e)
{
	return dray_bundle_read(ctx, at, buf, len, e);
}

static int
load_index(struct dray_bundle *b, unsigned threads, struct dray_err *e)
{
	const struct dray_member *m = &b->desc->members[1];	/* the descriptor has checked that it is index/00 */
	uint8_t *dir;
	int rc;

	if (m->size > INDEX_DIR_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "index/00 has %" PRIu64 " bytes, at most %u are allowed", m->size,
		    INDEX_DIR_MAX);
	if (hashed_member(b, m, &dir, e) != 0)
		return -1;
	rc = dray_index_load(b->desc, dir, (size_t)m->size, read_for_index, b, threads == 0 ? 1 : threads, &b->ix, e);
	free(dir);
	return rc;
}

static int
open_steps(struct dray_bundle *b, const struct dray_bundle_opts *o, struct dray_err *e)
{
	if (take_json(b, e) != 0 || take_slot(b, e) != 0 || establish_trust(b, o, e) != 0)
		return -1;
	if (!b->head_only && check_length(b, b->length, e) != 0)
		return -1;
	if (dray_desc_parse(b->json, b->json_len, &b->desc, e) != 0 || check_text(b, e) != 0)
		return -1;
	if (b->head_only) {
		b->length = dray_bundle_head_len(b);
		if (check_length(b, b->length, e) != 0)
			return -1;
	}
	for (size_t i = 0; i < b->desc->n_members; i++) {
		const struct dray_member *m = &b->desc->members[i];

		if (dray_bundle_header(b, m->offset - DRAY_TAR_BLOCK, m->name, m->size, e) != 0 ||
		    dray_bundle_padding(b, m->offset + m->size, e) != 0)
			return -1;
	}
	return o->no_index ? 0 : load_index(b, o->threads, e);
}

int
dray_bundle_open(int fd, const struct dray_bundle_opts *o, struct dray_bundle **out, struct dray_err *e)
{
	struct dray_bundle *b;

	*out = NULL;
	if (o->head_only && o->expect_id == NULL)
		return dray_fail(e, DRAY_E_TRUST, "a stored head is trusted by its id only, and none was given");
	if ((b = calloc(1, sizeof *b)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	b->fd = fd;
	b->volumes = o->volumes;
	b->head_only = o->head_only;
	if (open_steps(b, o, e) != 0) {
		dray_bundle_close(b);
		return -1;
	}
	*out = b;
	return 0;
}

void
dray_bundle_close(struct dray_bundle *b)
{
	if (b == NULL)
		return;
	dray_index_free(b->ix);
	dray_desc_free(b->desc);
	free(b->slot_bytes);
	free(b->json);
	free(b);
}

int
dray_bundle_member(const struct dray_bundle *b, const char *name, size_t max, uint8_t **p, size_t *len,
    struct dray_err *e)
{
	*p = NULL;
	for (size_t i = 0; i < b->desc->n_members; i++) {
		const struct dray_member *m = &b->desc->members[i];

		if (m->by_chunks || strcmp(m->name, name) != 0)
			continue;
		if (m->size > max)
			return dray_fail(e, DRAY_E_FORMAT, "%s has %" PRIu64 " bytes, at most %zu are wanted", name, m->size, max);
		if (hashed_member(b, m, p, e) != 0)
			return -1;
		*len = (size_t)m->size;
		return 0;
	}
	return dray_fail(e, DRAY_E_FORMAT, "the bundle has no member %s", name);
}

const struct dray_desc *
dray_bundle_desc(const struct dray_bundle *b)
{
	return b->desc;
}

const struct dray_index *
dray_bundle_index(const struct dray_bundle *b)
{
	return b->ix;
}

const struct dray_verdict *
dray_bundle_verdict(const struct dray_bundle *b)
{
	return &b->verdict;
}

const struct dray_slot *
dray_bundle_slot(const struct dray_bundle *b)
{
	return &b->slot;
}

const uint8_t *
dray_bundle_id(const struct dray_bundle *b)
{
	return b->id;
}

const char *
dray_bundle_json(const struct dray_bundle *b, size_t *len)
{
	*len = b->json_len;
	return b->json;
}

uint64_t
dray_bundle_head_len(const struct dray_bundle *b)
{
	return dray_desc_head(b->desc);
}
