#!/bin/sh
# crash.sh - kill the static installer at every system call that changes a file, and look at what the next run makes of it
#   crash.sh short     at most $MAX (240) points, evenly spread over all phases           (part of make test)
#   crash.sh full      every point                                                           (make crash)
#   crash.sh point PHASE N [WAY]      one point, as a failure names it; the tree is kept
#
# A point: a fresh copy of the old tree; apply (or rollback after an apply) under killat, which kills it on entry to the
# Nth such call; then the next run: `resume`, `apply` at once, or a resume that is killed too. The third phase is repair
# of a tree that is recorded as new and holds what the old one does; there "apply" is to be read as repair. After it the
# tree must be exactly old or exactly new, as rsync sees it, which knows nothing of us, and the evidence must be whole,
# with one record for each end. Then apply + check must reach the new tree and rollback the old one. One worker (-j1), so
# that the calls come in the same order each time.
# The trees lie in an ext4 image of their own where loop mounts are possible.
export NAME=crash
. "$(dirname "$0")/common.sh"

MAX=${MAX:-240} J=${J:-2}

# fresh TREE - the old tree with the state folder's place made
fresh() {
	cp -a "$WORK/target" "$1"
}

apply() {
	run "$1" apply "$WORK/up.dray" --root "$2" --keyring "$WORK/ops.pub" -j1
}

# forth LOG TREE - from old to new, as this phase does it
forth() {
	if [ "$phase" = repair ]; then
		run "$1" repair "$WORK/up.dray" / --root "$2" --keyring "$WORK/ops.pub" -j1
	else
		apply "$1" "$2"
	fi
}

# killed N LIST LOG ARG... - the same, killed at its Nth call that changes a file: 137, and LIST names the call
killed() {
	n=$1 list=$2 log=$3
	shift 3
	"$OUT/killat" "$n" "$list" "$INSTALL" "$@" >"$log" 2>&1 </dev/null
}

# evidence WHEN - the chain is whole, and has one record for each end: done and back in turn
evidence() {
	run "$t.log" status --root "$t" --log --json || fail "$1: status --log: status $?"
	ends=$(grep -o '"ended":"[a-z-]*"' "$t.log" | cut -d '"' -f 4 | tr '\n' ' ')
	if [ "$phase" = repair ]; then	# of the apply, long before
		case $ends in
		'done '*) ends=${ends#done } ;;
		*) fail "$1: no record of the apply before: $ends" ;;
		esac
	fi
	rest=$ends
	while [ -n "$rest" ]; do
		case $rest in
		'done ') rest='' ;;
		'done back '*) rest=${rest#done back } ;;
		*) fail "$1: the records are: $ends" ;;
		esac
	done
}

fail() {
	{
		echo "not ok: killed in $phase at call $number ($(cut -d ' ' -f 2 "$t.at" 2>/dev/null)), next run: $way ($serial): $1"
		[ ! -s "$t.log" ] || sed 's/^/    /' "$t.log" | tail -n 8
		for side in old new; do
			echo "  to be $side it lacks:"
			differs "$t" "$WORK/cases/$side" 2>&1 | head -n 8 | sed 's/^/    /'
		done
	} >"$WORK/points/$id.failed"
	[ -n "${KEEP:-}" ] || rm -rf "$t"
	exit 0
}

# one point; its verdict goes to a file: clean (nothing was killed), old, new (what the next run made), failed
point() {
	phase=$1 number=$2 serial=$3
	id=$phase.$number
	t=$WORK/t.$id
	case $((serial % 4)) in
	0 | 2) way=resume ;;
	1) way=apply ;;
	3) way="resume, killed too" ;;
	esac
	case $phase in
	apply)
		fresh "$t"
		killed "$number" "$t.at" "$t.log" apply "$WORK/up.dray" --root "$t" --keyring "$WORK/ops.pub" -j1
		;;
	rollback)
		fresh "$t"
		apply "$t.log" "$t" || fail "apply before the rollback: status $?"
		killed "$number" "$t.at" "$t.log" rollback --root "$t" -j1
		;;
	repair)
		cp -a "$WORK/damaged" "$t"
		killed "$number" "$t.at" "$t.log" repair "$WORK/up.dray" / --root "$t" --keyring "$WORK/ops.pub" -j1
		;;
	esac
	case $? in
	0) verdict=clean ;;
	137) verdict=killed ;;
	*) fail "status $?" ;;
	esac
	evidence "after the kill"
	# what status calls done has its record
	run "$t.log" status --root "$t" --json || fail "status: status $?"
	kept=$(grep -o '"state":"done"' "$t.log" | wc -l)
	[ "$phase" != repair ] || kept=$((kept - 1))
	case $kept:$ends in
	1:*'done ' | 0:*) ;;
	*) fail "$kept done, but the records are: $ends" ;;
	esac
	if [ "$way" = "resume, killed too" ]; then
		killed $((serial % 61 / 4 + 1)) "$t.at2" "$t.log" resume --root "$t" -j1
		rc=$?
		[ $rc = 0 ] || [ $rc = 137 ] || fail "first resume: status $rc"
	fi
	if [ "$way" = apply ]; then
		forth "$t.log" "$t" || fail "the next apply: status $?"
		is "$t" "$WORK/cases/new" || fail "after the next apply the tree is not new"
		made=new
	else
		run "$t.log" resume --root "$t" -j1 || fail "resume: status $?"
		if is "$t" "$WORK/cases/new"; then
			made=new
		elif is "$t" "$WORK/cases/old"; then
			made=old
		else
			fail "after resume the tree is neither old nor new"
		fi
		forth "$t.log" "$t" || fail "apply after resume: status $?"
		is "$t" "$WORK/cases/new" || fail "after resume and apply the tree is not new"
	fi
	evidence "after it is new"
	case $ends in
	*'done ') ;;
	*) fail "the tree is new, but the records are: $ends" ;;
	esac
	run "$t.log" check --strict --root "$t" -j1 || fail "check: status $?"
	run "$t.log" rollback --root "$t" -j1 || fail "the last rollback: status $?"
	evidence "after the last rollback"
	case $ends in
	*'back ') ;;
	*) fail "the tree is old, but the records are: $ends" ;;
	esac
	is "$t" "$WORK/cases/old" || fail "after the last rollback the tree is not old"
	[ $verdict = clean ] || verdict=$made
	: >"$WORK/points/$id.$verdict"
	[ -n "${KEEP:-}" ] || rm -rf "$t" "$t".*
}

