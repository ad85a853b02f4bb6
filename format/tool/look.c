/*
 * look.c - what info, list and verify share: opening, and what happens to a path.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/trust.h"
#include "tool/look.h"
#include "tool_in.h"

const char tool_change_letter[TOOL_CHANGES] = { '=', 'm', '~', 't', '>', '+', '-' };
const char *const tool_change_name[TOOL_CHANGES] = { "same", "metadata", "content", "type", "moved", "added",
	"removed" };

static enum tool_change
change_of_states(const struct dray_index *ix, uint32_t from, uint32_t to)
{
	struct dray_state a, b;

	if (from == to)
		return TOOL_SAME;
	if (from == DRAY_NONE || to == DRAY_NONE)
		return TOOL_CONTENT;	/* there in some bases only */
	dray_index_state(ix, from, &a);
	dray_index_state(ix, to, &b);
	if (a.type != b.type)
		return TOOL_TYPE;
	if (a.content != b.content || a.link != b.link || a.rdev_major != b.rdev_major ||
	    a.rdev_minor != b.rdev_minor || a.target_len != b.target_len)
		return TOOL_CONTENT;
	if (a.target_len > 0 && memcmp(a.target, b.target, a.target_len) != 0)
		return TOOL_CONTENT;
	return TOOL_META;
}

enum tool_change
tool_change_of(const struct dray_index *ix, const uint32_t *moves, uint32_t row, const struct dray_entry *en)
{
	enum tool_change most = TOOL_SAME;
	bool absent_everywhere = true;

	if ((en->flags & DRAY_ENTRY_SAME) != 0)
		return TOOL_SAME;
	if (en->target == DRAY_NONE)
		return TOOL_REMOVED;
	for (uint32_t i = 0; i < en->alt_count; i++) {
		enum tool_change c;
		struct dray_alt alt;

		dray_index_alt(ix, en->alt_first + i, &alt);
		absent_everywhere &= alt.state == DRAY_NONE;
		c = change_of_states(ix, alt.state, en->target);
		if (c > most)
			most = c;
	}
	if (!absent_everywhere)
		return most;
	return moves != NULL && moves[row] != DRAY_NONE ? TOOL_MOVED : TOOL_ADDED;
}

