#!/bin/sh
# apply runs what it calls, each trigger once and recorded, in order and phase by phase; what a failure means is what the
# trigger says; what may not run here waits
. "$(dirname "$0")/lib.sh"
is_root || skip "a chroot needs root"

mkdir -p old/etc old/bin new/etc new/bin
cc -static -o old/bin/act "$TOP/tests/cli/act.c" || skip "no static C library"
cp -a old/bin/act new/bin/act
for d in old new; do
	for f in a b c kernel; do
		echo $d >$d/etc/$f
	done
done
cp -a old base
key
recipe() {	# NAME TRIGGER...: a bundle of that name
	r_name=$1
	shift
	{
		printf '{"recipe":1,"product":"demo","version":"1.1","counter":2,"from":[{"source":"old","version":"1.0","counter":1}],'
		printf '"to":"new","phases":[{"name":"kernel","paths":["etc/kernel"]},{"name":"rest"}],"triggers":[\n'
		r_comma=
		for r_t; do
			printf '%s%s' "$r_comma" "$r_t"
			r_comma=,
		done
		printf ']}\n'
	} >"$r_name.json"
	run "$DRAY" build --recipe "$r_name.json" --key ops.key -o "$r_name.dray"
	need_status 0
}
fresh() {
	rm -rf root
	cp -a base root
}
apply() {
	run "$INSTALL" apply "$@" --root root --keyring ops.pub
}
waits() {
	run "$INSTALL" status --root root --json
	sed 's/.*"triggers_due":\[\(.*\)\].*/\1/' out | grep -o '"id":"[a-z]*"' | cut -d '"' -f 4 | tr '\n' ' ' >ids
	if [ "$(cat ids)" = "$*${*:+ }" ]; then ok "waiting: $*"; else fail "waiting: $(cat ids), wanted $*"; fi
}
ran() {
	touch root/log
	if [ "$(tr '\n' ' ' <root/log)" = "$*${*:+ }" ]; then ok "ran: $*"; else fail "ran: $(tr '\n' ' ' <root/log), wanted $*"; fi
	rm -f root/log
}
recorded() {	# ID TIMES: so many records of its end
	run "$INSTALL" status --root root --log --json
	n=$(grep -o "\"trigger\":{\"id\":\"$1\"" out | wc -l)
	if [ "$n" -eq "$2" ]; then ok "$1 is recorded $2 times"; else fail "$1 is recorded $n times, wanted $2"; fi
	want_text '"intact":true' out
}

# in order, and those that nothing calls are named. The running system's are not for this root
recipe order '{"id":"one","paths":["etc/b"],"argv":["/bin/act","one"]}' '{"id":"idle","paths":["usr"],"argv":["/bin/act","idle"]}' \
    '{"id":"live","paths":["etc/a"],"argv":["/bin/act","live"],"needs":"root-live"}' \
    '{"id":"two","paths":["etc/a"],"argv":["/bin/act","two"],"after":["one"],"needs":"none"}'
fresh
run "$INSTALL" plan order.dray --root root --keyring ops.pub
want_text 'after it, apply runs with --allow-chroot:' out
want_text 'not here: it needs the running system' out
apply order.dray --allow-chroot
want_status 0
want_text 'trigger 1 of 2:' out
want_text '  one: done, 0.' out
want_text '  live: not run, because it needs the running system, and root is another root' out
want_text 'not run, as nothing that they wait for changed: idle' out
want_text 'root is now demo 1.1' out
want_text '1 trigger has to be run on root' out
ran one two
waits live
recorded one 1
recorded live 0
# it waits on, whatever is run
run "$INSTALL" triggers --root root --allow-chroot
want_status 0
want_text '  live: not run, because it needs the running system' out
ran
run "$INSTALL" rollback --root root --allow-chroot
want_status 0
ran one two
waits live
fresh
apply order.dray --allow-chroot --json
want_status 0
want_text '"result":"done"},{"id":"live","result":"not-here"}' out
want_text '"triggers_due":[{"argv":["/bin/act","live"],"id":"live"}]' out
# told not to: they wait, and resume or the next apply runs them
fresh
apply order.dray --allow-chroot --no-triggers
want_status 0
want_text 'none was run, because it was told not to run any' out
ran
waits one live two
run "$INSTALL" resume --root root
want_status 0
ran
run "$INSTALL" resume --root root --allow-chroot
want_status 0
want_text 'nothing was interrupted on root: nothing to do' out
ran one two
waits live
fresh
apply order.dray --no-triggers
apply order.dray --allow-chroot
want_status 0
want_text 'is there already: nothing to do on root' out
ran one two

# warn: told, and what comes after it runs; fail: 50, what comes after it does not run, the others do. The upgrade stays
recipe warn '{"id":"w","paths":["etc/a"],"argv":["/bin/act","w-fail"],"on_failure":"warn"}' \
    '{"id":"x","paths":["etc/a"],"argv":["/bin/act","x"],"after":["w"]}'
