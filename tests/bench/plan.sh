#!/bin/sh
# plan.sh - what looking takes: TREES=DIR OUT=out tests/bench/plan.sh   (make bench-plan)
# PAIRS as elsewhere; NAME=made:FILES makes trees of so many small files instead. In turns (ROUNDS, default 7): the first plan without
# an earlier one, the second plan, hashing the same files on all cores (openssl, 500 files for each process), info and list.
# shellcheck disable=SC2154 # case, old and new are those of "trees" in lib.sh
. "$(dirname "$0")/lib.sh"
begin plan
ROUNDS=${ROUNDS:-7} J=${J:-$(getconf _NPROCESSORS_ONLN)}
need_trees

# what apply looks at: the old files of every path that changes
list_old() {
	(cd "$old" && find . -type f -printf '%P\n' | sort) >"$W/all"
	rsync -nrlptgoD --checksum --delete --itemize-changes "$new/" "$old/" |
	    sed -n 's/^>f[^+]* *\([^ ].*\)$/\1/p; s/^\*deleting  *\(.*[^/]\)$/\1/p' | sort >"$W/touched"
	comm -12 "$W/all" "$W/touched" | tr '\n' '\0' >"$W/hash"
}
for pair in $PAIRS; do
	trees "$pair"
	up=$W/up.dray
	say "$case: build"
	"$DRAY" build -q --product bench --version 2 --counter 2 --key "$W/ops.key" --from "dir:$old" --to "dir:$new" --slim --level fast \
	    --no-cache -o "$up"
	rm -rf "$W/root"
	cp -a "$old" "$W/root"
	list_old
	# what was written within two seconds of a plan is not remembered
	sleep 3
	for round in $(seq "$ROUNDS"); do
		say "$case, round $round"
		rm -rf "$W/root/var/lib/dray"
		# shellcheck disable=SC2086
		{
			meter "$case" dray plan "$INSTALL" plan "$up" --root "$W/root" $KEY -q -j"$J"
			# shellcheck disable=SC2016
			meter "$case" hashing plan sh -c 'cd "$1" && xargs -0 -r -n 500 -P "$2" openssl dgst -sha256 -r <"$3" >/dev/null' \
			    sh "$W/root" "$J" "$W/hash"
			meter "$case" dray again "$INSTALL" plan "$up" --root "$W/root" $KEY -q -j"$J"
			meter "$case" dray info "$DRAY" info "$up" -q
			meter "$case" dray list "$DRAY" list "$up" -q
		}
	done
	goal "$case" plan_wall dray hashing 1.2
	goal "$case" plan_cpu dray hashing 1.2
	goal "$case" again_wall dray 1 0.3
	goal "$case" info_wall dray 1 0.05
	goal "$case" list_wall dray 1 0.3
	rm -rf "$W/trees" "$W/root" "$up"
done
finish
