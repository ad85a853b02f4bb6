/*
 * test_json.c - strict JSON, canonical JSON, readers and builders.
 */
#include <stdlib.h>

#include "dray/json.h"

#include "test.h"

static struct dray_err e;

/* "ok", or why not */
static const char *
parse(const char *text, size_t len, bool canonical)
{
	struct dray_json *v = NULL;

	dray_err_clear(&e);
	if (dray_json_parse(text, len, canonical, &v, &e) == 0) {
		CHECK(v != NULL);
		dray_json_free(v);
		return "ok";
	}
	CHECK(v == NULL);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	return e.text;
}

#define LAX(text) parse(text, sizeof(text) - 1, false)
#define CANON(text) parse(text, sizeof(text) - 1, true)

static void
canonical_text_is_taken_as_it_is(void)
{
	CHECK_STR(CANON("{}"), "ok");
	CHECK_STR(CANON("[]"), "ok");
	CHECK_STR(CANON("{\"a\":1,\"b\":[true,false,\"x\",{}],\"c\":{\"d\":-5}}"), "ok");
	CHECK_STR(CANON("[9223372036854775807,-9223372036854775808,0]"), "ok");
	CHECK_STR(CANON("[\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\x7f/\xc3\xa4\xf0\x9f\x98\x80\"]"), "ok");
	CHECK_STR(CANON("{\"\":0,\"A\":1,\"a\":2,\"a\xc3\xa4\":3}"), "ok");
}

static void
what_is_valid_but_not_canonical_is_refused_with_its_place(void)
{
	CHECK_STR(CANON("{ }"), "the JSON is not canonical from byte 1 on");
	CHECK_STR(CANON("{}\n"), "the JSON is not canonical from byte 2 on");
	CHECK_STR(CANON("{\"b\":1,\"a\":2}"), "the JSON is not canonical from byte 2 on");
	CHECK_STR(CANON("[\"\\/\"]"), "the JSON is not canonical from byte 2 on");
	CHECK_STR(CANON("[\"\\u0041\"]"), "the JSON is not canonical from byte 2 on");
	CHECK_STR(CANON("[\"\\u001F\"]"), "the JSON is not canonical from byte 7 on");
	CHECK_STR(CANON("[\"\\u000a\"]"), "the JSON is not canonical from byte 3 on");
	CHECK_STR(CANON("[\"\\ud83d\\ude00\"]"), "the JSON is not canonical from byte 2 on");
	CHECK_STR(LAX(" { \"b\" : 1 ,\t\"a\" : [ 2 ] }\r\n"), "ok");
	CHECK_STR(LAX("[\"\\/\\u0041\\u001F\\ud83d\\ude00\"]"), "ok");
}

static void
only_plain_whole_numbers_are_numbers(void)
{
	static const char why[] = "the JSON has something other than a plain whole number at byte 1";

	CHECK_STR(LAX("[1.0]"), why);
	CHECK_STR(LAX("[1e3]"), why);
	CHECK_STR(LAX("[1E3]"), why);
	CHECK_STR(LAX("[-0]"), why);
	CHECK_STR(LAX("[01]"), why);
	CHECK_STR(LAX("[00]"), why);
	CHECK_STR(LAX("[-01]"), why);
	CHECK_STR(LAX("[-]"), why);
	CHECK_STR(LAX("[1-2]"), why);
	CHECK_STR(LAX("[0x1]"), why);
	CHECK_STR(LAX("[-Infinity]"), why);
	CHECK_STR(LAX("[+1]"), "not JSON at byte 1");
	CHECK_STR(LAX("[.5]"), "not JSON at byte 1");
	CHECK_STR(LAX("[9223372036854775808]"), "the JSON has a number beyond 64 bits at byte 1");
	CHECK_STR(LAX("[-9223372036854775809]"), "the JSON has a number beyond 64 bits at byte 1");
	CHECK_STR(LAX("[99999999999999999999999999]"), "the JSON has a number beyond 64 bits at byte 1");
}

