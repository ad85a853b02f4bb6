/* transfers that break off, and servers that answer this or that: a server of our own, which does as it is told */
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "builder/fetch.h"
#include "builder/srv.h"
#include "test.h"

#define BODY 40000u

static char body[BODY];
static int listener;
static char server[64];
static _Atomic unsigned asked, resumed;	/* requests, and those with a range */

static void
answer(int fd, const char *head, const char *p, size_t len)
{
	if (send(fd, head, strlen(head), MSG_NOSIGNAL) > 0 && len > 0)
		(void)!send(fd, p, len, MSG_NOSIGNAL);
}

/* the last part of the path says what to do; a request for each connection */
static void
serve(int fd)
{
	char req[2048], head[200], *range;
	size_t len = 0, from = 0;
	ssize_t n;

	while ((n = read(fd, req + len, sizeof(req) - 1 - len)) > 0) {
		len += (size_t)n;
		req[len] = '\0';
		if (strstr(req, "\r\n\r\n") != NULL)
			break;
	}
	if (n <= 0)
		return;
	asked++;
	if ((range = strstr(req, "Range: bytes=")) != NULL) {
		resumed++;
		from = strtoul(range + 13, NULL, 10);
	}
	if (strstr(req, "/whole ") != NULL || (strstr(req, "/late ") != NULL && asked > 2)) {
		snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %u\r\nConnection: close\r\n\r\n", BODY);
		answer(fd, head, body, BODY);
	} else if (strstr(req, "/parts ") != NULL) {	/* 15,000 bytes at a time */
		size_t part = BODY - from < 15000 ? BODY - from : 15000;

		if (from > 0)
			snprintf(head, sizeof(head), "HTTP/1.1 206 Partial\r\nContent-Range: bytes %zu-%u/%u\r\nContent-Length: %zu\r\n"
			    "Connection: close\r\n\r\n", from, BODY - 1, BODY, BODY - from);
		else
			snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %u\r\nConnection: close\r\n\r\n", BODY);
		answer(fd, head, body + from, part);
	} else if (strstr(req, "/again ") != NULL) {	/* knows no ranges */
		snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %u\r\nConnection: close\r\n\r\n", BODY);
		answer(fd, head, body, asked < 3 ? 15000 : BODY);
	} else if (strstr(req, "/never ") != NULL) {
		snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %u\r\nConnection: close\r\n\r\n", BODY);
		answer(fd, head, body, 0);
	} else if (strstr(req, "/late ") != NULL) {
		answer(fd, "HTTP/1.1 503 Later\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", NULL, 0);
	} else if (strstr(req, "/forbidden ") != NULL) {
		answer(fd, "HTTP/1.1 403 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", NULL, 0);
	} else {
		answer(fd, "HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", NULL, 0);
	}
}

static void *
server_main(void *unused)
{
	int fd;

	while ((fd = accept(listener, NULL, NULL)) != -1) {
		serve(fd);
		close(fd);
	}
	return unused;
}

static bool
begin_server(pthread_t *t)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);

	for (size_t i = 0; i < BODY; i++)
		body[i] = (char)(i * 7 + i / 251);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) != 0 || listen(listener, 16) != 0 ||
	    getsockname(listener, (struct sockaddr *)&a, &len) != 0)
		return false;
	snprintf(server, sizeof(server), "http://127.0.0.1:%u", (unsigned)ntohs(a.sin_port));
	return pthread_create(t, NULL, server_main, NULL) == 0;
}

struct one {
	struct build_get g;
	bool given;
	enum build_got got;
	struct dray_err why;
};

static int
next(void *ctx, struct build_get **g, struct dray_err *e)
{
	struct one *o = ctx;

	(void)e;
	if (o->given)
		return 0;
	o->given = true;
	*g = &o->g;
	return 1;
}

static int
done(void *ctx, struct build_get *g, enum build_got got, const struct dray_err *why, struct dray_err *e)
{
	struct one *o = ctx;

	(void)g;
	(void)e;
	o->got = got;
	o->why = *why;
	return 0;
}

/* ask for @path; the file is left open in o->g.fd */
static int
ask(const char *path, uint64_t max, struct one *o)
{
	const struct build_fetch_opts fo = { .server = server, .wait_ms = 1 };
	const struct build_fetch_flow w = { next, done, o };
	struct build_fetch *f;
	struct dray_err e = { .code = DRAY_OK };
	int rc;

	asked = resumed = 0;
	*o = (struct one){ .g = { .max = max, .fd = memfd_create("got", 0) } };
	snprintf(o->g.path, sizeof(o->g.path), "%s", path);
	if (build_fetch_open(&fo, &f, &e) != 0)
		return -1;
	rc = build_fetch_run(f, &w, &e);
	build_fetch_close(f);
	return rc;
}

static bool
is_body(int fd)
{
	static char got[BODY + 1];

	return pread(fd, got, sizeof(got), 0) == BODY && memcmp(got, body, BODY) == 0;
}

static void
what_is_whole_comes_at_once(void)
{
	struct one o;

	CHECK_EQ(ask("whole", BODY, &o), 0);
	CHECK_EQ(o.got, BUILD_GOT_ALL);
	CHECK(is_body(o.g.fd));
	CHECK_EQ(asked, 1);
	close(o.g.fd);
}

static void
what_breaks_off_goes_on_where_it_stopped(void)
{
	struct one o;

	CHECK_EQ(ask("parts", BODY, &o), 0);
	CHECK_EQ(o.got, BUILD_GOT_ALL);
	CHECK(is_body(o.g.fd));
	CHECK_EQ(asked, 3);
	CHECK_EQ(resumed, 2);
	close(o.g.fd);
}

