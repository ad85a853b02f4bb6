#!/bin/sh
# run.sh - each fuzz target for so many seconds: OUT=out-fuzz tests/fuzz/run.sh [SECS]   (make fuzz builds and calls it)
# Starts from tests/fuzz/corpus/NAME; what is new goes to OUT/corpus/NAME, what crashes to OUT/crashes. An input that found
# something belongs into tests/fuzz/corpus/NAME as bad-WHAT, with the fix.
set -u
cd "$(dirname "$0")/../.." || exit 1
OUT=${OUT:-out-fuzz} SECS=${1:-60}
failed=0 n=0

mkdir -p "$OUT/crashes" || exit 1
for f in "$OUT"/fuzz/fuzz_*; do
	if [ ! -f "$f" ] || [ ! -x "$f" ]; then
		continue
	fi
	name=${f##*/fuzz_}
	mkdir -p "$OUT/corpus/$name" "tests/fuzz/corpus/$name" || exit 1
	if "$f" -max_total_time="$SECS" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -artifact_prefix="$OUT/crashes/$name-" \
	    "$OUT/corpus/$name" "tests/fuzz/corpus/$name" >"$OUT/$name.log" 2>&1; then
		echo "ok $name: $(tail -n 1 "$OUT/$name.log")"
	else
		echo "not ok $name: see $OUT/$name.log"
		failed=$((failed + 1))
	fi
	n=$((n + 1))
done
echo "$((n - failed)) passed, $failed failed"
[ $failed = 0 ] && [ $n -gt 0 ]
