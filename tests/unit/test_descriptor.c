/*
 * test_descriptor.c - dray.json: written and read back, and every field refused by its own message.
 */
#include <stdlib.h>

#include "dray/descriptor.h"
#include "dray/json.h"
#include "dray/tar.h"

#include "test.h"

static struct dray_err e;

static struct dray_desc *
good(void)
{
	struct dray_desc *d = dray_desc_new();
	static const char *const names[] = { "README.txt", "index/00", "index/01", "notes/a", "notes/b-1.txt" };

	strcpy(d->product, "demo");
	strcpy(d->version, "1.1");
	strcpy(d->os, "linux");
	d->counter = 2;
	d->built = 1700000000;
	d->eol = 1719792000;
	d->blocks = 1;
	d->slot = 8192;
	d->limit_frame = DRAY_FRAME_DEFAULT;
	d->limit_window = 8 << 20;
	d->limit_memory = 16 << 20;
	d->n_compatible = 1;
	strcpy(d->compatible[0], "demo-2");
	d->n_bases = 2;
	strcpy(d->bases[0].version, "1.0");
	d->bases[0].counter = 1;
	strcpy(d->bases[1].version, "0.9");
	d->bases[1].history = true;
	d->n_components = 2;
	strcpy(d->components[0], "world/base");
	strcpy(d->components[1], "src");
	d->n_phases = 2;
	strcpy(d->phases[0], "kernel");
	strcpy(d->phases[1], "world");
	d->n_encoders = 1;
	strcpy(d->encoders[0].name, "zstd");
	strcpy(d->encoders[0].id, "zstd-1.5.4");
	d->n_optional = 1;
	strcpy(d->optional[0], "something");
	d->n_members = 5;
	for (size_t i = 0; i < 5; i++) {
		snprintf(d->members[i].name, sizeof d->members[i].name, "%s", names[i]);
		d->members[i].size = 100 * i + 1;
		d->members[i].sha256[0] = (uint8_t)i;
	}
	d->members[2].by_chunks = true;
	CHECK_EQ(dray_desc_layout(d, 1024, NULL, &e), 0);
	return d;
}

static void
what_was_written_is_read(void)
{
	struct dray_desc *d = good(), *r;
	size_t len, len2;
	char *t, *t2;

	CHECK_EQ(dray_desc_write(d, &t, &len, &e), 0);
	CHECK_EQ(dray_desc_parse(t, len, &r, &e), 0);
	CHECK_STR(r->product, "demo");
	CHECK_STR(r->bases[1].version, "0.9");
	CHECK_EQ(r->bases[1].history, 1);
	CHECK_EQ(r->bases[0].history, 0);
	CHECK_STR(r->phases[1], "world");
	CHECK_STR(r->encoders[0].id, "zstd-1.5.4");
	CHECK_STR(r->optional[0], "something");
	CHECK_EQ(r->members[4].sha256[0], 4);
	CHECK_EQ(r->members[2].by_chunks, 1);
	CHECK_EQ(r->length, d->length);
	CHECK_EQ(r->members[4].offset, d->members[4].offset);
	CHECK_EQ(dray_desc_write(r, &t2, &len2, &e), 0);
	CHECK_STR(t2, t);
	free(t);
	free(t2);
	dray_desc_free(d);
	dray_desc_free(r);
}

/* numbers that get longer with the offsets they tell: at every length of a note the layout must come to rest */
static void
the_layout_comes_to_rest(void)
{
	struct dray_desc *d = good(), *r;
	uint64_t head, size = 1;
	size_t len;
	char *t;

	for (int i = 0; i < 33; i++, size *= 2) {
		d->members[4].size = size;
		CHECK_EQ(dray_desc_layout(d, 1024, &head, &e), 0);
		CHECK_EQ(head, dray_desc_head(d));
		CHECK_EQ(dray_desc_write(d, &t, &len, &e), 0);
		CHECK_EQ(dray_desc_parse(t, len, &r, &e), 0);
		CHECK_EQ(r->members[0].offset, 512 + (len + 511) / 512 * 512 + 512 + 8192 + 512);
		free(t);
		dray_desc_free(r);
	}
	dray_desc_free(d);
}

