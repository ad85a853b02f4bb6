/*
 * calls.h - the system calls that failat knows, by class.
 */
#ifndef FAULT_CALLS_H
#define FAULT_CALLS_H

#include "tests/crash/trace.h"

enum { FAULT_CALLS = 99 };

struct fault_call {
	const char *class, *name;
	unsigned int number;
	enum trace_test test;		/* which of them count */
};

extern const struct fault_call fault_calls[FAULT_CALLS];

#endif
