/*
 * reference.c - the base bytes a delta frame names, gathered from the live tree into a private buffer. They are
 * untrusted: nothing is checked here, because only the signed hash of what is made from them counts.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "dray/io.h"

#include "installer/staging.h"

/* a live file that held the content when the plan looked; -1: not any more */
static int
open_live(struct stage *s, struct stage_worker *w, uint32_t content)
{
	uint32_t row = s->p->live_of[content];
	struct dray_err ignored = { 0 };	/* whatever keeps it from being read: another recipe is taken */
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_entry en;
	int dir;

	if (row == DRAY_NONE)
		return -1;
	dray_index_entry(s->ix, row, &en);
	if (inst_where_parent(s->p, true, &w->live, &en, &dir, leaf, &ignored) != 0)
		return -1;
	return openat(dir, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/* one range from @fd, -1: from nowhere */
static int
gather(struct stage *s, struct stage_worker *w, int fd, const struct dray_range *r, uint8_t *to, bool *here,
    struct dray_err *e)
{
	struct dray_content c;

	*here = fd != -1;
	if (!*here)
		return 0;
	if (!r->inside) {
		*here = dray_pread_whole(fd, to, (size_t)r->len, r->offset);
		return 0;
	}
	dray_index_content(s->ix, r->content, &c);
	return dray_gzip_base(&w->gzip, fd, 0, c.size, to, (size_t)r->len, here, e);
}

int
inst_stage_reference(struct stage *s, struct stage_worker *w, const struct dray_frame *f, bool *here, struct dray_err *e)
{
	uint64_t total = 0, limit = dray_bundle_desc(s->b)->limit_memory;
	uint32_t i, open_content = DRAY_NONE;
	struct dray_range r, *more;
	uint8_t *grown;
	size_t at = 0;
	int fd = -1, rc = 0;

	*here = false;
	w->ref_len = 0;
	if (f->range_count > w->ranges_cap) {
		if ((more = reallocarray(w->ranges, f->range_count, sizeof(*more))) == NULL)
			return dray_fail_errno(e, "ranges of a frame");
		w->ranges = more;
		w->ranges_cap = f->range_count;
	}
	for (i = 0; i < f->range_count; i++) {
		dray_index_range(s->ix, f->range_first + i, &r);
		w->ranges[i] = r;
		/* the index has proved that the sum stays below the limit; this bounds the buffer all the same */
		if (r.len > limit - total)
			return dray_fail(e, DRAY_E_FORMAT, "a frame builds on more bytes than the bundle allows");
		total += r.len;
	}
	if (total > w->ref_cap) {
		if ((grown = realloc(w->ref, (size_t)total)) == NULL)
			return dray_fail_errno(e, "%ju bytes to build on", (uintmax_t)total);
		w->ref = grown;
		w->ref_cap = (size_t)total;
	}
	*here = true;
	for (i = 0; i < f->range_count && *here && rc == 0; i++) {
		r = w->ranges[i];
		if (r.content != open_content) {
			if (fd != -1)
				close(fd);	/* read only */
			fd = open_live(s, w, r.content);
			open_content = r.content;
		}
		rc = gather(s, w, fd, &r, w->ref + at, here, e);
		at += (size_t)r.len;
	}
	if (fd != -1)
		close(fd);
	w->ref_len = at;
	return rc;
}
