/*
 * decide_links.c - files with several names. A group of the release is one object under all its names afterwards; an
 * object that has other names too is never changed in place, for those names are not ours.
 */
#include <stdlib.h>

#include "installer/planning.h"

struct tie { uint64_t key; uint32_t item; uint8_t site; };	/* key: inode, or group of the release */

struct ties { struct tie *v; size_t n; };

static int
tie_cmp(const void *a, const void *b)
{
	const struct tie *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return (x->item > y->item) - (x->item < y->item);
}

static bool
target_file(const struct inst_planning *pl, const struct inst_item *it, struct dray_state *s)
{
	return inst_item_target(pl, it, s) && s->type == DRAY_FILE;
}

/* live files with more than one name, by inode */
static bool
linked_here(const struct inst_planning *pl, const struct inst_item *it, uint64_t *key)
{
	(void)pl;
	*key = it->id.ino;
	return it->id.type == DRAY_FILE && it->nlink > 1;
}

/* members of the release's groups that take part: the others are left alone */
static bool
linked_there(const struct inst_planning *pl, const struct inst_item *it, uint64_t *key)
{
	struct dray_state s;

	if (!target_file(pl, it, &s) || s.link == 0 || it->edited || it->merged)
		return false;
	*key = s.link;
	switch (it->decision) {
	case INST_D_SAME:
	case INST_D_META:
	case INST_D_UPDATE:
	case INST_D_TYPE:
	case INST_D_ADD:
		return true;
	default:
		return false;
	}
}

static int
collect(const struct inst_planning *pl, bool (*pick)(const struct inst_planning *, const struct inst_item *, uint64_t *),
    struct ties *t, struct dray_err *e)
{
	uint64_t key;

	t->n = 0;
	if ((t->v = malloc((pl->n + 1) * sizeof(*t->v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < pl->n; i++)
		if (pick(pl, &pl->items[i], &key))
			t->v[t->n++] = (struct tie){ .key = key, .item = (uint32_t)i, .site = pl->items[i].site };
	qsort(t->v, t->n, sizeof(*t->v), tie_cmp);
	return 0;
}

static size_t
run_end(const struct ties *t, size_t from)
{
	size_t to = from + 1;

	while (to < t->n && t->v[to].key == t->v[from].key && t->v[to].site == t->v[from].site)
		to++;
	return to;
}

/* how many of the object's names the plan knows; 1 for a file with one name */
static size_t
names_known(const struct ties *inodes, const struct inst_item *it)
{
	size_t lo = 0, hi = inodes->n, n = 0;

	if (it->nlink <= 1)
		return 1;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (inodes->v[mid].key < it->id.ino || (inodes->v[mid].key == it->id.ino && inodes->v[mid].site < it->site))
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo + n < inodes->n && inodes->v[lo + n].key == it->id.ino && inodes->v[lo + n].site == it->site)
		n++;
	return n;
}

static void
swap_in(struct inst_item *it)
{
	if (it->site != it->up_site) {
		it->decision = INST_D_BLOCKED;
		it->why = "has something mounted on it";
		return;
	}
	it->decision = INST_D_UPDATE;
	it->times_only = false;
}

/* one group: left as it is, changed in place through one name, or made anew as one object for all its names */
static void
settle_group(struct inst_planning *pl, const struct ties *inodes, const struct tie *m, size_t n)
{
	struct inst_item *first = &pl->items[m[0].item], *source = NULL, *meta = NULL;
	bool rebuild = false;

	for (size_t i = 0; i < n; i++) {
		struct inst_item *it = &pl->items[m[i].item];

		if (it->decision == INST_D_META) {
			if (meta == NULL)
				meta = it;
		} else if (it->decision != INST_D_SAME) {
			rebuild = true;
		}
		rebuild |= inst_repair_links(pl, it);
		if (it->is_target && source == NULL)
			source = it;
		if (it->is_target && it->id.ino != source->id.ino)
			rebuild = true;
	}
	if (!rebuild && meta != NULL && meta->nlink != n)
		rebuild = true;
	if (!rebuild) {
		for (size_t i = 0; i < n; i++) {
			struct inst_item *it = &pl->items[m[i].item];

			it->silent = it != meta && it->decision == INST_D_META;
		}
		return;
	}
	for (size_t i = 0; i < n; i++) {
		struct inst_item *it = &pl->items[m[i].item];

		if (it->decision == INST_D_SAME || it->decision == INST_D_META)
			swap_in(it);
		it->outside = it->id.type == DRAY_FILE && it->nlink > names_known(inodes, it);
	}
	if (source != NULL) {
		first->from_live = true;
		first->live_row = source->row;
	}
}

/* a file that has one name in the release */
static void
settle_single(struct inst_planning *pl, const struct ties *inodes, struct inst_item *it)
{
	size_t known = names_known(inodes, it);
	struct dray_state s;

	if (it->id.type != DRAY_FILE || it->nlink <= 1 || it->top != DRAY_NONE)
		return;
	if (it->edited) {
		/* only in place will do, since nobody else has this content; through the first of its names */
		if (it->decision != INST_D_META)
			return;
		if (it->nlink != known) {
			it->decision = INST_D_KEEP;
			return;
		}
		for (size_t i = 0; i < inodes->n && !it->silent; i++)
			if (inodes->v[i].key == it->id.ino && inodes->v[i].site == it->site) {
				it->silent = &pl->items[inodes->v[i].item] != it;
				break;
			}
		return;
	}
	if (!target_file(pl, it, &s) || s.link != 0)
		return;
	if (it->decision == INST_D_META || (it->decision == INST_D_SAME && !it->untouched &&
	    (known > 1 || inst_repair_links(pl, it)))) {
		swap_in(it);
		it->from_live = true;
		it->live_row = it->row;
	}
	if (it->decision == INST_D_UPDATE)
		it->outside = it->nlink > known;
}

int
inst_decide_links(struct inst_planning *pl, struct dray_err *e)
{
	struct ties inodes = { NULL, 0 }, groups = { NULL, 0 };
	int rc = -1;

	if (collect(pl, linked_here, &inodes, e) != 0 || collect(pl, linked_there, &groups, e) != 0)
		goto out;
	for (size_t i = 0; i < groups.n; ) {
		size_t to = run_end(&groups, i);

		/* a file cannot have names on two file systems: then it is one file on each */
		if (to < groups.n && groups.v[to].key == groups.v[i].key)
			pl->items[groups.v[to].item].split = true;
		settle_group(pl, &inodes, groups.v + i, to - i);
		i = to;
	}
	for (size_t i = 0; i < pl->n; i++)
		settle_single(pl, &inodes, &pl->items[i]);
	rc = 0;
out:
	free(inodes.v);
	free(groups.v);
	return rc;
}
