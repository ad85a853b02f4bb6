/*
 * conflicts_parked.c - dray-install conflicts --list: of each upgrade whose old objects are still kept, what was edited here and
 * gave way, and where it lies; and what of the release was not taken because the edit stayed.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/io.h"
#include "dray/num.h"

#include "installer/conflicts.h"
#include "installer/theirs.h"

struct found {			/* one of both kinds */
	char *path;
	size_t len;
	char *at;		/* where it lies; NULL: theirs, in the bundle alone */
	bool theirs;
	uint8_t sha256[32];	/* theirs: its content, if it is a file of the release at all */
	bool gone;		/* theirs: the release has nothing there */
};

struct listing {
	const struct inst_front *f;
	struct inst_tx *tx;
	struct found *v;
	size_t n, cap;
};

/* a path more, to be filled */
static struct found *
add(struct listing *l, const char *path, size_t len, struct dray_err *e)
{
	struct found *more;

	if (l->n == l->cap) {
		if ((more = realloc(l->v, (l->cap * 2 + 16) * sizeof(*more))) == NULL) {
			dray_fail(e, DRAY_E_IO, "out of memory");
			return NULL;
		}
		l->v = more;
		l->cap = l->cap * 2 + 16;
	}
	more = &l->v[l->n];
	*more = (struct found){ .path = strndup(path, len), .len = len };
	if (more->path == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		return NULL;
	}
	l->n++;
	return more;
}

static void
listing_free(struct listing *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].path);
		free(l->v[i].at);
	}
	free(l->v);
	inst_tx_close(l->tx);
	*l = (struct listing){ .f = l->f };
}

/* what lies in the transaction's folder, as a person names it; malloc'ed */
static char *
tx_path(const struct listing *l, const char *name)
{
	const char *root = strcmp(l->f->root, "/") == 0 ? "" : l->f->root;
	char *p;

	return asprintf(&p, "%s/%s/tx/%06u/%s", root, l->f->st.rel, (unsigned)l->tx->number, name) == -1 ? NULL : p;
}

/* where the slot lies, the same way */
static char *
slot_path(const struct listing *l, const struct inst_op *op)
{
	const struct inst_slots *s = &l->tx->slots[op->site];
	const char *root = strcmp(l->f->root, "/") == 0 ? "" : l->f->root;
	char slot[24], *p;

	inst_tx_slot(op->slot, slot);
	if (op->site == 0)
		return tx_path(l, slot);
	return asprintf(&p, "%s/%.*s/.dray/%s/%s", root, (int)s->len, s->path, s->token, slot) == -1 ? NULL : p;
}

