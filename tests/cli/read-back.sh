#!/bin/sh
# one wrong bit between the program and the disk: in a content --verify-writes finds it before anything is decided, and without it
# check does; in a record of the journal it is found in any case
. "$(dirname "$0")/lib.sh"

[ -x "$OUT/failat" ] || skip 'needs failat, which is for Linux on x86-64'
mkdir -p old/var/lib/dray new/var/lib
chmod 700 old/var/lib/dray
for f in a b c; do
	seq 1 900 >old/$f
	seq 2 1200 >new/$f
done
touch -d @1000000000 old new old/var old/var/lib new/var new/var/lib
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0

fresh() {
	rm -rf root
	cp -a old root
}
flipped() {	# N OPTION...: the Nth pwrite64 brings one wrong bit to the disk
	n=$1
	shift
	fresh
	run "$OUT/failat" touched "pwrite64:$n:flip" -- "$INSTALL" apply up.dray --root root --keyring ops.pub -j1 "$@"
}

n=0 silent=0 found=0 found_log=0
while :; do
	n=$((n + 1))
	flipped $n
	[ -s touched ] || break
	if [ "$status" != 0 ]; then	# the plan's sum, or a record that is read back
		found_log=$((found_log + $(grep -c 'the log does not hold what was written' err)))
		run "$INSTALL" status --root root --json
		if in_file '"pending":"switched"' out; then	# the last record of all: the next run writes it
			run "$INSTALL" resume --root root
			want_status 0
			run "$INSTALL" check --root root
			want_status 0
			continue
		fi
		want_text '"pending":"none"' out
		same=$(rsync -n -aHAX --checksum --modify-window=-1 --delete --itemize-changes --exclude=/var/lib/dray old/ root/)
		[ -z "$same" ] && ok 'the tree is the old one' || fail "the tree is not the old one: $same"
		continue
	fi
	run "$INSTALL" check --root root
	[ "$status" != 0 ] || continue	# the lock, the ballast
	# it went through unseen, and is there: the same with the option
	silent=$((silent + 1))
	want_text 'content' out
	flipped $n --verify-writes
	want_status 1
	want_text 'what the disk gives back is not what was written'
	same=$(rsync -n -aHAX --checksum --modify-window=-1 --delete --itemize-changes --exclude=/var/lib/dray old/ root/)
	[ -z "$same" ] && ok 'the tree is the old one' || fail "the tree is not the old one: $same"
	[ -z "$(ls root/var/lib/dray/tx 2>/dev/null)" ] && ok 'nothing is left' || fail 'a staging is left'
	[ "$status" != 1 ] || found=$((found + 1))
done
# the small files of the state folder: each is read back before it takes its place, so that no run ends well with a wrong one
n=0 small=0
while :; do
	n=$((n + 1))
	fresh
	run "$OUT/failat" touched "write:$n:flip" -- "$INSTALL" apply up.dray --root root --keyring ops.pub -j1 --verify-writes
	[ -s touched ] || break
	if [ "$status" != 0 ]; then
		small=$((small + $(grep -c 'does not hold what was written to it' err)))
		"$INSTALL" resume -q --root root || fail "write $n: resume"
	fi
	run "$INSTALL" status --root root --json
	want_status 0
	want_text '"intact":true' out
	want_text '"pending":"none"' out
	if grep -q '"installed"' out; then
		"$INSTALL" check -q --root root || fail "write $n: check"
		"$INSTALL" rollback -q --root root || fail "write $n: rollback"
	fi
	same=$(rsync -n -aHAX --checksum --modify-window=-1 --delete --itemize-changes --exclude=/var/lib/dray old/ root/)
	[ -z "$same" ] || fail "write $n: the tree is not the old one: $same"
done
[ $small -ge 5 ] && ok "$small wrong small files, found" || fail "$small wrong small files found"
[ $silent -ge 3 ] && [ $found = $silent ] && ok "$silent bits of contents, all found" || fail "$silent bits of contents, $found found"
[ $found_log -ge 2 ] && ok "$found_log records, found" || fail "$found_log wrong records found"
