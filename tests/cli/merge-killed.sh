#!/bin/sh
# an apply with merges is killed at calls that change a file: each merged file is the edited one or the merged one afterwards,
# as all else is old or new with it
. "$(dirname "$0")/lib.sh"

[ -x "$OUT/killat" ] || skip 'needs killat, which looks at the release program on Linux'
mkdir -p old/var/lib old/etc old/usr new/var/lib new/etc new/usr
for f in etc/one etc/two usr/a usr/gone; do seq 1 30 >old/$f; done
for f in etc/one etc/two usr/a usr/added; do seq 1 31 >new/$f; done
find old new -exec touch -h -d @1000000000 {} +
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --config etc --key ops.key -o up.dray
need_status 0
cp -a old start
mkdir -p start/var/lib/dray && chmod 700 start/var/lib/dray
sed -i 's/^3$/three/' start/etc/one start/etc/two && chmod 640 start/etc/one
touch -d @1100000000 start/etc/one start/etc/two
touch -d @1000000000 start/etc start/var/lib
cp -a start root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
cp -a root after
sed 's/^3$/three/' new/etc/one >want
want_same want after/etc/one

# the time of a merged file is that of the merge
is_new() {
	[ -z "$(rsync -n -aHAX --checksum --delete --exclude=/var/lib/dray --exclude=/etc/one --exclude=/etc/two \
	    --itemize-changes root/ after/ 2>&1)" ] && cmp -s root/etc/one want && cmp -s root/etc/two want &&
	    [ "$(stat -c %a root/etc/one)" = 644 ]
}
is_old() {
	[ -z "$(rsync -n -aHAX --checksum --delete --exclude=/var/lib/dray --itemize-changes root/ start/ 2>&1)" ]
}
apply() {	# N: killed at its Nth call that changes a file
	rm -rf root
	cp -a start root
	"$OUT/killat" "$1" calls "$INSTALL" apply up.dray --root root --keyring ops.pub -j1 >out 2>err </dev/null
	ended $? "apply, killed at call $1"
}
apply 0
need_status 0
total=$(wc -l <calls)
n=1 step=$((total / 20 + 1)) back=0 forth=0
while [ $n -le "$total" ]; do
	apply $n
	[ "$status" = 137 ] || fail "status $status at call $n"
	case $((n / step % 3)) in
	0) run "$INSTALL" apply up.dray --root root --keyring ops.pub ;;
	1) run "$INSTALL" resume --root root ;;
	2) run "$INSTALL" resume --root root --back ;;
	esac
	[ "$status" = 0 ] || { fail "the next run after call $n"; show; }
	if is_new; then
		forth=$((forth + 1))
	elif is_old; then
		back=$((back + 1))
	else
		fail "between, after call $n"
		same_tree root after
	fi
	n=$((n + step))
done
[ "$total" -gt 40 ] && [ $back -gt 2 ] && [ $forth -gt 2 ] && ok "$total calls: $back old, $forth new" ||
    fail "$total calls: $back old, $forth new"

# an edit between plan and switch is no merge any more: 24 with the plan's id, else another merge
rm -rf root && cp -a start root
run "$INSTALL" plan up.dray --root root --keyring ops.pub --json
id=$(sed -n 's/.*"plan_id":"\([0-9a-f]*\)".*/\1/p' out)
sed -i 's|^15$|fifteen|' root/etc/one
tree_seen root | grep -v var/lib/dray >snap
run "$INSTALL" apply up.dray --root root --keyring ops.pub --plan "$id"
want_status 24
tree_seen root | grep -v var/lib/dray >now
want_same snap now
