/*
 * journal_head.c - the head of the bundle that a transaction installs, kept in its folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "installer/journal.h"

/* the bytes were read once more, and the bundle may have changed since they were checked: they are checked where they are now */
static int
prove_head(int fd, const uint8_t id[32], struct dray_err *e)
{
	struct dray_bundle_opts o = { .head_only = true, .expect_id = id, .threads = 2 };
	struct dray_bundle *copy;
	struct dray_err why;

	if (dray_bundle_open(fd, &o, &copy, &why) == 0) {
		dray_bundle_close(copy);
		return 0;
	}
	if (why.code == DRAY_E_IO || why.code == DRAY_E_MEDIUM)
		return dray_fail(e, DRAY_E_IO, "read it back: %s", why.text);
	dray_fail(e, DRAY_E_FORMAT, "the bundle is not any more what was checked: %s", why.text);
	return dray_hint(e, "nothing live was changed; see who else writes to the bundle, or copy it again");
}

int
inst_tx_write_head(struct inst_tx *tx, const struct dray_bundle *b, struct dray_err *e)
{
	uint64_t len = dray_bundle_head_len(b), at;
	size_t cap = 1 << 20;
	uint8_t *buf;
	int fd = -1, rc = -1;

	if ((buf = malloc(cap)) == NULL)
		return dray_fail_errno(e, "record of the release");
	if ((fd = openat(tx->dir, "head", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) == -1) {
		dray_fail_errno(e, "create the record of the release");
		goto out;
	}
	for (at = 0; at < len;) {
		size_t n = len - at > cap ? cap : (size_t)(len - at);

		if (dray_bundle_read(b, at, buf, n, e) != 0 || inst_write_all(fd, buf, n, e) != 0)
			goto out;
		at += n;
	}
	rc = prove_head(fd, dray_bundle_id(b), e);
out:
	if (fd != -1 && close(fd) == -1 && rc == 0)
		rc = dray_fail_errno(e, "close the record of the release");
	free(buf);
	return rc == 0 ? 0 : dray_wrap(e, "record of the release");
}
