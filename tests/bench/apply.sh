#!/bin/sh
# apply.sh - what applying takes, against its lower limit: TREES=DIR OUT=out tests/bench/apply.sh   (make bench-apply; root)
# On an image of each file system of FS (default "ext4 xfs btrfs"), over a loop device, on fresh copies of the old tree and in
# turns (ROUNDS, default 5): dray-install apply, tools/bench-limit in its modes, then rollback. BUNDLE=complete or slim
# (default); SAMPLE=1 takes the samples (tools/sample-tree.sh). PAIRS may also hold made trees: NAME=made:FILES.
# MEDIUM=30000000 reads the bundle from an image of its own that gives so many bytes a second (a cgroup of block devices, v1).
# shellcheck disable=SC2154 # case, old and new are those of "trees" in lib.sh
. "$(dirname "$0")/lib.sh"
begin apply
ROUNDS=${ROUNDS:-5} FS=${FS:-ext4 xfs btrfs} J=${J:-$(getconf _NPROCESSORS_ONLN)}
mode=--slim
[ "${BUNDLE:-slim}" = slim ] || mode=
LIMIT=$OUT/bench-limit
need_trees
mkdir "$W/mnt" "$W/stick"

unmount() {	# DIR
	! mountpoint -q "$1" || umount "$1" || umount -l "$1"
	HOLD=$(echo " $HOLD " | sed "s, $1 , ,")
}
mount_image() {	# IMAGE DIR OPTIONS
	mount -o "loop$3" "$1" "$2"
	HOLD="$HOLD $2"
}
# a preallocated image, so that no flush has to find room for it
make_fs() {	# FS MIB
	unmount "$W/mnt"
	rm -f "$W/img"
	fallocate -l "$2M" "$W/img"
	case $1 in
	ext4) mkfs.ext4 -q -F -E nodiscard "$W/img" ;;
	xfs) mkfs.xfs -q -f -K "$W/img" ;;
	btrfs) mkfs.btrfs -q -f -K "$W/img" >/dev/null 2>&1 ;;
	*) echo "no such file system here: $1" >&2; exit 2 ;;
	esac
	mount_image "$W/img" "$W/mnt" ''
}
# memory that a virtual machine has given back is slow at first: what the run will need is touched before
touch_memory() {	# MIB
	perl -e 'my $x = "x" x (1048576 * $ARGV[0]); exit 0' "$1"
}
# a fresh copy of the old tree on the image, in the cache and on the disk
fresh() {
	rm -rf "$W/mnt/root"
	cp -a "$old" "$W/mnt/root"
	sync -f "$W/mnt"
	touch_memory $((need / 2))
}
ops_of() {
	sed -n 's/.*"phase":"'"$1"'".*"state":"done","total":\([0-9]*\).*/\1/p' "$W/err" | tail -n 1
}
# one run of ours, by phases; per path of the switch in microseconds
phases() {	# CASE WHO
	for p in opening looking preparing staging comparing 'writing to the disk' finishing; do
		sample "$1" "ms_$(echo "$p" | tr ' ' _)" "$2" "$(phase "$p")"
	done
	sample "$1" ms_switching "$2" "$(phase switching)"
	ops=$(ops_of switching)
	[ -z "$ops" ] || sample "$1" us_per_path "$2" "$(echo "$(phase switching) $ops" | awk '{ printf "%.2f\n", $1 * 1000 / ($2 > 0 ? $2 : 1) }')"
}
one_round() {	# CASE
	c=$1
	fresh
	# shellcheck disable=SC2086
	meter "$c" dray apply "$INSTALL" apply "$up" --root "$W/mnt/root" $KEY -j"$J" --progress json
	phases "$c" dray
	if [ "$round" = 1 ]; then
		same=$(differs "$new" "$W/mnt/root")
		[ -z "$same" ] || { echo "$c: not the new release: $same" >&2; exit 1; }
	fi
	meter "$c" dray rollback "$INSTALL" rollback --root "$W/mnt/root" --progress json
	sample "$c" ms_going_back dray "$(phase 'going back')"
	for m in apply hash write; do
		fresh
		meter "$c" "limit-$m" apply "$LIMIT" $m "$up" "$W/mnt/root" "$J"
	done
	# minutes of it show enough
	if [ "$round" = 1 ] && [ "${FSYNC:-1}" != 0 ]; then
		fresh
		meter "$c" limit-fsync apply "$LIMIT" fsync "$up" "$W/mnt/root" 1
	fi
}
# the bundle on a slow stick: a file system of its own, read once in order
medium() {	# CASE
	group=/sys/fs/cgroup/blkio/dray-bench.$$
	if ! mkdir "$group" 2>/dev/null; then
		echo "$1: no blkio cgroup (v1) here: the slow medium is left out" >&2
		return
	fi
	bytes=$(stat -c %s "$up")
	rm -f "$W/stick.img"
	truncate -s $((bytes + bytes / 20 + 16777216)) "$W/stick.img"
	mkfs.ext4 -q -F "$W/stick.img"
	mount_image "$W/stick.img" "$W/stick" ''
	cp "$up" "$W/stick/up.dray"
	unmount "$W/stick"
	mount_image "$W/stick.img" "$W/stick" ,ro
	loop=$(losetup -j "$W/stick.img" -n -O NAME | tr -d ' ')
	echo "$(lsblk -n -o MAJ:MIN "$loop" | tr -d ' ') $MEDIUM" >"$group/blkio.throttle.read_bps_device"
	for round in $(seq "$ROUNDS"); do
		fresh
		echo 1 >/proc/sys/vm/drop_caches
		# shellcheck disable=SC2016
		meter "$1" dray slow sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$INSTALL" apply "$W/stick/up.dray" \
		    --root "$W/mnt/root" --keyring "$W/ops.pub" -j"$J" --progress json
	done
	# what the medium alone takes for as many bytes; where that is little, it tells nothing
	sample "$1" slow_wall medium "$(echo "$bytes $MEDIUM" | awk '{ print $1 / $2 }')"
	[ $((bytes / MEDIUM)) -lt 5 ] || goal "$1" slow_wall dray medium 1.3
	unmount "$W/stick"
	rmdir "$group" 2>/dev/null || true
}

for pair in $PAIRS; do
	trees "$pair"
	up=$W/up.dray
	say "$case: build"
	"$DRAY" build -q --product bench --version 2 --counter 2 --key "$W/ops.key" --from "dir:$old" --to "dir:$new" $mode \
	    --level "${LEVEL:-fast}" --no-cache -o "$up"
	need=$(du -sm "$new" | cut -f 1)
	for fs in $FS; do
		make_fs "$fs" $((need * 5 + 512))
		for round in $(seq "$ROUNDS"); do
			say "$case on $fs, round $round"
			one_round "$case-$fs"
		done
		goal "$case-$fs" apply_wall dray limit-apply 1.3
		goal "$case-$fs" apply_cpu dray limit-apply 1.3
		goal "$case-$fs" rollback_wall dray apply_wall/dray 0.3
		goal "$case-$fs" us_per_path dray 1 20
		[ -z "${MEDIUM:-}" ] || medium "$case-$fs"
	done
	unmount "$W/mnt"
	rm -rf "$W/trees" "$up" "$W/img"
done
finish
