/*
 * main.c - hostile: bundles with one flaw each, to be written for any reader or run against an installer.
 *
 *	hostile list CASES			the table, as lines with tabs
 *	hostile write CASES DIR [PART]...	DIR/NAME/..., DIR/keys/test.pub, DIR/cases.tsv
 *	hostile run CASES PROGRAM WORK [PART]...	against PROGRAM, which has the commands of dray-install
 *	hostile brief CASES PROGRAM WORK [PART]...	the same; what all commands refuse is shown to apply alone
 *
 * CASES: the folder of the tables. PART: cases with that in their name.
 */
#include <sys/stat.h>

#include <stdio.h>
#include <string.h>

#include "dray/digest.h"

#include "cases.h"

static void
list(FILE *f, const struct hostile_case *all, size_t n)
{
	fprintf(f, "name\twhat is wrong\tsection of bundle-format.md\tverify\tplan\tapply\tmessage holds\tafter\n");
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\n", all[i].name, all[i].wrong, all[i].section, all[i].code[VERIFY],
		    all[i].code[PLAN], all[i].code[APPLY], all[i].text[0], all[i].after != NULL ? all[i].after : "");
}

static bool
wanted(const char *name, char *const *parts)
{
	bool any = *parts == NULL;

	for (; *parts != NULL; parts++)
		any = any || strstr(name, *parts) != NULL;
	return any;
}

static int
write_all(const struct hostile_case *all, size_t n, const char *dir, char *const *parts)
{
	struct dray_err e = { .code = DRAY_OK };
	struct dray_key *key;
	char path[4096], file[4096];
	FILE *f;

	snprintf(path, sizeof path, "%s/keys", dir);
	if (mkdir(dir, 0755) != 0 || mkdir(path, 0755) != 0)
		hostile_die("%s is there already, or cannot be made", dir);
	snprintf(path, sizeof path, "%s/keys/test", dir);
	if (dray_key_generate(&key, &e) != 0 || dray_key_save(key, path, NULL, &e) != 0)
		hostile_die("%s", e.text);
	for (size_t i = 0; i < n; i++) {
		if (!wanted(all[i].name, parts) || (all[i].by_hand && *parts == NULL))
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, all[i].name);
		if (mkdir(path, 0755) != 0)
			hostile_die("%s cannot be made", path);
		case_write(&all[i], key, path, file);
	}
	dray_key_free(key);
	snprintf(path, sizeof path, "%s/target", dir);
	scene_new(path);
	snprintf(path, sizeof path, "%s/cases.tsv", dir);
	if ((f = fopen(path, "w")) == NULL)
		hostile_die("%s cannot be written", path);
	list(f, all, n);
	if (fclose(f) != 0)
		hostile_die("%s cannot be written", path);
	return 0;
}

int
main(int argc, char **argv)
{
	struct dray_err e = { .code = DRAY_OK };
	struct hostile_case *all;
	size_t n;

	if (dray_crypto_init(&e) != 0)
		hostile_die("%s", e.text);
	if (argc < 3)
		hostile_die("usage: hostile list CASES | write CASES DIR [PART]... | run|brief CASES PROGRAM WORK [PART]...");
	all = cases_load(argv[2], &n);
	if (strcmp(argv[1], "list") == 0 && argc == 3)
		list(stdout, all, n);
	else if (strcmp(argv[1], "write") == 0 && argc >= 4)
		return write_all(all, n, argv[3], argv + 4);
	else if ((strcmp(argv[1], "run") == 0 || strcmp(argv[1], "brief") == 0) && argc >= 5)
		return hostile_run(all, n, argv[3], argv[4], argv[1][0] == 'b', argv + 5) == 0 ? 0 : 1;
	else
		hostile_die("unknown command, or not so many arguments");
	return 0;
}
