/*
 * fbsd_flight.h - requests under way, each with a file of the store that takes what comes.
 */
#ifndef BUILD_FBSD_FLIGHT_H
#define BUILD_FBSD_FLIGHT_H

#include <stdint.h>

#include "builder/fbsd_store.h"
#include "builder/fetch.h"
#include "dray/err.h"

struct build_fbsd_flight {
	struct build_get g;		/* first: see build_fbsd_flight_of */
	struct build_fbsd_new file;
	struct build_fbsd_flight *next, *next_idle;
};

struct build_fbsd_flights {
	struct build_fbsd_store *store;
	struct build_fbsd_flight *all, *idle;
};

/** build_fbsd_flight_take - one with an empty file; NULL with @e. Its path is the caller's to fill */
struct build_fbsd_flight *build_fbsd_flight_take(struct build_fbsd_flights *v, uint64_t key, uint64_t max, struct dray_err *e);

/** build_fbsd_flight_of - the one whose request is @g */
struct build_fbsd_flight *build_fbsd_flight_of(struct build_get *g);

/** build_fbsd_flight_end - it is done; a file that was not kept is gone */
void build_fbsd_flight_end(struct build_fbsd_flights *v, struct build_fbsd_flight *f);
void build_fbsd_flights_free(struct build_fbsd_flights *v);

#endif
