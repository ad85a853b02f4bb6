/*
 * meta.h - set the attributes of one object as the plan tells them; dray/attrs.h tells the order.
 */
#ifndef INST_META_H
#define INST_META_H

#include "installer/plan.h"

/** inst_meta_apply - dray_attrs_set with the attributes @m */
DRAY_MUST_CHECK int inst_meta_apply(int dir, const char *name, int fd, uint8_t type, const struct inst_meta *m,
    struct dray_err *e);

#endif
