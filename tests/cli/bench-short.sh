#!/bin/sh
# the benchmarks run to their end on a handful of files, what they build is the new release, and their tables and JSON are
# whole; no figure is looked at
. "$(dirname "$0")/lib.sh"
[ -z "${SAN:-}" ] || skip 'a sanitizer measures itself'
[ -x "$OUT/bench-limit" ] && [ -x "$OUT/bench/summary" ] || skip 'the programs of the benchmarks are not built'
command -v perl >/dev/null && command -v zstd >/dev/null || skip 'perl and zstd are needed'

mkdir -p tmp trees/old trees/new programs/bench
# what is measured here does not belong to the figures of a real run
ln -s "$OUT"/dray "$OUT"/dray-install "$OUT"/peak "$OUT"/bench-limit programs
ln -s "$OUT"/bench/summary programs/bench
for d in alpha beta; do
	mkdir trees/old/$d trees/new/$d
	for f in one two three; do
		seq 1 2000 | sed "s/^/$d $f /" >trees/old/$d/$f
		seq 1 2010 | sed "s/^/$d $f /" >trees/new/$d/$f
	done
done
ln trees/new/alpha/one trees/new/alpha/link
ln -s one trees/new/beta/symlink

# bench NAME ENVIRONMENT...: it ends well, and its table and JSON are whole
bench() {
	name=$1
	shift
	run env OUT="$T/programs" BENCH_TMP="$T/tmp" TREES="$T/trees" PAIRS=t=old:new ROUNDS=1 J=2 "$@" sh "$TOP/tests/bench/$name.sh"
	want_status 0
	want_text 'goal: ' out
	json=programs/bench/$name.json
	if head -n 1 $json | grep -q '^{"goals":\[' && tail -n 1 $json | grep -q '}]}$'; then
		ok "$json is whole"
	else
		fail "$json is not whole"
	fi
	if [ -z "$(ls tmp)" ]; then ok "$name leaves nothing"; else fail "$name leaves $(ls tmp)"; fi
}
bench size SAMPLE=0 WHOLE='rsync tar zstd'
want_text '"metric":"payload"' programs/bench/size.json
want_text '"who":"zstd"' programs/bench/size.json
bench build SAMPLE=0 PEERS= KINDS=equal ODD='1 2' ZEROS='1 4'
want_text '"metric":"more_user"' programs/bench/build.json
bench plan PAIRS=t=made:200
want_text '"metric":"again_wall"' programs/bench/plan.json
bench scale SIZES='100 200'
want_text '"who":"n200"' programs/bench/scale.json

# the lower limit of apply makes the same tree, with the modes that matter to it and nothing else
key
run "$DRAY" build --from trees/old --to trees/new --product t --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
cp -a trees/old root
run "$OUT/bench-limit" apply up.dray root 2
want_status 0
want_text '"renamed":' out
diff=$(rsync -nrl --checksum --delete --exclude=/.bench-limit --itemize-changes trees/new/ root/)
if [ -z "$diff" ]; then ok 'the limit makes the new release'; else fail "the limit makes something else: $diff"; fi
for mode in write hash fsync; do
	rm -rf root
	cp -a trees/old root
	run "$OUT/bench-limit" $mode up.dray root
	want_status 0
done
