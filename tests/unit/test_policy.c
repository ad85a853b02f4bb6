/* policy files */
#include <stdlib.h>
#include <string.h>

#include "dray/policy.h"
#include "test.h"

static int
parse(const char *text, struct dray_policy *p, struct dray_err *e)
{
	*e = (struct dray_err){ .code = DRAY_OK };
	return dray_policy_parse(text, strlen(text), p, e);
}

static enum dray_action
about(const struct dray_policy *p, const char *path, uint8_t when)
{
	const struct dray_rule *r = dray_policy_find(p, path, strlen(path), when, NULL);

	return r == NULL ? DRAY_ACT_NONE : r->action;
}

static void
the_first_rule_that_matches_decides(void)
{
	struct dray_policy p;
	struct dray_err e;

	CHECK_EQ(parse("# a comment\n\n  /etc/ssh/  mine\netc\ttheirs if changed\r\n** ignore if added\netc/a\\ b strict\nvar/run restore", &p, &e), 0);
	CHECK_EQ(p.n, 5);
	CHECK_EQ(about(&p, "etc/ssh", DRAY_WHEN_CHANGED), DRAY_ACT_MINE);
	CHECK_EQ(about(&p, "etc/ssh/sshd", DRAY_WHEN_ADDED), DRAY_ACT_MINE);
	CHECK_EQ(about(&p, "etc/x", DRAY_WHEN_CHANGED), DRAY_ACT_THEIRS);
	CHECK_EQ(about(&p, "etc/x", DRAY_WHEN_REMOVED), DRAY_ACT_NONE);
	CHECK_EQ(about(&p, "etc/x", DRAY_WHEN_ADDED), DRAY_ACT_IGNORE);
	CHECK_EQ(about(&p, "etc/a b", DRAY_WHEN_REMOVED), DRAY_ACT_STRICT);
	CHECK_EQ(about(&p, "etcetera", DRAY_WHEN_CHANGED), DRAY_ACT_NONE);
	/* about one directory, not about what is beneath it */
	CHECK_EQ(about(&p, "var/run", DRAY_WHEN_CHANGED), DRAY_ACT_RESTORE);
	CHECK_EQ(about(&p, "var/run/x", DRAY_WHEN_CHANGED), DRAY_ACT_NONE);
	CHECK_EQ(p.v[0].line, 3);
	CHECK_EQ(p.v[4].line, 7);
	dray_policy_free(&p);
	CHECK_EQ(parse("", &p, &e), 0);
	CHECK_EQ(p.n, 0);
	dray_policy_free(&p);
}

static void
json_says_the_same(void)
{
	struct dray_policy p;
	struct dray_err e;

	CHECK_EQ(parse(" \n{\"dray_policy\":1,\"rules\":[{\"path\":\"/etc/\\u00e9/\",\"action\":\"mine\",\"if\":\"removed\"},"
	    "{\"action\":\"ignore\",\"path\":\"**\"}]}\n", &p, &e), 0);
	CHECK_EQ(p.n, 2);
	CHECK(p.json);
	CHECK_EQ(about(&p, "etc/\xc3\xa9/x", DRAY_WHEN_REMOVED), DRAY_ACT_MINE);
	CHECK_EQ(about(&p, "etc/\xc3\xa9/x", DRAY_WHEN_ADDED), DRAY_ACT_IGNORE);
	CHECK_EQ(p.v[1].line, 2);
	dray_policy_free(&p);
}