static void
a_server_without_ranges_begins_again(void)
{
	struct one o;

	CHECK_EQ(ask("again", BODY, &o), 0);
	CHECK_EQ(o.got, BUILD_GOT_ALL);
	CHECK(is_body(o.g.fd));
	CHECK_EQ(asked, 3);
	close(o.g.fd);
}

static void
a_busy_server_is_asked_again_and_a_clear_answer_is_not(void)
{
	struct one o;

	CHECK_EQ(ask("late", BODY, &o), 0);
	CHECK_EQ(o.got, BUILD_GOT_ALL);
	CHECK(is_body(o.g.fd));
	CHECK_EQ(asked, 3);
	close(o.g.fd);
	CHECK_EQ(ask("none", BODY, &o), 0);
	CHECK_EQ(o.got, BUILD_GOT_NONE);
	CHECK_EQ(asked, 1);
	close(o.g.fd);
	CHECK_EQ(ask("forbidden", BODY, &o), 0);
	CHECK_EQ(o.got, BUILD_GOT_ERROR);
	CHECK_EQ(o.why.code, DRAY_E_IO);
	CHECK_HAS(o.why.text, "/forbidden: the server answers 403");
	CHECK_EQ(asked, 1);
	close(o.g.fd);
}

static void
five_tries_are_enough(void)
{
	struct one o;

	CHECK_EQ(ask("never", BODY, &o), 0);
	CHECK_EQ(o.got, BUILD_GOT_ERROR);
	CHECK_EQ(o.why.code, DRAY_E_IO);
	CHECK_HAS(o.why.hint, "5 tries");
	CHECK_EQ(asked, 5);
	close(o.g.fd);
}

static void
more_than_was_allowed_is_cut(void)
{
	struct one o;

	CHECK_EQ(ask("whole", BODY - 1, &o), 0);
	CHECK_EQ(o.got, BUILD_GOT_ERROR);
	CHECK_EQ(o.why.code, DRAY_E_FORMAT);
	CHECK_HAS(o.why.text, "/whole: larger than 39999 bytes");
	CHECK_EQ(asked, 1);
	close(o.g.fd);
}

static void
servers_that_are_none(void)
{
	static const char *const v[] = { "", "/", "ftp://host", "http://host/a b", "file://host/x", "gopher://x", "http://h?x" };
	struct dray_err e = { .code = DRAY_OK };
	struct build_fetch *f;

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		const struct build_fetch_opts o = { .server = v[i] };

		CHECK_EQ(build_fetch_open(&o, &f, &e), -1);
		CHECK_EQ(e.code, DRAY_E_USAGE);
	}
}

static uint32_t
first(uint32_t below)
{
	(void)below;
	return 0;
}

static uint32_t
last(uint32_t below)
{
	return below - 1;
}

/* RFC 1035: header, the question, three SRV records whose names are written out */
static size_t
make_answer(uint8_t *p, unsigned records)
{
	static const uint8_t head[] = { 0, 1, 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0, 1, 'q', 0, 0, 33, 0, 1 };
	static const uint16_t what[][2] = { { 2, 10 }, { 1, 5 }, { 1, 50 } };
	size_t n = sizeof(head);

	memcpy(p, head, n);
	p[7] = (uint8_t)records;
	for (unsigned i = 0; i < records; i++) {
		const uint8_t rr[] = { 1, 'q', 0, 0, 33, 0, 1, 0, 0, 0, 60, 0, 14, 0, (uint8_t)what[i][0], 0, (uint8_t)what[i][1], 0, 80,
			2, 'h', (uint8_t)('1' + i), 3, 'o', 'r', 'g', 0 };

		memcpy(p + n, rr, sizeof(rr));
		n += sizeof(rr);
	}
	return n;
}

static void
mirrors_by_priority_and_weight(void)
{
	struct build_srv s;
	uint8_t p[512];
	size_t len = make_answer(p, 3);

	build_srv_parse(p, len, first, &s);
	CHECK_EQ(s.n, 3);
	CHECK_STR(s.v[0].host, "h2.org");
	CHECK_STR(s.v[1].host, "h3.org");
	CHECK_STR(s.v[2].host, "h1.org");
	build_srv_parse(p, len, last, &s);
	CHECK_STR(s.v[0].host, "h3.org");
	CHECK_STR(s.v[1].host, "h2.org");
	CHECK_STR(s.v[2].host, "h1.org");
	/* cut anywhere: no record is read past the end */
	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *q = malloc(cut + 1);

		memcpy(q, p, cut);
		build_srv_parse(q, cut, first, &s);
		CHECK(s.n < 3);
		free(q);
	}
	/* a host that is no host name would get into a URL */
	p[len - 6] = '/';
	build_srv_parse(p, len, first, &s);
	CHECK_EQ(s.n, 2);
}

int
main(void)
{
	pthread_t t;

	unsetenv("http_proxy");
	unsetenv("HTTP_PROXY");
	if (!begin_server(&t))
		return 1;
	RUN(what_is_whole_comes_at_once);
	RUN(what_breaks_off_goes_on_where_it_stopped);
	RUN(a_server_without_ranges_begins_again);
	RUN(a_busy_server_is_asked_again_and_a_clear_answer_is_not);
	RUN(five_tries_are_enough);
	RUN(more_than_was_allowed_is_cut);
	RUN(servers_that_are_none);
	RUN(mirrors_by_priority_and_weight);
	shutdown(listener, SHUT_RDWR);
	pthread_join(t, NULL);
	close(listener);
	return test_done();
}
