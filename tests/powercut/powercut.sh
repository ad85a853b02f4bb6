#!/bin/sh
# powercut.sh - what a disk may hold after the power went, at many moments of an upgrade, and what the next run makes of it
#   powercut.sh short               8 images of ext4, 3 without barriers                 (part of make test)
#   powercut.sh full                ext4, xfs and btrfs                                  (make powercut)
#       IMAGES="ext4:1000 xfs:300 btrfs:300" says how many, WAYS="apply forget" which; the result is kept in $OUT/powercut
#
# A recording: a file system on a loop device on a file whose every write and flush is logged (flog.c). In it: apply, resume of a
# switch that was killed, rollback, one phase of an upgrade, or forget. In every second recording the file system is told to write
# (sync -f) all the time while the switch goes on, so that the disk meets many states in the middle of it.
#
# An image: the log up to some record, most of them between the records COMMIT and DONE (or UNDO and UNDONE) of the journal; in every
# second one a random half of what was written after the last flush is lost. It is mounted (the file system replays its journal),
# the next run comes (`resume`, every third time the same command again), and the tree must be exactly as before or exactly as
# after; after a cut behind the end of the command: as after. The evidence must be whole, nothing pending, and fsck find nothing.
# After forget the way back must be there as a whole, or gone.
#
# Negative control: the same upgrade with syncfs and fsync doing nothing must fail in that judgement, or the campaign sees nothing.
export NAME=powercut
. "$(dirname "$0")/../crash/common.sh"

mode=${1:-short}
WAYS=${WAYS:-apply rollback resume phase forget}
case $mode in
short) IMAGES=ext4:8 per=8 control=3 ;;
full) IMAGES=${IMAGES:-ext4:1000 xfs:300 btrfs:300} per=${PER:-25} control=${CONTROL:-20} ;;
*)
	echo "usage: powercut.sh short|full" >&2
	exit 2
	;;
esac

none() {
	echo "$*"
	exit 77
}
[ "$(id -u)" = 0 ] || none 'needs root, for loop devices and mounts'
[ -c /dev/fuse ] || none 'needs /dev/fuse'
if [ ! -x "$OUT/flog" ] || [ ! -x "$OUT/failat" ]; then none 'needs flog and failat, which are for Linux on x86-64'; fi
losetup -f >/dev/null 2>&1 || none 'needs a free loop device'

plain_scratch
cd "$HOME_DIR" || exit 1
loop='' fuse='' syncing=''
M=$HOME_DIR/m	# where file systems are mounted
undo() {
	[ -z "$syncing" ] || { : >"$HOME_DIR/enough"; wait "$syncing"; }
	! mountpoint -q "$M" || umount "$M" || umount -l "$M"
	[ -z "$loop" ] || losetup -d "$loop"
	[ -z "$fuse" ] || umount "$HOME_DIR/fuse" || umount -l "$HOME_DIR/fuse"
}
at_end undo
mkdir m fuse logs

die() {
	say "$*"
	[ ! -s log ] || tail -n 20 log
	exit 1
}

mkfs_of() {
	case $1 in
	ext4) truncate -s 192M "$2" && mkfs.ext4 -q -F -N 4096 -J size=4 "$2" ;;
	xfs) truncate -s 320M "$2" && mkfs.xfs -q "$2" ;;
	btrfs) truncate -s 256M "$2" && mkfs.btrfs -q "$2" ;;
	esac
}

mount_it() {	# FS FILE
	# an older image of a file system that is known by its number would be refused
	[ "$1" != btrfs ] || btrfs device scan --forget >/dev/null 2>&1
	mount -o loop "$2" "$M"
}

fsck_of() {
	case $1 in
	ext4) e2fsck -fn "$2" ;;
	xfs) xfs_repair -n "$2" ;;
	btrfs) btrfs check --readonly "$2" ;;
	esac >fsck.log 2>&1
}

# --- what is upgraded ----------------------------------------------------------------------------------------------

