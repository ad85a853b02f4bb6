/*
 * mtree.h - a release as mtree(5) lines, for programs that are not ours.
 * Source: spec/cli.md, "check --mtree"; mtree(5) of FreeBSD, NetBSD and libarchive.
 */
#ifndef INST_MTREE_H
#define INST_MTREE_H

#include <stddef.h>
#include <stdio.h>

#include "dray/descriptor.h"
#include "dray/err.h"
#include "dray/index.h"

#include "installer/policy.h"

#define INST_MTREE_CAP(len) (4 * (size_t)(len) + 1)	/* room for an escaped name of so many bytes, and its NUL */

/**
 * inst_mtree_escape - @len bytes as all readers of mtree(5) take them: \ooo for what is no plain printable character
 * @out: INST_MTREE_CAP(len) bytes
 * Return: @out.
 */
const char *inst_mtree_escape(const char *text, size_t len, char *out);

/**
 * inst_mtree_print - every path of the release with its full name, in path order: same release, same lines
 * @policy: no_owner: owners, setuid, setgid and devices were not asked for, so they are left out; absent: so are components
 * No link counts: what is kept for going back may be another name of the same file. No extended attributes: there is no word.
 * Whether @out took it is for the caller to ask.
 * Return: 0, or -1 with DRAY_E_IO (memory).
 */
DRAY_MUST_CHECK int inst_mtree_print(const struct dray_index *ix, const struct dray_desc *d,
    const struct inst_policy *policy, FILE *out, struct dray_err *e);

#endif
