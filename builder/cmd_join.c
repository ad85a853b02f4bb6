/*
 * cmd_join.c - dray join: volumes as one file again, every byte of it checked. The installer does not need that.
 */
#include <sys/stat.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/media.h"
#include "builder/temp.h"
#include "dray/digest.h"
#include "dray/num.h"
#include "tool/look.h"

#define COPY_BYTES (size_t)(1 << 20)

struct join {
	struct tool_common common;
	struct tool_list dirs;
	const char *from, *out;
};

int
build_media_bytes(const struct dray_bundle *b, uint64_t from, uint64_t len, int fd, uint64_t to, struct tool_progress *p,
    uint8_t sum[32], struct dray_err *e)
{
	uint8_t *buf = malloc(COPY_BYTES);
	struct dray_sha256 *h = NULL;
	uint64_t done = 0;
	int rc = -1;
	size_t n;

	if (buf == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
	} else if (dray_sha256_new(&h, e) == 0 && dray_sha256_begin(h, e) == 0) {
		for (rc = 0; rc == 0 && done < len; done += n) {
			n = len - done < COPY_BYTES ? (size_t)(len - done) : COPY_BYTES;
			if (tool_signal_seen() != 0)
				rc = dray_fail(e, DRAY_E_SIGNAL, "stopped by a signal; nothing is left of it");
			else if ((rc = dray_bundle_read(b, from + done, buf, n, e)) == 0 &&
			    (rc = dray_sha256_add(h, buf, n, e)) == 0 && (rc = build_temp_write(fd, to + done, buf, n, e)) == 0)
				tool_progress_at(p, from + done + n, 0);
		}
		if (rc == 0)
			rc = sum != NULL ? dray_sha256_end(h, sum, e) : 0;
	}
	dray_sha256_free(h);
	free(buf);
	return rc;
}

/* what was written is opened and read as any bundle is, every byte of it */
static int
check(const struct join *j, int fd, struct dray_err *e)
{
	struct tool_progress p;
	struct dray_bundle_opts o = { .unsigned_ok = true, .threads = (unsigned)j->common.jobs };
	struct dray_check_opts co = { .threads = (unsigned)j->common.jobs, .progress = tool_progress_tell, .ctx = &p,
		.stop = tool_signal_seen };
	struct dray_bundle *b;
	int rc;

	if (dray_bundle_open(fd, &o, &b, e) != 0)
		return -1;
	tool_progress_begin(&p, &j->common, "checking", dray_bundle_desc(b)->length);
	rc = dray_bundle_check(b, &co, e);
	tool_progress_end(&p, rc == 0);
	dray_bundle_close(b);
	return rc;
}

static int
write_out(const struct join *j, const struct dray_bundle *b, struct dray_err *e)
{
	uint64_t len = dray_bundle_desc(b)->length;
	char q[DRAY_QUOTE_CAP(255)];
	struct tool_progress p;
	struct build_temp t;
	int rc;

	if ((rc = build_temp_open(j->out, &t, e)) == 0) {
		tool_progress_begin(&p, &j->common, "join", len);
		rc = build_media_bytes(b, 0, len, t.fd, 0, &p, NULL, e);
		tool_progress_end(&p, rc == 0);
		if (rc == 0 && (rc = check(j, t.fd, e)) == 0)
			rc = build_temp_commit(&t, e);
		build_temp_drop(&t);
	}
	return rc == 0 ? 0 : dray_wrap(e, "%s", dray_quote(j->out, strlen(j->out), q, sizeof(q)));
}

static int
tell(const struct join *j, const struct dray_bundle *b, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)], h[32], hex[65];
	struct dray_json *o;

	if (j->common.json) {
		o = dray_json_new_obj();
		dray_json_set_path(o, "bundle", j->out, strlen(j->out));
		dray_json_set_str(o, "id", dray_hex(dray_bundle_id(b), 32, hex));
		dray_json_set_int(o, "size", (int64_t)dray_bundle_desc(b)->length);
		return tool_json(o, e) == 0 ? 0 : -1;
	}
	if (j->common.quiet)
		return 0;
	dray_quote(j->out, strlen(j->out), q, sizeof(q));
	printf("%s: %s, every byte as it was signed over; who signed it was not asked\nnext: dray verify ", q,
	    tool_human(dray_bundle_desc(b)->length, h));
	tool_shell_print(stdout, j->out);
	printf(" --keyring ops.pub\n");
	return 0;
}

/* that would be one file in the place of a volume, which the same command then finds no more */
static bool
is_volume(const struct join *j, const struct tool_media *m)
{
	struct stat out, st;

	if (stat(j->out, &out) != 0)
		return false;
	for (uint32_t i = 0; i < m->volumes.n; i++)
		if (fstat(m->volumes.v[i].fd, &st) == 0 && st.st_dev == out.st_dev && st.st_ino == out.st_ino)
			return true;
	return false;
}

static int
run(struct join *j, struct dray_err *e)
{
	struct dray_bundle_opts o = { .unsigned_ok = true, .no_index = true };
	struct dray_bundle *b = NULL;
	struct tool_media m;
	int rc = -1;

	if (j->out == NULL) {
		dray_fail(e, DRAY_E_USAGE, "no output");
		return dray_hint(e, "name the file to write: -o FILE");
	}
	if (dray_crypto_init(e) != 0)
		return -1;
	if (tool_media_open(j->from, &j->dirs, &m, e) == 0) {
		o.volumes = tool_media_volumes(&m);
		if (o.volumes == NULL) {
			dray_fail(e, DRAY_E_USAGE, "is one file already: nothing to join");
		} else if (is_volume(j, &m)) {
			dray_fail(e, DRAY_E_USAGE, "the file to write is one of its volumes");
			dray_hint(e, "give it another name: -o FILE");
		} else if (dray_bundle_open(-1, &o, &b, e) == 0 && write_out(j, b, e) == 0) {
			rc = tell(j, b, e);
		}
		dray_bundle_close(b);
	}
	tool_media_close(&m);
	return rc;
}

int
build_cmd_join(int argc, char **argv, const struct tool_cmd *self)
{
	struct join j = { .from = NULL };
	struct tool_opt opts[] = {
		{ .name = "output", .letter = 'o', .kind = TOOL_TEXT, .out = &j.out, .arg = "FILE", .help = "the bundle to write" },
		TOOL_OPT_DIR(j.dirs),
		{ .name = NULL },
	};
	struct dray_err e = { .code = DRAY_OK };
	char text[340], q[300];
	const char *operand[1];
	size_t n;
	int rc;

	if ((rc = tool_parse(argc, argv, self, opts, &j.common, 1, 1, operand, &n)) != -1)
		return rc;
	j.from = operand[0];
	snprintf(text, sizeof(text), "cannot join %s", dray_quote(j.from, strlen(j.from), q, sizeof(q)));
	return run(&j, &e) == 0 ? 0 : tool_error(&j.common, text, &e);
}
