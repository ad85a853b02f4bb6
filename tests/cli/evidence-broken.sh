#!/bin/sh
# a record that was edited, cut off or deleted is told, at once and for good; a list that was edited too
. "$(dirname "$0")/lib.sh"

E=root/var/lib/dray/evidence
mkdir -p old/var/lib new/var/lib
echo 1 >old/a && echo 2 >new/a
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0
cp -a old root
for n in 1 2; do
	"$INSTALL" apply -q up.dray --root root --keyring ops.pub && "$INSTALL" rollback -q --root root || fail "runs $n"
done
S=root/var/lib/dray
mkdir whole && cp -a $E $S/anchor.json whole
again() {	# the tree is old after each round; what is written down is put back
	rm -rf $S
	mkdir -m 700 $S
	cp -a whole/* $S
	touch -r old/var/lib root/var/lib
}
log() {
	run "$INSTALL" status --root root --log
}
broken() {	# TEXT: it is told, in words and in JSON
	log
	want_status 31
	want_text "the evidence is not whole: $1"
	want_text 'hint: somebody changed or deleted it; hold it against an earlier export'
	run "$INSTALL" status --root root --log --json
	want_status 31
	want_text '"intact":false' out
	want_text "\"problems\":[\"$1" out
	run "$INSTALL" status --root root
	want_status 0
	want_text 'the evidence is not whole' out
}
log
need_status 0
run "$INSTALL" status --root root
want_text '4 runs are recorded' out

sed -i 's/"exit":0/"exit":1/' $E/000002.json
broken 'record 2 was changed: record 3 names another'
again
sed -i 's/"exit":0/"exit":1/' $E/000004.json
broken 'record 4 was changed: the anchor names another'
again
rm $E/000002.json
broken 'record 2 is missing'
again
rm $E/000001.json $E/000002.json
broken 'records 1 to 2 are missing'
again
rm $E/000004.json
broken 'record 4 is missing at the end'
again
rm -r $E
broken 'records 1 and later are missing at the end'
again
cp $E/000002.json $E/000003.json
broken 'record 3 is damaged: it has another number'
again
echo '{}' >$E/000001.json
broken 'record 1 is damaged: the JSON is not canonical'
again
rm $E/000003.json && ln -s /etc/passwd $E/000003.json
broken 'record 3 cannot be read'
again
printf x >>$E/000003.paths
log
want_status 31
want_text 'the evidence is not whole: the list of paths of record 3 was changed'
again
printf x | dd of=$E/000001.paths bs=1 seek=20 conv=notrunc 2>/dev/null
log
want_status 31
want_text 'the list of paths of record 1 was changed'

# a list that is not here any more is told, and is no break
again
rm $E/000001.paths
log
want_status 0
want_text '1 list is of paths not here any more' out

# whoever changes the end cannot hide it behind the next run
for how in "rm $E/000004.json" "rm $E/000003.json $E/000004.json" "sed -i s/rollback/forget/ $E/000004.json" "rm -r $E"; do
	again
	$how
	run "$INSTALL" apply up.dray --root root --keyring ops.pub
	want_status 0
	want_text 'records of earlier runs were changed or deleted by somebody else' out
	want_file $E/000005.json
	log
	want_status 31
	run "$INSTALL" rollback --root root
	want_status 0
	same_tree root old
	no_text 'records of earlier runs' out
	log
	want_status 31
done

# nothing planted there stops a run
again
rm $E/000004.json && mkdir $E/000004.json && truncate -s 1M $E/000009.json && touch $E/0x1.json $E/.json
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
run "$INSTALL" rollback --root root
want_status 0
same_tree root old
log
want_status 31

# without the anchor the end is not known
again
rm root/var/lib/dray/anchor.json
log
want_status 0
want_text 'the anchor was deleted: whether the newest records are missing is not known' out
