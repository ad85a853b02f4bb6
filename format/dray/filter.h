/*
 * filter.h - transformations of contents that make moved code look alike. Source: spec/bundle-format.md 6.5.
 */
#ifndef DRAY_FILTER_H
#define DRAY_FILTER_H

#include <stddef.h>
#include <stdint.h>

/**
 * dray_x86_filter, dray_x86_unfilter - targets of calls and operands from relative to absolute, and back; in place
 * @at: where @p stands in its content
 * For x86-64 executables and shared objects (e_machine 62, e_type 2 or 3); it harms relocatable objects and i386 code.
 * Exact inverses of each other on any bytes. Nothing is kept from call to call.
 */
void dray_x86_filter(uint8_t *p, size_t len, uint64_t at);
void dray_x86_unfilter(uint8_t *p, size_t len, uint64_t at);

#endif
