#!/bin/sh
# resume on a disk without a free block and inode: it switches every path, says that only the records are missing (1, not 21, which says
# that nothing was written), and ends when there is room again
. "$(dirname "$0")/lib.sh"

is_root || skip 'needs root, to mount an image'
[ -x "$OUT/killat" ] || skip 'no killat in this build'
mkdir -p m old/var/lib new/var/lib
for f in a b c d; do
	echo 1 >old/$f
	echo 2 >new/$f
done
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0
truncate -s 48M image
mkfs.ext4 -q -F -m 0 -b 1024 -N 400 image
mount -o loop image m 2>/dev/null || skip 'cannot mount an image here'
trap 'rc=$?; umount "$T/m" 2>/dev/null; (exit $rc); at_end' EXIT

# killed at the second path of the switch
cp -a old m/count
"$OUT/killat" 0 calls "$INSTALL" apply up.dray --root m/count --keyring ops.pub -j1 >out 2>&1 || fail "the run that nobody kills: $?"
rm -rf m/count
at=$(awk '$2 == "renameat2" { n++; if (n == 2) print $1 }' calls)
cp -a old m/root
"$OUT/killat" "$at" list "$INSTALL" apply up.dray --root m/root --keyring ops.pub -j1 >out 2>&1
status=$?
[ $status = 137 ] && ok "killed at call $at" || fail "status $status instead of the kill at call $at"
run "$INSTALL" status --root m/root --json
want_text '"pending":"switching"' out

mkdir m/fill
i=0
while true >m/fill/$i; do i=$((i + 1)); done 2>/dev/null
dd if=/dev/zero of=m/fill/0 bs=64k 2>/dev/null
dd if=/dev/zero of=m/fill/1 bs=512 2>/dev/null
sync
run "$INSTALL" resume --root m/root
want_status 1
want_text 'no space left on device' err
want_text 'the new files are in place, only the records of it are not' err
rsync -n -aHAX --checksum --delete --exclude=/var -i new/ m/root/ | grep -v '^\.d\.\.t\.* \./$' >differences
[ ! -s differences ] && ok 'every path is new' || fail "$(head -n 5 differences)"

rm -rf m/fill
run "$INSTALL" resume --root m/root
want_status 0
run "$INSTALL" status --root m/root --json
want_text '"pending":"none"' out
run "$INSTALL" check --root m/root
want_status 0
run "$INSTALL" rollback --root m/root
want_status 0
same_tree old m/root
