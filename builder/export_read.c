/*
 * export_read.c - an export taken apart: canonical tar headers, a head that lists what must follow, and then exactly that.
 */
#include <sys/stat.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/io.h"
#include "dray/num.h"
#include "dray/tar.h"
#include "tool/look.h"

#include "builder/export_read.h"

#define HEAD "dray-evidence.json"
#define HEAD_MAX (64u * 1024u * 1024u)
#define RECORDS_MAX (1u << 20)

/* the member @name at *at: where its bytes lie; *at goes behind it */
static int
take(const struct build_export *x, uint64_t *at, const char *name, uint64_t max, uint64_t *data, uint64_t *size,
    struct dray_err *e)
{
	uint8_t header[DRAY_TAR_BLOCK];
	uint64_t end;

	if (!dray_pread_whole(x->fd, header, sizeof(header), *at))
		return dray_fail(e, DRAY_E_FORMAT, "ends where %s should begin", name);
	if (dray_tar_check(header, name, max, size, e) != 0)
		return dray_wrap(e, "at byte %" PRIu64, *at);
	*data = *at + DRAY_TAR_BLOCK;
	if (!dray_round_up(*size, DRAY_TAR_BLOCK, &end) || !dray_add(end, *data, &end) || end > x->bytes)
		return dray_fail(e, DRAY_E_FORMAT, "ends within %s", name);
	*at = end;
	return 0;
}

