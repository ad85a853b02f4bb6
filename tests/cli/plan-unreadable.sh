#!/bin/sh
# plan without the right to read everything: what can be seen, no id, and apply refuses
. "$(dirname "$0")/lib.sh"

is_root || skip 'needs root, to stop being it'
mkdir old new
echo 1 >old/a && echo 2 >new/a
echo 1 >old/secret && echo 2 >new/secret
chmod 600 old/secret new/secret
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
want_status 0
cp -a old root
tree_snapshot root >snap
run as_nobody "$INSTALL" plan up.dray --root root --keyring ops.pub
want_status 0
want_text 'not readable, so the plan is partial:' out
want_text '  secret: cannot be read by this user' out
want_text 'the plan is partial and has no id; run it as root to see everything' out
no_text 'plan id' out
run as_nobody "$INSTALL" plan up.dray --root root --keyring ops.pub --json
want_text '"partial":true' out
no_text 'plan_id' out

# a state folder that is root's does not stop it
cp -a old moved && "$INSTALL" apply up.dray --root moved --keyring ops.pub >out 2>err
run as_nobody "$INSTALL" plan up.dray --root moved --keyring ops.pub
want_status 0
want_text 'the state folder belongs to root: what is installed or pending is not known here' out
run as_nobody "$INSTALL" check up.dray --root moved --keyring ops.pub
want_status 22
want_text 'not checked, because this user may not read it:' out
want_text '  secret' out
want_text '1 of 2 entries could not be checked by this user'
run as_nobody "$INSTALL" status --root moved
want_status 22
want_text 'state folder var/lib/dray: open dray: permission denied'
want_text 'hint: run it as the user that installs here'

# to apply, a state folder is needed that is theirs
mkdir state && cp -a old mine && chown -R 65534:65534 mine && chown 0:0 mine/secret
tree_snapshot mine >snap2
run as_nobody "$INSTALL" apply up.dray --root mine --keyring ops.pub
want_status 22
want_text 'secret cannot be read by this user'
want_text 'hint: nothing was changed; run it as root'
chown 65534:65534 mine/secret
run as_nobody "$INSTALL" apply up.dray --root mine --keyring ops.pub
want_status 22
want_text '2 paths need an owner, a device or a capability that only root can give, the first is a'
same_files=$(cat mine/a mine/secret | tr '\n' ' ')
[ "$same_files" = '1 1 ' ] && ok 'the tree is as it was' || fail "the tree has changed: $same_files"
want_unchanged root snap
