#!/bin/sh
# a signal before the commit costs nothing: 40, the tree as it was; the next run takes the staged files over or drops them
. "$(dirname "$0")/lib.sh"

command -v strace >/dev/null || skip 'needs strace, to send a signal at a chosen moment'
mkdir -p old/var/lib new/var/lib
for f in a b c; do
	seq 1 2000 >old/$f
	seq 2 3000 >new/$f
done
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
want_status 0
cp -a old root

# interrupted CALL N - SIGTERM at the N-th call of this kind
interrupted() {
	# the leak check of a sanitizer build cannot run under strace
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e "trace=$1" -e "inject=$1:signal=TERM:when=$2" \
	    "$INSTALL" apply up.dray --root root --keyring ops.pub
	want_status 40
	want_text 'interrupted'
	want_text 'hint: nothing live was changed'
	same_tree root old
	run "$INSTALL" status --root root
	want_status 0
	want_text 'an interrupted run left staged files: apply of the same bundle takes them over and goes on' out
	want_text 'to delete them instead: dray-install resume --root root' out
	run "$INSTALL" status --root root --json
	want_text '"pending":"staged"' out
	# plan is not hindered by it, and says the same as ever
	run "$INSTALL" plan up.dray --root root --keyring ops.pub
	want_status 0
	want_text "plan id $id" out
}
run "$INSTALL" plan up.dray --root root --keyring ops.pub
id=$(sed -n 's/^plan id //p' out)

# the third folder made is the transaction's: nothing is staged yet
interrupted mkdirat 3
run "$INSTALL" resume --root root
want_status 0
want_text 'what an interrupted run had staged is deleted; nothing live had been changed' out
[ -z "$(ls root/var/lib/dray/tx)" ] && ok 'nothing is left' || fail 'a staging is left'

# the second file renamed is the plan: everything is staged and nothing decided; the next run takes it over
interrupted renameat 2
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
same_tree root new
[ "$(ls root/var/lib/dray/tx | wc -l)" = 1 ] && ok 'one generation' || fail 'the old staging is still there'
run "$INSTALL" status --root root
no_text 'staged' out
run "$INSTALL" rollback --root root
want_status 0
same_tree root old
