/*
 * fuzz_export.c - what a machine's `status --export` brought: the file taken apart, its records read, the chain told. The first
 * byte: even, the file as it stands; odd, the head, record 1, list 1, record 2, list 2, ... with NULs between, as members.
 */
#include <stdio.h>

#include "builder/export_read.h"
#include "dray/tar.h"

#include "folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 256 * 1024 };

static uint8_t buf[MOST];

static size_t
member(size_t at, const char *name, const uint8_t *p, size_t len)
{
	struct dray_err e = { .code = DRAY_OK };
	size_t end = (len + DRAY_TAR_BLOCK - 1) / DRAY_TAR_BLOCK * DRAY_TAR_BLOCK;

	if (at > MOST - 2 * DRAY_TAR_BLOCK - DRAY_TAR_END || end > MOST - 2 * DRAY_TAR_BLOCK - DRAY_TAR_END - at)
		return at;
	if (dray_tar_header(name, len, buf + at, &e) != 0)
		abort();
	memcpy(buf + at + DRAY_TAR_BLOCK, p, len);
	memset(buf + at + DRAY_TAR_BLOCK + len, 0, end - len);
	return at + DRAY_TAR_BLOCK + end;
}

static size_t
as_members(const uint8_t *p, size_t left)
{
	const uint8_t *part;
	size_t len = fuzz_cut(&p, &left, &part), at = member(0, "dray-evidence.json", part, len);
	char name[64];

	for (unsigned i = 0; left > 0; i++) {
		snprintf(name, sizeof(name), "evidence/%06u.%s", i / 2 + 1, i % 2 == 0 ? "json" : "paths");
		len = fuzz_cut(&p, &left, &part);
		if (len > 0)
			at = member(at, name, part, len);
	}
	memset(buf + at, 0, DRAY_TAR_END);
	return at + DRAY_TAR_END;
}

/* as `dray report` does, without a word */
static void
tell(const struct build_export *x)
{
	static const struct tool_common common;
	struct dray_err e = { .code = DRAY_OK };
	struct tool_runs r;

	tool_runs_begin(&r, &common, NULL, true);
	for (size_t i = 0; i < x->n; i++) {
		char *text;

		dray_err_clear(&e);
		if (build_export_record(x, i, &text, &e) != 0)
			tool_runs_missing(&r, x->v[i].number, &e);
		else if (tool_runs_add(&r, x->v[i].number, text, (size_t)x->v[i].size, &x->v[i].list, &e) != 0)
			abort();
		free(text);
	}
	dray_err_clear(&e);
	if (tool_runs_end(&r, x->records, x->last, NULL, &e) != 0 && e.text[0] == '\0')
		abort();
	tool_runs_free(&r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[128];
	struct dray_err e = { .code = DRAY_OK };
	struct build_export x;

	if (size == 0 || size > MOST)
		return 0;
	if (path[0] == '\0') {
		(void)fuzz_folder();
		snprintf(path, sizeof(path), "%s/export", fuzz_folder_name);
	}
	if ((data[0] & 1) == 0)
		fuzz_put("export", data + 1, size - 1);
	else
		fuzz_put("export", buf, as_members(data + 1, size - 1));
	if (build_export_open(path, &x, &e) != 0) {
		if (e.text[0] == '\0' || x.fd != -1)
			abort();
		return 0;
	}
	tell(&x);
	build_export_close(&x);
	return 0;
}
