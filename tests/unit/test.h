/*
 * test.h - fifty lines of test harness: CHECK prints both values, RUN names the behaviour, test_done ends the program.
 */
#ifndef TEST_H
#define TEST_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static unsigned test_bad, test_passed, test_failed;

#define CHECK(c) \
	do { \
		if (!(c)) { \
			test_bad++; \
			printf("# %s:%d: %s is false\n", __FILE__, __LINE__, #c); \
		} \
	} while (0)

#define CHECK_EQ(a, b) \
	do { \
		int64_t test_a = (int64_t)(a), test_b = (int64_t)(b); \
		if (test_a != test_b) { \
			test_bad++; \
			printf("# %s:%d: %s is %" PRId64 ", wanted %" PRId64 "\n", __FILE__, __LINE__, #a, test_a, test_b); \
		} \
	} while (0)

#define CHECK_STR(a, b) \
	do { \
		const char *test_a = (a), *test_b = (b); \
		if (strcmp(test_a, test_b) != 0) { \
			test_bad++; \
			printf("# %s:%d: %s is \"%s\", wanted \"%s\"\n", __FILE__, __LINE__, #a, test_a, test_b); \
		} \
	} while (0)

/* does text hold part? */
#define CHECK_HAS(text, part) \
	do { \
		const char *test_a = (text), *test_b = (part); \
		if (strstr(test_a, test_b) == NULL) { \
			test_bad++; \
			printf("# %s:%d: \"%s\" lacks \"%s\"\n", __FILE__, __LINE__, test_a, test_b); \
		} \
	} while (0)

#define RUN(fn) \
	do { \
		test_bad = 0; \
		fn(); \
		printf("%s %s\n", test_bad == 0 ? "ok" : "not ok", #fn); \
		if (test_bad == 0) \
			test_passed++; \
		else \
			test_failed++; \
	} while (0)

static inline int
test_done(void)
{
	printf("%u passed, %u failed\n", test_passed, test_failed);
	return test_failed == 0 && test_passed > 0 ? 0 : 1;
}

#endif
