#!/bin/sh
# coverage.sh - which lines of format/ the unit tests and the fuzz corpora reach; make coverage calls it
#   OUT=out J=2 CC=cc tests/coverage.sh       after make test-programs
# The library is compiled once more, with gcc's counters, and the test programs of OUT are linked with it. One line for each
# file, the least covered first, and the total in the end; what never ran is in OUT/coverage/NAME.c.gcov, marked #####.
set -u
export LC_ALL=C TZ=UTC
cd "$(dirname "$0")/.." || exit 1

OUT=${OUT:-out} J=${J:-2} CC=${CC:-gcc}
case $OUT in
/*) ;;
*) OUT=$PWD/$OUT ;;
esac
COV=$OUT/coverage
DRAY_COUNTERS=$COV	# a test that gives up writing keeps this folder (unit/child.h)
LIBS='-lzstd -llzma -lcrypto -ljson-c -larchive -ldivsufsort -lz -lbz2 -lcurl -lresolv'
export OUT COV CC LIBS DRAY_COUNTERS

case ${1:-} in
--compile)	# one file of the library
	exec "$CC" -std=c17 -Iformat -I. -D_GNU_SOURCE -DDRAY_VERSION='"0"' -O1 -g --coverage -fPIE -pthread -c \
	    -o "$COV/$(basename "$2" .c).o" "$2"
	;;
--run)		# one test program: KIND/NAME
	name=${2##*/} kind=${2%%/*}
	main=
	[ "$kind" = unit ] || main=$OUT/tests/fuzz/replay_main.o
	# shellcheck disable=SC2086 # lists
	"$CC" --coverage -pthread -pie -o "$COV/$name" "$OUT/tests/$2.o" $main "$OUT/tests/bench/student.o" \
	    "$OUT/libdrayinst.a" "$OUT/libdraybuild.a" "$OUT/libdraytool.a" "$COV/libdray.a" $LIBS || exit 1
	corpus=
	[ "$kind" = unit ] || corpus=tests/fuzz/corpus/${name#fuzz_}
	# shellcheck disable=SC2086
	timeout 1200 "$COV/$name" $corpus >"$COV/$name.log" 2>&1 </dev/null || echo "$2 failed: see $COV/$name.log" >&2
	rm -f "$COV/$name"
	exit 0
	;;
esac

rm -rf "$COV"
mkdir -p "$COV" || exit 1
find format -maxdepth 1 -name '*.c' ! -name os_freebsd.c | sort >"$COV/files"
xargs -P "$J" -n 1 "$0" --compile <"$COV/files" || exit 1
ar rcs "$COV/libdray.a" "$COV"/*.o || exit 1
find tests/unit tests/fuzz -name 'test_*.c' -o -name 'fuzz_*.c' | sed 's,^tests/,,; s,\.c$,,' | sort >"$COV/programs"
xargs -P "$J" -n 1 "$0" --run <"$COV/programs" || exit 1

while read -r f; do
	gcov -o "$COV" "$COV/$(basename "$f" .c).o" 2>/dev/null | awk -v f="$f" '
	    $1 == "File" { on = $2 == "'"'"'" f "'"'"'" }
	    on && /^Lines executed/ { split($0, a, /[:% ]+/); n = a[5]; printf "%d %d %s\n", a[3] * n / 100 + 0.5, n, f; on = 0 }'
	find . -maxdepth 1 -name '*.gcov' ! -name "$(basename "$f").gcov" -exec rm -f {} +
	mv "$(basename "$f").gcov" "$COV" 2>/dev/null
done <"$COV/files" >"$COV/counts"
awk '{ printf "%5.1f %% of %4d  %s\n", 100 * $1 / $2, $2, $3 }' "$COV/counts" | sort -n
awk '{ ran += $1; all += $2 }
    END { printf "coverage: %.1f %% of format/, %d of %d lines\n", 100 * ran / all, ran, all; exit all == 0 }' "$COV/counts"
