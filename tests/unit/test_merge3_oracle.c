/*
 * the three-way merge against GNU diff3: wherever that finds no conflict, or only equal changes, the bytes are the same
 *   DRAY_MERGE_TRIPLES=20000       so many generated triples instead of a few
 *   DRAY_MERGE_TREES=OLD:NEW       and all texts that two trees have at the same place and not alike, edited in ten ways each
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdbool.h>
#include <unistd.h>

#include "dray/merge3.h"
#include "merge3_triples.h"
#include "scratch.h"
#include "test.h"

static char dir[] = "/tmp/dray-merge3-XXXXXX";
static struct { size_t all, clean, settled, conflicts, wrong; } count;

static const char *
in_dir(const char *name)
{
	static char path[4][80];
	static unsigned turn;
	char *p = path[turn++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static void
write_file(const char *name, const char *p, size_t len)
{
	FILE *f = fopen(in_dir(name), "w");

	if (f == NULL || fwrite(p, 1, len, f) != len || fclose(f) != 0)
		abort();
}

static char *
read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	struct stat st;
	char *p;

	if (f == NULL || fstat(fileno(f), &st) != 0 || (p = malloc((size_t)st.st_size + 1)) == NULL)
		abort();
	*len = fread(p, 1, (size_t)st.st_size, f);
	fclose(f);
	p[*len] = '\0';
	return p;
}

/* 0: no conflict, or only equal changes; 1: conflicts; the merged text is in DIR/out */
static int
gnu_diff3(void)
{
	char diff3[] = "diff3", how[] = "-aEm", m[80], b[80], t[80], path[] = "PATH=/usr/bin:/bin:/usr/local/bin";
	char *argv[] = { diff3, how, m, b, t, NULL }, *env[] = { path, NULL };
	posix_spawn_file_actions_t fa;
	int status;
	pid_t pid;

	snprintf(m, sizeof(m), "%s", in_dir("m"));
	snprintf(b, sizeof(b), "%s", in_dir("b"));
	snprintf(t, sizeof(t), "%s", in_dir("t"));
	if (posix_spawn_file_actions_init(&fa) != 0 ||
	    posix_spawn_file_actions_addopen(&fa, 1, in_dir("out"), O_WRONLY | O_CREAT | O_TRUNC, 0600) != 0 ||
	    posix_spawnp(&pid, "diff3", &fa, NULL, argv, env) != 0 || waitpid(pid, &status, 0) != pid)
		abort();
	posix_spawn_file_actions_destroy(&fa);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
judge(const struct triple *t, const char *what)
{
	struct dray_merge3_in in = { .kind = DRAY_MERGE3_TEXT };
	struct dray_merge3 m;
	struct dray_err e = { 0 };
	size_t len;
	char *want;
	int rc;

	for (int i = 0; i < 3; i++) {
		write_file(i == 0 ? "m" : i == 1 ? "b" : "t", t->p[i], t->len[i]);
		in.side[i] = (struct dray_merge3_text){ .p = (const uint8_t *)t->p[i], .len = t->len[i] };
	}
	rc = gnu_diff3();
	count.all++;
	if (dray_merge3(&in, &m, &e) != 0 || m.why != NULL || rc < 0 || rc > 1) {
		printf("# %s: diff3 ends with %d, we with %s%s\n", what, rc, e.text, m.why != NULL ? m.why : "");
		count.wrong++;
	} else if (rc == 1) {
		count.conflicts++;
		count.settled += m.conflicts == 0;
	} else {
		want = read_file(in_dir("out"), &len);
		count.clean++;
		if (m.conflicts > 0 || m.len != len || memcmp(m.text, want, len) != 0) {
			printf("# %s: not what diff3 makes of it (%zu conflicts)\n", what, m.conflicts);
			count.wrong++;
		}
		free(want);
	}
	dray_merge3_free(&m);
}

static void
generated_triples_merge_as_diff3_merges_them(void)
{
	const char *env = getenv("DRAY_MERGE_TRIPLES");
	const unsigned long n = env != NULL ? strtoul(env, NULL, 10) : 1000;
	struct triple t;
	char what[40];

	for (unsigned long i = 0; i < n; i++) {
		snprintf(what, sizeof(what), "triple %lu", i);
		triple_make(i, &t);
		judge(&t, what);
		triple_free(&t);
	}
	printf("# %zu triples: %zu without conflict, %zu with (%zu of them settled), %zu wrong\n", count.all, count.clean,
	    count.conflicts, count.settled, count.wrong);
	CHECK_EQ(count.wrong, 0);
	CHECK(count.clean > n / 4);
}

static char *trees;	/* "OLD", a zero byte, "NEW" */
static const char *new_tree;

/* what people do to a file: comment a line out, change one, add one, at a place of their own */
static void
edit_by_hand(struct lines *l, unsigned how)
{
	const size_t at = l->n == 0 ? 0 : pick((unsigned)l->n);
	char text[64];

	if (how == 0 || l->n == 0) {
		line_insert(l, l->n, "# added here");
	} else if (how == 1) {
		line_insert(l, at, "option = here");
	} else if (how == 2) {
		line_remove(l, at);
	} else {
		snprintf(text, sizeof(text), "%s%.50s", how == 3 ? "#" : "", l->v[at]);
		line_remove(l, at);
		line_insert(l, at, how == 4 ? "changed here" : text);
	}
}

static int
one_pair(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	const char *rel = path + strlen(trees);
	char other[4096];
	struct triple t;
	struct lines l;
	struct stat so;

	(void)where;
	snprintf(other, sizeof(other), "%s%s", new_tree, rel);
	if (kind != FTW_F || !S_ISREG(st->st_mode) || lstat(other, &so) != 0 || !S_ISREG(so.st_mode))
		return 0;
	t.p[1] = read_file(path, &t.len[1]);
	t.p[2] = read_file(other, &t.len[2]);
	t.p[0] = NULL;
	if ((t.len[1] != t.len[2] || memcmp(t.p[1], t.p[2], t.len[1]) != 0) && memchr(t.p[1], '\0', t.len[1]) == NULL &&
	    memchr(t.p[2], '\0', t.len[2]) == NULL) {
		for (unsigned how = 0; how < 10; how++) {
			lines_of(t.p[1], t.len[1], &l);
			edit_by_hand(&l, how % 5);
			if (how >= 5)
				edit_by_hand(&l, pick(5));
			free(t.p[0]);
			t.p[0] = lines_text(&l, &t.len[0]);
			lines_free(&l);
			judge(&t, rel);
		}
	}
	triple_free(&t);
	return 0;
}

static void
files_of_two_trees_merge_as_diff3_merges_them(void)
{
	char *colon;

	count.all = count.clean = count.conflicts = count.settled = count.wrong = 0;
	triples_state = 1;
	trees = text_copy(getenv("DRAY_MERGE_TREES"));
	colon = strchr(trees, ':');
	CHECK(colon != NULL);
	if (colon != NULL) {
		*colon = '\0';
		new_tree = colon + 1;
		CHECK_EQ(nftw(trees, one_pair, 16, FTW_PHYS), 0);
		printf("# %zu edits of files: %zu without conflict, %zu with (%zu of them settled), %zu wrong\n", count.all,
		    count.clean, count.conflicts, count.settled, count.wrong);
	}
	CHECK_EQ(count.wrong, 0);
	free(trees);
}

int
main(void)
{
	if (mkdtemp(dir) == NULL)
		return 1;
	RUN(generated_triples_merge_as_diff3_merges_them);
	if (getenv("DRAY_MERGE_TREES") != NULL)
		RUN(files_of_two_trees_merge_as_diff3_merges_them);
	return scratch_remove(dir) == 0 ? test_done() : 1;
}
