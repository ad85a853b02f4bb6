#!/bin/sh
# threads.sh - any number of threads gives the same: bundle, plan, tree
#   OUT=out SEEDS=50 FIRST=1 THREADS='1 2 8 64' tests/threads/threads.sh
# From each seed follow two trees (names, sizes, what changed, how directories are filled). They are built with every number of
# threads, byte for byte one bundle; then each number plans, with one plan id, and applies to a copy of the old tree, which is the
# new one afterwards. With SAN=thread a data race ends the program with status 99.
export NAME=threads
. "$(dirname "$0")/../crash/common.sh"
SEEDS=${SEEDS:-50} FIRST=${FIRST:-1} THREADS=${THREADS:-1 2 8 64}
export TSAN_OPTIONS="${TSAN_OPTIONS:-exitcode=99:halt_on_error=1:second_deadlock_stack=1}"

# tree SEED - old and new, made in an order of its own
tree() {
	awk -v seed="$1" '
	function rnd(n) { x = (x * 69069 + 1) % 4294967296; return int(x / 65536) % n }
	function fill(file, from, n,   i) { for (i = 0; i < n; i++) print from + i, (from + i) * 7919 % 104729 >file; close(file) }
	BEGIN {
		x = seed * 2654435761 % 4294967296
		for (i = 0; i < 40 + rnd(60); i++) {
			d = "d" rnd(9)
			if (!(d in seen)) system("mkdir -p old/" d " new/" d)
			seen[d] = 1
			name = d "/f" rnd(1000000)
			from = rnd(100000)
			n = rnd(12) == 0 ? 20000 + rnd(60000) : rnd(900)
			how = rnd(8)
			if (how < 7) fill("old/" name, from, n)
			if (how == 0) continue		# removed
			if (how < 3) fill("new/" name, from, n)		# as it was
			else if (how < 5) fill("new/" name, from + rnd(40), n + rnd(30))
			else if (how == 5) fill("new/" d "/moved" rnd(1000000), from, n)
			else fill("new/" name, rnd(100000), n)
		}
	}'
	mkdir -p old/var/lib new/var/lib
	find old new -exec touch -h -d @1700000000 {} +
}

bad() {
	say "seed $seed: $*"
	failed=$((failed + 1))
}

# one SEED in the folder it stands in
one() {
	first=''
	tree "$seed"
	for j in $THREADS; do
		if ! "$DRAY" build --from dir:old --to dir:new --product demo --version 1.1 --counter 2 --level 3 --no-cache -j "$j" \
		    --key ../ops.key -o "$j.dray" >log 2>&1; then
			bad "-j $j: no bundle: $(tail -n 3 log)"
			return
		fi
		first=${first:-$j}
		cmp -s "$first.dray" "$j.dray" || bad "-j $j: another bundle than with -j $first"
		old_target . root
		run plan plan "$first.dray" --root root --keyring ../ops.pub --json -j "$j" || bad "-j $j: plan ends with $?"
		id=$(sed -n 's/.*"plan_id":"\([0-9a-f]*\)".*/\1/p' plan)
		[ "$j" != "$first" ] || wanted=$id
		if [ -z "$id" ] || [ "$id" != "$wanted" ]; then
			bad "-j $j: plan id '$id', wanted $wanted"
		fi
		run log apply "$first.dray" --root root --keyring ../ops.pub -j "$j" || bad "-j $j: apply ends with $?: $(tail -n 3 log)"
		is "$PWD/root" "$PWD/new" || bad "-j $j: another tree"
		rm -rf root
		done=$((done + 1))
	done
}

scratch 400M
cd "$WORK" || exit 1
failed=0 done=0 seed=$FIRST
"$DRAY" key new ops >/dev/null 2>&1 || exit 1
while [ "$seed" -lt $((FIRST + SEEDS)) ]; do
	mkdir "$seed"
	cd "$seed" || exit 1
	one
	cd ..
	rm -rf "$seed"
	seed=$((seed + 1))
done
say "$SEEDS seeds, threads $THREADS: $done builds, plans and applies, $failed not alike"
[ "$failed" = 0 ] && [ "$done" -gt 0 ]