#define HEX "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void
merging_has_its_options(void)
{
	static const char *const same[] = { "a merge keep-metadata validate \"/bin/x -t %f\" if changed\n** keep-metadata\nb use " HEX,
		"{\"dray_policy\":1,\"rules\":[{\"path\":\"a\",\"action\":\"merge\",\"keep_metadata\":true,\"if\":\"changed\","
		"\"validate\":\"/bin/x -t %f\"},{\"path\":\"**\",\"action\":\"keep-metadata\"},"
		"{\"path\":\"b\",\"action\":\"use\",\"sha256\":\"" HEX "\"}]}" };
	struct dray_policy p;
	struct dray_err e;

	for (size_t i = 0; i < 2; i++) {
		CHECK_EQ(parse(same[i], &p, &e), 0);
		CHECK_EQ(p.n, 3);
		CHECK_EQ(p.v[0].action, DRAY_ACT_MERGE);
		CHECK_EQ(p.v[0].when, DRAY_WHEN_CHANGED);
		CHECK(p.v[0].keep_metadata);
		CHECK_EQ(p.v[0].validate_len, 12);
		CHECK(memcmp(p.v[0].validate, "/bin/x -t %f", 12) == 0);
		CHECK_EQ(p.v[1].action, DRAY_ACT_KEEP_METADATA);
		CHECK(p.v[1].keep_metadata && p.v[1].validate == NULL);
		CHECK_EQ(p.v[2].action, DRAY_ACT_USE);
		CHECK_EQ(p.v[2].sha256[1], 0x11);
		CHECK(!p.v[2].keep_metadata);
		dray_policy_free(&p);
	}
}

static void
a_text_can_be_for_one_release_alone(void)
{
	static const char *const same[] = { "a use " HEX " for " HEX "\na mine", "{\"dray_policy\":1,\"rules\":[{\"path\":\"a\","
		"\"action\":\"use\",\"sha256\":\"" HEX "\",\"for\":\"" HEX "\"},{\"path\":\"a\",\"action\":\"mine\"}]}" };
	uint8_t release[32] = { 0 };
	struct dray_policy p;
	struct dray_err e;

	for (size_t i = 0; i < 2; i++) {
		CHECK_EQ(parse(same[i], &p, &e), 0);
		CHECK_EQ(p.n, 2);
		CHECK_EQ(dray_policy_find(&p, "a", 1, DRAY_WHEN_CHANGED, release) - p.v, 1);
		CHECK_EQ(dray_policy_find(&p, "a", 1, DRAY_WHEN_CHANGED, NULL) - p.v, 1);
		CHECK_EQ(dray_policy_find(&p, "a", 1, DRAY_WHEN_CHANGED, p.v[0].sha256) - p.v, 0);
		dray_policy_free(&p);
	}
}

static void
two_sets_are_joined_in_their_order(void)
{
	struct dray_policy p, last;
	struct dray_err e;

	CHECK_EQ(parse("a mine\n", &p, &e), 0);
	CHECK_EQ(parse("# ours\n** theirs\n", &last, &e), 0);
	CHECK_EQ(dray_policy_join(&p, &last, &e), 0);
	CHECK_EQ(p.n, 2);
	CHECK_EQ(last.n, 0);
	CHECK_EQ(about(&p, "a", DRAY_WHEN_CHANGED), DRAY_ACT_MINE);
	CHECK_EQ(about(&p, "b", DRAY_WHEN_CHANGED), DRAY_ACT_THEIRS);
	CHECK_EQ(p.v[1].line, 2);
	dray_policy_free(&p);
}

