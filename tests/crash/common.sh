# shellcheck shell=sh disable=SC2034
# common.sh - sourced by the campaigns (crash, powercut, fault): where they work, and how they judge a tree
#
#   NAME=crash . common.sh
#
# After it: $TOP, $OUT (absolute), $DRAY, $INSTALL, $STATE, and
#   say WORD...			a line of the campaign
#   differs TREE WANTED		what rsync would have to do to make TREE equal to WANTED; nothing: they are equal
#   is TREE WANTED
#   run LOG ARG...		one run of the installer
#   scratch SIZE		a fresh folder $WORK, in an ext4 image of that size of its own in memory, where loop mounts are possible;
#				$mounted is 1 then. All of it goes at the end, unless KEEP is set
#   plain_scratch		a fresh folder $HOME_DIR in memory if there is room, else in the folder for temporary files
#   at_end COMMAND		is called before that

set -u
export LC_ALL=C TZ=UTC

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
OUT=${OUT:-out}
case $OUT in
/*) ;;
*) OUT=$TOP/$OUT ;;
esac
DRAY=$OUT/dray INSTALL=$OUT/dray-install
STATE=var/lib/dray
mounted='' at_end=''

say() {
	printf '%s: %s\n' "$NAME" "$*"
}

# rsync knows nothing of us; xfs shows ACLs as attributes too, which are compared as ACLs
differs() {
	(cd "$2" && rsync -n -aHAX --checksum --modify-window=-1 --delete --itemize-changes --exclude="/$STATE" \
	    --exclude=/.dray --exclude=/.dray-pending \
	    --filter='-x system.*' --filter='-x trusted.SGI_ACL_*' ./ "$1/")
}

is() {
	[ -z "$(differs "$1" "$2" 2>&1)" ]
}

run() {
	log=$1
	shift
	"$INSTALL" "$@" >"$log" 2>&1 </dev/null
}

at_end() {
	at_end=$1
}

cleanup() {
	cd /
	[ -z "$at_end" ] || $at_end
	[ -z "$mounted" ] || umount "$HOME_DIR/mnt" || umount -l "$HOME_DIR/mnt"
	[ -n "${KEEP:-}" ] || rm -rf "$HOME_DIR"
}

plain_scratch() {
	base=${TMPDIR:-/tmp}
	# in memory, where there is room: these campaigns are about order, not about the disk
	[ ! -d /dev/shm ] || [ "$(df -Pk /dev/shm | awk 'NR == 2 { print int($4 / 1024) }')" -lt 1024 ] || base=/dev/shm
	HOME_DIR=$(mktemp -d -p "$base") || exit 1
	trap cleanup EXIT
	trap 'exit 130' INT TERM HUP
}

scratch() {
	plain_scratch
	mkdir "$HOME_DIR/mnt"
	if [ "$(id -u)" = 0 ] && truncate -s "$1" "$HOME_DIR/img" && mkfs.ext4 -q -F -N 65536 "$HOME_DIR/img" 2>/dev/null &&
	    mount -o loop "$HOME_DIR/img" "$HOME_DIR/mnt" 2>/dev/null; then
		mounted=1
		WORK=$HOME_DIR/mnt/w
	else
		say "no loop mount here: the trees lie in a plain folder"
		rm -rf "$HOME_DIR"
		HOME_DIR=$(mktemp -d) || exit 1
		WORK=$HOME_DIR/w
	fi
	mkdir "$WORK" "$WORK/points"
	export WORK OUT TOP
}

# release DIR FILE - unmount DIR, and wait until it is
# detached FILE - wait until FILE is no loop device's any more: a mount namespace that something else on this
# machine has made meanwhile holds a copy of the mount, for as long as it lives
release() {
	umount "$1" && detached "$2"
}

detached() {
	i_detached=0
	while [ -n "$(losetup -j "$1")" ]; do
		i_detached=$((i_detached + 1))
		[ $i_detached -lt 1200 ] || return 1
		sleep 0.05
	done
}

# old_target CASES TREE - the old tree with the state folder's place made, so that the folder above keeps its time
old_target() {
	cp -a "$1/old" "$2"
	mkdir -m 700 "$2/$STATE"
	touch -r "$1/old/var/lib" "$2/var/lib"
}

# left_behind TREE - what no run leaves when nothing is pending
left_behind() {
	find "$1" \( -name .dray -o -name .dray-pending -o -path '*/tx/*~' -o -name trash -o -name '*.new' -o -name '*.tmp' \) -print
}
