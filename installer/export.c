/*
 * export.c - dray-install status --export FILE: the chain of evidence, what the anchor says and what is kept here, in one
 * plain tar file that `dray report` reads where there is a network. Equal states give equal bytes: no time and no name
 * of the machine goes in. Source: spec/apply.md, "Export".
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/io.h"
#include "dray/num.h"
#include "dray/tar.h"
#include "dray/trust.h"
#include "tool/runs.h"

#include "installer/cmd.h"

#define CHUNK (1u << 18)

struct out {
	const char *path;	/* as given */
	int dir, fd;
	char tmp[48];
	const char *leaf;
	bool made;
};

static int
refuse_existing(const struct out *o, struct dray_err *e)
{
	char q[400];

	dray_fail(e, DRAY_E_USAGE, "%s is there already", dray_quote(o->path, strlen(o->path), q, sizeof(q)));
	return dray_hint(e, "an export replaces nothing: name a new file, or move that one away");
}

static int
out_open(struct out *o, const char *path, struct dray_err *e)
{
	struct stat st;
	char *folder;

	*o = (struct out){ .path = path, .dir = -1, .fd = -1, .leaf = tool_leaf_of(path) };
	if (o->leaf[0] == '\0')
		return dray_fail(e, DRAY_E_USAGE, "--export: %s names no file", path);
	if ((folder = tool_folder_of(path)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	o->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(folder);
	if (o->dir == -1)
		return dray_fail_errno(e, "open the folder of %s", path);
	if (fstatat(o->dir, o->leaf, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return refuse_existing(o, e);
	snprintf(o->tmp, sizeof(o->tmp), ".dray-export-%ld", (long)getpid());
	o->fd = openat(o->dir, o->tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (o->fd == -1)
		return dray_fail_errno(e, "create a file beside %s", path);
	o->made = true;
	return 0;
}

static int
out_commit(struct out *o, struct dray_err *e)
{
	int fd = o->fd;

	if (fsync(fd) == -1)
		return dray_fail_errno(e, "flush %s", o->path);
	o->fd = -1;
	if (close(fd) == -1)
		return dray_fail_errno(e, "close %s", o->path);
	if (os_rename_noreplace(o->dir, o->tmp, o->dir, o->leaf) == -1)
		return errno == EEXIST ? refuse_existing(o, e) : dray_fail_errno(e, "name %s", o->path);
	o->made = false;
	if (fsync(o->dir) == -1)
		return dray_fail_errno(e, "flush the folder of %s", o->path);
	return 0;
}

static void
out_drop(struct out *o)
{
	if (o->fd != -1)
		close(o->fd);
	if (o->made)
		unlinkat(o->dir, o->tmp, 0);
	if (o->dir != -1)
		close(o->dir);
}

static int
put(struct out *o, const void *p, size_t len, struct dray_err *e)
{
	if (inst_write_all(o->fd, p, len, e) == 0)
		return 0;
	dray_wrap(e, "%s", o->path);
	return dray_hint(e, "nothing of it is left there; name a file where there is room");
}

static int
pad(struct out *o, uint64_t size, struct dray_err *e)
{
	static const uint8_t zeros[DRAY_TAR_BLOCK];

	return size % DRAY_TAR_BLOCK == 0 ? 0 :
	    put(o, zeros, DRAY_TAR_BLOCK - (size_t)(size % DRAY_TAR_BLOCK), e);
}

static int
member(struct out *o, const char *name, const void *p, size_t len, struct dray_err *e)
{
	uint8_t header[DRAY_TAR_BLOCK];

	if (dray_tar_header(name, len, header, e) != 0 || put(o, header, sizeof(header), e) != 0 ||
	    put(o, p, len, e) != 0)
		return -1;
	return pad(o, len, e);
}

static int
member_file(struct out *o, const char *name, int fd, uint64_t size, struct dray_err *e)
{
	uint8_t header[DRAY_TAR_BLOCK], *buf = malloc(CHUNK);
	int rc = -1;

	if (buf == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (dray_tar_header(name, size, header, e) != 0 || put(o, header, sizeof(header), e) != 0)
		goto out;
	for (uint64_t at = 0; at < size; ) {
		size_t n = size - at < CHUNK ? (size_t)(size - at) : CHUNK;

		if (!dray_pread_whole(fd, buf, n, at)) {
			dray_fail(e, DRAY_E_IO, "%s cannot be read", name);
			goto out;
		}
		if (put(o, buf, n, e) != 0)
			goto out;
		at += n;
	}
	rc = pad(o, size, e);
out:
	free(buf);
	return rc;
}

/*
 * the records that are here, in the head; those that cannot be read are missing there as they are here
 * @unread: the first of these whose disk did not answer, as it may be whole
 */
static int
list_records(const struct inst_front *f, struct dray_json *head, const uint64_t *numbers, size_t n, bool *have,
    struct dray_err *unread, struct dray_err *e)
{
	struct dray_json *list = dray_json_set_arr(head, "records"), *one;
	struct dray_err bad;
	uint8_t *p, sum[32];
	uint64_t size;
	char hex[65];
	size_t len;
	int fd, r;

	for (size_t i = 0; i < n; i++) {
		r = inst_chain_read(&f->st, numbers[i], &p, &len, &bad);
		have[i] = r == 0;
		if (r == -1 && bad.code == DRAY_E_IO && unread->code == DRAY_OK)
			*unread = bad;
		if (!have[i])
			continue;
		r = dray_sha256_bytes(p, len, sum, e);
		free(p);
		if (r != 0 || (r = inst_chain_list(&f->st, numbers[i], &fd, &size, e)) < 0)
			return -1;
		one = dray_json_push_obj(list);
		dray_json_set_int(one, "number", (int64_t)numbers[i]);
		dray_json_set_str(one, "sha256", dray_hex(sum, 32, hex));
		if (r == 0 && size <= DRAY_EV_LIST_MAX)
			dray_json_set_int(one, "list", (int64_t)size);
		if (r == 0)
			close(fd);
	}
	return 0;
}

static int
list_generations(const struct inst_front *f, struct dray_json *head, struct dray_err *e)
{
	struct dray_json *list = dray_json_set_arr(head, "generations"), *one;
	enum inst_pending pending = INST_PENDING_NONE;
	struct inst_tx *tx;
	uint32_t *numbers, number;
	size_t n, i;
	int rc = -1;

	if (inst_tx_list(&f->st, &numbers, &n, e) != 0)
		return -1;
	for (i = 0; i < n; i++) {
		if (inst_tx_open(&f->st, numbers[i], false, &tx, e) != 0)
			goto out;
		one = dray_json_push_obj(list);
		dray_json_set_int(one, "number", tx->number);
		dray_json_set_str(one, "state", inst_state_name(tx));
		if (tx->has_plan) {
			inst_installed_json(one, "from", &tx->from);
			inst_installed_json(one, "to", &tx->to);
		}
		inst_tx_close(tx);
	}
	if (f->st.dir != -1 && inst_pending(&f->st, &pending, &number, e) != 0)
		goto out;
	dray_json_set_str(head, "pending", inst_pending_word(pending));
	rc = 0;
out:
	free(numbers);
	return rc;
}

static int
write_members(const struct inst_front *f, struct out *o, const uint64_t *numbers, size_t n, const bool *have,
    struct dray_err *e)
{
	static const uint8_t end[DRAY_TAR_END];
	char name[64];
	uint64_t size;
	uint8_t *p;
	size_t len;
	int fd, r;

	for (size_t i = 0; i < n; i++) {
		if (!have[i])
			continue;
		if (inst_chain_read(&f->st, numbers[i], &p, &len, e) != 0)
			return dray_wrap(e, "a record went away meanwhile");
		snprintf(name, sizeof(name), "evidence/%06" PRIu64 ".json", numbers[i]);
		r = member(o, name, p, len, e);
		free(p);
		if (r != 0 || (r = inst_chain_list(&f->st, numbers[i], &fd, &size, e)) < 0)
			return -1;
		if (r == 1)
			continue;
		snprintf(name, sizeof(name), "evidence/%06" PRIu64 ".paths", numbers[i]);
		r = size <= DRAY_EV_LIST_MAX ? member_file(o, name, fd, size, e) : 0;
		close(fd);
		if (r != 0)
			return -1;
	}
	return put(o, end, sizeof(end), e);
}

/* *id: SHA-256 of the head, which names the hash of every record */
static int
write_all(const struct inst_front *f, struct out *o, uint8_t id[32], size_t *records, struct dray_err *unread,
    struct dray_err *e)
{
	struct dray_json *head = dray_json_new_obj();
	uint64_t *numbers = NULL;
	bool *have = NULL;
	char *text = NULL;
	size_t n, len;
	int rc = -1;

	if (inst_chain_numbers(&f->st, &numbers, &n, e) != 0)
		goto out;
	if ((have = calloc(n + 1, sizeof(*have))) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	dray_json_set_int(head, "dray_export", 1);
	inst_anchor_json(&f->anchor, dray_json_set_obj(head, "anchor"));
	if (list_generations(f, head, e) != 0 || list_records(f, head, numbers, n, have, unread, e) != 0 ||
	    dray_json_write(head, &text, &len, e) != 0 || dray_sha256_bytes(text, len, id, e) != 0 ||
	    member(o, "dray-evidence.json", text, len, e) != 0 || write_members(f, o, numbers, n, have, e) != 0)
		goto out;
	*records = n;
	rc = 0;
out:
	dray_json_free(head);
	free(numbers);
	free(have);
	free(text);
	return rc;
}

static int
tell(struct inst_front *f, const char *path, const uint8_t id[32], size_t records, bool intact, struct dray_err *e)
{
	struct dray_json *o;
	char print[40], hex[65];

	if (!f->common.json) {
		inst_say(f, "%s: %zu %s, export id %s", path, records, records == 1 ? "record" : "records",
		    dray_fingerprint(id, print));
		inst_say(f, "next: take it out of here and look at it: dray report %s", path);
		return 0;
	}
	o = dray_json_new_obj();
	dray_json_set_str(o, "file", path);
	dray_json_set_int(o, "records", (int64_t)records);
	dray_json_set_str(o, "id", dray_hex(id, 32, hex));
	dray_json_set_bool(o, "intact", intact);
	if (!intact)
		inst_json_error(f, o, e);
	return tool_json(o, e) == 0 ? 0 : -1;
}

int
inst_export(struct inst_front *f, const char *path, struct dray_err *e)
{
	struct dray_err broken = { .code = DRAY_OK }, unread = { .code = DRAY_OK };
	struct tool_runs r;
	struct out o;
	uint8_t id[32];
	size_t records;
	int rc = -1;

	tool_runs_begin(&r, &f->common, NULL, true);
	if (out_open(&o, path, e) != 0 || write_all(f, &o, id, &records, &unread, e) != 0 || inst_log_check(f, true, &r, e) != 0 ||
	    out_commit(&o, e) != 0)
		goto out;
	if (tool_runs_end(&r, f->anchor.records, f->anchor.last, NULL, &broken) == 0 && unread.code != DRAY_OK) {
		broken = unread;	/* a moment later it could be read */
		dray_hint(&broken, "a record is missing in it that is here; delete it, and run it again");
	}
	if (broken.code != DRAY_OK)
		dray_wrap(&broken, "%s is written, but", path);
	if (broken.code != DRAY_OK)
		*e = broken;
	rc = tell(f, path, id, records, broken.code == DRAY_OK, e);
	if (rc == 0 && broken.code != DRAY_OK)
		rc = -1;
out:
	tool_runs_free(&r);
	out_drop(&o);
	return rc;
}
