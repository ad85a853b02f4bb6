#!/bin/sh
# story: a stick, without the light. A stick as people have them: other files and bundles on it, sidecars, nearly full, no
# right to write; pulled in the middle: the old system, and any stick with that bundle goes on
. "$(dirname "$0")/lib.sh"

"$DRAY" quickstart demo -q || exit 1
cp -a demo/old machine
mkdir -p stick/.Trashes stick/photos
head -c 4096 /dev/urandom >stick/._up.dray && cp stick/._up.dray stick/.Trashes/x && echo mine >stick/photos/a
run "$DRAY" copy demo/up.dray stick --check
need_status 0
for file in stick/up.dray stick/up.txt stick/dray-install; do want_file $file; done
k='--keyring demo/ops.pub'

# sidecars do not matter, nor does the same bundle twice
cp stick/up.dray 'stick/up (1).dray'
# shellcheck disable=SC2086 # an option and its value
run "$INSTALL" plan stick --root machine $k
want_status 0
rm 'stick/up (1).dray'
# three bundles of others: the folder alone is not enough, both names are told, the file is
mkdir two && echo 2 >two/a
for i in 1 2 3; do "$DRAY" build --to two --product other-$i --version 1 --counter 1 -o stick/other-$i.dray -q; done
# shellcheck disable=SC2086
run "$INSTALL" plan stick --root machine $k
want_status 2
want_text 'holds two different bundles' err
# shellcheck disable=SC2086
run "$INSTALL" plan stick/up.dray --root machine $k
want_status 0

# a stick that says it took a write and did not keep it: found out at the desk, and nothing on it can be taken for the bundle
if command -v strace >/dev/null; then
	mkdir liar
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e trace=pwrite64 -e inject=pwrite64:retval=138752:when=1 \
	    "$DRAY" copy demo/up.dray liar --check
	want_status 33
	want_text 'it is worn out, or smaller than it says' err
	no_file liar/up.dray
	# where nobody looked, the machine finds it out before it changes anything
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e trace=pwrite64 -e inject=pwrite64:retval=138752:when=1 \
	    "$DRAY" copy demo/up.dray liar
	want_status 0
	tree_snapshot machine >before
	# shellcheck disable=SC2086
	run "$INSTALL" apply liar/up.dray --root machine $k
	want_status 31
	want_unchanged machine before
fi

# pulled: after some reads the stick answers no more
if command -v strace >/dev/null && [ -z "${NOFAST:-}" ]; then
	tree_snapshot machine | grep -v -e var/lib >before
	strace -f -qq -o trace -P stick/up.dray -e trace=pread64 "$INSTALL" verify stick/up.dray $k >/dev/null 2>&1
	reads=$(wc -l <trace)
	cp -a machine pulled
	# shellcheck disable=SC2086
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -P stick/up.dray -e trace=pread64 \
	    -e inject=pread64:error=EIO:when=$((reads * 6 / 10))+ "$INSTALL" apply stick/up.dray --root pulled $k
	want_status 33
	want_text 'the medium stopped answering at byte ' err
	run diff -r --no-dereference --exclude=dray demo/old pulled
	want_status 0
	run "$INSTALL" status --root pulled
	want_status 0
	# another stick with the same bundle under another name
	mkdir other-stick && cp demo/up.dray other-stick/whatever
	# shellcheck disable=SC2086
	run "$INSTALL" apply other-stick/whatever --root pulled $k
	want_status 0
	want_text 'pulled is now demo 1.1' out
fi

# a stick that nobody may write: it is only read
chmod -R a-w stick
tree_snapshot stick >stick-before
as() {
	if is_root; then as_nobody "$@"; else "$@"; fi
}
! is_root || chown -R 65534:65534 machine
# shellcheck disable=SC2086
run as "$INSTALL" apply stick/up.dray --root machine $k --no-owner
want_status 0
want_unchanged stick stick-before
# there already: that is told, and nothing is written
tree_snapshot machine | grep -v var/lib/dray/lock >done-before
# shellcheck disable=SC2086
run as "$INSTALL" apply stick/up.dray --root machine $k --exit-detail
want_status 10
tree_snapshot machine | grep -v var/lib/dray/lock >done-after
want_same done-before done-after
chmod -R u+w stick
# the result goes along, one file for each machine, and never over that of another one
! is_root || chown 65534:65534 stick
run as "$INSTALL" status --export stick/site-42.evidence --root machine
want_status 0
result=$(sha256sum stick/site-42.evidence)
run "$INSTALL" status --export stick/site-42.evidence --root demo/old
want_status 2
want_text 'is there already' err
[ "$(sha256sum stick/site-42.evidence)" = "$result" ] && ok 'the result of the first machine stays' || fail 'another result'
run "$DRAY" report stick/site-42.evidence
want_status 0
want_text 'installed: demo 1.1 (counter 2)' out

# nearly full, and then one that is too small: told before anything is written
if is_root && unshare -m true 2>/dev/null; then
	mkdir small
	run unshare -m sh -c 'mount -t tmpfs -o size=100k tmpfs small && '"$DRAY"' copy demo/up.dray small; s=$?; ls -A small; exit $s'
	want_status 21
	want_text 'small has room for ' err
	[ ! -s out ] && ok 'nothing on it' || fail "left: $(cat out)"
	# nearly full on site: the machine is upgraded from it; a result that finds no room is told, and is no half a file
	cat >steps <<'END'
mount -t tmpfs -o size=160k tmpfs small && cp demo/up.dray small && { cat /dev/zero >small/fill 2>/dev/null; true; }
"$INSTALL" apply small/up.dray --root demo/old --keyring demo/ops.pub -q || exit 99
"$INSTALL" status --export small/site-43.evidence --root demo/old
s=$?
ls small
exit $s
END
	export INSTALL
	run unshare -m sh steps
	want_status 21
	want_text 'small/site-43.evidence: write: no space left on device' err
	want_text 'hint: nothing of it is left there' err
	[ "$(cat out)" = 'fill
up.dray' ] && ok 'no half a result' || fail "on the stick: $(cat out)"
fi
