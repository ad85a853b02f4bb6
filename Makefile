# dray: one GNU Makefile, no recursion into folders. `make help` lists what there is to do.
# CC, CFLAGS, LDFLAGS, OUT, SAN, J, V, T, SECS, RUNS, PREFIX, DESTDIR are the user's.
SAN ?=
# each kind of build has its own folder
OUT ?= $(if $(findstring thread,$(SAN)),out-tsan,$(if $(SAN),out-asan,$(if $(NOFAST),out-nofast,out)))
J ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PREFIX ?= /usr/local
SECS ?= 60
RUNS ?= 0
VERSION := 0.1.0

ifeq ($(origin CC),default)
CC := cc
endif
ifeq ($(V),)
Q := @
say = @printf '  %-4s %s\n' $(1) $(2)
else
say = @:
endif
CFLAGS ?= -O2 -g

# without a compiler (a bare machine before setup.sh) the answer is "no" and nothing is printed
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
OSC := format/os_linux.c format/os_linux_fence.c
endif
# NOFAST=1 turns off exchange, syncfs and openat2, so that the other system's path is tested here
DEFS := -D_GNU_SOURCE -DDRAY_VERSION='"$(VERSION)"' $(if $(NOFAST),-DDRAY_OS_NOFAST)

CPPFLAGS_ALL := -Iformat -I. $(DEFS) $(CPPFLAGS)
CFLAGS_ALL := $(WARN) $(CFLAGS) -fPIE -pthread $(HARD) $(SANFLAGS)
LDFLAGS_ALL := -pthread -pie -Wl,-z,relro,-z,now,-z,noexecstack $(SANFLAGS) $(LDFLAGS)

