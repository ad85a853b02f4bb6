/*
 * mtree.c - a release as mtree(5) lines, for programs that are not ours: mtree of FreeBSD and NetBSD, bsdtar.
 */
#include <inttypes.h>
#include <string.h>

#include "dray/num.h"
#include "dray/path.h"

#include "installer/mtree.h"
#include "installer/plan.h"

#define TARGET_MAX 4095u	/* index.h: of a symlink */

const char *
inst_mtree_escape(const char *text, size_t len, char *out)
{
	char *p = out;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		/* space ends a name; the others are comments, patterns, values and escapes to one reader or another */
		if (c > ' ' && c < 127 && strchr("#*?[]=\\\"", c) == NULL) {
			*p++ = (char)c;
			continue;
		}
		*p++ = '\\';
		*p++ = (char)('0' + (c >> 6));
		*p++ = (char)('0' + (c >> 3 & 7));
		*p++ = (char)('0' + (c & 7));
	}
	*p = '\0';
	return out;
}

static int
print_attrs(const struct dray_index *ix, const struct dray_state *s, bool no_owner, FILE *out, struct dray_err *e)
{
	char words[DRAY_FF_TEXT];
	struct inst_meta m;
	uint8_t known, fflags = dray_index_fflags(ix, s, NULL, &known);

	if (inst_meta_of_state(ix, s, &m, e) != 0)
		return -1;
	if (no_owner) {
		/* these bits were left as they were, set or not, and mtree knows no part of a mode */
		if ((m.mode & 06000) != 0)
			m.has &= (uint16_t)~DRAY_HAS_MODE;
		inst_meta_plain(&m);
	}
	if ((m.has & DRAY_HAS_UID) != 0)
		fprintf(out, " uid=%" PRIu32, m.uid);
	if ((m.has & DRAY_HAS_GID) != 0)
		fprintf(out, " gid=%" PRIu32, m.gid);
	if ((m.has & DRAY_HAS_MODE) != 0)
		fprintf(out, " mode=%04" PRIo32, m.mode);
	if ((m.has & DRAY_HAS_MTIME) != 0)
		fprintf(out, " time=%" PRId64 ".%09" PRIu32, m.mtime_sec, m.mtime_nsec);
	/* by the system of the bundle, whatever this one is */
	if (known != 0 && !no_owner)
		fprintf(out, " flags=%s", dray_fflags_text(fflags, words));
	inst_meta_free(&m);
	return 0;
}

static int
print_state(const struct dray_index *ix, const struct dray_state *s, bool no_owner, FILE *out, struct dray_err *e)
{
	static const char *const type[] = { [DRAY_FILE] = "file", [DRAY_DIR] = "dir", [DRAY_SYMLINK] = "link",
		[DRAY_FIFO] = "fifo", [DRAY_CHARDEV] = "char", [DRAY_BLOCKDEV] = "block" };
	char target[INST_MTREE_CAP(TARGET_MAX)], hex[65];
	struct dray_content c;

	fprintf(out, " type=%s", type[s->type]);
	if (print_attrs(ix, s, no_owner, out, e) != 0)
		return -1;
	if (s->type == DRAY_FILE) {
		dray_index_content(ix, s->content, &c);
		if (c.size != DRAY_SIZE_UNKNOWN)
			fprintf(out, " size=%" PRIu64, c.size);
		fprintf(out, " sha256digest=%s", dray_hex(c.sha256, 32, hex));
	} else if (s->type == DRAY_SYMLINK) {
		fprintf(out, " link=%s", inst_mtree_escape(s->target, s->target_len, target));
	} else if (inst_is_device(s->type)) {
		fprintf(out, " device=native,%" PRIu32 ",%" PRIu32, s->rdev_major, s->rdev_minor);
	}
	return 0;
}

int
inst_mtree_print(const struct dray_index *ix, const struct dray_desc *d, const struct inst_policy *policy, FILE *out,
    struct dray_err *e)
{
	bool no_owner = policy->no_owner;
	char name[INST_MTREE_CAP(DRAY_PATH_MAX)];
	struct dray_entry en;
	struct dray_state s;

	/* the first line is how libarchive knows the format; the root is there for the readers, and no part of a release */
	fprintf(out, "#mtree\n# %s %s, release counter %" PRIu64 "%s\n. type=dir\n", d->product, d->version, d->counter,
	    no_owner ? "; owners were left alone" : "");
	for (uint32_t row = 0; row < dray_index_rows(ix, DRAY_T_ENTRIES); row++) {
		dray_index_entry(ix, row, &en);
		if (en.target == DRAY_NONE || inst_row_absent(ix, &en, policy->absent))
			continue;
		dray_index_state(ix, en.target, &s);
		if (no_owner && inst_is_device(s.type))
			continue;	/* was left out */
		fprintf(out, "./%s", inst_mtree_escape(en.path, en.len, name));
		if (print_state(ix, &s, no_owner, out, e) != 0)
			return -1;
		fputc('\n', out);
	}
	return 0;
}
