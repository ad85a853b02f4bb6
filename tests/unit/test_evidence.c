/* test_evidence.c - lists of paths and records: what is written comes back, what is bent is refused */
#include <stdlib.h>
#include <time.h>

#include "dray/evidence.h"
#include "dray/index.h"
#include "dray/json.h"
#include "tool/look.h"

#include "test.h"

static struct dray_err e;

static struct dray_ev_row
row(char change, const char *path, uint8_t before, uint8_t after)
{
	struct dray_ev_row r = { .change = change, .path = path, .len = strlen(path), .before = { .type = before },
		.after = { .type = after, .has = DRAY_HAS_MODE, .mode = 04755 } };

	r.after.sha256[31] = 9;
	return r;
}

static void
fill(struct dray_ev_writer *w)
{
	struct dray_ev_row r[] = { row('+', "a", DRAY_ABSENT, DRAY_DIR), row('~', "a/b", DRAY_FILE, DRAY_FILE),
		row('-', "a/bc", DRAY_SYMLINK, DRAY_ABSENT), row('t', "ab", DRAY_FIFO, DRAY_FILE),
		row('.', "usr/\xff\n", DRAY_ABSENT, DRAY_ABSENT) };

	*w = (struct dray_ev_writer){ .p = NULL };
	r[1].before = (struct dray_ev_side){ .type = DRAY_FILE, .has = 7, .mode = 0644, .uid = 1, .gid = UINT32_MAX,
		.sha256 = { 1 } };
	r[1].flags = DRAY_EV_PARKED | DRAY_EV_CONFIG;
	for (size_t i = 0; i < sizeof(r) / sizeof(r[0]); i++)
		CHECK_EQ(dray_ev_add(w, &r[i], &e), 0);
	CHECK_EQ(dray_ev_end(w, &e), 0);
}

static void
a_list_comes_back_as_it_was_written(void)
{
	struct dray_ev_writer w;
	struct dray_ev_reader r;
	struct dray_ev_row got;

	fill(&w);
	CHECK_EQ(dray_ev_open(&r, w.p, w.len, &e), 0);
	CHECK_EQ(dray_ev_next(&r, &got, &e), 1);
	CHECK_EQ(dray_ev_next(&r, &got, &e), 1);
	CHECK_EQ(got.change, '~');
	CHECK_EQ(got.flags, DRAY_EV_PARKED | DRAY_EV_CONFIG);
	CHECK_EQ(got.len, 3);
	CHECK(memcmp(got.path, "a/b", 3) == 0);
	CHECK_EQ(got.before.gid, UINT32_MAX);
	CHECK_EQ(got.before.uid, 1);
	CHECK_EQ(got.before.sha256[0], 1);
	CHECK_EQ(got.after.mode, 04755);
	CHECK_EQ(got.after.has, DRAY_HAS_MODE);
	CHECK_EQ(got.after.sha256[31], 9);
	CHECK_EQ(dray_ev_next(&r, &got, &e), 1);
	CHECK(memcmp(got.path, "a/bc", 4) == 0);
	CHECK_EQ(got.after.type, DRAY_ABSENT);
	CHECK_EQ(dray_ev_next(&r, &got, &e), 1);
	CHECK_EQ(dray_ev_next(&r, &got, &e), 1);
	CHECK(memcmp(got.path, "usr/\xff\n", 6) == 0);
	CHECK_EQ(dray_ev_next(&r, &got, &e), 0);
	dray_ev_free(&w);
}

static void
an_empty_list_is_a_header(void)
{
	struct dray_ev_writer w = { .p = NULL };
	struct dray_ev_reader r;
	struct dray_ev_row got;

	CHECK_EQ(dray_ev_end(&w, &e), 0);
	CHECK_EQ(w.len, 16);
	CHECK_EQ(dray_ev_open(&r, w.p, w.len, &e), 0);
	CHECK_EQ(dray_ev_next(&r, &got, &e), 0);
	dray_ev_free(&w);
}

/* -1 or the number of rows */
static int
walk(const uint8_t *p, size_t len)
{
	struct dray_ev_reader r;
	struct dray_ev_row got;
	int n = 0, rc;

	if (dray_ev_open(&r, p, len, &e) != 0)
		return -1;
	while ((rc = dray_ev_next(&r, &got, &e)) == 1)
		n++;
	return rc == 0 ? n : -1;
}

static void
a_list_that_is_cut_or_longer_is_refused(void)
{
	struct dray_ev_writer w;
	uint8_t *more;

	fill(&w);
	for (size_t len = 0; len < w.len; len++)
		CHECK_EQ(walk(w.p, len), -1);
	CHECK_EQ(walk(w.p, w.len), 5);
	more = malloc(w.len + 1);
	CHECK(more != NULL);
	if (more != NULL) {
		memcpy(more, w.p, w.len);
		more[w.len] = 0;
		CHECK_EQ(walk(more, w.len + 1), -1);
		CHECK_EQ(e.code, DRAY_E_FORMAT);
	}
	free(more);
	dray_ev_free(&w);
}

