#!/bin/sh
# the site's own programs around a switch and a way back: in their order, with facts on standard input; one that says no
# before the switch keeps the tree as it is, one behind it is told (50). Those that others could change are refused
. "$(dirname "$0")/lib.sh"
is_root || skip 'hooks have to lie in folders that only root may change'
H=$(mktemp -d /dray-hooks.XXXXXX) || skip 'no folder of its own in /'
trap 'rm -rf "$H"; at_end' EXIT
chmod 755 "$H"

mkdir -p old/etc old/var/lib
echo 1 >old/etc/a
cp -a old new
echo 2 >new/etc/a
cp -a new next
echo 3 >next/etc/a
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
run "$DRAY" build --from new --to next --product demo --version 3 --counter 3 --key ops.key -o next.dray
need_status 0
cp -a old root

hook() {	# POINT/NAME LINE...
	mkdir -p "$H/${1%/*}"
	h_file=$H/$1
	shift
	printf '%s\n' '#!/bin/sh' "$@" >"$h_file"
	chmod 755 "$h_file"
}
says() {	# all points, each its name and what it reads
	for p in before-plan before-commit after-commit after-rollback; do
		hook $p/20-second "echo $p/20 >>$T/ran"
		hook $p/10-first "echo $p/10 >>$T/ran; cat >$T/facts.$p; env | sort >$T/env; echo \"words of $p\""
	done
}
ran() {
	touch ran
	if [ "$(tr '\n' ' ' <ran)" = "$*${*:+ }" ]; then ok "ran: $*"; else fail "ran: $(tr '\n' ' ' <ran), wanted $*"; fi
	rm -f ran
}
apply() {
	run "$INSTALL" apply "$@" --root root --keyring ops.pub --hooks "$H"
}

# an upgrade, and the way back
says
export SECRET=yes
apply up.dray
want_status 0
want_text 'hook before-commit/10-first' out
want_text '    words of after-commit' out
ran before-plan/10 before-plan/20 before-commit/10 before-commit/20 after-commit/10 after-commit/20
want_text '"dray_hook":1' facts.before-plan
want_text '"point":"before-commit"' facts.before-commit
want_text '"verb":"apply"' facts.before-commit
want_text '"root":"root"' facts.before-commit
want_text '"state":"var/lib/dray"' facts.before-commit
want_text '"bundle":{"counter":2,"id":"' facts.before-commit
want_text '"plan_id":"' facts.before-commit
want_text '"updated":1' facts.before-commit
want_text '"result":"done"' facts.after-commit
want_text 'PATH=/sbin:/bin:/usr/sbin:/usr/bin' env
no_text SECRET env
run "$INSTALL" status --root root --log --json
want_text '"hook":"10-first","output":"words of before-commit\n","point":"before-commit","result":"done"' out
want_text '"ended":"hooks"' out
want_text '"output":"words of after-commit\n"' out
want_text '"intact":true' out
run "$INSTALL" rollback --root root --hooks "$H" --json
want_status 0
want_text '"hooks":[{"hook":"10-first","output":"words of before-commit\n","point":"before-commit","result":"done"}' out
ran before-commit/10 before-commit/20 after-rollback/10 after-rollback/20
want_text '"verb":"rollback"' facts.after-rollback
want_text '"result":"back"' facts.after-rollback
want_same old/etc/a root/etc/a

# only names of letters, digits, - and _; what is not executable is off
hook before-plan/30.sh "echo dot >>$T/ran"
hook before-plan/40 "echo off >>$T/ran"
chmod 644 "$H/before-plan/40"
run "$INSTALL" plan up.dray --root root --keyring ops.pub
want_status 0
ran
apply up.dray --no-triggers
ran before-plan/10 before-plan/20 before-commit/10 before-commit/20 after-commit/10 after-commit/20
apply up.dray
want_status 0
ran before-plan/10 before-plan/20
run "$INSTALL" rollback --root root --no-hooks
want_status 0
ran

# one that says no: before the plan not even the state folder is touched
rm -rf root
cp -a old root
tree_snapshot root >snap
hook before-plan/15-no 'echo "not on a" >&2; echo "Monday" >&2; exit 7'
apply up.dray
want_status 22
want_text 'hook before-plan/15-no: exit status 7: not on a|Monday'
want_text 'hint: nothing was changed; repair what it asks for, or go on without with --no-hooks'
want_unchanged root snap
ran before-plan/10
rm "$H/before-plan/15-no"
# ... before the switch: the tree is as it was, and those that began something hear of it
hook before-commit/15-no 'echo "backup failed"; exit 1'
apply up.dray --json
want_status 22
want_text 'hook before-commit/15-no: exit status 1: backup failed'
want_text '"error":{"code":22' out
no_text 'nothing live was changed'
ran before-plan/10 before-plan/20 before-commit/10 after-rollback/10 after-rollback/20
want_text '"result":"unchanged"' facts.after-rollback
same_tree old/etc root/etc
[ -z "$(ls root/var/lib/dray/tx)" ] && ok 'nothing is left of it' || fail "left: $(ls root/var/lib/dray/tx)"
run "$INSTALL" status --root root --log --json
want_text '"ended":"failed","exit":22' out
apply up.dray --no-hooks
want_status 2
want_text '--hooks and --no-hooks exclude each other'
run "$INSTALL" apply up.dray --root root --keyring ops.pub --no-hooks
want_status 0
ran
apply next.dray
want_status 22
run "$INSTALL" rollback --root root --hooks "$H"
want_status 22
want_same new/etc/a root/etc/a
want_text 'hook before-commit/15-no: exit status 1'
rm -f "$H/before-commit/15-no" ran

