/* triggers: each field refused by its own message, and what dray.json says of them */
#include <stdlib.h>

#include "dray/descriptor.h"
#include "dray/json.h"
#include "dray/trigger.h"

#include "test.h"

static struct dray_err e;

/* the last trigger of the array @text */
static int
check(const char *text)
{
	struct dray_json *a;
	int rc = 0;

	dray_err_clear(&e);
	CHECK_EQ(dray_json_parse(text, strlen(text), false, &a, &e), 0);
	for (size_t i = 0; rc == 0 && i < dray_json_count(a); i++)
		rc = dray_trigger_check(a, i, "here", &e);
	dray_json_free(a);
	return rc;
}

static void
refused(const char *text, const char *why)
{
	CHECK_EQ(check(text), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_HAS(e.text, why);
}

static void
each_field_is_checked(void)
{
	CHECK_EQ(check("[{\"id\":\"a\",\"argv\":[\"/x\",\"\"],\"paths\":[\"**\"]}]"), 0);
	CHECK_EQ(check("[{\"id\":\"a\",\"argv\":[\"/x\"],\"paths\":[\"x\"]},"
	    "{\"id\":\"b\",\"argv\":[\"/x\"],\"paths\":[\"x\"],\"after\":[\"a\"],\"needs\":\"none\",\"phase\":\"p\",\"outputs\":[\"o/p\"],\"timeout\":86400,"
	    "\"on_failure\":\"rollback\"}]"), 0);
	refused("[1]", "here: an object is wanted");
	refused("[{\"id\":\"a\",\"argv\":[\"/x\"],\"paths\":[\"x\"],\"shell\":true}]", "here: unknown key \"shell\"");
	refused("[{\"argv\":[\"/x\"],\"paths\":[\"x\"]}]", "id");
	refused("[{\"id\":\"\",\"argv\":[\"/x\"],\"paths\":[\"x\"]}]", "here: the id is not 1 to 64");
	refused("[{\"id\":\"a\",\"paths\":[\"x\"]}]", "argv");
	refused("[{\"id\":\"a\",\"argv\":[],\"paths\":[\"x\"]}]", "here: argv has 0 texts, 1 to 256 are possible");
	refused("[{\"id\":\"a\",\"argv\":[1],\"paths\":[\"x\"]}]", "here: text 1 of argv will not do: it is no text");
	refused("[{\"id\":\"a\",\"argv\":[\"/\"],\"paths\":[\"x\"]}]", "here: argv begins with something that is no");
	refused("[{\"id\":\"a\",\"argv\":[\"sh\"],\"paths\":[\"x\"]}]", "here: argv begins with something that is no");
	refused("[{\"id\":\"a\",\"argv\":[\"/x\"],\"paths\":[]}]", "here: paths has 0 texts");
	refused("[{\"id\":\"a\",\"argv\":[\"/x\"],\"paths\":[\"a//b\"]}]", "here: text 1 of paths will not do: it has an empty");
	refused("[{\"id\":\"a\",\"argv\":[\"/x\"],\"paths\":[\"x\",1]}]", "here: text 2 of paths will not do: it is no text");
	refused("[{\"id\":\"a\",\"argv\":[\"/x\"],\"paths\":[\"x\"],\"outputs\":[\"/etc\"]}]", "text 1 of outputs will not do");
	refused("[{\"id\":\"a\",\"argv\":[\"/x\"],\"paths\":[\"x\"],\"outputs\":[\".dray\"]}]", "it is a reserved name");
	refused("[{\"id\":\"a\",\"argv\":[\"/x\"],\"paths\":[\"x\"],\"timeout\":0}]", "timeout");
	refused("[{\"id\":\"a\",\"argv\":[\"/x\"],\"paths\":[\"x\"],\"timeout\":86401}]", "timeout");
	refused("[{\"id\":\"a\",\"argv\":[\"/x\"],\"paths\":[\"x\"],\"on_failure\":\"\"}]", "on_failure is none of \"warn\", \"fail\" and");
	refused("[{\"id\":\"a\",\"argv\":[\"/x\"],\"paths\":[\"x\"],\"needs\":\"root\"}]", "needs is none of \"root-live\", \"chroot\" and");
	refused("[{\"id\":\"a\",\"argv\":[\"/x\"],\"paths\":[\"x\"],\"needs\":[\"a\"]}]", "needs");
	refused("[{\"id\":\"a\",\"argv\":[\"/x\"],\"paths\":[\"x\"],\"phase\":\"a b\"}]", "phase is no name of a phase");
	refused("[{\"id\":\"a\",\"argv\":[\"/x\"],\"paths\":[\"x\"],\"after\":[\"a\"]}]", "no trigger before it");
	refused("[{\"id\":\"a\",\"argv\":[\"/x\"],\"paths\":[\"x\"],\"after\":[2]}]", "no trigger before it");
	refused("[{\"id\":\"a\",\"argv\":[\"/x\"],\"paths\":[\"x\"]},{\"id\":\"a\",\"argv\":[\"/x\"],\"paths\":[\"x\"]}]",
	    "here: a stands twice");
}

static void
texts_have_a_longest_length(void)
{
	char *text = malloc(5000);

	for (int over = 0; over < 2; over++) {
		int n = sprintf(text, "[{\"id\":\"a\",\"paths\":[\"x\"],\"argv\":[\"/");

		memset(text + n, 'x', 4095 + (size_t)over);
		strcpy(text + n + 4095 + over, "\"]}]");
		CHECK_EQ(check(text), -over);
	}
	CHECK_HAS(e.text, "text 1 of argv will not do: it is no text of at most 4096 bytes");
	free(text);
}

static struct dray_desc *
desc(const char *triggers)
{
	static const char *const names[] = { "README.txt", "index/00", "index/01" };
	struct dray_desc *d = dray_desc_new();

	strcpy(d->product, "demo");
	strcpy(d->version, "1");
	strcpy(d->os, "any");
	d->counter = 1;
	d->slot = 512;
	d->limit_frame = d->limit_memory = d->limit_window = 1024;
	d->n_components = d->n_phases = 1;
	strcpy(d->components[0], "main");
	strcpy(d->phases[0], "main");
	d->n_members = 3;
	for (size_t i = 0; i < 3; i++)
		strcpy(d->members[i].name, names[i]);
	d->members[2].by_chunks = true;
	CHECK_EQ(dray_json_parse(triggers, strlen(triggers), false, &d->triggers, &e), 0);
	CHECK_EQ(dray_desc_layout(d, 0, NULL, &e), 0);
	return d;
}

static void
dray_json_carries_them_with_the_feature_alone(void)
{
	static const char one[] = "[{\"argv\":[\"/x\"],\"id\":\"a\",\"paths\":[\"x\"]}]";
	struct dray_desc *d = desc(one), *again;
	char *text;
	size_t len;

	dray_err_clear(&e);
	CHECK_EQ(dray_desc_write(d, &text, &len, &e), -1);
	CHECK_HAS(e.text, "triggers without the feature for them");
	d->n_optional = 1;
	strcpy(d->optional[0], "triggers");
	CHECK_EQ(dray_desc_layout(d, 0, NULL, &e), 0);
	CHECK_EQ(dray_desc_write(d, &text, &len, &e), 0);
	CHECK_HAS(text, one);
	CHECK_EQ(dray_desc_parse(text, len, &again, &e), 0);
	CHECK_EQ(again->n_triggers, 1);
	CHECK_EQ(dray_json_count(again->triggers), 1);
	free(text);
	/* the copy outlives what it was copied from */
	dray_desc_free(d);
	CHECK_STR(dray_json_key(dray_json_at(again->triggers, 0), 1), "id");
	dray_desc_free(again);

	d = desc("[{\"argv\":[\"x\"],\"id\":\"a\",\"paths\":[\"x\"]}]");
	d->n_optional = 1;
	strcpy(d->optional[0], "triggers");
	CHECK_EQ(dray_desc_layout(d, 0, NULL, &e), 0);
	CHECK_EQ(dray_desc_write(d, &text, &len, &e), -1);
	CHECK_HAS(e.text, "dray.json: trigger 1: argv begins with something that is no absolute path");
	dray_desc_free(d);
}

int
main(void)
{
	RUN(each_field_is_checked);
	RUN(texts_have_a_longest_length);
	RUN(dray_json_carries_them_with_the_feature_alone);
	return test_done();
}
