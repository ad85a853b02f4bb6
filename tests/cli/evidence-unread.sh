#!/bin/sh
# records that the disk does not give back are told as that, never as changed ones; status tells the rest all the same, and what
# an export lacks it says
. "$(dirname "$0")/lib.sh"

[ -x "$OUT/failat" ] || skip 'needs failat, which is for Linux on x86-64'
mkdir -p old/var/lib new/var/lib
echo 1 >old/a && echo 2 >new/a
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0
cp -a old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0

failing() {	# RULE ARG...
	rule=$1
	shift
	run "$OUT/failat" touched "$rule" -- "$INSTALL" status --root root "$@"
	[ -s touched ] || fail "$rule: nothing was touched"
}
failing read@000001.json:1:EIO --log
want_status 1
want_text 'the evidence cannot be read in full: record 1 cannot be read: var/lib/dray/evidence: read 000001.json: '
want_text 'hint: it may be whole; look at the disk, and run it again'
failing read@000001.paths:1:EIO --log
want_status 1
want_text 'the evidence cannot be read in full: the list of paths of record 1 cannot be read to its end'
want_text 'done, 1 paths' out
failing read@000001.json:1:EIO
want_status 1
want_text 'root has demo 1.1' out
want_text 'the evidence cannot be read in full: record 1'
failing read@000001.json:1:EIO --json
want_status 1
want_text '"error":{"code":1' out
want_text '"installed":{' out

# an export: what it lacks although it is there a moment later, what it has although a second look failed
failing read@000001.json:1:EIO --export one.evidence
want_status 1
want_text 'one.evidence is written, but: var/lib/dray/evidence: read 000001.json: '
want_text 'hint: a record is missing in it that is here; delete it, and run it again'
run "$INSTALL" status --root root --export whole.evidence
want_status 0
failing read@000001.json:3:EIO --export two.evidence
want_status 1
want_text 'two.evidence is written, but: the evidence cannot be read in full: record 1 cannot be read'
want_same two.evidence whole.evidence

# a change is one, whatever else cannot be read
cp -p root/var/lib/dray/evidence/000001.json record
sed -i 's/"exit":0/"exit":1/' root/var/lib/dray/evidence/000001.json
failing read@000001.paths:1:EIO --log
want_status 31
want_text 'the evidence is not whole: '
cp -p record root/var/lib/dray/evidence/000001.json

# the stash's bytes that cannot be counted: no figure is told that is too small, and not said to be
run "$OUT/failat" touched newfstatat:0:EIO -- "$INSTALL" status --root root
calls=$(wc -l <touched)
grep '^generation' out >whole
n=1 least=0
while [ $n -le "$calls" ]; do
	"$OUT/failat" touched "newfstatat:$n:EIO" -- "$INSTALL" status --root root >out 2>err
	if [ $? = 0 ] && grep '^generation' out >now && ! cmp -s whole now; then
		grep -q ', at least ' now && least=$((least + 1)) || { fail "call $n: another figure"; cat now; }
	fi
	n=$((n + 1))
done
[ $least -ge 3 ] && ok "$least figures that are too small, told as that" || fail "$least figures that are too small"