static void
words_other_than_true_and_false_are_refused(void)
{
	CHECK_STR(LAX("[null]"), "the JSON has null at byte 1, which has no meaning here");
	CHECK_STR(LAX("[NaN]"), "not JSON at byte 1");
	CHECK_STR(LAX("[Infinity]"), "not JSON at byte 1");
	CHECK_STR(LAX("[True]"), "not JSON at byte 1");
	CHECK_STR(LAX("[truefalse]"), "not JSON at byte 1");
	CHECK_STR(LAX("[tru]"), "not JSON at byte 1");
	CHECK_STR(LAX("/* x */{}"), "not JSON at byte 0");
	CHECK_STR(LAX("{'a':1}"), "not JSON at byte 1");
	CHECK_STR(LAX("{a:1}"), "not JSON at byte 1");
	CHECK_STR(LAX("\xef\xbb\xbf{}"), "not JSON at byte 0");
	CHECK_STR(LAX("{}\0"), "not JSON at byte 2");
}

static void
a_key_twice_in_one_object_is_refused_in_any_text(void)
{
	/* the byte is that of the second one */
	CHECK_STR(LAX("{\"a\":1,\"a\":1}"), "the JSON has a key twice in one object, at byte 7");
	CHECK_STR(CANON("{\"a\":1,\"a\":1}"), "the JSON has a key twice in one object, at byte 7");
	CHECK_STR(LAX("[{\"b\":{\"a\":1,\"\\u0061\":2}}]"), "the JSON has a key twice in one object, at byte 13");
	CHECK_STR(LAX("{\"a\":{\"x\":1,\"y\":2},\"a\":{\"z\":3}}"), "the JSON has a key twice in one object, at byte 19");
	CHECK_STR(LAX(" {\"a\\\"\" : [\"a\\\"\",{}], \"b\":1,\n\"a\\\"\":3}"),
	    "the JSON has a key twice in one object, at byte 29");
	CHECK_STR(LAX("[{\"a\":{\"b\":1}},{\"b\":{\"a\":1},\"a\":[],\"b\":2}]"),
	    "the JSON has a key twice in one object, at byte 35");
	CHECK_STR(LAX("{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":\":\"}}"), "ok");
}

static void
strings_hold_no_nul_no_control_no_bad_utf8(void)
{
	CHECK_STR(LAX("[\"a\\u0000\"]"), "the JSON has a NUL inside a string, at byte 3");
	CHECK_STR(LAX("{\"\\u0000\":1}"), "the JSON has a NUL inside a string, at byte 2");
	CHECK_STR(LAX("[\"a\0\"]"), "the JSON has a control character in a string, at byte 3");
	CHECK_STR(LAX("[\"a\n\"]"), "the JSON has a control character in a string, at byte 3");
	CHECK_STR(LAX("[\"\xff\"]"), "the JSON is not valid UTF-8 at byte 2");
	CHECK_STR(LAX("[\"\xc0\x80\"]"), "the JSON is not valid UTF-8 at byte 2");
	CHECK_STR(LAX("[\"\xed\xa0\x80\"]"), "the JSON is not valid UTF-8 at byte 2");
	CHECK_STR(LAX("[\"\xe2\x82\"]"), "the JSON is not valid UTF-8 at byte 2");
	CHECK_STR(LAX("[\"\\ud800\"]"), "the JSON has half a surrogate pair at byte 2");
	CHECK_STR(LAX("[\"\\udc00\"]"), "the JSON has half a surrogate pair at byte 2");
	CHECK_STR(LAX("[\"\\ud800\\u0041\"]"), "the JSON has half a surrogate pair at byte 2");
	CHECK_STR(LAX("[\"\\x41\"]"), "the JSON has a bad escape at byte 2");
	CHECK_STR(LAX("[\"\\u12g4\"]"), "the JSON has a bad escape at byte 2");
	CHECK_STR(LAX("[\"\\'\"]"), "the JSON has a bad escape at byte 2");
}

