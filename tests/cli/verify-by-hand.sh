#!/bin/sh
# README.txt inside a bundle tells how to check it with tar and openssl; here its commands run as they stand there
. "$(dirname "$0")/lib.sh"

must() {	# must TEXT CMD... - TEXT holds when CMD succeeds
	what=$1
	shift
	if "$@"; then ok "$what"; else fail "not so: $what"; fi
}

for k in ops second; do key $k; done
mkdir old new
echo one >old/f
echo two >new/f
echo 'a file of the new release' >new/g
run "$DRAY" build --from dir:old --to dir:new --product demo --version 2 --counter 2 --key second.key --key ops.key -o up.dray
need_status 0

tar -xOf up.dray README.txt >readme
want_text 'demo 2' readme
must 'its lines are short' [ -z "$(grep -E '^.{111}' readme)" ]

mkdir hand
sed -n 's/^    //p' readme >hand/commands
[ "$(wc -l <hand/commands)" -gt 20 ] || fail 'README.txt has no commands'
by_hand() {	# by_hand BUNDLE KEY - the commands, in a folder of their own
	rm -rf hand/work
	mkdir hand/work
	(cd hand/work && B=$1 K=$2 sh ../commands) >out 2>err </dev/null
	ended $? "the commands of README.txt on $1 with $2"
}

by_hand "$T/up.dray" "$T/ops.pub"
want_status 0
want_text 'signed by this key: yes' out
by_hand "$T/up.dray" "$T/second.pub"
want_text 'signed by this key: yes' out
size=$(sed -n 's/^size=//p' hand/work/signed.txt)
hash=$(sed -n 's/^sha256=//p' hand/work/signed.txt)
must "$size is the size of the file" [ "$size" = "$(wc -c <up.dray)" ]
want_text "$hash *dray.json" out
must 'the size was shown' grep -qx "$size" out
# the hashes of the members that were shown stand in dray.json
sed -n 's/ \*stdin$//p' out >hashes
must 'two hashes were shown' [ "$(wc -l <hashes)" = 2 ]
while read -r h; do
	want_text "$h" hand/work/dray.json
done <hashes
want_text 'a file of the new release' hand/work/contents.bin
want_text fg hand/work/tables.bin

# a stranger's key, and a flipped bit in the signed text
key stranger
by_hand "$T/up.dray" "$T/stranger.pub"
want_text 'signed by this key: no' out
begin=$(grep -abo DRAYSIG1 up.dray | head -n 1 | cut -d: -f1)
cp up.dray bad.dray
printf 3 | dd of=bad.dray bs=1 seek=$((begin + 16 + 36)) conv=notrunc 2>/dev/null
cmp -s up.dray bad.dray && fail 'nothing was changed'
by_hand "$T/bad.dray" "$T/ops.pub"
want_text 'signed by this key: no' out
