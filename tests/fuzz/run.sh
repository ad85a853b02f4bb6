#!/bin/sh
# run.sh - each fuzz target for so many seconds: OUT=out-fuzz tests/fuzz/run.sh [SECS [NAME]...]   (make fuzz builds and calls it)
# Starts from tests/fuzz/corpus/NAME; what is new goes to OUT/corpus/NAME, what crashes to OUT/crashes. An input that found
# something belongs into tests/fuzz/corpus/NAME as bad-WHAT, with the fix.
set -u
cd "$(dirname "$0")/../.." || exit 1
OUT=${OUT:-out-fuzz} SECS=${1:-60}
[ $# = 0 ] || shift
failed=0 n=0 total=0
report=$OUT/fuzz-$(date +%Y-%m-%d).txt

mkdir -p "$OUT/crashes" || exit 1
for f in "$OUT"/fuzz/fuzz_*; do
	if [ ! -f "$f" ] || [ ! -x "$f" ]; then
		continue
	fi
	name=${f##*/fuzz_}
	case " $* " in
	"  " | *" $name "*) ;;
	*) continue ;;
	esac
	mkdir -p "$OUT/corpus/$name" "tests/fuzz/corpus/$name" || exit 1
	if "$f" -max_total_time="$SECS" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 -artifact_prefix="$OUT/crashes/$name-" \
	    "$OUT/corpus/$name" "tests/fuzz/corpus/$name" >"$OUT/$name.log" 2>&1; then
		verdict=ok
	else
		verdict="not ok"
		failed=$((failed + 1))
	fi
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$OUT/$name.log" | tail -n 1)
	total=$((total + ${runs:-0}))
	echo "$verdict $name: ${runs:-0} executions; $OUT/$name.log" | tee -a "$report"
	n=$((n + 1))
done
echo "$total executions of $n targets, $SECS s each, $(date -u +%Y-%m-%dT%H:%MZ)" | tee -a "$report"
echo "$((n - failed)) passed, $failed failed"
[ $failed = 0 ] && [ $n -gt 0 ]
