#!/bin/sh
# a service replaces files by rename between the decision and the recovery: that never stops it, whichever way it goes,
# and what the service wrote is in the tree or in the stash, named, until forget --parked
. "$(dirname "$0")/lib.sh"

command -v strace >/dev/null || skip 'needs strace, to kill at a chosen moment'
mkdir -p old/var/lib/dray new/var/lib/dray old/sub new/sub
chmod 700 old/var/lib/dray new/var/lib/dray
for f in a b sub/c; do
	echo "1 $f" >old/$f
	echo "2 $f" >new/$f
done
echo same >old/mode && cp old/mode new/mode && chmod 600 new/mode
echo 1 >old/goes && echo 2 >new/comes
find old new -exec touch -h -d @1000000000 {} +
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
all='comes a b sub/c goes'

# is_new PATH - has it been switched?
is_new() {
	case $1 in
	comes) [ -e root/comes ] ;;
	goes) [ ! -e root/goes ] ;;
	*) cmp -s root/"$1" new/"$1" ;;
	esac
}
# cut N - killed at the N-th exchange or rename of the switch; then the service is there. What was switched is in $done
cut() {
	rm -rf root && cp -a old root
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e trace=renameat2 -e "inject=renameat2:signal=KILL:when=$1" \
	    "$INSTALL" apply up.dray --root root --keyring ops.pub -j1
	done='' waits=''
	for f in $all; do
		if is_new $f; then done="$done $f"; else waits="$waits $f"; fi
		echo "mine $f" >his && mv his root/$f
	done
	echo "mine mode" >his && mv his root/mode
}
# lies PATH CONTENT - what the path has now; no CONTENT: nothing
lies() {
	if [ "$(cat root/"$1" 2>/dev/null)" = "$2" ]; then return; fi
	fail "cut at $n, $way: $1 has '$(cat root/"$1" 2>&1)', wanted '$2'"
}
# in_stash PATH... - the service's files of these are there, and no others
in_stash() {
	find root/var/lib/dray/tx -type f -path '*/tx/*/*/*' -exec sh -c 'head -c 100 "$1" | grep -a "^mine"' - {} \; 2>/dev/null |
	    sort >stash
	for f in "$@"; do echo "mine $f"; done | sort >stash.want
	cmp -s stash stash.want || fail "cut at $n, $way: in the stash $(tr '\n' ',' <stash), wanted $(tr '\n' ',' <stash.want)"
}
named() {
	for f in "$@"; do
		grep -qx "  $f" out || { fail "cut at $n, $way: $f is not named"; cat out; }
	done
}

# what stood in the way is in its place again, what came later in the stash
went_back() {
	for f in $waits; do lies $f "mine $f"; done
	for f in $done; do
		case $f in
		comes) lies comes '' ;;
		goes) lies goes 1 ;;
		*) lies $f "1 $f" ;;
		esac
	done
	# shellcheck disable=SC2086
	in_stash $done
}

cuts=0
for n in 1 3 5; do
	way=forward
	cut $n
	[ "$status" != 0 ] || break
	cuts=$((cuts + 1))
	run "$INSTALL" resume --root root
	[ "$status" = 0 ] || { fail "cut at $n: resume is $status"; show; }
	# shellcheck disable=SC2086
	named $waits mode
	for f in $done; do lies $f "mine $f"; done
	for f in $waits; do
		case $f in
		goes) lies goes '' ;;
		comes) lies comes 2 ;;
		*) lies $f "2 $f" ;;
		esac
	done
	lies mode 'mine mode'
	# shellcheck disable=SC2086
	in_stash $waits
	# one generation is kept for what it holds of his, and freed when that is asked for; then there is no way back
	cp -a root copy
	run "$INSTALL" forget --root copy
	[ "$status" = 0 ] || fail "cut at $n: forget is $status"
	[ -z "$waits" ] || in_file "parked" out || fail "cut at $n: forget says nothing of parked objects"
	mv root kept && mv copy root
	# shellcheck disable=SC2086
	in_stash $waits
	run "$INSTALL" forget --parked --root root
	[ "$status" = 0 ] || fail "cut at $n: forget --parked is $status"
	[ -z "$(ls root/var/lib/dray/tx)" ] || fail "cut at $n: forget --parked leaves something"
	rm -rf root && mv kept root

	# back from there: what stood in the way returns to its place, what came later goes into the stash
	way='forward and back'
	run "$INSTALL" rollback --root root
	[ "$status" = 0 ] || { fail "cut at $n: rollback is $status"; show; }
	went_back

	way=back
	cut $n
	run "$INSTALL" resume --back --root root
	[ "$status" = 0 ] || { fail "cut at $n: resume --back is $status"; show; }
	# shellcheck disable=SC2086
	named $done
	went_back
	run "$INSTALL" status --root root --json
	want_text '"pending":"none"' out
done
[ $cuts = 3 ] && ok "cut at 3 moves" || fail "cut at $cuts moves"
