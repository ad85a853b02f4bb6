#!/bin/sh
# what an update of a freebsd-update server took away: a machine that lacks it has deleted nothing, so it comes back with the release
# that has it again; a component whose names all carry a version is here, whatever the level
. "$(dirname "$0")/lib.sh"
. "$TOP/tests/fbsd/site.sh"
is_root || skip "owners of the trees need root"
key
O=in/13.2-RELEASE N=in/14.0-RELEASE
mkdir -p $O/p0/world/base/bin $O/p0/world/base/var/lib $O/p0/kernel/generic/boot $N
echo a >$O/p0/world/base/bin/a
echo b >$O/p0/world/base/bin/b
echo c >$O/p0/world/base/bin/c
echo deleted >$O/p0/world/base/bin/deleted
echo back >$O/p0/world/base/bin/back
echo again >$O/p0/world/base/bin/again
mkdir $O/p0/world/base/lib
echo lib >$O/p0/world/base/lib/liba.so.1
seq 400 >$O/p0/kernel/generic/boot/vmlinuz-1
cp -al $O/p0 $O/p1
rm -r $O/p1/world/base/bin/back $O/p1/world/base/bin/again $O/p1/world/base/lib $O/p1/kernel/generic/boot/vmlinuz-1
seq 401 >$O/p1/kernel/generic/boot/vmlinuz-2
cp -al $O/p0 $N/p0
fbsd_change $N/p0/world/base/bin/a 's/$/ of 14/'
fbsd_change $N/p0/world/base/bin/back 's/$/ of 14/'
fbsd_change $N/p0/world/base/bin/deleted 's/$/ of 14/'
rm $N/p0/kernel/generic/boot/vmlinuz-1
seq 402 >$N/p0/kernel/generic/boot/vmlinuz-3
fbsd_site in site >/dev/null || exit 1

run "$DRAY" build --from freebsd-update:13.2-RELEASE/amd64 --to freebsd-update:14.0-RELEASE/amd64 --server "file://$T/site" \
    --keyprint "$KEYPRINT" --fetched store --os any --level 3 --no-cache --key ops.key -o up.dray
need_status 0
fbsd_whole in 14.0-RELEASE p0 new world/base kernel/generic
for level in p0 p1; do
	fbsd_whole in 13.2-RELEASE $level $level world/base kernel/generic
	cp -a $level before
	run "$INSTALL" plan up.dray --root $level --keyring ops.pub --json
	need_status 0
	want_text '"components_absent":[]' out
	case $level in
	p0) want_text '"added":1,' out ;;
	p1) want_text '"added":5,' out ;;	# back, again, lib and what is in it, vmlinuz-3
	esac
	run "$INSTALL" apply up.dray --root $level --keyring ops.pub
	need_status 0
	fbsd_same new $level
	run "$INSTALL" check --root $level
	want_status 0
	run "$INSTALL" rollback --root $level
	need_status 0
	same_tree before $level
	rm -rf before
done

# what the release always had and somebody deleted stays deleted
rm p1/bin/deleted
run "$INSTALL" apply up.dray --root p1 --keyring ops.pub
need_status 0
no_file p1/bin/deleted
want_file p1/bin/back
want_file p1/bin/again
want_file p1/lib/liba.so.1
