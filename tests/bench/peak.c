/*
 * peak.c - run a program and tell the most memory it held: "peak FILE PROGRAM ARG..." writes KiB to FILE, and ends as
 * the program did. What the program was started from counts as well, so this one is small.
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include <stdio.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	struct rusage used;
	int status;
	pid_t pid;
	FILE *f;

	if (argc < 3) {
		fputs("usage: peak FILE PROGRAM ARG...\n", stderr);
		return 2;
	}
	if ((pid = fork()) == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid == -1 || waitpid(pid, &status, 0) != pid || getrusage(RUSAGE_CHILDREN, &used) != 0 ||
	    (f = fopen(argv[1], "w")) == NULL) {
		perror("peak");
		return 126;
	}
	fprintf(f, "%ld\n", used.ru_maxrss);
	if (fclose(f) != 0) {
		perror("peak");
		return 126;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