mkdir cases phases
rmdir cases
sh "$TOP/tools/make-cases.sh" cases small && sh "$TOP/tools/make-phases.sh" phases || exit 1
"$DRAY" key new ops >/dev/null &&
    "$DRAY" build --from dir:cases/old --to dir:cases/new --product cut --version 2 --counter 2 --key ops.key -o up.dray >log 2>&1 &&
    "$DRAY" build --recipe phases/recipe.json --from phases/old --to phases/new --product cut --version 2 --counter 2 \
    --key ops.key -o phased.dray >log 2>&1 || die 'no bundles'

# the commands, on the tree $M/t
way() {
	case $1 in
	apply | controlled) set -- apply up.dray --keyring ops.pub ;;
	resume) set -- resume ;;
	rollback | forget) set -- "$1" ;;
	phase) set -- apply phased.dray --keyring ops.pub --phase world ;;
	esac
	echo "$* --root $M/t"
}
before() {
	case $1 in
	rollback | forget) echo cases/new ;;
	phase) echo phases/mid1 ;;
	*) echo cases/old ;;
	esac
}
after() {
	case $1 in
	rollback) echo cases/old ;;
	phase) echo phases/mid2 ;;
	*) echo cases/new ;;
	esac
}
# the first bytes of the records between which the switch lies: DLOG, sequence, state (spec/apply.md, "Log")
marks() {
	case $1 in
	rollback) echo 444c4f470400000004000000 444c4f470500000005000000 ;;
	forget) echo 444c4f470400000006000000 00 ;;	# the log goes with the rest
	resume) echo 00 444c4f470200000002000000 ;;	# its COMMIT is older than the recording
	phase) echo 444c4f470300000001000000 444c4f470400000002000000 ;;
	*) echo 444c4f470100000001000000 444c4f470200000002000000 ;;
	esac
}

# image FS WAY - base.FS.WAY: the file system as it is before the command
image() {
	b=base.$1.$2
	[ ! -e "$b" ] || return 0
	mkfs_of "$1" "$b" >log 2>&1 && mount_it "$1" "$b" || die "no $1 here"
	case $2 in
	phase) cp -a phases/old "$M/t" ;;
	*) old_target cases "$M/t" ;;
	esac
	case $2 in
	rollback | forget) run log apply up.dray --keyring ops.pub --root "$M/t" || die 'apply' ;;
	phase) run log apply phased.dray --keyring ops.pub --root "$M/t" --phase kernel || die 'phase kernel' ;;
	resume)	# in the middle of the switch
		"$OUT/killat" 0 calls "$INSTALL" apply up.dray --keyring ops.pub --root "$M/t" -j1 >log 2>&1 || die 'apply'
		call=$(awk '$2 == "renameat2" { at[++n] = $1 } END { print at[int(n / 2)] }' calls)
		rm -rf "$M/t"
		old_target cases "$M/t"
		"$OUT/killat" "$call" calls "$INSTALL" apply up.dray --keyring ops.pub --root "$M/t" -j1 >log 2>&1
		[ $? = 137 ] || die "not killed at call $call"
		;;
	esac
	release "$M" "$b" || die 'does not unmount'
}

