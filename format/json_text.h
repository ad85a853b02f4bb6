/*
 * json_text.h - JSON as bytes: what is refused before json-c sees a text, and how our own text is put together.
 * Private to json.c; nothing of json-c here.
 */
#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "dray/err.h"

/**
 * dray_json_text_scan - refuse what json-c would let pass: numbers that are no int64 in shortest form, null, NUL and lone
 * surrogates in strings, raw control characters, too deep nesting, bytes that begin no JSON token
 * @keys: number of keys in the text, provided that the grammar (which json-c checks) is kept
 */
DRAY_MUST_CHECK int dray_json_text_scan(const char *text, size_t len, unsigned depth_max, size_t *keys, struct dray_err *e);

bool dray_json_text_blank(char c);

/* text that grows; out of memory is remembered, so that one check at the end is enough */
struct json_out {
	char *p;	/* NUL after len bytes once there is something */
	size_t len, cap;
	bool failed;
};

void dray_json_out_bytes(struct json_out *t, const char *s, size_t len);
/** dray_json_out_string - quoted and escaped canonically; bytes that are no UTF-8 become U+FFFD */
void dray_json_out_string(struct json_out *t, const char *s, size_t len);

#endif
