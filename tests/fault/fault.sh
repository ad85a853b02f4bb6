#!/bin/sh
# fault.sh - every system call of the static installer that can fail does so once, and the run must tell the truth about it
#   fault.sh short               at most $MAX (40) of them, a seeded sample               (part of make test)
#   fault.sh full                all of them, and what stays in the way: always.sh        (make fault)
#   fault.sh point VERB CLASS N ERROR [SERIAL]      one, as a failure names it; shows what was said
#
# A point: one command on a file system image of its own, under failat, which lets the Nth call of a class (open, read,
# write, ...) fail with an error, fall short, or be interrupted. Then:
#   - it ended, with one of the exit statuses that its verb may have, and not by a signal; when not with 0, it says why
#   - 0 is only said when it is true: plan with the plan id of a run that nothing disturbs; verify and check not of what
#     is damaged; apply and rollback when the tree is new, or old
#   - where it says that nothing was changed, or that all is as it was, the tree is exactly that
#   - after `resume` the tree is exactly old or new, as rsync sees it, nothing is pending and nothing left behind, the
#     evidence is whole; every fourth time the way goes on to new, check, and back to old
# VERBS="resume forget" takes these alone. The result of the full form is kept in $OUT/fault, dated. tests/README.md, "Faults".
export NAME=fault
. "$(dirname "$0")/../crash/common.sh"

MAX=${MAX:-40} J=${J:-2} SEED=${SEED:-1}
CLASSES=open,read,list,write,vector,rename,make,unlink,stat,size,sync,attr,xattr,ioctl,memory,heap,thread,lock

# the failures of a class
errors_of() {
	case $1 in
	open) echo EIO EMFILE EINTR ;;
	read) echo EIO short EINTR ;;
	write) echo ENOSPC EIO short EINTR ;;
	rename | make) echo EIO ENOSPC ;;
	size) echo ENOSPC EIO ;;
	attr) echo EIO EPERM ;;
	memory) echo ENOMEM ;;
	heap) echo ENOMEM+ ;;	# that it fails once and then not is more than malloc bears, in any program
	write,make,size) echo ENOSPC+ ;;	# a full disk stays full
	write,make,size,rename,unlink,attr,sync) echo EIO+ ;;	# and a dead one dead
	thread) echo EAGAIN ;;
	lock) echo ENOLCK EINTR ;;
	*) echo EIO ;;
	esac
}

# the exit statuses that a verb may have when a call fails; what else spec/cli.md knows would be untrue
allowed() {
	case $1 in
	verify) echo 0 1 33 ;;
	verify-damaged) echo 1 31 33 ;;
	plan) echo 0 1 21 22 33 ;;
	check) echo 0 1 20 22 33 ;;
	check-damaged) echo 1 20 22 33 ;;
	apply) echo 0 1 21 22 24 33 41 ;;
	resume) echo 0 1 21 22 41 ;;
	rollback | forget) echo 0 1 21 22 ;;
	esac
}

command_of() {	# VERB TREE
	case $1 in
	verify) echo "verify up.dray --keyring ops.pub" ;;
	verify-damaged) echo "verify damaged.dray --keyring ops.pub" ;;
	plan) echo "plan up.dray --root $2 --keyring ops.pub --json" ;;
	apply) echo "apply up.dray --root $2 --keyring ops.pub" ;;
	check | check-damaged) echo "check --root $2" ;;
	*) echo "$1 --root $2" ;;
	esac
}

# what the file system holds before it
image_of() {
	case $1 in
	verify* | plan | apply) echo old ;;
	check | rollback | forget) echo new ;;
	check-damaged) echo damaged ;;
	resume) echo killed ;;
	esac
}

# differs and is, but for the time of the merged file, which is that of the merge
tree_is() {	# TREE old|new
	mkdir -p "$HERE/etc" && touch -r "$WORK/trees/$2/etc/conf" "$HERE/stamp"
	[ -z "$(differs "$1" "$WORK/trees/$2" 2>&1 | grep -v '^\.f\.\.t\.*  *etc/conf$')" ]
}

wrong() {
	{
		echo "NOT OK $id: $*"
		echo "    failat ... $class:$(when) -- dray-install $(command_of "$verb" "$t"): status $rc"
		[ ! -s "$HERE/out" ] || sed 's/^/    /' "$HERE/out" | tail -n 8
	} >"$WORK/points/$id.failed"
	finish
	exit 0
}

