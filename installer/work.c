/* work.c - pieces of work of a run, told to the state's listener if there is one */
#include <stddef.h>

#include "installer/state.h"
#include "installer/work.h"

void
inst_work_begin(const struct inst_state *s, const char *what, uint64_t paths)
{
	if (s->listener != NULL)
		s->listener->begin(s->listener->ctx, what, paths);
}

void
inst_work_at(const struct inst_state *s, uint64_t paths)
{
	if (s->listener != NULL)
		s->listener->at(s->listener->ctx, paths, 0);
}

int
inst_work_end(const struct inst_state *s, int rc)
{
	if (s->listener != NULL)
		s->listener->end(s->listener->ctx, rc == 0);
	return rc;
}
