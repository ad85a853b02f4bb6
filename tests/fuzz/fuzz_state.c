/*
 * fuzz_state.c - files that others may have written: the first byte says which.
 *
 *   A anchor.json, D triggers.json of a state folder; F etc/fstab of the tree
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/json.h"

#include "installer/due.h"
#include "installer/fstab.h"
#include "installer/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char shm[] = "/dev/shm/dray-fuzz-XXXXXX", tmp[] = "/tmp/dray-fuzz-XXXXXX";
static const char *name;
static int dir = -1;

static void
end(void)
{
	(void)unlinkat(dir, "anchor.json", 0);
	(void)unlinkat(dir, "triggers.json", 0);
	(void)unlinkat(dir, "etc/fstab", 0);
	(void)unlinkat(dir, "etc", AT_REMOVEDIR);
	(void)rmdir(name);
}

/* a folder in memory, where there is such a place */
static void
begin(void)
{
	if (dir != -1)
		return;
	if ((name = mkdtemp(shm)) == NULL)
		name = mkdtemp(tmp);
	if (atexit(end) != 0 || name == NULL || (dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1 || mkdirat(dir, "etc", 0755) != 0)
		abort();
}

static void
put(const char *file, const uint8_t *p, size_t len)
{
	int fd = openat(dir, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd == -1 || write(fd, p, len) != (ssize_t)len || close(fd) != 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inst_state s = { .lock = -1, .rel = "var/lib/dray", .is_default = true, .root_path = "/" };
	static struct inst_anchor a;
	struct dray_err e = { .code = DRAY_OK };
	struct dray_json *list = NULL;
	struct inst_fstab f = { .v = NULL };
	int rc = 0;

	if (size == 0)
		return 0;
	begin();
	s.root = s.dir = dir;
	if (data[0] == 'A') {
		put("anchor.json", data + 1, size - 1);
		rc = inst_anchor_load(&s, &a, &e);
		if (rc == 0 && a.n_floors > sizeof a.floors / sizeof a.floors[0])
			abort();
	} else if (data[0] == 'D') {
		put("triggers.json", data + 1, size - 1);
		rc = inst_due_load(&s, &list, &e);
		for (size_t i = 0; rc == 0 && i < dray_json_count(list); i++)
			if (inst_due_id(inst_due_trigger(dray_json_at(list, i)))[0] == '\0')
				abort();
		dray_json_free(list);
	} else if (data[0] == 'F') {
		put("etc/fstab", data + 1, size - 1);
		rc = inst_fstab_load(dir, &f, &e);
		if (rc == 0)
			(void)inst_fstab_below(&f, "usr/home/x", 10);
		inst_fstab_free(&f);
	}
	if (rc != 0 && e.text[0] == '\0')
		abort();
	return 0;
}
