#!/bin/sh
# list: one line for each path with what happens to it; --changed leaves out the same; JSON tells it all; a new path with
# the content of one that is gone is moved; --why names every path of every base that has what a recipe builds on
. "$(dirname "$0")/lib.sh"

mkdir -p old/dir new/dir
for f in same meta content type gone; do echo $f >old/$f; done
cp -a old/. new
rm new/gone new/type
chmod 600 new/meta
echo other >new/content
ln -s x new/type
echo more >new/added
touch -r old/dir new/dir
run "$DRAY" build --from old --to new --product demo --version 1 --counter 1 --level fast -o up.dray
want_status 0
cat >want <<-END
	+ added
	~ content
	= dir
	- gone
	m meta
	= same
	t type
END
run "$DRAY" list up.dray
want_status 0
want_same want out
want_text 'dray: signatures were not checked (no --keyring)'
run "$DRAY" list up.dray -c
want_status 0
grep -v = want >changed
want_same changed out
run "$DRAY" list up.dray -q
no_text signatures

run "$DRAY" list up.dray --json
want_status 0
want_text '{"change":"removed","path":"gone"}' out
want_text '"change":"metadata","gid":' out
want_text '"change":"type",' out
want_text '"signatures_checked":false' out
want_text "\"sha256\":\"$(sha256sum <new/content | cut -c1-64)\"" out

key
run "$DRAY" sign up.dray --key ops.key
run "$DRAY" list up.dray --keyring ops.pub
want_status 0
want_same want out
no_text signatures
key stranger
run "$DRAY" list up.dray --keyring stranger.pub
want_status 30
[ ! -s out ] || fail "paths of a bundle that is not trusted were listed"

# a full disk behind standard output is told
if [ -w /dev/full ]; then
	"$DRAY" list up.dray >/dev/full 2>err
	ended $? "list to a full device"
	want_status 1
	want_text 'cannot write to standard output: no space left on device'
fi

# moves: the same file name first, then path order; both sides tell it, names of any bytes stay plain text
mkdir -p one/lib one/opt two/lib three/new
seq 1 900 >one/lib/tool
for f in one/opt/other one/opt/third one/opt/left; do cp one/lib/tool $f; done
nl=$(printf 'a\nb\033[31m')
seq 2 800 >"one/$nl"
seq 3 20000 >one/lib/big
cp one/lib/big two/lib/big-too
cp one/lib/big "two/$nl"
for f in a/tool b c; do mkdir -p "three/new/$(dirname $f)" && cp one/lib/tool three/new/$f; done
cp "one/$nl" three/new/named
sed 's/77/changed/' one/lib/big >three/new/big
: >one/nothing
: >three/new/nothing
run "$DRAY" build --from one --from-version 1:1 --from two --from-version 2:2 --to three --product demo --version 3 \
    --counter 3 --level 3 -o moved.dray
need_status 0
tr -s ' \n' ' ' <out >flat
want_text ': 4 added, 10 removed, 4 moved, 0 changed, ' flat
run "$DRAY" list moved.dray
cat >want <<-'END'
	- a\x0ab\x1b[31m moved to new/named
	- lib
	- lib/big
	- lib/big-too
	- lib/tool moved to new/a/tool
	+ new
	+ new/a
	> new/a/tool moved from lib/tool
	> new/b moved from opt/left
	+ new/big
	> new/c moved from opt/other
	> new/named moved from a\x0ab\x1b[31m
	+ new/nothing
	- nothing
	- opt
	- opt/left moved to new/b
	- opt/other moved to new/c
	- opt/third
END
want_same want out
run "$DRAY" info moved.dray --json
want_text '"moved":4,' out
want_text '"added":4,' out
run "$DRAY" list moved.dray --json
want_text '"change":"removed","moved_to":"new/a/tool","path":"lib/tool"}' out
want_text '"moved_from":"opt/left",' out
run "$INSTALL" list -l moved.dray
want_text ' new/b moved from opt/left' out

# one base content under several paths and in several bases: each is named
run "$DRAY" list moved.dray --why new/big
want_status 0
sed -n '/^  delta/,/^  full/p' out >got
{
	sed -n '/^  delta/p' out
	printf '    in base 1, 2\n'
	printf '    from    a\\x0ab\\x1b[31m (2), 108.9 kB read, sha256 %.16s...\n' "$(sha256sum <one/lib/big)"
	printf '    or      lib/big (1)\n    or      lib/big-too (2)\n'
	sed -n '/^  full/p' out
} >want
want_same want got
run "$DRAY" list moved.dray --why new/b --json
want_text '"paths":[{"bases":["1"],"path":"lib/tool"},{"bases":["1"],"path":"opt/left"},{"bases":["1"],"path":"opt/other"},' out
want_text "\"reads\":$(stat -c %s one/lib/tool)," out
