#!/bin/sh
# real-trees.sh - the whole way on real release trees: build slim and complete, extract everything, apply on an ext4
# image, compare with rsync (which knows nothing of us), roll back, compare again
#   real-trees.sh TREES WORK [PAIR...]      TREES holds OLD and NEW of each PAIR
# PAIR: NAME=OLD:NEW, default: major=old:new minor=minor-old:minor-new source=src-old:src-new
# LEVEL (default fast) is the build level; WORK needs room for the trees once more and the bundles. Root only.
set -eu
export LC_ALL=C TZ=UTC

TOP=$(cd "$(dirname "$0")/.." && pwd)
OUT=${OUT:-$TOP/out}
LEVEL=${LEVEL:-fast}
DRAY=$OUT/dray INSTALL=$OUT/dray-install
[ $# -ge 2 ] || { sed -n '2,6s/^# //p' "$0"; exit 2; }
trees=$1 work=$2
shift 2
[ $# -gt 0 ] || set -- major=old:new minor=minor-old:minor-new source=src-old:src-new

mkdir -p "$work"
cd "$work"
[ -f ops.key ] || "$DRAY" key new ops >/dev/null
mounted=
cleanup() {
	[ -z "$mounted" ] || umount "$work/mnt" || umount -l "$work/mnt"
	rm -f "$work/img"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

# same WANTED GOT WHAT - the root directory's own attributes are no part of a release, nor is the state folder
bad=0
same() {
	state=/var
	[ ! -d "$1/var" ] || state=/var/lib
	[ ! -d "$1/var/lib" ] || state=/var/lib/dray
	d=$(rsync -n -aHAX --checksum --modify-window=-1 --delete --itemize-changes --exclude="$state" "$1/" "$2/" |
	    grep -v '^\.d\.\.[a-z.]*  *\./$' || true)
	if [ -z "$d" ]; then
		echo "    ok: $3"
	else
		echo "    NOT OK: $3"
		echo "$d" | head -n 10 | sed 's/^/      /'
		bad=$((bad + 1))
	fi
}
timed() {
	what=$1
	shift
	begin=$(date +%s)
	"$@" || { echo "    NOT OK: $what: status $?"; bad=$((bad + 1)); }
	echo "    $what: $(($(date +%s) - begin)) s"
}

for pair; do
	name=${pair%%=*} both=${pair#*=}
	old=$trees/${both%%:*} new=$trees/${both#*:}
	echo "$name: $(find "$old" | wc -l) -> $(find "$new" | wc -l) paths"
	for mode in slim complete; do
		b=$name-$mode.dray
		flag=
		[ $mode = complete ] || flag=--slim
		# shellcheck disable=SC2086
		timed "$mode build" "$DRAY" build --from "dir:$old" --to "dir:$new" --product real --version "$name" --counter 2 \
		    $flag --level "$LEVEL" --cache cache --key ops.key -q -o "$b"
		echo "    $b: $(stat -c %s "$b") bytes"
		rm -rf x
		# also a complete bundle holds only what changed
		timed "$mode extract" "$DRAY" extract -p "$b" -C x --base "dir:$old" --keyring ops.pub -q
		same "$new" x "$mode, extracted"
		rm -rf x
		truncate -s 8G img
		mkfs.ext4 -q -F img
		mkdir -p mnt
		mount -o loop img mnt
		mounted=1
		cp -a "$old" mnt/root
		sync -f mnt
		timed "$mode plan" "$INSTALL" plan "$b" --root mnt/root --keyring ops.pub -q
		timed "$mode apply" "$INSTALL" apply "$b" --root mnt/root --keyring ops.pub -q
		same "$new" mnt/root "$mode, applied"
		timed "$mode check" "$INSTALL" check --root mnt/root -q
		timed "$mode rollback" "$INSTALL" rollback --root mnt/root -q
		same "$old" mnt/root "$mode, rolled back"
		umount mnt
		mounted=
	done
done
[ $bad = 0 ] || { echo "$bad not ok"; exit 1; }
echo "all as released"
