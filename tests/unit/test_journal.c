/* test_journal.c - log records, the plan file, torn and altered ones */
#include <sys/stat.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "dray/digest.h"

#include "installer/journal.h"

#include "test.h"

static char root[] = "/tmp/dray-journal-XXXXXX";
static struct dray_err e;
static struct inst_op ops[3];
static struct inst_op_trees trees;
static struct inst_op_attrs attrs;
static char here[] = "";
static struct inst_site site = { .path = here, .fs = { .block = 4096 }, .names_added = 1 };
static struct inst_plan plan = { .ops = ops, .n_ops = 3, .n_swaps = 2, .sites = &site, .n_sites = 1, .id = { 3 },
	.policy_id = { [31] = 4 } };
static struct inst_installed from, to = { .known = true, .product = "demo", .version = "2", .counter = 2,
	.n_components = 2, .components = { { "src", false }, { "base", true } } };

static void
fill_plan(void)
{
	static uint8_t xattr[] = { 6, 0, 1, 0, 0, 0, 'u', 's', 'e', 'r', '.', 'a', 'v' };

	ops[0] = (struct inst_op){ .kind = INST_OP_SWAP, .step = 1, .rank = INST_RANK_ADD, .slot = 0, .path = "a\nb", .len = 3,
		.entry = 7, .now = { .type = DRAY_FILE, .ino = 5, .size = 9, .mtime_sec = -1, .mtime_nsec = 999999999 } };
	ops[1] = (struct inst_op){ .kind = INST_OP_SWAP, .step = 2, .rank = INST_RANK_REMOVE, .slot = 1, .flags = INST_OP_SUBTREE,
		.path = "d", .len = 1, .entry = 8, .old = { .type = DRAY_DIR, .ino = 6, .btime_sec = 4 } };
	trees.old[0] = 0xab;
	ops[1].trees = &trees;
	ops[2] = (struct inst_op){ .kind = INST_OP_META, .step = 1, .times = 3, .rank = INST_RANK_META, .slot = DRAY_NONE,
		.path = "", .len = 0, .entry = DRAY_NONE, .old = { .type = DRAY_DIR, .ino = 2 }, .attrs = &attrs };
	attrs.nlink = 7;
	attrs.before = (struct inst_meta){ .has = DRAY_HAS_MTIME, .mtime_sec = 1 };
	attrs.after = (struct inst_meta){ .has = DRAY_HAS_XATTRS, .n_xattrs = 1, .xattrs = xattr, .xattrs_len = sizeof(xattr) };
}

static struct inst_tx *
new_tx(struct inst_state *s)
{
	struct inst_tx *tx = NULL;

	CHECK_EQ(inst_state_open(root, NULL, true, s, &e), 0);
	CHECK_EQ(inst_tx_create(s, &plan, &tx, &e), 0);
	CHECK_EQ(inst_tx_write_plan(tx, &plan, &from, &to, &e), 0);
	CHECK_EQ(inst_tx_take_plan(tx, &e), 0);
	return tx;
}

static void
the_last_whole_record_is_the_state(void)
{
	struct inst_state s;
	struct inst_tx *tx = new_tx(&s), *again = NULL;
	uint32_t number = tx->number;

	CHECK_EQ(inst_tx_record(tx, INST_TX_COMMIT, 0, &e), 0);
	CHECK_EQ(inst_tx_record(tx, INST_TX_DONE, 5, &e), 0);
	inst_tx_close(tx);
	CHECK_EQ(inst_tx_open(&s, number, false, &again, &e), 0);
	CHECK_EQ(again->state, INST_TX_DONE);
	CHECK_EQ(again->arg, 5);
	CHECK_EQ(again->seq, 2);
	inst_tx_close(again);
	inst_state_close(&s);
}

static void
steps_are_told_by_the_records(void)
{
	struct inst_state s;
	struct inst_tx *tx = new_tx(&s), *again = NULL;
	uint32_t number = tx->number;

	CHECK_EQ(inst_tx_record(tx, INST_TX_COMMIT, 1 << INST_ARG_STEP_SHIFT | INST_COMMIT_UNSYNCED, &e), 0);
	CHECK(tx->unsynced && !inst_tx_between(tx));
	CHECK_EQ(inst_tx_record(tx, INST_TX_DONE, 1 << INST_ARG_STEP_SHIFT, &e), 0);
	CHECK(inst_tx_between(tx));
	CHECK_EQ(inst_tx_record(tx, INST_TX_COMMIT, 0, &e), 0);
	CHECK(!inst_tx_between(tx) && !tx->unsynced);
	inst_tx_close(tx);
	CHECK_EQ(inst_tx_open(&s, number, true, &again, &e), 0);
	CHECK_EQ(again->state, INST_TX_COMMIT);
	CHECK_EQ(again->done, 1);
	CHECK_EQ(again->goal, INST_STEP_ALL);
	/* only the second step goes back: between them again */
	CHECK_EQ(inst_tx_record(again, INST_TX_UNDO, 2 << INST_ARG_STEP_SHIFT, &e), 0);
	CHECK(again->undo_step);
	CHECK_EQ(inst_tx_record(again, INST_TX_DONE, 1 << INST_ARG_STEP_SHIFT, &e), 0);
	CHECK(inst_tx_between(again) && !again->undo_step);
	/* all of it goes back */
	CHECK_EQ(inst_tx_record(again, INST_TX_UNDO, 0, &e), 0);
	CHECK(!again->undo_step && !inst_tx_between(again));
	CHECK_EQ(again->done, 1);
	inst_tx_close(again);
	inst_state_close(&s);
}

