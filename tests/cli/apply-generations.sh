#!/bin/sh
# one upgrade on top of another: rollback goes back one at a time, last in first out
. "$(dirname "$0")/lib.sh"

mkdir -p v1/var/lib v2/var/lib v3/var/lib
for v in 1 2 3; do
	echo $v >v$v/a
	echo $v >v$v/only-$v
	echo $v >v$v/same-size
done
key
run "$DRAY" build --from v1 --to v2 --product demo --version 2 --counter 2 --key ops.key -o 2.dray
want_status 0
run "$DRAY" build --from v2 --to v3 --product demo --version 3 --counter 3 --key ops.key -o 3.dray
want_status 0
cp -a v1 root
for v in 2 3; do
	run "$INSTALL" apply $v.dray --root root --keyring ops.pub
	want_status 0
	same_tree root v$v
	run "$INSTALL" check --root root
	want_status 0
	want_text "root is demo $v" out
done
run "$INSTALL" status --root root
want_text 'root has demo 3 (release counter 3)' out
want_text 'generation 1: done to 2' out
want_text 'generation 2: done, from 2 to 3' out
run "$INSTALL" rollback --root root
want_status 0
want_text 'root is back at demo 2' out
same_tree root v2
run "$INSTALL" check --root root
want_status 0
want_text 'root is demo 2' out

# the floor stays where it was: going back was one thing, an older bundle is another
tree_snapshot root >snap
run "$INSTALL" apply 2.dray --root root --keyring ops.pub
want_status 23
want_text 'demo 2 has release counter 2, but root already had 3'
want_text 'hint: older releases are refused'
tree_snapshot root >snap.now
grep -v ' *./var/lib/dray' snap.now >a
grep -v ' *./var/lib/dray' snap >b
want_same a b
run "$INSTALL" rollback --root root
want_status 0
same_tree root v1
run "$INSTALL" status --root root --json
want_text '"floors":[{"counter":3,"product":"demo"}]' out
no_text '"installed"' out
