#!/bin/sh
# a refusal writes nothing at all: a tree that never had an upgrade has no state folder after it either
. "$(dirname "$0")/lib.sh"

mkdir -p old/var/lib new/var/lib
echo 1 >old/a && echo 2 >new/a
key
key other
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0
cp -a old root
tree_snapshot root >snap

run "$INSTALL" apply up.dray --root root --keyring other.pub
want_status 30
want_text 'no signature by a key of the keyring'
want_unchanged root snap

# a directory of the site's stands where the release has a file
rm root/a && mkdir root/a && echo mine >root/a/precious
tree_snapshot root >snap
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 20
want_text '1 conflict: a has to give way, but holds a/precious'
want_unchanged root snap
no_file root/var/lib/dray

# and when there is nothing to do, there is nothing to write
rm -r root && cp -a new root
tree_snapshot root >snap
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
want_text 'demo 1.1 is there already' out
want_unchanged root snap
