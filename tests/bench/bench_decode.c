/*
 * bench_decode.c - what applying costs a target, by kind of work: the rates of builder/apply_cost.c.
 *
 *   bench_decode             the installer beside this program, against itself with what a new release changes, and the
 *                            linker's map of it as text
 *   bench_decode OLD NEW     two versions of a file
 *
 * Processor time of one core, the best of several runs, because other programs only ever make it more. Per cent of the
 * output that is stored are told beside it: zstd is slower where there is more to decode.
 * OPENSSL_ia32cap=:~0x20000000 shows SHA-256 as it is on a processor without instructions for it.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dray/descriptor.h"
#include "dray/digest.h"
#include "dray/filter.h"
#include "dray/frame.h"
#include "dray/index.h"
#include "dray/io.h"

#define PIECE (1024u * 1024u)	/* bytes of a frame */
#define RUNS 7
#define FILES_MAX 16u		/* frames of one pair */

static struct dray_err e;

static void
need(int rc)
{
	if (rc == 0)
		return;
	fprintf(stderr, "bench_decode: %s\n", e.text);
	exit(1);
}

static double
cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void
line(const char *what, double ns_per_byte, const char *note)
{
	printf("  %-24s %6.3f ns/byte  %6.0f MB/s  %s\n", what, ns_per_byte, 1000 / ns_per_byte, note);
}

/* --- two versions of a file ---------------------------------------------------------------------------------------- */

struct text { uint8_t *p; size_t len; };

static struct text
load(const char *path)
{
	struct text t = { 0 };
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd == -1 || fstat(fd, &st) != 0 || st.st_size == 0 || (t.p = malloc((size_t)st.st_size)) == NULL ||
	    !dray_pread_whole(fd, t.p, (size_t)st.st_size, 0)) {
		fprintf(stderr, "bench_decode: %s cannot be read\n", path);
		exit(1);
	}
	close(fd);
	t.len = (size_t)st.st_size;
	return t;
}

/* every 3,000 bytes some are put in or taken out, and every 60 bytes a number has become another, as addresses do */
static struct text
change(const struct text *old)
{
	struct text t = { .p = malloc(old->len * 2) };

	if (t.p == NULL)
		abort();
	for (size_t i = 0; i < old->len; i++) {
		if (i % 3000 == 2999 && i / 3000 % 2 == 0)
			for (size_t k = 0; k < 17; k++)
				t.p[t.len++] = (uint8_t)(i >> 8 ^ k * 37);
		else if (i % 3000 == 2999)
			i += i + 9 < old->len ? 9 : 0;
		t.p[t.len++] = (uint8_t)(old->p[i] + (i % 60 == 59 ? 16 : 0));
	}
	return t;
}

/* --- frames -------------------------------------------------------------------------------------------------------- */

struct made { uint8_t *p; struct dray_encode_out o; uint32_t len; size_t at, ref_len; };

/* frame @i of @new; the same place in @old, and what is around it, is its base */
static struct made
make(struct dray_encoder *c, const struct text *old, const struct text *new, size_t i, unsigned kinds, uint8_t filter)
{
	struct made m = { .at = i * PIECE };
	struct dray_range r = { .offset = m.at };
	struct dray_encode_in in = { .src = new->p + m.at, .filter = filter, .kinds = kinds, .content_at = m.at };

	m.len = (uint32_t)(new->len - m.at < PIECE ? new->len - m.at : PIECE);
	if (kinds != DRAY_TRY_PLAIN && m.at < old->len) {
		m.ref_len = old->len - m.at < PIECE + PIECE / 8 ? old->len - m.at : PIECE + PIECE / 8;
		r.len = m.ref_len;
		in.ref = old->p + m.at;
		in.ref_len = m.ref_len;
		in.ranges = &r;
		in.n_ranges = 1;
	}
	in.len = m.len;
	need(dray_encode_best(c, &in, &m.o, &e));
	if ((m.p = malloc(m.o.len)) == NULL)
		abort();
	memcpy(m.p, m.o.p, m.o.len);
	return m;
}

