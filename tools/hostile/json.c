/*
 * json.c - dray.json as text, and edits of it by place: json members.0.size 7.
 */
#include <stdio.h>
#include <string.h>

#include "bundle.h"

static void
put_member(struct bytes *j, const char *name, size_t at, size_t size, const uint8_t *sha)
{
	bytes_format(j, "{\"name\":\"%s\",\"offset\":%zu,", name, at + 512);
	if (sha != NULL) {
		bytes_text(j, "\"sha256\":\"");
		for (size_t i = 0; i < 32; i++)
			bytes_format(j, "%02x", sha[i]);
		bytes_text(j, "\",");
	}
	bytes_format(j, "\"size\":%zu}", size);
}

static void
members(struct bundle *b, struct bytes *j)
{
	/* of the text that stands there now: this is repeated until it fits */
	size_t at = 512 + (b->json_text.len + 511) / 512 * 512 + 512 + b->slot;

	put_member(j, "README.txt", at, sizeof HOSTILE_README - 1, b->sha[0]);
	at += 1024;
	bytes_text(j, ",");
	put_member(j, "index/00", at, b->index_len[0], b->sha[1]);
	at += 512 + (b->index_len[0] + 511) / 512 * 512;
	bytes_text(j, ",");
	put_member(j, "index/01", at, b->index_len[1], NULL);
	at += 512 + (b->index_len[1] + 511) / 512 * 512;
	for (size_t i = 0; i < b->n_notes; i++) {
		uint8_t sha[32];

		hostile_sha(b->note[i].data.p, b->note[i].data.len, sha);
		bytes_text(j, ",");
		put_member(j, b->note[i].name, at, b->note[i].data.len, sha);
		at += 512 + (b->note[i].data.len + 511) / 512 * 512;
	}
}

void
bundle_json(struct bundle *b)
{
	struct bytes j = { 0 };

	bytes_text(&j, "{\"bases\":[{\"counter\":1,\"kind\":\"exact\",\"version\":\"1\"},"
	    "{\"counter\":0,\"kind\":\"history\",\"version\":\"0\"}],");
	bytes_format(&j, "\"blocks\":%zu,\"built\":1700000000,\"compatible\":[],\"components\":[\"base\",\"extra\"],", b->blocks);
	bytes_text(&j, "\"counter\":2,\"encoders\":{\"zstd\":\"by-hand\"},\"features\":{\"optional\":[\"triggers\"],"
	    "\"required\":[\"delta\",\"history\"]},\"format\":1,");
	bytes_format(&j, "\"length\":%zu,\"limits\":{\"frame\":4096,\"memory\":16384,\"window\":4096},\"members\":[", b->length);
	members(b, &j);
	bytes_format(&j, "],\"mode\":\"complete\",\"os\":\"any\",\"phases\":[\"main\",\"late\"],\"product\":\"demo\",\"slot\":%ju,",
	    (uintmax_t)b->slot);
	bytes_text(&j, "\"triggers\":[{\"argv\":[\"/bin/true\"],\"id\":\"t\",\"paths\":[\"dir/**\"]}],\"version\":\"2\"}");
	for (size_t k = 0; k < b->json.n; k++)
		bundle_apply_json(&j, &b->json.e[k]);
	bytes_free(&b->json_text);
	b->json_text = j;
}

/* the end of the value that begins at @at */
static size_t
value_end(const struct bytes *j, size_t at)
{
	size_t depth = 0;

	for (size_t i = at; i < j->len; i++) {
		const char c = (char)j->p[i];

		if (c == '"') {
			for (i++; i < j->len && j->p[i] != '"'; i++)
				if (j->p[i] == '\\')
					i++;
			if (depth == 0)
				return i + 1;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if (c == '}' || c == ']') {
			if (depth == 0)
				return i;
			if (--depth == 0)
				return i + 1;
		} else if (c == ',' && depth == 0) {
			return i;
		}
	}
	return j->len;
}

/* step from the value at *@at to its member or element @name; *@key: where the member begins */
static bool
step(const struct bytes *j, size_t *at, size_t *key, const char *name, size_t len)
{
	const bool object = j->p[*at] == '{';
	size_t i = *at + 1, n = 0;

	while (i < j->len && j->p[i] != '}' && j->p[i] != ']') {
		const size_t from = i;
		char number[24];

		if (object)
			i = value_end(j, i) + 1;
		snprintf(number, sizeof number, "%zu", n++);
		if (object ? i - from == len + 3 && memcmp(j->p + from + 1, name, len) == 0
		    : strlen(number) == len && memcmp(number, name, len) == 0) {
			*at = i;
			*key = from;
			return true;
		}
		i = value_end(j, i);
		if (i < j->len && j->p[i] == ',')
			i++;
	}
	return false;
}

static size_t
find(const struct bytes *j, const char *path, size_t *key)
{
	size_t at = 0;

	*key = 0;
	for (const char *p = path; *p != '\0'; ) {
		const size_t len = strcspn(p, ".");

		if (!step(j, &at, key, p, len))
			hostile_die("dray.json has no %s", path);
		p += len;
		p += *p == '.' ? 1 : 0;
	}
	return at;
}

void
bundle_apply_json(struct bytes *j, const struct edit *e)
{
	struct bytes text = { 0 }, to = { 0 };
	size_t at, key;

	if (strcmp(e->op, "json-sub") == 0) {		/* json-sub FROM TO */
		hostile_unescape(e->arg[0], &text);
		hostile_unescape(e->arg[1], &to);
		if (!bytes_sub(j, text.len, text.p, to.len, to.p))
			hostile_die("dray.json does not hold %s", e->arg[0]);
	} else if (strcmp(e->op, "json-is") == 0) {	/* json-is TEXT: all of it */
		hostile_unescape(e->arg[0], &text);
		bytes_splice(j, 0, j->len, text.p, text.len);
	} else if (strcmp(e->op, "json-without") == 0) {	/* json-without PLACE: the member and a comma */
		at = find(j, e->arg[0], &key);
		at = value_end(j, at);
		if (j->p[at] == ',')
			at++;
		else if (j->p[key - 1] == ',')
			key--;
		bytes_splice(j, key, at - key, "", 0);
	} else if (strcmp(e->op, "json-before") == 0) {	/* json-before PLACE TEXT */
		find(j, e->arg[0], &key);
		hostile_unescape(e->arg[1], &text);
		bytes_splice(j, key, 0, text.p, text.len);
	} else {					/* json PLACE VALUE */
		at = find(j, e->arg[0], &key);
		hostile_unescape(e->arg[1], &text);
		bytes_splice(j, at, value_end(j, at) - at, text.p, text.len);
	}
	bytes_free(&text);
	bytes_free(&to);
}
