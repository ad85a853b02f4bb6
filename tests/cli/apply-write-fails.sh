#!/bin/sh
# every call that writes before the decision, failing with ENOSPC, EDQUOT, EROFS and EIO: the old state, and no debris
. "$(dirname "$0")/lib.sh"

command -v strace >/dev/null || skip 'needs strace, to let a chosen call fail'
is_root || skip 'needs root, for owners and attributes'
mkdir -p old/var/lib/dray new/var/lib old/d new/d/deep
chmod 700 old/var/lib/dray
for f in a b d/c; do
	seq 1 900 >old/$f
	seq 2 1200 >new/$f
done
ln new/a new/d/link
ln -s a new/sym
mkfifo new/fifo
cp new/a new/d/deep/a && chmod 4755 new/d/deep/a
setfattr -n user.t -v x new/b 2>/dev/null || skip 'no extended attributes here'
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0

cp -a old root
rm -f root/var/lib/dray/*
tree_snapshot root | grep -v 'var/lib/dray/lock' >before
# which of these calls are made before the commit record (the first renameat2 of the switch is one too late), and how often
calls='openat write pwrite64 mkdirat linkat symlinkat mknodat fallocate fchmod fchmodat fchown fchownat utimensat fsetxattr fsync fdatasync syncfs renameat'
tried=0
for call in $calls; do
	for error in ENOSPC EDQUOT EROFS EIO; do
		n=$((tried % 5 + 1))
		tried=$((tried + 1))
		# openat: only those that create count, and the first ones belong to the libraries' start
		[ $call != openat ] || n=$((n + 60))
		run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e "trace=$call,renameat2" \
		    -e "inject=$call:error=$error:when=$n" "$INSTALL" apply up.dray --root root --keyring ops.pub -j1
		if ! grep -q INJECTED trace || [ "$status" = 0 ]; then
			# fewer such calls than that, or one that is allowed to fail: then it went through, and goes back
			[ "$status" = 0 ] || fail "$call $error: status $status without the failure"
			"$INSTALL" rollback --root root -q || fail "$call $error: no way back"
		elif [ "$status" = 41 ]; then
			grep -q renameat2 trace || fail "$call $error: undone before anything was done"
		elif grep -q 'renameat2(.*RENAME_EXCHANGE.*= 0' trace; then
			# after the decision: the next run finishes it
			"$INSTALL" resume --root root -q || fail "$call $error: not finished"
			"$INSTALL" rollback --root root -q || fail "$call $error: no way back"
		else
			case $error:$status in
			ENOSPC:21 | EDQUOT:21 | EROFS:1 | EROFS:22 | EIO:1) ;;
			*) fail "$call $error at call $n: status $status"; cat err ;;
			esac
			# the calls of each thread are counted: with write(2) the message's own may be the one that fails
			[ "$call" = write ] || grep -q 'nothing' err || { fail "$call $error: does not say that nothing was changed"; cat err; }
		fi
		# what was staged is gone, and the tree is the old one to the byte and the nanosecond
		[ -z "$(ls root/var/lib/dray/tx 2>/dev/null)" ] || fail "$call $error: debris"
		rm -rf root/var/lib/dray/*
		touch -r old/var/lib/dray root/var/lib/dray
		d=$(rsync -n -aHAX --checksum --modify-window=-1 --delete --itemize-changes old/ root/)
		[ -z "$d" ] || { fail "$call $error at call $n: the tree differs"; echo "$d"; rm -rf root; cp -a old root; }
	done
done
ok "$tried failures tried"
