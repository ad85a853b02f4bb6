/*
 * trust.c - do the signatures of a slot satisfy a keyring? Source: spec/bundle-format.md, 9 "Trust".
 *
 * Signatures are checked over the text as it stands in the slot; the text is taken apart only after one was good.
 */
#include <string.h>

#include "dray/num.h"

#include "keyring.h"

const char *
dray_fingerprint(const uint8_t hash[32], char out[40])
{
	char hex[33];

	dray_hex(hash, 16, hex);
	for (int i = 0; i < 8; i++) {
		memcpy(out + i * 5, hex + i * 4, 4);
		out[i * 5 + 4] = i == 7 ? 0 : ' ';
	}
	return out;
}

const char *
dray_signer_text(enum dray_signer_state s)
{
	switch (s) {
	case DRAY_SIGNER_GOOD:
		return "good";
	case DRAY_SIGNER_UNKNOWN:
		return "unknown key, not used";
	case DRAY_SIGNER_REVOKED:
		return "revoked key, not used";
	case DRAY_SIGNER_WRONG_PRODUCT:
		return "key of another product, not used";
	case DRAY_SIGNER_BAD:
		return "wrong signature";
	}
	return "?";
}

static const struct keyring_key *
find_key(const struct dray_keyring *k, const uint8_t id[32])
{
	for (size_t i = 0; i < k->n; i++)
		if (memcmp(k->keys[i].pub.id, id, 32) == 0)
			return &k->keys[i];
	return NULL;
}

static bool
fits_product(const struct keyring_key *key, const char *product)
{
	if (!key->bound)
		return true;
	for (size_t i = 0; i < key->n_products; i++)
		if (strcmp(key->products[i], product) == 0)
			return true;
	return false;
}

static int
judge(const struct keyring_key *key, const struct dray_slot *slot, const struct dray_sig *sig, struct dray_signer *out,
    struct dray_err *e)
{
	struct dray_signed text;
	bool ok = false;

	memcpy(out->key, sig->key, sizeof out->key);
	out->state = DRAY_SIGNER_UNKNOWN;
	if (key == NULL)
		return 0;
	memcpy(out->name, key->name, sizeof out->name);
	/* the key says which algorithm is used; a record that says another one is no signature by it */
	if (sig->alg == key->pub.alg &&
	    dray_pub_verify(&key->pub, slot->text, slot->text_len, sig->sig, sig->len, &ok, e) != 0)
		return -1;
	if (!ok) {
		out->state = DRAY_SIGNER_BAD;
		return 0;
	}
	if (key->revoked) {
		out->state = DRAY_SIGNER_REVOKED;
		return 0;
	}
	if (dray_signed_parse(slot->text, slot->text_len, &text, e) != 0)
		return -1;
	out->state = fits_product(key, text.product) ? DRAY_SIGNER_GOOD : DRAY_SIGNER_WRONG_PRODUCT;
	return 0;
}

static const struct dray_signer *
first_in(const struct dray_verdict *v, enum dray_signer_state s)
{
	for (unsigned i = 0; i < v->n; i++)
		if (v->signers[i].state == s)
			return &v->signers[i];
	return NULL;
}

/* why it is not enough: the most telling reason only */
static int
refuse(const struct dray_keyring *k, const struct dray_slot *slot, const struct dray_verdict *v, struct dray_err *e)
{
	const struct dray_signer *s;
	struct dray_signed text;
	char print[40];

	if (v->n == 0) {
		dray_fail(e, DRAY_E_TRUST, "the bundle is not signed");
		return dray_hint(e, "sign it where it was built: dray sign BUNDLE --key NAME.key");
	}
	if ((s = first_in(v, DRAY_SIGNER_BAD)) != NULL) {
		dray_fail(e, DRAY_E_TRUST, "the signature by %s (%s) is wrong: it or the signed text was changed", s->name,
		    dray_fingerprint(s->key, print));
		return dray_hint(e, "copy the bundle again; if that does not help, ask who made it");
	}
	if ((s = first_in(v, DRAY_SIGNER_REVOKED)) != NULL)
		return dray_fail(e, DRAY_E_TRUST, "signed by %s (%s), a key that is revoked: %s", s->name,
		    dray_fingerprint(s->key, print), find_key(k, s->key)->why);
	if ((s = first_in(v, DRAY_SIGNER_WRONG_PRODUCT)) != NULL) {
		if (dray_signed_parse(slot->text, slot->text_len, &text, e) != 0)
			return -1;
		return dray_fail(e, DRAY_E_TRUST, "signed by %s (%s), a key that does not count for the product %s", s->name,
		    dray_fingerprint(s->key, print), text.product);
	}
	if (v->good > 0) {
		dray_fail(e, DRAY_E_TRUST, "%u of %u needed signatures", v->good, v->needed);
		return dray_hint(e, "let another holder of a key in the keyring sign: dray sign BUNDLE --key NAME.key");
	}
	dray_fail(e, DRAY_E_TRUST, "no signature by a key of the keyring (first signer: %s)",
	    dray_fingerprint(v->signers[0].key, print));
	return dray_hint(e, "check that the keyring is the right one; dray key show FILE tells a key's fingerprint");
}

int
dray_trust_check(const struct dray_keyring *k, const struct dray_slot *slot, struct dray_verdict *v,
    struct dray_err *e)
{
	memset(v, 0, sizeof *v);
	v->needed = k->threshold;
	for (unsigned i = 0; i < slot->n; i++) {
		if (judge(find_key(k, slot->sigs[i].key), slot, &slot->sigs[i], &v->signers[i], e) != 0)
			return -1;
		v->n++;
		/* keys ascend strictly in the slot and stand once in the keyring: each counts once */
		v->good += v->signers[i].state == DRAY_SIGNER_GOOD;
	}
	/* a keyring without a threshold does not exist; should one ever get here it trusts nothing */
	if (v->needed > 0 && v->good >= v->needed)
		return 0;
	return refuse(k, slot, v, e);
}
