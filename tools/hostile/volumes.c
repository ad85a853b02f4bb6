/*
 * volumes.c - a bundle cut into volumes, with flaws: volumes N, volume I AT HEX, volume-cut I N, volume-missing I.
 */
#include <stdio.h>
#include <string.h>

#include "cases.h"

static bool
is(const struct op *o, const char *name)
{
	return strcmp(o->w[0], name) == 0;
}

bool
volumes_asked(const struct hostile_case *c)
{
	for (size_t i = 0; i < c->n_ops; i++)
		if (is(&c->op[i], "volumes"))
			return true;
	return false;
}

/* spec/bundle-format.md 12 */
static void
make_volume(const struct bundle *b, size_t i, size_t n, struct bytes *v)
{
	const size_t each = (b->out.len + n - 1) / n, at = i * each, len = i + 1 < n ? each : b->out.len - at;
	uint8_t sha[32];

	bytes_text(v, "DRAYVOL1");
	bytes_number(v, i + 1, 4);
	bytes_number(v, n, 4);
	bytes_number(v, at, 8);
	bytes_number(v, len, 8);
	bytes_number(v, b->out.len, 8);
	hostile_sha(b->json_text.p, b->json_text.len, sha);
	bytes_put(v, sha, sizeof sha);
	hostile_sha(b->out.p + at, len, sha);
	bytes_put(v, sha, sizeof sha);
	bytes_room(v, 408);
	bytes_put(v, b->out.p + at, len);
}

/* false: this one is not there */
static bool
bend_volume(const struct hostile_case *c, size_t number, struct bytes *v)
{
	for (size_t i = 0; i < c->n_ops; i++) {
		const struct op *o = &c->op[i];
		struct bytes hex = { 0 };

		if (strncmp(o->w[0], "volume", 6) != 0 || is(o, "volumes") || hostile_number(o->w[1]) != number)
			continue;
		if (is(o, "volume-missing"))
			return false;
		if (is(o, "volume-cut")) {
			v->len -= hostile_number(o->w[2]);
			continue;
		}
		hostile_hex(o->w[3], &hex);
		memcpy(v->p + hostile_number(o->w[2]), hex.p, hex.len);
		bytes_free(&hex);
	}
	return true;
}

void
volumes_write(const struct hostile_case *c, const struct bundle *b, const char *folder, char file[4096])
{
	size_t n = 0;
	bool first = true;

	for (size_t i = 0; i < c->n_ops; i++)
		if (is(&c->op[i], "volumes"))
			n = hostile_number(c->op[i].w[1]);
	for (size_t i = 0; i < n; i++) {
		struct bytes v = { 0 };
		char path[4096];

		make_volume(b, i, n, &v);
		snprintf(path, sizeof path, "%s/%s.part%zuof%zu", folder, c->name, i + 1, n);
		if (bend_volume(c, i + 1, &v)) {
			hostile_save(path, v.p, v.len);
			if (first)
				snprintf(file, 4096, "%s", path);
			first = false;
		}
		bytes_free(&v);
	}
}
