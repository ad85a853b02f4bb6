#!/bin/sh
# what went wrong for people with the old client must go right here; each case names what they saw
. "$(dirname "$0")/lib.sh"
. "$TOP/tests/fbsd/site.sh"
is_root || skip "owners of the trees need root"
key
fbsd_trees in
# a library that others need came after them; one in a new directory; a symlink whose target looks like a library
for level in p0 p1; do
	lib=in/14.0-RELEASE/$level/world/base/lib
	seq 31 900 >$lib/libsys.so.7
	seq 37 900 >$lib/libthr.so.3
	ln -s /lib/libfake.so.1 $lib/../etc/looks-like
done
for level in p0 p1 p2; do
	seq 41 900 >in/13.2-RELEASE/$level/world/base/lib/libsys.so.7
	seq 43 900 >in/13.2-RELEASE/$level/world/base/lib/libthr.so.3
done
fbsd_site in site >/dev/null || exit 1
set -- --server "file://$T/site" --keyprint "$KEYPRINT" --fetched store --os any --level 3 --no-cache --key ops.key
run "$DRAY" build --from freebsd-update:13.2-RELEASE/amd64 --to freebsd-update:14.0-RELEASE/amd64 "$@" -o up.dray
need_status 0
fbsd_whole in 14.0-RELEASE p1 new
fresh() {	# TO
	rm -rf "$1"
	fbsd_whole in 13.2-RELEASE p2 "$1"
}

# "no longer exists in 14.0", and the file was deleted: it had the new release's bytes already
fresh root
cat new/etc/services >root/etc/services
inode=$(stat -c %i root/etc/services)
cp -a root before
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
fbsd_same new root
[ "$(stat -c %i root/etc/services)" = "$inode" ] && ok 'what was new already is the same file' || fail 'made anew'
# "Not a directory" on the way back: a file had become a directory, directories were gone
run "$INSTALL" rollback --root root
need_status 0
same_tree before root
[ -f root/usr/include/c++/v1/__string ] && [ -d root/usr/share/old/deep ] && ok 'both are back' || fail 'not back'

# (a leak check cannot run below strace)
# "every tool is dead": programs and libraries changed before what they need
if command -v strace >/dev/null; then
	fresh root
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e trace=renameat2 "$INSTALL" apply up.dray --root root --keyring ops.pub -j1
	need_status 0
	grep ' = 0$' trace >order
	at() { grep -n -m 1 "\"$1\"" order | cut -d : -f 1; }
	last=0
	for f in new.ko casper ld-elf.so.1 libsys.so.7 libc.so.7 libthr.so.3 c f libold.so.5 old.ko; do
		n=$(at "$f")
		if [ -z "$n" ]; then
			fail "$f was not switched"
		elif [ "$n" -le "$last" ]; then
			fail "$f came too early"
		else
			last=$n
		fi
	done
	ok 'directories, linker, libsys, libc, threads, programs, what is gone, in this order'
fi

# a typing mistake made the clean-up try every directory: nothing that the new release has is ever removed
fresh root
(cd new && find . -mindepth 1 -printf '%P\n' | sort) >names
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
run "$INSTALL" status --root root --export list -q
run "$DRAY" report list --paths 1
need_status 0
sed -n 's/^- //p' out | sort >removed
comm -12 names removed >both
[ -s removed ] && [ ! -s both ] && ok 'nothing removed that is in the new release' || { fail 'removed, though it is new'; cat both; }

# copies of /etc/master.passwd for everybody to read: what was replaced lies behind a door
fresh root
echo secret >root/etc/rc.conf
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
for d in root/var/lib/dray root/var/lib/dray/*/; do
	case $(stat -c %A "$d") in
	drwx------) ;;
	*) fail "$d: $(stat -c %A "$d")" ;;
	esac
done
ok 'the state folder is private'

# "Cannot identify running kernel" in a jail without /boot; the host's /usr/src decided what a jail got
fbsd_whole in 13.2-RELEASE p1 jail world/base
fbsd_whole in 14.0-RELEASE p1 jail-new world/base
run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e trace=%file "$INSTALL" apply up.dray --root jail --keyring ops.pub
need_status 0
fbsd_same jail-new jail
no_file jail/boot
no_file jail/usr/src
grep -v ENOENT trace | grep -o '"/[^"]*"' | grep -v "^\"\($T\|/proc\|/dev\|/sys/fs\|/etc/localtime\|/tmp\)" | sort -u >host
grep '"/\(boot\|usr/src\|etc/freebsd\|bin/freebsd\|var/db\)' host && fail 'the host was looked at' || ok 'nothing of the host was asked'

# "Cannot upgrade from X to itself", "libc.so.7 not found": cut between the kernel and the rest, and in each of them
for n in 1 3 9; do
	fresh root
	cp -a root before.$n
	run "$INSTALL" apply up.dray --root root --keyring ops.pub --phase kernel
	need_status 0
	want_file root/boot/kernel/new.ko
	want_same root/lib/libc.so.7 before.$n/lib/libc.so.7
	strace -f -qq -o /dev/null -e trace=renameat2 -e "inject=renameat2:signal=KILL:when=$n" \
	    "$INSTALL" apply -q up.dray --root root --keyring ops.pub -j1
	run "$INSTALL" resume --root root
	need_status 0
	run "$INSTALL" apply up.dray --root root --keyring ops.pub
	need_status 0
	fbsd_same new root
	# the way back cut, too: it went half way and called itself done
	strace -f -qq -o /dev/null -e trace=renameat2 -e "inject=renameat2:signal=KILL:when=$n" "$INSTALL" rollback -q --root root
	run "$INSTALL" resume --root root
	want_status 0
	same_tree before.$n root
	rm -rf before.$n
done

# three minutes of hashing to find that there is nothing new: two small objects are asked for
fbsd_whole in 14.0-RELEASE p1 now
run "$DRAY" fetch freebsd-update:14.0-RELEASE/amd64 --server "file://$T/site" --keyprint "$KEYPRINT" --fetched store
need_status 0
run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e trace=openat "$DRAY" fetch freebsd-update:14.0-RELEASE/amd64 --server "file://$T/site" \
    --keyprint "$KEYPRINT" --fetched store
need_status 0
grep -o '"[^"]*/site/[^"]*"' trace | sort -u >asked
[ "$(wc -l <asked)" -le 2 ] && ok 'two objects at most' || { fail 'asked for more'; cat asked; }

# a symlink that led nowhere kept its old target for ever
[ "$(readlink root/usr/lib/dangling)" = nowhere ] || fail 'where does it lead before?'
fresh root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
[ "$(readlink root/usr/lib/dangling)" = elsewhere ] && ok 'it leads elsewhere' || fail "it leads to $(readlink root/usr/lib/dangling)"

# a hard link was made to the edited or left-out first name: the others got stale content
run "$DRAY" build --from freebsd-update:13.2-RELEASE/amd64 --to freebsd-update:14.0-RELEASE/amd64 "$@" --ignore 'bin/a' -o ignore.dray
need_status 0
fresh root
rm root/bin/a && echo mine >root/bin/a
run "$INSTALL" apply ignore.dray --root root --keyring ops.pub
need_status 0
[ "$(cat root/bin/a)" = mine ] && cmp root/sbin/a-too new/sbin/a-too && ok 'mine is mine, the other name is the release' || fail 'stale'
fresh root
rm root/bin/a && echo mine >root/bin/a
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
cmp root/sbin/a-too new/sbin/a-too && ok 'the other name is right' || fail 'stale'