static void
what_is_no_policy_is_refused_by_its_line(void)
{
	static const struct { const char *text, *says; } bad[] = {
		{ "a", "line 1: no rule" }, { "\na mine more", "line 2: no rule" }, { "a mine if", "line 1: no rule" },
		{ "a mine if added b", "line 1: no rule" }, { "a melt", "line 1: no action is called melt" },
		{ "a merge validate", "line 1: no rule" }, { "a merge validate \"/x %f", "line 1: no rule" },
		{ "a merge validate \"/x %f\"if changed", "line 1: no rule" }, { "a merge if added if added", "line 1: no rule" },
		{ "a merge validate \"x %f\"", "line 1: validate wants" }, { "a merge validate \"/x\"", "line 1: validate wants" },
		{ "a mine validate \"/x %f\"", "line 1: validate goes" }, { "a ignore keep-metadata", "line 1: keep-metadata does" },
		{ "a restore keep-metadata", "line 1: keep-metadata does" }, { "a use", "line 1: no rule" },
		{ "a use " HEX " for 12", "line 1: for goes with use" }, { "a mine for " HEX, "line 1: for goes with use" },
		{ "a use " HEX " for", "line 1: no rule" }, { "a use 12", "line 1: use, and it alone" }, { "a merge 12", "line 1: no rule" },
		{ "{\"dray_policy\":1,\"rules\":[{\"path\":\"a\",\"action\":\"use\"}]}", "rule 1: use, and it alone" },
		{ "{\"dray_policy\":1,\"rules\":[{\"path\":\"a\",\"action\":\"mine\",\"sha256\":\"00\"}]}", "rule 1: use, and it" },
		{ "{\"dray_policy\":1,\"rules\":[{\"path\":\"a\",\"action\":\"mine\",\"keep_metadata\":1}]}", "rule 1: " },
		{ "a mine if ever", "line 1: no case is called ever" }, { "/ mine", "line 1: the pattern" },
		{ "a//b mine", "line 1: the pattern" }, { "a/[b mine", "line 1: the pattern" },
		{ "a* restore", "line 1: restore is about one" }, { "a redirect if added", "line 1: redirect is about one" },
		{ "{", "" }, { "{}", "dray_policy" }, { "{\"dray_policy\":2,\"rules\":[]}", "dray_policy" },
		{ "{\"dray_policy\":1,\"rules\":[1]}", "rule 1: it is no object" },
		{ "{\"dray_policy\":1,\"rules\":[{\"path\":\"a\"}]}", "rule 1: " },
		{ "{\"dray_policy\":1,\"rules\":[{\"path\":\"a\",\"action\":\"mine\",\"x\":1}]}", "rule 1: " },
	};
	struct dray_policy p;
	struct dray_err e;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_EQ(parse(bad[i].text, &p, &e), -1);
		CHECK_EQ(e.code, DRAY_E_USAGE);
		CHECK(strstr(e.text, bad[i].says) != NULL);
		CHECK(p.v == NULL && p.text == NULL);
	}
}

static void
bounds_hold(void)
{
	size_t len = DRAY_POLICY_MAX_BYTES + 1u, n = 0;
	char *text = malloc(len);
	struct dray_policy p;
	struct dray_err e = { .code = DRAY_OK };

	if (text == NULL)
		abort();
	memset(text, '\n', len);
	CHECK_EQ(dray_policy_parse(text, len, &p, &e), -1);
	CHECK(strstr(e.text, "longer than") != NULL);
	CHECK_EQ(dray_policy_parse(text, len - 1, &p, &e), 0);
	dray_policy_free(&p);
	for (unsigned i = 0; i <= DRAY_POLICY_MAX_RULES; i++, n += 7)
		memcpy(text + n, "a mine\n", 7);
	e = (struct dray_err){ .code = DRAY_OK };
	CHECK_EQ(dray_policy_parse(text, n, &p, &e), -1);
	CHECK(strstr(e.text, "more than 4096 rules") != NULL);
	CHECK_EQ(dray_policy_parse(text, n - 7, &p, &e), 0);
	CHECK_EQ(p.n, DRAY_POLICY_MAX_RULES);
	dray_policy_free(&p);
	/* bytes of zero, and any other, end in an error or in rules, never elsewhere */
	for (unsigned i = 0; i < 20000; i++) {
		for (size_t k = 0; k < 24; k++)
			text[k] = " \n\t\\[]*#a/{}\":,if\0\xff"[(i * 31u + k * (i % 17u + 3u)) % 20u];
		e = (struct dray_err){ .code = DRAY_OK };
		if (dray_policy_parse(text, 24, &p, &e) == 0)
			dray_policy_free(&p);
	}
	free(text);
}

int
main(void)
{
	RUN(the_first_rule_that_matches_decides);
	RUN(json_says_the_same);
	RUN(merging_has_its_options);
	RUN(a_text_can_be_for_one_release_alone);
	RUN(two_sets_are_joined_in_their_order);
	RUN(what_is_no_policy_is_refused_by_its_line);
	RUN(bounds_hold);
	return test_done();
}
