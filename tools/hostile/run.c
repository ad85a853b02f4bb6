/*
 * run.c - each case against an installer: exit codes, message, nothing that moves a terminal's cursor, a target that is the
 * same to the nanosecond, nothing beside it touched, bounded time and memory.
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/utf8.h"

#include "cases.h"

#define SECONDS 20u
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)	/* which keeps what was freed */
#define RSS_KIB (1024 * 1024)
#else
#define RSS_KIB (128 * 1024)
#endif

struct run {
	const char *program, *work;
	char bundles[4096], scene[4096], root[4096], outside[4096], keyring[4096];
	const struct dray_key *key;
	int out;		/* what the program prints, both ways */
	int code;
	long rss;
	struct bytes said;
	bool brief;
	size_t bad;		/* findings of this case */
	const struct hostile_case *c;
};

static void
finding(struct run *r, const char *what, const char *detail)
{
	if (r->bad++ == 0)
		printf("NOT OK %s: %s\n", r->c->name, r->c->wrong);
	printf("       %s%s\n", what, detail);
}

static void
child(const struct run *r, const char *const *argv)
{
	char *const env[] = { (char[]){ "LC_ALL=C" }, (char[]){ "TZ=UTC" }, (char[]){ "PATH=/usr/bin:/bin" }, NULL };
	const unsigned seconds = r->c->by_hand ? 30 * SECONDS : SECONDS;
	const struct rlimit cpu = { seconds, seconds };
	int null = open("/dev/null", O_RDONLY);

	if (null == -1 || dup2(null, 0) == -1 || dup2(r->out, 1) == -1 || dup2(r->out, 2) == -1 ||
	    setrlimit(RLIMIT_CPU, &cpu) != 0)
		_exit(126);
	alarm(2 * seconds);
	execve(r->program, (char *const *)(uintptr_t)argv, env);
	_exit(127);
}

static void
start(struct run *r, const char *const *argv)
{
	struct rusage ru;
	struct stat st;
	int status;
	pid_t pid;

	if (ftruncate(r->out, 0) != 0 || lseek(r->out, 0, SEEK_SET) != 0)
		hostile_die("output cannot be collected");
	fflush(NULL);
	if ((pid = fork()) == 0)
		child(r, argv);
	if (pid == -1 || wait4(pid, &status, 0, &ru) != pid)
		hostile_die("%s cannot be started", r->program);
	r->code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
	r->rss = ru.ru_maxrss;
	r->said.len = 0;
	if (fstat(r->out, &st) != 0 || pread(r->out, bytes_room(&r->said, (size_t)st.st_size + 1), (size_t)st.st_size, 0) !=
	    st.st_size)
		hostile_die("output cannot be read");
	r->said.len--;		/* a zero stays behind it */
}

/* bytes that do more than stand there: controls, DEL, what is no UTF-8, C1 */
static bool
harmless(const struct bytes *s)
{
	for (size_t i = 0; i < s->len; ) {
		uint32_t c = s->p[i];
		size_t n = 1;

		if (c >= 0x80 && (n = utf8_take(s->p + i, s->len - i, &c)) == 0)
			return false;
		if ((c < 0x20 && c != '\n') || (c >= 0x7f && c < 0xa0))
			return false;
		i += n;
	}
	return true;
}

static void
common(struct run *r, const char *what)
{
	const long most = r->c->memory != 0 ? r->c->memory * 1024 : RSS_KIB;
	char detail[256];

	if (!harmless(&r->said))
		finding(r, what, ": what it printed holds control characters or bytes that are no text");
	if (r->rss > most) {
		snprintf(detail, sizeof detail, ": %ld KiB of memory", r->rss);
		finding(r, what, detail);
	}
	if (r->code < 0) {
		snprintf(detail, sizeof detail, ": ended by signal %d", -r->code);
		finding(r, what, detail);
	}
}

static void
judge(struct run *r, const char *what, int code, const char *text)
{
	char detail[4096];

	common(r, what);
	if (r->code != code) {
		snprintf(detail, sizeof detail, ": exit code %d, not %d", r->code, code);
		finding(r, what, detail);
	}
	if (*text != '\0' && strstr((const char *)r->said.p, text) == NULL) {
		snprintf(detail, sizeof detail, " does not say: %s", text);
		finding(r, what, detail);
	}
	if (r->code != code || (*text != '\0' && strstr((const char *)r->said.p, text) == NULL))
		printf("       it says: %s", (const char *)r->said.p);
}

static void
compare(struct run *r, const char *what, const char *path, const char *but, const struct bytes *before)
{
	struct bytes now = { 0 };

	scene_look(path, but, &now);
	if (now.len != before->len || memcmp(now.p, before->p, now.len) != 0) {
		finding(r, what, " changed what it must leave alone:");
		printf("--- before\n%.*s--- after\n%.*s", (int)before->len, (const char *)before->p, (int)now.len,
		    (const char *)now.p);
	}
	bytes_free(&now);
}

/* info, list, and what scripts read: whatever they say, it is text, and they end as verify does */
static void
run_also(struct run *r, const char *file)
{
	static const char *const commands[][4] = {
		{ "info", NULL }, { "info", "--json", NULL }, { "list", NULL }, { "list", "--json", NULL },
		{ "verify", "--json", NULL }, { "plan", "--json", NULL }, { "plan", "-v", NULL },
	};

	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		const char *argv[12] = { r->program, commands[i][0], file, "--keyring", r->keyring };
		size_t n = 5;
		bool plan = strcmp(commands[i][0], "plan") == 0;

		if (plan) {
			argv[n++] = "--root";
			argv[n++] = r->root;
		}
		if (commands[i][1] != NULL)
			argv[n++] = commands[i][1];
		start(r, argv);
		judge(r, commands[i][0], r->c->code[plan ? PLAN : VERIFY], "");
	}
}

