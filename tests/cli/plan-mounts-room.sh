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

# a file that is a mount itself cannot be exchanged: named; the rest of the tree is not the reason
cat >in-mount <<'X'
mount --bind old/mnt/a root/mnt/a || exit 99
"$INSTALL" "$@" --root root --keyring ops.pub
X
export INSTALL
for verb in plan apply; do
	run unshare -m sh ./in-mount $verb up.dray
	want_status 22
	want_text '1 path cannot be changed here: mnt/a has something mounted on it'
	want_text 'hint: nothing was changed; make these places fit'
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
want_text 'gone/in has something mounted on it'
want_file root2/gone/a
want_file root2/gone/in/a

# the same in one that has to give way to a file: what is in the mount is nobody's to take along
mkdir -p old3/d/in new3
echo 1 >old3/d/in/a && echo 2 >new3/d
run "$DRAY" build --from old3 --to new3 --product demo --version 1.1 --counter 2 --key ops.key -o gives.dray
want_status 0
cp -a old3 root3 && cp -a old3/d/in theirs && echo theirs >theirs/b
tree_snapshot root3 >before
tree_snapshot theirs >before.theirs
cat >in-mount3 <<'X'
mount --bind theirs root3/d/in || exit 99
"$INSTALL" "$@" --root root3 --keyring ops.pub
X
for verb in plan apply; do
	run unshare -m sh ./in-mount3 $verb gives.dray
	want_status 20
	want_text '1 conflict: d has to give way, but holds d/in/b'
	for how in --park '--profile strict'; do
		# shellcheck disable=SC2086
		run unshare -m sh ./in-mount3 $verb gives.dray $how
		want_status 22
		want_text 'cannot be changed here: d holds a mount or something that this user may not read'
	done
	want_unchanged root3 before
	want_unchanged theirs before.theirs
done

# 2 MB in all: not even the journal's reserve fits
command -v mkfs.ext4 >/dev/null || skip 'no mkfs.ext4'
truncate -s 2M small.img && mkfs.ext4 -q -F -O ^has_journal small.img
mkdir small.mnt
mount -o loop small.img small.mnt 2>/dev/null || skip 'no loop mounts here'
trap 'umount "$T"/small.mnt; at_end' EXIT
cp -a old/. small.mnt
head -c 1000000 /dev/urandom >small.mnt/other
tree_snapshot small.mnt >before
for verb in plan apply; do
	run "$INSTALL" $verb up.dray --root small.mnt --keyring ops.pub
	want_status 21
	want_text 'not enough room: '
	want_text 'hint: nothing was changed; free some room'
	want_unchanged small.mnt before
done
umount small.mnt

# inodes: room for the data, none for the objects. An image of its own: a loop device that somebody still looks at
# outlives umount and would be mounted again, with what it held before.
truncate -s 32M inodes.img && mkfs.ext4 -q -F -O ^has_journal -N 40 inodes.img && mount -o loop inodes.img small.mnt ||
	fail 'the image of few inodes cannot be mounted'
cp -a old/. small.mnt
tree_snapshot small.mnt >before
run "$INSTALL" plan up.dray --root small.mnt --keyring ops.pub
want_status 21
want_text ' inodes needed, '
want_unchanged small.mnt before
