#!/bin/sh
# check names every way in which an entry can differ, and says nothing about what is not the release's
. "$(dirname "$0")/lib.sh"

mkdir -p old new/d new/links
for f in content size mode mtime missing type same secret; do
	echo "$f" >new/$f
done
ln -s target new/link
mkdir -p new/gone/sub new/nodir/sub
echo 1 >new/gone/sub/a && echo 1 >new/gone/b && echo 1 >new/nodir/sub/c
echo 1 >new/one && echo 1 >new/two
echo 1 >new/links/a && ln new/links/a new/links/b
mkfifo new/fifo
echo 1 >"new/bad
name"
setfattr -n user.x -v 1 new/same 2>/dev/null && xattrs=1 || xattrs=
find new -exec touch -h -d @1000000000 {} +
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
want_status 0
mkdir root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
run "$INSTALL" check --root root
want_status 0
want_text 'root is demo 1.1: all ' out

echo CONTENT >root/content && touch -d @1000000000 root/content
echo longer >>root/size && touch -d @1000000000 root/size
chmod 600 root/mode
touch -d @1 root/mtime root/d
rm root/missing root/type root/link && mkdir root/type && ln -s elsewhere root/link && touch -h -d @1000000000 root/link
cp -p root/links/b b && rm root/links/b && cp -p b root/links/b && touch -d @1000000000 root/links
chmod 600 "root/bad
name"
echo mine >root/mine
[ -z "$xattrs" ] || setfattr -n user.x -v 2 root/same
! is_root || chown 7 root/secret
rm -r root/gone root/nodir && ln -s links root/nodir
ln -f root/one root/two
tree_snapshot root >snap
run "$INSTALL" check --root root
want_status 20
want_text 'entries differ from demo 1.1'
want_text 'hint: nothing was changed'
for line in 'content: content' 'size: content' 'mode: mode' 'mtime: mtime' 'missing: missing' 'type: type' \
    'gone: missing, and 3 paths beneath it' 'nodir: type, and 2 paths beneath it' 'one: links' 'two: links' \
    'link: content' 'links/b: links' 'bad\x0aname: mode'; do
	grep -qxF -e "$line" out && ok "$line" || fail "no line: $line"
done
! is_root || want_text 'secret: owner' out
[ -z "$xattrs" ] || want_text 'same: xattrs' out
no_text mine out
no_text fifo out
no_text 'd: mtime' out
no_text gone/b out
want_text 'different in: missing 7, type 2, content 3, ' out
want_unchanged root snap

# the time of a directory moves with whatever is made in it
run "$INSTALL" check --root root --strict
want_status 20
want_text 'd: mtime' out

# the same of the bundle itself, which has to be trusted
run "$INSTALL" check up.dray --root root
want_status 30
run "$INSTALL" check up.dray --root root --keyring ops.pub
want_status 20
want_text 'content: content' out
run "$INSTALL" check --root root --quick
want_status 20
no_text 'content: content' out
want_text 'size: content' out
run "$INSTALL" check --root root --json
want_status 20
want_text '{"path":"links/b","what":["links"]}' out
want_text '{"path":"bad\nname","what":["mode"]}' out
want_text '{"beneath":2,"path":"nodir","what":["type"]}' out
want_text '"missing":7' out
want_text '"error":{"code":20' out
[ "$(wc -l <out)" = 1 ] && ok 'one document' || fail 'more than one document'

# a path the disk does not give back is damage, and the rest is looked at all the same
if command -v strace >/dev/null; then
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -P "$T/root/same" -e trace=pread64 \
	    -e inject=pread64:error=EIO "$INSTALL" check --root "$T/root"
	want_status 20
	grep -q '^same: .*read error' out && ok 'the read error is told' || fail 'the read error is not told'
	want_text 'content: content' out
fi

# a damaged record of the release is not believed
head=$(echo root/var/lib/dray/release/*.head)
printf x | dd of="$head" bs=1 seek=700 conv=notrunc 2>dd.err
run "$INSTALL" check --root root
[ "$status" = 30 ] || [ "$status" = 31 ] && ok "status $status" || fail "status $status for a damaged record"
