#!/bin/sh
# scale.sh - what an entry costs in small and in large releases: OUT=out tests/bench/scale.sh   (make bench-scale)
# Made trees of each number of SIZES (default "10000 100000 1000000") small files, one in EVERY (default 10) of them changed: build,
# info, list, plan, apply, check, rollback, in CPU microseconds for each entry. ROUNDS (default 1). BENCH_TMP should be an image or in memory, not a file system that discards.
. "$(dirname "$0")/lib.sh"
begin scale
SIZES=${SIZES:-10000 100000 1000000} EVERY=${EVERY:-10} J=${J:-$(getconf _NPROCESSORS_ONLN)}

# shellcheck disable=SC2154  # m_* are of lib.sh
# per N VERB: the last meter, for each entry
per() {
	sample "$2" us_per_entry "n$1" "$(echo "$m_user $m_sys $1" | awk '{ printf "%.3f\n", ($1 + $2) * 1e6 / $3 }')"
}
for n in $SIZES; do
	say "$n files"
	sh "$BENCH/memory_trees.sh" "$n" "$W/trees"
	# the other files of both are the same
	(cd "$W/trees/old" && find . -type f | sort | awk -v e="$EVERY" 'NR % e' >../same)
	rsync -a --files-from="$W/trees/same" "$W/trees/old/" "$W/trees/new/"
	for _ in $(seq "${ROUNDS:-1}"); do
		build "n$n" dray build --from "dir:$W/trees/old" --to "dir:$W/trees/new" --level fast --no-cache -j"$J" -o "$W/up.dray"
		per "$n" build
		rm -rf "$W/root"
		cp -a "$W/trees/old" "$W/root"
		sync -f "$W"
		for verb in info list; do
			meter "n$n" dray $verb "$DRAY" $verb "$W/up.dray" -q
			per "$n" $verb
		done
		# shellcheck disable=SC2086
		for verb in plan apply check rollback; do
			case $verb in
			plan | apply) meter "n$n" dray $verb "$INSTALL" $verb "$W/up.dray" --root "$W/root" $KEY -q -j"$J" ;;
			check) meter "n$n" dray $verb "$INSTALL" $verb --root "$W/root" -q -j"$J" ;;
			rollback) meter "n$n" dray $verb "$INSTALL" $verb --root "$W/root" -q ;;
			esac
			per "$n" $verb
		done
	done
	rm -rf "$W/trees" "$W/root" "$W/up.dray"
done
first=${SIZES%% *} last=${SIZES##* }
for verb in build info list plan apply check rollback; do
	[ "$first" = "$last" ] || goal $verb us_per_entry "n$last" "n$first" 1.3
done
finish
