/*
 * outputs.h - what triggers make or change, kept for the way back. Private to planning.
 * Source: spec/apply.md, "Triggers".
 */
#ifndef INST_OUTPUTS_H
#define INST_OUTPUTS_H

#include "installer/planning.h"

/* one path that a trigger declares, as the place where it lies: no symlink is on the way */
struct inst_output {
	const char *path;	/* in plan->texts */
	size_t len;
	const char *why;	/* static text: it cannot be kept; NULL */
	struct inst_ident id;
	uint64_t bytes, objects;	/* of a copy; bytes by whole blocks */
	uint8_t site;		/* of the directory it lies in */
	uint8_t fflags;
	uint8_t step;		/* after which one a trigger that makes it runs first; 0: none runs */
	bool gone;		/* there is no such directory */
	bool covered;		/* an operation of the release, or of another output, brings it back too */
};

/** inst_outputs_look - all outputs of the bundle's triggers; before file systems are settled */
DRAY_MUST_CHECK int inst_outputs_look(struct inst_planning *pl, struct dray_err *e);
/** inst_outputs_decide - which triggers the decisions call, and what of their outputs can be kept by itself */
DRAY_MUST_CHECK int inst_outputs_decide(struct inst_planning *pl, struct dray_err *e);
/** inst_outputs_match - what the release's operations do about them: flags of @ops, and which ones need one of their own */
DRAY_MUST_CHECK int inst_outputs_match(struct inst_planning *pl, struct inst_op *ops, size_t n, struct dray_err *e);
/** inst_output_own - does it need an operation of its own? */
bool inst_output_own(const struct inst_output *o);
/** inst_output_holds - is this path, or a directory above it, an output with an operation of its own? */
bool inst_output_holds(const struct inst_planning *pl, const char *path, size_t len);

#endif
