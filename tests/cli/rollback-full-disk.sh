#!/bin/sh
# rollback on a disk without a free block and a free inode: it needs no room but what was kept for it
. "$(dirname "$0")/lib.sh"

is_root || skip 'needs root, to mount an image'
mkdir m old new old/opt new/opt old/gone new/added
for f in a b c; do
	echo 1 >old/$f
	echo 2 >new/$f
done
echo 1 >old/gone/x
echo 2 >new/added/x
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0

# full BLOCKSIZE OPTION... - upgrade in a small image, fill it, go back
full() {
	block=$1
	shift
	rm -f image
	truncate -s 24M image
	mkfs.ext4 -q -F -m 0 -b "$block" -N 400 image
	mount -o loop image m 2>/dev/null || skip 'cannot mount an image here'
	cp -a old m/root
	run "$INSTALL" apply up.dray --root m/root --keyring ops.pub "$@"
	want_status 0
	# small files first, for the inodes; then blocks, the last ones one by one
	mkdir m/fill
	i=0
	while true >m/fill/$i; do i=$((i + 1)); done 2>/dev/null
	dd if=/dev/zero of=m/fill/0 bs=64k 2>/dev/null
	dd if=/dev/zero of=m/fill/1 bs=512 2>/dev/null
	sync
	left=$(stat -f -c '%a blocks, %d inodes' m)
	[ "$left" = '0 blocks, 0 inodes' ] && ok 'nothing is free' || fail "free: $left"
	run "$INSTALL" rollback --root m/root "$@"
	want_status 0
	want_text 'm/root is back in the state before the upgrade' out
	no_file m/root/.dray-pending
	rsync -n -aHAX --checksum --delete --exclude=/var --exclude=/opt/dray -i old/ m/root/ >differences
	[ ! -s differences ] && ok 'the old tree is back' || fail "$(head -n 5 differences)"
	run "$INSTALL" status --root m/root "$@"
	want_text 'nothing is pending and nothing is kept' out
	umount m
}
trap 'rc=$?; umount "$T/m" 2>/dev/null; (exit $rc); at_end' EXIT
full 1024
full 4096
full 4096 --state opt/dray
