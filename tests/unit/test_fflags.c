/* test_fflags.c - file flags as numbers of each system, and as words */
#include "dray/fflags.h"

#include "test.h"

static void
numbers_of_freebsd(void)
{
	CHECK_EQ(dray_fflags_of("freebsd", 0400000), DRAY_FF_IMMUTABLE);
	CHECK_EQ(dray_fflags_of("freebsd", 01000000), DRAY_FF_APPEND);
	CHECK_EQ(dray_fflags_of("freebsd", 04000), 0);	/* uarch */
	CHECK_EQ(dray_fflags_known("freebsd"), 127);
	for (unsigned f = 0; f < 128; f++)
		CHECK_EQ(dray_fflags_of("freebsd", dray_fflags_raw("freebsd", (uint8_t)f)), f);
}

static void
owner_flags_become_those_of_root_on_linux(void)
{
	CHECK_EQ(dray_fflags_known("linux"), DRAY_FF_IMMUTABLE | DRAY_FF_APPEND | DRAY_FF_NODUMP);
	CHECK_EQ(dray_fflags_raw("linux", DRAY_FF_UIMMUTABLE | DRAY_FF_NODUMP), 0x50);
	CHECK_EQ(dray_fflags_raw("linux", DRAY_FF_UAPPEND), 0x20);
	CHECK_EQ(dray_fflags_raw("linux", DRAY_FF_NOUNLINK | DRAY_FF_UNOUNLINK), 0);
}

static void
no_system_has_none(void)
{
	CHECK_EQ(dray_fflags_known("any"), 0);
	CHECK_EQ(dray_fflags_raw("any", 127), 0);
	CHECK_EQ(dray_fflags_of("any", UINT32_MAX), 0);
}

static void
words(void)
{
	char t[DRAY_FF_TEXT];

	CHECK_STR(dray_fflags_text(0, t), "none");
	CHECK_STR(dray_fflags_text(DRAY_FF_NODUMP | DRAY_FF_IMMUTABLE, t), "schg,nodump");
	CHECK_STR(dray_fflags_text(127, t), "sappnd,schg,sunlnk,uappnd,uchg,uunlnk,nodump");
}

int
main(void)
{
	RUN(numbers_of_freebsd);
	RUN(owner_flags_become_those_of_root_on_linux);
	RUN(no_system_has_none);
	RUN(words);
	return test_done();
}
