#!/bin/sh
# inside gzip: a .gz that changes in one line costs a line, not the whole file; the target makes it again bit for bit. What cannot
# be made again, what people edit and what is no whole .gz travels as it is. An older reader would stop at the feature
. "$(dirname "$0")/lib.sh"
key

mkdir -p old/doc old/etc old/var/lib new/doc new/etc new/var/lib
i=0
while [ $i -lt 6 ]; do
	seq -f "$i line %.0f of the text" 4000 >old/doc/f$i
	sed "s/ 17../ changed/" old/doc/f$i >new/doc/f$i
	gzip -9n old/doc/f$i new/doc/f$i
	i=$((i + 1))
done
# another level, a name and a time in the header, more than one block, one that nothing is like, one that is plain there
seq 1 30000 >n
gzip -6c n >old/doc/named.gz
echo more >>n
gzip -6c n >new/doc/named.gz
gzip -9nc n >new/doc/fresh.gz
gzip -6nc n >old/doc/was-packed.gz
cp n new/doc/was-packed
# by no encoder that is known; two members; cut; damaged; nothing inside; none at all
gzip -1nc n >new/doc/fast.gz
gzip -9nc n n >new/doc/two.gz
gzip -9nc n | head -c 1000 >new/doc/cut.gz
{ gzip -9nc n | head -c 20000; echo xxxx; gzip -9nc n | tail -c +20006; } >new/doc/damaged.gz
: | gzip -9nc >new/doc/empty.gz
printf '\037\213\010' >new/doc/short.gz
# what people edit
seq 1 900 | gzip -9nc >old/etc/conf.gz
seq 1 901 | gzip -9nc >new/etc/conf.gz

set -- --from old --to new --product demo --version 1.1 --counter 2 --level 3 --config 'etc/**' --key ops.key --no-cache
run "$DRAY" build "$@" --slim -o slim.dray
need_status 0
run "$DRAY" build "$@" -j1 --slim -o slim1.dray
need_status 0
want_same slim.dray slim1.dray
run "$DRAY" build "$@" -o complete.dray
need_status 0
tar -xOf slim.dray dray.json >dray.json
want_text '"required":["delta","gzip"]' dray.json
want_text '"encoders":{"deflate":"1",' dray.json
for f in f0 named fresh empty; do
	run "$DRAY" list slim.dray --keyring ops.pub --why doc/$f.gz
	want_text 'made again as the .gz' out
done
for f in doc/fast doc/two doc/cut doc/damaged doc/short etc/conf; do
	run "$DRAY" list slim.dray --keyring ops.pub --why $f.gz
	need_status 0
	no_text 'made again as the .gz' out
done
run "$DRAY" list slim.dray --keyring ops.pub --why doc/f0.gz
want_text 'inside' out
run "$DRAY" list slim.dray --keyring ops.pub --why doc/f0.gz --json
want_text '"gzip":"gzip -9"' out
want_text '"inside":true' out
bytes=$(sed -n 's/.*"bytes":\([0-9]*\),"frame_kinds".*/\1/p' out)
if [ "${bytes:-9999}" -lt 400 ]; then ok "a line costs $bytes bytes"; else fail "a line costs '$bytes' bytes"; fi

for b in slim complete; do
	run "$DRAY" verify $b.dray --keyring ops.pub
	want_status 0
	rm -rf root x
	cp -a old root
	run "$INSTALL" apply $b.dray --root root --keyring ops.pub
	want_status 0
	same_tree new root
	run "$INSTALL" check --root root
	want_status 0
	run "$INSTALL" rollback --root root
	want_status 0
	same_tree old root
	run "$DRAY" extract $b.dray --base old --keyring ops.pub -C x
	want_status 0
	run diff -r new x
	want_status 0
done
# of a complete bundle without any base, and where a base is another .gz of the same inside: then a full copy is taken
run "$DRAY" extract complete.dray --keyring ops.pub -C y
want_status 0
run diff -r new y
want_status 0
rm -rf root
cp -a old root
gunzip -c old/doc/f3.gz | gzip -1nc >root/doc/f3.gz
run "$INSTALL" apply complete.dray --root root --keyring ops.pub
want_status 0
cp root/doc/f3.gz f3
run cmp f3 new/doc/f3.gz
want_status 0
# ... which a slim one does not have
rm -rf root
cp -a old root
gunzip -c old/doc/f3.gz | gzip -1nc >root/doc/f3.gz
tree_snapshot root >before
run "$INSTALL" plan slim.dray --root root --keyring ops.pub
want_status 20
want_text doc/f3.gz out
want_unchanged root before

# a bound on what applying may cost: less is made again
made_again() {	# how many of the six
	for f in 0 1 2 3 4 5; do
		"$DRAY" list "$1" --keyring ops.pub --why doc/f$f.gz
	done | grep -c 'made again'
}
run "$DRAY" build "$@" --slim --apply-cpu 0.001 -o bound.dray
want_status 2
least=$(sed -n 's/.*applying takes \([0-9.]*\) s at least.*/\1/p' err)
run "$DRAY" build "$@" --slim --apply-cpu "$least" -o bound.dray
need_status 0
all=$(made_again slim.dray) some=$(made_again bound.dray)
if [ "$all" = 6 ] && [ "$some" -lt 6 ]; then ok "$some of $all"; else fail "$some of $all are made again"; fi
rm -rf x
run "$DRAY" extract bound.dray --base old --keyring ops.pub -C x
want_status 0
run diff -r new x
want_status 0
