#!/bin/sh
# large files come in pieces that name the base bytes they need: parts moved, put in, taken out, with holes; both modes
# install exactly
. "$(dirname "$0")/lib.sh"
key

mkdir -p old/var/lib new/var/lib
# 13 MB that do not compress, made the same every time
i=0
while [ $i -lt 13 ]; do
	head -c 1000000 /dev/zero | openssl enc -aes-128-ctr -nosalt -K 00112233445566778899aabbccddee$((i + 10)) \
	    -iv 00000000000000000000000000000000 >part$i 2>/dev/null
	i=$((i + 1))
done
[ "$(wc -c <part0)" = 1000000 ] || skip "openssl enc is needed"
cat part0 part1 part2 part3 part4 part5 part6 part7 part8 part9 part10 part11 >old/big
{ cat part8 part9 part10 part11; echo in the middle; cat part0 part1 part2 part3 part12 part4 part6 part7; } >new/big
cat part1 part2 part3 part4 part5 >old/mid
{ cat part1 part2; echo x; cat part3 part4 part5; } >new/mid
truncate -s 30M old/holes new/holes
cp part0 sparse-part
dd if=sparse-part of=new/holes bs=1000 seek=15000 conv=notrunc 2>/dev/null
rm part* sparse-part

set -- --from old --to new --product demo --version 2 --counter 2 --level 3 --key ops.key
run "$DRAY" build "$@" -j1 -o complete.dray
need_status 0
run "$DRAY" build "$@" --slim -j4 -o slim.dray
need_status 0
run "$DRAY" build "$@" --slim --no-cache -j2 -o slim2.dray
want_same slim.dray slim2.dray
# part12 is new; all else is in the base, what fills the holes as a part of another file
n=$(wc -c <slim.dray)
if [ "$n" -lt 1100000 ]; then ok "slim: $n bytes"; else fail "slim: $n bytes"; fi
for b in complete slim; do
	rm -rf root
	cp -a old root
	run "$INSTALL" apply $b.dray --root root --keyring ops.pub
	want_status 0
	same_tree new root
done
# without the base's file the complete one has another way
rm -rf root
cp -a old root
printf edited | dd of=root/big conv=notrunc 2>/dev/null
run "$INSTALL" apply complete.dray --root root --keyring ops.pub
want_status 0
same_tree new root
