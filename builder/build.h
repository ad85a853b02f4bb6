/*
 * build.h - the whole chain: sources, resolve, pack, write, sign, check. cmd_build.c fills the options and tells the
 * result.
 */
#ifndef BUILD_BUILD_H
#define BUILD_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/fbsd_source.h"
#include "builder/layout.h"
#include "builder/owner.h"
#include "builder/pathset.h"
#include "builder/release.h"
#include "builder/write.h"
#include "dray/descriptor.h"
#include "dray/err.h"
#include "tool/look.h"
#include "tool/tool.h"

struct build_input {			/* something that is read */
	const char *spec;		/* source, as given */
	struct build_release *release;
	bool all_states;		/* a server that knows them: all states of each path instead of the newest */
};

struct build_base {
	const struct build_input *in;	/* NULL: the history of all --history */
	bool named;			/* --from-version was given for it */
	char version[65];
	uint64_t counter;		/* 0: unknown */
};

struct build_opts {
	const struct tool_common *common;
	const char *output;
	/* the exact bases, then the n_history former states, the release last */
	struct build_input inputs[2 * DRAY_MAX_BASES + 1];
	size_t n_inputs, n_history;
	struct build_base bases[DRAY_MAX_BASES];	/* ordered and named by build_run; the history comes last */
	size_t n_bases;
	const char *product, *version, *os;
	uint64_t counter, slot, built;
	bool has_built;			/* SOURCE_DATE_EPOCH, else the newest mtime of the release */
	struct tool_list compatible, keys, notes;
	const char *pass_file;		/* for encrypted keys, or NULL */
	const char *tmpdir;		/* for contents of archives and frames; NULL: the folder of the output */
	struct build_filter filter;	/* what is left out of all sources */
	struct build_owner owner;
	struct build_patterns xattrs, mounts;
	struct build_fbsd_opts fbsd;
	struct build_layout *layout;	/* components, phases, config files of the target */
	bool portable_names;		/* names that differ only by case are an error */
	bool empty_ok;			/* a target that holds nothing is no mistake */
	bool with_upstream;		/* attach the signed metadata of the server that the release is from */
	bool slim;			/* mode of the bundle */
	const struct dray_json *triggers;	/* those of the recipe: array, checked, or NULL */
	unsigned trigger_sets;		/* triggerset.h */
	int level;
	uint64_t apply_ns;		/* most that applying may cost from any base; 0: no bound */
	const char *cache_dir;		/* NULL: the usual one */
	bool no_cache;
};

struct build_result {
	struct build_release *target;	/* borrowed from the inputs */
	struct build_release *history;
	struct build_sizes sizes;
	struct tool_counts counts;
	struct tool_costs costs;
	uint8_t id[32];
	uint64_t built;
	size_t n_signed, n_notes;
	struct build_packed *packed;	/* its figures */
	struct build_cache *cache;	/* its figures; NULL: none was used */
	struct dray_json *triggers;	/* array, or NULL */
	size_t stale;			/* temporary files of killed builds that were removed */
	int64_t scan_ms, write_ms, check_ms;
};

/**
 * build_run - make the bundle; on failure nothing is left of it
 * @r: filled on success; build_result_free in any case
 */
DRAY_MUST_CHECK int build_run(struct build_opts *o, struct build_result *r, struct dray_err *e);
void build_result_free(struct build_opts *o, struct build_result *r);

/** build_check_apart - does the output lie outside of the source @spec, and is it none of its files? DRAY_E_USAGE */
DRAY_MUST_CHECK int build_check_apart(const char *spec, const char *output, struct dray_err *e);

/** build_places_cache - open the cache; the usual one gives way to a source that holds it, one that was asked for is a mistake */
DRAY_MUST_CHECK int build_places_cache(const struct build_opts *o, struct build_cache **out, struct dray_err *e);

/** build_report - tell the result, as text or JSON */
DRAY_MUST_CHECK int build_report(const struct build_opts *o, const struct build_result *r, struct dray_err *e);

/** build_warnings - what was left out, on stderr */
void build_warnings(const struct build_opts *o, const struct build_result *r);

/* subcommands */
int cmd_build(int argc, char **argv, const struct tool_cmd *self);
int build_cmd_fetch(int argc, char **argv, const struct tool_cmd *self);
int build_cmd_policy(int argc, char **argv, const struct tool_cmd *self);

#endif