int
tool_count(const struct dray_index *ix, struct tool_counts *c, struct dray_err *e)
{
	uint32_t *moves = tool_moves_of(ix);

	*c = (struct tool_counts){ .entries = dray_index_rows(ix, DRAY_T_ENTRIES),
		.frames = dray_index_rows(ix, DRAY_T_FRAMES) };
	if (moves == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (uint32_t i = 0; i < c->entries; i++) {
		struct dray_entry en;
		struct dray_state s;

		dray_index_entry(ix, i, &en);
		c->by[tool_change_of(ix, moves, i, &en)]++;
		if (en.target == DRAY_NONE)
			continue;
		dray_index_state(ix, en.target, &s);
		if (s.type != DRAY_FILE)
			continue;
		c->files++;
		if (s.link == 0 || s.link == i + 1) {	/* one inode, once */
			struct dray_content ct;

			dray_index_content(ix, s.content, &ct);
			c->bytes += dray_content_bytes(&ct);
			c->unsized += ct.size == DRAY_SIZE_UNKNOWN;
		}
	}
	for (uint32_t i = 0; i < dray_index_rows(ix, DRAY_T_CONTENTS); i++) {
		struct dray_content ct;

		dray_index_content(ix, i, &ct);
		c->sent += ct.recipe_count > 0;
		c->sent_bytes += ct.recipe_count > 0 ? ct.size : 0;
	}
	for (uint32_t i = 0; i < c->frames; i++) {
		struct dray_frame f;

		dray_index_frame(ix, i, &f);
		c->stored += f.stored;
	}
	free(moves);
	return 0;
}

void
tool_counts_print(const struct tool_counts *c)
{
	char text[400];

	snprintf(text, sizeof(text), "%zu: %zu added, %zu removed, %zu moved, %zu changed, %zu of another type, %zu only "
	    "attributes, %zu the same", c->entries, c->by[TOOL_ADDED], c->by[TOOL_REMOVED], c->by[TOOL_MOVED],
	    c->by[TOOL_CONTENT], c->by[TOOL_TYPE], c->by[TOOL_META], c->by[TOOL_SAME]);
	printf("  paths      ");
	tool_wrap_text(text, 13, 13);
}

/* by whole numbers: the C library's calendar would open the zone's file, and the installer opens nothing it need not */
const char *
tool_time(int64_t sec, char out[40])
{
	/* days since 1 March of a year 400 before 0: a year that begins in March has its leap day at its end */
	uint64_t days, left, era, doe, yoe, doy, month, year;

	if (sec < -62167219200 || sec > 253402300799) {		/* years 0 to 9999 */
		snprintf(out, 40, "@%" PRId64, sec);
		return out;
	}
	left = (uint64_t)(sec + (719468 + 146097) * (int64_t)86400);
	days = left / 86400;
	left %= 86400;
	era = days / 146097;
	doe = days % 146097;
	yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	month = (5 * doy + 2) / 153;
	year = yoe + era * 400 + (month >= 10) - 400;
	snprintf(out, 40, "%04u-%02u-%02uT%02u:%02u:%02uZ", (unsigned)year % 10000, (unsigned)(month + 2) % 12 + 1,
	    (unsigned)(doy - (153 * month + 2) / 5) % 31 + 1, (unsigned)(left / 3600), (unsigned)(left / 60 % 60),
	    (unsigned)(left % 60));
	return out;
}

bool
tool_is_past(uint64_t eol, int64_t now)
{
	return eol != 0 && now > 0 && eol <= (uint64_t)now;
}

const char *
tool_eol(uint64_t eol, int64_t now, char out[TOOL_EOL_CAP])
{
	char when[40];

	snprintf(out, TOOL_EOL_CAP, "end of life %s %s", tool_is_past(eol, now) ? "was" : "is", tool_time((int64_t)eol, when));
	return out;
}

const char *
tool_keyring_usual(void)
{
	struct stat st;

	if (stat(TOOL_KEYRING_FILE, &st) == 0)
		return TOOL_KEYRING_FILE;
	return stat(TOOL_KEYRING_DIR, &st) == 0 ? TOOL_KEYRING_DIR : NULL;
}

int
tool_bundle_open(const char *path, int mode, int *fd, struct dray_err *e)
{
	struct stat st;

	/* NONBLOCK: a fifo would make us wait before we can refuse it */
	if ((*fd = open(path, mode | O_CLOEXEC | O_NONBLOCK)) == -1 && errno == EISDIR)
		return dray_fail(e, DRAY_E_USAGE, "not a file");
	if (*fd == -1)
		return dray_fail_errno(e, "cannot be opened");
	if (fstat(*fd, &st) != 0)
		dray_fail_errno(e, "cannot be looked at");
	else if (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode))
		return 0;
	else
		dray_fail(e, DRAY_E_USAGE, "not a file");
	close(*fd);
	*fd = -1;
	return -1;
}

int
tool_bundle_fd(const char *path, int *fd, struct dray_err *e)
{
	return tool_bundle_open(path, O_RDONLY, fd, e);
}

int
tool_look_open(int fd, const struct tool_look *o, struct dray_bundle **b, struct dray_err *e)
{
	struct dray_bundle_opts bo = { .threads = (unsigned)o->common->jobs, .unsigned_ok = o->keyring.n == 0,
		.volumes = o->volumes };
	struct dray_keyring *keys = NULL;
	int rc;

	*b = NULL;
	if (o->keyring.n > 0 &&
	    dray_keyring_load(o->keyring.v, o->keyring.n, o->common->allow_test_keys, &keys, e) != 0)
		return -1;
	bo.keyring = keys;
	rc = dray_bundle_open(fd, &bo, b, e);
	dray_keyring_free(keys);	/* the verdict is ours */
	return rc;
}

