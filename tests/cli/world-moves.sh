#!/bin/sh
# the world moves while apply runs: directories become symlinks to elsewhere and back, the bundle is cut short or replaced, files
# are edited or made immutable, the clock is wrong, handles and memory are few. Old or new, nothing outside the tree, no edit lost
. "$(dirname "$0")/lib.sh"

[ -x "$OUT/failat" ] || skip 'needs failat, which is for Linux on x86-64'
is_root || skip 'needs root'
mkdir -p old/var/lib/dray old/d/e old/lib new/var/lib new/d/e new/lib new/d/born
chmod 700 old/var/lib/dray
for f in a d/b d/e/c lib/l; do
	seq 1 900 >old/$f
	seq 2 1200 >new/$f
done
echo 1 >old/d/e/gone
echo 2 >new/d/born/f
touch -d @1000000000 old new old/var old/var/lib new/var new/var/lib
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
cp up.dray whole.dray

is_tree() {
	[ -z "$(rsync -n -aHAX --checksum --modify-window=-1 --delete --itemize-changes --exclude=/var/lib/dray "$1/" root/)" ]
}
fresh() {
	[ ! -d root ] || chattr -R -i root 2>/dev/null
	rm -rf root
	cp -a old root
	cp whole.dray up.dray
}
# moved RULE...: apply with these
moved() {
	run "$OUT/failat" touched "$@" -- "$INSTALL" apply up.dray --root root --keyring ops.pub -j1
}
# one_of WHAT STATUS...: it is one of these, and the tree is old or new after the next run
one_of() {
	what=$1
	shift
	case " $* " in
	*" $status "*) ;;
	*) fail "$what: status $status"; show ;;
	esac
	"$INSTALL" resume -q --root root 2>resumed || { fail "$what: resume"; cat resumed; }
	is_tree old || is_tree new || { fail "$what: neither old nor new"; show; }
}

# --- directories and symlinks change places all the time; what the symlink leads to is another tree with the same names
cc -D_GNU_SOURCE -o swapdir "$TOP/tests/fault/swapdir.c" || skip 'no C compiler'
mkdir outside
cp -a old/d/. outside/
echo kept >outside/only-here
swapped=0
for round in 1 2 3 4 5 6; do
	for verb in apply rollback; do
		fresh
		ln -s "$T/outside" root/other
		[ $verb = apply ] || "$INSTALL" apply -q up.dray --root root --keyring ops.pub || fail 'apply before the rollback'
		tree_snapshot outside >before
		./swapdir root/d root/other 2>swaps &
		swapper=$!
		case $verb in
		apply) run "$INSTALL" apply up.dray --root root --keyring ops.pub ;;
		rollback) run "$INSTALL" rollback --root root ;;
		esac
		kill $swapper 2>/dev/null && swapped=$((swapped + 1))
		wait $swapper 2>/dev/null
		case $status in
		0 | 1 | 20 | 22 | 24 | 41) ;;
		*) fail "$verb while directories are swapped: status $status"; show ;;
		esac
		tree_snapshot outside >after
		cmp -s before after || { fail "$verb went outside, round $round"; diff before after; }
	done
done
[ $swapped -ge 6 ] && ok "$swapped runs to their end while directories were swapped" || fail "swapped in $swapped runs only"

# --- the bundle
fresh
run "$OUT/failat" touched read:0:EIO -- "$INSTALL" apply up.dray --root root --keyring ops.pub -j1
need_status 0
reads=$(wc -l <touched) size=$(stat -c %s whole.dray)
n=1
while [ $n -lt "$reads" ]; do
	fresh
	moved "read:$n:run=truncate -s $((size / 2)) up.dray"
	one_of "bundle cut short at read $n" 0 1 31 33
	fresh
	moved "read:$n:run=printf 'x%.0s' \$(seq 3000) | dd of=up.dray bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null"
	one_of "bundle overwritten at read $n" 0 1 24 31 33
	[ "$status" != 0 ] || "$INSTALL" check -q --root root || fail "bundle overwritten at read $n: check"
	fresh
	moved "read:$n:run=cp whole.dray next && mv next up.dray"
	one_of "bundle replaced at read $n" 0
	n=$((n + reads / 8 + 1))
done

# its head is read once more for the record of the release: what is kept is what was checked, or the run says that it is not
fresh
run "$OUT/failat" touched read@up.dray:0:EIO -- "$INSTALL" apply up.dray --root root --keyring ops.pub -j1
need_status 0
last=$(wc -l <touched)
fresh
moved "read@up.dray:$last:run=head -c 3000 /dev/zero | dd of=up.dray bs=1000 seek=2 conv=notrunc 2>/dev/null"
want_status 31
want_text 'record of the release: the bundle is not any more what was checked: '
want_text 'hint: nothing live was changed; see who else writes to the bundle, or copy it again'
is_tree old && ok 'the old tree' || fail 'not the old tree'
no_file root/.dray-pending

# --- edits and flags that appear between two calls
fresh
run "$OUT/failat" touched stat,rename:0:EIO -- "$INSTALL" apply up.dray --root root --keyring ops.pub -j1
calls=$(wc -l <touched)
immutable=
chattr +i whole.dray 2>/dev/null && chattr -i whole.dray && immutable=1
n=1
while [ $n -lt "$calls" ]; do
	fresh
	moved "stat,rename:$n:run=echo edited here >>root/a"
	case $status in
	0 | 1 | 20 | 22 | 24 | 41) ;;
	*) fail "edited at call $n: status $status"; show ;;
	esac
	"$INSTALL" resume -q --root root || fail "resume after an edit at call $n"
	grep -rqx 'edited here' root || { fail "the edit at call $n is lost"; show; }
	if [ -n "$immutable" ]; then
		fresh
		moved "stat,rename:$n:run=chattr +i root/lib root/d/e/c"
		case $status in
		0 | 1 | 22 | 24 | 41) ;;
		*) fail "immutable from call $n on: status $status"; show ;;
		esac
		chattr -R -i root 2>/dev/null
		one_of "immutable from call $n on" 0 1 22 24 41
	fi
	n=$((n + calls / 10 + 1))
done

# --- a clock that is wrong
for seconds in 1 4070908800; do
	fresh
	moved "clock:1+:clock=$seconds"
	want_status 0
	is_tree new && ok "new, $seconds seconds after 1970" || fail "not new, $seconds seconds after 1970"
	run "$OUT/failat" touched "clock:1+:clock=$seconds" -- "$INSTALL" rollback --root root
	want_status 0
	is_tree old && ok 'and old again' || fail 'not old again'
	run "$INSTALL" status --root root --log
	want_status 0
done
want_text '2099-01-01' out

# --- few handles, little memory: it works or says so
fresh
run sh -c 'ulimit -n 64; exec "$@"' sh "$INSTALL" apply up.dray --root root --keyring ops.pub -j8
want_status 0
is_tree new && ok 'new with 64 handles' || fail 'not new with 64 handles'
for kib in 6000 9000 12000 16000 24000 40000 80000 160000; do
	fresh
	run sh -c 'ulimit -v "$0"; exec "$@"' $kib "$INSTALL" apply up.dray --root root --keyring ops.pub -j2
	if [ "$status" -ge 126 ] && [ $kib = 6000 ]; then continue; fi	# the program itself does not fit
	[ "$status" = 0 ] || grep -q 'memory\|start thread' err || { fail "$kib KiB: does not say why"; show; }
	one_of "$kib KiB of address space" 0 1
done
