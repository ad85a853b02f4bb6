#!/bin/sh
# status --export: one file with the same bytes for the same state, that replaces nothing; dray report reads it, tells
# what is wrong with it, and holds it against an earlier one
. "$(dirname "$0")/lib.sh"

E=root/var/lib/dray/evidence
mkdir -p old/var/lib new/var/lib
echo 1 >old/a && echo 2 >new/a
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0
cp -a old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
run "$INSTALL" status --root root --export one.evidence
want_status 0
want_text 'one.evidence: 1 record, export id ' out
want_text 'dray report one.evidence' out
tree_snapshot root >snap
run "$INSTALL" status --root root --export same.evidence
want_status 0
want_same one.evidence same.evidence
want_unchanged root snap

# nothing is replaced, nothing is left behind
echo precious >there
ln -s there link
mkdir folder
for f in there link folder; do
	run "$INSTALL" status --root root --export $f
	want_status 2
	want_text "$f is there already"
done
[ "$(cat there)" = precious ] && ok 'the file is what it was' || fail 'the file was replaced'
run "$INSTALL" status --root root --export no/where
want_status 1
want_text 'open the folder of no/where'
run "$INSTALL" status --root root --export folder/
want_status 2
run "$INSTALL" status --root root --log --export x
want_status 2
want_text '--log, --export and --needs-restart do not go together'
[ -z "$(find . -name '.dray-export*')" ] && ok 'nothing is left' || fail 'something is left'
tar -tf one.evidence >out
printf 'dray-evidence.json\nevidence/000001.json\nevidence/000001.paths\n' >want
want_same out want

# outside
run "$DRAY" report one.evidence
want_status 0
want_text 'installed: demo 1.1 (counter 2)' out
want_text 'apply demo 1.1 (counter 2): done, 1 paths;' out
want_text '1 record, all whole' out
run "$DRAY" report one.evidence --json
want_status 0
want_text '"intact":true' out
want_text "\"id\":\"$(tar -xOf one.evidence dray-evidence.json | sha256sum | cut -d ' ' -f 1)\"" out
run "$DRAY" report one.evidence --paths 1 --json
want_status 0
want_text '"path":"a"' out
want_text "$(sha256sum <new/a | cut -d ' ' -f 1)" out
run "$DRAY" report one.evidence --paths 2
want_status 2
want_text 'record 2 has no list of paths in this file'

# a later one holds the earlier one
run "$INSTALL" rollback --root root
run "$INSTALL" status --root root --export two.evidence --json
want_status 0
want_text '"file":"two.evidence"' out
run "$DRAY" report two.evidence --earlier one.evidence
want_status 0
want_text '2 records, all whole, and a later state of the earlier export' out
run "$DRAY" report one.evidence --earlier two.evidence
want_status 31
want_text 'the evidence is not whole: record 2 of the earlier export is missing'
# another machine, which has as many records
cp -a old other
"$INSTALL" apply -q up.dray --root other --keyring ops.pub
"$INSTALL" status -q --root other --export other.evidence
run "$DRAY" report other.evidence --earlier one.evidence
want_status 31
want_text 'record 1 is not the one of the earlier export'

# what is broken there is written, told, and told again outside
sed -i 's/"exit":0/"exit":1/' $E/000001.json
run "$INSTALL" status --root root --export broken.evidence
want_status 31
want_text 'broken.evidence is written, but: the evidence is not whole: record 1 was changed'
run "$DRAY" report broken.evidence
want_status 31
want_text 'record 1 was changed: record 2 names another'
run "$DRAY" report broken.evidence --json
want_status 31
want_text '"problems":["record 1 was changed' out
want_text '"error":{"code":31' out
run "$DRAY" report broken.evidence --earlier one.evidence
want_text 'record 1 is not the one of the earlier export'

# cut anywhere, or bent anywhere: never whole
size=$(wc -c <two.evidence)
for n in 0 1 511 512 1023 1024 2048 $((size - 1024)) $((size - 1)); do
	head -c "$n" two.evidence >short
	run "$DRAY" report short
	want_status 31
done
cp two.evidence long && printf x >>long
run "$DRAY" report long
want_status 31
want_text 'does not end behind the last record'
want_text 'hint: take a file that `dray-install status --export` wrote'
for at in 3 130 700 1600 2600 4200 $((size - 9)); do
	cp two.evidence bent
	printf '\377' | dd of=bent bs=1 seek=$at conv=notrunc 2>/dev/null
	cmp -s bent two.evidence && fail "byte $at was 377 before"
	run "$DRAY" report bent
	want_status 31
done
run "$DRAY" report up.dray
want_status 31
want_text 'up.dray: at byte 0: '
