#!/bin/sh
# story: one file for everybody. Nine releases in the field, one bundle; also for a machine that was patched by hand and for one
# that is like no release; a small one for one machine refuses elsewhere; a source with a hole makes no bundle
. "$(dirname "$0")/lib.sh"

key
# releases 1 to 10: each changes a page, a tool and its own version; 10 is the new one
release() {	# release N DIR
	mkdir -p "$2/bin" "$2/doc" "$2/var/lib"
	echo "press $1" >"$2/version"
	for i in 1 2 3 4 5 6 7 8 9 10; do
		[ "$i" -gt "$1" ] && v=0 || v=1
		seq "$i" $((i * 300 + v * 40)) >"$2/bin/tool-$i"
	done
	echo "page of $1" >"$2/doc/page-$1"
	chmod 755 "$2"/bin/*
	find "$2" -exec touch -h -d @$((1700000000 + $1)) {} +
}
from=
for n in 1 2 3 4 5 6 7 8 9; do
	release $n r$n
	from="$from --from r$n --from-version 3.$n:$n"
done
release 10 new
# shellcheck disable=SC2086 # options and their values
run "$DRAY" build $from --to new --product press --version 4.2 --counter 10 --key ops.key -o up.dray
need_status 0
want_text '3.1' out

# each of them, with skipped releases, becomes the same tree
for n in 1 2 3 4 5 6 7 8 9; do
	cp -a r$n m
	run "$INSTALL" apply up.dray --root m --keyring ops.pub
	want_status 0
	same_tree new m
	run "$INSTALL" check up.dray --root m --keyring ops.pub --strict
	want_status 0
	rm -rf m
done
# through releases between is the same as at once
"$DRAY" build --from r2 --from-version 3.2:2 --to r5 --product press --version 3.5 --counter 5 --key ops.key -o mid.dray -q
cp -a r2 m
for b in mid up; do
	run "$INSTALL" apply $b.dray --root m --keyring ops.pub
	want_status 0
done
same_tree new m
rm -rf m

# patched by hand: told, replaced, the old copy is kept
cp -a r8 m && echo patched >m/bin/tool-9
run "$INSTALL" plan up.dray --root m --keyring ops.pub
want_status 0
want_text 'match base 3.8' out
want_text '1 match no base' out
want_text 'bin/tool-9' out
run "$INSTALL" apply up.dray --root m --keyring ops.pub
want_status 0
same_tree new m
run "$INSTALL" status --root m
want_text 'parked there:' out
want_text 'bin/tool-9' out

# never released: how many files match which release, and the full set goes on all the same
cp -a r3 odd && for i in 1 2 3 4 10; do echo odd >odd/bin/tool-$i; done
run "$INSTALL" plan up.dray --root odd --keyring ops.pub
want_status 0
want_text '5 match no base' out
want_text 'match base 3.3' out
run "$INSTALL" apply up.dray --root odd --keyring ops.pub
want_status 0
run "$INSTALL" check up.dray --root odd --keyring ops.pub
want_status 0
# all of the release, whatever was there: one built without --from, strictly
"$DRAY" build --to new --product press --version 4.2 --counter 10 --key ops.key -o full.dray -q || fail 'no full bundle'
run "$INSTALL" apply full.dray --root odd --keyring ops.pub --profile strict
want_status 0
same_tree new odd

# for one ship: smaller, and only where it fits
run "$DRAY" build --from r9 --from-version 3.9:9 --to new --product press --version 4.2 --counter 10 --slim --key ops.key -o ship.dray
want_status 0
[ "$(stat -c %s ship.dray)" -lt "$(stat -c %s up.dray)" ] && ok 'smaller' || fail 'not smaller'
run "$INSTALL" info ship.dray --keyring ops.pub
want_text 'mode       slim' out
cp -a r9 ship
run "$INSTALL" apply ship.dray --root ship --keyring ops.pub
want_status 0
same_tree new ship
cp -a r9 elsewhere && echo mine >elsewhere/bin/tool-10
tree_snapshot elsewhere >before
run "$INSTALL" plan ship.dray --root elsewhere --keyring ops.pub
want_status 20
want_text 'bring a bundle that holds them: not slim, or built without --from' err
run "$INSTALL" apply ship.dray --root elsewhere --keyring ops.pub
want_status 20
want_unchanged elsewhere before

# a source with a hole: no bundle, and none that looks like one
tar -C new -cf new.tar . && head -c $(($(stat -c %s new.tar) - 9000)) new.tar >hole.tar
run "$DRAY" build --from r9 --to archive:hole.tar --product press --version 4.2 --counter 10 --key ops.key -o bad.dray
want_status 31
want_text 'hole.tar' err
no_file bad.dray
no_leftover .
# a bundle that lost a piece is none either
head -c $(($(stat -c %s up.dray) - 5000)) up.dray >cut.dray
run "$INSTALL" verify cut.dray --keyring ops.pub
want_status 31
