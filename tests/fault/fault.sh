#!/bin/sh
# shellcheck disable=SC2034,SC2154 # what scenes.sh takes and sets
# fault.sh - every system call of the static installer that can fail does so once, the world around it changes between any two
# of them, and the run must tell the truth about it
#   fault.sh short               at most $MAX (40) of these, a seeded sample               (part of make test)
#   fault.sh full                all of them                                               (make fault)
#   fault.sh point VERB CLASS N ERROR [SERIAL]      one, as a failure names it; shows what was said
#
# A point: one command on a file system image of its own, under failat, which lets the Nth call of a class (open, read,
# write, ...) fail with an error, fall short, be interrupted, or bring a wrong bit to the disk; or in front of which something
# happens to the bundle or the tree. Or all of the run has little memory, few handles, a wrong clock, a full disk. Then:
#   - it ended, with one of the exit statuses that its verb may have, and not by a signal; when not with 0, it says why
#   - 0 is only said when it is true: plan with the plan id, status with the answer of a run that nothing disturbs; verify and
#     check not of what is damaged; a verb that changes the tree when the tree is what it makes of it
#   - where it says that nothing was changed, or that all is as it was, the tree is exactly that
#   - after `resume` the tree is exactly as before or as after, as rsync sees it, nothing is pending and nothing left behind, the
#     evidence is whole; every fourth time the way goes on to new, check, and back to old
#   - what lies outside the tree is as it was, its times of change included
# VERBS="resume forget" takes these alone, CLASSES_ONLY="read world" these classes; EVENTS=all takes every place for what happens
# in the world around, of which it is $EVENTS (40) for each verb otherwise; PART=3/16 takes the third of sixteen parts. The result of the full form is kept in $OUT/fault,
# dated. tests/README.md, "Faults". The verbs: scenes.sh.
export NAME=fault
. "$(dirname "$0")/../crash/common.sh"
. "$(dirname "$0")/scenes.sh"

MAX=${MAX:-40} J=${J:-2} SEED=${SEED:-1} EVENTS=${EVENTS:-40}
CLASSES=open,read,list,write,vector,rename,make,unlink,stat,size,sync,attr,xattr,ioctl,memory,heap,thread,lock
CLASSES=$CLASSES,close,place,process,wait,fence,entropy
WALKS=open,list,rename,make,unlink,stat,attr,xattr	# calls that go along paths

# the failures of a class
errors_of() {
	case $1 in
	open) echo EIO EMFILE EINTR ;;
	read) echo EIO short EINTR ;;
	write) echo ENOSPC EIO short EINTR ;;
	create) echo ENOSPC ;;	# no inodes
	rename | make) echo EIO ENOSPC ;;
	size) echo ENOSPC EIO ;;
	attr) echo EIO EPERM ;;
	memory) echo ENOMEM ;;
	heap) echo ENOMEM+ ;;	# that it fails once and then not is more than malloc bears, in any program
	write,make,size,create) echo ENOSPC+ ;;	# a full disk stays full
	write,make,size,rename,unlink,attr,create) echo EROFS+ ;;	# one that is read-only from now on stays so
	write,make,size,rename,unlink,attr,sync) echo EIO+ ;;	# and a dead one dead
	thread) echo EAGAIN ;;
	lock) echo ENOLCK EINTR ;;
	wait) echo EINTR ;;
	fence) echo ENOSYS EPERM ;;
	*) echo EIO ;;
	esac
}

# ... and what else happens, once for each place: the bundle's medium dies, it is cut short, overwritten, replaced; a file is
# edited, files get immutable; a directory becomes a symlink to elsewhere, for good or until the next call
events_of() {	# CLASS VERB
	case $1:$2 in
	read@up.dray:*) echo EIO+ cut overwritten replaced ;;
	"$WALKS":apply | "$WALKS":repair | "$WALKS":rollback | "$WALKS":resume) echo edited immutable swapped flicker ;;
	write:apply | write:repair | write:rollback | write:resume | write:forget) echo flip ;;
	esac
}
AROUND='clock-1 clock-4070908800 handles read-only full no-inodes memory-9000 memory-12000 memory-16000 memory-24000 memory-40000
memory-80000 memory-160000'