/* the good text with @from replaced by @to (once), offsets as they were */
static void
refused(const char *from, const char *to, enum dray_code code, const char *words)
{
	struct dray_desc *d = good(), *r = NULL;
	char *t, *at, *changed;
	size_t len;

	CHECK_EQ(dray_desc_write(d, &t, &len, &e), 0);
	changed = calloc(1, len + strlen(to) + 1);
	if ((at = strstr(t, from)) == NULL) {
		CHECK_STR(from, "(not in the text)");
	} else {
		snprintf(changed, len + strlen(to) + 1, "%.*s%s%s", (int)(at - t), t, to, at + strlen(from));
		dray_err_clear(&e);
		CHECK_EQ(dray_desc_parse(changed, strlen(changed), &r, &e), -1);
		CHECK_EQ(e.code, code);
		CHECK_HAS(e.text, words);
		CHECK(r == NULL);
	}
	dray_desc_free(r);
	dray_desc_free(d);
	free(changed);
	free(t);
}

static void
newer_documents_are_told_as_newer(void)
{
	refused("\"format\":1", "\"format\":2", DRAY_E_NEWER, "the bundle has format 2, this program reads format 1");
	refused("\"required\":[]", "\"required\":[\"no-such-feature\"]", DRAY_E_NEWER, "needs the feature \"no-such-feature\"");
	/* even when the rest is of a kind we do not know */
	refused("\"format\":1,\"length\"", "\"format\":7,\"langth\"", DRAY_E_NEWER, "format 7");
}

static void
each_field_is_checked(void)
{
	refused("\"built\"", "\"bxilt\"", DRAY_E_FORMAT, "bxilt");
	refused("\"eol\":1719792000", "\"eol\":0", DRAY_E_FORMAT, "eol");
	refused("\"eol\":1719792000", "\"eol\":253402300800", DRAY_E_FORMAT, "eol");
	refused("{\"bases\"", "{ \"bases\"", DRAY_E_FORMAT, "canonical");
	refused("\"format\":1", "\"format\":0", DRAY_E_FORMAT, "format");
	refused("\"product\":\"demo\"", "\"product\":\"de/mo\"", DRAY_E_FORMAT, "\"de/mo\" is no product");
	refused("\"version\":\"1.1\"", "\"version\":\"\"", DRAY_E_FORMAT, "is no version");
	refused("\"counter\":2", "\"counter\":0", DRAY_E_FORMAT, "counter");
	refused("\"os\":\"linux\"", "\"os\":\"plan9\"", DRAY_E_FORMAT, "os is \"plan9\"");
	refused("[\"demo-2\"]", "[\"demo\"]", DRAY_E_FORMAT, "compatible names the product itself");
	refused("[\"demo-2\"]", "[\"x\",\"b\"]", DRAY_E_FORMAT, "compatible is not in ascending order");
	refused("[\"demo-2\"]", "[\"x\",\"x\"]", DRAY_E_FORMAT, "compatible names x twice");
	refused("[\"demo-2\"]", "[1]", DRAY_E_FORMAT, "compatible holds something that is no string");
	refused("\"components\":[\"world/base\",\"src\"]", "\"components\":[]", DRAY_E_FORMAT, "components has 0 names");
	refused("\"components\":[\"world/base\",\"src\"]", "\"components\":[\"base/\",\"src\"]", DRAY_E_FORMAT, "\"base/\" is no components");
	refused("\"components\":[\"world/base\",\"src\"]", "\"components\":[\"a/b/c\",\"src\"]", DRAY_E_FORMAT, "\"a/b/c\" is no components");
	refused("\"phases\":[\"kernel\",\"world\"]", "\"phases\":[\"kernel/a\",\"world\"]", DRAY_E_FORMAT,
	    "\"kernel/a\" is no phases");
	refused("\"phases\":[\"kernel\",\"world\"]", "\"phases\":[\"world\",\"world\"]", DRAY_E_FORMAT,
	    "phases names world twice");
	refused("\"kind\":\"exact\"", "\"kind\":\"about\"", DRAY_E_FORMAT, "a base is neither");
	refused("\"mode\":\"complete\"", "\"mode\":\"fast\"", DRAY_E_FORMAT, "mode is neither");
	refused("\"slot\":8192", "\"slot\":8193", DRAY_E_FORMAT, "multiples of 512");
	refused("\"slot\":8192", "\"slot\":262656", DRAY_E_FORMAT, "slot");
	refused("\"frame\":4194304", "\"frame\":67108865", DRAY_E_FORMAT, "frame");
	refused("\"window\":8388608", "\"window\":134217729", DRAY_E_FORMAT, "window");
	refused("\"triggers\":[]", "\"triggers\":[1]", DRAY_E_FORMAT, "triggers without the feature");
	refused("\"encoders\":{\"zstd\"", "\"encoders\":{\"z td\"", DRAY_E_FORMAT, "is no encoder");
	refused("\"blocks\":1", "\"blocks\":2", DRAY_E_FORMAT, "does not fit the members");
	refused("\"blocks\":1", "\"blocks\":0", DRAY_E_FORMAT, "does not fit the members");
	refused("\"optional\":[\"something\"]", "\"optional\":[\"b\",\"a\"]", DRAY_E_FORMAT, "ascending");
}

