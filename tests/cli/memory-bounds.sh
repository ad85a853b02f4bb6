#!/bin/sh
# what dray-install holds in memory grows by a few hundred bytes for each path, index and all
. "$(dirname "$0")/lib.sh"

[ -z "${SAN:-}" ] || skip 'a sanitizer takes memory of its own'
[ -x "$OUT/peak" ] || skip 'needs peak'
n=20000
# code and threads, and per path: index 250, plan 270, lists 100 bytes (spec/performance.md 4)
plan_kib=$((7 * 1024 + n * 620 / 1024))
# the program is copied, and two workers hold frames of 1 MiB
apply_kib=$((14 * 1024 + n * 620 / 1024))
back_kib=$((6 * 1024 + n * 300 / 1024))

within() {	# NAME KIB
	read -r most _ <kib
	if [ "$most" -le "$2" ]; then ok "$1 within $2 KiB"; else fail "$1 took $most KiB, above $2"; fi
}

sh "$TOP/tests/bench/memory_trees.sh" $n .
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key --level fast -o up.dray
need_status 0
run "$OUT/peak" kib "$INSTALL" plan up.dray --root old --keyring ops.pub -j2
need_status 0
within plan $plan_kib
run "$OUT/peak" kib "$INSTALL" apply up.dray --root old --keyring ops.pub -j2 --memory 8M
need_status 0
within apply $apply_kib
want_text 'memory for 1 of 2 workers' out
run "$OUT/peak" kib "$INSTALL" check --root old -j2
need_status 0
within check $plan_kib
run "$OUT/peak" kib "$INSTALL" rollback --root old
need_status 0
within rollback $back_kib
