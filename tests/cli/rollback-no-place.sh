#!/bin/sh
# rollback refuses before it begins when an old object has no place to go back to; and what it sets on an edited file
. "$(dirname "$0")/lib.sh"

mkdir -p old/var/lib old/etc new/var/lib new/etc outside
for f in a b; do
	echo 1 >old/etc/$f
	echo 2 >new/etc/$f
done
echo same >old/meta && cp -p old/meta new/meta && chmod 600 new/meta
echo 1 >outside/a
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0
cp -a old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0

refused() {
	tree_snapshot root | grep -v ' *./var/lib/dray' >snap
	tree_snapshot outside >snap.outside
	run "$INSTALL" rollback --root root
	want_status 22
	want_text "etc/a cannot be put back: $1"
	want_text 'hint: nothing was changed'
	tree_snapshot root | grep -v ' *./var/lib/dray' >snap.now
	want_same snap snap.now
	want_unchanged outside snap.outside
	run "$INSTALL" status --root root
	want_text 'generation 1: done' out
}
mv root/etc etc
refused 'the directory above it is gone or something else'
ln -s ../outside root/etc
refused 'the directory above it is gone or something else'
rm root/etc
mv etc root/etc
if is_root && mount --bind outside root/etc 2>/dev/null; then
	refused 'its directory is on another mount than it was'
	umount root/etc
fi

# attributes go back; an edit keeps its content and the time that tells of it
echo edited >root/meta
touch -d @1500000000 root/meta
run "$INSTALL" rollback --root root
want_status 0
want_same root/etc/a old/etc/a
[ "$(stat -c '%a %Y' root/meta) $(cat root/meta)" = '644 1500000000 edited' ] && ok 'the edit has its time' ||
    fail "the edit is $(stat -c '%a %Y' root/meta)"
