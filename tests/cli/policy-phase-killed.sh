#!/bin/sh
# the second phase of an upgrade, and the way back from between two of them, killed at every call that decides or moves
. "$(dirname "$0")/lib.sh"

command -v strace >/dev/null || skip 'needs strace, to kill at a chosen moment'

sh "$TOP/tools/make-phases.sh" "$T" || exit 1
key
run "$DRAY" build --recipe recipe.json --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0

fresh() {
	rm -rf root && cp -a old root
	"$INSTALL" apply -q up.dray --root root --keyring ops.pub --phase kernel || fail "phase kernel, $call $n"
}
# killed ARG... - at the N-th call of this kind; the leak check of a sanitizer build cannot run under strace
killed() {
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e "trace=$call" -e "inject=$call:signal=KILL:when=$n" \
	    "$INSTALL" "$@"
}

# each_call JUDGE ARG... - killed at every call of these kinds; JUDGE looks at what is left
each_call() {
	judge=$1 points=0
	shift
	for call in pwrite64 renameat2; do
		n=0
		while :; do
			n=$((n + 1))
			fresh
			killed "$@" --root root
			[ "$status" != 0 ] || break
			points=$((points + 1))
			$judge
			"$INSTALL" rollback -q --root root || fail "rollback after $call $n"
			same_tree root old
		done
	done
	[ $points -ge 6 ] && ok "killed at $points calls" || fail "killed at $points calls only"
}

# the second phase: the next run ends it, or takes it back, and the tree is in no other state
in_a_named_state() {
	back=
	[ $((points % 3)) != 0 ] || back=--back
	# shellcheck disable=SC2086
	"$INSTALL" resume -q --root root $back || fail "resume after $call $n"
	run "$INSTALL" status --root root --json
	case $(cat out) in
	*'"phases_left":["world","cleanup"]'*) same_tree root mid1 ;;
	*'"phases_left":["cleanup"]'*) same_tree root mid2 ;;
	*) fail "no named state after $call $n" ;;
	esac
	if [ $((points % 2)) = 0 ]; then
		"$INSTALL" apply -q up.dray --root root --keyring ops.pub || fail "apply after $call $n"
		same_tree root want
	fi
}
each_call in_a_named_state apply up.dray --keyring ops.pub --phase world

# the way back from between them: whatever was cut, the next rollback ends at the old tree
each_call true rollback
