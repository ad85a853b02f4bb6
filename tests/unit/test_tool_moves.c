/*
 * test_tool_moves.c - which new path is told as moved, and from where
 */
#include <stdlib.h>

#include "plan_mini.h"
#include "test.h"
#include "tool/look.h"

/* the path of the other side of the pair of rows[@row]; "" for none */
static const char *
other(const struct pm_row *rows, const uint32_t *moves, size_t row)
{
	return moves[row] == DRAY_NONE ? "" : rows[moves[row]].path;
}

/* "b>a" for each moved path b that was a, in path order */
static void
moves_are(const struct pm_row *rows, size_t n, unsigned bases, const char *want)
{
	char got[500] = "";
	struct tool_counts c;
	uint32_t *moves;
	struct dray_err e;
	struct pm pm;
	size_t n_moved = 0;

	if (pm_open(&pm, rows, n, bases, false, &e) != 0) {
		printf("# %s\n", e.text);
		abort();
	}
	moves = tool_moves_of(dray_bundle_index(pm.b));
	for (size_t i = 0; i < n; i++) {
		struct dray_entry en;
		enum tool_change change;

		dray_index_entry(dray_bundle_index(pm.b), (uint32_t)i, &en);
		change = tool_change_of(dray_bundle_index(pm.b), moves, (uint32_t)i, &en);
		if (change == TOOL_MOVED) {
			size_t at = strlen(got);

			snprintf(got + at, sizeof(got) - at, "%s%s>%s", at > 0 ? " " : "", rows[i].path, other(rows, moves, i));
			n_moved++;
			CHECK_STR(other(rows, moves, moves[i]), rows[i].path);
		} else if (moves[i] != DRAY_NONE) {
			CHECK_EQ(change, TOOL_REMOVED);
		}
	}
	CHECK_STR(got, want);
	CHECK_EQ(tool_count(dray_bundle_index(pm.b), &c, &e), 0);
	CHECK_EQ(c.by[TOOL_MOVED], n_moved);
	free(moves);
	pm_close(&pm);
}

#define MOVES(rows, bases, want) moves_are(rows, sizeof(rows) / sizeof((rows)[0]), bases, want)

static void
a_new_path_with_the_content_of_one_that_is_gone_is_moved(void)
{
	static const struct pm_row rows[] = {
		{ "a", "f,one", "-", NULL }, { "b", "-", "f,one,755", NULL }, { "c", "f,two", "f,two", NULL },
	};

	MOVES(rows, 1, "b>a");
}

static void
what_is_still_there_was_not_moved(void)
{
	static const struct pm_row rows[] = {
		{ "a", "f,one", "f,one", NULL }, { "b", "-", "f,one", NULL }, { "c", "f,two", "f,three", NULL },
		{ "d", "-", "f,two", NULL },
	};

	MOVES(rows, 1, "");
}

static void
a_path_that_a_base_has_was_not_moved(void)
{
	static const struct pm_row rows[] = {
		{ "a", "f,one", "-", "f,one" }, { "b", "-", "f,one", "f,old" },
	};

	MOVES(rows, 2, "");
}

static void
it_may_have_stood_in_any_base_and_in_any_of_its_states(void)
{
	static const struct pm_row rows[] = {
		{ "a", "f,one", "-", "f,two" }, { "b", "-", "f,two", "-" }, { "c", "-", "-", "f,three" },
		{ "d", "-", "f,three", "-" },
	};

	MOVES(rows, 2, "b>a d>c");
}

static void
the_same_file_name_comes_first_then_path_order(void)
{
	static const struct pm_row rows[] = {
		{ "a", "d", "d", NULL }, { "a/x", "f,one", "-", NULL }, { "a/y", "f,one", "-", NULL },
		{ "a/z", "f,one", "-", NULL }, { "b", "-", "d", NULL }, { "b/p", "-", "f,one", NULL },
		{ "b/q", "-", "f,one", NULL }, { "b/x", "-", "f,one", NULL },
	};

	MOVES(rows, 1, "b/p>a/y b/q>a/z b/x>a/x");
}

static void
each_old_path_is_moved_once(void)
{
	static const struct pm_row rows[] = {
		{ "a", "f,one", "-", "f,two" }, { "b", "-", "f,two", "-" }, { "c", "-", "f,one", "-" },
		{ "d", "-", "f,one", "-" },
	};

	MOVES(rows, 2, "b>a");
}

static void
nothing_and_what_is_no_file_is_not_moved(void)
{
	static const struct pm_row rows[] = {
		{ "a", "f,", "-", NULL }, { "b", "-", "f,", NULL }, { "c", "l,one", "-", NULL }, { "d", "-", "l,one", NULL },
		{ "e", "d", "-", NULL }, { "f", "-", "d", NULL }, { "g", "f,one", "-", NULL }, { "h", "-", "l,one", NULL },
	};

	MOVES(rows, 1, "");
}

static void
without_a_base_all_is_added(void)
{
	static const struct pm_row rows[] = { { "a", NULL, "f,one", NULL }, { "b", NULL, "f,one", NULL } };

	MOVES(rows, 0, "");
}

int
main(void)
{
	RUN(a_new_path_with_the_content_of_one_that_is_gone_is_moved);
	RUN(what_is_still_there_was_not_moved);
	RUN(a_path_that_a_base_has_was_not_moved);
	RUN(it_may_have_stood_in_any_base_and_in_any_of_its_states);
	RUN(the_same_file_name_comes_first_then_path_order);
	RUN(each_old_path_is_moved_once);
	RUN(nothing_and_what_is_no_file_is_not_moved);
	RUN(without_a_base_all_is_added);
	return test_done();
}