static void
the_document_is_one_object_or_array_and_nothing_after(void)
{
	CHECK_STR(LAX("{}{}"), "not JSON at byte 2");
	CHECK_STR(LAX("{} 1"), "not JSON at byte 3");
	CHECK_STR(LAX("{}]"), "not JSON at byte 2");
	CHECK_STR(LAX("[1,]"), "not JSON at byte 3");
	CHECK_STR(LAX("{\"a\":1,}"), "not JSON at byte 7");
	CHECK_STR(LAX("[,1]"), "not JSON at byte 1");
	CHECK_STR(LAX("[1 2]"), "not JSON at byte 3");
	CHECK_STR(LAX("{\"a\" 1}"), "not JSON at byte 5");
	CHECK_STR(LAX("{\"a\":}"), "not JSON at byte 5");
	CHECK_STR(LAX("{1:2}"), "not JSON at byte 1");
	CHECK_STR(LAX("[}"), "not JSON at byte 1");
	CHECK_STR(LAX("1"), "the JSON is neither an object nor an array, at byte 0");
	CHECK_STR(LAX("\"a\""), "the JSON is neither an object nor an array, at byte 0");
	CHECK_STR(LAX("true"), "the JSON is neither an object nor an array, at byte 0");
}

static void
every_cut_of_a_document_ends_too_early(void)
{
	static const char text[] = "{\"a\":[1,true,\"x\\u0041\\ud83d\\ude00\xc3\xa4\"],\"b\":{\"c\":-12}}";
	size_t len;

	CHECK_STR(LAX(text), "ok");
	for (len = 0; len < sizeof(text) - 1; len++)
		CHECK(strcmp(parse(text, len, false), "ok") != 0);
	CHECK_STR(parse(text, 0, false), "the JSON ends too early, at byte 0");
	CHECK_STR(parse(text, 5, false), "the JSON ends too early, at byte 5");
	CHECK_STR(LAX(" \n "), "the JSON ends too early, at byte 0");
}

static void
sixteen_levels_are_the_deepest(void)
{
	char text[64];
	size_t n;

	for (n = 1; n <= 17; n++) {
		memset(text, '[', n);
		text[n] = '1';
		memset(text + n + 1, ']', n);
		CHECK_STR(parse(text, 2 * n + 1, true),
		    n <= DRAY_JSON_DEPTH ? "ok" : "the JSON is nested deeper than 16 at byte 16");
	}
}

static void
readers_give_what_is_there(void)
{
	static const char text[] = "{\"arr\":[\"x\",2,{\"k\":1}],\"b\":true,\"n\":-7,\"o\":{\"z\":1},\"s\":\"h\xc3\xa4\"}";
	const struct dray_json *a, *o;
	struct dray_json *v;
	const char *s;
	int64_t n = 0;
	bool b = false;
	size_t len, count;

	CHECK_EQ(dray_json_parse(text, sizeof(text) - 1, true, &v, &e), 0);
	CHECK_EQ(dray_json_str(v, "s", &s, &len, "w", &e), 0);
	CHECK_STR(s, "h\xc3\xa4");
	CHECK_EQ(len, 3);
	CHECK_EQ(dray_json_int(v, "n", -7, 7, &n, "w", &e), 0);
	CHECK_EQ(n, -7);
	CHECK_EQ(dray_json_bool(v, "b", &b, "w", &e), 0);
	CHECK(b);
	CHECK_EQ(dray_json_obj(v, "o", &o, "w", &e), 0);
	CHECK(dray_json_is_obj(o) && dray_json_has(o, "z") && !dray_json_has(o, "y"));
	CHECK_EQ(dray_json_arr(v, "arr", &a, &count, "w", &e), 0);
	CHECK_EQ(count, 3);
	CHECK_STR(dray_json_text(dray_json_at(a, 0), &len), "x");
	CHECK_EQ(len, 1);
	CHECK(dray_json_text(dray_json_at(a, 1), &len) == NULL);
	CHECK(dray_json_is_obj(dray_json_at(a, 2)) && !dray_json_is_obj(a));
	CHECK(dray_json_at(a, 3) == NULL && dray_json_at(v, 0) == NULL && dray_json_at(NULL, 0) == NULL);
	CHECK_EQ(dray_json_count(v), 5);
	CHECK_EQ(dray_json_count(a), 3);
	CHECK_EQ(dray_json_count(NULL), 0);
	CHECK_STR(dray_json_key(v, 0), "arr");
	CHECK_STR(dray_json_key(v, 4), "s");
	CHECK(dray_json_key(v, 5) == NULL && dray_json_key(a, 0) == NULL);
	dray_json_free(v);
	dray_json_free(NULL);
}

