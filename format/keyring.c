/*
 * keyring.c - read a keyring: one JSON document, or bare public keys. Source: spec/bundle-format.md, 9 "Trust".
 *
 * A keyring decides what a machine believes, so everything odd is refused instead of guessed: a mix, a key twice, a
 * threshold nobody can reach. Files are opened once; a name is never looked at twice.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/json.h"

#include "keyring.h"

enum { MAX_PRODUCTS = 64 };

static int
add_key(struct dray_keyring *k, const struct keyring_key *key, bool allow_test_keys, struct dray_err *e)
{
	if (k->n == DRAY_KEYRING_MAX_KEYS)
		return dray_fail(e, DRAY_E_TRUST, "more than %u keys", DRAY_KEYRING_MAX_KEYS);
	for (size_t i = 0; i < k->n; i++) {
		/* a threshold counts keys, so one key under two names would count twice */
		if (memcmp(k->keys[i].pub.id, key->pub.id, sizeof key->pub.id) == 0)
			return dray_fail(e, DRAY_E_TRUST, "the same public key stands twice (%s, %s)", k->keys[i].name, key->name);
		if (k->document && strcmp(k->keys[i].name, key->name) == 0)
			return dray_fail(e, DRAY_E_TRUST, "two keys have the name %s", key->name);
	}
	if (!allow_test_keys && dray_is_test_key(key->pub.id)) {
		dray_fail(e, DRAY_E_TRUST, "the key %s is a test key: everybody has its private half", key->name);
		return dray_hint(e, "make keys of your own: dray key new NAME");
	}
	k->keys[k->n++] = *key;
	return 0;
}

