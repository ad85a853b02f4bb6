#!/bin/sh
# symlinks of the release that dangle, loop, are absolute or lead outside are objects like others: set, compared, and taken
# back, never followed; and files that are in use are exchanged while they run
. "$(dirname "$0")/lib.sh"

mkdir -p outside/dir old/d/e old/var/lib/dray new/d/e new/var/lib/dray
chmod 700 old/var/lib/dray new/var/lib/dray
echo theirs >outside/file
echo theirs >outside/dir/x
# name, what it was, what it is: a target, or file, dir, none
while read -r name was is; do
	for t in old new; do
		what=$was
		[ $t = old ] || what=$is
		case $what in
		file) echo "$t" >$t/d/"$name" ;;
		dir) mkdir $t/d/"$name" && echo $t >$t/d/"$name"/x ;;
		none) ;;
		*) ln -s "$what" $t/d/"$name" ;;
		esac
	done
done <<X2
dangles nowhere elsewhere
self self self2
loop-a loop-b loop-a
absolute $T/outside/file /nowhere/at/all
out ../../../../outside/file ../../../outside/dir
todir $T/outside/dir e
long $(printf %.4000s "$(seq -s/ 5000)") short
filelink file $T/outside/file
linkfile $T/outside/file file
dirlink dir $T/outside/dir
linkdir $T/outside/dir dir
comes none $T/outside/dir
goes $T/outside/dir none
X2
find old -exec touch -h -d '2001-01-01 00:00:00.123456789' {} +
find new -exec touch -h -d '2002-02-02 00:00:00.987654321' {} +
touch -r old new
if is_root; then
	chown -h 1:1 new/d/self new/d/dangles
fi
ln -s e old/d/same && ln -s e new/d/same && touch -h -r old/d/dangles old/d/same new/d/same
touch -r old/d/e old/d && touch -r new/d/e new/d
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
tree_snapshot outside >snap
for keep in 0 1; do
	cp -a old root
	run "$INSTALL" apply up.dray --root root --keyring ops.pub
	want_status 0
	same_tree new root
	run "$INSTALL" check --root root --strict
	want_status 0
	if [ $keep = 0 ]; then
		run "$INSTALL" forget --parked --root root
		want_status 0
	else
		run "$INSTALL" rollback --root root
		want_status 0
		same_tree old root
	fi
	want_unchanged outside snap
	rm -rf root
done
# a symlink in the place of one, or of a file, is an edit of its own
cp -a old root
ln -sfn "$T/outside/file" root/d/dangles && ln -sf "$T/outside/other" root/d/filelink
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
want_text '  d/dangles: edited here and replaced' out
want_text "  d/filelink: edited here and replaced" out
same_tree new root
run "$INSTALL" rollback --root root
want_status 0
[ "$(readlink root/d/dangles) $(readlink root/d/filelink)" = "$T/outside/file $T/outside/other" ] && ok 'both edits are back' ||
    fail 'the edits are not back'
want_unchanged outside snap

# a program that runs is exchanged under it, there and back
rm -rf old new root
mkdir -p old/bin old/var/lib new/bin new/var/lib
cp "$(command -v sleep)" old/bin/prog && cp old/bin/prog new/bin/prog && echo more >>new/bin/prog
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
cp -a old root
pids=
trap 'kill $pids 2>/dev/null; at_end' EXIT
start() {
	root/bin/prog 60 &
	pids="$pids $!"
	until [ "$(readlink "/proc/$!/exe")" = "$T/root/bin/prog" ]; do sleep 0.05; done
}
[ -r /proc/self/exe ] || exit 0
start
(: >>root/bin/prog) 2>/dev/null && fail 'a program that runs can be written to' || ok 'it is busy'
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
same_tree new root
start
run "$INSTALL" rollback --root root
want_status 0
same_tree old root
for p in $pids; do
	kill -0 "$p" && ok "process $p still runs" || fail "process $p is gone"
done
