/*
 * sign.c - put signatures into the slot of a finished bundle. The bundle is read as any reader reads it (dray.json
 * has the hash in the text, the text tells what dray.json says), so that nobody signs a damaged head.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/sign.h"
#include "builder/temp.h"
#include "dray/bundle.h"
#include "dray/json.h"
#include "dray/num.h"
#include "dray/tar.h"
#include "dray/trust.h"

struct signing {
	struct dray_bundle *b;
	struct dray_slot slot;		/* as it shall be; signatures point into the bundle, bytes or the caller's */
	uint8_t *bytes;			/* room for new signatures and for the slot */
	size_t slot_len;
	struct build_sign_count *count;
};

static int
begin(int fd, struct signing *s, struct build_sign_count *count, struct dray_err *e)
{
	const struct dray_bundle_opts o = { .unsigned_ok = true, .no_index = true };

	memset(s, 0, sizeof *s);
	memset(count, 0, sizeof *count);
	s->count = count;
	if (dray_bundle_open(fd, &o, &s->b, e) != 0)
		return -1;
	s->slot = *dray_bundle_slot(s->b);
	s->slot_len = (size_t)dray_bundle_desc(s->b)->slot;
	if ((s->bytes = calloc(1, s->slot_len)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	return 0;
}

static void
end(struct signing *s)
{
	dray_bundle_close(s->b);
	free(s->bytes);
}

/* insert in the order of keys; an equal signature is there already, another one by the same key is replaced */
static int
insert(struct signing *s, const struct dray_sig *sig, struct dray_err *e)
{
	unsigned at = 0;

	while (at < s->slot.n && memcmp(s->slot.sigs[at].key, sig->key, 32) < 0)
		at++;
	if (at < s->slot.n && memcmp(s->slot.sigs[at].key, sig->key, 32) == 0) {
		const struct dray_sig *old = &s->slot.sigs[at];

		if (old->alg == sig->alg && old->len == sig->len && memcmp(old->sig, sig->sig, sig->len) == 0) {
			s->count->already++;
			return 0;
		}
	} else {
		if (s->slot.n == DRAY_SLOT_SIGS_MAX) {
			dray_fail(e, DRAY_E_TRUST, "the bundle has %u signatures, no more fit", s->slot.n);
			return dray_hint(e, "replace them all with 'dray resign'");
		}
		memmove(&s->slot.sigs[at + 1], &s->slot.sigs[at], (s->slot.n - at) * sizeof s->slot.sigs[0]);
		s->slot.n++;
	}
	s->slot.sigs[at] = *sig;
	s->count->added++;
	return 0;
}

/* write the slot in one go and wait until it is on the medium */
static int
put_slot(int fd, struct signing *s, struct dray_err *e)
{
	uint64_t at;
	size_t json_len;

	s->count->total = s->slot.n;
	if (dray_slot_write(&s->slot, s->bytes, s->slot_len, e) != 0)
		return -1;
	(void)dray_bundle_json(s->b, &json_len);
	if (!dray_round_up(json_len, DRAY_TAR_BLOCK, &at))
		return dray_fail(e, DRAY_E_FORMAT, "dray.json is too long");
	if (build_temp_write(fd, at + 2 * DRAY_TAR_BLOCK, s->bytes, s->slot_len, e) != 0)
		return dray_wrap(e, "signature slot");
	if (fsync(fd) != 0)
		return dray_fail_errno(e, "the bundle cannot be written");
	return 0;
}

int
build_sign_count_fd(int fd, const struct dray_key *const *keys, size_t n, bool replace, struct build_sign_count *count,
    struct dray_err *e)
{
	uint8_t (*room)[DRAY_SIG_MAX] = NULL;
	struct signing s;
	int rc = -1;

	if (begin(fd, &s, count, e) != 0)
		goto out;
	if (n > DRAY_SLOT_SIGS_MAX || (room = calloc(n + 1, sizeof *room)) == NULL) {
		dray_fail(e, DRAY_E_USAGE, "%zu keys at once", n);
		goto out;
	}
	if (replace)
		s.slot.n = 0;
	for (size_t i = 0; i < n; i++) {
		struct dray_sig sig = { .sig = room[i] };

		dray_key_id(keys[i], sig.key);
		if (dray_key_sign(keys[i], s.slot.text, s.slot.text_len, &sig.alg, room[i], &sig.len, e) != 0 ||
		    insert(&s, &sig, e) != 0)
			goto out;
	}
	s.count->total = s.slot.n;
	if (count->added > 0 || replace)
		rc = put_slot(fd, &s, e);
	else
		rc = 0;
out:
	free(room);
	end(&s);
	return rc;
}

int
build_sign_fd(int fd, const struct dray_key *const *keys, size_t n, bool replace, struct dray_err *e)
{
	struct build_sign_count count;

	return build_sign_count_fd(fd, keys, n, replace, &count, e);
}

int
build_sign_fits(const struct dray_key *const *keys, size_t n, const struct dray_signed *of, size_t slot,
    struct dray_err *e)
{
	static const uint8_t blank[64];		/* an Ed25519 signature */
	char text[DRAY_SLOT_TEXT_MAX + 1];
	struct build_sign_count count = { .added = 0 };
	struct signing s = { .slot.text = text, .slot_len = slot, .count = &count };
	int rc;

	if ((rc = dray_signed_text(of->product, of->version, of->counter, slot, of->sha256, text, &s.slot.text_len, e)) != 0)
		return rc;
	if ((s.bytes = calloc(1, slot)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct dray_sig sig = { .alg = DRAY_ALG_ED25519, .sig = blank, .len = sizeof(blank) };

		dray_key_id(keys[i], sig.key);
		rc = insert(&s, &sig, e);
	}
	if (rc == 0 && (rc = dray_slot_write(&s.slot, s.bytes, slot, e)) != 0) {
		e->code = DRAY_E_USAGE;
		e->hint[0] = '\0';
		dray_hint(e, "give more room with --slot");
	}
	free(s.bytes);
	return rc;
}

int
build_sign_text(int fd, char text[DRAY_SLOT_TEXT_MAX + 1], size_t *len, struct dray_err *e)
{
	struct build_sign_count count;
	struct signing s;
	int rc;

	if ((rc = begin(fd, &s, &count, e)) == 0) {
		memcpy(text, s.slot.text, s.slot.text_len);
		text[s.slot.text_len] = 0;
		*len = s.slot.text_len;
	}
	end(&s);
	return rc;
}

int
build_sign_detached(const char *text, size_t text_len, const struct dray_key *key, char **out, size_t *out_len,
    struct dray_err *e)
{
	uint8_t sig[DRAY_SIG_MAX], id[32], alg, spki[44];
	char hex[2 * DRAY_SIG_MAX + 1];
	struct dray_json *o;
	size_t len;
	int rc;

	*out = NULL;
	if (dray_key_sign(key, text, text_len, &alg, sig, &len, e) != 0)
		return -1;
	dray_key_id(key, id);
	dray_key_spki(key, spki);
	o = dray_json_new_obj();
	dray_json_set_int(o, "dray_signature", 1);
	dray_json_set_str(o, "key", dray_hex(spki, sizeof spki, hex));
	dray_json_set_str(o, "signature", dray_hex(sig, len, hex));
	dray_json_set_strn(o, "text", text, text_len);
	rc = dray_json_write(o, out, out_len, e);
	dray_json_free(o);
	return rc;
}

/* @sig->sig is filled into @room */
static int
read_detached(const struct dray_json *o, const struct dray_slot *slot, uint8_t room[DRAY_SIG_MAX], struct dray_sig *sig,
    struct dray_err *e)
{
	static const char *const keys[] = { "dray_signature", "key", "signature", "text", NULL };
	const char *key, *hex, *text;
	size_t key_len, hex_len, text_len;
	struct dray_signed said;
	int64_t version;

	if (!dray_json_is_obj(o))
		return dray_fail(e, DRAY_E_FORMAT, "a signature file is an object");
	if (dray_json_int(o, "dray_signature", 1, 1, &version, "signature file", e) != 0 ||
	    dray_json_only(o, keys, "signature file", e) != 0 ||
	    dray_json_str(o, "key", &key, &key_len, "signature file", e) != 0 ||
	    dray_json_str(o, "signature", &hex, &hex_len, "signature file", e) != 0 ||
	    dray_json_str(o, "text", &text, &text_len, "signature file", e) != 0)
		return -1;
	if (dray_signed_parse(text, text_len, &said, e) != 0)
		return -1;
	if (text_len != slot->text_len || memcmp(text, slot->text, text_len) != 0)
		return dray_fail(e, DRAY_E_TRUST, "the signature is for another bundle: %s %s", said.product, said.version);
	if (hex_len == 0 || hex_len % 2 != 0 || hex_len > 2 * (size_t)DRAY_SIG_MAX ||
	    !dray_unhex(hex, hex_len, room, hex_len / 2))
		return dray_fail(e, DRAY_E_FORMAT, "the signature is not in hexadecimal");
	sig->sig = room;
	sig->len = hex_len / 2;
	return dray_spki_verify(key, key_len, text, text_len, sig, e);
}

int
build_sign_add(int fd, const char *file, size_t file_len, struct build_sign_count *count, struct dray_err *e)
{
	uint8_t room[DRAY_SIG_MAX];
	struct dray_json *o = NULL;
	struct dray_sig sig = { .sig = room };
	struct signing s;
	int rc = -1;

	if (begin(fd, &s, count, e) != 0)
		goto out;
	if (dray_json_parse(file, file_len, true, &o, e) != 0 || read_detached(o, &s.slot, room, &sig, e) != 0) {
		dray_wrap(e, "signature file");
		goto out;
	}
	if (insert(&s, &sig, e) != 0)
		goto out;
	count->total = s.slot.n;
	rc = count->added > 0 ? put_slot(fd, &s, e) : 0;
out:
	dray_json_free(o);
	end(&s);
	return rc;
}
