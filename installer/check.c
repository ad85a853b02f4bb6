/*
 * check.c - is the tree what the release says? Every entry, by more readers than cores: cold caches wait for the disk.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/num.h"
#include "dray/pool.h"

#include "installer/checking.h"

#define READERS_MIN 8u
#define READERS_MAX 64u

const char *const inst_diff_name[INST_DIFFS] = {
	[INST_DIFF_MISSING] = "missing", [INST_DIFF_TYPE] = "type", [INST_DIFF_CONTENT] = "content",
	[INST_DIFF_OWNER] = "owner", [INST_DIFF_MODE] = "mode", [INST_DIFF_XATTRS] = "xattrs",
	[INST_DIFF_FLAGS] = "flags", [INST_DIFF_MTIME] = "mtime",
	[INST_DIFF_LINKS] = "links", [INST_DIFF_EXTRA] = "extra", [INST_DIFF_READ] = "read error",
};

/* the bytes of a file, of which others have none */
static uint64_t
bytes_of(const struct dray_index *ix, uint32_t row)
{
	struct dray_content ct;
	struct dray_entry en;
	struct dray_state s;

	dray_index_entry(ix, row, &en);
	if (en.target == DRAY_NONE)
		return 0;
	dray_index_state(ix, en.target, &s);
	if (s.type != DRAY_FILE)
		return 0;
	dray_index_content(ix, s.content, &ct);
	return dray_content_bytes(&ct);
}

static int
check_nth(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct inst_checking *ck = ctx;
	char quoted[DRAY_QUOTE_CAP(255)];
	struct dray_entry en;

	if (ck->o->stop != NULL && ck->o->stop() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
	ck->checkers[worker].hashed = 0;
	if (inst_check_entry(ck, &ck->checkers[worker], (uint32_t)i, e) == 0) {
		dray_meter_add(&ck->meter, 0, dray_cost_rest(bytes_of(ck->ix, (uint32_t)i), ck->checkers[worker].hashed));
		return 0;
	}
	dray_index_entry(ck->ix, (uint32_t)i, &en);
	return e->code == DRAY_E_SIGNAL ? -1 : dray_wrap(e, "%s", dray_quote(en.path, en.len, quoted, sizeof(quoted)));
}

/* for the progress line; *unsized: files of unknown size, which make the sum one of a part */
static void
add_up(const struct dray_index *ix, struct dray_meter *m, size_t *unsized)
{
	struct dray_content ct;
	struct dray_entry en;
	struct dray_state s;

	for (uint32_t i = 0; i < dray_index_rows(ix, DRAY_T_ENTRIES); i++) {
		m->costs += dray_cost_file(bytes_of(ix, i));
		dray_index_entry(ix, i, &en);
		if (en.target == DRAY_NONE)
			continue;
		dray_index_state(ix, en.target, &s);
		if (s.type != DRAY_FILE)
			continue;
		dray_index_content(ix, s.content, &ct);
		*unsized += ct.size == DRAY_SIZE_UNKNOWN && (s.link == 0 || s.link == i + 1);
		if (!dray_add(m->total, dray_content_bytes(&ct), &m->total))
			m->total = UINT64_MAX;
	}
}

static int
hire(struct inst_checking *ck, int rootfd, struct dray_err *e)
{
	if ((ck->checkers = calloc(ck->threads, sizeof(*ck->checkers))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (unsigned t = 0; t < ck->threads; t++)
		dray_walk_init(&ck->checkers[t].walk, rootfd);
	for (unsigned t = 0; t < ck->threads; t++) {
		if (dray_sha256_new(&ck->checkers[t].hash, e) != 0)
			return -1;
		if ((ck->checkers[t].buf = malloc(INST_CHECK_BUF)) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	return 0;
}

static void
dismiss(struct inst_checking *ck)
{
	for (unsigned t = 0; ck->checkers != NULL && t < ck->threads; t++) {
		struct inst_checker *w = &ck->checkers[t];

		dray_walk_close(&w->walk);
		dray_sha256_free(w->hash);
		free(w->buf);
		free(w->names);
	}
	free(ck->checkers);
}

void
inst_check_free(struct inst_check *c)
{
	free(c->diffs);
	free(c->why);
	memset(c, 0, sizeof(*c));
}

int
inst_check_tree(int rootfd, const struct dray_index *ix, const struct dray_desc *desc, const struct inst_check_opts *o,
    struct inst_check *out, struct dray_err *e)
{
	struct inst_checking ck = { .ix = ix, .o = o, .c = out, .threads = 2 * o->threads,
		.meter = { .tell = o->progress, .ctx = o->ctx } };
	size_t unsized = 0;
	int rc = -1;

	if (ck.threads < READERS_MIN)
		ck.threads = READERS_MIN;
	if (ck.threads > READERS_MAX)
		ck.threads = READERS_MAX;
	*out = (struct inst_check){ .rows = dray_index_rows(ix, DRAY_T_ENTRIES), .strict = o->strict };
	out->diffs = calloc((size_t)out->rows + 1, sizeof(*out->diffs));
	out->why = calloc((size_t)out->rows + 1, 1);
	if (out->diffs == NULL || out->why == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	add_up(ix, &ck.meter, &unsized);
	if (unsized > 0)
		ck.meter.total = ck.meter.costs = 0;	/* the line then tells bytes, and no share of them */
	if (o->quick)
		out->unsized = unsized;
	if (hire(&ck, rootfd, e) != 0 || dray_parallel(ck.threads, out->rows, 32, check_nth, &ck, e) != 0 ||
	    inst_check_links(&ck, e) != 0 || inst_check_removed_dirs(&ck, e) != 0)
		goto out;
	inst_check_local(&ck, desc);
	out->bytes = ck.meter.done;
	rc = 0;
out:
	dismiss(&ck);
	if (rc != 0)
		inst_check_free(out);
	return rc;
}
