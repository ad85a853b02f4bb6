/*
 * fetch.c - the door to libcurl: a few transfers at a time in one thread, each resumed where it broke off.
 */
#include <assert.h>
#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/fetch.h"
#include "builder/srv.h"
#include "builder/temp.h"
#include "tool/tool.h"

enum { PARALLEL = 4, PARALLEL_MOST = 64, TRIES = 5, WAIT_MS = 200, CONNECT_S = 15, STALL_S = 30 };

enum slot_state { FREE, WAITING, RUNNING };

struct slot {
	struct build_fetch *f;
	CURL *h;
	struct build_get *g;
	enum slot_state state;
	uint64_t at;			/* bytes in the file */
	unsigned tries;
	int64_t again_ms;		/* WAITING: when */
	bool large, full;		/* ended by us: more than @max; the file cannot be written */
	struct dray_err why;
	char said[CURL_ERROR_SIZE];
};

struct build_fetch {
	struct build_fetch_opts o;
	char *url;			/* without '/' at its end */
	struct build_srv srv;
	size_t at_srv;
	CURLM *m;
	struct slot *v;
	size_t n;
};

static size_t
take(char *p, size_t one, size_t n, void *ctx)
{
	struct slot *s = ctx;
	size_t len = one * n;

	if (len > s->g->max || s->at > s->g->max - len) {
		s->large = true;
		return 0;
	}
	if (build_temp_write(s->g->fd, s->at, p, len, &s->why) != 0) {
		s->full = true;
		return 0;
	}
	s->at += len;
	if (s->f->o.progress != NULL)
		s->f->o.progress(s->f->o.ctx, len);
	return len;
}

static bool
slot_open(struct build_fetch *f, struct slot *s)
{
	CURL *h = curl_easy_init();
	const char *proxy = getenv("HTTP_PROXY");

	s->f = f;
	if ((s->h = h) == NULL)
		return false;
	/* curl leaves the upper-case form to us, as it could come from a web server's request; phttpget knows only that one */
	if (proxy != NULL && getenv("http_proxy") == NULL)
		curl_easy_setopt(h, CURLOPT_PROXY, proxy);
	return curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, take) == CURLE_OK &&
	    curl_easy_setopt(h, CURLOPT_WRITEDATA, s) == CURLE_OK &&
	    curl_easy_setopt(h, CURLOPT_ERRORBUFFER, s->said) == CURLE_OK &&
	    curl_easy_setopt(h, CURLOPT_PRIVATE, s) == CURLE_OK &&
	    curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	    curl_easy_setopt(h, CURLOPT_FAILONERROR, 1L) == CURLE_OK &&
	    curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 1L) == CURLE_OK &&
	    curl_easy_setopt(h, CURLOPT_MAXREDIRS, 5L) == CURLE_OK &&
	    curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https,file") == CURLE_OK &&
	    curl_easy_setopt(h, CURLOPT_REDIR_PROTOCOLS_STR, "http,https") == CURLE_OK &&
	    curl_easy_setopt(h, CURLOPT_USERAGENT, "dray/" DRAY_VERSION) == CURLE_OK &&
	    curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S) == CURLE_OK &&
	    curl_easy_setopt(h, CURLOPT_LOW_SPEED_LIMIT, 1L) == CURLE_OK &&
	    curl_easy_setopt(h, CURLOPT_LOW_SPEED_TIME, (long)STALL_S) == CURLE_OK;
}

/* "host" -> "http://host", and where the records of the host lead */
static int
name_server(struct build_fetch *f, struct dray_err *e)
{
	const char *s = f->o.server;
	size_t len = strlen(s);
	char quoted[200];

	while (len > 0 && s[len - 1] == '/')
		len--;
	if (len == 0 || strpbrk(s, " \t\r\n\"\\?#") != NULL)
		return dray_fail(e, DRAY_E_USAGE, "the server \"%s\" is neither a host nor a URL",
		    dray_quote(s, strlen(s), quoted, sizeof(quoted)));
	if (strstr(s, "://") == NULL) {
		if (asprintf(&f->url, "http://%.*s", (int)len, s) == -1)
			f->url = NULL;
	} else if (strncmp(s, "http://", 7) == 0 || strncmp(s, "https://", 8) == 0 || strncmp(s, "file:///", 8) == 0) {
		f->url = strndup(s, len);
	} else {
		dray_fail(e, DRAY_E_USAGE, "the server \"%s\": no such kind of URL",
		    dray_quote(s, strlen(s), quoted, sizeof(quoted)));
		return dray_hint(e, "http://, https:// and file:///ABSOLUTE/PATH are known");
	}
	return f->url != NULL ? 0 : dray_fail(e, DRAY_E_IO, "out of memory");
}

