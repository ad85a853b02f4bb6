#!/bin/sh
# cpio, zip and Debian packages; hard links whose contents come last; what an archive cannot tell is not set
. "$(dirname "$0")/lib.sh"

command -v bsdtar >/dev/null || skip "no bsdtar here"
mkdir -p tree/dir pkg/DEBIAN pkg/usr/bin
echo plain >tree/file
: >tree/empty
echo linked >tree/dir/a
ln tree/dir/a tree/dir/b
ln tree/dir/a tree/z
chmod 4711 tree/file
ln -s ../file tree/dir/sym
touch -d '2001-02-03 04:05:06' tree/file tree/empty tree/dir/a tree/dir
touch -h -d '2001-02-03 04:05:06' tree/dir/sym
is_root && chown 12:34 tree/empty

build() {
	run "$DRAY" build --product demo --version 1 --counter 1 --level fast "$@"
	need_status 0
}
listed() {	# what list -l shows of a bundle, without the counts
	"$DRAY" list -l "$1" 2>/dev/null
}
build --to tree -o want.dray
listed want.dray >want

# of one file's names, newc and odc give the contents with the last one
for format in newc odc; do
	bsdtar --format=$format -cf $format.cpio -C tree .
	build --to $format.cpio -o got.dray
	listed got.dray >got
	want_same want got
	run "$DRAY" list got.dray --json
	no_text xattrs out
	head -c $(($(wc -c <$format.cpio) - 512)) $format.cpio | head -c -300 >cut.cpio
	run "$DRAY" build --to cut.cpio --product demo --version 1 --counter 1 -o no.dray
	want_status 31
	want_text 'cut.cpio: '
	no_file no.dray
done
gzip -k newc.cpio
build --to newc.cpio.gz -o gz.dray
build --to newc.cpio -o plain.dray
want_same gz.dray plain.dray

# zip has no hard links: the same bytes, each a file of its own; what is no file system object of ours is told by the list
bsdtar --format=zip -cf tree.zip -C tree .
build --to tree.zip -o got.dray
listed got.dray | sed 's/ link to .*//' >got
sed 's/ link to .*//' want >want-zip
if is_root; then want_same want-zip got; fi
run "$DRAY" info got.dray --json
want_text '"contents_sent":3' out
head -c $(($(wc -c <tree.zip) - 10)) tree.zip >cut.zip
run "$DRAY" build --to cut.zip --product demo --version 1 --counter 1 -o no.dray
want_status 31
want_text 'cut.zip: the archive is damaged or cut short: it begins like a zip and does not go on like one'
no_file no.dray

# a Debian package is what it installs; several are layers
if command -v dpkg-deb >/dev/null; then
	printf 'Package: demo\nVersion: 1\nArchitecture: all\nMaintainer: x <x@example.org>\nDescription: x\n' >pkg/DEBIAN/control
	echo tool >pkg/usr/bin/tool
	touch -d '2001-02-03 04:05:06' pkg/usr/bin/tool pkg/usr/bin pkg/usr
	mkdir plainpkg && cp -a pkg/usr plainpkg
	chmod 755 plainpkg pkg
	build --to plainpkg -o want.dray
	for z in gzip xz none; do
		dpkg-deb -Z$z --root-owner-group -b pkg $z.deb >/dev/null
		build --to $z.deb --as-root -o got.dray
		is_root && want_same want.dray got.dray
	done
	build --to archive:xz.deb,newc.cpio -o both.dray
	run "$DRAY" list both.dray
	want_text '+ usr/bin/tool' out
	want_text '+ dir/a' out
	head -c $(($(wc -c <xz.deb) - 40)) xz.deb >cut.deb
	run "$DRAY" build --to cut.deb --product demo --version 1 --counter 1 -o no.dray
	want_status 31
	want_text 'cut.deb: the archive is damaged or cut short'
	no_file no.dray
	ar d none.deb data.tar 2>/dev/null
	run "$DRAY" build --to none.deb --product demo --version 1 --counter 1 -o no.dray
	want_status 31
	want_text 'none.deb: a Debian package without data.tar'
	no_file no.dray
fi

# ACLs with names and no numbers cannot be had without asking this machine who that is
if is_root && setfacl -m u:daemon:r tree/file 2>/dev/null; then
	tar --format=posix --acls -cf names.tar -C tree file
	run "$DRAY" build --to names.tar --product demo --version 1 --counter 1 -o no.dray
	want_status 31
	want_text 'names.tar: file: its ACL names "daemon" without a number'
	want_text 'hint: make the archive with --numeric-owner'
	no_file no.dray
fi

# sockets are told and left out, as with directories
perl -MSocket -e 'my $s; socket($s, PF_UNIX, SOCK_STREAM, 0) && bind($s, sockaddr_un("tree/sock")) or die' || exit 1
bsdtar --format=newc -cf sock.cpio -C tree sock file 2>/dev/null
build --to sock.cpio -o got.dray
if bsdtar -tf sock.cpio | grep -q sock; then want_text 'warning: sock.cpio: sock: a socket: sockets are not packed'; fi
no_leftover .

# contents never stand in memory as a whole: 600 MB on both sides within 500 MB of address space
rm -rf tree && mkdir tree
truncate -s 600M tree/large && echo end >>tree/large
tar --format=posix --sparse -cf large.tar -C tree .
# a sanitizer's shadow memory takes address space by the terabyte, so there is no limit to set under one
if [ -z "${SAN:-}" ] && (ulimit -v 500000) 2>/dev/null; then
	(ulimit -v 500000 && exec "$DRAY" build --from large.tar --to large.tar --product demo --version 1 --counter 1 \
	    --level 1 -j 1 -o large.dray) >out 2>err </dev/null
	ended $? 'build of a large sparse archive'
	want_status 0
	want_text 'nothing changes' out
fi
