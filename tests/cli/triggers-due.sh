#!/bin/sh
# what has to be run after an upgrade is told by plan and apply, stays on the list of status until `triggers` has run it or
# somebody said that it was done, and comes back with the way back
. "$(dirname "$0")/lib.sh"
is_root || skip "a chroot needs root"

STATE=root/var/lib/dray
mkdir -p old/etc old/bin old/var/lib new/etc new/bin new/var/lib
cc -static -o old/bin/act "$TOP/tests/cli/act.c" || skip "no static C library"
cp -a old/bin/act new/bin/act
for d in old new; do
	for f in a b c kernel made; do
		echo $d >$d/etc/$f
	done
done
cp -a old base
key
cat >up.json <<'END'
{"recipe":1,"product":"demo","version":"1.1","counter":2,"from":[{"source":"old","version":"1.0","counter":1}],"to":"new",
"phases":[{"name":"kernel","paths":["etc/kernel"]},{"name":"rest"}],"triggers":[
{"id":"boot","paths":["etc/kernel"],"argv":["/bin/act","boot"],"on_failure":"fail"},
{"id":"one","paths":["etc/a"],"argv":["/bin/act","one","it's","$HOME;x"],"outputs":["etc/made"],"on_failure":"fail"},
{"id":"idle","paths":["usr"],"argv":["/bin/act","idle"]},
{"id":"two","paths":["etc/b"],"argv":["/bin/act","two-fail"],"on_failure":"fail"},
{"id":"three","paths":["etc/c","etc/b"],"argv":["/bin/act","three"],"after":["two"],"on_failure":"fail"}]}
END
run "$DRAY" build --recipe up.json --key ops.key -o up.dray
need_status 0
# what waits, as the document of status names it
waits() {
	run "$INSTALL" status --root root --json
	want_status 0
	sed 's/.*"triggers_due":\[\(.*\)\].*/\1/' out | grep -o '"id":"[a-z]*"' | cut -d '"' -f 4 | tr '\n' ' ' >ids
	if [ "$(cat ids)" = "$*${*:+ }" ]; then ok "waiting: $*"; else fail "waiting: $(cat ids), wanted $*"; fi
}
ran() {
	if [ "$(tr '\n' ' ' <root/log)" = "$* " ]; then ok "ran: $*"; else fail "ran: $(tr '\n' ' ' <root/log), wanted $*"; fi
	rm -f root/log
}

sleeping() {	# TIMES: until it sleeps for the so-manieth time
	while [ "$(cat root/log 2>/dev/null | grep -cx sleep)" -lt "$1" ]; do
		kill -0 $pid 2>/dev/null || { fail "triggers ended too soon: $(cat out err)"; exit 1; }
		sleep 0.02
	done
}

# told before and after; nothing is run by apply without a word about the chroot
cp -a old root
run "$INSTALL" plan up.dray --root root --keyring ops.pub
need_status 0
want_text 'after it, apply runs with --allow-chroot:' out
want_text "  one: chroot root /bin/act one 'it'\\''s' '\$HOME;x'" out
no_text idle out
run "$INSTALL" plan up.dray --root root --keyring ops.pub --json
want_text '"triggers_due":[{"argv":["/bin/act","boot"],"id":"boot"},{"argv":["/bin/act","one","it'"'"'s","$HOME;x"],"id":"one"},' out
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
want_text '4 triggers have to be run on root, for what depends on files that changed:' out
want_text '  boot: chroot root /bin/act boot' out
want_text 'none was run, because programs of another root run in a chroot alone, and that was not allowed' out
want_text 'to run them: dray-install triggers --root root --allow-chroot' out
want_text 'if you have: dray-install triggers --root root --done' out
no_file root/log
waits boot one two three
run "$INSTALL" status --root root
want_text '4 triggers have to be run on root' out

# refused without a word about the chroot, and by name; nothing changes
tree_seen root >snap
run "$INSTALL" triggers --root root
want_status 22
want_text 'programs of another root run in a chroot alone, and that was not allowed'
want_text 'hint: give --allow-chroot'
run "$INSTALL" triggers none --root root --allow-chroot
want_status 2
want_text 'no trigger "none" waits on root'
tree_seen root | cmp -s snap - && ok 'nothing was changed' || fail 'a refusal changed something'

