/*
 * rescue.h - this program as the kernel's first process: init=/STATE/dray-install. Source: spec/apply.md, "Rescue".
 */
#ifndef INST_RESCUE_H
#define INST_RESCUE_H

#include <stdbool.h>

/**
 * inst_rescue_wanted - were we started by the kernel, from a state folder, and not told to do something else?
 * @command: does the first argument name a subcommand
 */
bool inst_rescue_wanted(int argc, char **argv, bool command);

/**
 * inst_rescue - finish what was interrupted, then become the system's init with the arguments the kernel gave
 * @resume: runs `resume --state STATE` with these arguments, in a process of its own; its exit status
 * Does not return: where there is nothing to become, it says what to do and waits.
 */
_Noreturn void inst_rescue(char **argv, int (*resume)(int argc, char **argv));

#endif
