/*
 * fflags.c - file flags of FreeBSD and of Linux, as numbers of a bundle and as words.
 */
#include <stddef.h>
#include <string.h>

#include "dray/fflags.h"

/* Source: <sys/stat.h> of FreeBSD, <linux/fs.h>; the words are those of strtofflags(3) */
static const struct known { uint8_t bit; uint32_t freebsd, linux_; const char *word; } known[] = {
	{ DRAY_FF_APPEND, 0x40000, 0x20, "sappnd" },
	{ DRAY_FF_IMMUTABLE, 0x20000, 0x10, "schg" },
	{ DRAY_FF_NOUNLINK, 0x100000, 0, "sunlnk" },
	{ DRAY_FF_UAPPEND, 0x4, 0, "uappnd" },
	{ DRAY_FF_UIMMUTABLE, 0x2, 0, "uchg" },
	{ DRAY_FF_UNOUNLINK, 0x10, 0, "uunlnk" },
	{ DRAY_FF_NODUMP, 0x1, 0x40, "nodump" },
};

static uint32_t
raw_of(const char *os, const struct known *k)
{
	return strcmp(os, "freebsd") == 0 ? k->freebsd : strcmp(os, "linux") == 0 ? k->linux_ : 0;
}

uint8_t
dray_fflags_known(const char *os)
{
	return dray_fflags_of(os, UINT32_MAX);
}

uint8_t
dray_fflags_of(const char *os, uint32_t raw)
{
	unsigned fflags = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if ((raw & raw_of(os, &known[i])) != 0)
			fflags |= known[i].bit;
	return (uint8_t)fflags;
}

uint32_t
dray_fflags_raw(const char *os, uint8_t fflags)
{
	uint8_t missing = (uint8_t)(fflags & ~dray_fflags_known(os));
	uint32_t raw = 0;

	if ((missing & DRAY_FF_UIMMUTABLE) != 0)
		fflags |= DRAY_FF_IMMUTABLE;
	if ((missing & DRAY_FF_UAPPEND) != 0)
		fflags |= DRAY_FF_APPEND;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if ((fflags & known[i].bit) != 0)
			raw |= raw_of(os, &known[i]);
	return raw;
}

const char *
dray_fflags_text(uint8_t fflags, char out[DRAY_FF_TEXT])
{
	size_t at = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t n = strlen(known[i].word);

		if ((fflags & known[i].bit) == 0)
			continue;
		if (at > 0)
			out[at++] = ',';
		memcpy(out + at, known[i].word, n);
		at += n;
	}
	if (at == 0) {
		memcpy(out, "none", 4);
		at = 4;
	}
	out[at] = '\0';
	return out;
}
