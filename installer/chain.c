/*
 * chain.c - the records of the evidence on the disk: STATE/evidence/NNNNNN.json, and NNNNNN.paths beside those that
 * have a list. A record that is there is never changed; the anchor names the newest, so that one cut off is missed.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/json.h"
#include "dray/num.h"

#include "installer/evidence.h"
#include "installer/files.h"

static const char *
record_name(uint64_t number, const char *end, char out[48])
{
	snprintf(out, 48, "%06" PRIu64 ".%s", number, end);
	return out;
}

/* 1: there is none */
static int
open_folder(const struct inst_state *s, int *fd, struct dray_err *e)
{
	*fd = -1;
	if (s->dir == -1)
		return 1;
	*fd = openat(s->dir, INST_CHAIN_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd != -1)
		return 0;
	return errno == ENOENT ? 1 : dray_fail_errno(e, "open %s/" INST_CHAIN_DIR, s->rel);
}

/* the number in front of ".json"; false: another kind of file */
static bool
number_of(const char *name, uint64_t *n)
{
	size_t len = strlen(name);
	char digits[24];

	if (len <= 5 || strcmp(name + len - 5, ".json") != 0)
		return false;
	len -= 5;
	while (len > 1 && *name == '0') {
		name++;
		len--;
	}
	if (len >= sizeof(digits))
		return false;
	memcpy(digits, name, len);
	digits[len] = '\0';
	return dray_parse_u64(digits, 1, INT64_MAX - 1, n);
}

static int
by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int
inst_chain_numbers(const struct inst_state *s, uint64_t **numbers, size_t *n, struct dray_err *e)
{
	uint64_t *grown, v;
	struct dirent *de;
	size_t cap = 0;
	DIR *d;
	int fd, r = open_folder(s, &fd, e);

	*numbers = NULL;
	*n = 0;
	if (r != 0)
		return r == 1 ? 0 : -1;
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return dray_fail_errno(e, "list %s/" INST_CHAIN_DIR, s->rel);
	}
	for (errno = 0; r == 0 && (de = readdir(d)) != NULL; errno = 0) {
		if (!number_of(de->d_name, &v))
			continue;
		if (*n == cap) {
			cap = cap == 0 ? 64 : cap * 2;
			if ((grown = realloc(*numbers, cap * sizeof(*grown))) == NULL) {
				r = dray_fail(e, DRAY_E_IO, "out of memory");
				break;
			}
			*numbers = grown;
		}
		(*numbers)[(*n)++] = v;
	}
	if (r == 0 && errno != 0)
		r = dray_fail_errno(e, "list %s/" INST_CHAIN_DIR, s->rel);
	closedir(d);
	if (r != 0) {
		free(*numbers);
		*numbers = NULL;
	} else if (*n > 0) {
		qsort(*numbers, *n, sizeof(**numbers), by_number);
	}
	return r;
}

int
inst_chain_last(const struct inst_state *s, uint64_t *number, struct dray_err *e)
{
	uint64_t *numbers;
	size_t n;

	*number = 0;
	if (inst_chain_numbers(s, &numbers, &n, e) != 0)
		return -1;
	if (n > 0)
		*number = numbers[n - 1];
	free(numbers);
	return 0;
}

int
inst_chain_read(const struct inst_state *s, uint64_t number, uint8_t **p, size_t *len, struct dray_err *e)
{
	char name[48];
	int fd, r = open_folder(s, &fd, e);

	*p = NULL;
	*len = 0;
	if (r != 0)
		return r;
	r = inst_read_file(fd, record_name(number, "json", name), DRAY_EV_RECORD_MAX, p, len, e);
	close(fd);
	return r >= 0 ? r : dray_wrap(e, "%s/" INST_CHAIN_DIR, s->rel);
}

