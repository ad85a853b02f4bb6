#!/bin/sh
# forget is killed at every name it deletes or moves; the next run finishes it, and each generation has one record of it
. "$(dirname "$0")/lib.sh"

command -v strace >/dev/null || skip 'needs strace, to kill at a chosen moment'
mkdir -p v1/var/lib v2/var/lib v3/var/lib
for v in 1 2 3; do
	echo $v >v$v/a
	mkdir v$v/only-$v
	echo $v >v$v/only-$v/f
done
key
run "$DRAY" build --from v1 --to v2 --product demo --version 2 --counter 2 --key ops.key -o 2.dray
run "$DRAY" build --from v2 --to v3 --product demo --version 3 --counter 3 --key ops.key -o 3.dray
cp -a v1 ready
for v in 2 3; do
	"$INSTALL" apply -q $v.dray --root ready --keyring ops.pub || fail "apply $v"
done
rm ready/var/lib/dray/dray-install	# 7 MB that would be copied each time

points=0
# killed CALL: at its first, second, ... such call, until a run comes through
killed() {
	n=0
	while :; do
		n=$((n + 1))
		rm -rf root
		cp -a ready root
		# the leak check of a sanitizer build cannot run under strace
		env ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e trace="$1" -e "inject=$1:signal=KILL:when=$n" \
		    "$INSTALL" forget --root root >out 2>err </dev/null
		[ $? != 0 ] || break
		points=$((points + 1))
		ran="after a kill at $1 number $n"
		"$INSTALL" resume --root root >out 2>err && "$INSTALL" forget --root root >out 2>err || { fail "finishing it"; show; }
		"$INSTALL" status --root root --log --json >out 2>err || { fail "the chain"; show; }
		ends=$(grep -o '"about":[0-9]*\|"ended":"[a-z-]*"' out | tr '\n' ' ')
		[ "$ends" = '"ended":"done" "ended":"done" "about":1 "ended":"forgotten" "about":2 "ended":"forgotten" ' ] ||
		    fail "$ran: $ends"
	done
}
killed unlinkat
killed renameat
killed fdatasync
[ $points -ge 15 ] && ok "killed at $points calls" || fail "killed at $points calls only"
