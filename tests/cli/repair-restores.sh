#!/bin/sh
# repair makes everything that differs what the release says, and rollback gives the damaged tree back exactly
. "$(dirname "$0")/lib.sh"

mkdir -p old/var/lib old/bin new/var/lib new/bin new/lib/sub new/etc new/links new/gone/sub new/d new/attr
echo 1 >old/bin/left && ln -s target old/leftlink
for f in bin/prog bin/mode bin/time bin/type bin/trunc lib/a lib/sub/b gone/c gone/sub/d etc/conf etc/mode d/x attr/x; do
	echo "new $f" >new/$f
done
: >new/bin/empty
echo 1 >new/links/a && ln new/links/a new/links/b && ln new/links/a new/links/c
echo 1 >new/one && echo 1 >new/two && echo 1 >new/same
ln -s prog new/bin/link && mkfifo new/fifo
chmod 4755 new/bin/prog && chmod 600 new/etc/mode
setfattr -n user.x -v 1 new/attr/x 2>/dev/null && xattrs=1 || xattrs=
setfacl -m u:5:r new/attr new/attr/x 2>/dev/null && acls=1 || acls=
find old new -exec touch -h -d @1000000000 {} +
cat >up.json <<'J'
{"recipe": 1, "product": "demo", "version": "1.1", "counter": 2, "from": ["dir:old"], "to": "dir:new", "config": ["etc/*"]}
J
sed 's/"from": \["dir:old"\], //' up.json >full.json
key
run "$DRAY" build --recipe up.json --key ops.key -o up.dray
need_status 0
run "$DRAY" build --recipe full.json --key ops.key -o full.dray
need_status 0
cp -a old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0

run "$INSTALL" repair full.dray --root root --keyring ops.pub
want_status 0
want_text 'root is demo 1.1: nothing to repair' out
run "$INSTALL" repair full.dray --root root --keyring ops.pub --exit-detail
want_status 10
run "$INSTALL" repair full.dray --root root --keyring ops.pub --json
want_status 0
want_text '"repairs":[],"repairs_total":0,"result":"already"' out
[ "$(wc -l <out)" = 1 ] && ok 'one document' || fail 'more than one document'

# one of everything
cp -a root whole
echo bad >root/bin/prog && echo >>root/lib/a && : >root/bin/trunc && echo x >root/bin/empty
chmod 600 root/bin/mode && touch -d @2 root/bin/time
rm root/bin/type root/bin/link && mkdir root/bin/type && ln -s elsewhere root/bin/link
rm -r root/gone root/fifo root/d/x
cp -p root/links/b b && rm root/links/b && cp -p b root/links/b
ln -f root/one root/two
chmod 700 root/d
[ -z "$xattrs" ] || setfattr -n user.x -v 2 root/attr/x
[ -z "$acls" ] || setfacl -b root/attr
! is_root || chown 7:8 root/lib/sub
echo mine >root/etc/conf && echo mine >root/etc/mode && chmod 644 root/etc/mode
echo mine >root/lib/mine
touch -d @1100000000 root/lib/mine root/etc/conf root/etc/mode
cp -a root damaged
tree_snapshot root >snap

run "$INSTALL" repair full.dray --root root --keyring ops.pub --dry-run
want_status 0
want_unchanged root snap
for line in 'bin/prog: content' 'bin/mode: mode' 'bin/time: mtime' 'bin/type: type'  \
    'gone/sub/d: missing' 'links/b: links' 'one: links' 'two: links' 'etc/mode: mode'; do
	grep -q "^  $line" out && ok "$line" || fail "no line: $line"
done
want_text 'different by local decision, which is no damage:' out
want_text '  etc/conf: content, mtime (config)' out
want_text '  etc/mode: content, mtime (config)' out
want_text 'next: dray-install repair full.dray --root root --keyring ops.pub' out
id=$(sed -n 's/^plan id //p' out)
run "$INSTALL" repair full.dray --root root --keyring ops.pub --dry-run --json
want_status 0
want_text '"result":"planned"' out
want_text "\"plan_id\":\"$id\"" out
want_text '{"path":"bin/prog","what":["content"' out
want_unchanged root snap

run "$INSTALL" repair full.dray --root root --keyring ops.pub --plan "$id"
want_status 0
want_text 'paths of demo 1.1 on root are repaired' out
want_text '  bin/prog: was not as any release had it; kept in the stash' out
want_text 'to go back: dray-install rollback --root root' out
no_text 'keep the old content' out
run "$INSTALL" check --root root
want_status 0
want_text '  etc/conf: content, mtime (config)' out
want_text '2 differ by local decision' out
# but for what is local the tree is the release's
echo mine >mine
want_same root/etc/conf mine
want_same root/etc/mode mine
[ "$(stat -c '%a %Y' root/etc/mode)" = '600 1100000000' ] && ok 'mode set, time of the edit kept' || fail "$(stat -c '%a %Y' root/etc/mode)"
want_same root/lib/mine mine
cp -a root view
rm view/lib/mine && touch -d @1000000000 view/lib
for f in conf mode; do
	cp -p new/etc/$f view/etc
done
touch -d @1000000000 view view/etc
same_tree view new
run "$INSTALL" status --root root
want_text 'root has demo 1.1 (release counter 2)' out

run "$INSTALL" rollback --root root
want_status 0
want_text 'root is back at demo 1.1' out
same_tree root damaged
run "$INSTALL" check --root root
want_status 20
# what the release removed goes again with a bundle that knows of it; that takes no bytes, so this one will do
cp -p old/bin/left root/bin && cp -P old/leftlink root
run "$INSTALL" repair up.dray bin/left /leftlink --root root --keyring ops.pub
want_status 0
want_text '  bin/left: extra' out
want_text '2 paths of demo 1.1 on root are repaired' out
no_file root/bin/left
no_file root/leftlink
# once more, and then all the way back
run "$INSTALL" repair full.dray --root root --keyring ops.pub
want_status 0
for n in 1 2 3; do
	run "$INSTALL" rollback --root root
	want_status 0
done
want_text 'root is back in the state before the upgrade' out
run "$INSTALL" repair full.dray --root root --keyring ops.pub
want_status 22
want_text 'nothing is recorded as installed on root'

# what the disk does not give back is replaced like any damage
command -v strace >/dev/null || exit 0
run "$INSTALL" apply full.dray --root root --keyring ops.pub
need_status 0
ino=$(stat -c %i root/lib/a)
run env ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -P "$T/root/lib/a" -e trace=pread64 -e inject=pread64:error=EIO \
    "$INSTALL" repair full.dray --root "$T/root" --keyring ops.pub
want_status 0
want_text '  lib/a: read error' out
want_same root/lib/a new/lib/a
[ "$(stat -c %i root/lib/a)" != "$ino" ] && ok 'a new file' || fail 'the same file'
