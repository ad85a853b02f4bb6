/*
 * err.h - one failure, one message: a code, a text and a hint of fixed size.
 *
 * Every fallible function returns 0 or -1 and takes `struct dray_err *` last. The innermost tells why, callers
 * add what they alone know (dray_wrap puts it in front), main prints it once. Codes are the exit statuses of
 * spec/cli.md, so that there is one table only.
 */
#ifndef DRAY_ERR_H
#define DRAY_ERR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DRAY_MUST_CHECK __attribute__((warn_unused_result))
#define DRAY_PRINTF(a, b) __attribute__((format(printf, a, b)))

enum dray_code {
	DRAY_OK = 0,
	DRAY_E_IO = 1,		/* I/O, memory, internal */
	DRAY_E_USAGE = 2,
	DRAY_E_CONFLICT = 20,	/* undecided conflict, tree differs */
	DRAY_E_ROOM = 21,
	DRAY_E_SYSTEM = 22,	/* not for this system, or it cannot be changed now */
	DRAY_E_FLOOR = 23,
	DRAY_E_DRIFT = 24,
	DRAY_E_BUSY = 25,
	DRAY_E_TRUST = 30,
	DRAY_E_FORMAT = 31,	/* damaged, incomplete */
	DRAY_E_NEWER = 32,
	DRAY_E_MEDIUM = 33,
	DRAY_E_SIGNAL = 40,
	DRAY_E_WENT_BACK = 41,
	DRAY_E_TRIGGER = 50,
};

struct dray_err {
	enum dray_code code;
	char text[1400];
	char hint[400];
};

/**
 * dray_fail - record the origin of a failure (overwrites what was there)
 * Return: always -1, so that `return dray_fail(...)` reads well.
 */
int dray_fail(struct dray_err *e, enum dray_code code, const char *fmt, ...) DRAY_PRINTF(3, 4);

/**
 * dray_fail_errno - the same, for a failed system call: "WHAT: <text of errno>", code DRAY_E_IO
 * (ENOSPC, EDQUOT: DRAY_E_ROOM; ENOMEM: "out of memory"). errno is read first and left as it was.
 */
int dray_fail_errno(struct dray_err *e, const char *fmt, ...) DRAY_PRINTF(2, 3);

/** dray_wrap - put "CONTEXT: " in front of the text; if it gets too long the context is dropped. Return: -1. */
int dray_wrap(struct dray_err *e, const char *fmt, ...) DRAY_PRINTF(2, 3);

/** dray_hint - what to do now; the first hint given stays. Return: -1. */
int dray_hint(struct dray_err *e, const char *fmt, ...) DRAY_PRINTF(2, 3);

/** dray_err_clear - back to DRAY_OK with empty texts */
void dray_err_clear(struct dray_err *e);

/**
 * dray_quote - make text of foreign origin printable
 * @src: @len bytes of anything
 * @dst: NUL-terminated result of at most @cap bytes: control characters, DEL, backslash and bytes that are not
 *       valid UTF-8 become \xNN; C1 controls, line separators and what sets the direction of text too; cut with "..." when it does not fit
 * Return: @dst.
 */
const char *dray_quote(const void *src, size_t len, char *dst, size_t cap);

/** dray_char_moves - would this character move the cursor or set the direction of text? */
bool dray_char_moves(uint32_t cp);
#define DRAY_QUOTE_CAP(n) ((n) * 4 + 1)

#endif
