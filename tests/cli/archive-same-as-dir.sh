#!/bin/sh
# the same tree as a directory and as an archive gives the same bundle byte for byte: whatever the filter, the order of
# members, the side, the layers, sparse or not
. "$(dirname "$0")/lib.sh"

mkdir -p old/dir old/var/lib new/dir/sub new/var/lib
echo one >old/file
echo gone >old/dir/gone
head -c 300000 /dev/zero | tr '\0' o >old/dir/big
echo two >new/file
: >new/empty
ln new/file new/dir/link
ln new/file new/a-link-before
ln -s '../nowhere there' new/symlink
ln -s "$(printf '%0200d' 0)/ä" new/long-symlink
mkfifo -m 640 new/fifo
echo s >new/setuid && chmod 6755 new/setuid
mkdir new/sticky && chmod 1777 new/sticky
printf x >"new/$(printf 'a\nb\033[31m')"
printf x >"new/quo'te\"back\\slash"
printf x >"new/$(printf 'bad\377utf8')"
printf x >"new/ümlaut"
ln "new/ümlaut" "new/zweiter-näme"
printf x >"new/$(printf '%0255d' 0)"
mkdir -p "new/$(printf '%0100d' 1)/$(printf '%0100d' 2)" && echo deep >"new/$(printf '%0100d' 1)/$(printf '%0100d' 2)/f"
truncate -s 3M new/sparse && printf end | dd of=new/sparse bs=1 seek=2000000 conv=notrunc 2>/dev/null
truncate -s 1M new/hole
head -c 300000 /dev/zero | tr '\0' o >new/dir/big
cp new/dir/big new/dir/same-bytes
echo plain >new/dir/sub/f
touch -d '2001-02-03 04:05:06.123456789' new/file
touch -d '1960-01-01 00:00:00.25' new/empty
if setfattr -n user.note -v hello new/dir 2>/dev/null; then
	setfattr -n user.zero new/file
	setfattr -n user.bin -v 0x610062 new/dir/sub/f
	setfacl -m u:1234:r,g:4321:rw new/dir/sub/f && setfacl -d -m u:1234:rx new/dir/sub && setfacl -m m::r new/dir/big
fi
if is_root; then
	mknod -m 600 new/chr c 1 3
	mknod -m 660 new/blk b 7 200
	chown 12:34 new/setuid && chmod 6755 new/setuid
	chown -h 5:6 new/symlink
	cp /bin/true new/cap && setcap cap_net_raw+ep new/cap
fi

build() {
	run "$DRAY" build --product demo --version 2 --counter 2 --level fast "$@"
	need_status 0
}
pack() {	# pack DIR FILE ARG... - as the manual says
	tree=$1 to=$2
	shift 2
	tar --format=posix --xattrs --acls --numeric-owner -cf "$to" "$@" -C "$tree" . || exit 1
}

build --from old --to new -o want.dray
pack old old.tar
pack new new.tar
build --from dir:old --to archive:new.tar -o got.dray
want_same want.dray got.dray
build --from archive:old.tar --to dir:new -o got.dray
want_same want.dray got.dray
build --from old.tar --to new.tar -j 1 -o got.dray
want_same want.dray got.dray

for filter in gzip xz zstd bzip2; do
	pack new "new.$filter" "--$filter"
	build --from old --to "new.$filter" -o got.dray
	want_same want.dray got.dray
done

pack new sparse.tar --sparse
build --from old --to sparse.tar -o got.dray
want_same want.dray got.dray

# no leading "./", members in another order: a hard link may come before what it is a link to in the tree's order
(cd new && find . -mindepth 1 -print0 | sort -rz | tar --format=posix --xattrs --acls --numeric-owner \
    --no-recursion --null --transform='s,^\./,,' --verbatim-files-from -T - -cf ../reverse.tar) || exit 1
build --from old --to reverse.tar -o got.dray
want_same want.dray got.dray

# ACLs as text alone, and as the kernel's bytes alone
tar --format=posix --acls --numeric-owner --xattrs --xattrs-exclude='system.*' -cf text.tar -C new . || exit 1
tar --format=posix --xattrs --numeric-owner -cf bytes.tar -C new . || exit 1
for f in text bytes; do
	build --from old --to $f.tar -o got.dray
	want_same want.dray got.dray
done

# layers: each over those before it; a stale state of every path lies below
mkdir below
cp -a old/. below
chmod 700 below/dir
mkdir -p below/dir/sub && echo stale >below/dir/sub/f && echo stale >below/symlink && echo stale >below/setuid
rm below/dir/gone
pack below below.tar
build --from old --to archive:below.tar,new.tar -o got.dray
want_same want.dray got.dray
mkdir 'a,b'
cp new.tar 'a,b/n\ew.tar'
build --from old --to 'archive:below.tar,a\,b/n\\ew.tar' -o got.dray
want_same want.dray got.dray

# the last of several members of one name counts
cp below.tar twice.tar
tar --format=posix --xattrs --acls --numeric-owner -rf twice.tar -C new . || exit 1
build --from old --to twice.tar -o got.dray
want_same want.dray got.dray

# the installer gets what the archive holds
key
build --from old.tar --to new.tar --key ops.key -o up.dray
cp -a old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
touch -r root new	# the root itself is not part of a release
! is_root || same_tree new root

# bsdtar writes times before 1970 in its own way: without a fraction there
if command -v bsdtar >/dev/null; then
	touch -d '1960-01-01 00:00:00' new/empty
	build --from old --to new -o want.dray
	LC_ALL=C.UTF-8 bsdtar --format=pax --numeric-owner -cf bsd.tar -C new . || exit 1
	build --from old --to bsd.tar -o got.dray
	want_same want.dray got.dray
fi
no_leftover .