FORMAT_C := $(sort $(filter-out format/os_linux%.c format/os_freebsd.c,$(wildcard format/*.c)) $(OSC))
TOOL_C := $(sort $(wildcard format/tool/*.c))
BUILDER_C := $(sort $(wildcard builder/*.c))
INSTALLER_C := $(sort $(filter-out installer/no_network.c,$(wildcard installer/*.c)))
UNIT_C := $(sort $(wildcard tests/unit/test_*.c))
# two of them make system calls of Linux by number
FUZZ_C := $(sort $(filter-out $(if $(filter Linux,$(OS)),,tests/fuzz/fuzz_plan.c tests/fuzz/fuzz_runner.c),$(wildcard tests/fuzz/fuzz_*.c)))
HOSTILE_C := $(sort $(wildcard tools/hostile/*.c))
BENCH_C := $(sort $(wildcard tests/bench/bench_*.c))

obj = $(patsubst %.c,$(OUT)/%.o,$(1))
LIB := $(OUT)/libdray.a
TOOLLIB := $(OUT)/libdraytool.a
BUILDLIB := $(OUT)/libdraybuild.a
INSTLIB := $(OUT)/libdrayinst.a
UNIT := $(patsubst tests/unit/%.c,$(OUT)/unit/%,$(UNIT_C))
FUZZ := $(patsubst tests/fuzz/%.c,$(OUT)/fuzz/%,$(FUZZ_C))
BENCH := $(patsubst tests/bench/%.c,$(OUT)/bench/%,$(BENCH_C))

FORMAT_LIBS := -lzstd -llzma -lcrypto -ljson-c -lz
BUILDER_LIBS := $(FORMAT_LIBS) -larchive -ldivsufsort -lbz2 -lcurl $(if $(filter Linux,$(OS)),-lresolv)
# the static installer; a sanitizer cannot be linked statically, so SAN builds are dynamic.
# no_network.o stands first and keeps sockets and resolver of the C library out (see there).
INSTALLER_LD :=
INSTALLER_FIRST :=
ifeq ($(SAN),)
# after all other flags: a -pie behind it would make the link dynamic again
INSTALLER_LD := -static-pie -Wl,-Map=$(OUT)/dray-install.map
ifeq ($(OS),Linux)
INSTALLER_LD += -Wl,--wrap=dlopen
INSTALLER_FIRST := $(OUT)/installer/no_network.o
endif
endif

all: $(OUT)/dray $(OUT)/dray-install

# rewritten when the flags change, so that objects of other flags are never mixed
$(OUT)/flags: force
	@mkdir -p $(@D)
	@printf '%s\n' '$(CC) $(subst ','\'',$(CPPFLAGS_ALL) $(CFLAGS_ALL))' | cmp -s - $@ || \
	    printf '%s\n' '$(CC) $(subst ','\'',$(CPPFLAGS_ALL) $(CFLAGS_ALL))' >$@

$(OUT)/%.o: %.c $(OUT)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(LIB): $(call obj,$(FORMAT_C))
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcsD $@ $^

# what people read besides the manual pages; installed, and those for the target are inside the installer too
GUIDES := $(addprefix spec/,quickstart.md recovery-card.md threats-operators.md threats.md cli.md apply.md bundle-format.md freebsd-update.md) \
  $(addprefix installer/,runbook-rack.md runbook-stick.md troubleshooting.md) builder/key-ceremony.md \
  $(sort $(wildcard spec/json/*.json))

# pages of the manual that the installer brings along
HELP := $(OUT)/gen/help
$(HELP).c: tools/help.sh installer/dray-install.8 $(wildcard spec/*.5) $(GUIDES) spec/cli.md
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)tools/help.sh >$@.new && mv $@.new $@

$(HELP).o: $(HELP).c $(OUT)/flags
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(TOOLLIB): $(call obj,$(TOOL_C))
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcsD $@ $^

$(OUT)/dray: $(call obj,$(BUILDER_C)) $(TOOLLIB) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS_ALL) $(BUILDER_LIBS)

$(OUT)/dray-install: $(INSTALLER_FIRST) $(call obj,$(INSTALLER_C)) $(HELP).o $(TOOLLIB) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS_ALL) $(INSTALLER_LD) $(FORMAT_LIBS)

# the same with allocations that fail; not static, so that they are our own ones (tests/fault/failmalloc.c)
$(OUT)/dray-install-alloc: $(call obj,$(INSTALLER_C) tests/fault/failmalloc.c) $(HELP).o $(TOOLLIB) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS_ALL) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc $(FORMAT_LIBS)

# archives, so that a unit test pulls only what it names: both commands have a cmd_verify
$(BUILDLIB): $(call obj,$(filter-out builder/main.c,$(BUILDER_C)))
	@rm -f $@
	$(Q)$(AR) rcsD $@ $^

$(INSTLIB): $(call obj,$(filter-out installer/main.c,$(INSTALLER_C))) $(HELP).o
	@rm -f $@
	$(Q)$(AR) rcsD $@ $^

$(OUT)/unit/%: $(OUT)/tests/unit/%.o $(INSTLIB) $(BUILDLIB) $(TOOLLIB) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS_ALL) $(BUILDER_LIBS)

# with SAN=fuzzer the main is libFuzzer's; otherwise one that replays files, so that any compiler will do
$(OUT)/fuzz/%: $(OUT)/tests/fuzz/%.o $(if $(findstring fuzzer,$(SAN)),,$(OUT)/tests/fuzz/replay_main.o) $(INSTLIB) $(BUILDLIB) $(TOOLLIB) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS_ALL) $(BUILDER_LIBS)

$(OUT)/bench/%: $(OUT)/tests/bench/%.o $(TOOLLIB) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS_ALL) $(BUILDER_LIBS)

$(OUT)/hostile: $(call obj,$(HOSTILE_C)) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS_ALL) $(FORMAT_LIBS)

# what the tests' own programs share
$(OUT)/unit/test_student: $(OUT)/tests/bench/student.o

# the recipe to take is found as apply finds it
$(OUT)/bench-limit: $(OUT)/tools/bench-limit.o $(INSTLIB) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS_ALL) $(FORMAT_LIBS)

$(OUT)/bench/summary: $(OUT)/tests/bench/summary.o $(OUT)/tests/bench/student.o
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS_ALL)

$(OUT)/killat: $(OUT)/tests/crash/killat.o $(OUT)/tests/crash/trace.o
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS_ALL)

$(OUT)/failat: $(OUT)/tests/fault/failat.o $(OUT)/tests/fault/calls.o $(OUT)/tests/crash/trace.o
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS_ALL)

$(OUT)/flog $(OUT)/freplay: $(OUT)/%: $(OUT)/tests/powercut/%.o
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS_ALL)

$(OUT)/peak: $(OUT)/tests/bench/peak.o
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS_ALL)

# --- what people call ----------------------------------------------------------------------------------------------

# a bare machine has no compiler when make starts: set up first, then let a second make look at the compiler
again = $(MAKE) --no-print-directory -j$(J) OUT=$(OUT)
run = OUT=$(OUT) SAN=$(SAN) NOFAST=$(NOFAST) J=$(J) T='$(T)'

test:
	@tools/setup.sh build test
	@$(again) test-programs
	@$(run) tests/run.sh

# the campaigns look at the release program on Linux
KILLAT := $(if $(filter Linux,$(OS)),$(if $(SAN),,$(addprefix $(OUT)/,killat flog freplay)))
FAILAT := $(if $(KILLAT),$(if $(filter x86_64,$(shell uname -m)),$(OUT)/failat))
test-programs: all $(UNIT) $(FUZZ) $(KILLAT) $(FAILAT) $(if $(filter Linux,$(OS)),$(OUT)/dray-install-alloc) $(OUT)/peak $(OUT)/hostile \
  $(OUT)/bench-limit $(OUT)/bench/summary

crash:
	@tools/setup.sh build test
	@$(again) all $(KILLAT)
	@$(run) tests/crash/crash.sh full
	@$(run) tests/crash/kills.sh full

powercut:
	@tools/setup.sh build test
	@$(again) all $(KILLAT) $(FAILAT)
	@$(run) tests/powercut/powercut.sh full

fault:
	@tools/setup.sh build test
	@$(again) all $(KILLAT) $(FAILAT)
	@$(run) tests/fault/fault.sh full

threads:
	@tools/setup.sh build test
	@$(again) all
	@OUT=$(OUT) tests/threads/threads.sh

surprise:
	@tools/setup.sh build test
	@$(again) all $(KILLAT) $(OUT)/peak
	@$(run) tests/surprise/surprise.sh full

hostile:
	@tools/setup.sh build test
	@$(again) all $(OUT)/hostile $(OUT)/peak
	@rm -rf $(OUT)/hostile-work
	@[ -n "$(T)$(SAN)" ] || OUT=$(OUT) tests/hostile/many.sh all || [ $$? = 77 ]
	@$(OUT)/hostile run tools/hostile/cases $(OUT)/dray-install $(OUT)/hostile-work $(T)

# all campaigns in full, hours; their words and numbers are kept
proof:
	@mkdir -p $(OUT)/proof
	@rc=0; for c in crash powercut fault hostile surprise threads fuzz; do \
	    f=$(OUT)/proof/$$(date -u +%Y-%m-%dT%H%M%SZ)-$$c.txt; \
	    { git log -1 --format='commit %H'; sha256sum $(OUT)/dray-install; } >$$f 2>/dev/null; \
	    if $(MAKE) --no-print-directory $$c >>$$f 2>&1; then r=passed; else r=FAILED rc=1; fi; \
	    echo "$$c: $$r, $$f: $$(grep -v '^make' $$f | tail -n 1)"; done; exit $$rc

lint:
	@tools/setup.sh build lint
	@$(again) all
	@$(run) CC='$(CC)' tools/lint.sh

demo:
	@tools/setup.sh build demo
	@$(again) all
	@OUT=$(OUT) tools/demo.sh

fuzz:
	@tools/setup.sh build fuzz
	@$(again) CC=clang SAN=fuzzer,address,undefined OUT=out-fuzz fuzz-programs
	@OUT=out-fuzz RUNS=$(RUNS) tests/fuzz/run.sh $(SECS) $(F)

fuzz-programs: $(FUZZ)

coverage:
	@tools/setup.sh build test
	@$(again) test-programs
	@OUT=$(OUT) J=$(J) tests/coverage.sh

bench:
	@tools/setup.sh build test
	@$(again) all bench-programs
	@$(run) tests/bench/run.sh

# against other programs and against limits, each by itself: hours with the whole trees (tests/README.md)
bench-size bench-build bench-apply bench-plan bench-scale:
	@tools/setup.sh build test bench
	@$(again) all bench-programs
	@$(run) TREES='$(TREES)' tests/bench/$(@:bench-%=%).sh

bench-programs: $(BENCH) $(OUT)/peak $(OUT)/bench-limit $(OUT)/bench/summary

vm:
	@tools/setup.sh build vm
	@$(again) all
	@OUT=$(OUT) tools/vm.sh

dist:
	@tools/setup.sh build
	@OUT=$(OUT) J=$(J) tools/dist.sh

deb:
	@tools/setup.sh build deb
	@OUT=$(OUT) J=$(J) tools/dist.sh deb

repro:
	@tools/setup.sh build test
	@$(again) all
	@OUT=$(OUT) TREES='$(TREES)' tools/repro.sh

setup:
	@tools/setup.sh build demo test lint fuzz

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib $(DESTDIR)$(PREFIX)/include/dray \
	    $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man5 $(DESTDIR)$(PREFIX)/share/man/man8
	install -m 755 $(OUT)/dray $(OUT)/dray-install $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(LIB) $(DESTDIR)$(PREFIX)/lib
	install -m 644 $(sort $(wildcard format/dray/*.h)) $(DESTDIR)$(PREFIX)/include/dray
	install -m 644 $(sort $(wildcard builder/*.1)) $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $(sort $(wildcard spec/*.5)) $(DESTDIR)$(PREFIX)/share/man/man5
	install -m 644 $(sort $(wildcard installer/*.8)) $(DESTDIR)$(PREFIX)/share/man/man8
	for f in $(GUIDES); do \
	    install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/doc/dray/$$f || exit 1; \
	done
	for p in dray dray-install; do \
	    install -D -m 644 tools/completion/dray.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/$$p && \
	    install -D -m 644 tools/completion/dray.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/$$p.fish || exit 1; \
	done
	install -D -m 644 tools/completion/_dray $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_dray

clean:
	rm -rf $(OUT)

help:
	@echo 'make                     build $(OUT)/dray and $(OUT)/dray-install (static)'
	@echo 'make demo                a real upgrade: build, sign, plan, apply, check, roll back'
	@echo 'make test [T=part]       all tests, or those whose name holds the text'
	@echo 'make lint                everything that is checked without running it'
	@echo 'make crash               kill the installer at every call that changes a file'
	@echo 'make powercut            what a disk may hold after a power cut, on ext4, xfs and btrfs, and the next run'
	@echo 'make fault               every system call of the installer that can fail does'
	@echo 'make hostile [T=part]    more than a thousand bundles of bad will against the installer'
	@echo 'make surprise            every command under strace: no socket, nothing written elsewhere; what each holds'
	@echo 'make threads             1, 2, 8 and 64 threads give one bundle, one plan and one tree, for 50 pairs of trees'
	@echo 'make proof               crash, powercut, fault, hostile, surprise, threads, fuzz in full, results kept in $(OUT)/proof (hours)'
	@echo 'make fuzz [SECS=60]      fuzz each parser for so long; RUNS=N: round after round, until there are N executions'
	@echo 'make coverage            how much of format/ the unit tests and the fuzz corpora reach'
	@echo 'make bench               the figures that the texts quote, without other programs'
	@echo 'make bench-size TREES=DIR, bench-build, bench-apply, bench-plan, bench-scale'
	@echo '                         size and time against other programs and against limits (by hand)'
	@echo 'make vm                  a whole system in a virtual machine: rescue, power cuts, quotas, casefold (by hand)'
	@echo 'make repro TREES=DIR     the same bytes in every way to build them'
	@echo 'make dist, make deb      source tarball, programs and checksums; Debian packages too'
	@echo 'make install [PREFIX=/usr/local] [DESTDIR=]'
	@echo 'make clean               remove $(OUT)'
	@echo 'SAN=address,undefined or SAN=thread, NOFAST=1, OUT=, J=, V=1 change the build'

force:
.PHONY: all test test-programs threads hostile crash powercut fault surprise proof dist deb lint demo fuzz fuzz-programs coverage bench bench-size bench-build bench-apply bench-plan bench-scale bench-programs vm repro setup install clean help force
.SECONDARY:
-include $(shell find $(addprefix $(OUT)/,format builder installer tests tools) -name '*.d' -type f 2>/dev/null)
