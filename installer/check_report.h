/*
 * check_report.h - what check found, in words and in JSON; repair tells its part of it too.
 */
#ifndef INST_CHECK_REPORT_H
#define INST_CHECK_REPORT_H

#include "installer/check.h"
#include "installer/cmd.h"

/** inst_check_run - inst_check_tree with a progress line, and with what upgrades left alone if @f->b is the release that
 * is installed; @o: quick and strict are the caller's, the rest is filled here */
DRAY_MUST_CHECK int inst_check_run(const struct inst_front *f, struct inst_check_opts o, struct inst_check *out,
    struct dray_err *e);

/** inst_check_say - what is damaged, what differs by decision and what could not be looked at; bounded unless -v */
void inst_check_say(const struct inst_front *f, const struct inst_check *c);
/** inst_check_say_absent - of it only the components that are not here */
void inst_check_say_absent(const struct inst_front *f, const struct inst_check *c);
/** inst_check_json - the same; its keys are in spec/cli.md, "check" */
void inst_check_json(const struct inst_front *f, const struct inst_check *c, struct dray_json *o);

/** inst_check_say_chosen - what a repair takes on (@chosen: inst_repair_choose), and what it leaves as decided */
void inst_check_say_chosen(const struct inst_front *f, const struct inst_check *c, const uint8_t *chosen,
    const char *heading);
/** inst_check_json_chosen - "repairs", "repairs_total", "local" */
void inst_check_json_chosen(const struct inst_front *f, const struct inst_check *c, const uint8_t *chosen,
    struct dray_json *o);

/** inst_check_tell_foreign - paths that no release knows, in words or (@o not NULL) as "foreign" and "foreign_total" */
DRAY_MUST_CHECK int inst_check_tell_foreign(const struct inst_front *f, const struct inst_check *c,
    struct dray_json *o, struct dray_err *e);

#endif
