#!/bin/sh
# --profile strict: the tree equals the release; what was changed here is in the stash, and comes back with rollback
. "$(dirname "$0")/lib.sh"

mkdir -p old/etc old/gone/sub old/keep old/link old/var/lib
for f in etc/a etc/b etc/c etc/mode gone/x gone/sub/y keep/k link/l; do
	echo "1 $f" >old/$f
done
cp -a old new
for f in etc/a etc/b keep/k; do
	echo "2 $f" >new/$f
done
rm -r new/gone
chmod 600 new/etc/mode
find old new -exec touch -h -d @1000000000 {} +
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
want_status 0
# all contents, so that nothing is missing for what the upgrade alone does not bring
run "$DRAY" build --to new --product demo --version 1.1 --counter 2 --key ops.key -o all.dray
want_status 0

edited() {
	cp -a old "$1"
	echo mine >"$1/etc/a"			# edited, changed by the release
	rm "$1/etc/b"				# deleted, changed by the release
	echo mine >"$1/etc/mode"		# edited, only its mode is changed by the release
	echo mine >"$1/gone/mine"		# nobody's, in a directory that goes
	echo mine >"$1/gone/x"
	echo mine >"$1/keep/mine"		# nobody's, in a directory that stays
	touch -d @1100000000 "$1"/*/mine "$1/etc/mode" "$1/etc/a" "$1/gone/x"
	touch -d @1000000000 "$1/etc" "$1/gone" "$1/keep"
	mkdir -m 700 "$1/var/lib/dray"
	touch -d @1000000000 "$1/var/lib"
}
edited root
cp -a root before
tree_snapshot root >snap

# the default keeps them
run "$INSTALL" plan up.dray --root root --keyring ops.pub --profile preserve
want_status 0
want_text '  etc/b: deleted here, stays deleted' out
id=$(sed -n 's/^plan id //p' out)
run "$INSTALL" plan up.dray --root root --keyring ops.pub
[ "$id" = "$(sed -n 's/^plan id //p' out)" ] && ok 'preserve is the default' || fail 'preserve is not the default'
run "$INSTALL" plan up.dray --root root --keyring ops.pub --profile lax
want_status 2
want_text '--profile lax: no such profile'
want_text 'hint: there are preserve, the default, and strict'

# strict, but the bundle only holds what the release changed: told, and refused
run "$INSTALL" plan up.dray --root root --keyring ops.pub --profile strict
want_status 20
want_text '1 conflict: etc/mode the bundle holds no copy of it'
want_unchanged root snap

# with all contents
rm root/etc/c && echo mine >root/keep/k && chmod 700 root/link
rm -r before && cp -a root before
run "$INSTALL" plan all.dray --root root --keyring ops.pub --profile strict
want_status 0
want_text '--profile strict' out
id=$(sed -n 's/^plan id //p' out)
run "$INSTALL" apply all.dray --root root --keyring ops.pub --plan "$id"
want_status 24
run "$INSTALL" apply all.dray --root root --keyring ops.pub --plan "$id" --profile strict
want_status 0
run "$INSTALL" check --root root
want_status 0
want_same root/etc/mode new/etc/mode
want_file root/keep/mine
rm root/keep/mine
mv root/gone gone		# no base tells that the release removed it
touch -d @1000000000 root root/keep
same_tree root new
run "$INSTALL" apply all.dray --root root --keyring ops.pub --profile strict --exit-detail
want_status 10
mv gone root/gone
echo mine >root/keep/mine
touch -d @1100000000 root/keep/mine
run "$INSTALL" rollback --root root
want_status 0
touch -d @1000000000 root root/keep
same_tree root before

# a base that tells: the removed directory goes with what is local in it, each thing named
echo '1 etc/mode' >root/etc/mode && chmod 644 root/etc/mode && cp -p old/etc/c root/etc/c && chmod 755 root/link
touch -d @1000000000 root/etc root/etc/mode
rm -r before && cp -a root before
run "$INSTALL" apply up.dray --root root --keyring ops.pub --profile strict
want_status 0
want_text '  gone/mine: made here; goes into the stash with its directory' out
want_text '  gone/x: edited here; goes into the stash with its directory' out
want_text '  etc/a: edited here and replaced' out
no_file root/gone
want_same root/etc/b new/etc/b
run "$INSTALL" status --root root --json
want_text '"parked":["etc/a","keep/k","gone","gone/mine","gone/x"]' out
run "$INSTALL" check --root root
want_status 0
run "$INSTALL" rollback --root root
want_status 0
same_tree root before

# forget does not free them
run "$INSTALL" apply up.dray --root root --keyring ops.pub --profile strict
want_status 0
run "$INSTALL" forget --root root
want_text '3 parked objects stay' out
[ "$(grep -rlx mine root/var/lib/dray/tx | wc -l)" = 4 ] && ok 'all edits are in the stash' || fail 'edits are lost'

# a symlink in the place of a directory is a local change like any other
rm -r root && cp -a old root
mv root/link root/elsewhere && ln -s elsewhere root/link
run "$INSTALL" apply all.dray --root root --keyring ops.pub --profile strict
want_status 0
[ -d root/link ] && [ ! -L root/link ] && ok 'it is a directory again' || fail 'it is no directory'
want_same root/link/l new/link/l