static void
run_three(struct run *r, const char *file)
{
	static const char *const names[COMMANDS] = { "verify", "plan", "apply" };
	const struct hostile_case *c = r->c;
	struct bytes root = { 0 }, outside = { 0 };
	bool said = false;
	/* what only staging can find leaves the state folder behind, which holds what may be used again; and runs are recorded */
	const bool staged = (c->code[PLAN] == 0 && c->code[APPLY] != 0) || c->after != NULL;
	char var[4096 + 8];

	snprintf(var, sizeof var, "%s/var", r->root);
	scene_look(r->root, staged ? var : NULL, &root);
	scene_look(r->outside, NULL, &outside);
	for (size_t i = r->brief && c->code[VERIFY] != 0 && c->code[VERIFY] == c->code[APPLY] ? APPLY : VERIFY; i < COMMANDS; i++) {
		const char *argv[] = { r->program, names[i], file, "--keyring", r->keyring, i == VERIFY ? NULL : "--root", r->root,
			NULL };
		const int code = c->code[i];

		start(r, argv);
		judge(r, names[i], code, code != 0 ? c->text[i != VERIFY] : "");
		said = said || strstr((const char *)r->said.p, c->text[i != VERIFY]) != NULL;
		if (i != APPLY || code != 0)
			compare(r, names[i], r->root, staged ? var : NULL, &root);
		compare(r, names[i], r->outside, NULL, &outside);
	}
	if (!said)
		finding(r, "nothing says: ", c->text[0]);
	bytes_free(&root);
	bytes_free(&outside);
}

static const struct hostile_case *
named(const struct hostile_case *all, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	hostile_die("there is no case %s", name);
}

/* whether the tree was changed by it */
static bool
run_case(struct run *r, const struct hostile_case *all, size_t n, const struct hostile_case *c)
{
	char file[4096];
	const char *lacking;
	bool changes = c->code[PLAN] == 0 || c->after != NULL;

	r->c = c;
	r->bad = 0;
	if (c->after != NULL) {
		case_write(named(all, n, c->after), r->key, r->bundles, file);
		start(r, (const char *const[]){ r->program, "apply", file, "--keyring", r->keyring, "--root", r->root, NULL });
		judge(r, c->after, 0, "");
	}
	scene_plant(r->scene, c);
	for (size_t i = 0; i < c->n_ops; i++)
		changes = changes || strcmp(c->op[i].w[0], "plant") == 0;
	case_write(c, r->key, r->bundles, file);
	if (c->also)
		run_also(r, file);
	run_three(r, file);
	if ((lacking = scene_wants(r->scene, c)) != NULL)
		finding(r, "apply did not bring, or did not leave: ", lacking);
	return changes || r->bad != 0;
}

static void
prepare(struct run *r, const char *program, const char *work)
{
	struct dray_err e = { .code = DRAY_OK };
	struct dray_key *key;
	char prefix[4096];

	r->program = program;
	r->work = work;
	if ((mkdir(work, 0755) != 0 && access(work, W_OK) != 0) || (r->out = memfd_create("said", MFD_CLOEXEC)) == -1 ||
	    snprintf(r->bundles, sizeof r->bundles, "%s/bundles", work) >= 4000)
		hostile_die("%s cannot be used", work);
	snprintf(r->scene, sizeof r->scene, "%s/scene", work);
	snprintf(r->root, sizeof r->root, "%s/scene/root", work);
	snprintf(r->outside, sizeof r->outside, "%s/scene/outside", work);
	snprintf(r->keyring, sizeof r->keyring, "%s/test.pub", work);
	snprintf(prefix, sizeof prefix, "%s/test", work);
	if (mkdir(r->bundles, 0755) != 0 && access(r->bundles, W_OK) != 0)
		hostile_die("%s cannot be used", r->bundles);
	remove(r->keyring);
	snprintf(prefix, sizeof prefix, "%s/test.key", work);
	remove(prefix);
	snprintf(prefix, sizeof prefix, "%s/test", work);
	if (dray_key_generate(&key, &e) != 0 || dray_key_save(key, prefix, NULL, &e) != 0)
		hostile_die("%s", e.text);
	r->key = key;
}

static bool
wanted(const struct hostile_case *c, char *const *names)
{
	if (*names == NULL)
		return !c->by_hand;
	for (; *names != NULL; names++)
		if (strstr(c->name, *names) != NULL)
			return true;
	return false;
}

size_t
hostile_run(const struct hostile_case *all, size_t n, const char *program, const char *work, bool brief, char *const *names)
{
	static struct run r;
	size_t ran = 0, bad = 0;
	bool dirty = true;

	umask(022);
	prepare(&r, program, work);
	r.brief = brief;
	for (size_t i = 0; i < n; i++) {
		if (!wanted(&all[i], names) || (all[i].root_only && geteuid() != 0))
			continue;
		if (dirty)
			scene_new(r.scene);
		dirty = run_case(&r, all, n, &all[i]);
		ran++;
		bad += r.bad != 0 ? 1 : 0;
	}
	bytes_free(&r.said);
	printf("hostile: %zu cases, %zu as expected, %zu not\n", ran, ran - bad, bad);
	return ran == 0 ? 1 : bad;
}