static void
readers_refuse_by_name(void)
{
	static const char text[] = "{\"n\":5,\"s\":\"x\"}";
	static const char *const all[] = { "s", "n", NULL }, *const some[] = { "s", NULL };
	const struct dray_json *o;
	struct dray_json *v;
	const char *s;
	int64_t n = 3;
	size_t len;
	bool b;

	CHECK_EQ(dray_json_parse(text, sizeof(text) - 1, true, &v, &e), 0);
	CHECK_EQ(dray_json_str(v, "t", &s, &len, "dray.json", &e), -1);
	CHECK_STR(e.text, "dray.json: \"t\" is missing");
	CHECK_EQ(dray_json_str(v, "n", &s, &len, "dray.json", &e), -1);
	CHECK_STR(e.text, "dray.json: \"n\" is not a string");
	CHECK_EQ(dray_json_int(v, "s", 0, 9, &n, "dray.json", &e), -1);
	CHECK_STR(e.text, "dray.json: \"s\" is not a whole number");
	CHECK_EQ(dray_json_int(v, "n", 6, 9, &n, "dray.json", &e), -1);
	CHECK_STR(e.text, "dray.json: \"n\" is 5, not within 6 .. 9");
	CHECK_EQ(n, 3);
	CHECK_EQ(dray_json_bool(v, "n", &b, "dray.json", &e), -1);
	CHECK_STR(e.text, "dray.json: \"n\" is not true or false");
	CHECK_EQ(dray_json_arr(v, "n", &o, &len, "dray.json", &e), -1);
	CHECK_STR(e.text, "dray.json: \"n\" is not an array");
	CHECK_EQ(dray_json_obj(v, "n", &o, "dray.json", &e), -1);
	CHECK_STR(e.text, "dray.json: \"n\" is not an object");
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_EQ(dray_json_str(NULL, "t", &s, &len, "members", &e), -1);
	CHECK_STR(e.text, "members: an object is wanted where \"t\" is looked for");
	CHECK_EQ(dray_json_only(v, all, "dray.json", &e), 0);
	CHECK_EQ(dray_json_only(v, some, "dray.json", &e), -1);
	CHECK_STR(e.text, "dray.json: unknown key \"n\"");
	CHECK_EQ(dray_json_only(NULL, some, "members", &e), -1);
	CHECK_STR(e.text, "members: an object is wanted");
	dray_json_free(v);
	CHECK_EQ(dray_json_parse("{\"\\u001b[2J\":1}", 15, false, &v, &e), 0);
	CHECK_EQ(dray_json_only(v, some, "x", &e), -1);
	CHECK_STR(e.text, "x: unknown key \"\\x1b[2J\"");
	dray_json_free(v);
}

static void
keys_come_in_byte_order_from_any_text(void)
{
	static const char text[] = "{\"c\":1,\"a\":2,\"B\":3}";
	struct dray_json *v;

	CHECK_EQ(dray_json_parse(text, sizeof(text) - 1, false, &v, &e), 0);
	CHECK_STR(dray_json_key(v, 0), "B");
	CHECK_STR(dray_json_key(v, 1), "a");
	CHECK_STR(dray_json_key(v, 2), "c");
	CHECK(dray_json_key(v, 3) == NULL);
	dray_json_free(v);
}

