#!/bin/sh
# run.sh - the test runner: unit programs, cli scripts, fuzz corpora, the short forms of the campaigns
#   OUT=out T=part J=2 SAN= tests/run.sh       (make test sets these)
# Each test writes a log beside its verdict; logs of failed ones are shown. Ends with "N passed, N failed" alone on
# the last line; exit 1 unless something passed and nothing failed. tests/README.md tells what a test must print.
set -u
cd "$(dirname "$0")/.." || exit 1

if [ $# != 0 ] && [ "$1" != --one ]; then
	echo "usage: T=part tests/run.sh" >&2	# else what was meant for one test would be all of them
	exit 2
fi
OUT=${OUT:-out} T=${T:-} J=${J:-2} SAN=${SAN:-} NOFAST=${NOFAST:-}
LIMIT=${LIMIT:-300}	# seconds for one test
case $OUT in
/*) ;;
*) OUT=$PWD/$OUT ;;
esac
export OUT SAN NOFAST LIMIT
export LC_ALL=C TZ=UTC
DRAY=$OUT/dray INSTALL=$OUT/dray-install TOP=$PWD
export DRAY INSTALL TOP
# codes of their own, so that no sanitizer report passes for an exit status of ours
: "${ASAN_OPTIONS:=exitcode=99:detect_leaks=1:abort_on_error=0:strict_string_checks=1}"
: "${LSAN_OPTIONS:=exitcode=99}"
: "${UBSAN_OPTIONS:=exitcode=99:print_stacktrace=1}"
: "${TSAN_OPTIONS:=exitcode=99:halt_on_error=1:second_deadlock_stack=1}"
export ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS

# one test: run.sh --one KIND/NAME LOGDIR; writes LOGDIR/KIND.NAME.{log,ok,bad,skip}
one() {
	kind=${1%%/*} name=${1#*/} dir=$2
	base=$dir/$kind.$name
	start=$(date +%s)
	case $kind in
	unit) timeout -k 5 "$LIMIT" "$OUT/unit/$name" >"$base.log" 2>&1 ;;
	cli) timeout -k 5 "$LIMIT" sh "tests/cli/$name.sh" >"$base.log" 2>&1 ;;
	fuzz) timeout -k 5 "$LIMIT" "$OUT/fuzz/$name" "tests/fuzz/corpus/${name#fuzz_}" >"$base.log" 2>&1 ;;
	kills) timeout -k 10 $((LIMIT * 2)) sh tests/crash/kills.sh "$name" >"$base.log" 2>&1 ;;
	crash | powercut | fault) timeout -k 10 $((LIMIT * 2)) sh "tests/$kind/$kind.sh" "$name" >"$base.log" 2>&1 ;;
	esac </dev/null
	rc=$?
	took=$(($(date +%s) - start))
	if [ "$kind" = unit ]; then
		# one verdict for each function; a program that dies between two of them is one failure more
		ok=$(grep -c '^ok ' "$base.log") bad=$(grep -c '^not ok ' "$base.log")
		if { [ "$rc" != 0 ] && [ "$bad" = 0 ]; } || [ $((ok + bad)) = 0 ]; then
			bad=$((bad + 1))
			echo "# $1: ended with status $rc after $ok passed" >>"$base.log"
		fi
	elif [ $rc = 77 ]; then
		ok=0 bad=0
		cp "$base.log" "$base.skip"
	else
		ok=$((rc == 0)) bad=$((rc != 0))
	fi
	if [ $rc = 124 ] || [ $rc = 137 ]; then
		echo "# $1: stopped after $took s" >>"$base.log"
	fi
	echo "$ok $bad" >"$base.count"
	if [ -e "$base.skip" ]; then
		verdict=skip
	elif [ "$bad" = 0 ]; then
		verdict=ok
	else
		verdict="NOT OK"
		mv "$base.log" "$base.failed"
	fi
	# one write for each line: two tests run at a time
	if [ "$kind" = unit ] && [ "$bad" = 0 ]; then
		printf '%-6s %s (%s, %s s)\n' "$verdict" "$1" "$ok" "$took"
	else
		printf '%-6s %s (%s s)\n' "$verdict" "$1" "$took"
	fi
}

# the long ones first, so that the second core has work to the end
list() {
	if [ -z "$SAN" ]; then
		echo crash/short
		echo kills/short
		echo powercut/short
		echo fault/short
	fi
	for f in tests/cli/*.sh; do
		name=${f#tests/cli/} name=${name%.sh}
		case $name in
		'*' | lib) continue ;;
		# the release program alone is static, and a sanitizer opens files of its own
		static-* | no-surprise-*) [ -z "$SAN" ] || continue ;;
		esac
		echo "cli/$name"
	done
	for f in "$OUT"/fuzz/fuzz_*; do
		[ ! -f "$f" ] || [ ! -x "$f" ] || echo "fuzz/${f##*/}"
	done
	for f in tests/unit/test_*.c; do
		[ ! -e "$f" ] || { f=${f##*/} && echo "unit/${f%.c}"; }
	done
}

if [ "${1:-}" = --one ]; then
	one "$2" "$3"
	exit 0
fi

began=$(date +%s)
logs=$OUT/test-logs
rm -rf "$logs"
mkdir -p "$logs" || exit 1
list | grep -F -e "$T" >"$logs/list"
if [ ! -s "$logs/list" ]; then
	echo "no test has '$T' in its name" >&2
	exit 1
fi
[ -z "$SAN" ] || echo "with -fsanitize=$SAN; not run: crash, kills, powercut, fault, static-*, no-surprise-* (they need the release program)"
xargs -P "$J" -I '{}' "$0" --one '{}' "$logs" <"$logs/list"

passed=0 failed=0 skipped=0
while read -r t; do
	base=$logs/$(echo "$t" | sed 's,/,.,')
	if ! read -r ok bad 2>/dev/null <"$base.count"; then
		ok=0 bad=1
		echo "# $t: the runner left no verdict" >"$base.failed"
	fi
	passed=$((passed + ok)) failed=$((failed + bad))
	if [ -e "$base.failed" ]; then
		printf '\n--- %s\n' "$t"
		tail -n 60 "$base.failed"
	elif [ -e "$base.skip" ]; then
		skipped=$((skipped + 1))
		printf '\n--- %s skipped: %s\n' "$t" "$(tail -n 1 "$base.skip")"
	fi
done <"$logs/list"

echo
# once more and last, for those who see only the end of it
find "$logs" -name '*.failed' -exec grep -H -E '^(NOT OK|not ok|# )' {} + | cut -c "$((${#logs} + 2))-" | head -n 40
echo "tests took $(($(date +%s) - began)) s; logs are in ${logs#"$TOP"/}"
if [ $skipped = 0 ]; then
	echo "$passed passed, $failed failed"
else
	echo "$passed passed, $failed failed, $skipped skipped"
fi
[ $failed = 0 ] && [ $passed -gt 0 ]