static int
read_text(const struct build_export *x, uint64_t at, uint64_t size, char **text, uint8_t sum[32], struct dray_err *e)
{
	size_t len;
	int rc = -1;

	*text = NULL;
	if (!dray_fit(size, &len) || len == SIZE_MAX || (*text = malloc(len + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	(*text)[len] = '\0';
	if (!dray_pread_whole(x->fd, *text, len, at))
		dray_fail(e, DRAY_E_IO, "cannot be read at byte %" PRIu64, at);
	else
		rc = dray_sha256_bytes(*text, len, sum, e);
	if (rc != 0) {
		free(*text);
		*text = NULL;
	}
	return rc;
}

static int
read_hash(const struct dray_json *o, const char *key, uint8_t out[32], struct dray_err *e)
{
	const char *hex;
	size_t len;

	if (dray_json_str(o, key, &hex, &len, HEAD, e) != 0)
		return -1;
	if (!dray_unhex(hex, len, out, 32))
		return dray_fail(e, DRAY_E_FORMAT, HEAD ": \"%s\" is not 64 hex digits", key);
	return 0;
}

static int
read_tip(struct build_export *x, struct dray_err *e)
{
	const struct dray_json *anchor, *tip;
	int64_t n;

	if (dray_json_obj(x->head, "anchor", &anchor, HEAD, e) != 0)
		return -1;
	if (!dray_json_has(anchor, "evidence"))
		return 0;
	if (dray_json_obj(anchor, "evidence", &tip, HEAD, e) != 0 ||
	    dray_json_int(tip, "records", 1, INT64_MAX, &n, HEAD, e) != 0 || read_hash(tip, "last", x->last, e) != 0)
		return -1;
	x->records = (uint64_t)n;
	return 0;
}

static int
read_head(struct build_export *x, uint64_t *at, struct dray_err *e)
{
	uint64_t data = 0, size = 0;
	char *text = NULL;
	int64_t n;
	int rc;

	if (take(x, at, HEAD, HEAD_MAX, &data, &size, e) != 0 || read_text(x, data, size, &text, x->id, e) != 0)
		return -1;
	rc = dray_json_parse(text, (size_t)size, true, &x->head, e);
	free(text);
	if (rc != 0)
		return dray_wrap(e, HEAD);
	if (!dray_json_is_obj(x->head))
		return dray_fail(e, DRAY_E_FORMAT, HEAD ": not an object");
	if (dray_json_int(x->head, "dray_export", 1, INT64_MAX, &n, HEAD, e) != 0)
		return -1;
	if (n != 1)
		return dray_fail(e, DRAY_E_NEWER, "an export of version %" PRId64, n);
	return read_tip(x, e);
}

static int
read_record(struct build_export *x, const struct dray_json *o, uint64_t *at, struct dray_err *e)
{
	struct build_export_record *r = &x->v[x->n];
	char name[64];
	int64_t n, size = 0;
	bool list;

	if (o == NULL || !dray_json_is_obj(o))
		return dray_fail(e, DRAY_E_FORMAT, HEAD ": a record is not an object");
	list = dray_json_has(o, "list");
	if (dray_json_int(o, "number", 1, INT64_MAX - 1, &n, HEAD, e) != 0 || read_hash(o, "sha256", r->sha256, e) != 0 ||
	    (list && dray_json_int(o, "list", 0, (int64_t)DRAY_EV_LIST_MAX, &size, HEAD, e) != 0))
		return -1;
	r->number = (uint64_t)n;
	if (x->n > 0 && r->number <= x->v[x->n - 1].number)
		return dray_fail(e, DRAY_E_FORMAT, HEAD ": records out of order");
	snprintf(name, sizeof(name), "evidence/%06" PRIu64 ".json", r->number);
	if (take(x, at, name, DRAY_EV_RECORD_MAX, &r->at, &r->size, e) != 0)
		return -1;
	r->list.fd = -1;
	if (list) {
		snprintf(name, sizeof(name), "evidence/%06" PRIu64 ".paths", r->number);
		if (take(x, at, name, DRAY_EV_LIST_MAX, &r->list.at, &r->list.size, e) != 0)
			return -1;
		if (r->list.size != (uint64_t)size)
			return dray_fail(e, DRAY_E_FORMAT, "%s has another size than " HEAD " says", name);
		r->list.fd = x->fd;
	}
	x->n++;
	return 0;
}

static int
read_all(struct build_export *x, struct dray_err *e)
{
	const struct dray_json *list;
	uint8_t end[DRAY_TAR_END];
	uint64_t at = 0;
	size_t n;

	if (read_head(x, &at, e) != 0 || dray_json_arr(x->head, "records", &list, &n, HEAD, e) != 0)
		return -1;
	if (n > RECORDS_MAX)
		return dray_fail(e, DRAY_E_FORMAT, HEAD ": more than %u records", RECORDS_MAX);
	if ((x->v = calloc(n + 1, sizeof(*x->v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < n; i++)
		if (read_record(x, dray_json_at(list, i), &at, e) != 0)
			return -1;
	if (x->bytes - at != sizeof(end) || !dray_pread_whole(x->fd, end, sizeof(end), at))
		return dray_fail(e, DRAY_E_FORMAT, "does not end behind the last record");
	for (size_t i = 0; i < sizeof(end); i++)
		if (end[i] != 0)
			return dray_fail(e, DRAY_E_FORMAT, "does not end in zeros");
	return 0;
}

int
build_export_open(const char *path, struct build_export *x, struct dray_err *e)
{
	char q[400];
	struct stat st;

	*x = (struct build_export){ .fd = -1 };
	if (tool_bundle_fd(path, &x->fd, e) != 0)
		goto fail;
	if (fstat(x->fd, &st) == -1 || st.st_size < 0) {
		dray_fail_errno(e, "look at it");
		goto fail;
	}
	x->bytes = (uint64_t)st.st_size;
	if (read_all(x, e) != 0) {
		if (e->code == DRAY_E_FORMAT)
			dray_hint(e, "take a file that `dray-install status --export` wrote; copy it again");
		goto fail;
	}
	return 0;
fail:
	build_export_close(x);
	return dray_wrap(e, "%s", dray_quote(path, strlen(path), q, sizeof(q)));
}

void
build_export_close(struct build_export *x)
{
	dray_json_free(x->head);
	free(x->v);
	if (x->fd != -1)
		close(x->fd);
	*x = (struct build_export){ .fd = -1 };
}

int
build_export_record(const struct build_export *x, size_t i, char **text, struct dray_err *e)
{
	const struct build_export_record *r = &x->v[i];
	uint8_t sum[32];

	if (read_text(x, r->at, r->size, text, sum, e) != 0)
		return -1;
	if (memcmp(sum, r->sha256, 32) == 0)
		return 0;
	free(*text);
	*text = NULL;
	dray_fail(e, DRAY_E_FORMAT, "record %" PRIu64 " is damaged: it has another hash than " HEAD " says", r->number);
	return dray_hint(e, "copy the file again");
}
