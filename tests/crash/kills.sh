#!/bin/sh
# kills.sh - what crash.sh does to apply, rollback and repair, done to all else that changes a tree
#   kills.sh short               at most $MAX (54) points, evenly spread                   (part of make test)
#   kills.sh full                every point                                               (make crash)
#   kills.sh point WHAT N [SERIAL]      one, as a failure names it
# WHATS="forget phase" takes these alone.
#
#   forget     the way back is given up             the tree is new all the time, and nothing is left of the way back
#   resume     a switch that was killed goes on     must end new
#   undo       a rollback that was killed goes on   must end old
#   phase      one phase of an upgrade              before or after it
#   back       rollback between two phases          between them, or old
#   merge      apply with a merged file             old with the edit, or new with it
#   triggers   apply with programs to run           old or new; each has run when the next run is through, none waits
#   threads    apply with four workers, the call of each number being another one in each run; $POINTS (500) seeded numbers
#   twice      apply killed at $FIRST (50) points, and after each of these the next resume at every point it has
#
# Each point has a file system image of its own, made before the command. After the kill comes, in turn, resume, the same command
# again, or a resume that is killed too; then the tree must be one that is allowed, nothing pending or left behind, the evidence
# whole. Every fourth one goes on to the end of its upgrade and back to old.
export NAME=kills
. "$(dirname "$0")/common.sh"

MAX=${MAX:-54} J=${J:-2} POINTS=${POINTS:-500} FIRST=${FIRST:-50}
WHATS=${WHATS:-forget resume undo phase back merge triggers threads twice}

# WHAT: the image before it, the command, the trees that may come of it, the one at the upgrade's end, and the old one
scene() {
	bundle=up.dray last=cases/new first=cases/old workers=-j1
	case $1 in
	forget) from=new line=forget may=cases/new ;;
	resume) from=killed line=resume may=cases/new ;;
	undo) from=undoing line=resume may=cases/old ;;
	phase) from=phased line="apply phased.dray --keyring ops.pub --phase world" may="phases/mid1 phases/mid2" ;;
	back) from=phased line=rollback may="phases/mid1 phases/old" ;;
	merge) from=merge bundle=merge.dray may="merge/old merge/new" ;;
	triggers) from=triggers bundle=triggers.dray may="triggers/old triggers/new" ;;
	threads) from=old workers=-j4 may="cases/old cases/new" ;;
	twice*) from=$1 line=resume may="cases/old cases/new" ;;
	esac
	case $1 in
	phase | back) bundle=phased.dray last=phases/want first=phases/old ;;
	merge | triggers) last=$1/new first=$1/old ;;
	esac
	whole="apply $bundle --keyring ops.pub"
	[ "$1" != triggers ] || whole="$whole --allow-chroot"
	case $1 in
	merge | triggers | threads) line=$whole ;;
	esac
}

# the time of a merged file is that of its merge, and triggers write a log into the root
like() {
	differs "$t" "$WORK/$1" >"$here/differs" 2>&1
	case $what in
	merge) ! grep -qv '^\.f\.\.t\.*  *etc/merged$' "$here/differs" ;;
	triggers) ! grep -qvx '\*deleting  *log\|\.d\.\.t\.*  *\./' "$here/differs" ;;
	*) [ ! -s "$here/differs" ] ;;
	esac
}

now() {	# TREE...: which of them it is
	for now; do
		! like "$now" || return 0
	done
	now=neither
	return 1
}

bad() {
	{
		echo "not ok: $what, killed at call $n ($(tail -n 1 "$here/at" 2>/dev/null)), serial $serial: $*"
		[ ! -s "$here/log" ] || sed 's/^/    /' "$here/log" | tail -n 8
	} >"$WORK/points/$id.failed"
	over
	exit 0
}

over() {
	umount "$here/m" || umount -l "$here/m"
	rm -rf "$here"
}

