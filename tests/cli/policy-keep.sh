#!/bin/sh
# how many ways back are kept: --keep, and room that the oldest ones give when it is short, said before it is done
. "$(dirname "$0")/lib.sh"

for v in 1 2 3 4; do
	mkdir -p v$v/var/lib
	echo $v >v$v/a
	echo $v >v$v/edited
	touch -d @100000000$v v$v/a v$v/edited && touch -d @1000000000 v$v v$v/var v$v/var/lib
done
key
for v in 2 3 4; do
	run "$DRAY" build --from v$((v - 1)) --to v$v --product demo --version $v --counter $v --key ops.key -o $v.dray
	need_status 0
done
apply() {
	run "$INSTALL" apply "$@" --root root --keyring ops.pub
}

# without it all are kept; two of three with it, and what was edited outlives them all
cp -a v1 root
echo mine >root/edited
apply 2.dray
want_status 0
apply 3.dray --keep 5
want_status 0
no_text 'freed' out
apply 4.dray --keep 2 --json
want_status 0
want_text '"freed_generations":1' out
run "$INSTALL" status --root root --json
want_text '"parked":["edited"],"state":"leftover"' out
for v in 3 2; do
	run "$INSTALL" rollback --root root
	want_status 0
	want_text "root is back at demo $v" out
	same_tree root v$v
done
run "$INSTALL" rollback --root root
want_status 22
want_text 'there is nothing to go back to on root'
[ "$(grep -rlx mine root/var/lib/dray/tx | wc -l)" = 1 ] && ok 'the edit is in the stash' || fail 'the edit is lost'

# none at all: the same as forget afterwards; also when there is nothing to do
apply 3.dray --allow-downgrade 3
want_status 0
apply 4.dray --keep 0
want_status 0
want_text '2 old generations freed, the way back over them with them' out
no_text 'to go back' out
run "$INSTALL" rollback --root root
want_status 22
apply 4.dray --keep 0
want_status 0
want_text 'demo 4 is there already' out
apply 4.dray --keep two
want_status 2

# room that is short: 4 MiB that change each time on a file system for three of them beside the program's copy
is_root || exit 0
unshare -m true 2>/dev/null || exit 0
for v in 1 2 3 4; do
	head -c 4194304 /dev/urandom >v$v/big
	touch -d @100000000$v v$v/big && touch -d @1000000000 v$v
done
for v in 2 3 4; do
	run "$DRAY" build --from v$((v - 1)) --to v$v --product demo --version $v --counter $v --key ops.key -o $v.dray --level fast
	need_status 0
done
# a copy of the last one with a flipped bit among its frames
cp 4.dray bad.dray
printf '\001' | dd of=bad.dray bs=1 seek=$(($(stat -c %s bad.dray) - 2000000)) conv=notrunc status=none
cmp -s 4.dray bad.dray && fail 'nothing is flipped'
size=$((2 * $(stat -c %s "$INSTALL") + 3 * 4194304 + 2097152 + 2097152))
cat >steps <<'X'
mount -t tmpfs -o size=$size none small && cp -a v1/. small || exit 99
each() {
	"$INSTALL" "$@" --root small --keyring ops.pub --no-sync
	echo "status $?"
}
left() {
	echo "left $("$INSTALL" status --root small --json | grep -o '"state":"done"' | wc -l)"
}
each apply 2.dray && each apply 3.dray || exit 99
# nothing is freed for a bundle that is damaged, nor when not even that would do
each apply bad.dray; left
head -c 100000000 /dev/zero >small/full 2>/dev/null
each apply 4.dray; left
rm small/full
each plan 4.dray && each plan 4.dray --json 2>/dev/null && each apply 4.dray
"$INSTALL" status --root small
"$INSTALL" rollback --root small && cmp small/big v3/big && "$INSTALL" rollback --root small
cmp small/big v2/big && "$INSTALL" rollback --root small
echo "status $?"
# 1 MiB short, and the only way back holds 4: it is never freed by itself
each apply 3.dray --allow-downgrade 3
room=$("$INSTALL" plan 4.dray --root small --keyring ops.pub --no-sync --json 2>/dev/null |
    sed 's/.*"room":\[{"bytes":\([0-9]*\),"have_bytes":\([0-9]*\).*/\2 - \1/')
head -c $(($room + 1048576)) /dev/zero >small/full
each apply 4.dray; left
X
mkdir small
export INSTALL size
unshare -m sh ./steps >out 2>err
ended $? 'upgrades on a small file system'
want_text 'room is short: the oldest 1 of 2 old generations is freed first, and with it the way back that far' out
want_text '"frees_generations":1' out
want_text 'room is short: the oldest 1 of 2 old generations is freed' out
want_text 'small is now demo 4' out
want_text 'small is back at demo 3' out
want_text 'there is nothing to go back to on small'
want_text 'its bytes do not have the hash in the index'
want_text 'not enough room: '
want_text 'hint: nothing was changed; free some room, e.g. with forget, and run it again'
got=$(grep -E '^(status|left)' out | sed 's/[a-z]* //' | tr '\n' ' ')
[ "$got" = '0 0 31 2 21 2 0 0 0 22 0 21 1 ' ] && ok 'as told' || fail "statuses and generations: $got"
