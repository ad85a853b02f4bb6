/*
 * history.h - former states of paths as one base, from whole releases. A history is a release in which several nodes of
 * one path may follow each other: each is a state that the path once had, DRAY_ABSENT among them where there was nothing.
 * A path that has no node was never there. The same state twice is one. Who knows former states without whole trees,
 * as an INDEX-OLD tells them, fills such a release without this file.
 */
#ifndef BUILD_HISTORY_H
#define BUILD_HISTORY_H

#include <stddef.h>

#include "builder/release.h"
#include "dray/err.h"

/**
 * build_history_join - the states that paths had in @sources; "absent" where one of them lacks a path
 * @sources, @n: at least one, none of them a history; must stay until *out is freed, as contents are read from them. They
 *     give up their nodes. Their order does not matter
 * @out: build_release_free
 */
DRAY_MUST_CHECK int build_history_join(struct build_release *const *sources, size_t n, struct build_release **out,
    struct dray_err *e);

#endif
