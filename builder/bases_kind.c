/*
 * bases_kind.c - what kind of content it is, from its first bytes.
 */
#include <string.h>

#include "builder/bases.h"
#include "dray/num.h"

static enum build_kind
kind_of_elf(const uint8_t *p, size_t len)
{
	bool little = len > 5 && p[5] == 1;
	unsigned type = little ? dray_get_u16(p + 16) : p[17] | (unsigned)p[16] << 8;
	unsigned machine = little ? dray_get_u16(p + 18) : p[19] | (unsigned)p[18] << 8;

	if (type != 2 && type != 3)	/* ET_EXEC, ET_DYN */
		return BUILD_OBJECT;
	return machine == 62 ? BUILD_PROGRAM_X86 : BUILD_PROGRAM;	/* EM_X86_64: bundle-format.md 6.5 */
}

enum build_kind
build_kind_of(const uint8_t *p, size_t len)
{
	static const struct { const char *magic; uint8_t len; uint8_t kind; } known[] = {
		{ "\xde\x12\x04\x95", 4, BUILD_CATALOGUE }, { "\x95\x04\x12\xde", 4, BUILD_CATALOGUE },
		{ "\x1f\x8b", 2, BUILD_DENSE }, { "\xfd" "7zXZ", 5, BUILD_DENSE }, { "BZh", 3, BUILD_DENSE },
		{ "\x28\xb5\x2f\xfd", 4, BUILD_DENSE }, { "\x89PNG", 4, BUILD_DENSE }, { "PK\x03\x04", 4, BUILD_DENSE },
		{ "\xff\xd8\xff", 3, BUILD_DENSE },
	};

	if (len >= 20 && memcmp(p, "\x7f" "ELF", 4) == 0)
		return kind_of_elf(p, len);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (len >= known[i].len && memcmp(p, known[i].magic, known[i].len) == 0)
			return (enum build_kind)known[i].kind;
	return memchr(p, 0, len < 4096 ? len : 4096) == NULL ? BUILD_TEXT : BUILD_BINARY;
}
