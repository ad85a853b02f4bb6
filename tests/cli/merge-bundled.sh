#!/bin/sh
# rules that a bundle brings: behind all that the site says, in one phase or several; a bundle of no rules is not built
. "$(dirname "$0")/lib.sh"
key

mkdir -p old/etc old/usr old/var/lib
for f in etc/a etc/b etc/c usr/d; do seq 1 30 >old/$f; done
cp -a old new
for f in etc/a etc/b etc/c usr/d; do seq 1 31 >new/$f; done
find old new -exec touch -h -d @1700000000 {} +
printf '%s\n' '# of the release' 'etc/a mine' 'etc/b theirs' 'nowhere mine' '** keep-metadata' >dray-policy
cat >recipe.json <<'X2'
{ "recipe": 1, "product": "demo", "version": "2", "counter": 2, "from": ["old"], "to": "new", "config": ["etc"],
  "notes": ["dray-policy"], "phases": [{ "name": "first", "paths": ["etc"] }, { "name": "rest" }] }
X2
run "$DRAY" build --recipe recipe.json --key ops.key -o up.dray
need_status 0
cp -a old root
for f in etc/a etc/b etc/c; do sed -i 's/^3$/three/' root/$f; done
chmod 600 root/usr/d
cp -a root before
sed 's/^3$/three/' new/etc/c >merged
run "$INSTALL" plan up.dray --root root --keyring ops.pub
want_status 0
no_text 'decides about no path' out
for how in all phases; do
	if [ $how = phases ]; then
		run "$INSTALL" apply up.dray --root root --keyring ops.pub --phase first
		want_status 0
	fi
	run "$INSTALL" apply up.dray --root root --keyring ops.pub
	want_status 0
	want_same before/etc/a root/etc/a
	want_same new/etc/b root/etc/b
	want_same merged root/etc/c
	[ "$(stat -c %a root/usr/d)" = 600 ] && ok 'its own mode' || fail 'the mode of the release'
	run "$INSTALL" check --root root
	want_status 0
	run "$INSTALL" repair up.dray --root root --keyring ops.pub
	want_status 0
	run "$INSTALL" rollback --root root
	want_status 0
	same_tree before root
done
# the site goes first
printf '%s\n' 'etc/a merge' '** theirs' >site.policy
run "$INSTALL" apply up.dray --root root --keyring ops.pub --policy site.policy --json
want_status 0
want_text '"path":"etc/a","result":"merged","rule":1' out
want_text '"rules_unused":[]' out
want_same merged root/etc/a
want_same new/etc/c root/etc/c
[ "$(stat -c %a root/usr/d)" = 644 ] && ok 'the mode of the release' || fail 'its own mode'

wrong() {	# TEXT LINE
	echo "$2" >dray-policy
	run "$DRAY" build --recipe recipe.json --key ops.key -o bad.dray
	want_status 2
	want_text "$1"
	no_file bad.dray
}
wrong 'dray-policy: line 1: no action is called keep' 'etc keep'
wrong 'dray-policy: strict is nothing that a bundle can say' 'etc strict'
