/*
 * swapdir.c - exchange two names as fast as it goes, until it is killed: swapdir A B
 * Where A is a directory and B a symlink, whoever walks through A meets now the one, now the other.
 */
#include <fcntl.h>
#include <stdio.h>

int
main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	while (renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE) == 0)
		;
	perror("swapdir");
	return 1;
}
