#!/bin/sh
# an upgrade phase by phase: a named state between them that nothing ends by itself, one way back for all of them
. "$(dirname "$0")/lib.sh"

sh "$TOP/tools/make-phases.sh" "$T" || exit 1
key
run "$DRAY" build --recipe recipe.json --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
run "$DRAY" build --from old --to new --product demo --version 3 --counter 3 --key ops.key -o other.dray
need_status 0

cp -a old root
apply() {
	run "$INSTALL" apply "$@" --root root --keyring ops.pub
}
tree() {
	tree_snapshot root | grep -v var/lib/dray
}
fresh() {
	rm -rf root && cp -a old root
}

run "$INSTALL" plan up.dray --root root --keyring ops.pub
want_status 0
want_text 'operations in phase kernel' out
id=$(sed -n 's/^plan id //p' out)
for verb in plan apply; do
	run "$INSTALL" $verb up.dray --root root --keyring ops.pub --phase world
	want_status 22
	want_text 'phase kernel comes before world'
	run "$INSTALL" $verb up.dray --root root --keyring ops.pub --phase boot
	want_status 2
	want_text '--phase boot: the bundle has no such phase'
	want_text 'hint: it has, in this order: kernel, world, cleanup'
done
run "$INSTALL" plan up.dray --root root --keyring ops.pub --phase kernel
want_status 0
want_text "plan id $id" out
want_text '--phase kernel' out

# the first phase: a state with a name, that stays until it is told
apply up.dray --phase kernel --plan "$id"
want_status 0
want_text 'demo 2: done are the phases: kernel; still to come: world, cleanup' out
want_text 'next: dray-install apply up.dray --root root --keyring ops.pub' out
want_text '--phase world' out
same_tree root mid1
tree >snap
for b in up other; do
	run "$INSTALL" plan $b.dray --root root --keyring ops.pub
	want_status 22
	want_text 'root is between phases of demo 2: kernel done, world, cleanup to come'
	want_text 'hint: nothing was changed; go on with apply of that bundle, or go back: dray-install rollback'
done
for run in 'apply other.dray' 'repair up.dray' 'repair --dry-run up.dray'; do
	# shellcheck disable=SC2086
	run "$INSTALL" $run --root root --keyring ops.pub
	want_status 22
	want_text 'root is between phases of demo 2'
done
apply up.dray --phase cleanup
want_status 22
want_text 'phase world comes before cleanup'
apply up.dray --phase world --plan "$(echo "$id" | tr 0-9 1-90)"
want_status 24
want_text "the plan that was begun is $id"
run "$INSTALL" status --root root
want_text 'generation 1: between-phases to 2' out
want_text 'still to come: world, cleanup' out
want_text 'nothing is recorded as installed' out
run "$INSTALL" status --root root --json
want_text '"pending":"between-phases"' out
want_text '"phases_done":["kernel"],"phases_left":["world","cleanup"]' out
for verb in resume 'resume --back' forget; do
	# shellcheck disable=SC2086
	run "$INSTALL" $verb --root root
	want_status 0
done
want_text 'an upgrade is between two of its phases' out
apply up.dray --phase kernel --exit-detail
want_status 10
tree >snap.now
want_same snap snap.now
# what waits has changed meanwhile: told, and nothing is done
cp -p root/usr/bin/a a.was
echo mine >root/usr/bin/a
apply up.dray --phase world
want_status 24
want_text 'usr/bin/a changed since the plan was made'
want_text 'hint: nothing was changed; put the very same file back, or go back with rollback and plan again'
cat a.was >root/usr/bin/a && touch -r a.was root/usr/bin/a
echo mine >root/gone/mine
apply up.dray
want_status 24
want_text 'gone changed since the plan was made'
rm root/gone/mine && touch -d @1000000000 root/gone
same_tree root mid1

# the second, and all the way back at once
apply up.dray --phase world --json
want_status 0
want_text '"phases_done":["kernel","world"],"phases_left":["cleanup"]' out
want_text '"result":"phase"' out
same_tree root mid2
run "$INSTALL" rollback --root root
want_status 0
same_tree root old
run "$INSTALL" rollback --root root
want_status 22

# apply without a phase is all the rest, and only then is it recorded
apply up.dray --phase kernel
want_status 0
apply up.dray --plan "$id"
want_status 0
want_text 'root is now demo 2' out
same_tree root want
run "$INSTALL" check --root root
want_status 0
run "$INSTALL" status --root root
want_text 'root has demo 2' out
want_text 'generation 1: done to 2' out
run "$INSTALL" rollback --root root
want_status 0
same_tree root old

# the journal elsewhere: the mark stays between the phases
apply up.dray --phase kernel --state var/other
want_status 0
want_file root/.dray-pending
apply up.dray --phase world
want_status 22
want_text 'an unfinished upgrade of root keeps its journal in var/other'
run "$INSTALL" rollback --root root --state var/other
want_status 0
no_file root/.dray-pending

command -v strace >/dev/null || exit 0
# traced CALLS INJECT ARG... - the leak check of a sanitizer build cannot run under strace
traced() {
	c=$1 i=$2
	shift 2
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e "trace=$c" -e "inject=$i" "$INSTALL" "$@"
}
# a second phase that fails is undone, the first one stays
fresh
apply up.dray --phase kernel
traced renameat2 renameat2:error=EIO:when=2 apply up.dray --root root --keyring ops.pub --phase world
want_status 41
want_text 'the switch failed, everything is as it was before this phase: '
same_tree root mid1
apply up.dray --phase world
want_status 0
same_tree root mid2

# cut in the second phase, and somebody puts a file of his own where the new one had come: taking that phase back leaves
# his in the stash, where the next try must not take it for the new one
fresh
apply up.dray --phase kernel
traced renameat2 renameat2:signal=KILL:when=3 apply up.dray --root root --keyring ops.pub --phase world
n=0 theirs=
for f in mix/w usr/bin/a; do
	! cmp -s root/$f new/$f || { echo mine >his && mv his root/$f && n=$((n + 1)) && theirs=${theirs:-$f}; }
done
[ $n -ge 1 ] && ok "$theirs was switched" || fail 'none was switched'
run "$INSTALL" resume --back --root root
want_status 0
same_tree root mid1
tree >snap
for phase in '--phase world' ''; do
	# shellcheck disable=SC2086
	apply up.dray $phase
	want_status 24
	want_text "$theirs: what was staged for it is gone, the stash holds somebody else's object"
	want_text 'hint: nothing was changed; go back with rollback and apply again'
done
tree >snap.now
want_same snap snap.now
run "$INSTALL" rollback --root root
want_status 0
same_tree root old
[ "$(grep -rlx mine root/var/lib/dray/tx | wc -l)" = $n ] && ok 'what was his is in the stash' || fail 'what was his is lost'
apply up.dray
want_status 0
same_tree root want
