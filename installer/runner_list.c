/*
 * runner_list.c - the programs that may be run: the run and its runner have the same list, and speak of numbers in it.
 */
#include <stdlib.h>
#include <string.h>

#include "installer/runner_in.h"

#define BYTES_MAX (64u * 1024u * 1024u)

static size_t
words_of(const char *words, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += words[i] == '\0';
	return n;
}

/* pointers and texts in one block */
static char **
split(const char *words, size_t len, size_t n)
{
	char **argv = malloc((n + 1) * sizeof(*argv) + len), *to;

	if (argv == NULL)
		return NULL;
	to = (char *)(argv + n + 1);
	memcpy(to, words, len);
	for (size_t i = 0; i < n; i++) {
		argv[i] = to;
		to += strlen(to) + 1;
	}
	argv[n] = NULL;
	return argv;
}

long
inst_allowed_find(const struct inst_allowed_list *l, enum inst_program_kind kind, unsigned timeout_s, char *const *argv)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct inst_allowed *a = &l->v[i];
		size_t k = 0;

		if (a->kind != kind || a->timeout_s != timeout_s)
			continue;
		while (a->argv[k] != NULL && argv[k] != NULL && strcmp(a->argv[k], argv[k]) == 0)
			k++;
		if (a->argv[k] == NULL && argv[k] == NULL)
			return (long)i;
	}
	return -1;
}

int
inst_allowed_add(struct inst_allowed_list *l, enum inst_program_kind kind, unsigned timeout_s, const char *words, size_t len,
    struct dray_err *e)
{
	size_t n = words_of(words, len);
	struct inst_allowed *v;
	char **argv;

	if (l->sealed || n == 0 || words[len - 1] != '\0' || words[0] != '/' || len > INST_ALLOWED_BYTES ||
	    l->n >= INST_ALLOWED_MAX || l->bytes + len > BYTES_MAX)
		return dray_fail(e, DRAY_E_SYSTEM, "no program can be added to those that may be run here");
	if ((argv = split(words, len, n)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (inst_allowed_find(l, kind, timeout_s, argv) != -1) {
		free(argv);
		return 1;
	}
	if ((v = realloc(l->v, (l->n + 1) * sizeof(*v))) == NULL) {
		free(argv);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	l->v = v;
	v[l->n++] = (struct inst_allowed){ kind, timeout_s, argv };
	l->bytes += len;
	return 0;
}

void
inst_allowed_free(struct inst_allowed_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].argv);
	free(l->v);
	*l = (struct inst_allowed_list){ .n = 0 };
}

bool
inst_allowed_file_ok(const char *state, const char *file)
{
	static const char tx[] = "/tx/", check[] = "/check/";
	size_t len = strlen(state);

	if (file[0] != '/' || strncmp(file + 1, state, len) != 0)
		return false;
	file += 1 + len;
	if (strncmp(file, tx, sizeof(tx) - 1) != 0)
		return false;
	file += sizeof(tx) - 1;
	len = strspn(file, "0123456789");
	if (len < 6 || len > 10 || strncmp(file + len, check, sizeof(check) - 1) != 0)
		return false;
	file += len + sizeof(check) - 1;
	return file[0] != '\0' && strchr(file, '/') == NULL && strcmp(file, ".") != 0 && strcmp(file, "..") != 0;
}

char **
inst_allowed_with(char *const *argv, const char *file)
{
	size_t n = 0, bytes = 0, len = strlen(file);
	char **out, *to;

	for (; argv[n] != NULL; n++) {
		bytes += strlen(argv[n]) + 1;
		for (const char *p = strstr(argv[n], "%f"); p != NULL; p = strstr(p + 2, "%f"))
			bytes += len;
	}
	if ((out = malloc((n + 1) * sizeof(*out) + bytes)) == NULL)
		return NULL;
	to = (char *)(out + n + 1);
	for (size_t i = 0; i < n; i++) {
		out[i] = to;
		for (const char *p = argv[i]; *p != '\0';) {
			if (p[0] != '%' || p[1] != 'f') {
				*to++ = *p++;
				continue;
			}
			memcpy(to, file, len);
			to += len;
			p += 2;
		}
		*to++ = '\0';
	}
	out[n] = NULL;
	return out;
}
