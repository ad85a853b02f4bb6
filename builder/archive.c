/*
 * archive.c - members of archives, by libarchive. Readers are enabled by name: none of those that we do not want
 * (mtree, xar with its XML, iso9660, ...) can be reached by a hostile file, and none runs another program.
 *
 * Names stay the bytes they are: we never set a locale, so libarchive finds itself unable to convert UTF-8, hands out
 * the raw bytes and says so by a warning, which we expect. Any other warning means that something was lost: an error.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "builder/archive.h"
#include "builder/archive_stream.h"
#include "builder/archive_xattr.h"
#include "dray/descriptor.h"
#include "dray/tar.h"

#define TAR_BLOCK 512
#define SOUND_MAX (64u << 20)	/* bytes unpacked to tell a damaged archive from another file: many times a block of bzip2 */
#define EMPTY_MAX 10240		/* bytes of an empty tar: one record of the usual size. Zeros without end are a disk image */

struct build_archive {
	int fd;
	uint64_t bytes;			/* of the file */
	struct build_stream *raw;	/* the bytes of the file */
	struct build_stream *plain;	/* the same unpacked */
	struct build_stream *inner;	/* those of the data.tar within a Debian package, unpacked; else NULL */
	struct archive *file;		/* reads plain */
	struct archive *data;		/* reads the members: the same, or inner */
	struct archive_entry *first;	/* header already read, of data */
	bool ended;			/* it has no member at all */
	uint8_t begin[TAR_BLOCK];	/* first bytes of what was opened last, unpacked; zeros behind them */
	struct build_member_xattrs xattrs;
	bool time_flaw;			/* see archive_time.c */
};

int
build_archive_name_err(const char *path, struct dray_err *e)
{
	char quoted[600];	/* longer ones are cut with "...": the text of an error is bounded */

	return dray_wrap(e, "%s", dray_quote(path, strlen(path), quoted, sizeof(quoted)));
}