fresh
apply warn.dray --allow-chroot
want_status 0
want_text '  w: exit status 3' out
want_text '    [w-fail]' out
ran w-fail x
waits w
# what failed is not tried again by itself, only by `triggers`
run "$INSTALL" resume --root root --allow-chroot
want_status 0
ran
run "$INSTALL" triggers --root root --allow-chroot
want_status 0
ran w-fail
recipe fail '{"id":"f","paths":["etc/a"],"argv":["/bin/act","f-fail"]}' \
    '{"id":"x","paths":["etc/a"],"argv":["/bin/act","x"],"after":["f"]}' '{"id":"y","paths":["etc/a"],"argv":["/bin/act","y"]}'
fresh
apply fail.dray --allow-chroot
want_status 50
want_text 'dray-install: f: exit status 3' err
want_text 'hint: the files stay as they are; repair the cause, then: dray-install triggers --root root --allow-chroot'
want_text 'root is now demo 1.1' out
want_text '  x: not run, because it comes after one that failed' out
ran f-fail y
waits f x
want_same root/etc/a new/etc/a
fresh
apply fail.dray --allow-chroot --json
want_status 50
want_text '"error":{"code":50' out
want_text '"result":"done"' out
run "$INSTALL" resume --root root --allow-chroot
want_status 0
ran f-fail y

# rollback: all of it goes back, and the triggers run for what is there again
recipe back '{"id":"x","paths":["etc/a"],"argv":["/bin/act","x"]}' \
    '{"id":"b","paths":["etc/a"],"argv":["/bin/act","b-fail"],"on_failure":"rollback"}' '{"id":"y","paths":["etc/a"],"argv":["/bin/act","y"]}'
fresh
apply back.dray --allow-chroot
want_status 41
want_text 'a trigger failed that asks for the way back, so everything is as it was: b: exit status 3'
ran x b-fail x b-fail y
rm -rf root/var
same_tree base root
fresh
apply back.dray --allow-chroot
run "$INSTALL" status --root root --log --json
want_text '"ended":"back","exit":41' out
want_text '"why":"b: exit status 3"' out
want_text '"intact":true' out
run "$INSTALL" rollback --root root
want_status 22
want_text 'there is nothing to go back to'
# ... all phases of it
fresh
apply back.dray --phase kernel --allow-chroot
want_status 0
ran
apply back.dray --allow-chroot
want_status 41
rm -rf root/var root/log
same_tree base root
# ... by `triggers` and `resume` too, and never an older upgrade
fresh
apply back.dray
want_status 0
run "$INSTALL" resume --root root --allow-chroot
want_status 41
rm -rf root/var root/log
same_tree base root

# one that would not end
recipe slow '{"id":"s","paths":["etc/a"],"argv":["/bin/act","s-sleep"],"timeout":1}'
fresh
apply slow.dray --allow-chroot
want_status 50
want_text 's: took too long and was ended'

# phases: each after the one that calls it, or after the one that it names
recipe phases '{"id":"k","paths":["etc/kernel"],"argv":["/bin/act","k"]}' \
    '{"id":"late","paths":["etc/kernel"],"argv":["/bin/act","late"],"phase":"rest"}' '{"id":"r","paths":["etc/a"],"argv":["/bin/act","r"],"phase":"kernel"}'
fresh
apply phases.dray --phase kernel --allow-chroot
want_status 0
ran k
apply phases.dray --allow-chroot
want_status 0
ran k late r

# one that breaks the list of those that wait: it is told that the files are the new ones all the same, by no status of a refusal
recipe broken '{"id":"b","paths":["etc/a"],"argv":["/bin/act","b","!/var/lib/dray/triggers.json"]}'
fresh
apply broken.dray --allow-chroot
want_status 1
want_text 'dray-install: the files are switched, but what is run after that stopped: var/lib/dray/triggers.json: '
want_text 'hint: it lists what has to be run after upgrades; when you have run that by hand, delete the file'
want_same root/etc/a new/etc/a
rmdir root/var/lib/dray/triggers.json
run "$INSTALL" rollback --root root --no-triggers
want_status 0
want_same root/etc/a old/etc/a

# killed while each of three runs: resume runs it and what is left, and those before are recorded once
recipe kill '{"id":"one","paths":["etc/a"],"argv":["/bin/act","one"]}' '{"id":"two","paths":["etc/a"],"argv":["/bin/act","two"]}' \
    '{"id":"three","paths":["etc/a"],"argv":["/bin/act","three"]}'
for which in one two three; do
	sed "s/\"\/bin\/act\",\"$which\"/\"\/bin\/act\",\"$which-sleep\"/" kill.json >killed.json
	run "$DRAY" build --recipe killed.json --key ops.key -o killed.dray
	need_status 0
	fresh
	"$INSTALL" apply killed.dray --root root --keyring ops.pub --allow-chroot >out 2>err </dev/null &
	pid=$!
	until grep -q sleep root/log 2>/dev/null; do
		kill -0 $pid 2>/dev/null || { fail "apply ended too soon: $(cat out err)"; exit 1; }
		sleep 0.02
	done
	kill -9 $pid
	wait $pid 2>/dev/null
	recorded $which 0
	touch root/awake
	run "$INSTALL" resume --root root --allow-chroot
	want_status 0
	waits
	for id in one two three; do
		recorded $id 1
	done
done