int
inst_chain_list(const struct inst_state *s, uint64_t number, int *fd, uint64_t *size, struct dray_err *e)
{
	char name[48];
	struct stat st;
	int dir, r = open_folder(s, &dir, e);

	*fd = -1;
	*size = 0;
	if (r != 0)
		return r;
	*fd = openat(dir, record_name(number, "paths", name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (*fd == -1 && inst_no_file(errno)) {
		/* never read: nothing is as long as that */
		*fd = dir;
		*size = UINT64_MAX;
		return 0;
	}
	if (*fd == -1) {
		r = errno == ENOENT ? 1 : dray_fail_errno(e, "open %s/" INST_CHAIN_DIR "/%s", s->rel, name);
	} else if (fstat(*fd, &st) == -1) {
		r = dray_fail_errno(e, "look at %s/" INST_CHAIN_DIR "/%s", s->rel, name);
		close(*fd);
		*fd = -1;
	} else {
		*size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : UINT64_MAX;
	}
	close(dir);
	return r;
}

/* is the record about this transaction? */
static bool
is_about(const struct dray_ev_record *r, const struct inst_tx *tx)
{
	const struct dray_json *o;
	struct dray_err ignored;	/* whatever it is about then, it is not this one */
	const char *hex;
	char want[65];
	size_t len;
	int64_t n;

	return dray_json_has(r->doc, "transaction") && dray_json_obj(r->doc, "transaction", &o, "", &ignored) == 0 &&
	    dray_json_int(o, "number", 0, UINT32_MAX, &n, "", &ignored) == 0 && (uint32_t)n == tx->number &&
	    dray_json_str(o, "journal", &hex, &len, "", &ignored) == 0 &&
	    strcmp(hex, dray_hex(tx->plan_sha256, 32, want)) == 0 && strcmp(r->ended, "failed") != 0;
}

int
inst_chain_find(const struct inst_state *s, const struct inst_tx *tx, uint64_t base, uint64_t *number,
    uint8_t sha256[32], char ended[32], struct dray_err *e)
{
	struct dray_ev_record rec;
	struct dray_err bad = { 0 };	/* a damaged record is told by who looks at the chain; here it is no match */
	uint64_t *numbers;
	uint8_t *p;
	size_t n, len;

	*number = 0;
	if (inst_chain_numbers(s, &numbers, &n, e) != 0)
		return -1;
	for (; n > 0 && numbers[n - 1] > base && *number == 0; n--) {
		if (inst_chain_read(s, numbers[n - 1], &p, &len, &bad) != 0)
			continue;
		if (dray_ev_parse((const char *)p, len, &rec, &bad) == 0 && is_about(&rec, tx)) {
			*number = numbers[n - 1];
			memcpy(sha256, rec.sha256, 32);
			snprintf(ended, 32, "%s", rec.ended);
		}
		dray_ev_record_free(&rec);
		free(p);
	}
	free(numbers);
	return 0;
}

/* behind the newest record; when that is not the one the anchor names, behind the one it names: the gap stays visible */
static int
next_link(const struct inst_state *s, const struct inst_anchor *a, uint64_t *number, uint8_t prev[32], struct dray_err *e)
{
	struct dray_err bad = { 0 };	/* what cannot be read is not what the anchor names */
	uint64_t last;
	uint8_t *p;
	size_t len;
	int rc;

	memset(prev, 0, 32);
	if (inst_chain_last(s, &last, e) != 0)
		return -1;
	if (last > 0 && inst_chain_read(s, last, &p, &len, &bad) == 0) {
		rc = dray_sha256_bytes(p, len, prev, e);
		free(p);
		if (rc != 0)
			return -1;
	}
	if (a->records > last || (a->records == last && last > 0 && memcmp(prev, a->last, 32) != 0)) {
		last = a->records;
		memcpy(prev, a->last, 32);
		if (s->run != NULL)
			s->run->torn = true;
	}
	*number = last + 1;
	return 0;
}

int
inst_chain_take_list(const struct inst_state *s, const struct inst_tx *tx, uint64_t number, struct dray_err *e)
{
	char name[48];
	int fd, rc = 0;

	if (open_folder(s, &fd, e) != 0)
		return -1;
	if (renameat(tx->dir, "paths", fd, record_name(number, "paths", name)) == -1) {
		if (errno != ENOENT)
			rc = dray_fail_errno(e, "keep the list of paths");
	} else if (fsync(fd) == -1) {
		rc = dray_fail_errno(e, "flush %s/" INST_CHAIN_DIR, s->rel);
	}
	close(fd);
	return rc;
}

int
inst_chain_append(const struct inst_state *s, struct dray_json *o, const struct inst_tx *list, struct inst_anchor *a,
    struct dray_err *e)
{
	char name[48], hex[65], *text = NULL;
	uint8_t prev[32];
	uint64_t number;
	size_t len;
	bool made = mkdirat(s->dir, INST_CHAIN_DIR, 0700) == 0;
	int fd = -1, rc = -1;

	if (!made && errno != EEXIST)
		return dray_fail_errno(e, "create %s/" INST_CHAIN_DIR, s->rel);
	if (open_folder(s, &fd, e) != 0 || next_link(s, a, &number, prev, e) != 0)
		goto out;
	dray_json_set_int(o, "number", (int64_t)number);
	dray_json_set_str(o, "prev", dray_hex(prev, 32, hex));
	if (dray_json_write(o, &text, &len, e) != 0 ||
	    inst_write_file(fd, record_name(number, "json", name), text, len, 0600, e) != 0)
		goto out;
	if (made && fsync(s->dir) == -1) {
		dray_fail_errno(e, "flush %s", s->rel);
		goto out;
	}
	if (list != NULL && inst_chain_take_list(s, list, number, e) != 0)
		goto out;
	if (dray_sha256_bytes(text, len, a->last, e) != 0)
		goto out;
	a->records = number;
	rc = 0;
out:
	free(text);
	if (fd != -1)
		close(fd);
	return rc == 0 ? 0 : dray_wrap(e, "evidence");
}