# what a point is: its rules, and what is done before it
prepare() {
	rules=$class:$n:$error
	case $error in
	*+) rules=$class:$n+:${error%+} ;;
	cut) rules="$class:$n:run=truncate -s $(($(stat -c %s up.dray) / 2)) '$bundle'" ;;
	overwritten) rules="$class:$n:run=head -c 3000 /dev/zero | dd of='$bundle' bs=1000 seek=2 conv=notrunc 2>/dev/null" ;;
	replaced) rules="$class:$n:run=cp up.dray '$HERE/next' && mv '$HERE/next' '$bundle'" ;;
	edited) rules="$class:$n:run=echo edited here >>'$t/a'" except=' a$' ;;
	immutable) rules="$class:$n:run=chattr -f +i '$t/lib' '$t/d/c' || :" ;;
	swapped | flicker) rules="$class:$n:run=./swapdir '$t/d' '$HERE/m/other' 1" ;;
	clock-*) rules="clock:1+:clock=${error#clock-}" ;;
	handles | memory-* | read-only | full | no-inodes | swapping) rules=sync:0:EIO ;;
	esac
	case $error in swapped | flicker | swapping) except='^\.d\.\.t\.*  *\./$' ;; esac	# whose time it is that changes by it
	case $error in
	EIO+) [ "$class" != read@up.dray ] || may=33 ;;
	cut | overwritten) may="0 24 31 33" ;;
	replaced) may=0 ;;
	edited | immutable | swapped | flicker | swapping) may="$may 20 24 41" ;;
	flip) case $verb in apply | repair) line="$line --verify-writes" ;; esac ;;
	clock-*) may=$undisturbed ;;
	handles) may=$undisturbed workers=-j8 ;;
	read-only) [ "$kind" != look ] || may=$undisturbed ;;
	full | no-inodes)
		case $verb in
		rollback | undo | back) may=0 ;;
		resume) may='0 1' ;;	# its end may need files that are not made yet; the next run makes them
		*) [ "$kind" != look ] || may=$undisturbed ;;
		esac
		head -c 1G /dev/zero >"$HERE/m/fill" 2>/dev/null
		if [ "$error" = no-inodes ]; then
			rm "$HERE/m/fill"
			mkdir "$HERE/m/fill"
			seq 2500 | (cd "$HERE/m/fill" && xargs touch) 2>/dev/null
		fi
		;;
	esac
	[ "$error" != read-only ] || mount -o remount,ro "$HERE/m" || wrong 'cannot be made read-only'
}

# ... and what has to be undone before its outcome can be seen
aftermath() {
	case $error in
	read-only) mount -o remount,rw "$HERE/m" ;;
	full | no-inodes) [ "$kind" = look ] || rm -rf "$HERE/m/fill" ;;
	immutable) chattr -f -i "$t/lib" "$t/d/c" ;;
	edited) grep -rqx 'edited here' "$t" || [ ! -s "$HERE/list" ] || wrong 'the edit is lost' ;;
	memory-*) [ "$rc" = 0 ] || [ "$rc" = "$undisturbed" ] || says 'memory\|start thread' || wrong 'it does not say that memory is short' ;;
	esac
	[ ! -L "$t/d" ] || ./swapdir "$t/d" "$HERE/m/other" 1
	[ ! -d "$HERE/m/outside" ] || inventory "$HERE/m/outside" | cmp -s - "$HERE/outside" || wrong 'it went outside'
}

