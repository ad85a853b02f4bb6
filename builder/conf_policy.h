/*
 * conf_policy.h - what a freebsd-update.conf says about paths, as a policy file for dray-install.
 */
#ifndef BUILD_CONF_POLICY_H
#define BUILD_CONF_POLICY_H

#include <stddef.h>
#include <stdio.h>

#include "dray/err.h"

/**
 * build_conf_policy - the whole of @in as lines of a policy
 * @text: malloc'ed, @len bytes, which dray_policy_parse takes; NULL on failure
 * Errors: DRAY_E_USAGE, with the line: an option that is none, an expression that no pattern can say; DRAY_E_IO.
 */
DRAY_MUST_CHECK int build_conf_policy(FILE *in, char **text, size_t *len, struct dray_err *e);

#endif
