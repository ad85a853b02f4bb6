/*
 * policy.h - what the operator has decided beforehand about a plan. All zero: the usual. Goes into the plan id.
 * Source: spec/cli.md 3.1, "Policy".
 */
#ifndef INST_POLICY_H
#define INST_POLICY_H

#include <stdbool.h>
#include <stddef.h>

struct inst_policy {
	bool park;		/* what is local in a directory that has to give way goes along with it into the stash */
};

#endif