point() {
	verb=$1 class=$2 n=$3 error=$4 serial=$5
	id=$verb.$class.$n.$error except='' workers=''
	HERE=$WORK/at.$id t=$WORK/at.$id/m/t
	case $error in
	cut | overwritten | replaced) bundle=$HERE/up.dray ;;
	*) bundle=up.dray ;;
	esac
	scene "$verb"
	mkdir -p "$HERE/m"
	cp --sparse=always "$WORK/image.$image" "$HERE/image" && mount -o loop "$HERE/image" "$HERE/m" || {
		image=none
		wrong 'no image'
	}
	cd "$WORK" || exit 1
	[ $bundle = up.dray ] || cp up.dray "$bundle"
	undisturbed=$(cat "status.$verb")
	prepare
	[ ! -d "$HERE/m/outside" ] || inventory "$HERE/m/outside" >"$HERE/outside"
	[ "$kind" = tree ] || inventory "$HERE/m" >"$HERE/before"
	set -- "$rules"
	[ "$error" != flicker ] || set -- "$rules" "$class:$((n + 1)):run=./swapdir '$t/d' '$HERE/m/other' 1"
	swapper=
	if [ "$error" = swapping ]; then
		./swapdir "$t/d" "$HERE/m/other" 2>/dev/null &
		swapper=$!
	fi
	set -- "$HERE/list" "$@" --
	case $error in
	handles) set -- "$@" /bin/sh -c 'ulimit -n 64; exec "$@"' sh ;;
	memory-*) set -- "$@" /bin/sh -c 'ulimit -v "$0"; exec "$@"' "${error#memory-}" ;;
	esac
	disturbed "$@" >"$HERE/out" 2>&1 </dev/null
	rc=$?
	[ -z "$swapper" ] || { kill $swapper; wait $swapper 2>/dev/null; }
	[ "$mode" != point ] || { cat "$HERE/out"; echo "status $rc; touched: $(cat "$HERE/list")"; }
	verdict=told
	[ $rc != 0 ] || verdict=passed
	[ -s "$HERE/list" ] || [ "$class" = around ] || verdict=missed
	aftermath
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
cc -D_GNU_SOURCE -o swapdir "$TOP/tests/fault/swapdir.c" || exit 1
"$DRAY" key show ops.pub | grep -oE '([0-9a-f]{4} ){7}[0-9a-f]{4}' | head -n 1 >fingerprint
packed() {	# NAME OLD NEW RECIPE
	"$DRAY" build --from "trees/$2" --to "trees/$3" --product fault --version 2 --counter 2 --recipe "$4" --key ops.key \
	    -o "$1.dray" >log 2>&1 || { cat log; exit 1; }
}
mkdir phases
sh "$TOP/tools/make-phases.sh" phases || exit 1
mv phases/mid1 phases/mid2 phases/want trees
mv phases/new trees/newest
mv phases/old trees/phases
packed phased phases newest phases/recipe.json
mkdir -p trees/calm/var/lib/dray trees/calm/bin trees/called/bin trees/called/var/lib
cc -static -o trees/calm/bin/act "$TOP/tests/cli/act.c" || { say 'no static C library'; exit 77; }
cp -p trees/calm/bin/act trees/called/bin
for f in calm called; do seq 1 300 | sed "s/\$/ $f/" >trees/$f/bin/tool; done
chmod 700 trees/calm/var/lib/dray
find trees/calm trees/called -exec touch -h -d @1000000000 {} +
echo '{"recipe": 1, "triggers": [{"id": "one", "paths": ["bin/tool"], "argv": ["/bin/act", "one"]},
 {"id": "two", "paths": ["bin/tool"], "argv": ["/bin/act", "two"], "after": ["one"]}]}' >recipe.json
packed triggers calm called recipe.json