point() {
	what=$1 n=$2 serial=$3 id=$1.$2
	here=$WORK/at.$id t=$WORK/at.$id/m/t
	scene "$what"
	cd "$WORK" && mkdir -p "$here/m" && cp --sparse=always "image.$from" "$here/image" && mount -o loop "$here/image" "$here/m" ||
	    { echo "not ok: $what $n: no image" >"$WORK/points/$id.failed"; return; }
	# shellcheck disable=SC2086 # words on purpose, here and below
	"$OUT/killat" "$n" "$here/at" "$INSTALL" $line --root "$t" $workers >"$here/log" 2>&1 </dev/null
	case $? in
	0) verdict=clean ;;
	137) verdict=killed ;;
	*) bad "status $?" ;;
	esac
	if [ $((serial % 4)) = 3 ]; then
		"$OUT/killat" $((serial % 61 / 4 + 1)) "$here/at2" "$INSTALL" resume --root "$t" -j1 >"$here/log" 2>&1 </dev/null
		rc=$?
		[ $rc = 0 ] || [ $rc = 137 ] || bad "the resume that is killed: status $rc"
	fi
	# a rollback that had come to its end would go back one more
	if [ $((serial % 4)) = 1 ] && [ "$what" != back ]; then
		# shellcheck disable=SC2086
		run "$here/log" $line --root "$t" -j1 || [ "$what" = forget ] || bad "the same again: status $?"
	fi
	chroot=
	[ "$what" != triggers ] || chroot=--allow-chroot
	# shellcheck disable=SC2086
	run "$here/log" resume --root "$t" -j1 $chroot || bad "resume: status $?"
	# shellcheck disable=SC2086
	now $may || bad "the tree is none of: $may; $(differs "$t" "$WORK/$last" 2>&1 | head -n 4 | tr '\n' ' ')"
	made=$now
	run "$here/log" status --root "$t" --json || bad "status: status $?"
	case $what:$(grep -o '"pending":"[a-z]*"' "$here/log") in
	*:'"pending":"none"' | phase:* | back:*) ;;
	*) bad 'something is pending after resume' ;;
	esac
	run "$here/log" status --root "$t" --log || bad "the evidence: status $?"
	left=$(left_behind "$t")
	[ -z "$left" ] || bad "left behind: $left"
	if [ "$what" = triggers ] && [ "$made" = triggers/new ]; then
		run "$here/log" status --root "$t" --json
		grep -q '"triggers_due":\[\]' "$here/log" || bad 'a trigger still waits'
		grep -qx one "$t/log" && grep -qx two "$t/log" || bad "a trigger has not run: $(tr '\n' ' ' <"$t/log")"
	fi
	if [ $((serial % 4)) = 0 ] && [ "$what" != forget ]; then
		# shellcheck disable=SC2086
		run "$here/log" $whole --root "$t" -j1 || bad "the next apply: status $?"
		like "$last" || bad "the next apply does not reach $last"
		run "$here/log" check --root "$t" -j1 || [ "$what" = triggers ] || bad "check: status $?"
		# shellcheck disable=SC2086
		run "$here/log" rollback --root "$t" -j1 $chroot || bad "the next rollback: status $?"
		like "$first" || bad "the next rollback does not reach $first"
	fi
	[ $verdict = clean ] || verdict=made.${made##*/}
	: >"$WORK/points/$id.$verdict"
	over
}

if [ "${1:-}" = --point ]; then	# from xargs, below: "WHAT N SERIAL" in one word
	# shellcheck disable=SC2086
	point $2
	exit 0
fi

mode=${1:-short}
case $mode in
short | full | point) ;;
*)
	echo "usage: kills.sh short|full|point WHAT N [SERIAL]" >&2
	exit 2
	;;
esac
if [ "$(id -u)" != 0 ] || ! losetup -f >/dev/null 2>&1; then echo 'needs root and loop devices'; exit 77; fi

plain_scratch
WORK=$HOME_DIR
export WORK OUT TOP
cd "$WORK" || exit 1
mkdir points m phases merge triggers
undo() {
	for at in "$WORK"/m "$WORK"/at.*/m; do
		! mountpoint -q "$at" || umount "$at" || umount -l "$at"
	done
}
at_end undo

