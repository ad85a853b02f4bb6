#!/bin/sh
# run.sh - fuzz targets, one after the other: OUT=out-fuzz tests/fuzz/run.sh [SECS [NAME]...]   (make fuzz builds and calls it)
# Each for SECS seconds. With RUNS=N it goes on, round after round, until they have N executions in all; a target that has made
# a seventh of N (or SHARE=M) rests from then on, so that the quick ones do not make up for the others.
# Starts from tests/fuzz/corpus/NAME; what is new goes to OUT/corpus/NAME, what crashes to OUT/crashes. An input that found
# something belongs into tests/fuzz/corpus/NAME as bad-WHAT, with the fix. A target that found something is not started again.
set -u
cd "$(dirname "$0")/../.." || exit 1
OUT=${OUT:-out-fuzz} SECS=${1:-60} RUNS=${RUNS:-0}
SHARE=${SHARE:-$((RUNS / 7))}
[ $# = 0 ] || shift
failed=0 n=0 total=0 round=0
report=$OUT/fuzz-$(date +%Y-%m-%d).txt counts=$OUT/counts
# freed memory is kept from use for so long, of a call's stack so much is told: more costs half of the speed and shows nothing more
# of inputs of some kilobytes
export ASAN_OPTIONS="${ASAN_OPTIONS:-quarantine_size_mb=8:malloc_context_size=6:allocator_release_to_os_interval_ms=-1}"

# bytes of an input: as many as the shapes of a kind need, because time goes by them
max_len() {
	case $1 in
	archive | container | gzip) echo 16384 ;;
	export) echo 8192 ;;
	delta | filter_x86 | slot | tar) echo 512 ;;
	acl | volume) echo 256 ;;
	glob) echo 81 ;;
	plan) echo 64 ;;
	gunzip | json | merge3 | policy | runner | srv | text) echo 1024 ;;
	*) echo 4096 ;;
	esac
}

count() {
	cat "$counts/$1" 2>/dev/null || echo 0
}

# one round of target $1, of at most $2 executions; 0: all of them
fuzz() {
	mkdir -p "$OUT/corpus/$1" "tests/fuzz/corpus/$1" || exit 1
	set -- "$1" "$2" "$OUT/$1.log"
	"$OUT/fuzz/fuzz_$1" -max_total_time="$SECS" -runs="$2" -timeout=25 -rss_limit_mb=2048 -max_len="$(max_len "$1")" \
	    -print_final_stats=1 -artifact_prefix="$OUT/crashes/$1-" "$OUT/corpus/$1" "tests/fuzz/corpus/$1" >"$3" 2>&1 || touch "$counts/$1.bad"
	got=$(sed -n 's/^stat::number_of_executed_units: *//p' "$3" | tail -n 1)
	echo $(($(count "$1") + ${got:-0})) >"$counts/$1"
	total=$((total + ${got:-0}))
}

mkdir -p "$OUT/crashes" || exit 1
rm -rf "$counts"
mkdir "$counts" || exit 1
names=
for f in "$OUT"/fuzz/fuzz_*; do
	[ -f "$f" ] && [ -x "$f" ] || continue
	case " $* " in
	"  " | *" ${f##*/fuzz_} "*) names="$names ${f##*/fuzz_}" n=$((n + 1)) ;;
	esac
done
while [ $round = 0 ] || { [ $total -lt "$RUNS" ] && [ $ran -gt 0 ]; }; do
	ran=0 round=$((round + 1))
	for name in $names; do
		left=-1		# no bound
		if [ "$RUNS" != 0 ]; then
			left=$((SHARE - $(count "$name")))
			[ $left -gt 0 ] || continue
		fi
		[ ! -f "$counts/$name.bad" ] || continue
		fuzz "$name" $left
		ran=$((ran + 1))
	done
	[ "$RUNS" = 0 ] || echo "round $round: $total executions"
done
for name in $names; do
	verdict=ok
	if [ -f "$counts/$name.bad" ]; then
		verdict="not ok"
		failed=$((failed + 1))
	fi
	echo "$verdict $name: $(count "$name") executions; $OUT/$name.log" | tee -a "$report"
done
times | tail -n 1 | sed 's/\([0-9]*m[0-9.]*s\) \([0-9]*m[0-9.]*s\)/processor time: \1 in the targets, \2 in the kernel for them/' | tee -a "$report"
echo "$total executions of $n targets, $round rounds of $SECS s each, $(date -u +%Y-%m-%dT%H:%MZ)" | tee -a "$report"
echo "$((n - failed)) passed, $failed failed"
[ $failed = 0 ] && [ $n -gt 0 ]
