#!/bin/sh
# a user's own quota, of bytes and of inodes, ends while staging: the old state, no debris; with more of it the upgrade goes
# through. The file system has room for all: only the kernel's refusal tells
. "$(dirname "$0")/lib.sh"

is_root || skip 'needs root, for a mount'
command -v setquota >/dev/null || skip 'no setquota'
mkdir -p root old/d old/var/lib new/d new/var/lib
for n in 1 2 3 4 5 6 7 8 9; do
	head -c 30000 /dev/urandom >old/d/$n
	head -c 90000 /dev/urandom >new/d/$n
done
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0

truncate -s 64M img && mkfs.ext4 -q -F -O quota img || skip 'no mkfs.ext4 with quotas'
unshare -m mount -o loop,usrquota img root 2>/dev/null || skip 'no mounts with quotas here'
cp "$INSTALL" installer
chmod 755 . installer old new
chmod 644 ops.pub up.dray
export T

# limits KIB INODES - of nobody; in a mount of its own the upgrade by that user, then what it left: as it was, or the new tree
limits() {
	run unshare -m sh -c '
		mount -o loop,usrquota img root && cp -a old/. root && chown -R 65534:65534 root || exit 90
		mkdir -m 700 -p root/var/lib/dray && chown 65534:65534 root/var/lib/dray
		: >root/var/lib/dray/lock && chown 65534:65534 root/var/lib/dray/lock && chmod 600 root/var/lib/dray/lock
		touch -d @1700000000 root/var/lib/dray root/var/lib
		setquota -u 65534 0 "$1" 0 "$2" root || exit 91
		(cd root && find . -path "./var/lib/dray/*" -prune -o -printf "%P %y %m %U %T@ %s %i %C@\n" -type f -exec sha256sum {} + | sort) >before
		setpriv --reuid=65534 --regid=65534 --clear-groups ./installer apply up.dray --root root --keyring ops.pub --no-owner -q
		status=$?
		(cd root && find . -path "./var/lib/dray/*" -prune -o -printf "%P %y %m %U %T@ %s %i %C@\n" -type f -exec sha256sum {} + | sort) >after
		rsync -naHX --checksum --delete --no-owner --no-group --no-times --itemize-changes --exclude=/var/lib/dray \
		    --exclude=/lost+found new/ root/ >differs
		ls root/var/lib/dray/tx >slots 2>/dev/null
		umount root
		exit $status' sh "$@"
}
used=$((9 * 32 + 24))	# KiB
limits $((used + 600)) 0
want_status 21
want_text 'isk quota exceeded'
want_text 'nothing'
# times of the state folder are the installer's; no name in it is new
as_before() {
	grep -v '^var/lib/dray ' before >b
	grep -v '^var/lib/dray ' after >a
	want_same b a
	[ ! -s slots ] && ok 'nothing is staged' || fail "staged: $(cat slots)"
}
as_before
limits 0 20
want_status 21
want_text 'isk quota exceeded'
as_before
# the installer copies itself into the state folder, for a rescue
limits $((4000 + $(du -k installer | cut -f 1))) 200
want_status 0
[ ! -s differs ] && ok 'with room it is the new tree' || { fail 'not the new tree'; cat differs; }