/* what was edited here and lies in a slot now */
static int
add_mine(struct listing *l, struct dray_err *e)
{
	struct found *one;
	struct stat st;
	char slot[24];

	for (size_t i = 0; i < l->tx->n_swaps; i++) {
		const struct inst_op *op = &l->tx->ops[i];
		int dir = l->tx->slots[op->site].dir;

		if ((op->flags & INST_OP_PARK) == 0 || dir == -1 || (l->tx->state == INST_TX_DONE && op->step > l->tx->done) ||
		    fstatat(dir, inst_tx_slot(op->slot, slot), &st, AT_SYMLINK_NOFOLLOW) == -1)
			continue;
		if ((one = add(l, op->path, op->len, e)) == NULL)
			return -1;
		if ((one->at = slot_path(l, op)) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	return 0;
}

/* a path that was left alone, with another content than the release has for it */
static int
add_row(struct listing *l, const struct dray_index *ix, const struct dray_ev_row *row, struct dray_err *e)
{
	uint32_t at = dray_index_find(ix, row->path, row->len);
	struct dray_content content = { .sha256 = NULL };
	struct dray_state s = { .type = DRAY_ABSENT };
	struct dray_entry en;
	char name[INST_THEIRS_NAME];
	struct found *one;

	if (row->change != '.' || row->before.type != DRAY_FILE || at == DRAY_NONE)
		return 0;
	dray_index_entry(ix, at, &en);
	if (en.target != DRAY_NONE)
		dray_index_state(ix, en.target, &s);
	if (s.type == DRAY_FILE)
		dray_index_content(ix, s.content, &content);
	if (content.sha256 != NULL && memcmp(content.sha256, row->before.sha256, 32) == 0)
		return 0;
	if ((one = add(l, row->path, row->len, e)) == NULL)
		return -1;
	one->theirs = true;
	one->gone = content.sha256 == NULL;
	if (one->gone)
		return 0;
	memcpy(one->sha256, content.sha256, 32);
	if (inst_theirs_kept(l->tx, content.sha256, name) && (one->at = tx_path(l, name)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	return 0;
}

static int
read_list(struct listing *l, const struct dray_index *ix, int fd, uint64_t size, struct dray_err *e)
{
	struct dray_ev_reader *r = malloc(sizeof(*r));
	struct dray_ev_row row;
	uint8_t *p = NULL;
	size_t len = 0;
	int rc = -1;

	if (r == NULL || size > DRAY_EV_LIST_MAX || !dray_fit(size, &len) || (p = malloc(len + 1)) == NULL)
		dray_fail(e, DRAY_E_IO, "out of memory");
	else if (!dray_pread_whole(fd, p, len, 0))
		dray_fail_errno(e, "read a list of paths");
	else if ((rc = dray_ev_open(r, p, len, e)) == 0)
		while ((rc = dray_ev_next(r, &row, e)) == 1)
			if ((rc = add_row(l, ix, &row, e)) != 0)
				break;
	free(p);
	free(r);
	return rc;
}

/* by the record of the upgrade and the head of the release, both kept with the state; without them nothing is told */
static int
add_theirs(struct listing *l, struct dray_err *e)
{
	struct dray_err ignored = { .code = DRAY_OK };
	struct dray_bundle *b = NULL;
	int fd = -1, list = -1, rc = 0;
	uint64_t number, size;
	uint8_t sum[32];
	char ended[32];

	if (inst_chain_find(&l->f->st, l->tx, 0, &number, sum, ended, e) != 0)
		return -1;
	if (number == 0 || inst_head_open(&l->f->st, l->tx->to.id, &fd, &b, &ignored) != 0)
		return 0;
	if ((rc = inst_chain_list(&l->f->st, number, &list, &size, e)) == 0) {
		rc = read_list(l, dray_bundle_index(b), list, size, e);
		close(list);
	}
	dray_bundle_close(b);
	close(fd);
	return rc < 0 ? -1 : 0;
}

static void
say(const struct listing *l)
{
	const struct inst_front *f = l->f;
	char q[DRAY_QUOTE_CAP(DRAY_PATH_MAX)], at[2 * DRAY_PATH_MAX];
	bool theirs = false;

	if (l->n == 0)
		return;
	inst_say(f, "generation %u, to %s:", (unsigned)l->tx->number, l->tx->to.version);
	for (size_t i = 0; i < l->n; i++) {
		const struct found *x = &l->v[i];

		dray_quote(x->path, x->len, q, sizeof(q));
		if (x->at != NULL)
			inst_say(f, "  %s: %s in %s", q, x->theirs ? "what is here stayed; the release's lies" :
			    "edited here, replaced; lies", dray_quote(x->at, strlen(x->at), at, sizeof(at)));
		else
			inst_say(f, "  %s: what is here stayed; %s", q, x->gone ? "the release has no such file" : "the release's was not taken");
		theirs |= x->at == NULL && !x->gone;
	}
	if (theirs)
		inst_say(f, "  (those of the release are in its bundle: dray extract)");
}

static void
tell(const struct listing *l, struct dray_json *a)
{
	struct dray_json *one;
	char hex[65];

	for (size_t i = 0; i < l->n; i++) {
		const struct found *x = &l->v[i];

		one = dray_json_push_obj(a);
		dray_json_set_int(one, "generation", l->tx->number);
		dray_json_set_str(one, "version", l->tx->to.version);
		dray_json_set_path(one, "path", x->path, x->len);
		dray_json_set_str(one, "side", x->theirs ? "theirs" : "mine");
		if (x->at != NULL)
			dray_json_set_path(one, "at", x->at, strlen(x->at));
		if (x->theirs && !x->gone)
			dray_json_set_str(one, "sha256", dray_hex(x->sha256, sizeof(x->sha256), hex));
	}
}

static int
one_generation(struct listing *l, uint32_t number, struct dray_err *e)
{
	if (inst_tx_open(&l->f->st, number, false, &l->tx, e) != 0)
		return -1;
	if (!l->tx->has_plan || (l->tx->state != INST_TX_FINISHED && l->tx->state != INST_TX_FORGET && !inst_tx_between(l->tx)))
		return 0;
	return add_mine(l, e) != 0 || add_theirs(l, e) != 0 ? -1 : 0;
}

int
inst_conflicts_parked(struct inst_conflicts *c, struct dray_err *e)
{
	struct dray_json *o = NULL, *a = NULL;
	struct listing l = { .f = &c->f };
	uint32_t *numbers = NULL;
	size_t n = 0, all = 0;
	int rc = -1;

	if (inst_front_state(&c->f, false, e) != 0 || (c->f.st.dir != -1 && inst_tx_list(&c->f.st, &numbers, &n, e) != 0))
		return -1;
	if (c->f.common.json) {
		o = dray_json_new_obj();
		a = dray_json_set_arr(o, "parked");
	}
	for (size_t i = n; i-- > 0; ) {	/* the newest first */
		if (one_generation(&l, numbers[i], e) != 0)
			goto out;
		all += l.n;
		if (o != NULL)
			tell(&l, a);
		else
			say(&l);
		listing_free(&l);
	}
	rc = 0;
	if (o != NULL) {
		rc = tool_json(o, e);
		o = NULL;
	} else if (all == 0) {
		inst_say(&c->f, "nothing that was edited on %s is parked, and no release's file was left out for it", c->f.root);
	}
	if (o == NULL && rc == 0 && !c->f.common.json)
		inst_say_command(&c->f, "next", "status", NULL);
out:
	dray_json_free(o);
	listing_free(&l);
	free(numbers);
	return rc == 0 ? 0 : -1;
}
