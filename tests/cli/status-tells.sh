#!/bin/sh
# status: what is installed, the floor, what is pending, what is kept; never a write
. "$(dirname "$0")/lib.sh"

mkdir -p old new
echo 1 >old/a && echo 2 >new/a
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
want_status 0
cp -a old root
tree_snapshot root >snap
run "$INSTALL" status --root root
want_status 0
want_text 'nothing is recorded as installed on root' out
want_text 'nothing is pending and nothing is kept: nothing to do' out
run "$INSTALL" status --root root --json
want_status 0
want_text '{"evidence":{"intact":true,"records":0},"filters":[' out
want_text '],"floors":[],"generations":[],"pending":"none","triggers_due":[]}' out
want_unchanged root snap

run "$INSTALL" apply up.dray --root root --keyring ops.pub --state state/here
want_status 0
want_text 'to go back: dray-install rollback --root root --state state/here' out
tree_snapshot root >snap
run "$INSTALL" status --root root --state state/here
want_status 0
want_text 'root has demo 1.1 (release counter 2)' out
want_text 'floor of demo: release counter 2' out
want_text 'generation 1: done to 1.1, ' out
want_text 'to go back: dray-install rollback --root root --state state/here' out
want_text 'to free that room: dray-install forget --root root --state state/here' out
want_unchanged root snap
# another place knows nothing, and is not made
run "$INSTALL" status --root root
want_text 'nothing is recorded' out
no_file root/var

# a state folder that others may write is not believed
chmod 777 root/state/here
run "$INSTALL" status --root root --state state/here
want_status 22
want_text 'it must be yours with mode 0700'
chmod 700 root/state/here
mv root/state/here root/state/there && ln -s there root/state/here
run "$INSTALL" status --root root --state state/here
want_status 22
want_text 'a symlink is not followed'
rm root/state/here && mv root/state/there root/state/here

# one run at a time
command -v flock >/dev/null || exit
flock root/state/here/lock "$INSTALL" rollback --root root --state state/here >out 2>err
status=$? ran='rollback under a lock'
want_status 25
want_text 'another run is active on root'
# ... but looking is always allowed
flock root/state/here/lock "$INSTALL" status --root root --state state/here >out 2>err
status=$? ran='status under a lock'
want_status 0

run "$INSTALL" forget --root root --state state/here
want_status 0
want_text '1 old object freed; rollback is over for 1 upgrade' out
run "$INSTALL" status --root root --state state/here
want_text 'nothing is pending and nothing is kept: nothing to do' out
