#!/bin/sh
# run.sh - all benchmarks, one after the other: OUT=out tests/bench/run.sh   (make bench builds and calls it)
# Say beside a figure what machine it is from: the first lines tell.
set -eu
cd "$(dirname "$0")/../.."
OUT=${OUT:-out}

uname -srm
sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | sort | uniq -c
for b in "$OUT"/bench/bench_*; do
	if [ ! -f "$b" ] || [ ! -x "$b" ]; then
		continue
	fi
	echo "== ${b##*/}"
	"$b"
done
echo "== memory"
sh tests/bench/memory.sh
