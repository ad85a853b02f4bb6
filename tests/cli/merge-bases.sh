#!/bin/sh
# the former text that an edit comes from: the recorded release's, else that of the neighbours, else of the tree; of histories
# the state that fits best; the next upgrade after a merge
. "$(dirname "$0")/lib.sh"
key

# three releases: each changes line 10 of every file and adds a line of its own
for r in 1 2 3; do
	mkdir -p $r/etc/a $r/etc/b $r/usr $r/var/lib
	for f in etc/a/one etc/a/two etc/b/one etc/b/two; do
		seq 1 40 | sed "s|^10\$|release $r of $f|" >$r/$f
		n=1
		while [ $n -le $r ]; do echo "line of $n" >>$r/$f && n=$((n + 1)); done
	done
	echo $r >$r/usr/p$r && echo $r >$r/usr/all
done
find 1 2 3 -exec touch -h -d @1700000000 {} +
set -- --to 3 --product demo --version 3 --counter 3 --config 'etc/**' --key ops.key
run "$DRAY" build --from 1 --from-version 1:1 --from 2 --from-version 2:2 "$@" -o up.dray
need_status 0
run "$DRAY" build --history 1 --history 2 "$@" -o history.dray
need_status 0
run "$DRAY" build --from 1 --from-version 1:1 --to 2 --product demo --version 2 --counter 2 --config 'etc/**' --key ops.key -o two.dray
need_status 0
edit() { sed -i 's/^30$/# mine/' "$1"; }
merged() {	# FILE: it is release 3 with the edit
	sed 's/^30$/# mine/' "3/$1" >want
	want_same want "root/$1"
}
for bundle in up history; do
	for r in 1 2; do
		rm -rf root before && cp -a $r root
		edit root/etc/a/one && edit root/etc/b/one
		cp -a root before
		run "$INSTALL" apply $bundle.dray --root root --keyring ops.pub
		want_status 0
		merged etc/a/one
		merged etc/b/one
		run "$INSTALL" rollback --root root
		same_tree before root
	done
	# a tree that mixes: each directory by itself
	rm -rf root && cp -a 1 root && cp -a 2/etc/b/. root/etc/b/
	edit root/etc/a/one && edit root/etc/b/one
	run "$INSTALL" apply $bundle.dray --root root --keyring ops.pub
	want_status 0
	merged etc/a/one
	merged etc/b/one
done
# upgrades one after the other: what is recorded counts, although all beside it is edited too
rm -rf root && cp -a 1 root
for f in etc/a/one etc/a/two etc/b/one etc/b/two; do edit root/$f; done
run "$INSTALL" apply two.dray --root root --keyring ops.pub
want_status 0
cp -a root between
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
for f in etc/a/one etc/a/two etc/b/one etc/b/two; do merged $f; done
run "$INSTALL" check --root root
want_status 0
run "$INSTALL" rollback --root root
want_status 0
same_tree between root
# a file made here, of a name that one base has too
rm -rf root && cp -a 2 root
rm root/etc/a/one && seq 100 120 >root/etc/a/one
run "$INSTALL" plan up.dray --root root --keyring ops.pub
want_status 20
want_text 'etc/a/one'
