#!/bin/sh
# --no-owner: owners, setuid, devices and capabilities are left alone by plan, apply, check and rollback alike
. "$(dirname "$0")/lib.sh"

is_root || skip 'needs root, to make a tree with owners'
mkdir -p old/d old/var/lib new/d new/dev new/var/lib
for f in a d/b su; do
	echo "1 $f" >old/$f && echo "2 $f" >new/$f
done
echo same >old/same && cp -p old/same new/same
chown 17:18 new/a new/d/b old/d old/same new/same
chmod 4755 old/su new/su && chmod 2755 new/d
mknod new/dev/null c 1 3
setcap=
if command -v setcap >/dev/null && setcap cap_net_raw+ep new/d/b 2>/dev/null; then setcap=1; fi
find old new -exec touch -h -d @1000000000 {} +
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
want_status 0

# the tree of a user, who cannot give anything away
cp -a old root
chown -R 65534:65534 root
chmod 755 root/su
mkdir -m 700 root/var/lib/dray
chown 65534:65534 root/var/lib/dray
touch -d @1000000000 root/var/lib root/su
cp -a root before
cp -a "$INSTALL" ./installer
chmod 755 . installer old new
chmod 644 ops.pub up.dray
user() {
	run as_nobody ./installer "$@" --root root
}
tree_snapshot root | grep -v var/lib/dray >snap
for verb in plan apply; do
	user $verb up.dray --keyring ops.pub
	if [ $verb = apply ]; then
		want_status 22
		want_text 'paths need an owner, a device or a capability that only root can give'
		want_text 'hint: run it as root, or leave all that out with --no-owner'
	fi
done
tree_snapshot root | grep -v var/lib/dray >snap.now
want_same snap snap.now

user plan up.dray --keyring ops.pub --no-owner
want_status 0
want_text '  dev/null: a device, left out with --no-owner' out
no_text 'owner, mode or attributes' out
want_text '--no-owner' out
id=$(sed -n 's/^plan id //p' out)
user apply up.dray --keyring ops.pub --no-owner --plan "$id"
want_status 0
[ "$(stat -c '%u:%g %a' root/a root/d/b root/su root/d root/same | sort -u | tr '\n' ' ')" = \
    '65534:65534 644 65534:65534 755 ' ] && ok 'owners are his, nothing is setuid' ||
    fail "owners or modes: $(stat -c '%n %u:%g %a' root/a root/d/b root/su root/d root/same)"
want_same root/su new/su
want_file root/dev
no_file root/dev/null
[ -z "$setcap" ] || { [ -z "$(getcap root/d/b)" ] && ok 'no capability' || fail 'a capability'; }

# recorded: check and plan compare in the same way without being told
user check
want_status 0
want_text 'owners are left alone, as in the last upgrade of root; --owner changes that' out
user check --owner
want_status 20
want_text 'a: owner' out
want_text 'dev/null: missing' out
user apply up.dray --keyring ops.pub --exit-detail
want_status 10
# as root too
run "$INSTALL" plan up.dray --root before --keyring ops.pub --no-owner --state none
want_text "plan id $id" out
user rollback
want_status 0
same_tree root before
user status --json
no_text 'no_owner' out

# with the owners again, by root; the record is the new one
user apply up.dray --keyring ops.pub --no-owner
want_status 0
chown 0:0 root/var/lib/dray
run "$INSTALL" apply up.dray --root root --keyring ops.pub --owner --profile strict
want_status 0
run "$INSTALL" check --root root
want_status 0
no_text 'owners are left alone' out
[ "$(stat -c %u:%g:%a root/a)" = 17:18:644 ] && ok 'the owner of the release' || fail 'not the owner of the release'

# never on the running system, by any name
for r in / /. "/proc/self/root"; do
	run "$INSTALL" plan up.dray --root "$r" --keyring ops.pub --no-owner --state tmp/dray-none
	want_status 2
	want_text '--no-owner is never for /'
done
run "$INSTALL" plan up.dray --root root --keyring ops.pub --no-owner --owner
want_status 2
want_text '--owner and --no-owner exclude each other'
