#!/bin/sh
# what was kept for going back was deleted by somebody: rollback refuses, where it once took the new object away and put
# nothing in its place
. "$(dirname "$0")/lib.sh"

mkdir -p old/var/lib old/d/e old/gone new/var/lib new/d/e new/type
for f in a b d/e/x; do
	echo "1 $f" >old/$f
	echo "2 $f" >new/$f
done
echo 1 >old/gone/x && echo 1 >old/type && echo 2 >new/type/x && echo 2 >new/added
find old new -exec touch -h -d @1700000000 {} +
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
cp -a old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
slots=root/var/lib/dray/tx/000001/00
kept=$(ls $slots)
# a, b, d/e/x, type; gone goes as a whole
[ "$(echo "$kept" | wc -l)" = 5 ] && ok 'five objects are kept' || fail "kept: $kept"

refuses() {	# TEXT
	tree_seen root >snap
	run "$INSTALL" rollback --root root
	want_status 22
	want_text "$1"
	want_text 'hint: nothing was changed; bring var/lib/dray/tx/000001 back from a backup, or give the way back up'
	same_tree new root
	tree_seen root >now
	want_same snap now
	run "$INSTALL" status --root root --json
	want_text '"pending":"none"' out
}
for slot in $kept; do
	mv "$slots/$slot" aside
	refuses '1 path cannot be put back, because what was kept is gone: '
	mv aside "$slots/$slot"
done
mv $slots away
refuses '5 paths cannot be put back, because what was kept is gone: '
mv away $slots

# all is there again, and it goes back
run "$INSTALL" rollback --root root
want_status 0
same_tree old root

# who gives it up has room again, and can go on from there
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
rm -r root/var/lib/dray/tx/000002/00 2>/dev/null || rm -r root/var/lib/dray/tx/000001/00
run "$INSTALL" rollback --root root
want_status 22
run "$INSTALL" forget --root root
want_status 0
run "$INSTALL" status --root root
want_text 'nothing is pending and nothing is kept' out
run "$INSTALL" check --root root
want_status 0
