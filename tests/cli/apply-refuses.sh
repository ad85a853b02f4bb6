#!/bin/sh
# every refusal before the first write: its exit status, its words, what to do, and a tree that is as it was
. "$(dirname "$0")/lib.sh"

mkdir -p old/d old/var/lib new/d new/var/lib
echo 1 >old/a && echo 2 >new/a
echo 1 >old/d/x && echo 2 >new/d/x
key
key other
build() {	# build OUT PRODUCT VERSION COUNTER ARG...
	o=$1 p=$2 v=$3 c=$4
	shift 4
	run "$DRAY" build --from old --to new --product "$p" --version "$v" --counter "$c" -o "$o" "$@"
	want_status 0
}
build up.dray demo 1.1 2 --key ops.key
build naked.dray demo 1.1 2
build toy.dray toy 9 9 --key ops.key
build kin.dray toy 9 9 --key ops.key --compatible demo
build bsd.dray demo 1.1 2 --os freebsd --key ops.key
build none.dray demo 1.1 2 --os linux --key ops.key
cp -a old root
mkdir -m 700 root/var/lib/dray	# apply would make it, and move the times of the one above

tree() {	# the tree without the state folder, which apply may make
	tree_snapshot root | grep -v var/lib/dray
}

# refused STATUS TEXT HINT ARG...
refused() {
	s=$1 t=$2 h=$3
	shift 3
	tree >snap
	run "$INSTALL" "$@"
	want_status "$s"
	want_text "$t"
	want_text "hint: $h"
	tree >snap.now
	want_same snap snap.now
}

for verb in plan apply; do
	refused 30 'up.dray: no signature by a key of the keyring' 'check that the keyring is the right one' \
	    $verb up.dray --root root --keyring other.pub
	refused 30 'naked.dray: the bundle is not signed' 'sign it where it was built' \
	    $verb naked.dray --root root --keyring ops.pub
	refused 22 'open root nowhere: no such file or directory' 'name the tree to work on: --root DIR' \
	    $verb up.dray --root nowhere --keyring ops.pub
	refused 2 '--state a/../b: it has a part "." or ".."' 'give a path beneath the root' \
	    $verb up.dray --root root --keyring ops.pub --state a/../b
done
[ -e /etc/dray ] || refused 30 'no keyring: neither --keyring nor /etc/dray/keyring.json' 'name the public key' \
    apply up.dray --root root
# a keyring in the tree that is to be upgraded is not asked
mkdir -p root/etc/dray && cp ops.pub root/etc/dray/keyring.json
[ -e /etc/dray ] || refused 30 'no keyring' 'name the public key' plan up.dray --root root
rm -r root/etc

case $(uname -s) in
Linux)
	refused 22 'the bundle is for freebsd, this system is linux' 'take the bundle that was built for linux' \
	    apply bsd.dray --root root --keyring ops.pub
	;;
esac

# damage: told as such, whatever the verb
head -c 3000 up.dray >cut.dray
refused 31 'cut.dray: bundle ends at byte 3000' 'it was not copied whole' apply cut.dray --root root --keyring ops.pub
# a frame is only read while staging: nothing live has changed then either
cp up.dray bad.dray
at=$(($(stat -c %s bad.dray) - 1024 - 512))
printf '\377\377\377\377' | dd of=bad.dray bs=1 seek=$at conv=notrunc 2>dd.err
refused 31 'is damaged (its hash differs)' 'copy the bundle again; nothing on this machine was changed' \
    apply bad.dray --root root --keyring ops.pub
[ -z "$(ls root/var/lib/dray/tx)" ] && ok 'no staging is left' || fail 'a staging is left'

# drift: the plan that was looked at is not the plan any more
run "$INSTALL" plan up.dray --root root --keyring ops.pub
id=$(sed -n 's/^plan id //p' out)
echo mine >root/a
refused 24 "the plan is no longer $id; it is " 'the tree or the bundle changed since plan; nothing was changed' \
    apply up.dray --root root --keyring ops.pub --plan "$id"
cp -p old/a root/a

# conflicts, all of them
rm -r root/d && ln -s /elsewhere root/d
refused 20 '1 conflict: d is a symlink here, a directory in the release' 'nothing was changed; decide with --symlink' \
    apply up.dray --root root --keyring ops.pub
want_text 'conflicts, to be settled first:' out
run "$INSTALL" plan up.dray --root root --keyring ops.pub --json
want_status 20
want_text '"conflicts":1' out
want_text '"error":{"code":20,' out
want_text '"kind":"conflict","path":"d","why":"is a symlink here, a directory in the release (dangles: elsewhere is not there beneath the root)"' out
[ "$(wc -l <out)" = 1 ] && ok 'one document' || fail 'more than one document'
rm root/d && cp -a old/d root/d

# the product: an installed one binds, unless the bundle says it is compatible
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
refused 22 'the bundle is for product toy, but root has demo 1.1' 'take a bundle for demo' \
    apply toy.dray --root root --keyring ops.pub
run "$INSTALL" plan kin.dray --root root --keyring ops.pub
want_status 0
build early.dray demo 1.0 1 --key ops.key
refused 23 'demo 1.0 has release counter 1, but root already had 2' 'older releases are refused' \
    plan early.dray --root root --keyring ops.pub
# the floor outlives the way back
run "$INSTALL" rollback --root root
want_status 0
refused 23 'demo 1.0 has release counter 1, but root already had 2' 'older releases are refused' \
    apply early.dray --root root --keyring ops.pub

cp -a old fresh

# verbs that only finish or undo leave a tree alone that never had an upgrade
tree_snapshot fresh >snap
run "$INSTALL" resume --root fresh
want_status 0
want_text 'nothing was interrupted on fresh: nothing to do' out
run "$INSTALL" forget --root fresh
want_status 0
run "$INSTALL" rollback --root fresh
want_status 22
run "$INSTALL" status --root fresh
want_status 0
run "$INSTALL" check --root fresh
want_status 22
want_text 'nothing is recorded as installed on fresh'
want_unchanged fresh snap
