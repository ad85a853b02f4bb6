#!/bin/sh
# the second phase of an upgrade, and the way back from between two of them, killed at every call that decides or moves
. "$(dirname "$0")/lib.sh"

command -v strace >/dev/null || skip 'needs strace, to kill at a chosen moment'

mkdir -p old/boot old/usr/bin old/mix old/gone old/etc old/var/lib old/away
for f in boot/kernel boot/old usr/bin/a usr/bin/b mix/k mix/w gone/g etc/x away/k away/w; do
	echo "1 $f" >old/$f
done
cp -a old new
for f in boot/kernel boot/new usr/bin/a mix/k mix/w etc/x; do
	echo "2 $f" >new/$f
done
# a directory that is new as a whole comes with the first phase in it, one that goes leaves with the last
rm -r new/gone new/boot/old new/usr/bin/b new/away
mkdir new/usr/more new/fresh && echo 2 >new/usr/more/m && echo 2 >new/fresh/k && echo 2 >new/fresh/w
chmod 750 new/boot new/usr new/etc
find old -exec touch -h -d @1000000000 {} +
find new -exec touch -h -d @1100000000 {} +
cat >recipe.json <<'X'
{"recipe": 1, "phases": [{"name": "kernel", "paths": ["boot", "mix/k", "fresh/k", "away/k"]},
 {"name": "world", "paths": ["usr", "mix", "fresh", "away/w"]},
 {"name": "cleanup"}]}
X
key
run "$DRAY" build --recipe recipe.json --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
mkdir -m 700 old/var/lib/dray
touch -d @1000000000 old/var/lib

# what the tree is after the first and after the second phase
cp -a old mid1
cp -a new/boot/kernel new/boot/new mid1/boot && rm mid1/boot/old && cp -a new/mix/k mid1/mix/k && chmod 750 mid1/boot
cp -a new/fresh mid1/fresh
touch -d @1100000000 mid1/boot mid1/mix
touch -d @1000000000 mid1
cp -a mid1 mid2
cp -a new/usr/bin/a mid2/usr/bin/a && rm mid2/usr/bin/b && cp -a new/usr/more mid2/usr/more && chmod 750 mid2/usr
cp -a new/mix/w mid2/mix/w
touch -d @1100000000 mid2/usr mid2/usr/bin mid2/mix
cp -a new want && touch -d @1000000000 want

fresh() {
	rm -rf root && cp -a old root
	"$INSTALL" apply -q up.dray --root root --keyring ops.pub --phase kernel || fail "phase kernel, $call $n"
}
# killed ARG... - at the N-th call of this kind; the leak check of a sanitizer build cannot run under strace
killed() {
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e "trace=$call" -e "inject=$call:signal=KILL:when=$n" \
	    "$INSTALL" "$@"
}

# the second phase: afterwards it is between them, or behind it, and in no other state
points=0
for call in pwrite64 renameat2; do
	n=0
	while :; do
		n=$((n + 1))
		fresh
		killed apply up.dray --root root --keyring ops.pub --phase world
		[ "$status" != 0 ] || break
		points=$((points + 1)) back=
		[ $((points % 3)) != 0 ] || back=--back
		# shellcheck disable=SC2086
		"$INSTALL" resume -q --root root $back || fail "resume after $call $n"
		run "$INSTALL" status --root root --json
		case $(cat out) in
		*'"phases_left":["world","cleanup"]'*) same_tree root mid1 ;;
		*'"phases_left":["cleanup"]'*) same_tree root mid2 ;;
		*) fail "no named state after $call $n" ;;
		esac
		if [ $((points % 2)) = 0 ]; then
			"$INSTALL" apply -q up.dray --root root --keyring ops.pub || fail "apply after $call $n"
			same_tree root want
		fi
		"$INSTALL" rollback -q --root root || fail "rollback after $call $n"
		same_tree root old
	done
done
[ $points -ge 6 ] && ok "killed at $points calls" || fail "killed at $points calls only"

# the way back from between them: whatever was cut, the next run ends at the old tree
points=0
for call in pwrite64 renameat2; do
	n=0
	while :; do
		n=$((n + 1))
		fresh
		killed rollback --root root
		[ "$status" != 0 ] || break
		points=$((points + 1))
		"$INSTALL" rollback -q --root root || fail "rollback after $call $n"
		same_tree root old
	done
done
[ $points -ge 6 ] && ok "rollback killed at $points calls" || fail "rollback killed at $points calls only"
