/*
 * sparse.h - write a new file's bytes and leave out what is zero, so that an image with holes takes no room for them.
 * Source: spec/apply.md, "Holes".
 */
#ifndef INST_SPARSE_H
#define INST_SPARSE_H

#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

#define INST_SPARSE_BLOCK ((size_t)4096)	/* holes begin and end at multiples of it in the file, or at the file's end */
#define INST_SPARSE_MIN ((size_t)64 * 1024)	/* shorter runs of zeros are written */

/**
 * inst_sparse_find - the first run of zeros that is worth a hole
 * @p, @len: bytes @at and following of a file of @size bytes
 * @hole:    length of the run; 0 when there is none
 *
 * Return: where it begins in @p; @len when there is none.
 */
size_t inst_sparse_find(const uint8_t *p, size_t len, uint64_t at, uint64_t size, size_t *hole);

/**
 * inst_sparse_put - bytes @at and following of a new file of @size bytes, holes left out
 * @fd: open for writing; nothing was ever written to these @len bytes, so what is left out reads as zeros
 *
 * Parts may come in any order, each of them once. The file has its length when the part up to its end was put.
 */
DRAY_MUST_CHECK int inst_sparse_put(int fd, const uint8_t *p, size_t len, uint64_t at, uint64_t size, struct dray_err *e);

#endif