static void
a_full_log_takes_no_decision_but_the_way_back(void)
{
	struct inst_state s;
	struct inst_tx *tx = new_tx(&s);

	tx->seq = 1008;
	CHECK_EQ(inst_tx_record(tx, INST_TX_COMMIT, 0, &e), -1);
	CHECK_EQ(e.code, DRAY_E_SYSTEM);
	CHECK_STR(e.text, "its log is full: a phase was tried again and again");
	CHECK_EQ(inst_tx_record(tx, INST_TX_UNDO, 0, &e), 0);
	tx->seq = 1007;
	CHECK_EQ(inst_tx_record(tx, INST_TX_COMMIT, 0, &e), 0);
	inst_tx_close(tx);
	inst_state_close(&s);
}

static void
the_plan_comes_back_as_it_was_written(void)
{
	struct inst_state s;
	struct inst_tx *tx = new_tx(&s);

	CHECK_EQ(tx->n_ops, 3);
	CHECK_EQ(tx->n_swaps, 2);
	CHECK_EQ(tx->ops[0].len, 3);
	CHECK(memcmp(tx->ops[0].path, "a\nb", 3) == 0);
	CHECK(inst_ident_same(&tx->ops[0].now, &ops[0].now));
	CHECK_EQ(tx->ops[0].now.mtime_sec, -1);
	CHECK_EQ(tx->ops[1].trees->old[0], 0xab);
	CHECK_EQ(tx->ops[2].len, 0);
	CHECK_EQ(tx->ops[2].step, 1);
	CHECK_EQ(tx->ops[2].times, 3);
	CHECK_EQ(tx->ops[2].attrs->nlink, 7);
	CHECK_EQ(tx->last, 2);
	CHECK_EQ(tx->plan_id[0], 3);
	CHECK_EQ(tx->policy_id[31], 4);
	CHECK_EQ(tx->to.n_components, 2);
	CHECK_STR(tx->to.components[0].name, "src");
	CHECK(!tx->to.components[0].present);
	CHECK_STR(tx->to.components[1].name, "base");
	CHECK(tx->to.components[1].present);
	CHECK_EQ(tx->from.n_components, 0);
	CHECK_EQ(tx->ops[2].attrs->before.mtime_sec, 1);
	CHECK_EQ(tx->ops[2].attrs->after.xattrs_len, 13);
	CHECK(!tx->from.known);
	CHECK_STR(tx->to.product, "demo");
	CHECK_EQ(tx->to.counter, 2);
	inst_tx_close(tx);
	inst_state_close(&s);
}

static void
a_record_torn_at_any_byte_does_not_count_and_is_written_over(void)
{
	struct inst_state s;
	struct inst_tx *tx, *again;
	uint32_t number;
	int keep;

	for (keep = 0; keep < 64; keep += 7) {
		tx = new_tx(&s);
		number = tx->number;
		CHECK_EQ(inst_tx_record(tx, INST_TX_COMMIT, 0, &e), 0);
		CHECK_EQ(inst_tx_record(tx, INST_TX_DONE, 0, &e), 0);
		CHECK_EQ(ftruncate(tx->log, 64 + keep), 0);
		inst_tx_close(tx);
		again = NULL;
		CHECK_EQ(inst_tx_open(&s, number, true, &again, &e), 0);
		CHECK_EQ(again->state, INST_TX_COMMIT);
		CHECK_EQ(inst_tx_record(again, INST_TX_UNDO, 0, &e), 0);
		inst_tx_close(again);
		CHECK_EQ(inst_tx_open(&s, number, false, &again, &e), 0);
		CHECK_EQ(again->state, INST_TX_UNDO);
		inst_tx_close(again);
		inst_state_close(&s);
	}
}

static void
a_flipped_bit_anywhere_in_a_record_makes_it_not_count(void)
{
	struct inst_state s;
	struct inst_tx *tx = new_tx(&s), *again;
	uint32_t number = tx->number;
	uint8_t b;
	int bit;

	CHECK_EQ(inst_tx_record(tx, INST_TX_COMMIT, 0, &e), 0);
	for (bit = 0; bit < 64 * 8; bit++) {
		CHECK_EQ(pread(tx->log, &b, 1, bit / 8), 1);
		b = (uint8_t)(b ^ 1u << bit % 8);
		CHECK_EQ(pwrite(tx->log, &b, 1, bit / 8), 1);
		again = NULL;
		CHECK_EQ(inst_tx_open(&s, number, false, &again, &e), 0);
		CHECK_EQ(again->state, INST_TX_OPEN);
		inst_tx_close(again);
		b = (uint8_t)(b ^ 1u << bit % 8);
		CHECK_EQ(pwrite(tx->log, &b, 1, bit / 8), 1);
	}
	inst_tx_close(tx);
	inst_state_close(&s);
}

