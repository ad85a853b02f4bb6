#!/bin/sh
# extract: damage, a full disk, a signal, a base that lies: the failure is told and nothing of it stays behind
. "$(dirname "$0")/lib.sh"

mkdir -p old new/a/b new/ro
seq 1 40000 >new/a/large
seq 5 30000 >new/a/b/other
head -c 3000000 /dev/urandom >new/ro/noise
echo x >new/ro/x
chmod 500 new/ro
ln new/a/large new/a/b/link
ln -s x new/ro/link
run "$DRAY" build --from old --to new --product demo --version 1 --counter 1 --level 3 --no-cache -o up.dray
need_status 0

# one byte of a frame, at the middle of the file
cp up.dray bad.dray
at=$(($(wc -c <up.dray) / 2))
byte=$(od -An -tu1 -j $at -N1 up.dray | tr -d ' ')
# shellcheck disable=SC2059
printf "\\$(printf %03o $((byte ^ 1)))" | dd of=bad.dray bs=1 seek=$at conv=notrunc 2>/dev/null
run "$DRAY" extract bad.dray -C x -j2
want_status 31
want_text 'cannot extract bad.dray: ro/noise: frame '
want_text 'does not have the hash in the index'
want_text 'hint: what had been written was removed again'
no_file x
mkdir x
echo mine >x/mine
tree_snapshot x >snap
run "$DRAY" extract bad.dray -C x
want_status 31
[ "$(ls x)" = mine ] || fail "left behind: $(ls x)"
# what the damage does not touch can still be had
run "$DRAY" extract bad.dray ro/x ro/link -C y
want_status 0
want_same y/ro/x new/ro/x
head -c $at up.dray >cut.dray
run "$DRAY" extract cut.dray -C z
want_status 31
no_file z

# a full disk
if is_root && mkdir small && mount -t tmpfs -o size=1m none small 2>/dev/null; then
	run "$DRAY" extract up.dray -C small/x
	want_status 21
	want_text 'hint: what had been written was removed again'
	[ -z "$(ls small)" ] || fail "left behind: $(ls small)"
	umount small
fi

# a signal, at several moments
if strace -o /dev/null true 2>/dev/null && [ -z "${SAN:-}" ]; then
	for at in mkdirat:1 mkdirat:3 fchmod:1 fchmod:4 symlinkat:1 linkat:1; do
		run strace -f -qq -o trace -e trace=mkdirat,fchmod,symlinkat,linkat \
		    -e "inject=${at%:*}:signal=TERM:when=${at#*:}" "$DRAY" extract up.dray -C sig
		want_status 40
		want_text 'interrupted'
		want_text 'what had been written was removed again'
		no_file sig
	done
fi

# an unchanged tree travels as hashes alone: a base gives the bytes, and another base does not
mkdir -p base
cp -p new/a/large base/f
run "$DRAY" build --from base --to base --product demo --version 2 --counter 2 --level 3 --no-cache -o same.dray
want_status 0
run "$DRAY" extract same.dray -C ok --base base
want_status 0
want_same ok/f new/a/large
mkdir other
seq 2 40000 >other/f
run "$DRAY" extract same.dray -C no --base other
want_status 20
want_text 'f: its bytes are neither in the bundle nor in a base'
no_file no
