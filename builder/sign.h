/*
 * sign.h - signatures into a finished bundle: only the slot is written, every other byte stays.
 * Source: spec/bundle-format.md, 3 "Signature slot and signed text" and 9.3 "Detached signatures".
 */
#ifndef BUILD_SIGN_H
#define BUILD_SIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "dray/err.h"
#include "dray/key.h"
#include "dray/slot.h"

/**
 * build_sign_fd - sign the bundle open in @fd
 * @fd: open for reading and writing; its position does not move; synced on return
 * @replace: drop the signatures that are there; else a key that has signed already is left as it is
 */
DRAY_MUST_CHECK int build_sign_fd(int fd, const struct dray_key *const *keys, size_t n, bool replace, struct dray_err *e);

/**
 * build_sign_fits - can a slot of @slot bytes hold signatures by these keys? Asked before there is a bundle, so for the
 * shortest length that the signed text may tell of one.
 * Return: 0, or -1 with DRAY_E_USAGE.
 */
DRAY_MUST_CHECK int build_sign_fits(const struct dray_key *const *keys, size_t n, const struct dray_signed *of, size_t slot,
    struct dray_err *e);

struct build_sign_count { unsigned added, already, total; };

/** build_sign_count_fd - the same, and tells how many were new */
DRAY_MUST_CHECK int build_sign_count_fd(int fd, const struct dray_key *const *keys, size_t n, bool replace,
    struct build_sign_count *count, struct dray_err *e);

/** build_sign_text - the signed text of the bundle in @fd: what a signing room gets to see */
DRAY_MUST_CHECK int build_sign_text(int fd, char text[DRAY_SLOT_TEXT_MAX + 1], size_t *len, struct dray_err *e);

/** build_sign_detached - a signature file over @text, malloc'ed canonical JSON */
DRAY_MUST_CHECK int build_sign_detached(const char *text, size_t text_len, const struct dray_key *key, char **out,
    size_t *out_len, struct dray_err *e);

/** build_sign_add - put a signature file into the bundle, after it proved to be one over this bundle's text */
DRAY_MUST_CHECK int build_sign_add(int fd, const char *file, size_t file_len, struct build_sign_count *count,
    struct dray_err *e);

/** build_key_load - a private key; @pass_file: its first line is the passphrase; NULL: none */
DRAY_MUST_CHECK int build_key_load(const char *path, const char *pass_file, struct dray_key **out, struct dray_err *e);

/** build_pass_load - the first line of @path, malloc'ed; wipe it with build_pass_free */
DRAY_MUST_CHECK int build_pass_load(const char *path, char **out, struct dray_err *e);
void build_pass_free(char *pass);

/** build_file_load - a whole regular file of at most @max bytes, malloc'ed, a NUL after it */
DRAY_MUST_CHECK int build_file_load(const char *path, size_t max, char **out, size_t *len, struct dray_err *e);

/* subcommands, as tool_cmd.run */
struct tool_cmd;
int build_cmd_key_new(int argc, char **argv, const struct tool_cmd *self);
int build_cmd_key_show(int argc, char **argv, const struct tool_cmd *self);
int build_cmd_sign(int argc, char **argv, const struct tool_cmd *self);
int build_cmd_resign(int argc, char **argv, const struct tool_cmd *self);

#endif
