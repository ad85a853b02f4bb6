#!/bin/sh
# names of one file, places that cannot be changed, and objects that stand in the way of a repair
. "$(dirname "$0")/lib.sh"

mkdir -p new/links new/loose new/opt new/var/lib
echo 1 >new/links/a && ln new/links/a new/links/b && ln new/links/a new/links/c
for f in loose/f loose/g opt/x; do
	echo "$f" >new/$f
done
find new -exec touch -h -d @1000000000 {} +
key
run "$DRAY" build --to new --product demo --version 1 --counter 1 --key ops.key -o full.dray
need_status 0

mkdir root
mounted=
if is_root && truncate -s 64M img && mkfs.ext4 -q -F img 2>/dev/null && mount -o loop img root 2>/dev/null; then
	mounted=1
	rmdir root/lost+found
fi
trap '[ -z "$mounted" ] || umount -R root || umount -l root; at_end' EXIT
mkdir -p root/var/lib
run "$INSTALL" apply full.dray --root root --keyring ops.pub
need_status 0

repair() {
	run "$INSTALL" repair "$@" --root root --keyring ops.pub
}
links() {
	stat -c '%n %h %a' root/links/*
}
refuses() {	# STATUS TEXT ARG...
	want=$1 text=$2
	shift 2
	tree_seen root >snap
	repair "$@"
	want_status "$want"
	want_text "$text"
	tree_seen root >now
	want_same snap now
}

# a missing name of several: another name of the same file again; only of that is named nothing else comes back
rm root/links/b root/links/c
repair full.dray links/b
want_status 0
want_text '  links/b: missing' out
want_text '1 path of demo 1 on root is repaired' out
[ "$(links)" = 'root/links/a 2 644
root/links/b 2 644' ] && ok 'one name is back' || fail "$(links)"
repair full.dray
want_status 0
[ "$(links)" = 'root/links/a 3 644
root/links/b 3 644
root/links/c 3 644' ] && ok 'all names are back' || fail "$(links)"
# a bystander that is missing is no decision from then on
rm root/links/c && chmod 600 root/links/a
repair full.dray links/a
want_status 0
run "$INSTALL" check --root root
want_status 20
want_text 'links/c: missing' out
no_text deleted out
# all of them gone, the directory too
rm -r root/links
repair full.dray links/a
want_status 0
[ "$(links)" = 'root/links/a 1 644' ] && ok 'the one that was named' || fail "$(links)"
repair full.dray
want_status 0
[ "$(links | head -n 1)" = 'root/links/a 3 644' ] && ok 'all again' || fail "$(links)"
# a name that somebody made outside keeps the old bytes
ln root/loose/f root/mine && echo more >>root/loose/f
cp root/mine mine
repair full.dray
want_status 0
want_text '  loose/f: has other names, which keep the old content' out
want_same root/mine mine
want_same root/loose/f new/loose/f
rm root/mine
run "$INSTALL" check --root root
want_status 0

# the time of a directory alone is no damage, but work for those who ask
touch -d @5 root/opt
repair full.dray
want_status 0
want_text 'root is demo 1: nothing to repair' out
run "$INSTALL" check --root root --strict
want_status 20
want_text 'opt: mtime' out
want_text 'hint: nothing was changed; dray-install repair BUNDLE / brings back what differs'
repair full.dray / --dry-run
want_status 0
want_text '  opt: mtime' out
repair full.dray /
want_status 0
run "$INSTALL" check --root root --strict
want_status 0

# a socket is never put aside, a fifo is; neither is waited for
rm root/loose/f && mkfifo root/loose/f
perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => "root/loose/s", Listen => 1)' && mv root/loose/s root/loose/g
refuses 20 'loose/g a socket is in the way' full.dray
repair full.dray loose/f
want_status 0
want_same root/loose/f new/loose/f
rm root/loose/g
repair full.dray
want_status 0
want_same root/loose/g new/loose/g
[ -n "$mounted" ] || skip 'no loop mounts here'

# a root that is mounted read-only: refused, but it can be looked at
echo bad >root/loose/f
mount -o remount,ro root
refuses 22 'open the lock in var/lib/dray: read-only file system' full.dray
want_text 'hint: nothing was changed; make that file system writable and run it again'
refuses 22 'loose/f lies on a file system that is mounted read-only' full.dray --dry-run
want_text '  loose/f: content, mtime' out
mount -o remount,rw root
# something mounted where a file has to go, and on a directory that lost its files for it
rm root/opt/x && mkdir root/opt/x && mount -t tmpfs none root/opt/x
refuses 22 'opt/x has something mounted on it' full.dray opt/x --park
umount root/opt/x
rmdir root/opt/x
mount -t tmpfs none root/opt
refuses 22 'opt lies on tmpfs, which a power cut empties' full.dray opt
umount root/opt
# no room
head -c 60M /dev/zero >root/fill 2>/dev/null
refuses 21 'not enough room' full.dray
rm root/fill
# immutable, and its directory too: they still are afterwards
chattr +i root/loose/f root/loose
repair full.dray
want_status 0
want_same root/loose/f new/loose/f
[ "$(lsattr -d root/loose root/loose/f | cut -c 5 | tr -d '\n')" = ii ] && ok 'still immutable' || fail "$(lsattr -d root/loose root/loose/f)"
chattr -i root/loose/f root/loose
run "$INSTALL" check --root root
want_status 0
