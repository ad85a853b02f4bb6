/*
 * descriptor_write.c - dray.json written, and where its members stand. The reader is the judge: what is written here
 * is parsed again before it is handed out. Source: spec/bundle-format.md, 4 "Descriptor".
 */
#include <stdlib.h>
#include <string.h>

#include "dray/descriptor.h"
#include "dray/json.h"
#include "dray/num.h"
#include "dray/tar.h"

static void
put_tokens(struct dray_json *o, const char *key, const char (*v)[65], size_t n)
{
	struct dray_json *a = dray_json_set_arr(o, key);

	for (size_t i = 0; i < n; i++)
		dray_json_push_str(a, v[i]);
}

static void
put_members(struct dray_json *o, const struct dray_desc *d)
{
	struct dray_json *a = dray_json_set_arr(o, "members");
	char hex[65];

	for (size_t i = 0; i < d->n_members; i++) {
		const struct dray_member *m = &d->members[i];
		struct dray_json *j = dray_json_push_obj(a);

		dray_json_set_str(j, "name", m->name);
		dray_json_set_int(j, "offset", (int64_t)m->offset);
		if (!m->by_chunks)
			dray_json_set_str(j, "sha256", dray_hex(m->sha256, sizeof m->sha256, hex));
		dray_json_set_int(j, "size", (int64_t)m->size);
	}
}

static int
write_text(const struct dray_desc *d, char **text, size_t *len, struct dray_err *e)
{
	struct dray_json *o = dray_json_new_obj(), *sub;
	int rc;

	sub = dray_json_set_arr(o, "bases");
	for (size_t i = 0; i < d->n_bases; i++) {
		struct dray_json *b = dray_json_push_obj(sub);

		dray_json_set_int(b, "counter", (int64_t)d->bases[i].counter);
		dray_json_set_str(b, "kind", d->bases[i].history ? "history" : "exact");
		dray_json_set_str(b, "version", d->bases[i].version);
	}
	dray_json_set_int(o, "blocks", (int64_t)d->blocks);
	dray_json_set_int(o, "built", (int64_t)d->built);
	put_tokens(o, "compatible", d->compatible, d->n_compatible);
	put_tokens(o, "components", d->components, d->n_components);
	dray_json_set_int(o, "counter", (int64_t)d->counter);
	sub = dray_json_set_obj(o, "encoders");
	for (size_t i = 0; i < d->n_encoders; i++)
		dray_json_set_str(sub, d->encoders[i].name, d->encoders[i].id);
	if (d->eol != 0)
		dray_json_set_int(o, "eol", (int64_t)d->eol);
	sub = dray_json_set_obj(o, "features");
	put_tokens(sub, "optional", d->optional, d->n_optional);
	put_tokens(sub, "required", d->required, d->n_required);
	dray_json_set_int(o, "format", DRAY_FORMAT_VERSION);
	dray_json_set_int(o, "length", (int64_t)d->length);
	sub = dray_json_set_obj(o, "limits");
	dray_json_set_int(sub, "frame", (int64_t)d->limit_frame);
	dray_json_set_int(sub, "memory", (int64_t)d->limit_memory);
	dray_json_set_int(sub, "window", (int64_t)d->limit_window);
	put_members(o, d);
	dray_json_set_str(o, "mode", d->slim ? "slim" : "complete");
	dray_json_set_str(o, "os", d->os);
	put_tokens(o, "phases", d->phases, d->n_phases);
	dray_json_set_str(o, "product", d->product);
	dray_json_set_int(o, "slot", (int64_t)d->slot);
	if (d->triggers != NULL)
		dray_json_set_copy(o, "triggers", d->triggers);
	else
		(void)dray_json_set_arr(o, "triggers");
	dray_json_set_str(o, "version", d->version);
	rc = dray_json_write(o, text, len, e);
	dray_json_free(o);
	return rc;
}

int
dray_desc_write(const struct dray_desc *d, char **text, size_t *len, struct dray_err *e)
{
	struct dray_desc *again;

	*text = NULL;
	if (write_text(d, text, len, e) != 0)
		return -1;
	if (dray_desc_parse(*text, *len, &again, e) != 0) {
		free(*text);
		*text = NULL;
		return dray_wrap(e, "the descriptor cannot be written like this");
	}
	dray_desc_free(again);
	return 0;
}

int
dray_desc_layout(struct dray_desc *d, uint64_t blocks_bytes, uint64_t *head, struct dray_err *e)
{
	uint64_t at, size, before;
	size_t len;
	char *text;

	if (d->n_members == 0 || d->n_members > DRAY_MAX_MEMBERS)
		return dray_fail(e, DRAY_E_FORMAT, "a bundle has 3 to %u members", DRAY_MAX_MEMBERS);
	d->length = 0;
	for (size_t i = 0; i < d->n_members; i++)
		d->members[i].offset = 0;
	/* numbers only grow from round to round and so does the text: this ends after two or three */
	do {
		before = d->length;
		if (write_text(d, &text, &len, e) != 0)
			return -1;
		free(text);
		if (!dray_round_up(len, DRAY_TAR_BLOCK, &at) || !dray_add(at, 2 * DRAY_TAR_BLOCK + d->slot, &at))
			return dray_fail(e, DRAY_E_FORMAT, "the bundle is too long");
		for (size_t i = 0; i < d->n_members; i++) {
			if (!dray_add(at, DRAY_TAR_BLOCK, &d->members[i].offset) ||
			    !dray_round_up(d->members[i].size, DRAY_TAR_BLOCK, &size) ||
			    !dray_add(d->members[i].offset, size, &at) || at > INT64_MAX)
				return dray_fail(e, DRAY_E_FORMAT, "the bundle is too long");
		}
		if (head != NULL)
			*head = at;
		if (!dray_add(at, blocks_bytes, &at) || !dray_add(at, DRAY_TAR_END, &d->length) || d->length > INT64_MAX)
			return dray_fail(e, DRAY_E_FORMAT, "the bundle is too long");
	} while (d->length != before);
	return 0;
}