# a failure with + stays
when() {
	case $error in
	*+) echo "$n+:${error%+}" ;;
	*) echo "$n:$error" ;;
	esac
}

finish() {
	[ "$image" = none ] || umount "$HERE/m" || umount -l "$HERE/m"
	rm -rf "$HERE"
}

says() {
	grep -q "$1" "$HERE/out"
}

# the tree alone says what is: old, new, or between
state_now() {
	if tree_is "$t" old; then echo old; elif tree_is "$t" new; then echo new; else echo between; fi
}

judge() {
	case " $(allowed "$verb") " in
	*" $rc "*) ;;
	*) wrong "status $rc is none that it may have" ;;
	esac
	if [ "$rc" != 0 ]; then
		says '^dray-install: ' || [ "$verb" = check-damaged ] || wrong 'it does not say why'
		if says 'Success\|(null)\|errno'; then wrong 'that is no message'; fi
	fi
	case $verb:$rc in
	check:20) says 'read error' || wrong 'it tells of a difference that is none' ;;
	plan:0) says "\"plan_id\":\"$(cat "$WORK/plan_id")\"" || wrong 'another plan id' ;;
	esac
	case $verb in
	verify* | plan | check*)
		(cd "$HERE/m" && find . -printf '%p %y %m %U %G %s %T@ %C@ %i %n %l\n' | sort) >"$HERE/now"
		cmp -s "$HERE/before" "$HERE/now" || wrong 'it has changed something'
		return
		;;
	esac
	now=$(state_now)
	case $verb:$rc in
	apply:0 | resume:0) [ "$now" = new ] || wrong "0, but the tree is $now" ;;
	rollback:0) [ "$now" = old ] || wrong "0, but the tree is $now" ;;
	forget:*) [ "$now" = new ] || wrong "the tree is $now" ;;
	apply:41 | resume:41) [ "$now" = old ] || wrong "41, but the tree is $now" ;;
	apply:*) if says 'nothing live was changed\|nothing was changed\|everything is as it was' && [ "$now" != old ]; then
			wrong "it says that nothing was changed, but the tree is $now"
		fi ;;
	esac
	run "$HERE/out" resume --root "$t" -j1 || wrong "the next resume: status $?"
	then=$(state_now)
	[ "$then" != between ] || wrong "after resume the tree is neither old nor new"
	[ "$verb:$then" != resume:old ] || [ $rc = 41 ] || wrong "a commit was taken back"
	run "$HERE/out" status --root "$t" --json || wrong "status: status $?"
	says '"pending":"none"' || wrong 'something is pending after resume'
	run "$HERE/out" status --root "$t" --log || wrong "the evidence: status $?"
	left=$(left_behind "$t"; [ "$then" = new ] || ls "$t/$STATE/tx" 2>/dev/null)
	[ -z "$left" ] || wrong "left behind: $left"
	[ $((serial % 4)) = 0 ] || return
	run "$HERE/out" apply up.dray --root "$t" --keyring ops.pub -j1 || wrong "the next apply: status $?"
	tree_is "$t" new || wrong 'the next apply does not reach the new tree'
	run "$HERE/out" check --root "$t" -j1 || wrong "check: status $?"
	[ "$verb" != forget ] || return
	run "$HERE/out" rollback --root "$t" -j1 || wrong "the next rollback: status $?"
	tree_is "$t" old || wrong 'the next rollback does not reach the old tree'
}

point() {
	verb=$1 class=$2 n=$3 error=$4 serial=$5
	id=$verb.$class.$n.$error image=$(image_of "$verb")
	HERE=$WORK/at.$id t=$WORK/at.$id/m/t
	mkdir -p "$HERE/m"
	cp --sparse=always "$WORK/image.$image" "$HERE/image" && mount -o loop "$HERE/image" "$HERE/m" || {
		image=none
		wrong 'no image'
	}
	cd "$WORK" || exit 1
	case $verb in
	verify* | plan | check*)
		(cd "$HERE/m" && find . -printf '%p %y %m %U %G %s %T@ %C@ %i %n %l\n' | sort) >"$HERE/before" ;;
	esac
	# shellcheck disable=SC2046
	timeout -k 5 60 "$OUT/failat" "$HERE/list" "$class:$(when)" -- "$INSTALL" $(command_of "$verb" "$t") -j1 \
	    >"$HERE/out" 2>&1 </dev/null
	rc=$?
	[ "$mode" != point ] || { cat "$HERE/out"; echo "status $rc; touched: $(cat "$HERE/list")"; }
	verdict=told
	[ $rc != 0 ] || verdict=passed
	[ -s "$HERE/list" ] || verdict=missed
	judge
	: >"$WORK/points/$id.$verdict"
	finish
}

