/*
 * slots.h - where a transaction's slots lie: on the root's own file system beside the journal, on every other one of the
 * plan in MOUNT/.dray/TOKEN. The token is drawn for this transaction, so a folder of that name proves that the right
 * file system is mounted there, whatever its type. Source: spec/apply.md, "Places".
 */
#ifndef INST_SLOTS_H
#define INST_SLOTS_H

#include <stdint.h>

#include "installer/state.h"

struct inst_tx;
struct inst_plan;
struct inst_op;

struct inst_slots {
	char *path;		/* topmost directory of the file system beneath the root; "": the root's own; owned */
	size_t len;
	char token[33];		/* 32 hexadecimal digits */
	int dir;		/* the folder with the slot folders 00 .. 3f; -1: not there */
	bool mounted;		/* the directory is of another file system than the one above it; if @dir is -1, it is freed */
};

/** inst_slots_make - folders for all slots of @p, and the ballast on each file system; names them durably first */
DRAY_MUST_CHECK int inst_slots_make(const struct inst_state *s, struct inst_tx *tx, const struct inst_plan *p,
    struct dray_err *e);

/** inst_slots_open - those of an existing transaction; one that is not mounted is no failure here */
DRAY_MUST_CHECK int inst_slots_open(const struct inst_state *s, struct inst_tx *tx, struct dray_err *e);
void inst_slots_close(struct inst_tx *tx);

/** inst_slots_all - are all of them there? DRAY_E_SYSTEM names the first that is not mounted. Freed ones are no failure
 * while slots are being freed. */
DRAY_MUST_CHECK int inst_slots_all(const struct inst_tx *tx, struct dray_err *e);

/** inst_slots_of - folder of the op's slot. 1: freed already; -1 with DRAY_E_SYSTEM: its file system is not mounted */
DRAY_MUST_CHECK int inst_slots_of(const struct inst_tx *tx, const struct inst_op *op, int *dir, struct dray_err *e);

/** inst_slots_drop - delete those outside the transaction's own folder, which is open as @txdir; absent ones are fine */
DRAY_MUST_CHECK int inst_slots_drop(const struct inst_state *s, int txdir, struct dray_err *e);

#define INST_SITES_FILE "sites"

#define INST_BALLAST_FILE "ballast"

#endif
