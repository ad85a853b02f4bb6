#!/bin/sh
# lint.sh - everything that is checked without running it; make lint calls it after a build
#   OUT=out J=2 tools/lint.sh [check...]      checks: see the list at the end; default: all
# Each check prints "ok" or "NOT OK" with its findings; the last line counts them.
# shellcheck disable=SC2046,SC2086 # the tree's file names have no blanks: lists of them are split on purpose
set -u
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 1

OUT=${OUT:-out} J=${J:-2} SAN=${SAN:-}
# the version is a string where it matters; here its presence is enough
INCLUDES='-Iformat -I. -D_GNU_SOURCE -DDRAY_VERSION=__FILE__'
WARN='-std=c17 -pedantic -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wundef -Werror -Wno-unused-function'
SCRATCH=$OUT/lint MARKS=${XDG_CACHE_HOME:-${HOME:-$OUT}/.cache}/dray-lint
mkdir -p "$SCRATCH" "$MARKS" || exit 1

product() {
	find format builder installer -name '*.c' ! -name os_freebsd.c | sort
}

sources() {	# of the product and of the tests
	find format builder installer tests tools -name '*.c' | sort
}

headers() {
	find format builder installer tests tools -name '*.h' | sort
}

scripts() {
	find tools tests -name '*.sh' | sort
	echo .ci/run
}

# each check prints its findings and nothing else

check_headers() {	# twice, so that the guard is tested too; alone, so that it names all it needs
	for cc in gcc clang; do
		for h in $(headers); do
			printf '#include "%s"\n#include "%s"\n' "$h" "$h" >"$SCRATCH/alone.c"
			$cc $WARN $INCLUDES -fsyntax-only "$SCRATCH/alone.c" 2>&1 | head -n 5
		done
	done
}

# prefixed PATTERN FILE... - exported names that do not match
prefixed() {
	pattern=$1
	shift
	for o; do
		[ ! -e "$o" ] || nm -g --defined-only "$o" 2>/dev/null | awk -v p="$pattern" -v o="$o" \
		    'NF == 3 && $2 ~ /^[TDBRCVW]$/ && $3 !~ p && $3 !~ /^_?_(asan|odr_asan|ubsan|tsan)/ { print o ": exports " $3 }'
	done
}

check_symbols() {
	prefixed '^(dray_|os_)' "$OUT/libdray.a"
	prefixed '^tool_' "$OUT/libdraytool.a"
	prefixed '^(build_|cmd_|main$)' "$OUT"/builder/*.o
	for o in "$OUT"/installer/*.o; do
		[ "${o##*/}" = no_network.o ] || prefixed '^(inst_|cmd_|main$)' "$o"
	done
}

check_systems() {	# Linux and FreeBSD live in os_*.c
	grep -nE '^[[:space:]]*#[[:space:]]*(if|ifdef|ifndef|elif).*(linux|FreeBSD|__APPLE__|_WIN32|__unix__|__GLIBC__)' \
	    $(product | grep -v '^format/os_') $(headers)
	grep -nE '#[[:space:]]*include[[:space:]]*<(linux/|sys/(syscall|xattr|extattr|sysmacros|vfs|prctl|mount|acl|capability|inotify|epoll|sendfile|random|statfs|param|sysctl)\.h)' \
	    $(product | grep -v '^format/os_') $(headers)
}

# only PATTERN WHERE - include lines that match PATTERN in files that do not match WHERE
only() {
	grep -nE "#[[:space:]]*include[[:space:]]*[<\"]($1)" $(sources | grep -vE "$2") $(headers | grep -vE "$2")
}

check_doors() {	# each package has one door; a test may knock on it to judge the result independently
	only 'json-c/|json\.h>' '^format/json_in\.h$'
	only 'openssl/' '^format/(digest|pubkey|key|sign|trust)[a-z_]*\.[ch]$|^tests/'
	only 'zstd' '^format/(frame|delta)[a-z_]*\.[ch]$|^tests/'
	only 'archive\.h>|archive_entry|curl/' '^builder/'
	only 'zlib\.h>' '^builder/|^format/gzip\.c$|^tests/'
	only 'bzlib' '^builder/bspatch\.c$|^tests/'
	only 'divsufsort' '^format/delta_match\.c$'
	only 'libxml' '^$'
}

