/*
 * key_file.c - read small files that belong to the operator: keys, passphrases, requests, signature files.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/sign.h"

enum { PASS_MAX = 1000 };

int
build_file_load(const char *path, size_t max, char **out, size_t *len, struct dray_err *e)
{
	struct stat st;
	size_t have = 0;
	ssize_t n = 1;
	char *p = NULL;
	int fd, rc = -1;

	*out = NULL;
	if ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) == -1)
		return dray_fail_errno(e, "%s: cannot be opened", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		dray_fail(e, DRAY_E_USAGE, "%s is not a regular file", path);
		goto out;
	}
	if ((p = calloc(1, max + 2)) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	while (have <= max && n != 0) {
		if ((n = read(fd, p + have, max + 1 - have)) == -1) {
			if (errno == EINTR)
				continue;
			dray_fail_errno(e, "%s: cannot be read", path);
			goto out;
		}
		have += (size_t)n;
	}
	if (have > max) {
		dray_fail(e, DRAY_E_USAGE, "%s is longer than %zu bytes", path, max);
		goto out;
	}
	*out = p;
	*len = have;
	p = NULL;
	rc = 0;
out:
	free(p);
	close(fd);
	return rc;
}

int
build_pass_load(const char *path, char **out, struct dray_err *e)
{
	size_t len;

	if (build_file_load(path, PASS_MAX, out, &len, e) != 0 || *out == NULL)
		return dray_wrap(e, "passphrase file");
	(*out)[strcspn(*out, "\r\n")] = 0;
	if ((*out)[0] != 0)
		return 0;
	build_pass_free(*out);
	*out = NULL;
	return dray_fail(e, DRAY_E_USAGE, "the first line of the passphrase file %s is empty", path);
}

void
build_pass_free(char *pass)
{
	if (pass == NULL)
		return;
	explicit_bzero(pass, strlen(pass));
	free(pass);
}

int
build_key_load(const char *path, const char *pass_file, struct dray_key **out, struct dray_err *e)
{
	char *pass = NULL;
	int rc;

	*out = NULL;
	if (pass_file != NULL && build_pass_load(pass_file, &pass, e) != 0)
		return -1;
	rc = dray_key_load(path, pass, out, e);
	build_pass_free(pass);
	return rc;
}
