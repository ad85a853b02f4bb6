/*
 * fuzz_evidence.c - records and lists of paths, as an export brings them: a list that is read can be written again, byte
 * for byte. The first byte says which of the two the rest is.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dray/evidence.h"
#include "dray/index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
read_list(const uint8_t *p, size_t len)
{
	static struct dray_ev_writer again;
	static struct dray_ev_reader r;
	struct dray_err e = { .code = DRAY_OK };
	struct dray_ev_row row;
	int rc;

	if (dray_ev_open(&r, p, len, &e) != 0)
		return;
	while ((rc = dray_ev_next(&r, &row, &e)) == 1)
		if (dray_ev_add(&again, &row, &e) != 0)
			abort();
	if (rc == 0 && (dray_ev_end(&again, &e) != 0 || again.len != len || memcmp(again.p, p, len) != 0))
		abort();
	if (rc == -1 && e.code != DRAY_E_FORMAT)
		abort();
	dray_ev_free(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dray_err e = { .code = DRAY_OK };
	struct dray_ev_record r;

	if (size == 0)
		return 0;
	if (data[0] == 'L') {
		read_list(data + 1, size - 1);
		return 0;
	}
	if (dray_ev_parse((const char *)data + 1, size - 1, &r, &e) == 0 && (r.number == 0 || r.ended == NULL))
		abort();
	dray_ev_record_free(&r);
	return 0;
}
