/*
 * replay_main.c - a main for fuzz targets: every file of the directories (or files) given goes through the target
 * once. So the corpora are part of `make test` with any compiler. In order of names, so that a failure repeats.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long count;

/* the whole file, in memory exactly as large, so that a sanitizer sees the first byte beyond it; NULL: could not */
static uint8_t *
read_whole(FILE *f, size_t *size)
{
	uint8_t *data;
	long end;

	if (fseek(f, 0, SEEK_END) != 0 || (end = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0)
		return NULL;
	*size = (size_t)end;
	if ((data = malloc(end != 0 ? (size_t)end : 1)) != NULL && fread(data, 1, *size, f) != *size) {
		free(data);
		data = NULL;
	}
	return data;
}

static int
replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t size = 0;

	if (f == NULL || (data = read_whole(f, &size)) == NULL)
		perror(path);
	if (f != NULL)
		fclose(f);
	if (data == NULL)
		return -1;
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	count++;
	return 0;
}

static int
replay(const char *path)
{
	struct dirent **names = NULL;
	struct stat st;
	int n, rc = 0;

	if (stat(path, &st) != 0) {
		perror(path);
		return -1;
	}
	if (!S_ISDIR(st.st_mode))
		return replay_file(path);
	if ((n = scandir(path, &names, NULL, alphasort)) < 0) {
		perror(path);
		return -1;
	}
	for (int i = 0; i < n; i++) {
		char file[4096];

		if (names[i]->d_name[0] != '.') {
			snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name);
			rc |= replay_file(file);
		}
		free(names[i]);
	}
	free(names);
	return rc;
}

int
main(int argc, char **argv)
{
	int rc = 0;

	for (int i = 1; i < argc; i++)
		rc |= replay(argv[i]);
	printf("%lu inputs replayed\n", count);
	return rc == 0 && count != 0 ? 0 : 1;
}