static int
run_look(int argc, char **argv, const struct tool_cmd *self, int (*look)(int, const struct tool_look *, struct dray_err *),
    const char *what)
{
	struct tool_common common = { .json = false };
	struct tool_look o = { .common = &common };
	struct tool_media m = { .fd = -1 };
	struct tool_opt all[] = {
		{ .name = "keyring", .kind = TOOL_LIST, .out = &o.keyring, .arg = "FILE",
		  .help = "public keys, a keyring, or a folder of *.pub" },
		TOOL_OPT_DIR(o.dirs),
		{ .name = NULL }, { .name = NULL }, { .name = NULL }, { .name = NULL },
	};
	const char *path, *usual;
	struct dray_err e;
	char quoted[300], text[340];
	int rc;
	size_t n;

	if (look == tool_list_paths) {
		all[2] = (struct tool_opt){ .name = "long", .letter = 'l', .kind = TOOL_FLAG, .out = &o.long_list,
			.help = "show attributes" };
		all[3] = (struct tool_opt){ .name = "changed", .letter = 'c', .kind = TOOL_FLAG,
			.out = &o.changed_only, .help = "leave out what stays the same" };
		all[4] = (struct tool_opt){ .name = "why", .kind = TOOL_LIST, .out = &o.why, .arg = "PATH",
			.help = "how the bytes of this path are made, and what that costs; repeats" };
	}
	if (look == tool_verify)
		all[2] = (struct tool_opt){ .name = "upstream", .kind = TOOL_TEXT, .out = &o.upstream, .arg = "KEYPRINT",
			.help = "prove each path against the list that this key of a freebsd-update server signed" };
	if ((rc = tool_parse(argc, argv, self, all, &common, 1, 1, &path, &n)) != -1)
		return rc;
	dray_err_clear(&e);
	o.name = path;
	snprintf(text, sizeof(text), "cannot %s %s", what, dray_quote(path, strlen(path), quoted, sizeof(quoted)));
	if (look == tool_verify && o.keyring.n == 0 && (usual = tool_keyring_usual()) != NULL) {
		o.keyring = (struct tool_list){ &usual, 1 };
		o.keyring_usual = true;
	}
	if (look == tool_verify && o.keyring.n == 0) {
		dray_fail(&e, DRAY_E_USAGE, "no keyring: neither --keyring nor %s nor %s", TOOL_KEYRING_FILE, TOOL_KEYRING_DIR);
		dray_hint(&e, "say whom you trust: --keyring ops.pub");
		rc = -1;
	} else if ((rc = dray_crypto_init(&e)) == 0 && (rc = tool_media_open(path, &o.dirs, &m, &e)) == 0) {
		o.volumes = tool_media_volumes(&m);
		rc = look(m.fd, &o, &e);
		/* which of the volumes to copy again is not to be seen from where the damage is */
		if (rc != 0 && look == tool_verify && o.volumes != NULL && e.code == DRAY_E_FORMAT)
			tool_media_check(&m, &common, &e);
	} else if (look == tool_verify) {
		tool_media_check(&m, &common, &e);
	}
	tool_media_close(&m);
	return rc == 0 ? 0 : tool_error(&common, text, &e);
}

int
tool_cmd_info(int argc, char **argv, const struct tool_cmd *self)
{
	return run_look(argc, argv, self, tool_info, "read");
}

int
tool_cmd_list(int argc, char **argv, const struct tool_cmd *self)
{
	return run_look(argc, argv, self, tool_list_paths, "list");
}

int
tool_cmd_verify(int argc, char **argv, const struct tool_cmd *self)
{
	return run_look(argc, argv, self, tool_verify, "verify");
}
