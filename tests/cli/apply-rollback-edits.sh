#!/bin/sh
# what was edited after the upgrade is listed by rollback, and kept in the stash rather than in the tree
. "$(dirname "$0")/lib.sh"

mkdir -p old/var/lib new/var/lib new/dir
echo 1 >old/a && echo 2 >new/a
echo 1 >old/b && echo 2 >new/b
echo 2 >new/dir/x
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
cp -a old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
echo later >root/a
echo later >root/dir/mine
run "$INSTALL" rollback --root root
want_status 0
want_text 'changed since the upgrade, and not kept in place:' out
want_text '  a' out
no_text '  b' out
want_text 'changed since the upgrade; kept in the stash:' out
want_text '  dir' out
same_tree root old
run "$INSTALL" status --root root
want_text 'leftover' out
want_text '  a' out
[ "$(find root/var/lib/dray/tx -type f -exec grep -lx later {} + | wc -l)" = 2 ] && ok 'both later edits are in the stash' ||
    fail 'the later edits are gone'
