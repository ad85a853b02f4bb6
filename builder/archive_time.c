/*
 * archive_time.c - times before 1970 with a fraction. libarchive (3.6 and others) reads the "-1.25" of a pax header as
 * second -1 and 0.25 s, which is -0.75. Whether the one at hand does is asked of itself, with an archive of one member.
 */
#include <stdio.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>

#include "builder/archive.h"

#define BLOCK 512u

/* a ustar header of @size bytes of data */
static void
put_header(char *p, char type, unsigned size)
{
	unsigned sum = 0;
	char field[16];

	memcpy(p, "a", 1);
	memcpy(p + 100, "0000644", 7);
	memcpy(p + 108, "0000000", 7);
	memcpy(p + 116, "0000000", 7);
	snprintf(field, sizeof(field), "%011o", size);
	memcpy(p + 124, field, 11);
	memcpy(p + 136, "00000000000", 11);
	memset(p + 148, ' ', 8);
	p[156] = type;
	memcpy(p + 257, "ustar\0" "00", 8);
	for (size_t i = 0; i < BLOCK; i++)
		sum += (unsigned char)p[i];
	snprintf(field, sizeof(field), "%06o", sum);
	memcpy(p + 148, field, 7);
}

bool
build_archive_time_flaw(void)
{
	static const char record[] = "15 mtime=-1.25\n";
	char tar[5 * BLOCK] = { 0 };
	struct archive *a = archive_read_new();
	struct archive_entry *en;
	bool flaw = false;

	put_header(tar, 'x', sizeof(record) - 1);
	memcpy(tar + BLOCK, record, sizeof(record) - 1);
	put_header(tar + 2 * BLOCK, '0', 0);
	if (a != NULL && archive_read_support_format_tar(a) == ARCHIVE_OK &&
	    archive_read_open_memory(a, tar, sizeof(tar)) == ARCHIVE_OK && archive_read_next_header(a, &en) == ARCHIVE_OK)
		flaw = archive_entry_mtime(en) == -1 && archive_entry_mtime_nsec(en) == 250000000;
	archive_read_free(a);
	return flaw;
}