static void
what_is_built_is_written_canonically(void)
{
	struct dray_json *v = dray_json_new_obj(), *a, *o;
	char *text;
	size_t len;

	dray_json_set_str(v, "z", "quote\" back\\ \n \x01");
	dray_json_set_int(v, "a", INT64_MIN);
	dray_json_set_bool(v, "m", false);
	a = dray_json_set_arr(v, "list");
	dray_json_push_str(a, "x");
	dray_json_push_int(a, 5);
	o = dray_json_push_obj(a);
	dray_json_set_strn(o, "part", "abcdef", 3);
	o = dray_json_set_obj(v, "empty");
	CHECK(o != NULL);
	dray_json_set_int(v, "twice", 1);
	dray_json_set_int(v, "twice", 2);
	CHECK_EQ(dray_json_write(v, &text, &len, &e), 0);
	CHECK_STR(text, "{\"a\":-9223372036854775808,\"empty\":{},\"list\":[\"x\",5,{\"part\":\"abc\"}],\"m\":false,"
	    "\"twice\":2,\"z\":\"quote\\\" back\\\\ \\n \\u0001\"}");
	CHECK_EQ(len, strlen(text));
	CHECK_STR(parse(text, len, true), "ok");
	free(text);
	dray_json_free(v);
	v = dray_json_new_arr();
	CHECK_EQ(dray_json_write(v, &text, &len, &e), 0);
	CHECK_STR(text, "[]");
	free(text);
	dray_json_free(v);
}

static void
what_could_not_be_built_is_told_at_the_end(void)
{
	struct dray_json *v = dray_json_new_obj(), *a;
	char *text;
	size_t len;

	/* NULL is what a builder gives when memory is out; it is carried along */
	dray_json_set_str(NULL, "a", "b");
	dray_json_push_int(NULL, 1);
	CHECK(dray_json_set_obj(NULL, "a") == NULL && dray_json_set_arr(NULL, "a") == NULL);
	CHECK(dray_json_push_obj(NULL) == NULL);
	CHECK_EQ(dray_json_write(NULL, &text, &len, &e), -1);
	CHECK_STR(e.text, "out of memory");
	a = dray_json_set_arr(v, "deep");
	dray_json_push_str(a, NULL);
	CHECK_EQ(dray_json_write(v, &text, &len, &e), -1);
	CHECK_STR(e.text, "out of memory");
	CHECK_EQ(e.code, DRAY_E_IO);
	CHECK(text == NULL && len == 0);
	dray_json_free(v);
}

static void
foreign_bytes_are_replaced_and_kept_in_hexadecimal(void)
{
	struct dray_json *v = dray_json_new_obj();
	char *text;
	size_t len;

	dray_json_set_path(v, "good", "etc/\xc3\xa4\n", 7);
	dray_json_set_path(v, "path", "a\xff\xe2\x82z", 5);
	dray_json_set_str(v, "s", "\xc0");
	CHECK_EQ(dray_json_write(v, &text, &len, &e), 0);
	CHECK_STR(text, "{\"good\":\"etc/\xc3\xa4\\n\",\"path\":\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\","
	    "\"path_hex\":\"61ffe2827a\",\"s\":\"\xef\xbf\xbd\"}");
	CHECK_STR(parse(text, len, true), "ok");
	free(text);
	dray_json_free(v);
}

int
main(void)
{
	RUN(canonical_text_is_taken_as_it_is);
	RUN(what_is_valid_but_not_canonical_is_refused_with_its_place);
	RUN(only_plain_whole_numbers_are_numbers);
	RUN(words_other_than_true_and_false_are_refused);
	RUN(a_key_twice_in_one_object_is_refused_in_any_text);
	RUN(strings_hold_no_nul_no_control_no_bad_utf8);
	RUN(the_document_is_one_object_or_array_and_nothing_after);
	RUN(every_cut_of_a_document_ends_too_early);
	RUN(sixteen_levels_are_the_deepest);
	RUN(readers_give_what_is_there);
	RUN(readers_refuse_by_name);
	RUN(keys_come_in_byte_order_from_any_text);
	RUN(what_is_built_is_written_canonically);
	RUN(what_could_not_be_built_is_told_at_the_end);
	RUN(foreign_bytes_are_replaced_and_kept_in_hexadecimal);
	return test_done();
}
