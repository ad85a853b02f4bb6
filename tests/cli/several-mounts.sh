#!/bin/sh
# several-mounts.sh - a root over several file systems: its own slots on each, one decision for all
. "$(dirname "$0")/lib.sh"
is_root || skip 'mounts need root'
command -v mkfs.ext4 >/dev/null || skip 'no mkfs.ext4'

key
# image NAME SIZE DIR - a small ext4 of its own, mounted on DIR
image() {
	truncate -s "$2" "$1.img" && mkfs.ext4 -q -F "$1.img" && mkdir -p "$3" && mount -o loop "$1.img" "$3" ||
	    skip 'no loop mounts here'
	rmdir "$3/lost+found"
	mounts="$3 $mounts"
}
mounts=
unmount() {
	for m in $mounts; do
		umount "$m" 2>/dev/null || umount -l "$m" 2>/dev/null
	done
	mounts=
}
trap 'unmount; at_end' EXIT

for t in old new; do
	mkdir -p $t/usr/lib $t/usr/gone $t/boot/deep $t/etc
	echo $t >$t/etc/conf
	echo $t >$t/usr/lib/liba.so
	echo same >$t/usr/same
	echo $t kernel >$t/boot/vmlinuz
done
ln old/usr/lib/liba.so old/usr/lib/libb.so
ln new/usr/lib/liba.so new/usr/lib/libb.so
echo old >old/usr/gone/file
echo old >old/boot/deep/old
rm -r new/usr/gone
mkdir new/usr/fresh new/usr/fresh/deep
echo x >new/usr/fresh/deep/x
ln new/usr/fresh/deep/x new/usr/fresh/y
chmod 700 new/boot/deep
ln -s vmlinuz new/boot/link
run "$DRAY" build --from dir:old --to dir:new --product p --version 2 --counter 2 --key ops.key -o up.dray
need_status 0

image root 64M root
image usr 64M root/usr
image boot 16M root/boot
mkdir -p root/var/lib
rsync -aHAX old/ root/
snap() {
	(cd root && find . -name .dray -prune -o -path ./var -prune -o -print | LC_ALL=C sort |
	    xargs -d '\n' stat --printf '%n %F %a %u %g %h %s %Y\n' && find etc usr boot -type f -exec sha256sum {} + | sort) 2>&1
}
snap >before
# not the lock: it holds the number of the last process
look() {
	tree_snapshot root | grep -v '/var/lib/dray/lock'
}
unchanged() {
	look >now
	want_same "$1" now
}
look >all-before

# a plan names all of them
run "$INSTALL" plan up.dray --root root --keyring ops.pub --json
want_status 0
want_text '"path":"usr"' out
want_text '"path":"boot"' out
run "$INSTALL" plan up.dray --root root --keyring ops.pub
want_text 'free, on /boot' out
unchanged all-before

run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
rsync -naHAX --checksum --delete --itemize-changes --exclude=/var --exclude=.dray new/ root/ | grep -v '^\.d' >differs
[ ! -s differs ] && ok 'it is the new tree' || { fail 'it differs'; cat differs; }
[ "$(stat -c %i root/usr/lib/liba.so)" = "$(stat -c %i root/usr/lib/libb.so)" ] && ok 'links are links' || fail 'links broke'
[ "$(stat -c %a root/usr/.dray)" = 700 ] && ok 'the slots are closed to others' || fail 'the slots are open'
run "$INSTALL" check --root root
want_status 0

run "$INSTALL" rollback --root root
want_status 0
snap >after
want_same before after
no_file root/usr/.dray
no_file root/boot/.dray

# one of them too small: refused before anything is written, and named
head -c 12000000 /dev/urandom >new/boot/big
run "$DRAY" build --from dir:old --to dir:new --product p --version 3 --counter 3 --key ops.key -o big.dray
need_status 0
look >small
head -c 8000000 /dev/zero >root/boot/ballast.bin
look >small
run "$INSTALL" apply big.dray --root root --keyring ops.pub
want_status 21
want_text 'not enough room: on /boot ' err
unchanged small
rm root/boot/ballast.bin new/boot/big

# killed in the middle of the switch: resume wants every file system, then finishes
# shellcheck disable=SC2016
kill_at() {
	strace -f -qq -o /dev/null -e trace=renameat2 -e "inject=renameat2:signal=SIGKILL:when=$1" \
	    "$INSTALL" apply up.dray --root root --keyring ops.pub -j 1 >/dev/null 2>&1
}
if command -v strace >/dev/null; then
	snap >before
	kill_at 3
	run "$INSTALL" status --root root
	want_text 'resume' out
	umount root/boot
	run "$INSTALL" resume --root root
	want_status 22
	want_text 'the file system of /boot is not mounted' err
	mount -o loop boot.img root/boot
	run "$INSTALL" resume --root root
	want_status 0
	rsync -naHAX --checksum --delete --itemize-changes --exclude=/var --exclude=.dray new/ root/ |
	    grep -v '^\.d' >differs
	[ ! -s differs ] && ok 'it is the new tree' || { fail 'it differs'; cat differs; }
	kill_at 1
	run "$INSTALL" rollback --root root
	want_status 0
	snap >after
	want_same before after
fi

# the stash of one that is not mounted cannot go back, nor be forgotten; nothing is lost
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
umount root/usr
for verb in rollback forget; do
	run "$INSTALL" $verb --root root
	want_status 22
	want_text 'the file system of /usr is not mounted' err
done
run "$INSTALL" status --root root
want_status 0
mount -o loop usr.img root/usr
run "$INSTALL" forget --root root
want_status 0
no_file root/usr/.dray
no_file root/boot/.dray

# a mount that is gone at plan time is a change of the tree, not a place to write beneath
umount root/boot
look >half
run "$INSTALL" plan up.dray --root root --keyring ops.pub
unchanged half
mount -o loop boot.img root/boot

# read-only and tmpfs: refused by name
mount -o remount,ro root/boot
run "$DRAY" build --from dir:new --to dir:old --product p --version 4 --counter 4 --key ops.key -o down.dray
look >ro
run "$INSTALL" apply down.dray --root root --keyring ops.pub
want_status 22
want_text 'mounted read-only' err
unchanged ro
mount -o remount,rw root/boot
umount root/boot
mount -t tmpfs none root/boot
rsync -aHAX new/boot/ root/boot/
look >tm
run "$INSTALL" apply down.dray --root root --keyring ops.pub
want_status 22
want_text 'tmpfs, which a power cut empties' err
unchanged tm
