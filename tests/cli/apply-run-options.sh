#!/bin/sh
# --no-sync, --verify-writes, --memory: how apply goes about it
. "$(dirname "$0")/lib.sh"

mkdir -p old/d new/d
for i in 1 2 3; do
	head -c 300000 /dev/urandom >old/d/$i
	{ cat old/d/$i; echo more; } >new/d/$i
done
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0

# memory for one worker only
cp -a old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub -j 4 --memory 1k
want_status 0
want_text 'memory for 1 of 4 workers' out
same_tree new/d root/d
run "$INSTALL" rollback --root root
run "$INSTALL" apply up.dray --root root --keyring ops.pub -j 4 --memory 4G --verify-writes
want_status 0
no_text 'workers' out
same_tree new/d root/d
run "$INSTALL" apply up.dray --root root --keyring ops.pub --memory much
want_status 2

# never on the running system
run "$INSTALL" apply up.dray --root / --keyring ops.pub --no-sync
want_status 2
want_text 'never for /'

# a tree that may be lost: not one flush but for the journal's own few files, and that is on record
rm -rf root && cp -a old root
if command -v strace >/dev/null; then
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o calls -e trace=syncfs -e signal=none "$INSTALL" apply up.dray --root root --keyring ops.pub --no-sync
	want_status 0
	[ ! -s calls ] && ok 'no barrier' || fail 'there was a barrier'
else
	run "$INSTALL" apply up.dray --root root --keyring ops.pub --no-sync
	want_status 0
fi
same_tree new/d root/d
run "$INSTALL" status --root root
want_text 'made with --no-sync' out
run "$INSTALL" status --root root --json
want_text '"unsynced":true' out
run "$INSTALL" rollback --root root
want_status 0
same_tree old/d root/d

# the disk gives back something else: found before anything live was changed
command -v strace >/dev/null || exit 0
rm -rf root && cp -a old root
# small files of the state folder are read back too: which of its thread's calls is the first one of a slot?
run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -y -o calls -e trace=fadvise64 -e signal=none "$INSTALL" apply up.dray --root root --keyring ops.pub -j 1 \
    --verify-writes
want_status 0
nth=$(awk '{ n[$1]++ } /\/tx\/[0-9]*\/[0-9]*\/0>/ { print n[$1]; exit }' calls)
[ -n "$nth" ] || fail "no slot was read back: $(cat calls)"
rm -rf root && cp -a old root
ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o /dev/null -e trace=fadvise64 -e "inject=fadvise64:signal=SIGSTOP:when=$nth" "$INSTALL" apply up.dray \
    --root root --keyring ops.pub -j 1 --verify-writes >out 2>err </dev/null &
tracer=$!
until [ -n "$(find root/var/lib/dray/tx -name 0 -type f 2>/dev/null)" ] && pid=$(pgrep -P $tracer) &&
    grep -q '^State:.[tT]' "/proc/$pid/status" && [ -s "$(find root/var/lib/dray/tx -name 0 -type f)" ]; do
	kill -0 $tracer 2>/dev/null || break
	sleep 0.05
done
printf X | dd of="$(find root/var/lib/dray/tx -name 0 -type f)" bs=1 seek=1000 conv=notrunc 2>/dev/null
kill -CONT "$pid"
wait $tracer
ended $? 'apply on a disk that forgets'
want_status 1
want_text 'what the disk gives back is not what was written' err
rm -rf root/var
touch -d "@$(stat -c %Y old)" root
same_tree old root

# tmpfs: refused unless it may be lost
is_root || exit 0
mkdir tm
unshare -m true 2>/dev/null || exit 0
cat >on-tmpfs <<'X'
mount -t tmpfs none tm && cp -a old/. tm || exit 99
"$INSTALL" apply up.dray --root tm --keyring ops.pub
echo "plain: $?"
"$INSTALL" apply up.dray --root tm --keyring ops.pub --no-sync || exit 98
cmp new/d/1 tm/d/1
X
export INSTALL
run unshare -m sh ./on-tmpfs
want_status 0
want_text 'plain: 22' out
want_text 'lies on tmpfs, which a power cut empties' err