static void
members_stand_where_they_must(void)
{
	refused("\"name\":\"README.txt\"", "\"name\":\"ReADME.txt\"", DRAY_E_FORMAT, "member 0 is \"ReADME.txt\", not README");
	refused("notes/b-1.txt", "notes/../a.tx", DRAY_E_FORMAT, "\"notes/../a.tx\" is no member name");
	refused("notes/b-1.txt", "notes/x\\ny.tx", DRAY_E_FORMAT, "is no member name");
	refused("\"notes/a\"", "\"notes/c\"", DRAY_E_FORMAT, "notes are not in ascending order");
	refused("\"notes/a\"", "\"blocks/0\"", DRAY_E_FORMAT, "is no member name");
	refused("\"size\":401", "\"size\":40100", DRAY_E_FORMAT, "does not fit the members");
	refused("\"size\":301", "\"size\":30100", DRAY_E_FORMAT, "it can only be at");
	refused("\"size\":401", "\"size\":8589934592", DRAY_E_FORMAT, "size");
	refused("\"sha256\":\"04", "\"sha256\":\"0A", DRAY_E_FORMAT, "is not 64 lower case hex digits");
	refused("\"sha256\":\"04", "\"sha256\":\" 4", DRAY_E_FORMAT, "is not 64 lower case hex digits");
	refused("\"sha256\":\"04", "\"sha256\":\"", DRAY_E_FORMAT, "is not 64 lower case hex digits");
}

static void
a_writer_cannot_write_what_no_reader_takes(void)
{
	struct dray_desc *d = good();
	size_t len;
	char *t;

	strcpy(d->os, "vms");
	CHECK_EQ(dray_desc_write(d, &t, &len, &e), -1);
	CHECK_HAS(e.text, "the descriptor cannot be written like this: dray.json: os is \"vms\"");
	CHECK(t == NULL);
	dray_desc_free(d);
}

int
main(void)
{
	RUN(what_was_written_is_read);
	RUN(the_layout_comes_to_rest);
	RUN(newer_documents_are_told_as_newer);
	RUN(each_field_is_checked);
	RUN(members_stand_where_they_must);
	RUN(a_writer_cannot_write_what_no_reader_takes);
	return test_done();
}
