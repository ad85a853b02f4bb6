/*
 * fuzz_state.c - files that others may have written: the first byte says which.
 *
 *   A anchor.json, D triggers.json, K release/ID.kept, P decisions/policy of a state folder; F etc/fstab of the tree,
 *   M .dray-pending in it
 */
#include <sys/stat.h>

#include <stdio.h>

#include "dray/json.h"

#include "installer/decisions.h"
#include "installer/due.h"
#include "installer/fstab.h"
#include "installer/kept.h"
#include "installer/state.h"

#include "tests/unit/index_raw.h"

#include "folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char zero[] = "release/0000000000000000000000000000000000000000000000000000000000000000.kept";

static int
begin(void)
{
	static const char *const folders[] = { "etc", "release", "decisions", "var", "var/lib", "var/lib/dray" };
	static bool made;
	int dir = fuzz_folder();

	for (size_t i = 0; !made && i < sizeof(folders) / sizeof(folders[0]); i++)
		if (mkdirat(dir, folders[i], 0700) != 0)
			abort();
	made = true;
	return dir;
}

static int
anchor(const struct inst_state *s, struct dray_err *e)
{
	static struct inst_anchor a;
	int rc = inst_anchor_load(s, &a, e);

	if (rc == 0 && a.n_floors > sizeof(a.floors) / sizeof(a.floors[0]))
		abort();
	return rc;
}

static int
due(const struct inst_state *s, struct dray_err *e)
{
	struct dray_json *list = NULL;
	int rc = inst_due_load(s, &list, e);

	for (size_t i = 0; rc == 0 && i < dray_json_count(list); i++)
		if (inst_due_id(inst_due_trigger(dray_json_at(list, i)))[0] == '\0')
			abort();
	dray_json_free(list);
	return rc;
}

static int
fstab(int dir, struct dray_err *e)
{
	struct inst_fstab f = { .v = NULL };
	int rc = inst_fstab_load(dir, &f, e);

	if (rc == 0)
		(void)inst_fstab_below(&f, "usr/home/x", 10);
	inst_fstab_free(&f);
	return rc;
}

/* of a release with a path of each kind */
static int
kept(const struct inst_state *s, struct dray_err *e)
{
	static const struct inst_installed release = { .known = true };
	static struct dray_index *ix;
	uint8_t *kind;
	int rc;

	if (ix == NULL) {
		size_t dir_len, chunks_len;
		uint8_t *dir, *chunks;
		struct raw r = { 0 };

		raw_good(&r);
		raw_pack(&r, &dir, &dir_len, &chunks, &chunks_len);
		raw_need(raw_load(raw_desc(&r, chunks_len), dir, dir_len, chunks, chunks_len, 1, &ix, e), e);
		raw_free(&r);
		free(dir);
		free(chunks);
	}
	if ((rc = inst_kept_load(s, &release, ix, &kind, e)) == 0 && kind == NULL)
		abort();
	free(rc == 0 ? kind : NULL);
	return rc;
}

/* what is decided about one path counts from then on, whatever stands in the file besides */
static int
decisions(const struct inst_state *s, struct dray_err *e)
{
	struct inst_front f = { .root = "/", .st = *s };
	struct inst_decisions d;
	const struct dray_rule *r;
	int rc;

	if ((rc = inst_decisions_load(&f, NULL, false, &d, e)) == 0) {
		if (inst_decisions_set(&d, "etc/motd", 8, "mine", e) == 0) {
			r = dray_policy_find(&d.rules, "etc/motd", 8, DRAY_WHEN_CHANGED, NULL);
			if (r == NULL || r->action != DRAY_ACT_MINE || inst_decisions_set(&d, "etc/motd", 8, NULL, e) != 0)
				abort();
		} else if (e->text[0] == '\0') {
			abort();
		}
	}
	inst_decisions_free(&d);
	return rc;
}

static int
mark(struct dray_err *e)
{
	struct inst_state s;
	int rc = inst_state_open(fuzz_folder_name, NULL, false, &s, e);

	if (rc == 0)
		inst_state_close(&s);
	return rc;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inst_state s = { .lock = -1, .rel = "var/lib/dray", .is_default = true, .root_path = "/" };
	static const struct { char which; const char *file; } files[] = { { 'A', "anchor.json" }, { 'D', "triggers.json" }, { 'K', zero },
		{ 'P', "decisions/policy" }, { 'F', "etc/fstab" }, { 'M', ".dray-pending" } };
	struct dray_err e = { .code = DRAY_OK };
	size_t i = 0;
	int rc = 0;

	while (size > 0 && i < sizeof(files) / sizeof(files[0]) && files[i].which != (char)data[0])
		i++;
	if (size == 0 || i == sizeof(files) / sizeof(files[0]))
		return 0;
	s.root = s.dir = begin();
	fuzz_put(files[i].file, data + 1, size - 1);
	switch (data[0]) {
	case 'A': rc = anchor(&s, &e); break;
	case 'D': rc = due(&s, &e); break;
	case 'K': rc = kept(&s, &e); break;
	case 'P': rc = decisions(&s, &e); break;
	case 'F': rc = fstab(s.root, &e); break;
	default: rc = mark(&e); break;
	}
	if (rc != 0 && e.text[0] == '\0')
		abort();
	return 0;
}
