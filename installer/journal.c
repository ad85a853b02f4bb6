/*
 * journal.c - transaction folders and their logs.
 *
 * A log record, 64 bytes (spec/apply.md, "Log"):
 *    0 4 magic "DLOG"   4 4 sequence from 1   8 4 state   12 4 argument   16 32 SHA-256 of the plan file
 *   48 16 first half of the SHA-256 of bytes 0..47
 * Reading stops at the first record that is short, does not sum up or is out of sequence: a torn one never counted.
 */
#include <sys/stat.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/num.h"

#include "installer/journal.h"
#include "installer/swap.h"
#include "installer/work.h"

/* END_RECORDS: kept for the way back and what follows, however often a phase was tried */
enum { RECORD = 64, MAX_RECORDS = 1024, END_RECORDS = 16, LAST = 3 };
#define RESERVE (32 * 1024)	/* of the ballast, kept for a rollback on a full disk: mark, anchor, trash */
#define PLAN_MAX ((size_t)2 << 30)

const char *
inst_tx_slot(uint32_t slot, char out[24])
{
	snprintf(out, 24, "%02x/%u", (unsigned)(slot / INST_SLOT_RUN % INST_SLOT_FOLDERS), (unsigned)slot);
	return out;
}

static const char *
tx_name(uint32_t number, char out[32])
{
	snprintf(out, 32, "tx/%06u", (unsigned)number);
	return out;
}

static int
by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