/* the host alone in "http://host/dir", if it may have records: no port, no address */
static void
find_mirrors(struct build_fetch *f)
{
	const char *host;
	size_t len;
	char name[256];

	assert(f->url != NULL);
	host = f->url + 7;
	if (strncmp(f->url, "http://", 7) != 0)
		return;
	len = strcspn(host, "/");
	if (len == 0 || len >= sizeof(name) || memchr(host, ':', len) != NULL || memchr(host, '@', len) != NULL ||
	    strspn(host, "0123456789.") >= len || memchr(host, '.', len) == NULL)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)len, host);
	build_srv_look(name, &f->srv);
	f->at_srv = (size_t)-1;
	(void)build_fetch_other(f);
}

bool
build_fetch_other(struct build_fetch *f)
{
	const char *rest;
	char *url = NULL;

	if (f->at_srv + 1 >= f->srv.n)
		return false;
	rest = f->url + 7 + strcspn(f->url + 7, "/");
	/* the port of a record is not used: freebsd-update's clients ask port 80 */
	if (asprintf(&url, "http://%s%s", f->srv.v[f->at_srv + 1].host, rest) == -1)
		return false;
	f->at_srv++;
	free(f->url);
	f->url = url;
	return true;
}

int
build_fetch_open(const struct build_fetch_opts *o, struct build_fetch **out, struct dray_err *e)
{
	struct build_fetch *f = calloc(1, sizeof(*f));

	*out = NULL;
	if (f == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	f->o = *o;
	f->n = o->parallel == 0 ? PARALLEL : o->parallel > PARALLEL_MOST ? PARALLEL_MOST : o->parallel;
	if (f->o.wait_ms == 0)
		f->o.wait_ms = WAIT_MS;
	if (name_server(f, e) != 0)
		goto fail;
	find_mirrors(f);
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || (f->m = curl_multi_init()) == NULL ||
	    (f->v = calloc(f->n, sizeof(*f->v))) == NULL) {
		dray_fail(e, DRAY_E_IO, "the library for transfers cannot start");
		goto fail;
	}
	curl_multi_setopt(f->m, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)f->n);
	for (size_t i = 0; i < f->n; i++)
		if (!slot_open(f, &f->v[i])) {
			dray_fail(e, DRAY_E_IO, "the library for transfers lacks what is needed");
			goto fail;
		}
	*out = f;
	return 0;
fail:
	build_fetch_close(f);
	return -1;
}

void
build_fetch_close(struct build_fetch *f)
{
	if (f == NULL)
		return;
	for (size_t i = 0; f->v != NULL && i < f->n; i++) {
		if (f->v[i].state == RUNNING)
			curl_multi_remove_handle(f->m, f->v[i].h);
		curl_easy_cleanup(f->v[i].h);
	}
	curl_multi_cleanup(f->m);
	free(f->v);
	free(f->url);
	free(f);
}

const char *
build_fetch_url(const struct build_fetch *f, const char *path, char *dst, size_t cap)
{
	char *url;

	if (asprintf(&url, "%s/%s", f->url, path) == -1)
		return path;
	dray_quote(url, strlen(url), dst, cap);
	free(url);
	return dst;
}

static int
start(struct build_fetch *f, struct slot *s, struct dray_err *e)
{
	char *url;

	if (asprintf(&url, "%s/%s", f->url, s->g->path) == -1)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	s->said[0] = '\0';
	s->large = s->full = false;
	if (curl_easy_setopt(s->h, CURLOPT_URL, url) != CURLE_OK ||
	    curl_easy_setopt(s->h, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)s->at) != CURLE_OK ||
	    curl_multi_add_handle(f->m, s->h) != CURLM_OK) {
		free(url);
		return dray_fail(e, DRAY_E_IO, "a transfer cannot be started");
	}
	free(url);
	s->state = RUNNING;
	return 0;
}

static int
give(struct build_fetch *f, struct slot *s, struct build_get *g, struct dray_err *e)
{
	s->g = g;
	s->at = 0;
	s->tries = 0;
	return start(f, s, e);
}

static bool
retry(CURLcode code, long status)
{
	if (code == CURLE_HTTP_RETURNED_ERROR)
		return status >= 500 || status == 429 || status == 408 || status == 416;
	return code != CURLE_URL_MALFORMAT && code != CURLE_UNSUPPORTED_PROTOCOL && code != CURLE_WRITE_ERROR &&
	    code != CURLE_TOO_MANY_REDIRECTS;
}

static void
explain(struct slot *s, CURLcode code, long status, struct dray_err *why)
{
	char url[300], said[CURL_ERROR_SIZE];

	build_fetch_url(s->f, s->g->path, url, sizeof(url));
	dray_err_clear(why);
	if (s->full) {
		*why = s->why;
		dray_wrap(why, "%s", url);
	} else if (s->large) {
		dray_fail(why, DRAY_E_FORMAT, "%s: larger than %" PRIu64 " bytes", url, s->g->max);
	} else if (code == CURLE_HTTP_RETURNED_ERROR) {
		dray_fail(why, DRAY_E_IO, "%s: the server answers %ld", url, status);
	} else {
		const char *text = s->said[0] != '\0' ? s->said : curl_easy_strerror(code);

		dray_fail(why, DRAY_E_IO, "%s: %s", url, dray_quote(text, strlen(text), said, sizeof(said)));
	}
	if (s->tries == TRIES)
		dray_hint(why, "%d tries; what has arrived is kept, so try again when the network is better", TRIES);
}