# one behind the switch that fails: the others run all the same, and it is told
hook after-commit/15-bad 'exit 3'
apply next.dray --json
want_status 50
want_text 'hook after-commit/15-bad: exit status 3'
want_text 'hint: the files stay as they are; do by hand what it is for'
want_text '"error":{"code":50' out
want_text '"result":"failed"' out
ran before-plan/10 before-plan/20 before-commit/10 before-commit/20 after-commit/10 after-commit/20
want_same next/etc/a root/etc/a
rm "$H/after-commit/15-bad"

# what others could change is not run, and nothing is
refused() {	# PATH that is told
	tree_snapshot root >snap
	rm -f ran
	run "$INSTALL" rollback --root root --hooks "$H"
	want_status 22
	want_text "$1"
	want_unchanged root snap
	ran
}
chmod 775 "$H/after-rollback/10-first"
refused "$H/after-rollback/10-first belongs to uid 0 with mode 0775: others could change what is run as a hook"
chmod 755 "$H/after-rollback/10-first"
chown 1234 "$H/after-commit/10-first"
refused "$H/after-commit/10-first belongs to uid 1234"
chown 0 "$H/after-commit/10-first"
chmod 777 "$H/before-commit"
refused "$H/before-commit belongs to uid 0 with mode 0777"
chmod 755 "$H/before-commit"
chmod 757 "$H"
refused "$H belongs to uid 0 with mode 0757"
chmod 755 "$H"
ln -s /bin/true "$H/before-plan/50-link"
refused "$H/before-plan/50-link is no regular file"
rm "$H/before-plan/50-link"
mv "$H/before-plan" "$H/elsewhere"
ln -s elsewhere "$H/before-plan"
refused "$H/before-plan is no directory"
want_text 'hint: nothing was changed; hooks lie in a directory itself'
rm "$H/before-plan"
mv "$H/elsewhere" "$H/before-plan"
mkdir open && cp -a "$H/before-plan" open/ && chmod 1777 open
run "$INSTALL" rollback --root root --hooks open
want_status 22
want_text 'others could change what is run as a hook'
run "$INSTALL" rollback --root root --hooks none
want_status 2
want_text 'look for hooks in none: no such file or directory'

# one that hangs ends with a signal to the run
hook before-commit/30-hang "echo hangs >>$T/ran; exec sleep 600"
"$INSTALL" rollback --root root --hooks "$H" >out 2>err </dev/null &
pid=$!
while ! grep -q hangs ran 2>/dev/null; do
	kill -0 $pid 2>/dev/null || { fail "ended too soon: $(cat out err)"; exit 1; }
	sleep 0.02
done
kill -TERM $pid
wait $pid
ended $? 'rollback, ended by a signal'
want_status 40
want_same next/etc/a root/etc/a
rm "$H/before-commit/30-hang"
rm -f ran
run "$INSTALL" rollback --root root --hooks "$H"
want_status 0
want_same new/etc/a root/etc/a

# who finishes what was cut tells it too; a recovery does not hang on hooks that will not do, and tells that
cut() {
	rm -rf root ran
	cp -a old root
	"$OUT/killat" "$1" calls "$INSTALL" apply up.dray --root root --keyring ops.pub -j1 --no-hooks >/dev/null 2>&1 </dev/null
}
if [ -x "$OUT/killat" ]; then
	cut 0
	n=$(sed -n 's/ syncfs$//p' calls | tail -n 1)
	cut "${n:-0}"
	if [ -n "$n" ]; then
		run "$INSTALL" resume --root root --hooks "$H"
		want_status 0
		want_same new/etc/a root/etc/a
		ran after-commit/10 after-commit/20
		want_text '"verb":"resume"' facts.after-commit
		want_text '"to":{' facts.after-commit
		cut "$n"
		run "$INSTALL" resume --root root --hooks "$H" --back
		want_status 0
		want_same old/etc/a root/etc/a
		ran after-rollback/10 after-rollback/20
		cut "$n"
		chmod 777 "$H/before-plan"
		run "$INSTALL" resume --root root --hooks "$H"
		want_status 50
		want_text 'before-plan belongs to uid 0 with mode 0777: others could change what is run as a hook'
		want_same new/etc/a root/etc/a
		ran
		run "$INSTALL" resume --root root --hooks "$H"
		want_status 0
	fi
fi