static int
open_reader(bool any, struct archive **out, struct dray_err *e)
{
	struct archive *a = archive_read_new();
	bool ok;

	*out = a;
	if (a == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	ok = archive_read_support_format_tar(a) == ARCHIVE_OK;
	/* of zip only the kind with a directory at its end: without that one, a file cut short goes unseen */
	if (any)
		ok = ok && archive_read_support_format_cpio(a) == ARCHIVE_OK &&
		    archive_read_support_format_zip_seekable(a) == ARCHIVE_OK &&
		    archive_read_support_format_ar(a) == ARCHIVE_OK;
	return ok ? 0 : dray_fail(e, DRAY_E_IO, "this libarchive lacks a reader: %s", archive_error_string(a));
}

static bool
is_format(struct archive *a, int format)
{
	return (archive_format(a) & ARCHIVE_FORMAT_BASE_MASK) == format;
}

/* only that a name could not be converted? */
static bool
names_only(struct archive *a)
{
	const char *text = archive_error_string(a);

	return text != NULL && (strstr(text, "can't be converted") != NULL || strstr(text, "cannot be converted") != NULL);
}

static struct build_stream *
stream_of(const struct build_archive *a, const struct archive *reader)
{
	return reader == a->file ? a->plain : a->inner;
}

static int
fail_kind(struct dray_err *e)
{
	dray_fail(e, DRAY_E_USAGE, "no archive of a kind that is read here, or its beginning is damaged");
	return dray_hint(e, "read are tar, cpio, zip and .deb, plain or compressed by gzip, xz, zstd or bzip2");
}

/* libarchive knows no format for @s: does it begin as one of our kinds does, or was it damaged while it was packed? */
static int
fail_unknown(const struct build_archive *a, struct build_stream *s, struct dray_err *e)
{
	static const struct { const char *magic, *name; size_t at; } kinds[] = {
		{ "PK\3\4", "zip", 0 }, { "07070", "cpio", 0 }, { "!<arch>\n", "Debian package", 0 }, { "ustar", "tar", 257 },
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (memcmp(a->begin + kinds[i].at, kinds[i].magic, strlen(kinds[i].magic)) == 0)
			return dray_fail(e, DRAY_E_FORMAT, "the archive is damaged or cut short: it begins like a %s and does not go on like one",
			    kinds[i].name);
	/* what packs it tells of damage only with a checksum that comes later */
	if (build_stream_sound(s, SOUND_MAX, e) != 0)
		return -1;
	return fail_kind(e);
}

/*
 * The end of the members: is it that of the archive? An unpacker compares its last checksum only there, libarchive takes
 * a tar that stops between two members for a whole one, and what follows would go unseen.
 */
static int
check_end(const struct build_archive *a, struct archive *reader, bool empty, struct dray_err *e)
{
	struct build_stream *s = stream_of(a, reader);
	uint64_t at = (uint64_t)archive_filter_bytes(reader, 0);
	bool more;

	/* a zip is read from its end on, and may have anything in front and between */
	if (is_format(reader, ARCHIVE_FORMAT_ZIP))
		return 0;
	/* blocks of zeros end it */
	if (is_format(reader, ARCHIVE_FORMAT_TAR) && at - (uint64_t)archive_read_header_position(reader) < TAR_BLOCK)
		return dray_fail(e, DRAY_E_FORMAT, "the archive is cut short: the mark at its end is missing");
	empty = empty && is_format(reader, ARCHIVE_FORMAT_TAR);
	if (build_stream_rest(s, at, !empty ? UINT64_MAX : at < EMPTY_MAX ? EMPTY_MAX - at : 0, &more, e) != 0)
		return -1;
	/* a disk image begins with zeros, too, and may have no others */
	if (empty && more) {
		fail_kind(e);
		e->hint[0] = '\0';
		return dray_hint(e, "it begins with zeros: of a disk image, mount it and give the directory");
	}
	if (!more)
		return 0;
	dray_fail(e, DRAY_E_FORMAT, "the archive is damaged: more follows behind its end");
	return dray_hint(e, "two archives put together are given as archive:ONE,OTHER");
}

/* 1: *en; 0: the end */
static int
next_header(const struct build_archive *a, struct archive *reader, bool first, struct archive_entry **en,
    struct dray_err *e)
{
	int rc = archive_read_next_header(reader, en);

	if (rc == ARCHIVE_OK || (rc == ARCHIVE_WARN && names_only(reader)))
		return 1;
	if (rc == ARCHIVE_EOF)
		return check_end(a, reader, first, e);
	return build_stream_fail(reader, stream_of(a, reader), e);
}

/* a bundle is a tar, but nobody means the tree of its members */
static int
refuse_bundle(const struct build_archive *a, struct dray_err *e)
{
	struct dray_err none;
	uint64_t size;

	if (dray_tar_check(a->begin, "dray.json", DRAY_DESC_MAX_BYTES, &size, &none) != 0)
		return 0;
	dray_fail(e, DRAY_E_USAGE, "a bundle, where a tree or an archive of one is wanted");
	return dray_hint(e, "write out what is in it with dray extract, and give that folder");
}

/* @s unpacked and its first header, if there is one */
static int
begin(struct build_archive *a, struct build_stream **s, bool any, struct archive **reader, struct dray_err *e)
{
	const uint8_t *p;
	size_t len;
	int rc;

	if (build_stream_unpack(s, e) != 0 || build_stream_peek(*s, &p, &len, e) != 0)
		return -1;
	if (len == 0)
		return dray_fail(e, DRAY_E_FORMAT, "the archive is empty: not even one byte");
	memset(a->begin, 0, sizeof(a->begin));
	memcpy(a->begin, p, len < sizeof(a->begin) ? len : sizeof(a->begin));
	if (refuse_bundle(a, e) != 0 || open_reader(any, reader, e) != 0)
		return -1;
	if (build_stream_open(*reader, *s) != ARCHIVE_OK) {
		build_stream_fail(*reader, *s, e);
		return strstr(e->text, "Unrecognized archive format") != NULL ? fail_unknown(a, *s, e) : -1;
	}
	if ((rc = next_header(a, *reader, true, &a->first, e)) < 0)
		return -1;
	a->ended = rc == 0;
	return 0;
}

/* a Debian package: what it installs is in the member data.tar, by any filter. Source: deb(5). */
static int
enter_package(struct build_archive *a, struct dray_err *e)
{
	struct archive_entry *en = a->first;
	const char *name = a->ended ? NULL : archive_entry_pathname(en);
	int rc;

	if (a->ended)
		return dray_fail(e, DRAY_E_FORMAT, "the archive is damaged or cut short: a package of no members");
	if (name == NULL || strcmp(name, "debian-binary") != 0) {
		dray_fail(e, DRAY_E_USAGE, "an ar archive that is no Debian package");
		return dray_hint(e, "a tree comes from tar, cpio or zip archives, or from Debian packages");
	}
	do {
		if ((rc = next_header(a, a->file, false, &en, e)) < 0)
			return -1;
		if (rc == 0)
			return dray_fail(e, DRAY_E_FORMAT, "a Debian package without data.tar");
		name = archive_entry_pathname(en);
	} while (name == NULL || strncmp(name, "data.tar", 8) != 0);
	if (build_stream_member(a->file, a->plain, &a->inner, e) != 0)
		return -1;
	return begin(a, &a->inner, false, &a->data, e);
}

static int
open_file(struct build_archive *a, const char *path, struct dray_err *e)
{
	struct stat st;

	if ((a->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) == -1 || fstat(a->fd, &st) != 0)
		return dray_fail_errno(e, "cannot be read");
	if (!S_ISREG(st.st_mode))
		return dray_fail(e, DRAY_E_USAGE, "not a regular file");
	a->bytes = (uint64_t)st.st_size;
	if (build_stream_file(a->fd, &a->raw, e) != 0)
		return -1;
	a->plain = a->raw;
	if (begin(a, &a->plain, true, &a->file, e) != 0)
		return -1;
	if (is_format(a->file, ARCHIVE_FORMAT_AR))
		return enter_package(a, e);
	a->data = a->file;
	return 0;
}

int
build_archive_open(const char *path, struct build_archive **out, struct dray_err *e)
{
	struct build_archive *a = calloc(1, sizeof(*a));

	*out = NULL;
	if (a == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	a->fd = -1;
	a->time_flaw = build_archive_time_flaw();
	if (open_file(a, path, e) != 0) {
		build_archive_close(a);
		return -1;
	}
	*out = a;
	return 0;
}

void
build_archive_close(struct build_archive *a)
{
	if (a == NULL)
		return;
	if (a->data != a->file)
		archive_read_free(a->data);
	archive_read_free(a->file);
	build_stream_free(a->inner != NULL ? a->inner : a->plain);	/* all stand on each other */
	if (a->fd != -1)
		close(a->fd);
	build_member_xattrs_free(&a->xattrs);
	free(a);
}

static bool
id_ok(la_int64_t id)
{
	return id >= 0 && id < UINT32_MAX;
}

static bool
read_time(const struct build_archive *a, struct archive_entry *en, struct build_member *m)
{
	int64_t sec = archive_entry_mtime(en), nsec = archive_entry_mtime_nsec(en);

	m->has_mtime = archive_entry_mtime_is_set(en) != 0;
	if (!m->has_mtime)
		return true;
	/* what does not fit comes as the number that is nearest; nobody means that one */
	if (sec == INT64_MAX || sec <= -INT64_MAX || nsec < 0 || nsec > 999999999)
		return false;
	if (sec < 0 && nsec > 0 && a->time_flaw && is_format(a->data, ARCHIVE_FORMAT_TAR)) {
		sec--;
		nsec = 1000000000 - nsec;
	}
	m->mtime_sec = sec;
	m->mtime_nsec = (uint32_t)nsec;
	return true;
}

/* what follows the data in a Debian package must be whole, too */
static int
end_package(struct build_archive *a, struct dray_err *e)
{
	struct archive_entry *en;
	int rc = 0;

	while (a->data != a->file && (rc = next_header(a, a->file, false, &en, e)) > 0)
		;
	return rc;
}

int
build_archive_next(struct build_archive *a, struct build_member *m, struct dray_err *e)
{
	struct archive_entry *en = a->first;
	unsigned long set, clear;
	int rc;

	*m = (struct build_member){ .mode = 0 };
	if (a->ended)
		return end_package(a, e);
	a->first = NULL;
	if (en == NULL && (rc = next_header(a, a->data, false, &en, e)) <= 0)
		return rc < 0 ? -1 : end_package(a, e);
	if ((m->path = archive_entry_pathname(en)) == NULL)
		return dray_fail(e, DRAY_E_FORMAT, "a member has no name");
	m->hard_link = archive_entry_hardlink(en);
	m->target = archive_entry_symlink(en);
	m->mode = archive_entry_mode(en);
	if (archive_entry_is_encrypted(en)) {
		dray_fail(e, DRAY_E_FORMAT, "it is encrypted");
		goto named;
	}
	/* a zip has no device numbers */
	if (is_format(a->data, ARCHIVE_FORMAT_ZIP) && (S_ISCHR(m->mode) || S_ISBLK(m->mode)))
		m->mode &= ~(uint32_t)S_IFMT;
	if (!id_ok(archive_entry_uid(en)) || !id_ok(archive_entry_gid(en))) {
		dray_fail(e, DRAY_E_FORMAT, "its owner is no number of 32 bits");
		goto named;
	}
	m->uid = (uint32_t)archive_entry_uid(en);
	m->gid = (uint32_t)archive_entry_gid(en);
	if (!read_time(a, en, m)) {
		dray_fail(e, DRAY_E_FORMAT, "its modification time is no number of 64 bits");
		goto named;
	}
	m->has_size = archive_entry_size_is_set(en) != 0 && archive_entry_size(en) >= 0;
	m->size = m->has_size ? (uint64_t)archive_entry_size(en) : 0;
	if (archive_entry_rdevmajor(en) > UINT32_MAX || archive_entry_rdevminor(en) > UINT32_MAX) {
		dray_fail(e, DRAY_E_FORMAT, "its device number is not two numbers of 32 bits");
		goto named;
	}
	m->rdev_major = (uint32_t)archive_entry_rdevmajor(en);
	m->rdev_minor = (uint32_t)archive_entry_rdevminor(en);
	m->has_xattrs = is_format(a->data, ARCHIVE_FORMAT_TAR);
	archive_entry_fflags(en, &set, &clear);
	m->has_flags = set != 0 || archive_entry_fflags_text(en) != NULL;
	if (build_member_xattrs(&a->xattrs, en, m, e) == 0)
		return 1;
named:
	return build_archive_name_err(m->path, e);
}

int
build_archive_data(struct build_archive *a, const void **p, size_t *len, uint64_t *at, struct dray_err *e)
{
	la_int64_t off;
	int rc = archive_read_data_block(a->data, p, len, &off);

	if (rc == ARCHIVE_EOF)
		return 0;
	if (rc != ARCHIVE_OK || off < 0)
		return build_stream_fail(a->data, stream_of(a, a->data), e);
	*at = (uint64_t)off;
	return 1;
}

uint64_t
build_archive_done(const struct build_archive *a)
{
	return build_stream_at(a->raw);
}

uint64_t
build_archive_bytes(const struct build_archive *a)
{
	return a->bytes;
}
