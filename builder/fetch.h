/*
 * fetch.h - objects from a server of plain files (http, https, file), many at once over few connections. What arrives is
 * not judged here but for its length.
 */
#ifndef BUILD_FETCH_H
#define BUILD_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

struct build_fetch;

enum build_got {
	BUILD_GOT_ALL,		/* stands whole in the file */
	BUILD_GOT_NONE,		/* the server answers that there is no such object (404, 410) */
	BUILD_GOT_ERROR,	/* after all tries; the reason is told */
};

struct build_get {		/* one object; belongs to the caller until it is done */
	char path[400];		/* beneath the server's URL, no '/' in front */
	uint64_t max;		/* bytes; more is an error */
	int fd;			/* open for writing, empty; borrowed */
	unsigned spoilt;	/* the caller's: how often it came whole and was wrong */
	uint64_t key;		/* the caller's */
};

struct build_fetch_opts {
	const char *server;	/* "update.FreeBSD.org", "http://host:port/dir", "file:///dir" */
	unsigned parallel;	/* connections; 0: as many as are polite (4) */
	unsigned wait_ms;	/* before the second try, doubled before each further one; 0: 200 */
	int (*stop)(void);	/* not 0: a signal was seen */
	void (*progress)(void *ctx, uint64_t bytes);	/* so much more has arrived; may be NULL */
	void *ctx;
};

struct build_fetch_flow {
	/* the next object to ask for: 1, 0: no more for now, -1 with @e: give up */
	int (*next)(void *ctx, struct build_get **g, struct dray_err *e);
	/* it is done, @why tells of BUILD_GOT_ERROR. 0: go on, 1: ask for it anew (@g unchanged, its file emptied), -1: give up */
	int (*done)(void *ctx, struct build_get *g, enum build_got got, const struct dray_err *why, struct dray_err *e);
	void *ctx;
};

/**
 * build_fetch_open - nothing is asked for yet; a proxy is taken from the usual variables, HTTP_PROXY included
 * Without a port, the host's SRV records of _http._tcp name the servers, lowest priority first.
 * Errors: DRAY_E_USAGE: no such kind of URL.
 */
DRAY_MUST_CHECK int build_fetch_open(const struct build_fetch_opts *o, struct build_fetch **out, struct dray_err *e);
void build_fetch_close(struct build_fetch *f);

/** build_fetch_url - of @path, for messages; @cap bytes, control characters quoted */
const char *build_fetch_url(const struct build_fetch *f, const char *path, char *dst, size_t cap);

/**
 * build_fetch_run - until there is no next object and all are done. What breaks off goes on where it stopped, five tries
 * with growing pauses; "no such object" is not tried again.
 * Errors: DRAY_E_SIGNAL, DRAY_E_IO, and those of the flow.
 */
DRAY_MUST_CHECK int build_fetch_run(struct build_fetch *f, const struct build_fetch_flow *w, struct dray_err *e);

/** build_fetch_other - the next server of the SRV records; false: there is none */
bool build_fetch_other(struct build_fetch *f);

#endif
