/*
 * fence.c - what a run gives up before it reads anything foreign, and which programs it may have run after that.
 */
#include <sys/stat.h>

#include <string.h>

#include "dray/os.h"

#include "installer/due.h"
#include "installer/fence.h"
#include "installer/hooksd.h"
#include "installer/run_trigger.h"
#include "installer/runner.h"
#include "installer/validate.h"

static unsigned up;	/* OS_FENCE_*: of this process, for good */

void
inst_fence_only(const char *folder)
{
	up = os_fence(&folder, folder != NULL);
}

void
inst_fence(const struct inst_front *f, enum inst_needs needs, const char *folder)
{
	const char *beneath[2], *state = f->state != NULL ? f->state : os_state_dir();
	struct stat root, slash;
	size_t n = 0;

	if (needs == INST_NEEDS_PROGRAMS)
		inst_runner_begin(&(struct inst_runner_opts){ .root = f->root, .state = state + strspn(state, "/"), .chroot = f->allow_chroot,
		    .here = stat(f->root, &root) == 0 && stat("/", &slash) == 0 && root.st_dev == slash.st_dev &&
			root.st_ino == slash.st_ino });
	if (needs != INST_NEEDS_NOTHING)
		beneath[n++] = f->root;
	if (folder != NULL)
		beneath[n++] = folder;
	up = os_fence(beneath, n);
}

int
inst_fence_programs(struct inst_front *f, struct dray_err *e)
{
	if (inst_hooksd_load(f, e) != 0)
		return -1;
	inst_fence(f, INST_NEEDS_PROGRAMS, NULL);
	return 0;
}

void
inst_fence_json(struct dray_json *o)
{
	struct dray_json *a = dray_json_set_arr(o, "filters");

	if ((up & OS_FENCE_CALLS) != 0)
		dray_json_push_str(a, "calls");
	if ((up & OS_FENCE_FILES) != 0)
		dray_json_push_str(a, "files");
}

void
inst_fence_say(const struct inst_front *f)
{
	if (f->common.verbose > 0)
		inst_say(f, "filters of this program: system calls %s, files %s", (up & OS_FENCE_CALLS) != 0 ? "yes" : "not to be had here",
		    (up & OS_FENCE_FILES) != 0 ? "yes" : "not to be had here");
}

int
inst_fence_seal(struct inst_front *f, bool rules, struct dray_err *e)
{
	const struct dray_desc *d = f->b != NULL ? dray_bundle_desc(f->b) : NULL;

	for (size_t i = 0; d != NULL && i < d->n_triggers; i++)
		if (inst_trigger_allow(dray_json_at(d->triggers, i), e) != 0)
			return -1;
	if (rules && (inst_rules_of_bundle(f->b, &f->policy, e) != 0 || inst_validate_allow(&f->policy.rules, e) != 0))
		return -1;
	inst_due_allow(&f->st);
	return inst_runner_seal(e);
}
