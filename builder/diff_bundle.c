/*
 * diff_bundle.c - what two bundles say beyond the state of their release: encoders and descriptor, where an entry
 * belongs and what the bases had there, how contents are made, attachments.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/diff.h"
#include "dray/deflate.h"
#include "dray/num.h"
#include "dray/path.h"

static void
text_field(struct diff *d, const char *field, const char *a, const char *b)
{
	if (!d->done && strcmp(a, b) != 0)
		build_diff_tell(d, NULL, 0, field, a, b);
}

static void
number_field(struct diff *d, const char *field, uint64_t a, uint64_t b)
{
	char ta[24], tb[24];

	snprintf(ta, sizeof(ta), "%" PRIu64, a);
	snprintf(tb, sizeof(tb), "%" PRIu64, b);
	text_field(d, field, ta, tb);
}

static const char *
encoder_id(const struct dray_desc *d, const char *name)
{
	for (size_t i = 0; i < d->n_encoders; i++)
		if (strcmp(d->encoders[i].name, name) == 0)
			return d->encoders[i].id;
	return NULL;
}

static void
encoders(struct diff *d, const struct dray_desc *a, const struct dray_desc *b)
{
	char field[60];

	for (size_t i = 0; i < a->n_encoders && !d->done; i++) {
		const char *other = encoder_id(b, a->encoders[i].name);

		snprintf(field, sizeof(field), "encoder %s", a->encoders[i].name);
		if (other == NULL || strcmp(other, a->encoders[i].id) != 0)
			build_diff_tell(d, NULL, 0, field, a->encoders[i].id, other);
	}
	for (size_t i = 0; i < b->n_encoders && !d->done; i++) {
		snprintf(field, sizeof(field), "encoder %s", b->encoders[i].name);
		if (encoder_id(a, b->encoders[i].name) == NULL)
			build_diff_tell(d, NULL, 0, field, NULL, b->encoders[i].id);
	}
}

/* names in order, e.g. of components: the first place where they part */
static void
list_field(struct diff *d, const char *field, const char (*a)[65], size_t n_a, const char (*b)[65], size_t n_b)
{
	for (size_t i = 0; (i < n_a || i < n_b) && !d->done; i++) {
		const char *x = i < n_a ? a[i] : NULL, *y = i < n_b ? b[i] : NULL;
		char name[60];

		if (x != NULL && y != NULL && strcmp(x, y) == 0)
			continue;
		snprintf(name, sizeof(name), "%s %zu", field, i + 1);
		build_diff_tell(d, NULL, 0, name, x, y);
	}
}

static void
base_text(const struct dray_base *b, char out[140])
{
	snprintf(out, 140, "%s, counter %" PRIu64 "%s", b->version, b->counter, b->history ? ", history" : "");
}

static void
bases(struct diff *d, const struct dray_desc *a, const struct dray_desc *b)
{
	for (size_t i = 0; (i < a->n_bases || i < b->n_bases) && !d->done; i++) {
		char x[140] = "", y[140] = "", name[32];

		if (i < a->n_bases)
			base_text(&a->bases[i], x);
		if (i < b->n_bases)
			base_text(&b->bases[i], y);
		snprintf(name, sizeof(name), "base %zu", i + 1);
		if (strcmp(x, y) == 0)
			continue;
		d->same_bases = false;
		build_diff_tell(d, NULL, 0, name, i < a->n_bases ? x : NULL, i < b->n_bases ? y : NULL);
	}
}

static int
trigger_text(const struct dray_desc *d, size_t i, char out[DIFF_TEXT], struct dray_err *e)
{
	char *text = NULL;
	size_t len;

	out[0] = '\0';
	if (i >= d->n_triggers)
		return 0;
	if (dray_json_write(dray_json_at(d->triggers, i), &text, &len, e) != 0)
		return -1;
	dray_quote(text, len, out, DIFF_TEXT);
	free(text);
	return 0;
}

static int
triggers(struct diff *d, const struct dray_desc *a, const struct dray_desc *b, struct dray_err *e)
{
	char x[DIFF_TEXT], y[DIFF_TEXT], field[32];

	for (size_t i = 0; (i < a->n_triggers || i < b->n_triggers) && !d->done; i++) {
		if (trigger_text(a, i, x, e) != 0 || trigger_text(b, i, y, e) != 0)
			return -1;
		snprintf(field, sizeof(field), "trigger %zu", i + 1);
		if (strcmp(x, y) != 0)
			build_diff_tell(d, NULL, 0, field, i < a->n_triggers ? x : NULL, i < b->n_triggers ? y : NULL);
	}
	return 0;
}

