#!/bin/sh
# validate "CMD %f": the merged file is shown to a program of the tree before it goes live
. "$(dirname "$0")/lib.sh"
key

mkdir -p old/etc old/bin old/var/lib old/dev old/seen
for f in etc/good etc/bad etc/plain; do seq 1 30 >old/$f; done
# a shell of its own and some more, as the programs of a tree are run in it
for name in sh mkdir rm setsid sleep; do
	prog=$(readlink -f "$(command -v $name)")
	cp "$prog" old/bin/$name
	ldd "$prog" | grep -o '/[^ )]*' | while read -r lib; do mkdir -p "old${lib%/*}" && cp -L "$lib" "old$lib"; done
done
cat >old/bin/check <<'P'
#!/bin/sh
read -r first && exit 9		# nothing to read on standard input
[ -n "${PATH:-}" ] && [ "$(pwd)" = / ] && [ -z "${SECRET:-}" ] || exit 8
while read -r line; do
	case $line in
	bad) echo "$2: line bad is wrong" >&2 && exit 3 ;;
	hang)
		( while :; do read -r none; done ) &
		echo yes >/seen/hangs
		while :; do :; done
		;;
	litter)		# as cap_mkdb does, and worse
		echo made >"$2.db"
		rm "$2" && mkdir "$2" && echo more >"$2/more"
		setsid sleep 600 >/dev/null 2>&1 &
		exit 0
		;;
	esac
done <"$2"
echo changed >>"$2"		# which must not go live
echo "$1 $0" >>/seen/asked
exit 0
P
chmod 755 old/bin/check
cp -a old new
for f in etc/good etc/bad etc/plain; do sed -i 's/^20$/twenty/' new/$f; done
find old new -exec touch -h -d @1700000000 {} +
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --config etc --key ops.key -o up.dray
need_status 0
cp -a old root
mknod root/dev/null c 1 3 2>/dev/null && chmod 666 root/dev/null
sed -i 's/^1$/one/' root/etc/good root/etc/plain && sed -i 's/^1$/bad/' root/etc/bad
printf '%s\n' 'etc/good merge validate "/bin/check -t %f"' 'etc/bad merge validate "/bin/check -t %f"' >check.policy
export SECRET=yes
cp -a root before

# not the running system, and nobody allowed it: said, and done without
run "$INSTALL" apply up.dray --root root --keyring ops.pub --policy check.policy --json
want_status 0
want_text '"check":"no chroot","path":"etc/good"' out
want_text 'etc/good: not checked: not the running system, and no --allow-chroot'
run "$INSTALL" rollback --root root
want_status 0
same_tree before root
if ! is_root || ! chroot root /bin/sh -c 'exit 0' 2>/dev/null; then exit 0; fi

# what fails is a conflict, and nothing is changed
tree_seen root | grep -v var/lib/dray >snap
run "$INSTALL" apply up.dray --root root --keyring ops.pub --policy check.policy --allow-chroot
want_status 20
want_text 'etc/bad fails its check (/bin/check -t %f, exit status 3): '
want_text '/check/bad: line bad is wrong'
want_text 'nothing was changed; decide with --policy'
rm root/seen/asked
touch -d @1700000000 root/seen
tree_seen root | grep -v -e var/lib/dray -e '^./seen|' >now
grep -v '^./seen|' snap >snap2
want_same snap2 now
run "$INSTALL" status --root root
want_status 0
want_text 'nothing is pending' out
# a program that is not there checks nothing
printf '%s\n' 'etc/good merge validate "/bin/check -t %f"' 'etc/bad mine' 'etc/plain merge validate "/bin/none %f"' >check.policy
run "$INSTALL" apply up.dray --root root --keyring ops.pub --policy check.policy --allow-chroot
want_status 0
want_text '  etc/good: passed its check' out
want_text '  etc/plain: not checked: no such program here' out
want_text '-t /bin/check' root/seen/asked
for f in good plain; do
	sed 's/^1$/one/' new/etc/$f >want
	want_same want root/etc/$f
done
run "$INSTALL" status --root root --log --json
want_text '"check":"passed","path":"etc/good"' out
[ -z "$(find root/var/lib/dray -name check)" ] && ok 'nothing is left of it' || fail 'a folder of checks is left'
rm root/seen/asked
run "$INSTALL" rollback --root root
want_status 0
# processes in the tree: all that a check has started, whatever number it has in a namespace of its own
inside() {
	for p in /proc/[0-9]*; do
		[ "$(readlink "$p/root" 2>/dev/null)" != "$T/root" ] || echo "${p#/proc/}"
	done
}
gone() {	# what has been killed takes a moment
	n=0
	while [ -n "$(inside)" ] && [ $n -lt 100 ]; do sleep 0.1 && n=$((n + 1)); done
	[ -z "$(inside)" ] && ok 'no process of it is left' || fail "left: $(inside)"
}
end_all() {
	for p in $(inside); do kill -KILL "$p" 2>/dev/null; done
}
# what a check leaves beside its copy, or in its place, goes with it, and so does what it has started
touch -r root/seen tmp.time
sed -i 's/^5$/litter/' root/etc/good
sed -i 's/^5$/litter/' root/etc/plain
printf '%s\n' 'etc/bad mine' 'etc/* merge validate "/bin/check -t %f"' >litter.policy
run "$INSTALL" apply up.dray --root root --keyring ops.pub --policy litter.policy --allow-chroot
want_status 0
want_text '  etc/good: passed its check' out
want_text '  etc/plain: passed its check' out
sed 's/^1$/one/; s/^5$/litter/' new/etc/good >want
want_same want root/etc/good
[ -z "$(find root/var/lib/dray -name check)" ] && ok 'nothing is left of it' || fail 'a folder of checks is left'
if unshare -mpni true 2>/dev/null; then gone; fi
end_all
run "$INSTALL" rollback --root root
want_status 0
touch -r tmp.time root/seen
# killed in a check: nothing live was changed, and the next run cleans up
sed -i 's/^litter$/hang/' root/etc/good
cp -a root hanging
"$INSTALL" apply up.dray --root root --keyring ops.pub --policy check.policy --allow-chroot >out 2>err </dev/null &
pid=$!
until [ -s root/seen/hangs ]; do
	kill -0 $pid 2>/dev/null || break
done
kill -KILL $pid
wait $pid 2>/dev/null
end_all
[ -n "$(find root/var/lib/dray -name check)" ] && ok 'it was in a check' || fail 'it was in no check'
rm root/seen/hangs && touch -r hanging/seen root/seen
run "$INSTALL" resume --root root
want_status 0
[ -z "$(find root/var/lib/dray -name check)" ] && ok 'nothing is left of it' || fail 'a folder of checks is left'
same_tree hanging root
# a signal ends a check that hangs, and all that it has started
"$INSTALL" apply up.dray --root root --keyring ops.pub --policy check.policy --allow-chroot >out 2>err </dev/null &
pid=$!
until [ -s root/seen/hangs ]; do
	kill -0 $pid 2>/dev/null || break
done
kill -TERM $pid
wait $pid
ended $? 'apply, interrupted in a check'
want_status 40
gone
