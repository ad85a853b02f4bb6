#!/bin/sh
# apply makes exactly the new tree of every case, rollback exactly the old one; what stays the same is not touched
. "$(dirname "$0")/lib.sh"

sh "$TOP/tools/make-cases.sh" "$T" small || exit 1
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
want_status 0
cp -a old root

run "$INSTALL" plan up.dray --root root --keyring ops.pub
want_status 0
id=$(sed -n 's/^plan id //p' out)

# identity and all three times of a path that stays the same
same() {
	find root/links/keep-a root/links/keep-b root/xattr/binary -maxdepth 0 -printf '%p %i %T@ %C@\n' 2>/dev/null | head -n 2
}
same >same.before

run "$INSTALL" apply up.dray --root root --keyring ops.pub --plan "$id"
want_status 0
want_text 'root is now demo 1.1' out
want_text 'to go back: dray-install rollback --root root' out
same_tree root new
same >same.after
want_same same.before same.after
run "$INSTALL" check --strict --root root
want_status 0
want_text 'are as the release says' out
run "$INSTALL" check up.dray --root root --keyring ops.pub --quick
want_status 0

# a second time there is nothing to do, and nothing is done
tree_snapshot root >snap
run "$INSTALL" apply up.dray --root root --keyring ops.pub --exit-detail
want_status 10
want_text 'demo 1.1 is there already: nothing to do' out
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
tree_snapshot root | grep -v 'var/lib/dray' >now
grep -v 'var/lib/dray' snap >snap.tree
want_same snap.tree now

run "$INSTALL" rollback --root root
want_status 0
want_text 'root is back in the state before the upgrade' out
same_tree root old
run "$INSTALL" rollback --root root
want_status 22
want_text 'there is nothing to go back to on root'