static int
read_products(const struct dray_json *o, struct keyring_key *key, struct dray_err *e)
{
	const struct dray_json *a;
	size_t n, len;

	if (dray_json_arr(o, "products", &a, &n, "a key", e) != 0)
		return -1;
	if (n == 0 || n > MAX_PRODUCTS)
		return dray_fail(e, DRAY_E_TRUST, "the key %s is bound to %zu products, 1 to %d are possible", key->name, n,
		    MAX_PRODUCTS);
	if ((key->products = calloc(n, sizeof *key->products)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < n; i++) {
		const char *s = dray_json_text(dray_json_at(a, i), &len);

		if (s == NULL || !dray_token_ok(s, len))
			return dray_fail(e, DRAY_E_TRUST, "the key %s is bound to something that is no product name", key->name);
		memcpy(key->products[i], s, len + 1);
	}
	key->bound = true;
	key->n_products = n;
	return 0;
}

static int
read_key(const struct dray_json *o, struct keyring_key *key, struct dray_err *e)
{
	static const char *const keys[] = { "name", "pem", "products", "revoked", NULL };
	struct dray_pub second;
	const char *s;
	size_t len;
	int rc;

	if (!dray_json_is_obj(o))
		return dray_fail(e, DRAY_E_TRUST, "keys holds something that is no object");
	if (dray_json_only(o, keys, "a key", e) != 0 || dray_json_str(o, "name", &s, &len, "a key", e) != 0)
		return -1;
	if (!dray_token_ok(s, len))
		return dray_fail(e, DRAY_E_TRUST, "a key's name has 1 to 64 of A-Z a-z 0-9 . _ + -");
	memcpy(key->name, s, len + 1);
	if (dray_json_str(o, "pem", &s, &len, "a key", e) != 0)
		return -1;
	if ((rc = dray_pem_next(&s, &len, &key->pub, e)) < 0)
		return dray_wrap(e, "key %s", key->name);
	if (rc == 0)
		return dray_fail(e, DRAY_E_TRUST, "key %s: its pem is empty", key->name);
	if ((rc = dray_pem_next(&s, &len, &second, e)) < 0)
		return dray_wrap(e, "key %s", key->name);
	if (rc > 0)
		return dray_fail(e, DRAY_E_TRUST, "key %s: its pem holds more than one key", key->name);
	if (dray_json_has(o, "revoked")) {
		if (dray_json_str(o, "revoked", &s, &len, "a key", e) != 0)
			return -1;
		dray_quote(s, len, key->why, sizeof key->why);
		key->revoked = true;
	}
	return dray_json_has(o, "products") ? read_products(o, key, e) : 0;
}

static int
read_document(struct dray_keyring *k, const struct dray_json *o, bool allow_test_keys, struct dray_err *e)
{
	static const char *const keys[] = { "dray_keyring", "keys", "threshold", NULL };
	const struct dray_json *a;
	int64_t version, threshold;
	size_t n, usable = 0;

	if (!dray_json_is_obj(o))
		return dray_fail(e, DRAY_E_TRUST, "a keyring document is an object");
	if (dray_json_int(o, "dray_keyring", 1, INT64_MAX, &version, "keyring", e) != 0)
		return -1;
	if (version != 1)
		return dray_fail(e, DRAY_E_TRUST, "keyring version %lld is newer than this program", (long long)version);
	if (dray_json_only(o, keys, "keyring", e) != 0 ||
	    dray_json_int(o, "threshold", INT64_MIN, INT64_MAX, &threshold, "keyring", e) != 0 ||
	    dray_json_arr(o, "keys", &a, &n, "keyring", e) != 0)
		return -1;
	k->document = true;
	for (size_t i = 0; i < n; i++) {
		struct keyring_key key = { 0 };

		if (read_key(dray_json_at(a, i), &key, e) != 0 || add_key(k, &key, allow_test_keys, e) != 0) {
			free(key.products);
			return -1;
		}
		usable += !key.revoked;
	}
	if (threshold < 1)
		return dray_fail(e, DRAY_E_TRUST, "a threshold of %lld would need no signature", (long long)threshold);
	if ((uint64_t)threshold > usable)
		return dray_fail(e, DRAY_E_TRUST, "the threshold is %lld, but only %zu keys can sign", (long long)threshold,
		    usable);
	k->threshold = (unsigned)threshold;
	return 0;
}

/* PEM text; all its keys get the name of the file */
static int
read_bare(struct dray_keyring *k, const char *text, size_t len, const char *name, bool allow_test_keys,
    struct dray_err *e)
{
	const char *slash = strrchr(name, '/');
	size_t before = k->n, nlen;
	int rc;

	name = slash != NULL ? slash + 1 : name;
	nlen = strlen(name);
	if (nlen > 4 && strcmp(name + nlen - 4, ".pub") == 0)
		nlen -= 4;
	for (;;) {
		struct keyring_key key = { 0 };

		if ((rc = dray_pem_next(&text, &len, &key.pub, e)) < 0)
			return -1;
		if (rc == 0)
			break;
		dray_quote(name, nlen, key.name, sizeof key.name);
		if (add_key(k, &key, allow_test_keys, e) != 0)
			return -1;
	}
	if (k->n == before)
		return dray_fail(e, DRAY_E_TRUST, "no key in it");
	k->threshold = 1;
	return 0;
}

static int
add_text(struct dray_keyring *k, const char *text, size_t len, const char *name, bool allow_test_keys,
    struct dray_err *e)
{
	struct dray_json *o = NULL;
	size_t i = 0;
	int rc;

	while (i < len && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r'))
		i++;
	if (i == len)
		return dray_fail(e, DRAY_E_TRUST, "no key in it");
	if (text[i] != '{') {
		if (k->document)
			return dray_fail(e, DRAY_E_TRUST, "a keyring is one document or bare keys, not a mix of both");
		return read_bare(k, text, len, name, allow_test_keys, e);
	}
	if (k->document)
		return dray_fail(e, DRAY_E_TRUST, "a second keyring document; only one can say what is trusted");
	if (k->n > 0)
		return dray_fail(e, DRAY_E_TRUST, "a keyring is one document or bare keys, not a mix of both");
	rc = dray_json_parse(text, len, false, &o, e);
	if (rc == 0)
		rc = read_document(k, o, allow_test_keys, e);
	dray_json_free(o);
	if (rc != 0 && e->code == DRAY_E_FORMAT)	/* of the JSON reader: for a keyring it is a matter of trust */
		e->code = DRAY_E_TRUST;
	return rc;
}

/* a whole regular file of at most DRAY_KEYRING_MAX_BYTES through @fd */
static int
read_whole(int fd, char **out, size_t *out_len, struct dray_err *e)
{
	size_t len = 0;
	ssize_t n;
	char *p;

	*out = NULL;
	if ((p = malloc(DRAY_KEYRING_MAX_BYTES + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	while (len <= DRAY_KEYRING_MAX_BYTES) {
		n = read(fd, p + len, DRAY_KEYRING_MAX_BYTES + 1 - len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1) {
			dray_fail_errno(e, "cannot be read");
			free(p);
			return -1;
		}
		if (n == 0)
			break;
		len += (size_t)n;
	}
	if (len > DRAY_KEYRING_MAX_BYTES) {
		free(p);
		return dray_fail(e, DRAY_E_TRUST, "longer than 1 MiB");
	}
	*out = p;
	*out_len = len;
	return 0;
}

static int add_path(struct dray_keyring *k, int dir, const char *path, bool allow_test_keys, bool top,
    struct dray_err *e);

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* the *.pub files of a folder, in the order of their names; takes over @fd */
static int
add_dir(struct dray_keyring *k, int fd, bool allow_test_keys, struct dray_err *e)
{
	char *names[DRAY_KEYRING_MAX_KEYS];
	struct dirent *de;
	size_t n = 0, len;
	int rc = -1;
	DIR *d;

	if ((d = fdopendir(fd)) == NULL) {
		dray_fail_errno(e, "cannot be read");
		close(fd);
		return -1;
	}
	while (errno = 0, (de = readdir(d)) != NULL) {
		len = strlen(de->d_name);
		if (len <= 4 || strcmp(de->d_name + len - 4, ".pub") != 0)
			continue;
		if (n == DRAY_KEYRING_MAX_KEYS) {
			dray_fail(e, DRAY_E_TRUST, "more than %u keys", DRAY_KEYRING_MAX_KEYS);
			goto out;
		}
		if ((names[n] = strdup(de->d_name)) == NULL) {
			dray_fail(e, DRAY_E_IO, "out of memory");
			goto out;
		}
		n++;
	}
	if (errno != 0) {
		dray_fail_errno(e, "cannot be read");
		goto out;
	}
	if (n == 0) {
		dray_fail(e, DRAY_E_TRUST, "no file NAME.pub in this folder");
		goto out;
	}
	qsort(names, n, sizeof names[0], by_name);
	for (size_t i = 0; i < n; i++) {
		if (add_path(k, dirfd(d), names[i], allow_test_keys, false, e) != 0) {
			char q[DRAY_QUOTE_CAP(64)];

			dray_wrap(e, "%s", dray_quote(names[i], strlen(names[i]), q, sizeof q));
			goto out;
		}
	}
	rc = 0;
out:
	while (n > 0)
		free(names[--n]);
	closedir(d);
	return rc;
}

static int
add_path(struct dray_keyring *k, int dir, const char *path, bool allow_test_keys, bool top, struct dray_err *e)
{
	char *text = NULL;
	struct stat st;
	size_t len = 0;
	int fd, rc = -1;

	/* O_NONBLOCK: a fifo must be refused below, not waited for */
	if ((fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) == -1)
		return dray_fail_errno(e, "cannot be opened");
	if (fstat(fd, &st) != 0) {
		dray_fail_errno(e, "look at it");
		goto out;
	}
	if (top && S_ISDIR(st.st_mode))
		return add_dir(k, fd, allow_test_keys, e);
	if (!S_ISREG(st.st_mode)) {
		dray_fail(e, DRAY_E_TRUST, "not a regular file");
		goto out;
	}
	if (read_whole(fd, &text, &len, e) != 0)
		goto out;
	rc = add_text(k, text, len, path, allow_test_keys, e);
out:
	free(text);
	close(fd);
	return rc;
}

int
dray_keyring_load(const char *const *paths, size_t n, bool allow_test_keys, struct dray_keyring **out,
    struct dray_err *e)
{
	struct dray_keyring *k;

	*out = NULL;
	if (n == 0)
		return dray_fail(e, DRAY_E_TRUST, "no keyring");
	if ((k = calloc(1, sizeof *k)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < n; i++)
		if (add_path(k, AT_FDCWD, paths[i], allow_test_keys, true, e) != 0) {
			dray_keyring_free(k);
			return dray_wrap(e, "keyring %s", paths[i]);
		}
	*out = k;
	return 0;
}

int
dray_keyring_parse(const char *text, size_t len, const char *name, bool allow_test_keys, struct dray_keyring **out,
    struct dray_err *e)
{
	struct dray_keyring *k;

	*out = NULL;
	if (len > DRAY_KEYRING_MAX_BYTES)
		return dray_fail(e, DRAY_E_TRUST, "longer than 1 MiB");
	if ((k = calloc(1, sizeof *k)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (add_text(k, text, len, name, allow_test_keys, e) != 0) {
		dray_keyring_free(k);
		return -1;
	}
	*out = k;
	return 0;
}

void
dray_keyring_free(struct dray_keyring *k)
{
	if (k == NULL)
		return;
	for (size_t i = 0; i < k->n; i++)
		free(k->keys[i].products);
	free(k);
}

unsigned
dray_keyring_threshold(const struct dray_keyring *k)
{
	return k->threshold;
}

size_t
dray_keyring_count(const struct dray_keyring *k)
{
	return k->n;
}

bool
dray_keyring_is_document(const struct dray_keyring *k)
{
	return k->document;
}

struct dray_known_key
dray_keyring_key(const struct dray_keyring *k, size_t i)
{
	const struct keyring_key *key = &k->keys[i];

	return (struct dray_known_key){ .name = key->name, .id = key->pub.id, .revoked = key->revoked, .bound = key->bound };
}