# record FS WAY BUSY - the command, its writes in `wlog`; from $first to $last: records of the switch; $ended: the command's end
record() {
	cp --sparse=always "base.$1.$2" live || exit 1
	: >ready
	"$OUT/flog" live wlog fuse >ready 2>&1 &
	i=0
	until [ -s ready ]; do
		i=$((i + 1))
		[ $i -lt 200 ] || die 'flog does not mount'
		sleep 0.05
	done
	[ "$(cat ready)" = ready ] || die "flog: $(cat ready)"
	fuse=1
	loop=$(losetup -f --show fuse/img) && mount "$loop" "$M" || die "no mount on a loop device on /dev/fuse"
	rules=vector:0:EIO	# changes nothing
	[ "$2" != controlled ] || rules=syncfs,fsync:1+:zero
	if [ "$3" = busy ]; then
		rules="renameat2,unlinkat:1+:run=:"	# slowly, so that others come between
		rm -f enough
		until [ -e enough ]; do sync -f "$M"; done &
		syncing=$!
	fi
	# shellcheck disable=SC2046
	"$OUT/failat" touched "$rules" -- "$INSTALL" $(way "$2") -j1 >log 2>&1 </dev/null || die "$2 that nobody disturbs: status $?"
	[ -z "$syncing" ] || { : >enough; wait "$syncing"; syncing=''; }	# not killed: a sync that is left would hold the mount
	ended=$("$OUT/freplay" wlog find)
	is "$M/t" "$(after "$2")" || die "$2 that nobody disturbs does not end right: $(differs "$M/t" "$(after "$2")" | head -n 5)"
	umount "$M" && losetup -d "$loop" && loop='' && detached fuse/img && umount fuse && fuse='' || die 'does not unmount'
	# shellcheck disable=SC2046
	"$OUT/freplay" wlog find $(marks "$2") >found
	first=$(sed -n 1p found) last=$(sed -n 2p found) all=$(sed -n 3p found)
	[ "$2" != resume ] || first=1
	[ "$2" != forget ] || last=$ended
	if [ "$first" = 0 ] || [ "$last" = 0 ]; then die "$2 on $1: the journal's records are not in the log"; fi
	[ "$first" -lt "$last" ] || [ "$2" = controlled ] || die "$2 on $1: DONE ($last) is not behind COMMIT ($first)"
}

# way_back CUT - after forget and the run behind it: all of the way back is there and leads to the old tree, or nothing of it
way_back() {
	run log rollback --root "$t"
	case $? in
	0)
		is "$t" cases/old || wrong="forget left a part of the way back: $(differs "$t" cases/old 2>&1 | head -n 3 | tr '\n' ' ')"
		[ "$1" -lt "$ended" ] || wrong='the way back is there although forget had ended'
		olds=$((olds + 1)) news=$((news - 1))
		;;
	*)
		grep -q 'there is nothing to go back to' log || wrong="rollback after forget: $(tail -n 2 log | tr '\n' ' ')"
		[ -z "$(left_behind "$t")" ] && [ -z "$(ls -A "$t/$STATE/tx")" ] || wrong="forget left behind: $(ls "$t/$STATE/tx")"
		;;
	esac
}

# judge FS WAY K SEED SERIAL - one image; nothing when it is right, else what is wrong
judge() {
	cp --sparse=always "base.$1.$2" cut && "$OUT/freplay" wlog cut "$3" $4 || { echo 'no image'; return; }
	mount_it "$1" cut >log 2>&1 || { echo "does not mount: $(tail -n 1 log)"; return; }
	t=$M/t wrong=
	if [ "$mode" = full ] && ! is "$t" "$(after "$2")" && ! is "$t" "$(before "$2")"; then mixed=$((mixed + 1)); fi
	# shellcheck disable=SC2046
	if [ $(($5 % 3)) = 2 ] && [ "$2" != rollback ] && [ "$2" != forget ] && [ "$2" != controlled ]; then
		run log $(way "$2")
		made='as after'
	else
		run log resume --root "$t"
		made=either
	fi
	rc=$?
	[ "$2" != resume ] && [ "$3" -lt "$ended" ] || made='as after'
	if [ $rc != 0 ]; then
		wrong="the next run: status $rc: $(tail -n 2 log | tr '\n' ' ')"
	elif is "$t" "$(after "$2")"; then
		news=$((news + 1))
	elif [ "$made" = either ] && is "$t" "$(before "$2")"; then
		olds=$((olds + 1))
	else
		wrong="the tree is not $made: $(differs "$t" "$(after "$2")" 2>&1 | head -n 3 | tr '\n' ' ')"
	fi
	if [ -z "$wrong" ]; then
		run log status --root "$t" --log || wrong="the evidence: $(tail -n 1 log)"
		run log status --root "$t" --json || wrong="status: $(tail -n 1 log)"
		grep -q '"pending":"none"\|"pending":"between"\|"phases_left"' log || wrong="still pending: $(cat log)"
	fi
	[ -n "$wrong" ] || [ "$2" != forget ] || way_back "$3"
	release "$M" cut || die 'does not unmount'
	if [ -z "$wrong" ] && ! fsck_of "$1" cut; then wrong="fsck: $(grep -v '^Pass' fsck.log | head -n 8 | tr '\n' ' ')"; fi
	[ -z "$wrong" ] || echo "$wrong"
}

