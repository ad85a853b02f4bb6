/*
 * catch.h - what a piece of a test writes to standard output and standard error goes to files that are read back.
 */
#ifndef CATCH_H
#define CATCH_H

#include <stdio.h>
#include <unistd.h>

static char out[16384], err[16384];

static void
read_back(FILE *f, char *buf, size_t cap)
{
	size_t n;

	rewind(f);
	n = fread(buf, 1, cap - 1, f);
	buf[n] = '\0';
	fclose(f);
}

static int saved_out, saved_err;
static FILE *file_out, *file_err;

static void
catch_begin(void)
{
	fflush(stdout);
	file_out = tmpfile();
	file_err = tmpfile();
	saved_out = dup(STDOUT_FILENO);
	saved_err = dup(STDERR_FILENO);
	dup2(fileno(file_out), STDOUT_FILENO);
	dup2(fileno(file_err), STDERR_FILENO);
}

static void
catch_end(void)
{
	fflush(stdout);
	fflush(stderr);
	dup2(saved_out, STDOUT_FILENO);
	dup2(saved_err, STDERR_FILENO);
	close(saved_out);
	close(saved_err);
	read_back(file_out, out, sizeof(out));
	read_back(file_err, err, sizeof(err));
}

#endif
