/*
 * swapdir.c - exchange two names as fast as it goes, until it is killed or has done so N times: swapdir A B [N]
 * Where A is a directory and B a symlink, whoever walks through A meets now the one, now the other.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	long n = argc == 4 ? strtol(argv[3], NULL, 10) : -1;

	if (argc != 3 && argc != 4)
		return 2;
	while (renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE) == 0)
		if (n > 0 && --n == 0)
			return 0;
	perror("swapdir");
	return 1;
}
