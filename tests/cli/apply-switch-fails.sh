#!/bin/sh
# a call that fails: before the decision the tree stays as it was and nothing is left; in the switch a full disk gets the
# ballast and another try, anything else is undone at once (41); what cannot even be undone is finished by the next run
. "$(dirname "$0")/lib.sh"

command -v strace >/dev/null || skip 'needs strace, to let a chosen call fail'
mkdir -p old/var/lib/dray new/var/lib old/bin new/bin old/gone/deep new/born
chmod 700 old/var/lib/dray
for f in a b c bin/d bin/e; do
	seq 1 500 >old/$f
	seq 2 700 >new/$f
done
echo x >old/gone/deep/f
echo y >new/born/g
chmod 755 new/bin/d
touch -r old new
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0
# the state folder stands before and after, so its making does not show
expected_old() { same_tree_without_state root old; }
same_tree_without_state() {
	d=$(rsync -n -aHAX --checksum --modify-window=-1 --delete --itemize-changes --exclude=/var/lib/dray "$2/" "$1/")
	[ -z "$d" ] && ok "$1 is exactly $2" || { fail "$1 is not $2"; echo "$d" | head; }
}
again() {
	rm -rf root
	cp -a old root
}
# failing CALL ERROR N - the N-th such call fails with ERROR, once
failing() {
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e "trace=$1" -e "inject=$1:error=$2:when=$3" \
	    "$INSTALL" apply up.dray --root root --keyring ops.pub -j1
}

again
run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e trace=renameat2 "$INSTALL" apply up.dray --root root \
    --keyring ops.pub -j1
need_status 0
swaps=$(grep -c 'renameat2' trace)
[ "$swaps" -ge 7 ] && ok "the switch makes $swaps swaps" || fail "only $swaps swaps seen"

for n in 1 3 $swaps; do
	again
	failing renameat2 EIO "$n"
	want_status 41
	want_text 'the switch failed, everything is as it was'
	want_text 'hint: repair the cause, then run apply again'
	expected_old
	run "$INSTALL" status --root root --json
	want_text '"pending":"none"' out
	run "$INSTALL" apply up.dray --root root --keyring ops.pub -j1
	want_status 0
	same_tree_without_state root new

	for error in ENOSPC EDQUOT; do
		again
		failing renameat2 $error "$n"	# the ballast is given back, the second try passes
		want_status 0
		same_tree_without_state root new
		run "$INSTALL" rollback --root root
		want_status 0
		expected_old
	done
done

# a quota that stays exceeded after the decision: undone, and what undoing needs is not refused; attributes alike
again
failing renameat2 EDQUOT 2..4
want_status 41
want_text 'the switch failed, everything is as it was: '
want_text 'disk quota exceeded'
expected_old
for error in ENOSPC EDQUOT EIO; do
	again
	# only the time of this directory, which is set after the swaps
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -P "$T/root/bin" -e trace=utimensat \
	    -e "inject=utimensat:error=$error:when=1" "$INSTALL" apply up.dray --root root --keyring ops.pub -j1
	grep -q INJECTED trace || fail 'its time was not set'
	[ $error = EIO ] && want_status 41 || want_status 0
	if [ $error = EIO ]; then expected_old; else same_tree_without_state root new; fi
done

# every swap fails from the first on: undoing has nothing to do, so it holds
again
failing renameat2 EIO 1+
want_status 41
expected_old

if [ -z "${NOFAST:-}" ]; then	# elsewhere every object is flushed by itself
	# the second barrier fails: switched, but not known to be on the disk, so it goes back
	again
	failing syncfs EIO 2
	want_status 41
	expected_old

	# the first barrier fails: nothing was decided, nothing is left
	again
	failing syncfs EIO 1
	want_status 1
	want_text 'write everything to the disk'
	expected_old
	[ -z "$(ls root/var/lib/dray/tx 2>/dev/null)" ] && ok 'no staging is left' || fail 'a staging is left'
fi

# no room while staging: 21, and nothing is left. strace counts by thread: the first write of all is the list of paths,
# the third the manifest's
no_room() {
	want_status 21
	want_text 'no space left on device'
	want_text 'hint: nothing live was changed'
	expected_old
	[ -z "$(ls root/var/lib/dray/tx 2>/dev/null)" ] && ok 'no staging is left' || fail 'a staging is left'
}
for n in 1 3; do
	again
	failing write ENOSPC "$n"
	no_room
	run "$INSTALL" status --root root --log
	want_status 0
done
# the worker's second content, and then the failure's record or the anchor that names it
for n in 4 5; do
	again
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e trace=write,pwrite64 -e inject=pwrite64:error=ENOSPC:when=2 \
	    -e "inject=write:error=ENOSPC:when=$n" "$INSTALL" apply up.dray --root root --keyring ops.pub -j1
	want_text 'that this run failed could not be recorded: ' out
	no_room
	run "$INSTALL" status --root root --log
	want_status 0
done
