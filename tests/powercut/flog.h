/* flog.h - a record of the log that flog writes and freplay reads; @len bytes follow it */
#ifndef TESTS_FLOG_H
#define TESTS_FLOG_H

#include <stdint.h>

#define FLOG_MAGIC 0x474f4c46u	/* "FLOG" */

enum flog_kind { FLOG_WRITE = 1, FLOG_FLUSH = 2 };

struct flog_record {
	uint32_t magic, kind;
	uint64_t at;
	uint32_t len, zero;
};

#endif