int
inst_tx_list(const struct inst_state *s, uint32_t **numbers, size_t *n, struct dray_err *e)
{
	uint32_t *list = NULL, *grown;
	size_t count = 0, cap = 0;
	struct dirent *de;
	DIR *d = NULL;
	uint64_t v;
	int fd, rc = -1;

	*numbers = NULL;
	*n = 0;
	if (s->dir == -1)
		return 0;
	fd = openat(s->dir, "tx", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return errno == ENOENT ? 0 : dray_fail_errno(e, "open %s/tx", s->rel);
	if ((d = fdopendir(fd)) == NULL) {
		dray_fail_errno(e, "list %s/tx", s->rel);
		close(fd);
		return -1;
	}
	for (errno = 0; (de = readdir(d)) != NULL; errno = 0) {
		const char *p = de->d_name;

		if (p[0] == '.')
			continue;
		while (*p == '0' && p[1] != '\0')
			p++;
		if (!dray_parse_u64(p, 1, UINT32_MAX - 1, &v)) {
			dray_fail(e, DRAY_E_SYSTEM, "%s/tx holds something that is not a transaction", s->rel);
			dray_hint(e, "look into it and move the foreign thing away");
			goto out;
		}
		if (count == cap) {
			cap = cap == 0 ? 8 : cap * 2;
			if ((grown = realloc(list, cap * sizeof(*list))) == NULL) {
				dray_fail_errno(e, "list of transactions");
				goto out;
			}
			list = grown;
		}
		list[count++] = (uint32_t)v;
	}
	if (errno != 0) {
		dray_fail_errno(e, "list %s/tx", s->rel);
		goto out;
	}
	if (count > 0)
		qsort(list, count, sizeof(*list), by_number);
	*numbers = list;
	*n = count;
	list = NULL;
	rc = 0;
out:
	free(list);
	closedir(d);
	return rc;
}

void
inst_tx_shrink_ballast(struct inst_tx *tx)
{
	for (size_t i = 0; i < tx->n_slots; i++) {
		int fd = openat(tx->slots[i].dir, INST_BALLAST_FILE, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);

		/* absent: it was given back before. What stays is a help for rollback, not a promise */
		if (fd == -1)
			continue;
		(void)!ftruncate(fd, RESERVE);
		close(fd);
	}
}

bool
inst_tx_made_room(struct inst_tx *tx, struct dray_err *e)
{
	bool made = false;

	if (e->code != DRAY_E_ROOM)
		return false;
	/* which file system is full is not known here; each has its own */
	for (size_t i = 0; i < tx->n_slots; i++)
		made |= unlinkat(tx->slots[i].dir, INST_BALLAST_FILE, 0) == 0;
	/* the manifest serves an interrupted staging only */
	if (!made)
		made = unlinkat(tx->dir, "manifest", 0) == 0;
	if (made)
		dray_err_clear(e);
	return made;
}

int
inst_tx_create(const struct inst_state *s, const struct inst_plan *p, struct inst_tx **out, struct dray_err *e)
{
	struct inst_tx *tx = NULL;
	uint32_t *list = NULL;
	char name[32];
	size_t n;
	int rc = -1;

	*out = NULL;
	if (inst_tx_list(s, &list, &n, e) != 0)
		return -1;
	if ((tx = calloc(1, sizeof(*tx))) == NULL) {
		dray_fail_errno(e, "transaction");
		goto out;
	}
	tx->dir = tx->log = -1;
	tx->number = n == 0 ? 1 : list[n - 1] + 1;
	tx_name(tx->number, name);
	if (mkdirat(s->dir, "tx", 0700) == -1 && errno != EEXIST) {
		dray_fail_errno(e, "create %s/tx", s->rel);
		goto out;
	}
	if (mkdirat(s->dir, name, 0700) == -1) {
		dray_fail_errno(e, "create %s/%s", s->rel, name);
		goto out;
	}
	tx->dir = openat(s->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (tx->dir == -1) {
		dray_fail_errno(e, "open %s/%s", s->rel, name);
		goto out;
	}
	tx->log = openat(tx->dir, "log", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (tx->log == -1) {
		dray_fail_errno(e, "create the log");
		goto out;
	}
	if (inst_slots_make(s, tx, p, e) != 0)
		goto out;
	*out = tx;
	tx = NULL;
	rc = 0;
out:
	free(list);
	if (rc != 0 && tx != NULL && tx->dir != -1) {
		struct dray_err ignored = { 0 };	/* the first failure is the one to tell; resume drops the rest */

		(void)!inst_tx_drop(s, tx->number, &ignored);
	}
	inst_tx_close(tx);
	return rc == 0 ? 0 : dray_wrap(e, "staging folder in %s", s->rel);
}

void
inst_tx_close(struct inst_tx *tx)
{
	if (tx == NULL)
		return;
	inst_ops_free(tx->ops, tx->n_ops);
	free(tx->along);
	free(tx->outputs);
	free(tx->phases);
	free(tx->arena);
	inst_slots_close(tx);
	if (tx->log != -1)
		close(tx->log);
	if (tx->dir != -1)
		close(tx->dir);
	free(tx);
}

static void
note_record(struct inst_tx *tx, enum inst_tx_state state, uint32_t arg)
{
	uint8_t step = arg >> INST_ARG_STEP_SHIFT & 0xff;

	tx->seq++;
	tx->state = state;
	tx->arg = arg;
	if (state == INST_TX_COMMIT)
		tx->unsynced = (arg & INST_COMMIT_UNSYNCED) != 0;
	if (state == INST_TX_COMMIT || state == INST_TX_DONE)
		tx->goal = step == 0 ? INST_STEP_ALL : step;
	if (state == INST_TX_DONE)
		tx->done = tx->goal;
	tx->undo_step = state == INST_TX_UNDO && step != 0;
}

bool
inst_tx_between(const struct inst_tx *tx)
{
	return tx->state == INST_TX_DONE && tx->done < tx->last;
}

/* the last record that counts; tx->seq stays 0 when there is none */
static int
read_log(struct inst_tx *tx, struct dray_err *e)
{
	uint8_t sum[DRAY_SHA256_LEN], *p = NULL;
	size_t len, at;
	uint32_t state;
	int r = inst_read_file(tx->dir, "log", (size_t)RECORD * MAX_RECORDS, &p, &len, e);

	if (r == 1)
		return 0;	/* cut before the log was made, or after it was deleted last */
	if (r != 0)
		return -1;
	for (at = 0; len - at >= RECORD; at += RECORD) {
		if (memcmp(p + at, "DLOG", 4) != 0 || dray_get_u32(p + at + 4) != tx->seq + 1)
			break;
		if ((r = dray_sha256_bytes(p + at, 48, sum, e)) != 0)
			break;
		state = dray_get_u32(p + at + 8);
		if (memcmp(p + at + 48, sum, 16) != 0 || state < INST_TX_COMMIT || state > INST_TX_FORGET)
			break;
		note_record(tx, (enum inst_tx_state)state, dray_get_u32(p + at + 12));
		memcpy(tx->plan_sha256, p + at + 16, 32);
	}
	free(p);
	return r;
}

/* without its plan nothing of a decided transaction can be done or undone */
static int
fail_plan(const struct inst_tx *tx, struct dray_err *e)
{
	const bool half = tx->state == INST_TX_COMMIT || tx->state == INST_TX_UNDO || inst_tx_between(tx);

	e->code = DRAY_E_SYSTEM;
	return dray_hint(e, half ? "the tree may be half switched: save that folder, and see what differs with dray-install check BUNDLE" :
	    "the tree is whole, only this way back is lost: save that folder, then move it out of the way by hand");
}

static int
read_plan(struct inst_tx *tx, struct dray_err *e)
{
	uint8_t sum[DRAY_SHA256_LEN];
	size_t len;
	int r = inst_read_file(tx->dir, "plan", PLAN_MAX, &tx->arena, &len, e);

	if (r == 1) {
		if (tx->state == INST_TX_FORGET || tx->state == INST_TX_UNDONE)
			return 0;	/* deleting had come this far */
		dray_fail(e, DRAY_E_IO, "the plan is missing");
		return fail_plan(tx, e);
	}
	if (r != 0)
		return -1;
	if (dray_sha256_bytes(tx->arena, len, sum, e) != 0)
		return -1;
	if (tx->seq > 0 && memcmp(sum, tx->plan_sha256, sizeof(sum)) != 0) {
		dray_fail(e, DRAY_E_IO, "the plan is not the one that was decided on (its hash differs)");
		return fail_plan(tx, e);
	}
	memcpy(tx->plan_sha256, sum, sizeof(sum));
	if (inst_plan_decode(tx, len, e) != 0)
		return -1;
	tx->has_plan = true;
	return 0;
}

/*
 * A transaction without a record is a staging, and stagings are deleted. But a plan whose log was lost (a damaged disk,
 * a hand) looks the same, and then the slots hold the way back: that must never be taken for a staging.
 */
static int
refuse_lost_log(const struct inst_state *s, struct inst_tx *tx, struct dray_err *e)
{
	struct inst_swapper w;
	struct inst_ident id;
	size_t i;
	int rc = 0;

	if (faccessat(tx->dir, "plan", F_OK, AT_SYMLINK_NOFOLLOW) == -1)
		return 0;
	if (read_plan(tx, e) != 0)
		return -1;
	inst_swapper_init(&w, s->root, tx, false);
	for (i = 0; rc == 0 && i < tx->n_swaps; i++) {
		rc = inst_slot_look(&w, &tx->ops[i], &id, e);
		if (rc == 0 && inst_ident_object(&id, &tx->ops[i].old)) {
			dray_fail(e, DRAY_E_SYSTEM, "its log is lost, but its slots hold replaced objects");
			rc = dray_hint(e, "nothing was deleted; save that folder, then move it out of the way by hand");
		}
	}
	inst_swapper_close(&w);
	return rc;
}

int
inst_tx_open(const struct inst_state *s, uint32_t number, bool write, struct inst_tx **out, struct dray_err *e)
{
	struct inst_tx *tx;
	char name[32];
	int rc = -1;

	*out = NULL;
	if ((tx = calloc(1, sizeof(*tx))) == NULL)
		return dray_fail_errno(e, "transaction %u", (unsigned)number);
	tx->number = number;
	tx->dir = tx->log = -1;
	tx->dir = openat(s->dir, tx_name(number, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (tx->dir == -1) {
		dray_fail_errno(e, "open");
		goto out;
	}
	if (inst_slots_open(s, tx, e) != 0 || read_log(tx, e) != 0 || (tx->seq > 0 ? read_plan(tx, e) : refuse_lost_log(s, tx, e)) != 0)
		goto out;
	if (write && tx->seq > 0) {
		tx->log = openat(tx->dir, "log", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
		if (tx->log == -1) {
			dray_fail_errno(e, "open the log");
			goto out;
		}
	}
	*out = tx;
	tx = NULL;
	rc = 0;
out:
	inst_tx_close(tx);
	return rc == 0 ? 0 : dray_wrap(e, "journal %s/%s", s->rel, tx_name(number, name));
}

int
inst_tx_record(struct inst_tx *tx, enum inst_tx_state state, uint32_t arg, struct dray_err *e)
{
	uint8_t rec[RECORD] = { 0 }, sum[DRAY_SHA256_LEN];
	off_t at = (off_t)tx->seq * RECORD;
	ssize_t n;

	if (state == INST_TX_COMMIT && tx->seq >= MAX_RECORDS - END_RECORDS) {
		dray_fail(e, DRAY_E_SYSTEM, "its log is full: a phase was tried again and again");
		return dray_hint(e, "go back with rollback, and apply again");
	}
	memcpy(rec, "DLOG", 4);
	dray_put_u32(rec + 4, tx->seq + 1);
	dray_put_u32(rec + 8, (uint32_t)state);
	dray_put_u32(rec + 12, arg);
	memcpy(rec + 16, tx->plan_sha256, 32);
	if (dray_sha256_bytes(rec, 48, sum, e) != 0)
		return -1;
	memcpy(rec + 48, sum, 16);
	/* at the end of what counts: a torn record of an earlier cut is written over */
	while ((n = pwrite(tx->log, rec, RECORD, at)) == -1 && errno == EINTR)
		;
	if (n == -1)
		dray_fail_errno(e, "write the log");
	else if (n != RECORD)
		dray_fail(e, DRAY_E_IO, "the log took only %zd of %d bytes", n, RECORD);
	else if (fdatasync(tx->log) == -1)
		dray_fail_errno(e, "flush the log");
	else if (!inst_reads_back(tx->log, rec, RECORD, (uint64_t)at))	/* everything hangs on it */
		dray_fail(e, DRAY_E_IO, "the log does not hold what was written to it");
	else
		goto written;
	/* it may be on the disk or not: take it back, so that this run and the next agree */
	if (ftruncate(tx->log, at) == -1 || fdatasync(tx->log) == -1)
		dray_hint(e, "the next run looks at the log and finishes or drops this one");
	return -1;
written:
	note_record(tx, state, arg);
	return 0;
}

int
inst_tx_write_plan(struct inst_tx *tx, const struct inst_plan *p, const struct inst_installed *from,
    const struct inst_installed *to, struct dray_err *e)
{
	uint8_t *bytes = NULL;
	size_t len;
	int rc;

	if (inst_plan_encode(p, tx, from, to, &bytes, &len, e) != 0)
		return dray_wrap(e, "journal");
	rc = inst_write_file(tx->dir, "plan", bytes, len, 0600, e);
	free(bytes);
	return rc == 0 ? 0 : dray_wrap(e, "journal");
}

int
inst_tx_take_plan(struct inst_tx *tx, struct dray_err *e)
{
	return read_plan(tx, e) == 0 ? 0 : dray_wrap(e, "journal");
}

int
inst_tx_drop(const struct inst_state *s, uint32_t number, struct dray_err *e)
{
	static const char *const last[LAST] = { INST_SITES_FILE, "plan", "log" };
	char name[32];
	struct dirent *de;
	DIR *d = NULL;
	int fd, rc = -1;
	size_t i;

	tx_name(number, name);
	fd = openat(s->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return errno == ENOENT ? 0 : dray_fail_errno(e, "open %s/%s", s->rel, name);
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return dray_fail_errno(e, "list %s/%s", s->rel, name);
	}
	inst_work_begin(s, "cleaning", 0);
	if (inst_slots_drop(s, dirfd(d), e) != 0)
		goto out;
	for (errno = 0; (de = readdir(d)) != NULL; errno = 0) {
		if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
			continue;
		for (i = 0; i < LAST && strcmp(de->d_name, last[i]) != 0; i++)
			continue;
		if (i < LAST)
			continue;
		if (inst_rmtree(dirfd(d), de->d_name, e) != 0)
			goto out;
	}
	if (errno != 0) {
		dray_fail_errno(e, "list %s/%s", s->rel, name);
		goto out;
	}
	for (i = 0; i < LAST; i++)
		if (inst_rmtree(dirfd(d), last[i], e) != 0)
			goto out;
	rc = unlinkat(s->dir, name, AT_REMOVEDIR) == 0 ? 0 : dray_fail_errno(e, "delete %s/%s", s->rel, name);
out:
	closedir(d);
	return inst_work_end(s, rc);
}