static void
an_altered_plan_is_refused(void)
{
	struct inst_state s;
	struct inst_tx *tx = new_tx(&s), *again = NULL;
	uint32_t number = tx->number;
	int fd = openat(tx->dir, "plan", O_RDWR);

	CHECK_EQ(inst_tx_record(tx, INST_TX_COMMIT, 0, &e), 0);
	CHECK_EQ(pwrite(fd, "x", 1, 200), 1);
	close(fd);
	inst_tx_close(tx);
	CHECK_EQ(inst_tx_open(&s, number, false, &again, &e), -1);
	CHECK_EQ(e.code, DRAY_E_SYSTEM);
	CHECK_HAS(e.text, "not the one that was decided on");
	CHECK_HAS(e.hint, "may be half switched");
	CHECK(again == NULL);
	CHECK_EQ(inst_tx_drop(&s, number, &e), 0);
	inst_state_close(&s);
}

static void
a_plan_cut_at_any_byte_is_refused(void)
{
	struct inst_slots own = { .dir = -1 };
	const struct inst_tx for_sites = { .slots = &own, .n_slots = 1 };
	uint8_t *bytes = NULL, *copy;
	struct inst_tx *tx;
	size_t len, cut;

	CHECK_EQ(inst_plan_encode(&plan, &for_sites, &from, &to, &bytes, &len, &e), 0);
	for (cut = 0; cut < len; cut++) {
		tx = calloc(1, sizeof(*tx));
		copy = malloc(cut + 1);
		CHECK(tx != NULL && copy != NULL);
		memcpy(copy, bytes, cut);
		tx->dir = tx->log = -1;
		tx->arena = copy;
		tx->slots = calloc(1, sizeof(*tx->slots));
		tx->n_slots = 1;
		CHECK_EQ(inst_plan_decode(tx, cut, &e), -1);
		CHECK_HAS(e.text, "the plan");
		inst_tx_close(tx);
	}
	free(bytes);
}

static void
dropping_leaves_nothing_and_numbers_grow(void)
{
	struct inst_state s;
	struct inst_tx *tx;
	static struct inst_op many[3000];
	const struct inst_plan large = { .ops = many, .n_ops = 3000, .n_swaps = 3000, .sites = &site, .n_sites = 1 };
	uint32_t *list, first;
	size_t n, i;

	CHECK_EQ(inst_state_open(root, NULL, true, &s, &e), 0);
	CHECK_EQ(inst_tx_list(&s, &list, &n, &e), 0);
	for (i = 0; i < n; i++)
		CHECK_EQ(inst_tx_drop(&s, list[i], &e), 0);
	free(list);
	for (i = 0; i < 3000; i++)
		many[i] = (struct inst_op){ .kind = INST_OP_SWAP, .slot = (uint32_t)i };
	CHECK_EQ(inst_tx_create(&s, &large, &tx, &e), 0);
	first = tx->number;
	CHECK_EQ(faccessat(tx->dir, "02", F_OK, 0), 0);	/* 3,000 slots: folders 00, 01, 02 */
	CHECK(faccessat(tx->dir, "03", F_OK, 0) == -1);
	inst_tx_close(tx);
	CHECK_EQ(inst_tx_create(&s, &plan, &tx, &e), 0);
	CHECK_EQ(tx->number, first + 1);
	inst_tx_close(tx);
	CHECK_EQ(inst_tx_drop(&s, first, &e), 0);
	CHECK_EQ(inst_tx_drop(&s, first + 1, &e), 0);
	CHECK_EQ(inst_tx_list(&s, &list, &n, &e), 0);
	CHECK_EQ(n, 0);
	free(list);
	inst_state_close(&s);
}

int
main(void)
{
	if (mkdtemp(root) == NULL || dray_crypto_init(&e) != 0)
		return 1;
	fill_plan();
	RUN(the_last_whole_record_is_the_state);
	RUN(steps_are_told_by_the_records);
	RUN(a_full_log_takes_no_decision_but_the_way_back);
	RUN(the_plan_comes_back_as_it_was_written);
	RUN(a_record_torn_at_any_byte_does_not_count_and_is_written_over);
	RUN(a_flipped_bit_anywhere_in_a_record_makes_it_not_count);
	RUN(an_altered_plan_is_refused);
	RUN(a_plan_cut_at_any_byte_is_refused);
	RUN(dropping_leaves_nothing_and_numbers_grow);
	if (inst_rmtree(AT_FDCWD, root, &e) != 0)
		printf("# %s\n", e.text);
	return test_done();
}
