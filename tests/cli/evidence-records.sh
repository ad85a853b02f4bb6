#!/bin/sh
# every run that changed something has one record, chained to the one before; a refusal has none
. "$(dirname "$0")/lib.sh"

STATE=root/var/lib/dray
mkdir -p old/etc old/var/lib new/etc new/var/lib
echo one >old/a && echo two >new/a
echo gone >old/etc/gone && echo born >new/etc/born
ln -s x old/etc/link && ln -s y new/etc/link
echo same >old/etc/conf && echo same >new/etc/conf && chmod 600 new/etc/conf
echo 1 >old/edited && echo 2 >new/edited
key
find old new -type d -exec touch -d @1700000000 {} +	# no second between them counts
cat >up.json <<'END'
{"recipe":1,"product":"demo","version":"1.1","counter":2,"from":[{"source":"old","version":"1.0","counter":1}],"to":"new",
"config":["etc/conf"],"triggers":[
{"id":"due","paths":["etc/born"],"argv":["/bin/true"]},
{"id":"not-due","paths":["usr"],"argv":["/bin/true"]}]}
END
run "$DRAY" build --recipe up.json --key ops.key -o up.dray
need_status 0
cp -a old root
echo mine >root/edited
same_sum() {	# FILE: its SHA-256 is in `out`
	want_text "$(sha256sum <"$1" | cut -d ' ' -f 1)" out
}

# a refusal leaves nothing, nor does a look
run "$INSTALL" apply up.dray --root root --keyring ops.pub --plan "$(printf %064d 0)"
want_status 24
no_file root/var/lib/dray
run "$INSTALL" status --root root --log
want_status 0
want_text 'no run is recorded on root' out

run "$INSTALL" plan up.dray --root root --keyring ops.pub --park --json
plan=$(grep -o '"plan_id":"[0-9a-f]*"' out)
run "$INSTALL" apply up.dray --root root --keyring ops.pub --park
need_status 0
run "$INSTALL" status --root root --log --json
want_status 0
want_text '"intact":true' out
want_text '"dray_evidence":1,"ended":"done","exit":0,"installed":{"bundle_id":"' out
want_text "$plan" out
want_text '"triggers_due":["due"]' out
want_text '"policy":{"no_owner":false,"no_sync":false,"park":true,"profile":"preserve","symlinks":[]}' out
want_text '"decisions":{"added":1,"already":0,"left_alone":0,"merged":0,"meta_only":1,"parked":1,"removed":1,"touched":6,"type_changed":0,"updated":3}' out
want_text '"number":1,"options":[],"prev":"0000000000000000000000000000000000000000000000000000000000000000"' out
"$DRAY" key show ops.pub --json >key.out
want_text "\"signers\":[{\"key\":\"$(grep -o '"sha256":"[0-9a-f]*"' key.out | cut -d '"' -f 4)\",\"name\":\"ops\"}]" out
run "$INSTALL" status --root root --log
want_text 'apply demo 1.1 (counter 2): done, 6 paths;' out

# what was there before and after, of each path
run "$INSTALL" status --root root --paths 1 --json
want_status 0
for f in old/a new/a old/etc/gone new/etc/born new/edited; do same_sum $f; done
echo mine >mine
same_sum mine
printf x >t && same_sum t
printf y >t && same_sum t
want_text '"change":"~","flags":["parked"],"path":"edited"' out
want_text '"change":"m","flags":["config"],"path":"etc/conf"' out
want_text '"mode":"0600","sha256"' out
want_text '{"after":{"type":"absent"},"before":{"gid":' out
run "$INSTALL" status --root root --paths 1
want_text '+ etc/born' out
want_text 'file      2c8b08da5ce60398 0644' out
run "$INSTALL" status --root root --paths 2
want_status 2
want_text 'record 2 has no list of paths here'

# back, again, forgotten, the parked ones too
echo later >root/etc/born
run "$INSTALL" rollback --root root
want_status 0
run "$INSTALL" resume --root root
want_status 0
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_text 'nothing to do' out
run "$INSTALL" forget --root root
want_status 0
run "$INSTALL" forget --root root --parked
want_status 0
run "$INSTALL" status --root root --log --json
want_status 0
ends() { grep -o '"ended":"[a-z-]*"' out | cut -d '"' -f 4 | tr '\n' ' '; }
want_ends() {
	[ "$(ends)" = "$1" ] && ok "ends: $1" || fail "ends: $(ends), wanted $1"
}
want_ends 'done back done forgotten forgotten-all forgotten-all '
want_text '"kept":["etc/born"],"kept_count":1' out
want_text '"kept":["edited"],"kept_count":1' out
want_text '"about":3,' out
want_text '"options":["parked"]' out
# each names the one before
for n in 2 3 4 5 6; do
	sum=$(sha256sum <"$STATE/evidence/00000$((n - 1)).json" | cut -d ' ' -f 1)
	want_text "\"prev\":\"$sum\"" "$STATE/evidence/00000$n.json"
done
want_text "\"evidence\":{\"last\":\"$(sha256sum <$STATE/evidence/000006.json | cut -d ' ' -f 1)\",\"records\":6}" $STATE/anchor.json

# a run that had begun and failed is recorded: a frame that is not what was signed
cp up.dray bad.dray
block=$(tar --block-number -tf up.dray | grep 'blocks/' | tail -n 1 | tr -cd '0-9 ' | cut -d ' ' -f 2)
offset=$((block * 512 + 512))
printf '\377\377\377\377' | dd of=bad.dray bs=1 seek="$offset" conv=notrunc 2>/dev/null
rm -rf root
cp -a old root
run "$INSTALL" apply bad.dray --root root --keyring ops.pub
want_status 31
same_tree root old
run "$INSTALL" status --root root --log --json
want_status 0
want_ends 'failed '
want_text '"exit":31' out
want_text '"why":"staging: ' out
want_text '"release":{"bundle_id":"' out
no_text '"installed"' out
run "$INSTALL" status --root root --log
want_text 'apply demo 1.1 (counter 2): failed (exit 31)' out
