/*
 * export_read.h - the file that `dray-install status --export` writes, read where there is a network. Nothing in it is
 * signed: it proves itself by its hashes alone. Source: spec/apply.md, "Export".
 */
#ifndef BUILD_EXPORT_READ_H
#define BUILD_EXPORT_READ_H

#include "dray/json.h"
#include "tool/runs.h"

struct build_export_record {
	uint64_t number;
	uint8_t sha256[32];
	uint64_t at, size;		/* of the record in the file, bytes */
	struct tool_span list;		/* fd -1: none in the file */
};

struct build_export {
	int fd;				/* owned */
	uint64_t bytes;			/* of the file */
	uint8_t id[32];			/* SHA-256 of the head */
	struct dray_json *head;		/* owned */
	uint64_t records;		/* what the machine's anchor names: number and hash of the newest; 0: nothing */
	uint8_t last[32];
	struct build_export_record *v;	/* ascending by number; owned */
	size_t n;
};

/** build_export_open - where everything lies; headers and head are checked, records and lists not yet. DRAY_E_FORMAT */
DRAY_MUST_CHECK int build_export_open(const char *path, struct build_export *x, struct dray_err *e);
void build_export_close(struct build_export *x);

/** build_export_record - bytes of record @i, which have the hash that the head names; malloc'ed */
DRAY_MUST_CHECK int build_export_record(const struct build_export *x, size_t i, char **text, struct dray_err *e);

/* cmd_report.c */
int build_cmd_report(int argc, char **argv, const struct tool_cmd *self);

#endif
