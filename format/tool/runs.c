/*
 * runs.c - the chain of evidence: each record against the one before, its list against its hash, the end against the
 * anchor. A break is told and the look goes on, because what comes behind it is evidence as well.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/digest.h"
#include "dray/io.h"
#include "dray/num.h"

#include "runs.h"
#include "tool_in.h"

#define CHUNK (1u << 18)

void
tool_runs_begin(struct tool_runs *r, const struct tool_common *c, struct dray_json *o, bool silent)
{
	*r = (struct tool_runs){ .common = c, .silent = silent, .next = 1, .problems = dray_json_new_arr() };
	if (o != NULL)
		r->runs = dray_json_set_arr(o, "runs");
}

void
tool_runs_free(struct tool_runs *r)
{
	dray_json_free(r->problems);
	r->problems = NULL;
}

void
tool_runs_problem(struct tool_runs *r, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	dray_json_push_str(r->problems, text);
	r->n_problems++;
}

/* numbers left out between the record before and this one */
static void
gap(struct tool_runs *r, uint64_t number)
{
	if (number == r->next + 1)
		tool_runs_problem(r, "record %" PRIu64 " is missing", r->next);
	else if (number > r->next)
		tool_runs_problem(r, "records %" PRIu64 " to %" PRIu64 " are missing", r->next, number - 1);
	r->prev_bad |= number != r->next;
}

static int
hash_span(const struct tool_span *s, uint8_t out[32], bool *whole, struct dray_err *e)
{
	struct dray_sha256 *h = NULL;
	uint8_t *buf = malloc(CHUNK);
	int rc = -1;

	*whole = true;
	if (buf == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	if (dray_sha256_new(&h, e) != 0 || dray_sha256_begin(h, e) != 0)
		goto out;
	for (uint64_t at = 0; at < s->size && *whole; ) {
		size_t n = s->size - at < CHUNK ? (size_t)(s->size - at) : CHUNK;

		*whole = dray_pread_whole(s->fd, buf, n, s->at + at);
		if (*whole && dray_sha256_add(h, buf, n, e) != 0)
			goto out;
		at += n;
	}
	rc = dray_sha256_end(h, out, e);
out:
	dray_sha256_free(h);
	free(buf);
	return rc;
}

static int
check_list(struct tool_runs *r, const struct dray_ev_record *rec, const struct tool_span *list, struct dray_err *e)
{
	uint8_t sum[32];
	bool whole;

	if (!rec->has_list)
		return 0;
	if (list->fd == -1) {
		r->lists_away++;
		return 0;
	}
	if (list->size != rec->list_size) {
		tool_runs_problem(r, "the list of paths of record %" PRIu64 " was changed", rec->number);
		return 0;
	}
	if (hash_span(list, sum, &whole, e) != 0)
		return -1;
	if (!whole) {
		tool_runs_problem(r, "the list of paths of record %" PRIu64 " cannot be read to its end", rec->number);
		r->n_unread++;
	} else if (memcmp(sum, rec->list_sha256, 32) != 0) {
		tool_runs_problem(r, "the list of paths of record %" PRIu64 " was changed", rec->number);
	}
	return 0;
}

int
tool_runs_add(struct tool_runs *r, uint64_t number, const char *text, size_t len, const struct tool_span *list,
    struct dray_err *e)
{
	struct dray_err bad = { .code = DRAY_OK };
	struct dray_ev_record rec;
	char hex[65];
	int rc = -1;

	gap(r, number);
	if (dray_ev_parse(text, len, &rec, &bad) != 0 || rec.number != number) {
		tool_runs_problem(r, "record %" PRIu64 " is damaged: %s", number, bad.code != DRAY_OK ? bad.text : "it has another number");
		r->prev_bad = true;
	} else {
		/* told once, for the record that cannot be the one that was written */
		if (!r->prev_bad && memcmp(rec.prev, r->prev, 32) != 0)
			tool_runs_problem(r, "record %" PRIu64 " was changed: record %" PRIu64 " names another", number - 1, number);
		r->prev_bad = false;
		if (check_list(r, &rec, list, e) != 0)
			goto out;
		if (r->runs != NULL) {
			dray_json_set_str(rec.doc, "sha256", dray_hex(rec.sha256, 32, hex));
			dray_json_push_copy(r->runs, rec.doc);
		} else if (!r->silent && !r->common->quiet) {
			tool_runs_say(&rec);
		}
	}
	memcpy(r->prev, rec.sha256, 32);
	r->next = number + 1;
	r->n++;
	rc = 0;
out:
	dray_ev_record_free(&rec);
	return rc;
}

void
tool_runs_missing(struct tool_runs *r, uint64_t number, const struct dray_err *why)
{
	char quoted[200];

	gap(r, number);
	tool_runs_problem(r, "record %" PRIu64 " cannot be read: %s", number,
	    dray_quote(why->text, strlen(why->text), quoted, sizeof(quoted)));
	r->n_unread += why->code == DRAY_E_IO;
	r->next = number + 1;
	r->prev_bad = true;
	r->n++;
}

static void
check_end(struct tool_runs *r, uint64_t records, const uint8_t last[32])
{
	if (records == 0)
		return;
	/* one that was written just before a cut may be ahead of the anchor: the next run catches up */
	if (records >= r->next)
		tool_runs_problem(r, records == r->next ? "record %" PRIu64 " is missing at the end" :
		    "records %" PRIu64 " and later are missing at the end", r->next);
	else if (records == r->next - 1 && !r->prev_bad && memcmp(last, r->prev, 32) != 0)
		tool_runs_problem(r, "record %" PRIu64 " was changed: the anchor names another", records);
}

int
tool_runs_end(struct tool_runs *r, uint64_t records, const uint8_t last[32], struct dray_json *o, struct dray_err *e)
{
	const char *first = NULL;
	size_t len;

	check_end(r, records, last);
	if (o != NULL) {
		dray_json_set_bool(o, "intact", r->n_problems == 0);
		dray_json_set_int(o, "lists_away", (int64_t)r->lists_away);
		dray_json_set_copy(o, "problems", r->problems);
	}
	if (r->n_problems == 0)
		return 0;
	for (size_t i = 0; i < r->n_problems; i++) {
		const char *text = dray_json_text(dray_json_at(r->problems, i), &len);

		if (i == 0)
			first = text;
		else if (r->runs == NULL && !r->silent)
			fprintf(stderr, "%s: %s\n", tool_prog, text == NULL ? "out of memory" : text);
	}
	if (r->n_unread == r->n_problems) {
		dray_fail(e, DRAY_E_IO, "the evidence cannot be read in full: %s", first == NULL ? "out of memory" : first);
		return dray_hint(e, "it may be whole; look at the disk, and run it again");
	}
	dray_fail(e, DRAY_E_FORMAT, "the evidence is not whole: %s", first == NULL ? "out of memory" : first);
	return dray_hint(e, "somebody changed or deleted it; hold it against an earlier export");
}
