/*
 * fuzz_journal.c - the folder of a transaction, as a damaged disk or a hand left it. Input: 2 bytes length of the log, 2 of the
 * list of file systems, these two, and the plan. An odd first byte of the log's length has the sums put right, so that what is
 * behind them is reached; such records count in the order in which they stand.
 */
#include <sys/stat.h>

#include "dray/digest.h"
#include "dray/num.h"

#include "installer/journal.h"

#include "folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORD = 64, MOST = 8192 };

static void
put_right(uint8_t *log, size_t len, const uint8_t *plan, size_t plan_len)
{
	uint8_t sum[DRAY_SHA256_LEN], of_plan[DRAY_SHA256_LEN];
	struct dray_err e = { .code = DRAY_OK };

	if (dray_sha256_bytes(plan, plan_len, of_plan, &e) != 0)
		abort();
	for (size_t at = 0; len - at >= RECORD; at += RECORD) {
		memcpy(log + at, "DLOG", 4);
		dray_put_u32(log + at + 4, (uint32_t)(at / RECORD + 1));
		log[at + 9] = log[at + 10] = log[at + 11] = 0;
		memcpy(log + at + 16, of_plan, 32);
		if (dray_sha256_bytes(log + at, 48, sum, &e) != 0)
			abort();
		memcpy(log + at + 48, sum, 16);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inst_state s = { .lock = -1, .rel = "var/lib/dray", .is_default = true, .root_path = "/" };
	struct dray_err e = { .code = DRAY_OK };
	static uint8_t log[MOST];
	struct inst_tx *tx;
	size_t log_len, sites_len;

	if (size < 4 || size > MOST)
		return 0;
	if (faccessat(fuzz_folder(), "tx", F_OK, 0) != 0 && (mkdirat(fuzz_folder(), "tx", 0700) != 0 ||
	    mkdirat(fuzz_folder(), "tx/000001", 0700) != 0))
		abort();
	log_len = dray_get_u16(data) >> 1;
	sites_len = dray_get_u16(data + 2);
	size -= 4;
	log_len = log_len < size ? log_len : size;
	sites_len = sites_len < size - log_len ? sites_len : size - log_len;
	memcpy(log, data + 4, log_len);
	if ((data[0] & 1) != 0)
		put_right(log, log_len, data + 4 + log_len + sites_len, size - log_len - sites_len);
	fuzz_put("tx/000001/log", log, log_len);
	fuzz_put("tx/000001/sites", data + 4 + log_len, sites_len);
	fuzz_put("tx/000001/plan", data + 4 + log_len + sites_len, size - log_len - sites_len);
	s.root = s.dir = fuzz_folder();
	if (inst_tx_open(&s, 1, false, &tx, &e) != 0) {
		if (tx != NULL || e.text[0] == '\0' || e.code == DRAY_OK)
			abort();
		return 0;
	}
	if (tx->n_swaps > tx->n_ops || tx->state > INST_TX_FORGET || tx->seq > log_len / RECORD || tx->n_slots == 0)
		abort();
	for (size_t i = 0; tx->has_plan && i < tx->n_ops; i++)
		if (tx->ops[i].site >= tx->n_slots)
			abort();
	inst_tx_close(tx);
	return 0;
}