if [ "${1:-}" = --point ]; then	# from xargs, below: "PHASE N SERIAL" in one word
	# shellcheck disable=SC2086
	point $2
	exit 0
fi

mode=${1:-short}
case $mode in
short | full | point) ;;
*)
	echo "usage: crash.sh short|full|point PHASE N [WAY]" >&2
	exit 2
	;;
esac

scratch 512M

set -e
sh "$TOP/tools/make-cases.sh" "$WORK/cases" small
(cd "$WORK" && "$DRAY" key new ops >/dev/null)
"$DRAY" build --from "dir:$WORK/cases/old" --to "dir:$WORK/cases/new" --product crash --version 2 --counter 2 \
    --key "$WORK/ops.key" -o "$WORK/up.dray" >/dev/null
old_target "$WORK/cases" "$WORK/target"
set +e

# the run that nobody kills, and what it calls
t=$WORK/t.plain
fresh "$t"
count() {
	name=$1
	shift
	killed 0 "$WORK/$name.calls" "$t.log" "$@" ||
	    { say "$name that nobody kills: status $?"; cat "$t.log"; exit 1; }
	awk -v phase="$name" '{ print phase, $1, $2 }' "$WORK/$name.calls" >>"$WORK/all"
}
plain() {
	is "$t" "$WORK/cases/$1" && return 0
	say "$2 that nobody kills does not give the $1 tree:"
	differs "$t" "$WORK/cases/$1" | head -n 20
	exit 1
}
count apply apply "$WORK/up.dray" --root "$t" --keyring "$WORK/ops.pub" -j1
plain new apply
run "$t.log" check --strict --root "$t" -j1 || { say "check that nobody kills: status $?"; cat "$t.log"; exit 1; }
count rollback rollback --root "$t" -j1
plain old rollback
rm -rf "$t"

# recorded as new, while everything in it is old
t=$WORK/damaged
fresh "$t"
apply "$t.log" "$t" || { say "apply before the repair: status $?"; cat "$t.log"; exit 1; }
rsync -aHAX --checksum --modify-window=-1 --delete --exclude="/$STATE" --exclude=/.dray "$WORK/cases/old/" "$t/" || exit 1
plain old "rsync before the repair"
t=$WORK/t.plain
cp -a "$WORK/damaged" "$t"
count repair repair "$WORK/up.dray" / --root "$t" --keyring "$WORK/ops.pub" -j1
plain new repair
rm -rf "$t"

if [ "$mode" = point ]; then
	KEEP=1
	(point "$2" "$3" "${4:-0}")
	say "the tree is $t"
	cat "$WORK/points/"*.failed 2>/dev/null
	# shellcheck disable=SC2034 # left for a look
	mounted=
	exit 0
fi

total=$(wc -l <"$WORK/all")
if [ "$mode" = short ] && [ "$total" -gt "$MAX" ]; then
	# every k-th, but the first and last of each kind of call always
	awk -v max="$MAX" -v total="$total" '
	{ line[NR] = $0; key = $1 " " $3; if (!(key in first)) first[key] = NR; last[key] = NR }
	END {
		for (k in first) { take[first[k]] = 1; take[last[k]] = 1 }
		for (i in take) fixed++
		for (i = 1; i <= NR; i++) {
			want = i * (max - fixed) / total
			if (!(i in take) && int(want) > int((i - 1) * (max - fixed) / total)) take[i] = 1
			if (i in take) print line[i]
		}
	}' "$WORK/all" >"$WORK/list"
	lanes=1	# the test runner has two at a time already
else
	cp "$WORK/all" "$WORK/list"
	lanes=$J
fi
count=$(wc -l <"$WORK/list")
began=$(date +%s)
say "$count of $total calls ($(grep -c ^apply "$WORK/list") in apply, $(grep -c ^rollback "$WORK/list") in rollback," \
    "$(grep -c ^repair "$WORK/list") in repair)"
awk '{ print $1, $2, NR }' "$WORK/list" | xargs -P "$lanes" -I '{}' sh "$0" --point '{}'

verdicts() {
	find "$WORK/points" -name "*.$1" | wc -l
}
for f in "$WORK/points/"*.failed; do
	[ ! -e "$f" ] || cat "$f"
done
old=$(verdicts old) new=$(verdicts new) clean=$(verdicts clean) bad=$(verdicts failed)
lost=$((count - old - new - clean - bad))
say "$count points in $(($(date +%s) - began)) s: next run made old $old, new $new; not reached $clean;" \
    "failed $bad, without verdict $lost"
# a point that is not reached is a call that did not come again; a few are order, many mean the harness kills nothing
[ "$bad" = 0 ] && [ "$lost" = 0 ] && [ $((clean * 20)) -le "$count" ] && [ "$old" -gt 0 ] && [ "$new" -gt 0 ]
