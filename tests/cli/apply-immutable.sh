#!/bin/sh
# what refuses to be changed in the middle of the switch also refuses on the way back, and that must not stop it: 41
. "$(dirname "$0")/lib.sh"

is_root || skip 'needs root, for chattr'
mkdir -p old/var/lib old/etc new/var/lib new/etc
for f in a z; do
	echo 1 >old/$f
	echo 2 >new/$f
done
echo 1 >old/etc/b && echo 2 >new/etc/b
echo same >old/meta && cp -p old/meta new/meta && chmod 600 new/meta
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0
mkdir root
chattr +i root 2>/dev/null || skip 'this file system has no immutable flag'
chattr -i root
trap 'rc=$?; chattr -R -i "$T/root" 2>/dev/null; (exit $rc); at_end' EXIT

for what in etc meta etc/b .; do
	rm -rf root
	cp -a old root
	chattr +i root/$what
	run "$INSTALL" apply up.dray --root root --keyring ops.pub
	want_status 41
	want_text 'everything is as it was'
	chattr -i root/$what
	same_tree old root
	run "$INSTALL" status --root root
	want_text 'nothing is pending and nothing is kept' out
done
