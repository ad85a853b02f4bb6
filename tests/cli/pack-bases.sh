#!/bin/sh
# several bases in one bundle: each installs exactly, an upgrade reads little from each of them, equal old contents share
# a delta, and neither the order of --from nor the number of threads shows
. "$(dirname "$0")/lib.sh"
key

i=0
mkdir -p a/var/lib b/var/lib c new/var/lib
while [ $i -lt 30 ]; do
	seq -f "$i %.0f" 3000 >a/f$i
	sed "s/ 15../ of b/" a/f$i >b/f$i
	sed "s/ 17../ new/" a/f$i >new/f$i
	i=$((i + 1))
done
cp -a a/. c			# c is a, with one file more and one less
seq 1 50000 >c/only-c
rm c/f5
cp c/only-c new/from-c		# copied from c, sent to a and b
touch -d 2020-01-01 a b c new

set -- --to new --product demo --version 3 --counter 9 --level 3 --key ops.key
run "$DRAY" build --from a --from-version 1:1 --from b --from-version 2:2 --from c --from-version 2c:3 "$@" -j1 -o one.dray
need_status 0
run "$DRAY" build --from c --from-version 2c:3 --from a --from-version 1:1 --from b --from-version 2:2 "$@" -j8 -o two.dray
need_status 0
want_same one.dray two.dray
run "$DRAY" build --from a --from-version 1:1 --from b --from-version 2:2 --from c --from-version 2c:3 "$@" --json -o three.dray
want_same one.dray three.dray
run "$DRAY" build --from a --from-version 1:1 "$@" -o single.dray
need_status 0
more=$(($(wc -c <one.dray) - $(wc -c <single.dray)))
if [ $more -lt 40000 ]; then ok "two more bases cost $more bytes"; else fail "two more bases cost $more bytes"; fi

for from in a b c; do
	rm -rf root
	cp -a $from root
	run "$INSTALL" apply one.dray --root root --keyring ops.pub
	want_status 0
	same_tree new root
done

# a tree whose files are of no base takes the full copies
rm -rf root
cp -a a root
sed -i 's/ 1..$/ edited/' root/f*
touch -d 2020-01-01 root
run "$INSTALL" apply one.dray --root root --keyring ops.pub
want_status 0
same_tree new root

# slim from three bases: from-c has no base in a and b, so it is there in full
run "$DRAY" build --from a --from b --from c "$@" --slim -o slim.dray
need_status 0
for from in a b c; do
	rm -rf root
	cp -a $from root
	run "$INSTALL" apply slim.dray --root root --keyring ops.pub
	want_status 0
	same_tree new root
done
