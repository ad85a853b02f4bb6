/*
 * act.c - the program of triggers in tests: act WORD [ACTION...]
 * It says its arguments and environment and appends WORD to /log. +PATH=TEXT writes a file in place, @PATH=TEXT puts a new
 * one in its place, -PATH removes one if it is there, !PATH puts a directory in its place.
 * Then by what WORD contains: "fail": status 3; "sleep": for ever, unless there is /awake; "die": a signal.
 */
#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
put(char *arg)
{
	char *text = strchr(arg, '='), temp[4200];
	FILE *f;

	if (text == NULL)
		exit(8);
	*text++ = '\0';
	snprintf(temp, sizeof(temp), "%s.new", arg + 1);
	if ((f = fopen(*arg == '@' ? temp : arg + 1, "w")) == NULL)
		exit(7);
	fputs(text, f);
	if (fclose(f) != 0 || (*arg == '@' && rename(temp, arg + 1) != 0))
		exit(6);
}

int
main(int argc, char **argv, char **env)
{
	struct stat st;
	FILE *f;

	for (int i = 1; i < argc; i++)
		printf("[%s]", argv[i]);
	for (; *env != NULL; env++)
		printf(" %s", *env);
	printf(" fds:");
	for (int i = 3; i < 64; i++)
		if (fstat(i, &st) == 0)
			printf(" %d", i);
	printf(" pid %d, input %d\n\033[31mred\n", (int)getpid(), getchar());
	fflush(stdout);
	f = fopen("/log", "a");
	if (f == NULL || argc < 2)
		return 9;
	fprintf(f, "%s\n", argv[1]);
	if (fclose(f) != 0)
		return 9;
	for (int i = 2; i < argc; i++) {
		if (*argv[i] == '+' || *argv[i] == '@')
			put(argv[i]);
		else if (*argv[i] == '-' && unlink(argv[i] + 1) != 0 && errno != ENOENT)
			return 5;
		else if (*argv[i] == '!' && ((unlink(argv[i] + 1) != 0 && errno != ENOENT) || mkdir(argv[i] + 1, 0700) != 0))
			return 4;
	}
	if (strstr(argv[1], "sleep") != NULL && access("/awake", F_OK) != 0)
		for (;;)
			pause();
	if (strstr(argv[1], "die") != NULL)
		abort();
	return strstr(argv[1], "fail") != NULL ? 3 : 0;
}
