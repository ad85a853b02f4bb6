#!/bin/sh
# a tree brought back from a backup with its state folder: the journal knows none of its objects. Rollback once said that it
# was back and had changed nothing, resume that it was in the new state while it was half switched
. "$(dirname "$0")/lib.sh"

mkdir -p old/var/lib old/d new/var/lib new/d
for f in a b c d/e; do
	echo "1 $f" >old/$f
	echo "2 $f" >new/$f
done
echo 1 >old/gone && echo 2 >new/added
find old new -exec touch -h -d @1700000000 {} +
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
cp -a old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0

refused() {	# HINT COMMAND...
	hint=$1
	shift
	(cd copy/var/lib/dray && find tx | sort) >names
	tree_seen copy | grep -v var/lib/dray >before
	run "$INSTALL" "$@" --root copy
	want_status 22
	want_text 'the tree was copied since: not one object in var/lib/dray/tx/000001 is the one that was put there'
	want_text "hint: nothing was changed; $hint"
	tree_seen copy | grep -v var/lib/dray >after
	want_same before after
	(cd copy/var/lib/dray && find tx | sort) >now	# that it was tried stands in the evidence
	want_same names now
}
cp -a root copy
refused 'a copy has no way back: give it up with forget' rollback
run "$INSTALL" check --root copy
want_status 0
run "$INSTALL" forget --root copy --parked
want_status 0
same_tree new copy
run "$INSTALL" status --root copy --json
want_text '"pending":"none"' out
# the original has it still
run "$INSTALL" rollback --root root
want_status 0
same_tree old root

command -v strace >/dev/null || exit
for n in 2 5; do
	rm -rf root copy
	cp -a old root
	strace -f -qq -o /dev/null -e trace=renameat2 -e "inject=renameat2:signal=KILL:when=$n" \
	    "$INSTALL" apply -q up.dray --root root --keyring ops.pub -j1
	cp -a root copy
	for verb in resume 'resume --back' rollback; do
		# shellcheck disable=SC2086
		refused 'the tree is half switched: move that folder out of the way' $verb
	done
	refused 'the tree is half switched: move that folder out of the way' apply up.dray --keyring ops.pub
	# what the hint says
	mv copy/var/lib/dray/tx/000001 aside
	run "$INSTALL" apply up.dray --root copy --keyring ops.pub
	want_status 0
	run "$INSTALL" check up.dray --root copy --keyring ops.pub --strict
	want_status 0
	rm -rf aside
	run "$INSTALL" resume --root root
	want_status 0
	same_tree new root
done
