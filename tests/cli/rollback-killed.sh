#!/bin/sh
# rollback is killed at every name it deletes or moves; rollback again finishes that one, and does not go one too far
. "$(dirname "$0")/lib.sh"

command -v strace >/dev/null || skip 'needs strace, to kill at a chosen moment'
mkdir -p v1/var/lib v2/var/lib v3/var/lib
for v in 1 2 3; do
	echo $v >v$v/a
	echo $v >v$v/only-$v
done
key
run "$DRAY" build --from v1 --to v2 --product demo --version 2 --counter 2 --key ops.key -o 2.dray
run "$DRAY" build --from v2 --to v3 --product demo --version 3 --counter 3 --key ops.key -o 3.dray

n=0
while :; do
	n=$((n + 1))
	rm -rf root
	cp -a v1 root
	for v in 2 3; do
		"$INSTALL" apply -q $v.dray --root root --keyring ops.pub || fail "apply $v"
	done
	# the leak check of a sanitizer build cannot run under strace
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e trace=unlinkat,renameat,renameat2 \
	    -e "inject=unlinkat,renameat,renameat2:signal=KILL:when=$n" "$INSTALL" rollback --root root
	[ "$status" != 0 ] || break
	# once its folder goes, nothing is left to finish
	! grep -q 'unlinkat.*tx/000002\|unlinkat.*\.head' trace || continue
	run "$INSTALL" status --root root
	want_text 'a rollback was interrupted' out
	run "$INSTALL" plan 3.dray --root root --keyring ops.pub
	want_status 22
	want_text 'a rollback was interrupted on root'
	run "$INSTALL" rollback --root root
	want_status 0
	want_text 'root is back at demo 2' out
	same_tree root v2
	run "$INSTALL" status --root root
	want_text 'root has demo 2 (release counter 2)' out
done
[ $n -gt 8 ] && ok "killed at $((n - 1)) calls" || fail "killed at $((n - 1)) calls only"
