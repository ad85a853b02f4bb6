#!/bin/sh
# story: ten minutes to believe in it. From nothing to an upgrade and back, as nobody, without a network, a configuration or a
# file of the machine; afterwards the tree is what an untouched copy is
. "$(dirname "$0")/lib.sh"

mkdir home
chmod 755 "$T"
alone() {	# as nobody, without a network, where both can be had
	if is_root && unshare -n true 2>/dev/null; then
		(cd home && unshare -n setpriv --reuid=65534 --regid=65534 --clear-groups env -i PATH=/usr/bin:/bin "$@")
	else
		(cd home && env -i PATH=/usr/bin:/bin HOME=/nonexistent "$@")
	fi
}
! is_root || chown 65534:65534 home

run alone "$DRAY" quickstart demo
need_status 0
want_text 'two small systems, 196 and 205 files' out
want_text 'a throw-away key' out
want_text 'bundle 1.0 -> 1.1, ' out
cp -a home/demo/old before

run alone "$INSTALL" plan demo/up.dray --root demo/old --keyring demo/ops.pub
want_status 0
# what is added, updated, removed, becomes something else; edits; room; the number of the plan; what comes next
for text in 'demo 1.1 (release counter 2)' '27 match base 1.0' '13  added' '10  updated' '4  removed' '1  of another type' \
    "etc/app/app.conf: edited here; merged with the release's" 'needs ' ' free' 'plan id ' 'next: dray-install apply demo/up.dray'; do
	want_text "$text" out
done
same_tree home/demo/old before
[ ! -e home/demo/old/var/lib/dray ] && ok 'plan leaves nothing' || fail 'plan left a state folder'

run alone "$INSTALL" apply demo/up.dray --root demo/old --keyring demo/ops.pub
want_status 0
want_text 'demo/old is now demo 1.1: 13 added, 10 updated, 4 removed, 1 other' out
want_text 'to go back: dray-install rollback --root demo/old' out
[ "$(readlink home/demo/old/usr/bin/demo)" = tool-01 ] && ok 'a file became a symlink' || fail 'no symlink'
tree_snapshot home/demo/old >after
run alone "$INSTALL" apply demo/up.dray --root demo/old --keyring demo/ops.pub
want_status 0
want_text 'demo 1.1 is there already: nothing to do' out
grep -v var/lib/dray after >after-tree
tree_snapshot home/demo/old | grep -v var/lib/dray >again-tree
want_same after-tree again-tree

run alone "$INSTALL" rollback --root demo/old
want_status 0
want_text 'demo/old is back in the state before the upgrade' out
same_tree home/demo/old before
