#!/bin/sh
# repair finishes what an interrupted run left, as every writing command does, and then looks at what is installed;
# with --dry-run it refuses until that is done. What a repair left is finished by the next run of any kind
. "$(dirname "$0")/lib.sh"

command -v strace >/dev/null || skip 'needs strace, to kill at a chosen moment'
for v in 1 2; do
	mkdir -p v$v/var/lib v$v/d
	for f in a b d/x; do
		echo "$v $f" >v$v/$f
	done
	touch v$v/only-$v
	find v$v -exec touch -h -d @1700000000 {} +
done
key
build() {
	run "$DRAY" build --product demo --key ops.key "$@"
	need_status 0
}
build --to v1 --version 1 --counter 1 -o 1.dray
build --from v1 --to v2 --version 2 --counter 2 -o up.dray
mkdir -p start/var/lib
run "$INSTALL" apply 1.dray --root start --keyring ops.pub
need_status 0
echo bad >start/a
touch -d @1700000000 start/a start/var/lib start/var start
cp -a start damaged && rm -r damaged/var/lib/dray && touch -d @1700000000 damaged/var/lib
cp -a v1 whole

# left STATE VERB... - a root in which VERB was killed so that status calls it pending STATE
left() {
	state=$1
	shift
	# which calls the switch makes depends on the file system, and on the build
	for call in renameat2 linkat unlinkat renameat; do
		n=0
		while [ $n -lt 6 ]; do
			n=$((n + 1))
			rm -rf root
			cp -a start root
			# a copy of an upgraded tree has no way back: it is upgraded where it is
			[ -z "${first:-}" ] || "$INSTALL" apply "$first" -q --root root --keyring ops.pub || fail 'not upgraded'
			# the leak check of a sanitizer build cannot run under strace
			ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e trace=$call -e inject=$call:signal=KILL:when=$n \
			    "$INSTALL" "$@" --root root >out 2>err </dev/null
			[ $? = 137 ] || break
			"$INSTALL" status --root root --json >out 2>err
			! grep -q "\"pending\":\"$state\"" out || return 0
		done
	done
	fail "never $state: $*"
}
refused_dry() {
	cp -a root asis
	run "$INSTALL" repair 1.dray --root root --keyring ops.pub --dry-run
	want_status 22
	want_text "$1"
	want_text 'hint: finish it first: '
	same_tree asis root
	rm -rf asis
}
repair() {
	run "$INSTALL" repair "$@" --root root --keyring ops.pub
}

# staged by an upgrade that never came to its decision: no hindrance, and nothing of it is left
left staged apply up.dray --keyring ops.pub
repair 1.dray --dry-run
want_status 0
want_text '  a: content' out
repair 1.dray
want_status 0
same_tree whole root
run "$INSTALL" status --root root
want_text 'root has demo 1 ' out
no_text staged out
run "$INSTALL" rollback --root root
want_status 0
same_tree damaged root

# an upgrade was decided on: it is finished, and the bundle is no longer what is installed
left switching apply up.dray --keyring ops.pub
refused_dry 'an upgrade was interrupted while it was switching on root'
repair 1.dray
want_status 22
want_text 'an upgrade was interrupted while it was switching; that is finished now' out
want_text 'the bundle is demo 1 (release counter 1), but root has demo 2 (2)'
same_tree v2 root
repair up.dray
want_status 0
want_text 'root is demo 2: nothing to repair' out

# a rollback: finished, and then there is something to repair
run "$INSTALL" status --root root
first=up.dray
left going-back rollback
refused_dry 'a rollback was interrupted on root'
repair 1.dray
want_status 0
want_text 'a rollback was interrupted; that is finished now' out
same_tree whole root
first=

# a repair that was cut: what comes next finishes it first, and its record is there
left switching repair 1.dray --keyring ops.pub
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
want_text 'that is finished now' out
same_tree v2 root
run "$INSTALL" status --root root --log
want_text ' repair demo 1 (counter 1): done' out
for t in whole damaged; do
	run "$INSTALL" rollback --root root
	want_status 0
	same_tree $t root
done
left staged repair 1.dray --keyring ops.pub
same_tree damaged root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
same_tree v2 root

# somebody else is at it
command -v flock >/dev/null || exit 0
rm -rf root && cp -a start root
flock root/var/lib/dray/lock "$INSTALL" repair 1.dray --root root --keyring ops.pub >out 2>err
status=$? ran='repair under a lock'
want_status 25
same_tree damaged root
