#!/bin/sh
# what rollback must not take along or delete: a mount inside a directory the upgrade brought, a stash whose log is lost
. "$(dirname "$0")/lib.sh"

is_root || skip 'needs root, to mount'
mkdir -p old/var/lib new/var/lib new/born/in
echo 1 >old/a && echo 2 >new/a
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0
cp -a old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0

mount -t tmpfs -o size=1m none root/born/in 2>/dev/null || skip 'cannot mount here'
run "$INSTALL" rollback --root root
mounted=$(grep -c "$T/root/born/in" /proc/mounts)
umount root/born/in
want_status 22
want_text 'born: something is mounted on in inside'
want_text 'hint: unmount it and run rollback again'
[ "$mounted" = 1 ] && ok 'it is still mounted there' || fail 'the mount moved'
same_tree root/born new/born

# the log lost: whatever is asked, the replaced files stay
cp root/var/lib/dray/tx/000001/log log
: >root/var/lib/dray/tx/000001/log
tree_snapshot root >snap
for verb in 'rollback' 'resume' 'forget' 'apply up.dray --keyring ops.pub'; do
	# shellcheck disable=SC2086
	run "$INSTALL" $verb --root root
	want_status 22
	want_text 'its log is lost, but its slots hold replaced objects'
	want_text 'hint: nothing was deleted'
done
tree_snapshot root >snap.now
grep -v 'dray/lock' snap >a1
grep -v 'dray/lock' snap.now >a2
want_same a1 a2
cp log root/var/lib/dray/tx/000001/log
run "$INSTALL" rollback --root root
want_status 0
want_text 'is back in the state before the upgrade' out