die() {
	say "$*"
	tail -n 20 log
	exit 1
}

# --- trees and bundles ---------------------------------------------------------------------------------------------

pack() {	# BUNDLE OLD NEW OPTION...
	bundle=$1 old=$2 new=$3
	shift 3
	"$DRAY" build --from "$old" --to "$new" --product kills --version 2 --counter 2 --key ops.key -o "$bundle" "$@" \
	    >log 2>&1 || die "no $bundle"
}
"$DRAY" key new ops >/dev/null || exit 1
sh "$TOP/tools/make-cases.sh" cases small && sh "$TOP/tools/make-phases.sh" phases || exit 1
pack up.dray cases/old cases/new
pack phased.dray phases/old phases/new --recipe phases/recipe.json
for side in old new; do
	for k in merge triggers; do
		mkdir -p $k/$side/var/lib $k/$side/etc $k/$side/bin
		seq 1 300 | sed "s/\$/ $side/" >$k/$side/bin/tool
	done
done
for f in merged other; do
	seq 1 30 >merge/old/etc/$f
	seq 1 31 >merge/new/etc/$f
done
echo 1 >merge/old/gone
echo 2 >merge/new/added
find merge triggers -exec touch -h -d @1000000000 {} +
pack merge.dray merge/old merge/new --config etc
for side in old new; do
	sed -i 's/^3$/three/' merge/$side/etc/merged
	touch -d @1000000000 merge/$side/etc
done
touch -d @1100000000 merge/old/etc/merged
if cc -static -o triggers/act "$TOP/tests/cli/act.c" 2>/dev/null; then
	for side in old new; do cp -p triggers/act triggers/$side/bin/act; done
	find triggers -exec touch -h -d @1000000000 {} +
	cat >recipe.json <<'X'
{"recipe": 1, "triggers": [{"id": "one", "paths": ["bin/tool"], "argv": ["/bin/act", "one"]},
 {"id": "two", "paths": ["bin/tool"], "argv": ["/bin/act", "two"], "after": ["one"]}]}
X
	pack triggers.dray triggers/old triggers/new --recipe recipe.json
else
	say 'no static C library: no triggers'
	WHATS=$(echo "$WHATS" | sed 's/triggers//')
fi

# --- images --------------------------------------------------------------------------------------------------------

