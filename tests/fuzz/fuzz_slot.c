/*
 * fuzz_slot.c - the signature slot and the signed text: whatever is read can be written again, byte for byte.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dray/slot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* what is accepted is the one form of what it says */
static void
parse_text(const char *text, size_t len)
{
	char again[DRAY_SLOT_TEXT_MAX + 1];
	struct dray_err e = { 0 };
	struct dray_signed said;
	size_t again_len;

	if (dray_signed_parse(text, len, &said, &e) != 0)
		return;
	if (dray_signed_text(said.product, said.version, said.counter, said.size, said.sha256, again, &again_len, &e) != 0 ||
	    again_len != len || memcmp(again, text, len) != 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct dray_slot s;
	struct dray_err e = { 0 };
	uint8_t *again;

	parse_text((const char *)data, size);
	/* the slot's size is a matter of the header; fuzzers should not have to guess multiples of 512 */
	size_t whole = (size + 511) / 512 * 512;
	uint8_t *padded = calloc(1, whole + 1);

	if (padded == NULL)
		return 0;
	if (size > 0)
		memcpy(padded, data, size);
	if (dray_slot_parse(padded, whole, &s, &e) == 0) {
		if ((again = malloc(whole + 1)) == NULL)
			abort();
		if (dray_slot_write(&s, again, whole, &e) != 0 || memcmp(again, padded, whole) != 0)
			abort();
		free(again);
		parse_text(s.text, s.text_len);
	} else if (e.code != DRAY_E_TRUST || e.text[0] == 0) {
		abort();	/* a refusal has a reason and the slot's own code */
	}
	free(padded);
	return 0;
}