if [ "${1:-}" = --point ]; then	# from xargs, below: "VERB CLASS N ERROR SERIAL" in one word
	mode=one
	# shellcheck disable=SC2086
	point $2
	exit 0
fi

mode=${1:-short}
case $mode in
short | full | point) ;;
*)
	echo "usage: fault.sh short|full|point VERB CLASS N ERROR [SERIAL]" >&2
	exit 2
	;;
esac
if [ ! -x "$OUT/failat" ]; then echo 'needs failat, which is for Linux on x86-64'; exit 77; fi
if [ "$(id -u)" != 0 ] || ! losetup -f >/dev/null 2>&1; then echo 'needs root and loop devices'; exit 77; fi

# --- the trees, and the images that hold them ----------------------------------------------------------------------

plain_scratch
WORK=$HOME_DIR
export WORK OUT TOP
cd "$WORK" || exit 1
mkdir points trees m
undo() {
	for at in "$WORK"/m "$WORK"/at.*/m; do
		! mountpoint -q "$at" || umount "$at" || umount -l "$at"
	done
}
at_end undo
(
	set -e
	cd trees
	mkdir -p old/var/lib old/etc old/d old/gone/deep old/lib new/var/lib new/etc new/d new/lib new/born/deep
	for f in a d/c lib/l.so.1; do seq 1 900 >old/$f; seq 2 1200 >new/$f; done
	seq 1 40 >old/etc/conf
	seq 1 41 >new/etc/conf
	echo same >old/same
	cp -p old/same new/same
	echo x >old/gone/deep/f
	cp new/a new/born/deep/twin
	echo y >new/born/only
	echo l >old/l1
	ln old/l1 old/l2
	echo m >new/l1
	ln new/l1 new/l2
	ln new/l1 new/d/l3
	ln -s a old/sym
	ln -s d/c new/sym
	mkfifo new/fifo
	cp -p old/same old/meta
	cp -p old/same new/meta
	chmod 4711 new/meta
	chown 7:7 new/meta
	echo q >old/xa
	echo q >new/xa
	setfattr -n user.t -v x new/xa
	find old -exec touch -h -d @1000000000 {} +
	find new -exec touch -h -d @1100000000 {} +
	touch -d @1000000000 new new/var new/var/lib
) || exit 1
"$DRAY" key new ops >/dev/null && "$DRAY" build --from dir:trees/old --to dir:trees/new --product fault --version 2 --counter 2 \
    --config etc --key ops.key -o up.dray >log 2>&1 || { cat log; exit 1; }
size=$(stat -c %s up.dray)
cp up.dray damaged.dray
printf '\377' | dd of=damaged.dray bs=1 seek=$((size * 3 / 4)) conv=notrunc 2>/dev/null
# an edit that is merged, on both sides from here on
sed -i 's/^3$/three/' trees/old/etc/conf trees/new/etc/conf
touch -d @1000000000 trees/old/etc/conf trees/old/etc
touch -d @1100000000 trees/new/etc/conf trees/new/etc

