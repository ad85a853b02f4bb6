/*
 * readme.h - README.txt, the member that tells how to verify and read a bundle without dray.
 */
#ifndef BUILD_README_H
#define BUILD_README_H

#include <stddef.h>

#include "dray/descriptor.h"
#include "dray/err.h"

/**
 * build_readme_text - the text for one bundle, malloc'ed
 * @d: product and version are used, nothing else, so that the text does not depend on the layout it is part of
 */
DRAY_MUST_CHECK int build_readme_text(const struct dray_desc *d, char **text, size_t *len, struct dray_err *e);

#endif
