#!/bin/sh
# slim: full copies only of what no base can be made into and of config files; the report says what that promises; it
# installs exactly on the base, and refuses with the paths' names where a file it builds on was edited
. "$(dirname "$0")/lib.sh"
key

mkdir -p old/etc old/bin old/var/lib new/etc new/bin new/var/lib
i=0
while [ $i -lt 40 ]; do
	seq -f "$i %.0f" 3000 >old/bin/f$i
	sed "s/ 17../ changed/" old/bin/f$i >new/bin/f$i
	i=$((i + 1))
done
seq 1 3 30000 >old/etc/conf
{ seq 1 3 15000; echo here; seq 15000 3 30000; } >new/etc/conf
mv old/bin/f7 old/bin/moved-from
cp old/bin/moved-from new/bin/moved-to
rm new/bin/f7
head -c 20000 /dev/urandom >new/bin/fresh

set -- --from old --to new --product demo --version 1.1 --counter 2 --level 3 --config 'etc/**' --key ops.key
run "$DRAY" build "$@" --slim -o slim.dray
need_status 0
want_text 'slim: 40 of the contents are made from files of the base alone' out
want_text 'Config files have full copies' out
run "$DRAY" build "$@" -o complete.dray
need_status 0
no_text 'slim:' out
run "$DRAY" info slim.dray --json
want_text '"mode":"slim"' out
tar -xOf slim.dray dray.json >dray.json
want_text '"required":["delta"]' dray.json
want_text '"mode":"slim"' dray.json
a=$(wc -c <slim.dray) b=$(wc -c <complete.dray)
if [ $((a + 20000)) -lt "$b" ]; then ok "slim is smaller"; else fail "slim has $a bytes, complete $b"; fi

for b in slim complete; do
	rm -rf root
	cp -a old root
	run "$INSTALL" apply $b.dray --root root --keyring ops.pub
	want_status 0
	same_tree new root
	run "$INSTALL" rollback --root root
	want_status 0
	same_tree old root
done

# what slim builds on was edited: refused, named, nothing changed
rm -rf root
cp -a old root
sed -i 's/ 1..$/ edited/' root/bin/f3
cp -a root kept
tree_snapshot root >before
run "$INSTALL" plan slim.dray --root root --keyring ops.pub
want_status 20
want_text bin/f3 out
want_unchanged root before
run "$INSTALL" apply slim.dray --root root --keyring ops.pub
want_status 20
want_text bin/f3 out
same_tree kept root
# the complete one has a full copy
run "$INSTALL" apply complete.dray --root root --keyring ops.pub
want_status 0

run "$DRAY" build --to new --product demo --version 1.1 --counter 2 --slim -o no.dray
want_status 2
want_text '--slim goes with --from or --history: without a base all copies are full'
no_file no.dray
