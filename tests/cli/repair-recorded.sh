#!/bin/sh
# a repair is on record like any run: what each path was and became, how often, and by whose decision; nothing to do is no run
. "$(dirname "$0")/lib.sh"

mkdir -p new/var/lib new/etc new/d/e
for f in a b mode etc/conf etc/other d/e/x; do
	echo "new $f" >new/$f
done
find new -exec touch -h -d @1700000000 {} +
cat >full.json <<'J'
{"recipe": 1, "product": "demo", "version": "1.1", "counter": 2, "to": "dir:new", "config": ["etc/*"]}
J
key
run "$DRAY" build --recipe full.json --key ops.key -o full.dray
need_status 0
mkdir -p root/var/lib
run "$INSTALL" apply full.dray --root root --keyring ops.pub
need_status 0

# nothing to repair: nothing is written
tree_seen root >snap
for how in '' --dry-run --json '--dry-run --json' '--exit-detail'; do
	# shellcheck disable=SC2086
	run "$INSTALL" repair full.dray --root root --keyring ops.pub $how
	[ "$how" = --exit-detail ] && want_status 10 || want_status 0
	tree_seen root >now
	want_same snap now
done
run "$INSTALL" status --root root --json
want_text '"evidence":{"intact":true,"records":1}' out

echo bad >root/a && echo mine >root/etc/conf && chmod 600 root/mode && rm -r root/d
cp root/a bad
run "$INSTALL" repair full.dray --root root --keyring ops.pub --verify-writes
want_status 0
run "$INSTALL" status --root root --log
want_text ' repair --verify-writes demo 1.1 (counter 2):' out
want_text 'done, 5 paths;' out
no_text '->' out
run "$INSTALL" status --root root
want_text 'generation 2: done, within 1.1, ' out
run "$INSTALL" status --root root --paths 2 --json
want_status 0
same_sum() {	# FILE: its SHA-256 is in `out`
	want_text "$(sha256sum <"$1" | cut -d ' ' -f 1)" out
}
for f in bad new/a new/mode new/d/e/x; do same_sum $f; done
want_text '"change":"~","flags":["parked"],"path":"a"' out
want_text '"change":"+","flags":[],"path":"d/e/x"' out
want_text '{"after":{"gid":' out
want_text '"mode":"0600","sha256"' out
no_text etc/conf out
run "$INSTALL" status --root root --log --json
want_text '"decisions":{"added":3,"already":0,"left_alone":0,"merged":0,"meta_only":1,"parked":1,"removed":0,"touched":5,"type_changed":0,"updated":1}' out
no_text paths_named out

# undoing a decision is one, and on record
run "$INSTALL" repair full.dray etc/conf a --root root --keyring ops.pub
want_status 0
want_text '1 path of demo 1.1 on root is repaired' out
run "$INSTALL" status --root root --log --json
want_text '"paths_named":2' out
run "$INSTALL" status --root root --paths 3
want_text '~ etc/conf' out
run "$INSTALL" rollback --root root
want_status 0
run "$INSTALL" status --root root --log --json
want_text '"intact":true' out
want_text '"about":3,' out
[ "$(grep -o '"ended":"[a-z-]*"' out | cut -d '"' -f 4 | tr '\n' ' ')" = 'done done done back ' ] && ok ends || fail "$(cat out)"
echo mine >mine
want_same root/etc/conf mine

# a refusal is no run; one that began and failed is
cp bad root/a
cp full.dray longer.dray
printf X >>longer.dray
run "$INSTALL" repair longer.dray --root root --keyring ops.pub
want_status 31
run "$INSTALL" status --root root --json
want_text '"records":4' out
block=$(tar --block-number -tf full.dray | grep 'blocks/' | tail -n 1 | tr -cd '0-9 ' | cut -d ' ' -f 2)
printf '\377\377\377\377' | dd of=full.dray bs=1 seek=$((block * 512 + 512)) conv=notrunc 2>/dev/null
cp -a root before
run "$INSTALL" repair full.dray --root root --keyring ops.pub
want_status 31
want_text 'nothing on this machine was changed'
same_tree before root
run "$INSTALL" status --root root --log
want_text ' repair demo 1.1 (counter 2): failed (exit 31)' out
run "$INSTALL" check --root root
want_status 20
want_text 'a: content' out
