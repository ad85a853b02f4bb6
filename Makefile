# dray: one GNU Makefile, no recursion. `make help` lists what there is to do.
# CC, CFLAGS, LDFLAGS, OUT, SAN, J are the user's.
OUT ?= out
J ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PREFIX ?= /usr/local
SAN ?=
VERSION := 0.1.0

ifeq ($(origin CC),default)
CC := cc
endif
CFLAGS ?= -O2 -g

cc-option = $(shell $(CC) -Werror $(1) -c -x c /dev/null -o /dev/null 2>/dev/null && echo $(1))

WARN := -std=c17 -pedantic -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wundef -Wvla \
  -Wformat=2 -Wcast-qual -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes \
  -Wimplicit-fallthrough -Wswitch-enum -Werror
HARD := -fstack-protector-strong \
  $(call cc-option,-fstack-clash-protection) $(call cc-option,-fcf-protection=full) \
  $(call cc-option,-ftrivial-auto-var-init=zero) $(call cc-option,-fstrict-flex-arrays=3)
ifeq ($(SAN),)
HARD += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
SANFLAGS :=
else
SANFLAGS := -fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all
endif

OS := $(shell uname -s)
ifeq ($(OS),FreeBSD)
OSC := format/os_freebsd.c
else
OSC := format/os_linux.c
endif
# NOFAST=1 turns off exchange, syncfs and openat2, so that the other system's path is tested here
DEFS := -D_GNU_SOURCE -DDRAY_VERSION='"$(VERSION)"' $(if $(NOFAST),-DDRAY_OS_NOFAST)

CPPFLAGS_ALL := -Iformat -I. $(DEFS) $(CPPFLAGS)
CFLAGS_ALL := $(WARN) $(CFLAGS) -fPIE -pthread $(HARD) $(SANFLAGS)
LDFLAGS_ALL := -pthread -pie -Wl,-z,relro,-z,now,-z,noexecstack $(SANFLAGS) $(LDFLAGS)

FORMAT_C := $(sort $(filter-out format/os_linux.c format/os_freebsd.c,$(wildcard format/*.c)) $(OSC))
TOOL_C := $(sort $(wildcard format/tool/*.c))
BUILDER_C := $(sort $(wildcard builder/*.c))
INSTALLER_C := $(sort $(wildcard installer/*.c))
UNIT_C := $(sort $(wildcard tests/unit/test_*.c))
FUZZ_C := $(sort $(wildcard tests/fuzz/fuzz_*.c))
BENCH_C := $(sort $(wildcard tests/bench/bench_*.c))

obj = $(patsubst %.c,$(OUT)/%.o,$(1))
LIB := $(OUT)/libdray.a
TOOLLIB := $(OUT)/libdraytool.a
UNIT := $(patsubst tests/unit/%.c,$(OUT)/unit/%,$(UNIT_C))
FUZZ := $(patsubst tests/fuzz/%.c,$(OUT)/fuzz/%,$(FUZZ_C))
BENCH := $(patsubst tests/bench/%.c,$(OUT)/bench/%,$(BENCH_C))

FORMAT_LIBS := -lzstd -lcrypto -ljson-c
BUILDER_LIBS := $(FORMAT_LIBS)
# the static installer; a sanitizer cannot be linked statically, so SAN builds are dynamic
ifeq ($(SAN),)
INSTALLER_LD := -static-pie
else
INSTALLER_LD :=
endif

all: $(OUT)/dray $(OUT)/dray-install

$(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(LIB): $(call obj,$(FORMAT_C))
	@rm -f $@
	$(AR) rcsD $@ $^

$(TOOLLIB): $(call obj,$(TOOL_C))
	@rm -f $@
	$(AR) rcsD $@ $^

$(OUT)/dray: $(call obj,$(BUILDER_C)) $(TOOLLIB) $(LIB)
	$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS_ALL) $(BUILDER_LIBS)

$(OUT)/dray-install: $(call obj,$(INSTALLER_C)) $(TOOLLIB) $(LIB)
	$(CC) $(CFLAGS_ALL) $(INSTALLER_LD) -o $@ $^ $(LDFLAGS_ALL) $(FORMAT_LIBS)

$(OUT)/unit/%: $(OUT)/tests/unit/%.o $(call obj,$(filter-out installer/main.c,$(INSTALLER_C))) $(TOOLLIB) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS_ALL) $(FORMAT_LIBS)

.PHONY: all
-include $(shell find $(OUT) -name '*.d' 2>/dev/null)