t=$WORK/m/t
truncate -s 128M image.old && mkfs.ext4 -q -F -N 2048 -J size=4 image.old && mount -o loop image.old m || exit 1
old_target trees "$t"
release m image.old || exit 1
on() {	# IMAGE FROM ARG... - IMAGE is FROM after the command
	made=$1
	cp --sparse=always "image.$2" "image.$made" && mount -o loop "image.$made" m || exit 1
	shift 2
	"$@" >log 2>&1
	rc=$?
	release m "image.$made" || exit 1
}
on new old "$INSTALL" apply up.dray --root "$t" --keyring ops.pub -j1
[ $rc = 0 ] || { say "apply: status $rc"; cat log; exit 1; }
on counted old "$OUT/killat" 0 calls "$INSTALL" apply up.dray --root "$t" --keyring ops.pub -j1
call=$(awk '$2 == "renameat2" { at[++n] = $1 } END { print at[int(n / 2)] }' calls)
on killed old "$OUT/killat" "$call" calls "$INSTALL" apply up.dray --root "$t" --keyring ops.pub -j1
[ $rc = 137 ] || { say "not killed: status $rc"; exit 1; }
on damaged new sh -c "echo z >>'$t/a'"
rm image.counted

VERBS=${VERBS:-verify verify-damaged plan check check-damaged apply rollback resume forget}
: >all
for verb in $VERBS; do
	cp --sparse=always "image.$(image_of "$verb")" image.now && mount -o loop image.now m || exit 1
	# shellcheck disable=SC2046
	"$OUT/failat" list "$CLASSES:0:EIO" -- "$INSTALL" $(command_of "$verb" "$t") -j1 >log 2>&1
	rc=$?
	release m image.now || exit 1
	case $verb:$rc in
	verify-damaged:31 | check-damaged:20 | *:0) ;;
	*) say "$verb that nothing disturbs: status $rc"; cat log; exit 1 ;;
	esac
	[ "$verb" != plan ] || sed -n 's/.*"plan_id":"\([0-9a-f]*\)".*/\1/p' log >plan_id
	lasting=
	case $verb in apply | rollback | resume | forget) lasting='write,make,size write,make,size,rename,unlink,attr,sync' ;; esac
	for class in $(echo "$CLASSES" | tr ',' ' ') $lasting; do
		calls=$(awk -v class=",$class," 'index(class, "," $3 ",") { n++ } END { print n + 0 }' list)
		for error in $(errors_of "$class"); do
			awk -v head="$verb $class" -v calls="$calls" -v error="$error" 'BEGIN {
				for (i = 1; i <= calls; i++) print head, i, error }' >>all
		done
	done
done

if [ "$mode" = point ]; then
	export KEEP=1
	(point "$2" "$3" "$4" "$5" "${6:-0}")
	cat points/*.failed 2>/dev/null
	exit 0
fi

# the sample takes some of each verb and class
awk -v seed="$SEED" 'BEGIN { srand(seed) } { key = $1 " " $2; printf "%d %.9f %s\n", ++n[key], rand(), $0 }' all >numbered
if [ "$mode" = short ]; then
	awk '{ key = $3 " " $4; if (!(key in best) || $2 < best[key]) { best[key] = $2; line[key] = $0 } }
	    END { for (k in line) print line[k] }' numbered | sort -k2,2 | head -n "$MAX" | cut -d ' ' -f 3- >chosen
	lanes=1
else
	cp all chosen
	lanes=$J
fi
result=/dev/null
if [ "$mode" = full ]; then
	mkdir -p "$OUT/fault"
	result=$OUT/fault/$(date -u +%Y-%m-%dT%H%M%SZ).txt
	say "the result goes to $result"
fi
tell() {
	say "$*" | tee -a "$result"
}
began=$(date +%s)
total=$(wc -l <chosen)
tell "$total of $(wc -l <all) failures of $(cut -d ' ' -f 1-3 all | sort -u | wc -l) calls"
awk '{ print $0, NR }' chosen | xargs -P "$lanes" -I '{}' sh "$TOP/tests/fault/fault.sh" --point '{}'

verdicts() {
	find points -name "*.$1" | wc -l
}
for f in points/*.failed; do
	[ ! -e "$f" ] || tee -a "$result" <"$f"
done
told=$(verdicts told) passed=$(verdicts passed) missed=$(verdicts missed) bad=$(verdicts failed)
lost=$((total - told - passed - missed - bad))
tell "$total failures in $(($(date +%s) - began)) s: told $told, borne $passed, not reached $missed;" \
    "failed $bad, without verdict $lost"
# one that is not reached is a call that did not come again: threads share the work anew in each run
[ "$bad" = 0 ] && [ "$lost" = 0 ] && [ $((missed * 10)) -le "$total" ] && [ "$told" -gt 0 ]
