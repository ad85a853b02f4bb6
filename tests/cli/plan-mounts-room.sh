#!/bin/sh
# paths on another mount (22) and a file system without room (21): told by plan, refused before anything is written
. "$(dirname "$0")/lib.sh"

is_root || skip 'needs root, to mount'
unshare -m true 2>/dev/null || skip 'mount namespaces are not allowed here'
mkdir -p old/mnt/in old/plain new/mnt/in new/plain root small
echo 1 >old/mnt/a && echo 2 >new/mnt/a
echo 1 >old/mnt/in/a && echo 2 >new/mnt/in/a
echo 1 >old/plain/a && echo 2 >new/plain/a
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
want_status 0
cp -a old/. root

# on a mount of its own: both files below it, named; the rest of the tree is not the reason
cat >in-mount <<'X'
mount --bind old/mnt root/mnt || exit 99
"$INSTALL" "$@" --root root --keyring ops.pub
X
export INSTALL
for verb in plan apply; do
	run unshare -m sh ./in-mount $verb up.dray
	want_status 22
	want_text '2 paths cannot be changed here: mnt/a is on another mount than the root; mnt/in/a is on another'
	want_text 'hint: nothing was changed; the whole tree has to be on one mount'
done
want_text 'cannot be changed here:' out
[ "$(cat root/plain/a)" = 1 ] && [ "$(cat old/mnt/a)" = 1 ] && ok 'nothing was changed' || fail 'something was changed'

# a directory that shall go holds a mount
mkdir -p old2/gone/in new2
echo 1 >old2/gone/in/a
echo 1 >new2/stays && cp -p new2/stays old2/
echo 1 >old2/gone/a
run "$DRAY" build --from old2 --to new2 --product demo --version 1.1 --counter 2 --key ops.key -o gone.dray
want_status 0
cp -a old2 root2
cat >in-mount2 <<'X'
mount --bind old2/gone/in root2/gone/in || exit 99
"$INSTALL" "$@" --root root2 --keyring ops.pub
X
run unshare -m sh ./in-mount2 apply gone.dray
want_status 22
want_text 'gone/in is on another mount than the root'
want_file root2/gone/a
want_file root2/gone/in/a

# 1 MiB in all: not even the journal's reserve fits
cat >in-small <<'X'
mount -t tmpfs -o size=1m none small && cp -a old/. small || exit 99
"$INSTALL" "$@" --root small --keyring ops.pub
rc=$?
cat small/plain/a small/mnt/a
exit $rc
X
for verb in plan apply; do
	run unshare -m sh ./in-small $verb up.dray
	want_status 21
	want_text 'not enough room: '
	want_text 'hint: nothing was changed; free some room'
	[ "$(tail -n 2 out)" = "1
1" ] && ok 'nothing was changed' || fail 'something was changed'
done
# inodes: room for the data, none for the objects
cat >in-few <<'X'
mount -t tmpfs -o size=64m,nr_inodes=30 none small && cp -a old/. small || exit 99
"$INSTALL" "$@" --root small --keyring ops.pub
X
run unshare -m sh ./in-few plan up.dray
want_status 21
want_text ' inodes needed, '
