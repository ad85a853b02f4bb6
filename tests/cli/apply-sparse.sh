#!/bin/sh
# runs of zeros are left out of what is written: a large image that is nearly empty takes little room after apply, by
# frames and by copies, after a kill and with --verify-writes; rollback brings old bytes and old holes back
. "$(dirname "$0")/lib.sh"

truncate -s 1M probe
[ "$(stat -c %b probe)" = 0 ] || skip 'this file system keeps no holes'
command -v strace >/dev/null || skip 'needs strace, to kill at a chosen moment'

# bytes FILE AT... - an x at each of these places
bytes() {
	file=$1
	shift
	for at; do
		printf x | dd of="$file" bs=1 seek="$at" conv=notrunc status=none
	done
}

# at_most KIB FILE - so much of the disk
at_most() {
	if [ "$(stat -c %b "$2")" -le $(($1 * 2)) ]; then
		ok "$2 takes at most $1 KiB"
	else
		fail "$2 takes $(($(stat -c %b "$2") / 2)) KiB, more than $1"
	fi
}

taken() {
	(cd "$1" && stat -c '%b %n' image dense zeros linked-1 linked-2 from 2>&1)
}

mkdir -p old/var/lib new/var/lib
truncate -s 40000001 old/image
bytes old/image 0 7777777 40000000
truncate -s 256M new/image
bytes new/image 0 4095 4096 5000001 123456789 134217728 268435455
# the same, dense here: what is there does not matter
head -c 8M /dev/urandom >old/dense
cp old/dense new/dense
dd if=/dev/zero of=new/dense bs=1M seek=1 count=6 conv=notrunc status=none
head -c 20000001 /dev/zero >old/zeros
echo x >>old/zeros
truncate -s 20000001 new/zeros
# copies of what lies here: one inode for two names becomes two, and a file of the same bytes
truncate -s 9000000 old/linked-1
bytes old/linked-1 3000000
ln old/linked-1 old/linked-2
cp --sparse=always old/linked-1 new/linked-1
cp --sparse=always old/linked-1 new/linked-2
head -c 6M /dev/zero >old/from
echo end >>old/from
cp old/from new/from
cp old/from new/second
# odd lengths, and zeros that are too few
seq 1 30000 >new/text
{ cat new/text; head -c 100000 /dev/zero; echo; } >new/middle
{ cat new/text; head -c 60000 /dev/zero; } >new/short
find old new -exec touch -h -d @1000000000 {} +
key
run "$DRAY" build --level fast --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0
cp -a old root
# without holes there, so that holes after a rollback are those of the objects that were put away
cp --sparse=never --preserve=timestamps old/from root/from
taken root >room-before

is_new() {
	same_tree new root
	at_most 128 root/image
	at_most 2200 root/dense
	at_most 0 root/zeros
	at_most 256 root/linked-1
	at_most 256 root/linked-2
	at_most 256 root/second
	at_most 280 root/middle
}

# plan asks for all of it: whoever has that has enough
run "$INSTALL" plan up.dray --root root --keyring ops.pub --json
want_status 0
need=$(sed -n 's/.*"room":\[{"bytes":\([0-9]*\).*/\1/p' out)
if [ "$need" -gt 300000000 ]; then ok 'plan counts the full size'; else fail "plan counts $need bytes"; fi

run "$INSTALL" apply up.dray --root root --keyring ops.pub --verify-writes
need_status 0
is_new
run "$INSTALL" check --strict --root root
want_status 0
# a file that lost its bytes is made again, with holes
bytes root/image 5555
run "$INSTALL" repair up.dray --root root --keyring ops.pub
want_status 0
is_new
for back in repair apply; do
	run "$INSTALL" rollback --root root
	need_status 0
done
same_tree old root
taken root >room-after
want_same room-before room-after

# killed while it writes, at each kind of call; then everything is there and nothing decided
killed() {
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e "trace=$1" -e "inject=$1:signal=KILL:when=$2" \
	    "$INSTALL" apply up.dray --root root --keyring ops.pub
	want_status 137
	same_tree old root
	run "$INSTALL" apply up.dray --root root --keyring ops.pub
	need_status 0
	is_new
	run "$INSTALL" rollback --root root
	need_status 0
	same_tree old root
}
killed pwrite64 4
killed ftruncate 2
killed renameat 2
taken root >room-after
want_same room-before room-after

# the disk is full when a file gets its length: nothing was changed
tree_snapshot root | grep -v var/lib >before
run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e trace=ftruncate -e inject=ftruncate:error=ENOSPC:when=2 \
    "$INSTALL" apply up.dray --root root --keyring ops.pub -j 1
want_status 21
want_text 'give it its length: no space left on device'
tree_snapshot root | grep -v var/lib >after
want_same before after