static void
bench_kind(const char *name, const struct text *old, const struct text *new, unsigned kinds, uint8_t filter)
{
	struct dray_desc *d = dray_desc_new();
	struct dray_decoder *dec;
	struct dray_encoder *enc;
	struct made m[FILES_MAX];
	size_t n = (new->len + PIECE - 1) / PIECE, out = 0, stored = 0, odd = 0;
	uint8_t *ref = malloc(2 * PIECE), *to = malloc(PIECE);
	double best = 0;
	char note[80];

	if (d == NULL || ref == NULL || to == NULL)
		abort();
	d->limit_window = DRAY_WINDOW_MAX;
	n = n > FILES_MAX ? FILES_MAX : n;
	need(dray_decoder_new(&dec, &e));
	need(dray_encoder_new(19, &enc, &e));
	for (size_t i = 0; i < n; i++) {
		m[i] = make(enc, old, new, i, kinds, filter);
		odd += (1u << m[i].o.kind & kinds) == 0;
		out += m[i].len;
		stored += m[i].o.len;
	}
	for (int run = 0; run < RUNS; run++) {
		double took = 0;

		for (size_t i = 0; i < n; i++) {
			size_t ref_len = m[i].o.kind == DRAY_FRAME_PLAIN ? 0 : m[i].ref_len;
			struct dray_range r = { .offset = m[i].at, .len = ref_len };
			struct dray_ref base = { .p = ref, .len = ref_len, .ranges = &r, .n = ref_len > 0 };
			struct dray_frame f = { .kind = m[i].o.kind, .filter = filter, .stored = (uint32_t)m[i].o.len,
				.out = m[i].len, .raw = m[i].o.raw, .range_count = ref_len > 0 };
			double begin;

			memcpy(ref, old->p + (m[i].at < old->len ? m[i].at : 0), ref_len);
			begin = cpu_ns();
			need(dray_decode_frame(dec, &f, m[i].p, &base, m[i].at, d, to, &e));
			took += cpu_ns() - begin;
			if (memcmp(to, new->p + m[i].at, m[i].len) != 0)
				abort();
		}
		best = run == 0 || took < best ? took : best;
	}
	snprintf(note, sizeof(note), "(%.1f %% stored%s)", (double)stored * 100 / (double)out, odd > 0 ? ", not all of it this kind" : "");
	line(name, best / (double)out, note);
	for (size_t i = 0; i < n; i++)
		free(m[i].p);
	dray_encoder_free(enc);
	dray_decoder_free(dec);
	dray_desc_free(d);
	free(ref);
	free(to);
}

static void
bench_pair(const char *name, const struct text *old, const struct text *new, bool program)
{
	printf("%s, %.1f MB in frames of 1 MiB, level 19\n", name, (double)new->len / 1e6);
	bench_kind("plain", old, new, DRAY_TRY_PLAIN, DRAY_FILTER_NONE);
	bench_kind("prefix", old, new, DRAY_TRY_PREFIX, DRAY_FILTER_NONE);
	bench_kind("addcopy", old, new, DRAY_TRY_ADDCOPY, DRAY_FILTER_NONE);
	if (!program)
		return;
	bench_kind("plain, x86", old, new, DRAY_TRY_PLAIN, DRAY_FILTER_X86);
	bench_kind("prefix, x86", old, new, DRAY_TRY_PREFIX, DRAY_FILTER_X86);
	bench_kind("addcopy, x86", old, new, DRAY_TRY_ADDCOPY, DRAY_FILTER_X86);
}

/* --- everything else that is done to each byte ------------------------------------------------------------------------ */

enum step { HASH, FILTER, READ, WRITE };

static double
run_step(enum step step, struct dray_sha256 *h, struct text *t, int fd)
{
	uint8_t sum[DRAY_SHA256_LEN];
	double begin = cpu_ns();

	for (size_t at = 0; at + PIECE <= t->len; at += PIECE)
		switch (step) {
		case HASH:
			need(dray_sha256_once(h, t->p + at, PIECE, sum, &e));
			break;
		case FILTER:
			dray_x86_filter(t->p + at, PIECE, at);
			break;
		case READ:
			if (!dray_pread_whole(fd, t->p + at, PIECE, at))
				abort();
			break;
		case WRITE:
			if (pwrite(fd, t->p + at, PIECE, (off_t)at) != PIECE)
				abort();
			break;
		}
	return (cpu_ns() - begin) / (double)(t->len / PIECE * PIECE);
}

static void
bench_steps(const struct text *program)
{
	static const char *const names[] = { [HASH] = "SHA-256", [FILTER] = "x86 filter alone",
		[READ] = "read from the cache", [WRITE] = "write a new file" };
	struct text copy = { malloc(program->len), program->len };
	struct dray_sha256 *h;

	if (copy.p == NULL || copy.len < PIECE)
		abort();
	memcpy(copy.p, program->p, copy.len);
	need(dray_sha256_new(&h, &e));
	puts("per byte, whatever the kind");
	for (enum step s = HASH; s <= WRITE; s++) {
		double best = 0, ns;

		for (int run = 0; run < RUNS; run++) {
			char path[] = "/tmp/dray-bench-XXXXXX";
			int fd = mkstemp(path);

			if (fd == -1 || unlink(path) != 0)
				abort();
			if (s == READ)
				run_step(WRITE, h, &copy, fd);
			ns = run_step(s, h, &copy, fd);
			best = run == 0 || ns < best ? ns : best;
			close(fd);
		}
		line(names[s], best, "");
	}
	dray_sha256_free(h);
	free(copy.p);
}

int
main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	struct text old, new;
	char path[4096];

	if (argc == 3) {
		old = load(argv[1]);
		new = load(argv[2]);
		bench_pair(argv[2], &old, &new, new.len > 20 && memcmp(new.p, "\177ELF", 4) == 0);
		bench_steps(&new);
		return 0;
	}
	snprintf(path, sizeof(path), "%.*s../dray-install", slash == NULL ? 0 : (int)(slash + 1 - argv[0]), argv[0]);
	old = load(path);
	new = change(&old);
	bench_pair("a program", &old, &new, true);
	bench_steps(&new);
	free(old.p);
	free(new.p);
	snprintf(path + strlen(path), sizeof(path) - strlen(path), ".map");
	old = load(path);
	new = change(&old);
	bench_pair("a text", &old, &new, false);
	free(old.p);
	free(new.p);
	return 0;
}
