/*
 * fuzz_keyring.c - keyrings from memory, JSON or PEM: accepted ones always need at least one signature.
 */
#include <stdint.h>
#include <stdlib.h>

#include "dray/trust.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct dray_slot empty;
	static struct dray_verdict v;
	struct dray_err e = { 0 };
	struct dray_keyring *k;

	if (dray_keyring_parse((const char *)data, size, "fuzz.pub", true, &k, &e) != 0) {
		if (k != NULL || e.text[0] == 0 || (e.code != DRAY_E_TRUST && e.code != DRAY_E_IO))
			abort();
		return 0;
	}
	if (dray_keyring_threshold(k) < 1 || dray_keyring_threshold(k) > dray_keyring_count(k))
		abort();
	if (dray_trust_check(k, &empty, &v, &e) == 0)
		abort();
	dray_keyring_free(k);
	return 0;
}
