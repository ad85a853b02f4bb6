/*
 * fuzz_container.c - a whole bundle from hostile bytes. Two ways in: as it is, trusted by nobody (what a stranger's
 * stick can do), and with its own dray.json declared trusted (what a stolen key can do: all later parsers are reached).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dray/bundle.h"
#include "dray/digest.h"
#include "dray/frame.h"
#include "dray/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int fd = -1;
static struct dray_keyring *ring;
static struct dray_sha256 *hash;

static void
begin(void)
{
	/* tests/data/keys/test-a.pub, which signed none of the inputs */
	static const char pem[] = "-----BEGIN PUBLIC KEY-----\n"
	    "MCowBQYDK2VwAyEAc6ZVxxIewLXYu1B42m/8v44lP63yTaed1Plc5UioBqE=\n-----END PUBLIC KEY-----\n";
	struct dray_err e = { 0 };

	if (fd != -1)
		return;
	if (dray_keyring_parse(pem, sizeof pem - 1, "a.pub", true, &ring, &e) != 0 || dray_sha256_new(&hash, &e) != 0 ||
	    (fd = memfd_create("fuzz", MFD_CLOEXEC)) == -1)
		abort();
}

/* make the H of the signed text right, so that a fuzzer gets past it */
static void
mend(uint8_t *p, size_t size)
{
	static const char hex[] = "0123456789abcdef";
	struct dray_err e = { 0 };
	uint8_t h[32], *at;
	size_t len = 0;

	if (size < 1024)
		return;
	for (int i = 124; i < 135; i++)
		len = len << 3 | (p[i] & 7u);
	if (len > size - 512 || dray_sha256_once(hash, p + 512, len, h, &e) != 0)
		return;
	at = memmem(p + 512 + len, size - 512 - len, "\nsha256=", 8);
	if (at == NULL || size - (size_t)(at - p) < 8 + 64)
		return;
	for (int i = 0; i < 32; i++) {
		at[8 + 2 * i] = (uint8_t)hex[h[i] >> 4];
		at[9 + 2 * i] = (uint8_t)hex[h[i] & 15];
	}
}

static void
open_and_check(const struct dray_bundle_opts *o)
{
	const struct dray_check_opts c = { .threads = 1, .deep = true };
	struct dray_err e = { 0 };
	struct dray_bundle *b;

	if (dray_bundle_open(fd, o, &b, &e) != 0) {
		if (b != NULL || e.text[0] == 0 || e.code == DRAY_OK)
			abort();
		return;
	}
	if (dray_bundle_check(b, &c, &e) != 0 && e.text[0] == 0)
		abort();
	dray_bundle_close(b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t parses, decodes;
	uint8_t *p;

	begin();
	if ((p = malloc(size + 1)) == NULL)
		return 0;
	if (size > 0)
		memcpy(p, data, size);
	if (ftruncate(fd, 0) != 0 || pwrite(fd, p, size, 0) != (ssize_t)size)
		abort();
	parses = dray_json_count_parses();
	decodes = dray_decode_count();
	open_and_check(&(struct dray_bundle_opts){ .keyring = ring });
	if (parses != dray_json_count_parses() || decodes != dray_decode_count())
		abort();	/* nobody signed this and something read it */
	mend(p, size);
	if (pwrite(fd, p, size, 0) != (ssize_t)size)
		abort();
	open_and_check(&(struct dray_bundle_opts){ .unsigned_ok = true });
	free(p);
	return 0;
}
