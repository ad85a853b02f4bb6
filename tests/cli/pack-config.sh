#!/bin/sh
# what people edit is never pooled and serves no other file: an edited config file costs no other path its delta
. "$(dirname "$0")/lib.sh"
key

mkdir -p old/etc old/usr new/etc new/usr
for i in 1 2 3 4 5 6; do
	seq $i 3 40000 >old/etc/c$i
	seq $i 5 40000 >old/usr/u$i
	{ seq $i 3 20000; echo new; seq 20000 3 40000; } >new/etc/c$i
	{ seq $i 5 20000; echo new; seq 20000 5 40000; } >new/usr/u$i
done
cp old/etc/c1 new/usr/copy-of-c1		# the bytes are there, where somebody may have edited them
{ seq 2 3 30000; echo like c2; } >new/usr/like-c2
set -- --from old --to new --product demo --version 2 --counter 2 --level 3 --key ops.key
run "$DRAY" build "$@" --config 'etc/**' --slim -o up.dray
need_status 0
cp -a old root
i=1
for f in root/etc/c*; do
	seq $i 3 40000 | sed 's/^7$/edited/' >"$f"
	i=$((i + 1))
done
# the edits are settled by taking the release's files; nothing else may be stopped by them
run "$INSTALL" plan up.dray --root root --keyring ops.pub
no_text usr/ err
run "$INSTALL" apply up.dray --root root --keyring ops.pub
if [ "$status" = 0 ]; then
	for f in new/usr/*; do want_same "$f" "root/usr/${f##*/}"; done
else
	no_text usr/ err
	fail "status $status"
	show
fi
# each config file stands alone in its frames: usr/like-c2 and usr/copy-of-c1 have full copies
run "$DRAY" list --why usr/like-c2 up.dray
want_text full out
