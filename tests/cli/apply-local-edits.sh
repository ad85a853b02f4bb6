#!/bin/sh
# a local edit is never lost: replaced ones are parked and named, come back with rollback, and outlive forget
. "$(dirname "$0")/lib.sh"

mkdir -p old/etc old/gone old/var/lib new/etc new/added new/var/lib
echo 1 >old/etc/edited && echo 2 >new/etc/edited
echo 1 >old/etc/plain && echo 2 >new/etc/plain
echo 1 >old/etc/removed
echo 1 >old/etc/deleted && echo 2 >new/etc/deleted
echo 1 >old/etc/mode && cp -p old/etc/mode new/etc/mode && chmod 600 new/etc/mode
echo 1 >old/gone/a
echo 2 >new/added/x
touch -d @1000000000 old/etc/* new/etc/*
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
want_status 0
cp -a old root
echo mine >root/etc/edited
echo mine >root/etc/removed
echo mine >root/etc/mode
rm root/etc/deleted
echo mine >root/gone/mine
cp -a root before

run "$INSTALL" plan up.dray --root root --keyring ops.pub
want_status 0
want_text 'local edits, replaced; the old ones are parked:' out
want_text '  etc/edited: edited here and replaced; the old one is kept in the stash' out
want_text '  etc/removed: edited here and removed; kept in the stash' out
want_text '  etc/mode: edited here; only its attributes are set' out
want_text '  etc/deleted: deleted here, stays deleted' out
want_text '  gone: stays, because it holds gone/mine' out
no_text 'etc/plain' out

run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
want_text '  etc/edited: edited here and replaced' out
want_text '  gone: stays, because it holds gone/mine' out
want_same root/etc/edited new/etc/edited
no_file root/etc/removed
no_file root/etc/deleted
no_file root/gone/a
want_file root/gone/mine
echo mine >mine
want_same root/etc/mode mine
[ "$(stat -c %a root/etc/mode)" = 600 ] && ok 'the mode of the edit is set' || fail 'the mode of the edit is not set'

run "$INSTALL" status --root root
want_status 0
want_text 'parked there:' out
want_text '  etc/edited' out
no_text 'etc/plain' out
run "$INSTALL" status --root root --json
want_text '"parked":["etc/edited","etc/removed"]' out

cp -a root applied
run "$INSTALL" rollback --root root
want_status 0
same_tree root before

# the same again, but forgotten instead: the edits stay until they are asked for
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
run "$INSTALL" forget --root root
want_status 0
want_text '2 parked objects stay, changed here, so not freed' out
want_text 'to free them too: dray-install forget --root root --parked' out
[ "$(find root/var/lib/dray/tx -type f -exec grep -lx mine {} + | wc -l)" = 2 ] && ok 'both edits are in the stash' ||
    fail 'the edits are not in the stash'
run "$INSTALL" rollback --root root
want_status 22
want_text 'its stash was freed by forget'
run "$INSTALL" forget --root root --parked
want_status 0
[ -z "$(ls root/var/lib/dray/tx)" ] && ok 'nothing is left' || fail 'something is left'
same_tree root applied
