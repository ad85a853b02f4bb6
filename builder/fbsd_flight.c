/*
 * fbsd_flight.c - as many as there are connections; they are used again.
 */
#include <stdlib.h>

#include "builder/fbsd_flight.h"

struct build_fbsd_flight *
build_fbsd_flight_take(struct build_fbsd_flights *v, uint64_t key, uint64_t max, struct dray_err *e)
{
	struct build_fbsd_flight *f = v->idle;

	if (f != NULL) {
		v->idle = f->next_idle;
	} else if ((f = malloc(sizeof(*f))) != NULL) {
		f->next = v->all;
		v->all = f;
	} else {
		dray_fail(e, DRAY_E_IO, "out of memory");
		return NULL;
	}
	f->g = (struct build_get){ .key = key, .max = max };
	f->file.fd = -1;
	if (build_fbsd_store_new(v->store, &f->file, e) != 0)
		return NULL;
	f->g.fd = f->file.fd;
	return f;
}

struct build_fbsd_flight *
build_fbsd_flight_of(struct build_get *g)
{
	return (struct build_fbsd_flight *)(void *)g;
}

void
build_fbsd_flight_end(struct build_fbsd_flights *v, struct build_fbsd_flight *f)
{
	build_fbsd_store_forget(v->store, &f->file);
	f->next_idle = v->idle;
	v->idle = f;
}

void
build_fbsd_flights_free(struct build_fbsd_flights *v)
{
	while (v->all != NULL) {
		struct build_fbsd_flight *f = v->all;

		v->all = f->next;
		build_fbsd_store_forget(v->store, &f->file);
		free(f);
	}
	v->idle = NULL;
}