/* a server that knows no ranges has to send all of it again */
static int
restart(struct slot *s, struct dray_err *e)
{
	s->at = 0;
	return ftruncate(s->g->fd, 0) == 0 ? 0 : dray_fail_errno(e, "cannot empty the temporary file");
}

/* the transfer of @s has ended */
static int
ended(struct build_fetch *f, struct slot *s, const struct build_fetch_flow *w, CURLcode code, struct dray_err *e)
{
	enum build_got got = BUILD_GOT_ALL;
	struct dray_err why = { .code = DRAY_OK };
	struct build_get *g = s->g;
	long status = 0;
	int rc;

	curl_easy_getinfo(s->h, CURLINFO_RESPONSE_CODE, &status);
	curl_multi_remove_handle(f->m, s->h);
	s->state = FREE;
	s->tries++;
	if ((code == CURLE_HTTP_RETURNED_ERROR && (status == 404 || status == 410)) ||
	    code == CURLE_FILE_COULDNT_READ_FILE) {
		got = BUILD_GOT_NONE;
	} else if (code != CURLE_OK) {
		if ((code == CURLE_RANGE_ERROR || status == 416) && restart(s, e) != 0)
			return -1;
		if (!s->full && !s->large && retry(code, status) && s->tries < TRIES) {
			s->state = WAITING;
			s->again_ms = tool_now_ms() + ((int64_t)f->o.wait_ms << (s->tries - 1));
			return 0;
		}
		got = BUILD_GOT_ERROR;
		explain(s, code, status, &why);
	}
	if ((rc = w->done(w->ctx, g, got, &why, e)) != 1)
		return rc;
	return restart(s, e) != 0 ? -1 : give(f, s, g, e);
}

/* keep all slots at work. *busy: is anything under way? *wait_ms: the next pause ends then */
static int
feed(struct build_fetch *f, const struct build_fetch_flow *w, bool *more, bool *busy, int64_t *wait_ms,
    struct dray_err *e)
{
	int64_t now = tool_now_ms();

	*busy = false;
	*wait_ms = 500;
	for (size_t i = 0; i < f->n; i++) {
		struct slot *s = &f->v[i];
		struct build_get *g;
		int rc;

		if (s->state == FREE && *more) {
			if ((rc = w->next(w->ctx, &g, e)) == -1 || (rc == 1 && give(f, s, g, e) != 0))
				return -1;
			*more = rc == 1;
		} else if (s->state == WAITING) {
			if (s->again_ms <= now && start(f, s, e) != 0)
				return -1;
			if (s->state == WAITING && s->again_ms - now < *wait_ms)
				*wait_ms = s->again_ms - now;
		}
		*busy = *busy || s->state != FREE;
	}
	return 0;
}

/* @more: some have ended, and that may have brought new ones */
static int
collect(struct build_fetch *f, const struct build_fetch_flow *w, bool *more, struct dray_err *e)
{
	CURLMsg *msg;
	int left;

	while ((msg = curl_multi_info_read(f->m, &left)) != NULL) {
		CURLcode code = msg->data.result;
		struct slot *s = NULL;

		if (msg->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &s);
		if (ended(f, s, w, code, e) != 0)
			return -1;
		*more = true;
	}
	return 0;
}

int
build_fetch_run(struct build_fetch *f, const struct build_fetch_flow *w, struct dray_err *e)
{
	bool more = true, busy, ended_some, good;
	int64_t wait_ms;
	int running, rc = -1;

	for (;;) {
		if (feed(f, w, &more, &busy, &wait_ms, e) != 0)
			break;
		if (!busy) {
			rc = 0;
			break;
		}
		if (f->o.stop != NULL && f->o.stop() != 0) {
			dray_fail(e, DRAY_E_SIGNAL, "interrupted by a signal");
			break;
		}
		ended_some = false;
		good = curl_multi_perform(f->m, &running) == CURLM_OK;
		if (good && collect(f, w, &ended_some, e) != 0)
			break;
		more = more || ended_some;
		if (good && !ended_some)
			good = curl_multi_poll(f->m, NULL, 0, (int)wait_ms, NULL) == CURLM_OK;
		if (!good) {
			dray_fail(e, DRAY_E_IO, "the library for transfers fails");
			break;
		}
	}
	for (size_t i = 0; i < f->n; i++) {
		if (f->v[i].state == RUNNING)
			curl_multi_remove_handle(f->m, f->v[i].h);
		f->v[i].state = FREE;
	}
	return rc;
}
