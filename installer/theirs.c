/*
 * theirs.c - what the release has for a path whose edit stays: kept with the generation, so that both sides can be looked at
 * when the bundle is gone. Source: spec/cli.md 3.1.1.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/merge3.h"
#include "dray/num.h"

#include "installer/files.h"
#include "installer/texts.h"
#include "installer/theirs.h"

/* the content of a path of the release, or DRAY_NONE */
static uint32_t
content_of(const struct dray_index *ix, const char *path, size_t len)
{
	uint32_t row = dray_index_find(ix, path, len);
	struct dray_state s;
	struct dray_entry en;

	if (row == DRAY_NONE)
		return DRAY_NONE;
	dray_index_entry(ix, row, &en);
	if (en.target == DRAY_NONE)
		return DRAY_NONE;
	dray_index_state(ix, en.target, &s);
	return s.type == DRAY_FILE ? s.content : DRAY_NONE;
}

static int
keep_one(int dir, struct inst_texts *t, const struct dray_index *ix, uint32_t content, struct dray_err *e)
{
	struct dray_content c;
	uint8_t *p = NULL;
	char hex[65];
	size_t len;
	int rc;

	dray_index_content(ix, content, &c);
	/* a file that is large, or that the bundle holds as a delta alone, is no text that people compare */
	if ((rc = inst_text_read(t, content, DRAY_MERGE3_MAX_BYTES, &p, &len, e)) == 0)
		rc = inst_write_file(dir, dray_hex(c.sha256, 32, hex), p, len, 0600, e);
	free(p);
	return rc < 0 ? -1 : 0;
}

int
inst_theirs_keep(const struct inst_tx *tx, const struct inst_plan *p, const struct dray_bundle *b, struct dray_err *e)
{
	struct inst_texts *t = NULL;
	int dir = -1, rc = 0;

	for (size_t i = 0; i < p->n_notes && rc == 0; i++) {
		const struct inst_note *n = &p->notes[i];
		uint32_t content;

		if ((n->kind != INST_NOTE_MINE && n->kind != INST_NOTE_USED) ||
		    (content = content_of(p->ix, n->path, n->len)) == DRAY_NONE)
			continue;
		if (dir == -1 && ((mkdirat(tx->dir, INST_THEIRS_DIR, 0700) == -1 && errno != EEXIST) ||
		    (dir = openat(tx->dir, INST_THEIRS_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1))
			rc = dray_fail_errno(e, "make a folder for the release's texts");
		else if (t == NULL && inst_texts_new(b, &t, e) != 0)
			rc = -1;
		else
			rc = keep_one(dir, t, p->ix, content, e);
	}
	inst_texts_free(t);
	if (dir != -1)
		close(dir);
	return rc;
}

bool
inst_theirs_kept(const struct inst_tx *tx, const uint8_t sha256[32], char name[INST_THEIRS_NAME])
{
	struct stat st;

	memcpy(name, INST_THEIRS_DIR "/", sizeof(INST_THEIRS_DIR));
	dray_hex(sha256, 32, name + sizeof(INST_THEIRS_DIR));
	return fstatat(tx->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}
