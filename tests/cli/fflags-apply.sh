#!/bin/sh
# file flags of a freebsd-update server: set with the upgrade, in directories that come as a whole too, put back by rollback,
# told by check and plan, set again by repair. Whatever run is killed, the next one ends in the new flags or the old
. "$(dirname "$0")/lib.sh"
. "$TOP/tests/fbsd/site.sh"
is_root || skip 'needs root, for chattr'
mkdir probe
chattr +i probe 2>/dev/null && lsattr -d probe | grep -q '^....i' || skip 'this file system has no immutable flag'
chattr -i probe
trap 'rc=$?; chattr -R -ia "$T" 2>/dev/null; (exit $rc); at_end' EXIT

old=in/13.2-RELEASE/p0/world/base new=in/14.0-RELEASE/p0/world/base
mkdir -p $old/bin $old/lib $old/gone $old/var/empty $old/var/lib $new
for f in bin/a bin/b lib/libc.so.7 gone/f gained lost kept nodump other; do
	echo "old $f" >$old/$f
done
ln $old/other $old/other-too
cp -a $old/. $new
rm -r $new/gone
for f in bin/a bin/b; do
	echo "new $f" >$new/$f
done
mkdir -p $new/come/sub $new/var/empty
echo in >$new/come/sub/f
echo log >$new/come/log
echo two >$new/come/name1 && ln $new/come/name1 $new/bin/name2
printf '%s 400000\n' /bin/a /lib/libc.so.7 /gone/f /lost /kept /var/empty >in/13.2-RELEASE/flags
printf '%s 400000\n' /bin/a /bin/b /lib/libc.so.7 /gained /kept /var/empty /come/sub /come/sub/f /come/name1 /bin/name2 \
    >in/14.0-RELEASE/flags
printf '%s\n' '/nodump 1' '/other 404001' '/other-too 404001' '/come/log 1000001' >>in/14.0-RELEASE/flags
"$TOP/tools/fbupdate-server" make in site >made || exit 1
set -- --server "file://$T/site" --keyprint "$(cat site/KEYPRINT)" --fetched store --level 3 --no-cache --key ops.key \
    --from freebsd-update:13.2-RELEASE/amd64 --to freebsd-update:14.0-RELEASE/amd64
key
run "$DRAY" build "$@" --os linux -o up.dray
need_status 0
run "$DRAY" build "$@" -o freebsd.dray
need_status 0
run "$DRAY" build "$@" --os any -o any.dray
need_status 0

# numbers of the bundle's own system; none in a bundle for any
run "$DRAY" diff -a freebsd.dray up.dray
want_status 20
want_text 'kept: flags: 0x20000 | 0x10' out
want_text 'other: flags: 0x20001 | 0x50' out
run "$DRAY" diff -a any.dray up.dray
want_text 'kept: flags: not told | 0x10' out

flags() {
	(cd "$1" && find . -path ./var/lib -prune -o \( -type f -o -type d \) -print | LC_ALL=C sort |
	    xargs -d '\n' lsattr -d | awk '{ o = ""; for (i = 1; i <= 3; i++) { c = substr("iad", i, 1)
	    if (index($1, c)) o = o c } if (o != "") print o, $2 }')
}
machine() {	# DIR - as 13.2-RELEASE has it
	[ ! -e "$1" ] || chattr -R -ia "$1"
	rm -rf "$1"
	cp -a $old "$1"
	for f in bin/a lib/libc.so.7 gone/f lost kept var/empty; do
		chattr +i "$1/$f"
	done
}
machine root
flags root >flags-old
cat >flags-new <<END
i ./bin/a
i ./bin/b
i ./bin/name2
ad ./come/log
i ./come/name1
i ./come/sub
i ./come/sub/f
i ./gained
i ./kept
i ./lib/libc.so.7
d ./nodump
id ./other
id ./other-too
i ./var/empty
END

run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
no_text attributes out
flags root >flags-now
want_same flags-new flags-now
fbsd_same $new root
run "$INSTALL" check --root root
want_status 0
run "$INSTALL" plan up.dray --root root --keyring ops.pub
want_status 0
want_text 'nothing' out
run "$INSTALL" check --root root --mtree
want_text './other type=file uid=0 gid=0 mode=0644 flags=schg,nodump ' out
want_text './come type=dir uid=0 gid=0 mode=0755 flags=none' out
run "$INSTALL" check freebsd.dray --root root --mtree --keyring ops.pub
want_text './other type=file uid=0 gid=0 mode=0644 flags=schg,nodump ' out

# lost and gained since: told, and repaired with nothing else
chattr -i root/bin/a root/come/sub
chattr +i root/come
flags root >flags-damaged
run "$INSTALL" check --root root --json
want_status 20
want_text '{"path":"bin/a","what":["flags"]}' out
want_text '{"path":"come","what":["flags"]}' out
want_text '{"path":"come/sub","what":["flags"]}' out
want_text '"flags":3' out
run "$INSTALL" repair up.dray --root root --keyring ops.pub
want_status 0
flags root >flags-now
want_same flags-new flags-now
run "$INSTALL" check --root root
want_status 0
run "$INSTALL" rollback --root root
want_status 0
flags root >flags-now
want_same flags-damaged flags-now
machine root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
run "$INSTALL" rollback --root root
need_status 0
flags root >flags-now
want_same flags-old flags-now
run "$INSTALL" status --root root	# a name inside a new directory and one outside are one file
want_text 'nothing is pending and nothing is kept' out
chattr -R -ia root
same_tree $old root

# killed at any rename and any change of flags: forward, or back
command -v strace >/dev/null || skip 'needs strace, to kill at a chosen moment'
for way in resume 'resume --back' apply; do
	n=0 cut=0
	while :; do
		n=$((n + 3))
		machine root
		run env ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e trace=ioctl,renameat2 \
		    -e "inject=ioctl,renameat2:signal=KILL:when=$n" "$INSTALL" apply up.dray --root root --keyring ops.pub
		[ "$status" != 0 ] || break
		cut=$((cut + 1))
		want=flags-new like=$new
		run "$INSTALL" status --root root
		case $way in
		apply) run "$INSTALL" apply up.dray --root root --keyring ops.pub ;;
		*)
			grep -q 'was interrupted' out || want=flags-old like=$old
			[ "$way" = resume ] || want=flags-old like=$old
			# shellcheck disable=SC2086	# two words
			run "$INSTALL" $way --root root
			;;
		esac
		[ "$status" = 0 ] || fail "$way after a kill at call $n: status $status: $(cat err)"
		flags root >flags-now
		cmp -s $want flags-now || fail "$way after a kill at call $n: $(diff $want flags-now)"
		chattr -R -ia root
		fbsd_same $like root >said || fail "$way after a kill at call $n: $(cat said)"
	done
	[ $cut -gt 6 ] && ok "$way after $cut kills" || fail "killed $cut times only"
done

# who may not set them: told by plan, though nothing that is here has one
chattr -R -ia root
rm -rf root && cp -a $old root
tree_snapshot root >before
run setpriv --bounding-set=-linux_immutable --inh-caps=-linux_immutable "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 22
want_text 'is immutable or append-only in the release, and this user may not set that'
want_unchanged root before
