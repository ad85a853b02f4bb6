#!/bin/sh
# with --state, killed around the mark that names the place: once resumed, nothing points there any more
. "$(dirname "$0")/lib.sh"

command -v strace >/dev/null || skip 'needs strace, to kill at a chosen moment'
mkdir -p old/opt new/opt
echo 1 >old/a && echo 2 >new/a
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0

killed=0
for call in write fsync renameat syncfs pwrite64; do
	n=0
	while :; do
		n=$((n + 1))
		rm -rf root
		cp -a old root
		# the leak check of a sanitizer build cannot run under strace
		run env ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e "trace=openat,$call" \
		    -e "inject=$call:signal=KILL:when=$n" \
		    "$INSTALL" apply up.dray --root root --keyring ops.pub --state opt/dray
		[ "$status" != 0 ] || break
		grep -q 'pending.new' trace || continue
		killed=$((killed + 1))
		run "$INSTALL" resume --root root --state opt/dray
		want_status 0
		run "$INSTALL" plan up.dray --root root --keyring ops.pub
		want_status 0
		no_file root/.dray-pending
		no_file root/..dray-pending.new
	done
done
[ $killed -gt 5 ] && ok "killed at $killed calls" || fail "killed at $killed calls only"
