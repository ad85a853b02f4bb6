#!/bin/sh
# one run at a time: a second one is refused, reading is not; another bundle on what an earlier run left
. "$(dirname "$0")/lib.sh"

for v in 1 2 3; do
	mkdir -p v$v/var/lib
	for f in a b c; do
		seq $v $((v * 500)) >v$v/$f
	done
	touch -d @100000000$v v$v/?
	touch -d @1000000000 v$v v$v/var v$v/var/lib
done
key
run "$DRAY" build --from v1 --to v2 --product demo --version 2 --counter 2 --key ops.key -o 2.dray
need_status 0
run "$DRAY" build --from v1 --from v2 --to v3 --product demo --version 3 --counter 3 --key ops.key -o 3.dray
need_status 0
cp -a v1 root
run "$INSTALL" apply 2.dray --root root --keyring ops.pub
want_status 0

# somebody holds the lock: writing is 25 and names him, reading goes on
run flock -n root/var/lib/dray/lock true
want_status 0
(
	flock 9
	: >held
	while [ ! -e release ]; do sleep 0.05; done
) 9<>root/var/lib/dray/lock &
while [ ! -e held ]; do sleep 0.05; done
echo 4711 >root/var/lib/dray/lock
tree_snapshot root >snap
for verb in 'apply 3.dray --keyring ops.pub' rollback resume forget; do
	# shellcheck disable=SC2086
	run "$INSTALL" $verb --root root
	want_status 25
	want_text 'another run is active on root (process 4711)'
	want_text 'hint: wait for it to end; its lock goes away with it'
done
for verb in 'plan 3.dray --keyring ops.pub' status check; do
	# shellcheck disable=SC2086
	run "$INSTALL" $verb --root root
	want_status 0
done
want_unchanged root snap
: >release
wait

# a number that stayed behind is no lock, whoever has it now: this shell does
echo $$ >root/var/lib/dray/lock
run "$INSTALL" rollback --root root
want_status 0
same_tree root v1

command -v strace >/dev/null || exit 0
# stopped in the middle of its switch: what reads says so and changes nothing
# the leak check of a sanitizer build cannot run under strace
ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e trace=renameat2 -e inject=renameat2:signal=STOP:when=2 \
    "$INSTALL" apply 2.dray --root root --keyring ops.pub >apply.out 2>apply.err </dev/null &
tracer=$!
until grep -q 'stopped by SIGSTOP' trace 2>/dev/null; do
	kill -0 $tracer || break
	sleep 0.05
done
pid=$(sed -n 's/^\([0-9]*\).*stopped by SIGSTOP.*/\1/p' trace | head -n 1)
tree_snapshot root >snap
run "$INSTALL" status --root root --json
want_status 0
want_text '"pending":"switching"' out
run "$INSTALL" plan 2.dray --root root --keyring ops.pub
want_status 22
run "$INSTALL" check 2.dray --root root --keyring ops.pub
want_status 20
want_text 'pending: an upgrade was interrupted while it was switching' out
for verb in list info verify; do
	run "$INSTALL" $verb 2.dray --keyring ops.pub
	want_status 0
done
for verb in 'status --log' 'status --export exported'; do
	# shellcheck disable=SC2086
	run "$INSTALL" $verb --root root
	want_status 0
done
run "$INSTALL" apply 2.dray --root root --keyring ops.pub
want_status 25
want_text "(process $pid)"
want_unchanged root snap
kill -CONT "$pid"
wait $tracer
ended $? 'apply that was stopped and went on'
want_status 0
same_tree root v2
run "$INSTALL" rollback --root root
want_status 0

# left CALL N - a run of the first bundle is killed at this call
left() {
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e "trace=$1" -e "inject=$1:signal=KILL:when=$2" \
	    "$INSTALL" apply 2.dray --root root --keyring ops.pub --allow-downgrade 2
	[ "$status" != 0 ] && ok "killed at $1 $2" || fail "not killed at $1 $2"
}
# staged: the other bundle takes its place, and what was staged is gone
left renameat 2
run "$INSTALL" status --root root --json
want_text '"pending":"staged"' out
run "$INSTALL" apply 3.dray --root root --keyring ops.pub
want_status 0
same_tree root v3
[ "$(ls root/var/lib/dray/tx | wc -l)" = 1 ] && ok 'one generation' || fail 'the old staging is still there'
run "$INSTALL" rollback --root root
want_status 0
same_tree root v1
# committed, or switched and not recorded: that one is finished first, then the other one comes, and there are two ways back
ended_how() {	# PENDING WORDS
	run "$INSTALL" status --root root --json
	want_text "\"pending\":\"$1\"" out
	run "$INSTALL" apply 3.dray --root root --keyring ops.pub
	want_status 0
	want_text "$2; that is finished now" out
	same_tree root v3
	for v in 2 1; do
		run "$INSTALL" rollback --root root
		want_status 0
		same_tree root v$v
	done
}
left renameat2 2
ended_how switching 'an upgrade was interrupted while it was switching'
left renameat2 2
"$INSTALL" rollback --root root -q || fail 'rollback'
same_tree root v1
# the last record of the log but one says DONE; the evidence is written behind it
run env ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e trace=pwrite64,renameat "$INSTALL" apply 2.dray --root root \
    --keyring ops.pub --allow-downgrade 2 -j1
want_status 0
behind=$(awk '/pwrite64.*DLOG/ { logs++ } /renameat\(/ { n++; if (logs == 2) { print n; exit } }' trace)
"$INSTALL" rollback --root root -q || fail 'rollback'
left renameat "$behind"
ended_how switched 'an upgrade was interrupted after its switch, before it was recorded'
