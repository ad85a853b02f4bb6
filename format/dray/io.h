/*
 * io.h - reads that are whole or fail; for bytes whose absence has another remedy than an error message.
 */
#ifndef DRAY_IO_H
#define DRAY_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

/** dray_pread_whole - exactly @len bytes at @at of an open file, whatever signals come; false: they are not there */
DRAY_MUST_CHECK bool dray_pread_whole(int fd, void *p, size_t len, uint64_t at);

/** dray_read_whole - exactly the next @len bytes of a file or pipe, whatever signals come; false: they are not there */
DRAY_MUST_CHECK bool dray_read_whole(int fd, void *p, size_t len);

#endif
