/*
 * fbsd_proof.c - from a keyprint to the list of a release, all of it out of a bundle's attachments. Nothing is unpacked or
 * parsed before its hash or signature was checked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/digest.h"
#include "dray/fbsd_proof.h"
#include "dray/frame.h"

struct notes {
	uint8_t *key, *sig, *tindex, *packed;
	size_t key_len, sig_len, tindex_len, packed_len;
};

static void
notes_free(struct notes *n)
{
	free(n->key);
	free(n->sig);
	free(n->tindex);
	free(n->packed);
}

static int
take(const struct dray_bundle *b, const char *name, size_t max, uint8_t **p, size_t *len, struct dray_err *e)
{
	const struct dray_desc *d = dray_bundle_desc(b);
	char member[120];
	size_t i = 0;

	snprintf(member, sizeof(member), "notes/%s", name);
	while (i < d->n_members && strcmp(d->members[i].name, member) != 0)
		i++;
	if (i < d->n_members)
		return dray_bundle_member(b, member, max, p, len, e);
	dray_fail(e, DRAY_E_TRUST, "nothing of upstream can be proven: it has no %s", member);
	return dray_hint(e, "it was built without --with-upstream; its signers are all there is to trust");
}

/* wrong by the measure of upstream, whatever it was by its own */
static int
untrusted(struct dray_err *e, const char *name)
{
	if (e->code != DRAY_E_IO)
		e->code = DRAY_E_TRUST;
	return dray_wrap(e, "notes/%s", name);
}

static int
check_hash(const void *p, size_t len, const uint8_t wanted[32], const char *name, const char *by, struct dray_err *e)
{
	uint8_t got[32];

	if (dray_sha256_bytes(p, len, got, e) != 0)
		return -1;
	if (memcmp(got, wanted, 32) == 0)
		return 0;
	return dray_fail(e, DRAY_E_TRUST, "notes/%s is not what %s names: its SHA-256 is another", name, by);
}

/* key, tag, index: each by the one before; @sum: of the list */
static int
walk_chain(const struct notes *n, const uint8_t keyprint[32], struct dray_fbsd_tag *tag, uint8_t sum[32], struct dray_err *e)
{
	char text[DRAY_FBSD_SIG_MAX];
	size_t len;

	if (dray_fbsd_recover(n->key, n->key_len, keyprint, n->sig, n->sig_len, text, sizeof(text), &len, e) != 0 ||
	    dray_fbsd_tag_parse(text, len, NULL, NULL, tag, e) != 0)
		return untrusted(e, DRAY_UPSTREAM_TAG);
	if (check_hash(n->tindex, n->tindex_len, tag->tindex, DRAY_UPSTREAM_TINDEX, "the signed tag", e) != 0)
		return -1;
	if (dray_fbsd_tindex_find((const char *)n->tindex, n->tindex_len, "INDEX-ALL", sum, e) != 0)
		return untrusted(e, DRAY_UPSTREAM_TINDEX);
	return 0;
}

/* the packed form has only the bundle's hash, so it goes through the strict decoder, and the text is hashed */
static int
unpack(const struct notes *n, const uint8_t sum[32], uint8_t **text, size_t *len, struct dray_err *e)
{
	struct dray_decoder *d = NULL;
	uint8_t *p = NULL;
	int rc = -1;

	if (dray_decode_size(n->packed, n->packed_len, DRAY_UPSTREAM_LIST_MAX, len, e) != 0 || dray_decoder_new(&d, e) != 0)
		goto out;
	if ((p = malloc(*len + 1)) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	if (dray_decode(d, n->packed, n->packed_len, p, *len, DRAY_WINDOW_MAX, e) != 0)
		goto out;
	rc = check_hash(p, *len, sum, DRAY_UPSTREAM_LIST, "notes/" DRAY_UPSTREAM_TINDEX, e);
	dray_decoder_free(d);
	*text = p;
	return rc;
out:
	dray_decoder_free(d);
	free(p);
	return untrusted(e, DRAY_UPSTREAM_LIST);
}

static int
prove(const struct dray_bundle *b, const uint8_t keyprint[32], struct notes *n, struct dray_fbsd_proof *p,
    struct dray_err *e)
{
	struct dray_fbsd_list list = { .file = "INDEX-ALL", .of = p->of, .tree = true };
	size_t left_len = 0;
	uint8_t sum[32];

	if (take(b, DRAY_UPSTREAM_KEY, DRAY_FBSD_KEY_MAX, &n->key, &n->key_len, e) != 0 ||
	    take(b, DRAY_UPSTREAM_TAG, DRAY_FBSD_SIG_MAX, &n->sig, &n->sig_len, e) != 0 ||
	    take(b, DRAY_UPSTREAM_TINDEX, DRAY_FBSD_TINDEX_MAX, &n->tindex, &n->tindex_len, e) != 0 ||
	    take(b, DRAY_UPSTREAM_LIST, DRAY_UPSTREAM_NOTE_MAX, &n->packed, &n->packed_len, e) != 0 ||
	    take(b, DRAY_UPSTREAM_LEFT_OUT, DRAY_UPSTREAM_NOTE_MAX, &p->left_out, &left_len, e) != 0 ||
	    walk_chain(n, keyprint, &p->tag, sum, e) != 0 || unpack(n, sum, &p->list, &list.len, e) != 0)
		return -1;
	snprintf(p->of, sizeof(p->of), "%s/%s", p->tag.release, p->tag.arch);
	list.p = (const char *)p->list;
	if (dray_fbsd_compare(dray_bundle_desc(b), dray_bundle_index(b), &list, (const char *)p->left_out, left_len, p, e) == 0)
		return 0;
	if (e->code != DRAY_E_IO)
		e->code = DRAY_E_TRUST;
	return -1;
}

int
dray_fbsd_prove(const struct dray_bundle *b, const uint8_t keyprint[32], struct dray_fbsd_proof **out, struct dray_err *e)
{
	struct dray_fbsd_proof *p = calloc(1, sizeof(*p));
	struct notes n = { .key = NULL };
	int rc;

	*out = NULL;
	if (p == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	rc = prove(b, keyprint, &n, p, e);
	notes_free(&n);
	if (rc != 0)
		dray_fbsd_proof_free(p);
	else
		*out = p;
	return rc;
}

void
dray_fbsd_proof_free(struct dray_fbsd_proof *p)
{
	if (p == NULL)
		return;
	free(p->left);
	free(p->list);
	free(p->left_out);
	free(p);
}
