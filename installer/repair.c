/*
 * repair.c - which differences a repair takes on.
 */
#include <stdlib.h>

#include "installer/repair.h"

/* what a local decision about a file's content covers, when the file is there */
#define CONTENT (INST_DIFF_BIT(INST_DIFF_TYPE) | INST_DIFF_BIT(INST_DIFF_CONTENT) | INST_DIFF_BIT(INST_DIFF_LINKS) | \
    INST_DIFF_BIT(INST_DIFF_MTIME))

/* of a path that was named everything counts, times of directories too */
static uint16_t
takes_on(const struct inst_check *c, bool named, uint32_t row)
{
	uint16_t all = c->diffs[row] & (uint16_t)~INST_CHECK_STATE;

	if (c->why[row] == INST_LOCAL_ABSENT)
		return 0;
	if (!named)
		return inst_check_damage(c, row);
	return (c->diffs[row] & INST_CHECK_DIR_TIME) != 0 ? all | INST_DIFF_BIT(INST_DIFF_MTIME) : all;
}

static uint8_t
choose_row(const struct inst_check *c, bool named, uint32_t row)
{
	uint16_t takes = takes_on(c, named, row);
	uint8_t how = INST_REPAIR;

	if (takes == 0)
		return 0;
	if (named)
		how |= INST_REPAIR_NAMED;
	else if ((inst_check_decided(c, row) & CONTENT) != 0)
		how |= INST_REPAIR_KEEP_CONTENT;
	if ((takes & INST_DIFF_BIT(INST_DIFF_LINKS)) != 0)
		how |= INST_REPAIR_LINKS;
	return how;
}

uint8_t *
inst_repair_choose(const struct inst_check *c, const uint8_t *named, size_t *n, size_t *unread)
{
	uint8_t *chosen = calloc((size_t)c->rows + 1, 1);

	*n = *unread = 0;
	if (chosen == NULL)
		return NULL;
	for (uint32_t row = 0; row < c->rows; row++) {
		if (named != NULL && named[row] == 0)
			continue;
		chosen[row] = choose_row(c, named != NULL, row);
		*n += chosen[row] != 0;
		*unread += (c->diffs[row] & INST_CHECK_UNREAD) != 0 && c->why[row] != INST_LOCAL_ABSENT;
	}
	return chosen;
}

uint16_t
inst_repair_bits(const struct inst_check *c, const uint8_t *chosen, uint32_t row)
{
	return chosen[row] == 0 ? 0 : takes_on(c, (chosen[row] & INST_REPAIR_NAMED) != 0, row);
}
