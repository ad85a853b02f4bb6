#!/bin/sh
# hook install, status, remove: the unit or the rc script, nothing of anybody else's touched, nothing left behind
. "$(dirname "$0")/lib.sh"

UNIT=etc/systemd/system/dray-resume.service
WANT=etc/systemd/system/sysinit.target.wants/dray-resume.service
tree() {
	rm -rf root
	mkdir -p root/etc root/usr/lib/systemd root/var/lib
	: >root/usr/lib/systemd/systemd
	ln -s usr/lib root/lib
	find root -exec touch -h -d @1700000000 {} +
}
names() { (cd root && find . -printf '%p %y %m %T@ %l\n' | sort); }

# neither of them
mkdir bare
run "$INSTALL" hook install --root bare
want_status 22
want_text 'bare has neither systemd nor FreeBSD'
[ -z "$(ls -A bare)" ] && ok 'nothing was made' || fail 'something was made'
run "$INSTALL" hook status --root bare --json
want_status 0
want_text '{"files":[],"installed":false,"kind":"none"}' out
run "$INSTALL" hook install --root bare --init sysv
want_status 2

# a tree that never saw an upgrade is afterwards what it was, times too
tree
names >before
run "$INSTALL" hook status --root root
want_status 0
want_text 'boot hook for systemd: not installed' out
run "$INSTALL" hook install --root root
want_status 0
want_text "$UNIT" out
want_text 'ExecStart=/var/lib/dray/dray-install resume' root/$UNIT
want_text 'After=local-fs.target' root/$UNIT
want_text 'Before=sysinit.target shutdown.target' root/$UNIT
[ "$(readlink root/$WANT)" = ../dray-resume.service ] && want_same root/$UNIT "root/$WANT" || fail "$WANT"
want_same root/var/lib/dray/dray-install "$INSTALL"
[ "$(stat -c %a root/var/lib/dray/dray-install root/$UNIT | tr '\n' ' ')" = '700 644 ' ] && ok modes || fail modes
run "$INSTALL" hook status --root root --json
want_text '"installed":true,"kind":"systemd"' out
tree_snapshot root >snap
run "$INSTALL" hook install --root root
want_status 0
tree_snapshot root | grep -v 'dray\|sysinit.target.wants|d' >now
grep -v 'dray\|sysinit.target.wants|d' snap >snap2
want_same snap2 now
run "$INSTALL" hook remove --root root
want_status 0
names >after
want_same before after
run "$INSTALL" hook remove --root root
want_status 0
want_text 'no boot hook is on root: nothing to do' out
names >after
want_same before after

# what is not ours is not touched: a file, an edited one, a mask, a directory in the way
run "$INSTALL" hook install --root root
echo '# mine' >>root/$UNIT
tree_snapshot root | grep -v 'dray/lock' >snap
for verb in install remove; do
	run "$INSTALL" hook $verb --root root
	want_status 22
	want_text "$UNIT is there and is not what this program writes"
done
tree_snapshot root | grep -v 'dray/lock' >now
want_same snap now
for plant in "ln -s /dev/null root/$UNIT" "mkdir root/$UNIT" "mkfifo root/$UNIT" "mkdir -p root/$WANT"; do
	tree
	mkdir -p root/etc/systemd/system
	$plant
	tree_snapshot root >snap
	run "$INSTALL" hook install --root root
	want_status 22
	want_text 'hint: nothing was changed'
	want_unchanged root snap
done
# a symlink on the way is not followed
tree
mkdir elsewhere && ln -s "$T/elsewhere" root/etc/systemd
run "$INSTALL" hook install --root root
want_status 22
[ -z "$(ls -A elsewhere)" ] && ok 'not through a symlink' || fail 'through a symlink'

# what an older version wrote is known by the state folder, and replaced
tree
run "$INSTALL" hook install --root root
echo '# an older text' >root/$UNIT
sum=$(sha256sum <root/$UNIT | cut -d ' ' -f 1)
sed -i "s/\"sha256\":\[\"[0-9a-f]*\"/\"sha256\":[\"$sum\"/" root/var/lib/dray/hook.json
run "$INSTALL" hook status --root root
want_text "$UNIT: older" out
run "$INSTALL" hook install --root root
want_status 0
want_text 'ExecStart=' root/$UNIT
run "$INSTALL" hook status --root root
want_text "$UNIT: installed" out
echo '# an older text' >root/$UNIT
run "$INSTALL" hook remove --root root
want_status 0
names >after
want_same before after

# a state folder of its own, and one with a history, which stays
mkdir -p old/var/lib new/var/lib
echo 1 >old/a && echo 2 >new/a
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
tree
echo 1 >root/a
run "$INSTALL" apply up.dray --root root --keyring ops.pub --state my/state
want_status 0
run "$INSTALL" hook install --root root --state my/state
want_status 0
want_text 'ExecStart=/my/state/dray-install resume --state my/state' root/$UNIT
run "$INSTALL" hook remove --root root --state my/state
want_status 0
no_file root/$UNIT
no_file root/etc/systemd
want_file root/my/state/anchor.json
want_file root/my/state/dray-install
run "$INSTALL" hook install --root root --state 'my state'
want_status 22
want_text 'a boot hook cannot hold the path of this state folder'

# FreeBSD's rc
rm -rf root
mkdir -p root/etc/rc.d root/var/db
: >root/etc/rc.subr
names >before
run "$INSTALL" hook install --root root --state var/db/dray
want_status 0
run "$INSTALL" hook status --root root --state var/db/dray
want_text 'boot hook for rc: installed' out
want_text '# REQUIRE: FILESYSTEMS' root/etc/rc.d/dray_resume
want_text '"/var/db/dray/dray-install" resume --state var/db/dray' root/etc/rc.d/dray_resume
sh -n root/etc/rc.d/dray_resume && [ -x root/etc/rc.d/dray_resume ] && ok 'a script' || fail 'no script'
[ "$(head -n 1 root/etc/rc.d/dray_resume)" = '#!/bin/sh' ] && ok 'first line' || fail 'first line'
run "$INSTALL" hook remove --root root --state var/db/dray
want_status 0
names >after
want_same before after