static void
paths_out_of_order_and_unknown_letters_are_refused(void)
{
	struct dray_ev_row a = row('+', "b", DRAY_ABSENT, DRAY_DIR), b = row('+', "a", DRAY_ABSENT, DRAY_DIR);
	struct dray_ev_writer w = { .p = NULL };

	CHECK_EQ(dray_ev_add(&w, &a, &e), 0);
	CHECK_EQ(dray_ev_add(&w, &b, &e), 0);
	CHECK_EQ(dray_ev_end(&w, &e), 0);
	CHECK_EQ(walk(w.p, w.len), -1);
	dray_ev_free(&w);
	fill(&w);
	w.p[16] = 'x';
	CHECK_EQ(walk(w.p, w.len), -1);
	w.p[16] = '+';
	w.p[17] = 0x80;
	CHECK_EQ(walk(w.p, w.len), -1);
	w.p[17] = 0;
	w.p[8] = 3;
	CHECK_EQ(walk(w.p, w.len), -1);
	CHECK_EQ(e.code, DRAY_E_NEWER);
	dray_ev_free(&w);
}

static void
flags_of_merges_make_a_list_of_version_two(void)
{
	struct dray_ev_row a = row('~', "a", DRAY_DIR, DRAY_DIR);
	struct dray_ev_writer w = { .p = NULL };

	CHECK_EQ(dray_ev_add(&w, &a, &e), 0);
	CHECK_EQ(dray_ev_end(&w, &e), 0);
	CHECK_EQ(w.p[8], 1);
	dray_ev_free(&w);
	a.flags = DRAY_EV_MERGED | DRAY_EV_OWN_ATTRS | DRAY_EV_CONFIG;
	CHECK_EQ(dray_ev_add(&w, &a, &e), 0);
	CHECK_EQ(dray_ev_end(&w, &e), 0);
	CHECK_EQ(w.p[8], 2);
	CHECK_EQ(walk(w.p, w.len), 1);
	w.p[17] = 0x80;
	CHECK_EQ(walk(w.p, w.len), -1);
	w.p[17] = DRAY_EV_CONFIG;	/* nothing in it needs version 2 */
	CHECK_EQ(walk(w.p, w.len), -1);
	w.p[17] = DRAY_EV_MERGED;
	w.p[8] = 1;
	CHECK_EQ(walk(w.p, w.len), -1);
	dray_ev_free(&w);
}

static int
parse(const char *text, struct dray_ev_record *r)
{
	int rc = dray_ev_parse(text, strlen(text), r, &e);

	dray_ev_record_free(r);
	return rc;
}

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

static void
a_record_must_have_its_number_its_end_and_the_one_before(void)
{
	struct dray_ev_record r;

	CHECK_EQ(parse("{\"dray_evidence\":1,\"ended\":\"done\",\"number\":7,\"prev\":\"" ZEROS "\"}", &r), 0);
	CHECK_EQ(r.number, 7);
	CHECK(!r.has_list);
	CHECK_EQ(parse("{\"dray_evidence\":1,\"ended\":\"done\",\"list\":{\"sha256\":\"" ZEROS "\",\"size\":9},\"number\":7,"
	    "\"prev\":\"" ZEROS "\"}", &r), 0);
	CHECK(r.has_list);
	CHECK_EQ(r.list_size, 9);
	CHECK_EQ(parse("{\"dray_evidence\":1,\"ended\":\"done\",\"number\":0,\"prev\":\"" ZEROS "\"}", &r), -1);
	CHECK_EQ(parse("{\"dray_evidence\":1,\"number\":7,\"prev\":\"" ZEROS "\"}", &r), -1);
	CHECK_EQ(parse("{\"dray_evidence\":1,\"ended\":\"done\",\"number\":7}", &r), -1);
	CHECK_EQ(parse("{\"dray_evidence\":1,\"ended\":\"done\",\"number\":7,\"prev\":\"00\"}", &r), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_EQ(parse("{ \"dray_evidence\":1,\"ended\":\"done\",\"number\":7,\"prev\":\"" ZEROS "\"}", &r), -1);
	CHECK_EQ(parse("{\"dray_evidence\":2,\"ended\":\"done\",\"number\":7,\"prev\":\"" ZEROS "\"}", &r), -1);
	CHECK_EQ(e.code, DRAY_E_NEWER);
}

static void
a_time_is_what_the_calendar_says(void)
{
	static const int64_t at[] = { 0, -1, -62167219200, 253402300799, 951782400, 951868799, 951868800, 4107542399, 1709164800,
		-2203891200, 1772330000 };
	char ours[40], theirs[40];
	struct tm tm;

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		for (int64_t day = -2; day <= 2; day++) {
			int64_t sec = at[i] + day * 86400;
			time_t t = (time_t)sec;

			if (sec < -62167219200 || sec > 253402300799)
				continue;
			CHECK(gmtime_r(&t, &tm) != NULL);
			snprintf(theirs, sizeof(theirs), "%04d-%02d-%02dT%02d:%02d:%02dZ", (tm.tm_year + 1900) % 10000,
			    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
			CHECK_STR(tool_time(sec, ours), theirs);
		}
	CHECK_STR(tool_time(253402300800, ours), "@253402300800");
	CHECK_STR(tool_time(INT64_MIN, ours), "@-9223372036854775808");
}

int
main(void)
{
	RUN(a_list_comes_back_as_it_was_written);
	RUN(an_empty_list_is_a_header);
	RUN(a_list_that_is_cut_or_longer_is_refused);
	RUN(paths_out_of_order_and_unknown_letters_are_refused);
	RUN(flags_of_merges_make_a_list_of_version_two);
	RUN(a_record_must_have_its_number_its_end_and_the_one_before);
	RUN(a_time_is_what_the_calendar_says);
	return test_done();
}
