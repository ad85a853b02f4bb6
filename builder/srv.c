/*
 * srv.c - SRV records: the resolver's answer, and the order in which its servers are tried.
 */
#include <sys/types.h>

#include <netinet/in.h>

#include <arpa/nameser.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/srv.h"

/* RFC 2782: lowest priority first; among equals by chance, in proportion to the weight, and all zero count alike */
static void
put_in_order(struct build_srv *s, uint32_t (*dice)(uint32_t))
{
	for (size_t i = 0; i + 1 < s->n; i++) {
		uint32_t sum = 0, at;
		uint16_t lowest = UINT16_MAX;
		size_t k;

		for (k = i; k < s->n; k++)
			if (s->v[k].priority < lowest)
				lowest = s->v[k].priority;
		for (k = i; k < s->n; k++)
			if (s->v[k].priority == lowest)
				sum += s->v[k].weight + 1u;
		at = dice(sum);
		for (k = i; k < s->n; k++) {
			if (s->v[k].priority != lowest)
				continue;
			if (at < s->v[k].weight + 1u)
				break;
			at -= s->v[k].weight + 1u;
		}
		if (k != i && k < s->n) {
			struct build_srv t = { .n = 0 };

			t.v[0] = s->v[i];
			s->v[i] = s->v[k];
			s->v[k] = t.v[0];
		}
	}
}

/* a host name is letters, digits, '-' and '.', so that nothing else can get into a URL */
static bool
host_ok(const char *p)
{
	size_t len = strlen(p);

	return len > 0 && p[0] != '.' && p[0] != '-' &&
	    strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") == len;
}

void
build_srv_parse(const uint8_t *answer, size_t len, uint32_t (*dice)(uint32_t), struct build_srv *out)
{
	ns_msg m;

	out->n = 0;
	if (len > NS_MAXMSG || ns_initparse(answer, (int)len, &m) != 0)
		return;
	for (int i = 0; i < ns_msg_count(m, ns_s_an) && out->n < BUILD_SRV_MAX; i++) {
		char host[256];
		ns_rr rr;

		if (ns_parserr(&m, ns_s_an, i, &rr) != 0)
			break;
		if (ns_rr_type(rr) != ns_t_srv || ns_rr_rdlen(rr) < 7)
			continue;
		if (ns_name_uncompress(ns_msg_base(m), ns_msg_end(m), ns_rr_rdata(rr) + 6, host, sizeof(host)) < 0 ||
		    !host_ok(host))
			continue;
		out->v[out->n].priority = (uint16_t)ns_get16(ns_rr_rdata(rr));
		out->v[out->n].weight = (uint16_t)ns_get16(ns_rr_rdata(rr) + 2);
		snprintf(out->v[out->n++].host, sizeof(host), "%s", host);
	}
	put_in_order(out, dice);
}

void
build_srv_look(const char *name, struct build_srv *out)
{
	uint8_t answer[4096];
	char query[280];
	int len;

	out->n = 0;
	snprintf(query, sizeof(query), "_http._tcp.%s", name);
	len = res_query(query, ns_c_in, ns_t_srv, answer, sizeof(answer));
	if (len > 0)
		build_srv_parse(answer, (size_t)len < sizeof(answer) ? (size_t)len : sizeof(answer), arc4random_uniform, out);
}
