/*
 * cases.h - the tables: one line for each case, and what makes its files and its target.
 */
#ifndef HOSTILE_CASES_H
#define HOSTILE_CASES_H

#include "dray/key.h"

#include "bundle.h"

enum { OPS_MAX = 80, WORDS_MAX = 8 };
enum { VERIFY, PLAN, APPLY, COMMANDS };

struct op {
	char *w[WORDS_MAX];
	size_t n;
};

struct hostile_case {
	char *name, *wrong, *section;
	char *text[2];		/* that verify says; that plan and apply say */
	int code[COMMANDS];
	struct op op[OPS_MAX];
	size_t n_ops;
	bool also;		/* info, list and the JSON of all of them too */
	bool root_only;		/* shows something only to a superuser */
	bool by_hand;		/* run when it is named alone; it may take longer */
	long memory;		/* MiB that it may take; 0: what any case may */
	const char *after;	/* a case that is applied first */
};

/** cases_load - all *.tab of a folder, in order of names; the number in *n */
struct hostile_case *cases_load(const char *folder, size_t *n);

/** case_write - its bundle, or the volumes of it, into @folder, which is emptied first; @file: what a reader is given */
void case_write(const struct hostile_case *c, const struct dray_key *key, const char *folder, char file[4096]);

/* the place where a reader works: scene/root, and beside it scene/outside, which nobody may touch */
void scene_new(const char *scene);
void scene_plant(const char *scene, const struct hostile_case *c);
/**
 * scene_look - everything beneath @path that a write would change, as text
 * @but: not what is there, nor what the folder that holds it looks like; NULL: all
 */
void scene_look(const char *path, const char *but, struct bytes *out);
/** scene_wants - what the operations `want PATH TEXT` ask for; NULL, or which is not so */
const char *scene_wants(const char *scene, const struct hostile_case *c);

/** volumes_write - cuts b->out; the first one that is there in @file */
void volumes_write(const struct hostile_case *c, const struct bundle *b, const char *folder, char file[4096]);
bool volumes_asked(const struct hostile_case *c);

/** hostile_run - each case against PROGRAM; @brief: what all three commands refuse is shown to apply alone; the number of those that were not as they should be */
size_t hostile_run(const struct hostile_case *all, size_t n, const char *program, const char *work, bool brief,
    char *const *names);

void hostile_save(const char *path, const void *p, size_t len);

#endif
