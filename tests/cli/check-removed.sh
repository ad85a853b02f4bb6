#!/bin/sh
# what the release removed and is here again is extra; what is local there is not; --extra lists all that no release knows
. "$(dirname "$0")/lib.sh"

mkdir -p old/gone/sub old/keeps old/var/lib new/var/lib new/d new/hollow
echo 1 >old/gone/a && echo 1 >old/gone/sub/b && echo 1 >old/keeps/c && echo 1 >old/file && echo 1 >old/other
ln -s target old/link
echo 1 >new/d/x
find old new -exec touch -h -d @1000000000 {} +
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0
cp -a old root
echo mine >root/keeps/mine
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
want_text '  keeps: stays, because it holds keeps/mine' out
run "$INSTALL" check --root root --strict
want_status 0

# all of it back as it was: extra, directories too; another content or type at such a path is local
cp -a old/gone old/file old/link root
echo mine >root/other
mkdir root/keeps/c
echo x >root/d/stranger && mkdir -p root/d/strange/deep
printf x >"root/d/odd
name"
mkdir root/hollow/in
tree_snapshot root >snap
run "$INSTALL" check --root root
want_status 20
for line in 'gone: extra' 'gone/a: extra' 'gone/sub: extra' 'gone/sub/b: extra' 'file: extra' 'link: extra'; do
	grep -qxF -e "$line" out && ok "$line" || fail "no line: $line"
done
[ "$(grep -c ': extra$' out)" = 6 ] && ok 'nothing else is extra' || fail 'something else is extra'
want_text 'different in: extra 6' out
want_unchanged root snap
# a directory that holds something else is there for its sake
echo mine >root/gone/sub/mine
run "$INSTALL" check --root root
want_status 20
for line in 'gone/a: extra' 'gone/sub/b: extra' 'file: extra' 'link: extra'; do
	grep -qxF -e "$line" out && ok "$line" || fail "no line: $line"
done
[ "$(grep -c ': extra$' out)" = 4 ] && ok 'the directories are not extra' || fail 'the directories are extra'

rm -r root/gone root/file root/link
run "$INSTALL" check --root root --extra
want_status 0
sed -n '/^no part of the release:$/,/^[^ ]/p' out | sed '1d;$d' >list
cat >want <<'EOL'
  keeps/
  other
  d/odd\x0aname
  d/strange/
  d/stranger
  hollow/in/
EOL
want_same want list
run "$INSTALL" check --root root --extra --json
want_status 0
want_text '"foreign":[{"path":"keeps"},{"path":"other"},' out
want_text '"foreign_total":6' out
# what is mounted there is not the tree's
if is_root && mount -t tmpfs none root/hollow 2>/dev/null; then
	touch root/hollow/tmp
	run "$INSTALL" check --root root --extra
	umount root/hollow
	no_text 'hollow/' out
fi
# long lists are cut and counted
i=0
while [ $i -lt 130 ]; do
	i=$((i + 1))
	echo >root/d/f$i
done
run "$INSTALL" check --root root --extra
want_text '  ... and 36 more (-v lists all)' out
run "$INSTALL" check --root root --extra -v
want_text '  d/f130' out