# run: in order, without shell, environment and handles of ours; a failure is told with what was said, and waits on
run "$INSTALL" triggers --root root --allow-chroot
want_status 50
want_text 'two: exit status 3'
want_text "    [one][it's][\$HOME;x] PATH=/sbin:/bin:/usr/sbin:/usr/bin LC_ALL=C HOME=/ fds: pid 1, input -1" out
want_text '    \x1b[31mred' out
want_text '  three: not run, because it comes after one that failed' out
ran boot one two-fail
waits two three
run "$INSTALL" status --root root --log --json
want_text '"ended":"trigger","exit":50' out
want_text '"trigger":{"id":"two","milliseconds":' out
want_text '"output":"[two-fail]' out
want_text '"intact":true' out
# again: what is done is not done twice. One of them by hand
run "$INSTALL" triggers --root root --allow-chroot --json
want_status 50
want_text '"error":{"code":50' out
want_text '"triggers":[{"id":"two","milliseconds":' out
want_text '"result":"failed"},{"id":"three","result":"skipped"}],"triggers_due":[{"argv":["/bin/act","two-fail"]' out
ran two-fail
run "$INSTALL" triggers two --root root --done
want_status 0
want_text '1 trigger is taken as done on root' out
waits three
run "$INSTALL" triggers --root root --allow-chroot
want_status 0
want_text '1 trigger was run on root' out
ran three
waits
run "$INSTALL" triggers --root root --allow-chroot
want_status 0
want_text 'no trigger waits on root: nothing to do' out
run "$INSTALL" status --root root
no_text 'to be run' out

# what a trigger makes is no damage to check, unless that is asked; anything else is
echo here >root/etc/made
run "$INSTALL" check --root root --json
want_status 0
want_text '"local":[{"path":"etc/made","what":["content"' out
want_text '"why":"made"' out
run "$INSTALL" check --root root --strict
want_status 20
echo here >root/etc/a
run "$INSTALL" check --root root
want_status 20
want_text 'etc/a: content' out
echo new >root/etc/a
echo new >root/etc/made
touch -r new/etc/a root/etc/a
touch -r new/etc/made root/etc/made

# the way back changes the same files; what `one` makes has come back with them
run "$INSTALL" rollback --root root
need_status 0
want_text '3 triggers have to be run on root' out
waits boot two three
run "$INSTALL" triggers --root root --done
want_status 0
want_text '3 triggers are taken as done on root' out
waits

# after a phase, what it calls; all of it at the end
run "$INSTALL" apply up.dray --root root --keyring ops.pub --phase kernel
need_status 0
want_text '1 trigger has to be run on root' out
waits boot
run "$INSTALL" triggers --root root --allow-chroot
want_status 0
ran boot
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
waits boot one two three
run "$INSTALL" triggers --root root --done
run "$INSTALL" rollback --root root
need_status 0
run "$INSTALL" triggers --root root --done
want_status 0

# one that would not end, one that dies, one that is not there
sed 's/"paths":\["etc\/a"\],"argv":.*/"paths":["etc\/a"],"argv":["\/bin\/act","sleep"],"timeout":1,"on_failure":"fail"},/; s/two-fail/two-die/
    s/"\/bin\/act","three"/"\/bin\/none"/; s/,"after":\["two"\],"on_failure":"fail"/},{"id":"four","paths":["etc\/c"],"argv":["\/bin\/act","four"]/' up.json >bad.json
run "$DRAY" build --recipe bad.json --key ops.key -o bad.dray
need_status 0
rm -rf root
cp -a base root
run "$INSTALL" apply bad.dray --root root --keyring ops.pub
need_status 0
run "$INSTALL" triggers --root root --allow-chroot
want_status 50
want_text '3 triggers failed; the first: one: took too long and was ended'
want_text '  two: ended ' out
want_text '  three: no such program here' out
ran boot sleep two-die four
waits one two three

# killed while one runs: that has no record, so it waits; those before it do not
rm -rf root
cp -a base root
sed 's/"timeout":1,//' bad.json >long.json
run "$DRAY" build --recipe long.json --key ops.key -o long.dray
run "$INSTALL" apply long.dray --root root --keyring ops.pub
need_status 0
"$INSTALL" triggers --root root --allow-chroot >out 2>err </dev/null &
pid=$!
sleeping 1
kill -9 $pid
wait $pid 2>/dev/null
waits one two three four
# a signal ends it, and is told
"$INSTALL" triggers one --root root --allow-chroot >out 2>err </dev/null &
pid=$!
sleeping 2
kill -TERM $pid
wait $pid
ended $? 'triggers, ended by a signal'
want_status 40
want_text 'those that have no record wait'
waits one two three four

# a list that cannot be read is told, and no upgrade stops for it
echo '{"dray_triggers":1,"due":[{"id":"x"}]}' >$STATE/triggers.json
run "$INSTALL" triggers --root root --allow-chroot
want_status 22
want_text 'hint: it lists what has to be run after upgrades; when you have run that by hand, delete the file'
run "$INSTALL" rollback --root root
want_status 0
waits boot one two three four