int
build_diff_head(struct diff *d, struct dray_err *e)
{
	const struct dray_desc *a = dray_bundle_desc(d->side[0].b), *b = dray_bundle_desc(d->side[1].b);

	encoders(d, a, b);
	text_field(d, "product", a->product, b->product);
	text_field(d, "version", a->version, b->version);
	number_field(d, "counter", a->counter, b->counter);
	text_field(d, "mode", a->slim ? "slim" : "complete", b->slim ? "slim" : "complete");
	text_field(d, "os", a->os, b->os);
	number_field(d, "built", a->built, b->built);
	number_field(d, "end of life", a->eol, b->eol);
	list_field(d, "compatible", a->compatible, a->n_compatible, b->compatible, b->n_compatible);
	bases(d, a, b);
	list_field(d, "component", a->components, a->n_components, b->components, b->n_components);
	list_field(d, "phase", a->phases, a->n_phases, b->phases, b->n_phases);
	list_field(d, "required feature", a->required, a->n_required, b->required, b->n_required);
	list_field(d, "optional feature", a->optional, a->n_optional, b->optional, b->n_optional);
	number_field(d, "slot", a->slot, b->slot);
	return triggers(d, a, b, e);
}

/* the state that an exact base had, or number @k of those a history base had; *n: how many */
static uint32_t
base_state(const struct diff_side *s, const struct dray_entry *en, size_t base, uint32_t k, uint32_t *n)
{
	uint32_t row = DRAY_NONE;
	struct dray_alt alt;

	*n = 0;
	if ((en->flags & DRAY_ENTRY_SAME) != 0) {
		*n = 1;
		return en->target;
	}
	for (uint32_t i = 0; i < en->alt_count; i++) {
		dray_index_alt(s->ix, en->alt_first + i, &alt);
		if ((alt.bases >> base & 1) == 0)
			continue;
		row = *n == k ? alt.state : row;
		++*n;
	}
	return row;
}

/* is one of the @n states in this base another one? The first field that differs */
static bool
other_states(const struct diff *d, const struct dray_entry *a, const struct dray_entry *b, size_t base, uint32_t n,
    struct diff_text *text)
{
	for (uint32_t k = 0; k < n; k++) {
		struct diff_item x, y;
		unsigned at = 0;
		uint32_t ignored;

		build_diff_state(d->side[0].ix, base_state(&d->side[0], a, base, k, &ignored), a->path, a->len, &x);
		build_diff_state(d->side[1].ix, base_state(&d->side[1], b, base, k, &ignored), b->path, b->len, &y);
		if (build_diff_fields(&x, &y, true, &at, text))
			return true;
	}
	return false;
}

static void
base_states(struct diff *d, const struct dray_entry *a, const struct dray_entry *b)
{
	const struct dray_desc *desc = dray_bundle_desc(d->side[0].b);
	struct diff_text text;
	char field[200], tx[40], ty[40];
	uint32_t n_x, n_y;

	/* other bases were told, and explain all the rest */
	for (size_t i = 0; i < desc->n_bases && d->same_bases && !d->done; i++) {
		(void)base_state(&d->side[0], a, i, 0, &n_x);
		(void)base_state(&d->side[1], b, i, 0, &n_y);
		if (n_x != n_y) {
			snprintf(field, sizeof(field), "states in base %s", desc->bases[i].version);
			snprintf(tx, sizeof(tx), "%" PRIu32, n_x);
			snprintf(ty, sizeof(ty), "%" PRIu32, n_y);
			build_diff_tell(d, a->path, a->len, field, tx, ty);
		} else if (other_states(d, a, b, i, n_x, &text)) {
			snprintf(field, sizeof(field), "%s in base %s", text.field, desc->bases[i].version);
			build_diff_tell(d, a->path, a->len, field, text.a, text.b);
		}
	}
}

static void
place_field(struct diff *d, const struct dray_entry *en, const char *field, uint64_t a, uint64_t b)
{
	char x[24], y[24];

	if (d->done || a == b)
		return;
	snprintf(x, sizeof(x), "%" PRIu64, a);
	snprintf(y, sizeof(y), "%" PRIu64, b);
	build_diff_tell(d, en->path, en->len, field, x, y);
}

void
build_diff_placing(struct diff *d, uint32_t a, uint32_t b)
{
	const struct dray_index *ix = d->side[0].ix, *iy = d->side[1].ix;
	struct dray_entry x, y;

	dray_index_entry(ix, a, &x);
	dray_index_entry(iy, b, &y);
	place_field(d, &x, "config", (x.flags & DRAY_ENTRY_CONFIG) != 0, (y.flags & DRAY_ENTRY_CONFIG) != 0);
	place_field(d, &x, "phase", x.phase, y.phase);
	place_field(d, &x, "components", dray_index_compset(ix, x.compset), dray_index_compset(iy, y.compset));
	if (!d->done)
		base_states(d, &x, &y);
}

