#!/bin/sh
# repair is killed at every call that moves or deletes a name or sets attributes: the tree is the damaged one or the
# repaired one afterwards, never between
. "$(dirname "$0")/lib.sh"

[ -x "$OUT/killat" ] || skip 'needs killat, which looks at the release program on Linux'
mkdir -p new/var/lib new/d/e
for f in a b mode; do
	echo "$f" >new/$f
done
echo 1 >new/d/e/x
find new -exec touch -h -d @1000000000 {} +
key
run "$DRAY" build --to new --product demo --version 1 --counter 1 --key ops.key -o full.dray
need_status 0
mkdir -p start/var/lib/dray && chmod 700 start/var/lib/dray && touch -d @1000000000 start start/var start/var/lib

cp -a start root
run "$INSTALL" apply full.dray --root root --keyring ops.pub
need_status 0
echo bad >root/a
rm -r root/d
chmod 600 root/mode
touch -d @1100000000 root/a root
cp -a root damaged
run "$INSTALL" repair full.dray --root root --keyring ops.pub
need_status 0
cp -a root repaired
run "$INSTALL" check --strict --root root
want_status 0

is() {
	[ -z "$(rsync -n -aHAX --checksum --delete --exclude=/var/lib/dray --itemize-changes "$1/" "$2/" 2>&1)" ]
}

repair() {	# N: killed at its Nth call that changes a file
	rm -rf root
	cp -a damaged root
	"$OUT/killat" "$1" calls "$INSTALL" repair full.dray --root root --keyring ops.pub -j1 >out 2>err </dev/null
	ended $? "repair, killed at call $1"
}
repair 0
need_status 0
total=$(wc -l <calls)
# a dozen of them (crash.sh has all), each way after a third
n=1 step=$((total / 13 + 1)) back=0 forth=0
while [ $n -le "$total" ]; do
	repair $n
	[ "$status" = 137 ] || fail "status $status at call $n"
	case $((n / step % 3)) in
	0) run "$INSTALL" repair full.dray --root root --keyring ops.pub ;;
	1) run "$INSTALL" resume --root root ;;
	2) run "$INSTALL" resume --root root --back ;;
	esac
	[ "$status" = 0 ] || { fail "the next run after call $n"; show; }
	if is root repaired; then
		forth=$((forth + 1))
	elif is root damaged && [ $((n / step % 3)) != 0 ]; then
		back=$((back + 1))
	else
		fail "between, after call $n"
		same_tree root repaired
	fi
	"$INSTALL" repair -q full.dray --root root --keyring ops.pub || fail "repair after call $n"
	is root repaired || fail "not repaired after call $n"
	n=$((n + step))
done
[ "$total" -gt 40 ] && [ $back -gt 2 ] && [ $forth -gt 2 ] && ok "$total calls: $back old, $forth new" ||
    fail "$total calls: $back old, $forth new"
same_tree root repaired
run "$INSTALL" rollback --root root
want_status 0
same_tree root damaged
