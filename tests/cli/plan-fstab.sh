#!/bin/sh
# what lies below a mount of etc/fstab that is not mounted is refused by name: it would vanish beneath the mount at boot
. "$(dirname "$0")/lib.sh"

mkdir -p old/boot/efi 'old/with space' old/mnt old/etc new
for f in boot/a boot/efi/b 'with space/c' mnt/d etc/e; do
	echo 1 >"old/$f"
done
cp -a old/. new
for f in boot/a boot/efi/b 'with space/c' mnt/d etc/e; do
	echo 2 >"new/$f"
done
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0

# try LINE... - a fresh root with that fstab, planned and applied
try() {
	rm -rf root
	cp -a old root
	printf '%s\n' "$@" >root/etc/fstab
	tree_snapshot root >before
	run "$INSTALL" apply up.dray --root root --keyring ops.pub
}
refused() {
	want_status 22
	want_text "$1" err
	want_unchanged root before
	run "$INSTALL" plan up.dray --root root --keyring ops.pub
	want_status 22
	want_unchanged root before
}

try '# a comment' '/dev/sda1 / ext4 defaults 0 1' '/dev/sda2 /boot ext4 defaults 0 2'
refused '2 paths cannot be changed here: boot/a lies below /boot, which etc/fstab mounts and which is not mounted'
try 'UUID=1-2   /boot/efi/	vfat umask=0077 0 1'
refused '1 path cannot be changed here: boot/efi/b lies below /boot/efi, which etc/fstab mounts'
try 'LABEL=x /with\040space xfs'
refused 'with space/c lies below /with space, which etc/fstab mounts'

# none of these is a disk that boot would mount over it
try '/dev/sda3 none swap sw 0 0' 'tmpfs /mnt tmpfs size=1m' 'proc /with\040space proc' '/dev/sr0 /mnt iso9660 ro,noauto' \
    '/dev/sda9 /nowhere ext4' '/dev/sda9 /mntx ext4' '/dev/sdb1 /etc/e none bind' 'short' '' 'x /../mnt ext4' '//srv/x relative nfs'
want_status 0
same_tree new/boot root/boot

# no file of that kind is none
for how in 'ln -s ../boot/a' 'mkdir' 'mkfifo'; do
	rm -rf root
	cp -a old root
	$how root/etc/fstab
	run "$INSTALL" apply up.dray --root root --keyring ops.pub
	want_status 0
done
is_root || exit 0
unshare -m true 2>/dev/null || exit 0

# mounted: fine
rm -rf root
cp -a old root
echo '/dev/sda2 /boot ext4 defaults 0 2' >root/etc/fstab
cat >mounted <<'X'
mount --bind old/boot root/boot || exit 99
exec "$INSTALL" apply up.dray --root root --keyring ops.pub
X
export INSTALL
run unshare -m sh ./mounted
want_status 0
[ "$(cat old/boot/a)" = 2 ] && ok 'changed where it is mounted' || fail 'not changed'
