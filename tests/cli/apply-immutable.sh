#!/bin/sh
# immutable and append-only flags, on what is replaced and on the directory above: cleared for the switch alone, and back
# afterwards on what took the place; without the right to do that, refused by plan
. "$(dirname "$0")/lib.sh"

is_root || skip 'needs root, for chattr'
mkdir -p old/var/lib old/etc old/gone new/var/lib new/etc
for f in a z; do
	echo 1 >old/$f
	echo 2 >new/$f
done
echo 1 >old/etc/b && echo 2 >new/etc/b
echo 1 >old/gone/c
echo 2 >new/etc/added
echo same >old/meta && cp -p old/meta new/meta && chmod 600 new/meta
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0
mkdir root
chattr +i root 2>/dev/null || skip 'this file system has no immutable flag'
chattr -i root
trap 'rc=$?; chattr -R -ia "$T/root" 2>/dev/null; (exit $rc); at_end' EXIT
flags() {
	(cd root && find . -path ./var -prune -o \( -type f -o -type d \) -print | LC_ALL=C sort | xargs -d '\n' lsattr -d |
	    awk '{ i = index($1, "i") > 0 ? "i" : "-"; a = index($1, "a") > 0 ? "a" : "-"; print i a, $2 }')
}
# bare DIR - a copy without the state folder, comparable by rsync
for what in etc meta etc/b . gone gone/c; do
	for flag in i a; do
		rm -rf root
		cp -a old root
		chattr +$flag root/$what
		flags >flags-old
		run "$INSTALL" apply up.dray --root root --keyring ops.pub
		want_status 0
		flags >flags-new
		case $what in
		gone*) ! grep -q gone flags-new && ok 'gone' || fail "$what is still there" ;;
		*) grep -v '^--' flags-old >a; grep -v '^--' flags-new >b; want_same a b ;;
		esac
		same_tree new root
		chattr -R -ia root/etc root/meta
		[ "$what" = etc ] || [ "$what" = etc/b ] || [ "$what" = meta ] || chattr -ia root
		# put the flags back as the upgrade left them, then the way back
		while read -r f p; do
			[ "$f" = -- ] || chattr "+$(echo "$f" | tr -d -)" "root/$p"
		done <flags-new
		run "$INSTALL" rollback --root root
		want_status 0
		flags >flags-back
		want_same flags-old flags-back
		chattr -R -ia root
		same_tree old root
		run "$INSTALL" status --root root
		want_text 'nothing is pending and nothing is kept' out
	done
done

# the stash of an immutable file is freed like any other
rm -rf root && cp -a old root && chattr +i root/etc/b root/gone/c
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
run "$INSTALL" forget --root root
want_status 0
chattr -R -ia root

# somebody locked a new file since: the way back is refused before it begins
rm -rf root && cp -a old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
chattr +i root/etc/b
run "$INSTALL" rollback --root root
want_status 22
want_text 'etc/b cannot be put back: it was made immutable or append-only since'
same_tree new root
chattr -i root/etc/b

# without the capability: told by plan, nothing is touched
rm -rf root && cp -a old root && chattr +i root/etc
tree_snapshot root >before
for verb in plan apply; do
	run setpriv --bounding-set=-linux_immutable --inh-caps=-linux_immutable "$INSTALL" $verb up.dray --root root \
	    --keyring ops.pub
	want_status 22
	want_text 'immutable or append-only, and this user may not change that'
	want_unchanged root before
done
