/*
 * fuzz_plan_file.c - the plan of a transaction, as a state folder holds it: its hash is checked before, but a disk may have
 * given it back as it liked when it was hashed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "installer/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inst_tx *tx = calloc(1, sizeof *tx);
	struct dray_err e = { .code = DRAY_OK };

	if (tx == NULL || (tx->arena = malloc(size + 1)) == NULL)
		abort();
	tx->dir = tx->log = -1;
	if (size > 0)
		memcpy(tx->arena, data, size);
	if (inst_plan_decode(tx, size, &e) != 0) {
		if (e.text[0] == '\0')
			abort();
	} else {
		for (size_t i = 0; i < tx->n_ops; i++)
			if ((const uint8_t *)tx->ops[i].path < tx->arena || tx->ops[i].len > size)
				abort();
	}
	inst_tx_close(tx);
	return 0;
}