t=$WORK/m/t HERE=$WORK
fresh_image() {	# NAME TREE
	truncate -s 128M "image.$1" && mkfs.ext4 -q -F -N 2048 -J size=4 "image.$1" && mount -o loop "image.$1" m || exit 1
	case $1 in
	bare) mkdir m/etc ;;
	old) old_target trees "$t" && cp -a trees/old/d m/outside && cp -a trees/new/d/. m/outside && ln -s ../outside m/other ;;
	*) cp -a "trees/$2" "$t" ;;
	esac
	release m "image.$1" || exit 1
}
on() {	# IMAGE FROM ARG... - IMAGE is FROM after the command
	made=$1
	cp --sparse=always "image.$2" "image.$made" && mount -o loop "image.$made" m || exit 1
	shift 2
	"$@" >log 2>&1
	rc=$?
	release m "image.$made" || exit 1
}
did() {	# WANTED - the status of the last one
	[ $rc = "$1" ] || { say "$made: status $rc"; cat log; exit 1; }
}
middle() {
	awk '$2 == "renameat2" { at[++n] = $1 } END { print at[int(n / 2)] }' calls
}
fresh_image old old
fresh_image bare
fresh_image phases phases
fresh_image calm calm
apply="apply up.dray --root $t --keyring ops.pub -j1"
# shellcheck disable=SC2086 # words on purpose
{
	on new old "$INSTALL" $apply
	did 0
	on counted old "$OUT/killat" 0 calls "$INSTALL" $apply
	on killed old "$OUT/killat" "$(middle)" calls "$INSTALL" $apply
	did 137
	on counted new "$OUT/killat" 0 calls "$INSTALL" rollback --root "$t" -j1
	on undoing new "$OUT/killat" "$(middle)" calls "$INSTALL" rollback --root "$t" -j1
	did 137
}
# shellcheck disable=SC2016
on damaged new sh -c 'echo z >>"$0/a" && rm "$0/d/c" && chmod 600 "$0/meta" && cp -a "$0" trees/damaged' "$t"
did 0
on phased phases "$INSTALL" apply phased.dray --root "$t" --keyring ops.pub --phase kernel -j1
did 0
on due calm "$INSTALL" apply triggers.dray --root "$t" --keyring ops.pub --no-triggers -j1
did 0
rm image.counted

VERBS=${VERBS:-verify verify-damaged plan check check-damaged status log paths export trust apply repair rollback resume undo
    forget phase back triggers due}
: >all
for verb in $VERBS; do
	scene "$verb"
	cp --sparse=always "image.$image" image.now && mount -o loop image.now m || exit 1
	disturbed list "$CLASSES:0:EIO" read@up.dray:0:EIO create:0:EIO -- >log 2>&1 </dev/null
	rc=$?
	[ -z "$made" ] || cp "$made" "made.$verb"
	release m image.now || exit 1
	case $verb:$rc in
	verify-damaged:31 | check-damaged:20 | *:0) echo $rc >"status.$verb" ;;
	*) say "$verb that nothing disturbs: status $rc"; cat log; exit 1 ;;
	esac
	cp log "answer.$verb"
	[ "$verb" != plan ] || sed -n 's/.*"plan_id":"\([0-9a-f]*\)".*/\1/p' log >plan_id
	lasting=
	[ "$kind" = look ] || lasting='create write,make,size,create write,make,size,rename,unlink,attr,create write,make,size,rename,unlink,attr,sync'
	for class in $(echo "$CLASSES" | tr ',' ' ') $lasting read@up.dray "$WALKS"; do
		calls=$(awk -v class=",$class," 'index(class, "," $3 ",") { n++ } END { print n + 0 }' list)
		case $class in
		read@up.dray | "$WALKS") errors= ;;
		*) errors=$(errors_of "$class") ;;
		esac
		for error in $errors; do
			awk -v head="$verb $class" -v calls="$calls" -v error="$error" 'BEGIN {
				for (i = 1; i <= calls; i++) print head, i, error }' >>all
		done
		for error in $(events_of "$class" "$verb"); do
			some=$EVENTS
			case $EVENTS:$error in all:* | *:flip) some=$calls ;; esac
			awk -v head="$verb $class" -v calls="$calls" -v error="$error" -v some="$some" 'BEGIN {
				if (some > calls) some = calls
				for (i = 0; i < some; i++) print head, int((i + 0.5) * calls / some) + 1, error }' >>all
		done
	done
	for error in $AROUND; do echo "$verb around 1 $error"; done >>all
	case $verb in
	apply | repair | rollback | resume)
		[ "$EVENTS" = all ] && some=200 || some=$EVENTS
		seq "$some" | sed "s/.*/$verb around & swapping/" >>all ;;
	esac
done
if [ -n "${CLASSES_ONLY:-}" ]; then
	awk -v only=" $CLASSES_ONLY " 'index(only, " " $2 " ") || index(only, " " $4 " ")' all >all.some && mv all.some all
fi

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
	awk -v part="${PART:-1/1}" 'BEGIN { split(part, p, "/") } NR % p[2] == p[1] % p[2]' all >chosen
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
