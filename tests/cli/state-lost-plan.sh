#!/bin/sh
# the plan of a finished upgrade is damaged or gone: all that needs it says so with what to do, changes nothing, and goes
# on when that has been done
. "$(dirname "$0")/lib.sh"

for n in 1 2 3; do
	mkdir -p r$n/var/lib
	echo $n >r$n/f
done
find r1 r2 r3 -exec touch -h -d @1700000000 {} +
key
for n in 2 3; do
	run "$DRAY" build --from r$((n - 1)) --to r$n --product p --version $n --counter $n --key ops.key -o up$n.dray
	need_status 0
done

# two generations; the plan of one of them is spoilt
made() {
	rm -rf root
	cp -a r1 root
	for n in 2 3; do
		run "$INSTALL" apply up$n.dray --root root --keyring ops.pub --keep 2
		need_status 0
	done
}
for gen in 000001 000002; do
	for how in 'truncate -s 10' rm; do
		made
		# shellcheck disable=SC2086
		$how root/var/lib/dray/tx/$gen/plan
		tree_seen root >before
		for verb in status check rollback forget 'apply up3.dray --keyring ops.pub'; do
			# of the newest way back alone rollback needs the plan, but no way is begun with a damaged journal
			# shellcheck disable=SC2086
			run "$INSTALL" $verb --root root
			want_status 22
			want_text "journal var/lib/dray/tx/$gen: the plan is"
			want_text 'hint: the tree is whole, only this way back is lost: save that folder, then move it out of the way by hand'
		done
		tree_seen root >after
		want_same before after
		mv root/var/lib/dray/tx/$gen .
		run "$INSTALL" check --root root
		want_status 0
		run "$INSTALL" rollback --root root
		want_status 0
		[ $gen = 000001 ] && want_same root/f r2/f
		rm -rf $gen
	done
done
