#!/bin/sh
# shapes at the edge: empty trees, nothing changed, no base, several bases, metadata alone, contents that move, large
# contents in pieces, attachments; and what is sent in each case
. "$(dirname "$0")/lib.sh"

mkdir empty old new
build() {
	run "$DRAY" build --product demo --version 2 --counter 2 --level fast "$@"
	want_status 0
}
said() {	# said BUNDLE TEXT... - the JSON of info holds each
	b=$1
	shift
	run "$DRAY" info "$b" --json
	want_status 0
	for t; do
		want_text "$t" out
	done
}

build --to empty --allow-empty -o empty.dray
said empty.dray '"total":0' '"contents_sent":0' '"blocks":0' '"bases":[]'
key
run "$DRAY" sign empty.dray --key ops.key
run "$DRAY" verify empty.dray --keyring ops.pub
want_status 0

build --from empty --to empty --allow-empty -o both-empty.dray
said both-empty.dray '"total":0' '"kind":"exact","reads_bytes":0,"version":"base-1"}]'

echo a >old/a
mkdir old/d
echo b >old/d/b
cp -a old/. new
build --from old --to new -o same.dray
want_text 'nothing changes: the release is the same as its bases' out
said same.dray '"same":3' '"total":3' '"contents_sent":0' '"frames":0'
[ "$(wc -c <same.dray)" -le 32768 ] || fail "a bundle of nothing is $(wc -c <same.dray) bytes"

# no base: everything is there
build --to new -o full.dray
want_text 'nothing: this bundle installs into an empty tree' out
said full.dray '"added":3' '"contents_sent":2' '"bases":[]'

# only attributes: no content travels
chmod 700 new/a
touch -d '2020-01-01' new/d/b
touch -r old/d new/d
build --from old --to new -o meta.dray
said meta.dray '"metadata":2' '"content":0' '"contents_sent":0'
run "$DRAY" list meta.dray --changed
want_text 'm a' out
want_text 'm d/b' out
[ "$(wc -l <out)" = 2 ] || fail "list --changed shows more than what changed"

# the same content under another name is not the same path: it travels once, whatever the number of its names
cp old/a new/moved
cp old/a new/moved2
build --from old --to new -o moved.dray
said moved.dray '"added":2' '"contents_sent":1'

# a new name in a hard-link group: the group is new at each of its paths
rm new/moved new/moved2
cp -a old/. new
ln new/a new/d/link
build --from old --to new -o link.dray
said link.dray '"contents_sent":1'
run "$DRAY" list link.dray --changed
want_text '~ a' out
want_text '+ d/link' out

# several bases: different in one of them is touched
rm -rf new && mkdir new && cp -a old/. new
mkdir other && cp -a old/. other && echo z >other/a
build --from old --from-version 1.0:1 --from other --from-version 1.5 --to new -o two.dray
said two.dray '"content":1' '"same":2' '"contents_sent":1' '"version":"1.0"' '"version":"1.5"'

# types and removals
rm -rf new && mkdir new new/a
ln -s x new/d
build --from old --to new -o types.dray
said types.dray '"type":2' '"removed":1' '"added":0' '"contents_sent":0'

# above 4 MiB: pieces with a frame each; many small ones share a frame
rm -rf new && mkdir new
head -c 9437185 /dev/zero >new/large
i=0
while [ $i -lt 100 ]; do
	echo "small $i" >new/s$i
	i=$((i + 1))
done
: >new/zero
build --to new -o large.dray
said large.dray '"frames":4' '"contents_sent":102' '"frame":4194304'

# attachments, in order of their names
echo notes >b.txt
head -c 1500 /dev/zero >a.bin
build --to old --note b.txt --note ./a.bin --slot 1k -o notes.dray
said notes.dray '"name":"notes/a.bin"' '"name":"notes/b.txt"' '"size":1500'
tar xOf notes.dray notes/b.txt >got && want_same got b.txt
[ "$(tar tf notes.dray | tr '\n' ' ')" = "dray.json dray.sig README.txt index/00 index/01 notes/a.bin notes/b.txt blocks/000000 " ] ||
    fail "members: $(tar tf notes.dray)"
[ "$(tar tvf notes.dray dray.sig | awk '{ print $3 }')" = 1024 ] || fail "the slot is not 1 KiB"

# names and numbers as given
build --to old --compatible other --compatible another --os linux -o names.dray
said names.dray '"compatible":["another","other"]' '"os":"linux"' '"counter":2' '"mode":"complete"'
no_leftover .