/* "delta of 3 frames, 12345 stored bytes, ..." of each recipe of a content; equal texts, equal making */
static void
making_text(const struct dray_index *ix, const struct dray_recipe *r, char *out, size_t cap)
{
	static const char *const kinds[] = { "?", "full", "delta", "copy" };
	uint64_t stored = 0, sum = 0;
	size_t at;

	for (uint32_t i = 0; i < r->piece_count; i++) {
		struct dray_piece p;
		struct dray_frame f;

		dray_index_piece(ix, r->piece_first + i, &p);
		dray_index_frame(ix, p.frame, &f);
		stored += f.stored;
		/* order counts: a rolling sum of frame hashes and places; only to tell apart, never for safety */
		sum = sum * 1000003 + dray_get_u64(f.sha256) + f.kind + ((uint64_t)f.filter << 8) + p.offset + p.len;
	}
	at = (size_t)snprintf(out, cap, "%s", kinds[r->kind]);
	if (r->piece_count > 0 && at < cap)
		snprintf(out + at, cap - at, " of %" PRIu32 " pieces in frames of %" PRIu64 " bytes (%08" PRIx64 ")",
		    r->piece_count, stored, sum & 0xffffffff);
	at = strlen(out);
	if (r->wrap != DRAY_DEFLATE_NONE)
		snprintf(out + at, cap - at, ", a .gz of %s", dray_deflate_name(r->wrap));
}

static void
compare_making(struct diff *d, const struct dray_entry *en, uint32_t a, uint32_t b)
{
	const struct dray_index *ix = d->side[0].ix, *iy = d->side[1].ix;
	struct dray_content x, y;

	dray_index_content(ix, a, &x);
	dray_index_content(iy, b, &y);
	for (uint32_t i = 0; (i < x.recipe_count || i < y.recipe_count) && !d->done; i++) {
		char ta[160] = "", tb[160] = "", field[32];
		struct dray_recipe r;

		if (i < x.recipe_count) {
			dray_index_recipe(ix, x.recipe_first + i, &r);
			making_text(ix, &r, ta, sizeof(ta));
		}
		if (i < y.recipe_count) {
			dray_index_recipe(iy, y.recipe_first + i, &r);
			making_text(iy, &r, tb, sizeof(tb));
		}
		snprintf(field, sizeof(field), "recipe %" PRIu32, i + 1);
		if (strcmp(ta, tb) != 0)
			build_diff_tell(d, en->path, en->len, field, i < x.recipe_count ? ta : NULL,
			    i < y.recipe_count ? tb : NULL);
	}
}

int
build_diff_making(struct diff *d, struct dray_err *e)
{
	const struct diff_side *s = &d->side[0], *t = &d->side[1];
	uint8_t *seen = calloc((size_t)dray_index_rows(s->ix, DRAY_T_CONTENTS) + 1, 1);
	uint32_t k = 0;

	if (seen == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (uint32_t i = 0; i < s->n && k < t->n && !d->done; i++) {
		struct dray_entry en, other;
		struct dray_state x, y;
		int c = -1;

		dray_index_entry(s->ix, i, &en);
		for (; k < t->n; k++) {
			dray_index_entry(t->ix, k, &other);
			if ((c = dray_path_cmp(other.path, other.len, en.path, en.len)) >= 0)
				break;
		}
		if (c != 0 || en.target == DRAY_NONE || other.target == DRAY_NONE)
			continue;
		dray_index_state(s->ix, en.target, &x);
		dray_index_state(t->ix, other.target, &y);
		if (x.type != DRAY_FILE || y.type != DRAY_FILE || seen[x.content] != 0)
			continue;
		seen[x.content] = 1;
		compare_making(d, &en, x.content, y.content);
	}
	free(seen);
	return 0;
}

static const struct dray_member *
member(const struct dray_desc *d, const char *name)
{
	for (size_t i = 0; i < d->n_members; i++)
		if (strcmp(d->members[i].name, name) == 0)
			return &d->members[i];
	return NULL;
}

static void
members_of(struct diff *d, const struct dray_desc *a, const struct dray_desc *b, bool swapped)
{
	for (size_t i = 0; i < a->n_members && !d->done; i++) {
		const struct dray_member *x = &a->members[i], *y = member(b, x->name);
		char field[120], tx[60], ty[60] = "";

		/* the index follows from the entries, which were compared */
		if (strncmp(x->name, "index/", 6) == 0 || (swapped && y != NULL))
			continue;
		if (y != NULL && x->size == y->size && memcmp(x->sha256, y->sha256, 32) == 0)
			continue;
		snprintf(field, sizeof(field), "member %s", x->name);
		snprintf(tx, sizeof(tx), "%" PRIu64 " bytes", x->size);
		if (y != NULL)
			snprintf(ty, sizeof(ty), x->size == y->size ? "other bytes" : "%" PRIu64 " bytes", y->size);
		build_diff_tell(d, NULL, 0, field, swapped ? NULL : tx, swapped ? tx : y != NULL ? ty : NULL);
	}
}

void
build_diff_members(struct diff *d)
{
	const struct dray_desc *a = dray_bundle_desc(d->side[0].b), *b = dray_bundle_desc(d->side[1].b);

	members_of(d, a, b, false);
	members_of(d, b, a, true);
}
