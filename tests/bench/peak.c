/*
 * peak.c - run a program and tell what it used: "peak FILE PROGRAM ARG..." writes one line to FILE and ends as the
 * program did: the most memory it held (KiB), processor time of its own and of the kernel for it, time that passed (all
 * three in seconds). What the program was started from counts as memory as well, so this one is small.
 */
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double
seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

int
main(int argc, char **argv)
{
	struct timespec begin, end;
	struct rusage used;
	int status;
	pid_t pid;
	FILE *f;

	if (argc < 3) {
		fputs("usage: peak FILE PROGRAM ARG...\n", stderr);
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	if ((pid = fork()) == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid == -1 || waitpid(pid, &status, 0) != pid || clock_gettime(CLOCK_MONOTONIC, &end) != 0 ||
	    getrusage(RUSAGE_CHILDREN, &used) != 0 || (f = fopen(argv[1], "w")) == NULL) {
		perror("peak");
		return 126;
	}
	fprintf(f, "%ld %.3f %.3f %.3f\n", used.ru_maxrss, seconds(&used.ru_utime), seconds(&used.ru_stime),
	    (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
	if (fclose(f) != 0) {
		perror("peak");
		return 126;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