t=$WORK/m/t
image() {	# NAME TREE [FROM COMMAND...]: with the tree, or what the command makes of another image
	name=$1 tree=$2
	shift 2
	if [ $# = 0 ]; then
		truncate -s 160M "image.$name" && mkfs.ext4 -q -F -N 4096 -J size=4 "image.$name" && mount -o loop "image.$name" m || exit 1
		if [ "$tree" = phases ]; then cp -a "phases/old" "$t"; else old_target "$WORK/$tree" "$t"; fi
		release m "image.$name" || exit 1
		return
	fi
	cp --sparse=always "image.$1" "image.$name" && mount -o loop "image.$name" m || exit 1
	shift
	"$@" >log 2>&1 </dev/null
	rc=$?
	release m "image.$name" || exit 1
	return $rc
}
middle() {	# LIST - the call in the middle of the switch
	awk '$2 == "renameat2" { at[++n] = $1 } END { print at[int(n / 2)] }' "$1"
}
for k in cases merge triggers; do
	image $k $k
done
mv image.cases image.old
image phases phases
apply="apply up.dray --keyring ops.pub --root $t -j1"
# shellcheck disable=SC2086
{
	image new cases old "$INSTALL" $apply || die 'apply'
	image phased phases phases "$INSTALL" apply phased.dray --keyring ops.pub --root "$t" --phase kernel || die 'phase kernel'
	image scrap cases old "$OUT/killat" 0 calls "$INSTALL" $apply || die 'apply'
	image killed cases old "$OUT/killat" "$(middle calls)" at "$INSTALL" $apply
	[ $? = 137 ] || die 'not killed'
	image scrap cases new "$OUT/killat" 0 back "$INSTALL" rollback --root "$t" -j1 || die 'rollback'
	image undoing cases new "$OUT/killat" "$(middle back)" at "$INSTALL" rollback --root "$t" -j1
	[ $? = 137 ] || die 'not killed'
}

# --- the points ----------------------------------------------------------------------------------------------------

if [ "$mode" = point ]; then
	case $2 in
	twice.*)
		# shellcheck disable=SC2086
		image "$2" cases old "$OUT/killat" "${2#twice.}" at "$INSTALL" $apply ;;
	esac
	(point "$2" "$3" "${4:-0}")
	cat points/*
	ls points
	exit 0
fi

list() {	# WHAT [NAME]: its points
	scene "$1"
	# shellcheck disable=SC2086
	image scrap cases "$from" "$OUT/killat" 0 list "$INSTALL" $line --root "$t" $workers || die "$1 that nobody kills: status $?"
	awk -v what="$1" '{ print what, $1 }' list >>all
}
[ "$mode" = full ] || FIRST=6
: >all
for what in $WHATS; do
	case $what in
	threads)
		awk -v points="$POINTS" -v calls="$(wc -l <calls)" 'BEGIN {
			srand(4)
			for (i = 0; i < points; i++) { n = 1 + int(rand() * calls); if (!(n in seen)) print "threads", n; seen[n] = 1 }
		}' >>all
		;;
	twice)
		for i in $(awk -v calls="$(wc -l <calls)" -v first="$FIRST" 'BEGIN {
		    for (i = 1; i <= first; i++) print int((i - 0.5) * calls / first) + 1 }'); do
			# shellcheck disable=SC2086
			image "twice.$i" cases old "$OUT/killat" "$i" at "$INSTALL" $apply
			[ $? = 137 ] || die "apply, killed at call $i: status $rc"
			list "twice.$i"
		done
		;;
	*) list "$what" ;;
	esac
done
rm image.scrap
total=$(wc -l <all) lanes=$J
if [ "$mode" = short ] && [ "$total" -gt "$MAX" ]; then
	# as many of each kind
	sed 's/^\([a-z]*\)/\1 \1/' all | awk -v max="$MAX" -v kinds="$(echo "$WHATS" | wc -w)" '{
		kind = $1; $1 = ""; line[kind, ++n[kind]] = $0 }
		END { some = int(max / kinds); for (k in n) for (i = 0; i < some && i < n[k]; i++)
			print line[k, 1 + int((i + 0.5) * n[k] / (some < n[k] ? some : n[k]))] }' | sed 's/^ //' >chosen
	lanes=1	# the test runner has two at a time already
else
	cp all chosen
fi
count=$(wc -l <chosen)
began=$(date +%s)
say "$count of $total points ($(sed 's/[. ].*//' chosen | sort | uniq -c | awk '{ printf "%s%s %s", sep, $2, $1; sep = ", " }'))"
awk '{ print $0, NR }' chosen | xargs -P "$lanes" -I '{}' sh "$TOP/tests/crash/kills.sh" --point '{}'

for f in points/*.failed; do
	[ ! -e "$f" ] || cat "$f"
done
verdicts() {
	find points -name "*.$1" | wc -l
}
made=$(verdicts 'made.*') clean=$(verdicts clean) failed=$(verdicts failed)
lost=$((count - made - clean - failed))
say "$count points in $(($(date +%s) - began)) s: made right $made" \
    "($(find points -name '*.made.*' | sed 's/.*\.made\.//' | sort | uniq -c | awk '{ printf "%s%s %s", sep, $2, $1; sep = ", " }'));" \
    "not reached $clean; failed $failed, without verdict $lost"
[ "$failed" = 0 ] && [ "$lost" = 0 ] && [ $((clean * 10)) -le "$count" ] && [ "$made" -gt 0 ]