# cuts COUNT SEED - "K SEED" for each image: seven of ten in the switch, two before it, one behind it; every second lossy
cuts() {
	awk -v count="$1" -v seed="$2" -v first="$first" -v last="$last" -v ended="$ended" -v all="$all" 'BEGIN {
		srand(seed)
		if (last > all) last = all
		for (i = 0; i < count; i++) {
			lo = first; hi = last
			if (i % 10 == 2 || i % 10 == 5) { lo = 1; hi = first } else if (i % 10 == 8) { lo = last; hi = all }
			lossy = rand() < 0.5
			if (i == count - 1) { lo = hi = ended; lossy = 1 }	# right behind the command
			k = lo + int(rand() * (hi - lo + 1))
			print k, lossy ? 1 + int(rand() * 1000000000) : ""
		}
	}'
}

# --- the campaign --------------------------------------------------------------------------------------------------

result=/dev/null
if [ "$mode" = full ]; then
	mkdir -p "$OUT/powercut"
	result=$OUT/powercut/$(date -u +%Y-%m-%dT%H%M%SZ).txt
	say "the result goes to $result"
fi
tell() {
	say "$*" | tee -a "$result"
}
began=$(date +%s) bad=0 total=0
[ "$mode" = short ] || tell "$(uname -sr), $(sha256sum "$INSTALL" | cut -c 1-16) $IMAGES"

for part in $IMAGES; do
	fs=${part%:*} want=${part#*:} n=0 round=0 olds=0 news=0 mixed=0 failed=0
	command -v "mkfs.$fs" >/dev/null || { tell "$fs: not here, no mkfs.$fs"; continue; }
	while [ $n -lt "$want" ]; do
		for w in $WAYS; do
			[ $n -lt "$want" ] || break
			[ "$mode" = full ] || case $w in resume | phase | forget) continue ;; esac
			busy=busy
			[ $((round % 2)) = 0 ] || busy=quiet
			some=$per
			[ "$mode" = full ] || some=4
			[ $((n + some)) -le "$want" ] || some=$((want - n))
			image "$fs" "$w"
			record "$fs" "$w" $busy
			cuts "$some" "$((round * 10 + some))" >list
			i=0
			while read -r k seed; do
				i=$((i + 1)) n=$((n + 1))
				judge "$fs" "$w" "$k" "$seed" "$((round + i))" >verdict
				[ -s verdict ] || continue
				failed=$((failed + 1))
				tell "NOT OK $fs, $w ($busy), cut at $k of $all (switch $first to $last, end $ended), seed ${seed:-none}: $(cat verdict)"
				if [ -n "${KEEP:-}" ]; then
					cp --sparse=always "base.$fs.$w" "failed.$fs.$w.$k.${seed:-0}"
					"$OUT/freplay" wlog "failed.$fs.$w.$k.${seed:-0}" "$k" $seed
				fi
			done <list
		done
		round=$((round + 1))
	done
	tell "$fs: $n images: $olds as before, $news as after ($mixed were in the middle of the switch); failed $failed"
	if [ "$failed" != 0 ] || [ "$olds" = 0 ] || [ "$news" = 0 ]; then bad=$((bad + 1)); fi
	total=$((total + n))

	# without barriers the same must be seen to fail
	image "$fs" controlled
	record "$fs" controlled quiet
	i=0 seen=0
	while [ $i -lt "$control" ]; do
		i=$((i + 1))
		k=$((first + i * (all - first) / (control * 2)))
		seed=$((i * 7919))
		judge "$fs" controlled $k $seed 0 >verdict
		[ ! -s verdict ] || seen=$((seen + 1))
	done
	tell "$fs: without barriers $seen of $control images are neither"
	if [ "$seen" = 0 ]; then bad=$((bad + 1)); fi
done
tell "$total images in $(($(date +%s) - began)) s; $([ $bad = 0 ] && echo 'all right' || echo "NOT RIGHT")"
[ $bad = 0 ] && [ $total -gt 0 ]