check_installer() {	# what dray-install is made of
	if [ -n "$SAN" ]; then
		return
	fi
	[ -e "$OUT/dray-install" ] || echo "$OUT/dray-install is not built"
	nm "$OUT/dray-install" 2>/dev/null | awk '
	    $NF ~ /^(archive_(read|write|entry)|curl_|BZ2_|xml[A-Z]|lzma_(lz_encoder|lzma2?_encoder|easy_|alone_|stream_|index_)|deflate(Init|Bound|$))/ { print "foreign code: " $NF }
	    $NF ~ /^(dray_key_|dray_encode|dray_iw_)/ { print "builder code: " $NF }'
	grep -oE '[a-z./-]*builder/[a-z_]+\.o' "$OUT/dray-install.map" | sort -u | sed 's/^/builder code: /'
	# archives of the link map; libc and libgcc are the compiler's
	awk '/^Archive member included/ { on = 1; next } /^(Discarded|Memory|There are|Merging|As-needed)/ { on = 0 }
	    on && match($1, /lib[a-zA-Z0-9_+-]*\.a\(/) { print substr($1, RSTART, RLENGTH - 1) }' "$OUT/dray-install.map" |
	    sort -u | grep -vxE 'lib(dray|draytool|zstd|lzma|crypto|json-c|z|c|gcc|gcc_eh|pthread|m|dl)\.a' | sed 's/^/links /'
}

check_length() {
	for f in $(sources) $(headers) $(scripts); do
		n=$(wc -l <"$f")
		[ "$n" -le 500 ] || echo "$f: $n lines: look for the second job and split"
	done
}

check_words() {
	# the words are put together here, so that this file does not find itself
	git grep -nIE "\\b(TO""DO|FIX""ME|XX""X)\\b" -- . ':!tests/data' ':!tests/fuzz/corpus'
	git grep -nIE '[[:blank:]]+$' -- '*.c' '*.h' '*.sh' '*.md' Makefile .ci
}

check_map() {
	tools/map.sh check
}

check_text() {	# what people read on a terminal: 76 columns in man pages is mandoc's business
	for f in builder/*.1 installer/*.8 spec/*.5; do
		[ ! -e "$f" ] || mandoc -Tlint -W warning "$f"
	done
}

check_scripts() {
	shellcheck -s sh -S warning $(scripts | grep -v '^tests/cli/')
	# the tests' words come from lib.sh, which shellcheck cannot follow (2034, 2154); every sh that runs them has
	# `test -ef` and `ulimit -v` (3013, 3045)
	shellcheck -s sh -S warning -e SC2034,SC2154,SC3013,SC3045 tests/cli/*.sh
}

check_cppcheck() {
	# suppressed: parts of C that it cannot parse, and a rule that gcc's -Wsequence-point knows better. Tests run under
	# sanitizers instead
	cppcheck --quiet --std=c11 -j "$J" --enable=warning,performance,portability --inline-suppr \
	    --suppress=missingIncludeSystem --suppress=internalAstError --suppress=unknownEvaluationOrder \
	    --error-exitcode=0 \
	    --template='{file}:{line}: {id}: {message}' $INCLUDES $(product) 2>&1
}

# what a verdict of clang-tidy hangs on: the file, all headers of ours that it takes in, the set of checks, the version
tidy_key() {
	{
		clang-tidy --version
		cat .clang-tidy $(gcc $INCLUDES -MM "$1" | sed 's/^[^:]*://; s/\\$//')
	} | sha256sum | cut -d ' ' -f 1
}

# one file of check_tidy; what passed leaves a mark, shared by all checkouts, and is not looked at again while its key stays
tidy_one() {
	mark=$MARKS/$(tidy_key "$1")
	[ ! -e "$mark" ] || return 0
	log=$SCRATCH/tidy.$(echo "$1" | tr / .).log
	if timeout 120 clang-tidy --quiet "$1" -- -std=c17 $INCLUDES >"$log" 2>/dev/null; then
		: >"$mark"
	else
		grep -E '(warning|error):' "$log" || echo "$1: clang-tidy failed or took longer than 120 s"
	fi
}

check_tidy() {
	product | xargs -P "$J" -I '{}' "$0" --tidy '{}'
}

if [ "${1:-}" = --tidy ]; then
	tidy_one "$2"
	exit 0
fi

checks='headers symbols systems doors installer length words map text scripts cppcheck tidy'
[ $# = 0 ] || checks=$*
bad=0 n=0
for c in $checks; do
	n=$((n + 1))
	found=$("check_$c" 2>&1)
	if [ -z "$found" ]; then
		echo "ok     $c"
	else
		bad=$((bad + 1))
		echo "NOT OK $c"
		echo "$found" | head -n 60 | sed 's/^/       /'
	fi
done
echo "lint: $n checks, $bad not ok"
[ $bad = 0 ]
