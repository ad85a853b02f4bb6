/*
 * fuzz_signature.c - a signature file that comes back from a signing room: none that is not made with a key gets into a bundle,
 * and a bundle that got none is as it was. @TEXT@ in an input stands for the signed text of the bundle.
 */
#include <sys/mman.h>

#include "builder/sign.h"

#include "tests/unit/mini.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 4096 };

static struct mini m;
static char signed_text[DRAY_SLOT_TEXT_MAX * 2];	/* as it stands in JSON */

static int
begin(void)
{
	static int fd = -1;
	struct dray_err e = { .code = DRAY_OK };
	struct dray_slot s;
	size_t at = 0;

	if (fd != -1)
		return fd;
	if (mini_make(&(struct mini_opts){ .slot = 1024 }, &m, &e) != 0 || dray_slot_parse(m.p + m.sig, 1024, &s, &e) != 0)
		abort();
	for (size_t i = 0; i < s.text_len; i++) {
		if (s.text[i] == '\n')
			signed_text[at++] = '\\';
		signed_text[at++] = s.text[i] == '\n' ? 'n' : s.text[i];
	}
	fd = mini_fd(m.p, m.len);
	return fd;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char mark[] = "@TEXT@";
	struct build_sign_count count = { .added = 0 };
	struct dray_err e = { .code = DRAY_OK };
	int fd = begin();
	const uint8_t *at = size > 0 ? memmem(data, size, mark, sizeof(mark) - 1) : NULL;
	char file[MOST + sizeof(signed_text)];
	uint8_t now[1024];
	size_t len = size;

	if (size > MOST)
		return 0;
	memcpy(file, data, size);
	if (at != NULL) {
		const size_t front = (size_t)(at - data), n = strlen(signed_text);

		memcpy(file + front, signed_text, n);
		memcpy(file + front + n, at + sizeof(mark) - 1, size - front - (sizeof(mark) - 1));
		len = size - (sizeof(mark) - 1) + n;
	}
	if (build_sign_add(fd, file, len, &count, &e) == 0 || count.added != 0 || e.text[0] == '\0')
		abort();
	if (pread(fd, now, sizeof(now), (off_t)m.sig) != (ssize_t)sizeof(now) || memcmp(now, m.p + m.sig, sizeof(now)) != 0)
		abort();
	return 0;
}
