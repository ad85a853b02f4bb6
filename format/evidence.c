/*
 * evidence.c - one record of the chain, read: its own hash, the one it names, and the list that belongs to it.
 */
#include <string.h>

#include "dray/digest.h"
#include "dray/evidence.h"
#include "dray/json.h"
#include "dray/num.h"

static int
read_hash(const struct dray_json *o, const char *key, uint8_t out[32], const char *where, struct dray_err *e)
{
	const char *hex;
	size_t len;

	if (dray_json_str(o, key, &hex, &len, where, e) != 0)
		return -1;
	if (!dray_unhex(hex, len, out, 32))
		return dray_fail(e, DRAY_E_FORMAT, "%s: \"%s\" is not 64 hex digits", where, key);
	return 0;
}

static int
read_list(struct dray_ev_record *r, struct dray_err *e)
{
	const struct dray_json *list;
	int64_t n;

	if (!dray_json_has(r->doc, "list"))
		return 0;
	if (dray_json_obj(r->doc, "list", &list, "record", e) != 0 ||
	    dray_json_int(list, "size", 0, (int64_t)DRAY_EV_LIST_MAX, &n, "list", e) != 0 ||
	    read_hash(list, "sha256", r->list_sha256, "list", e) != 0)
		return -1;
	r->list_size = (uint64_t)n;
	r->has_list = true;
	return 0;
}

int
dray_ev_parse(const char *text, size_t len, struct dray_ev_record *out, struct dray_err *e)
{
	size_t n;
	int64_t v;

	*out = (struct dray_ev_record){ .number = 0 };
	if (dray_sha256_bytes(text, len, out->sha256, e) != 0)
		return -1;
	if (len > DRAY_EV_RECORD_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "a record of %zu bytes is too long", len);
	if (dray_json_parse(text, len, true, &out->doc, e) != 0)
		return -1;
	if (!dray_json_is_obj(out->doc))
		return dray_fail(e, DRAY_E_FORMAT, "a record is not an object");
	if (dray_json_int(out->doc, "dray_evidence", 1, INT64_MAX, &v, "record", e) != 0)
		return -1;
	if (v != 1)
		return dray_fail(e, DRAY_E_NEWER, "a record of a newer version");
	if (dray_json_int(out->doc, "number", 1, INT64_MAX, &v, "record", e) != 0 ||
	    dray_json_str(out->doc, "ended", &out->ended, &n, "record", e) != 0 ||
	    read_hash(out->doc, "prev", out->prev, "record", e) != 0)
		return -1;
	out->number = (uint64_t)v;
	return read_list(out, e);
}

void
dray_ev_record_free(struct dray_ev_record *r)
{
	dray_json_free(r->doc);
	r->doc = NULL;
}
