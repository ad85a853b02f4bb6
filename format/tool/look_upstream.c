/*
 * look_upstream.c - verify --upstream: is what the bundle brings what a freebsd-update server has signed?
 */
#include <stdio.h>
#include <string.h>

#include "dray/fbsd_proof.h"
#include "dray/num.h"
#include "tool/look.h"
#include "tool_in.h"

int
tool_keyprint(const char *text, uint8_t out[32], struct dray_err *e)
{
	if (dray_unhex(text, strlen(text), out, 32))
		return 0;
	dray_fail(e, DRAY_E_USAGE, "the keyprint is not 64 hexadecimal digits in lower case");
	return dray_hint(e, "it is the SHA-256 of the server's pub.ssl; KeyPrint in freebsd-update.conf");
}

static const char *
plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* "world|base" is called world/base elsewhere */
static const char *
left_name(const struct dray_fbsd_left *x, char *out, size_t cap)
{
	char *bar;

	dray_quote(x->name, x->len, out, cap);
	if (x->how == DRAY_LEFT_COMPONENT && (bar = strchr(out, '|')) != NULL)
		*bar = '/';
	return out;
}

void
tool_upstream_print(const struct dray_fbsd_proof *p)
{
	char name[600], why[300], text[1200];
	size_t left = 0;

	for (size_t i = 0; i < p->n_left; i++)
		left += p->left[i].lines;
	printf("  upstream   %s, patch level %u, by the key of the keyprint\n", p->of, (unsigned)p->tag.patch);
	printf("             %zu path%s equal to the lines of its list, none differs\n", p->paths, plural(p->paths));
	if (left == 0)
		printf("  left out   nothing of its %zu lines\n", p->lines);
	else
		printf("  left out   %zu of its %zu lines:\n", left, p->lines);
	for (size_t i = 0; i < p->n_left; i++) {
		const struct dray_fbsd_left *x = &p->left[i];

		if (x->lines == 0)
			continue;
		left_name(x, name, sizeof(name));
		dray_quote(x->why, x->why_len, why, sizeof(why));
		snprintf(text, sizeof(text), "%s%s%s: %zu line%s, %s", x->how == DRAY_LEFT_COMPONENT ? "component " : "", name,
		    x->how == DRAY_LEFT_BENEATH ? ", beneath it" : "", x->lines, plural(x->lines), why);
		printf("             ");
		tool_wrap_text(text, 15, 13);
	}
	if (p->removed > 0)
		printf("  removes    %zu path%s: by the bundle's signers alone\n", p->removed, plural(p->removed));
}

void
tool_upstream_json(struct dray_json *o, const struct dray_fbsd_proof *p)
{
	struct dray_json *u = dray_json_set_obj(o, "upstream"), *a;
	char name[DRAY_QUOTE_CAP(200)];

	dray_json_set_str(u, "release", p->tag.release);
	dray_json_set_str(u, "arch", p->tag.arch);
	dray_json_set_int(u, "patch", p->tag.patch);
	dray_json_set_int(u, "lines", (int64_t)p->lines);
	dray_json_set_int(u, "paths", (int64_t)p->paths);
	dray_json_set_int(u, "removed", (int64_t)p->removed);
	a = dray_json_set_arr(u, "left_out");
	for (size_t i = 0; i < p->n_left; i++) {
		const struct dray_fbsd_left *x = &p->left[i];
		struct dray_json *v;

		if (x->lines == 0)
			continue;
		v = dray_json_push_obj(a);
		if (x->how == DRAY_LEFT_COMPONENT)
			dray_json_set_str(v, "component", left_name(x, name, sizeof(name)));
		else
			dray_json_set_path(v, "path", x->name, x->len);
		dray_json_set_str(v, "why", dray_quote(x->why, x->why_len, name, sizeof(name)));
		dray_json_set_int(v, "lines", (int64_t)x->lines);
	}
}
