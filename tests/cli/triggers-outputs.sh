#!/bin/sh
# what triggers change comes back with the way back: the same inodes, bytes and times; what they made goes. What cannot be kept
# is told, and its trigger runs again
. "$(dirname "$0")/lib.sh"
is_root || skip "a chroot needs root"

for d in old new; do
	mkdir -p $d/etc/certs/sub $d/usr/bin $d/usr/lib/keep $d/var/lib
	ln -s usr/lib $d/lib
	ln -s usr/bin $d/bin
	for f in a both conf; do
		echo $d >$d/etc/$f
	done
done
cc -static -o old/usr/bin/act "$TOP/tests/cli/act.c" || skip "no static C library"
cp -a old/usr/bin/act new/usr/bin/act
echo gone >old/etc/remade
mkdir -p new/usr/lib/modules/2
echo ko >new/usr/lib/modules/2/a.ko
# the machine's own: no release has them
mkdir base
cp -a old/. base
for f in place swap drop linked; do
	echo "here $f" >base/etc/$f
done
ln base/etc/linked base/etc/other
ln -s a base/etc/sym
echo cache >base/usr/lib/keep/cache
echo one >base/etc/certs/one
ln base/etc/certs/one base/etc/certs/sub/two
ln -s one base/etc/certs/three
mkdir base/etc/certs/empty
chmod 640 base/etc/place
setfattr -n user.note -v here base/etc/place 2>/dev/null
touch -d @1600000000 base/etc/place base/etc/swap base/etc/certs/one
touch -h -d @1500000000 base/etc/sym base/etc/certs base/etc/certs/three
key
cat >up.json <<'END'
{"recipe":1,"product":"demo","version":"1.1","counter":2,"from":[{"source":"old","version":"1.0","counter":1}],"to":"new",
"phases":[{"name":"first","paths":["etc/a"]},{"name":"rest"}],"triggers":[
{"id":"files","paths":["etc/a"],"outputs":["etc/place","etc/swap","etc/drop","etc/sym","etc/made","etc/linked","etc/both"],
 "argv":["/bin/act","files","+/etc/place=new text","@/etc/swap=x","-/etc/drop","@/etc/sym=file now","+/etc/made=m","+/etc/linked=l","@/etc/both=b"]},
{"id":"tree","paths":["etc/a"],"outputs":["etc/certs"],
 "argv":["/bin/act","tree","+/etc/certs/one=1","-/etc/certs/three","+/etc/certs/sub/new=n","+/etc/certs/empty/x=x"]},
{"id":"far","paths":["lib/modules","etc/conf"],"outputs":["lib/keep/cache","lib/modules/2/dep","lib/modules/2/map","etc/remade"],
 "argv":["/bin/act","far","+/lib/keep/cache=c","+/lib/modules/2/dep=d","+/etc/remade=r"]}]}
END
sed -i 's|"lib/modules","etc/conf"|"usr/lib/modules","etc/conf"|' up.json
run "$DRAY" build --recipe up.json --key ops.key -o up.dray
need_status 0
fresh() {
	rm -rf root
	cp -a base root
	seen >before
}
# all that makes an object the very same one: name, type, mode, owner, size, time, inode, links, target, bytes, attributes
seen() {
	(cd root && find . -path ./var -prune -o ! -name . ! -name log -printf '%P %y %m %U %G %s %T@ %i %n %l\n' | sort
	find . -path ./var/lib/dray -prune -o -type f ! -name log -exec sha256sum {} + | sort
	getfattr -h -d -R etc 2>/dev/null)
}
back() {
	rm -f root/log
	run "$INSTALL" rollback --root root --allow-chroot
	need_status 0
	seen >after
	if cmp -s before after; then ok "$1: all is what it was"; else fail "$1: $(diff before after)"; fi
}
apply() {
	run "$INSTALL" apply up.dray --root root --keyring ops.pub "$@"
}
is() {	# FILE TEXT
	if [ "$(cat "root/$1")" = "$2" ]; then ok "$1: $2"; else fail "$1: $(cat "root/$1"), wanted $2"; fi
}

fresh
run "$INSTALL" plan up.dray --root root --keyring ops.pub --json
want_status 0
no_text output-not-kept out
apply --allow-chroot
need_status 0
is etc/place 'new text'
is etc/made m
is etc/certs/one 1
is etc/other 'here linked'
is usr/lib/keep/cache c
is usr/lib/modules/2/dep d
is etc/both b
no_file root/etc/drop
if [ -n "$(find root/etc/place -perm 640)" ]; then ok 'the copy has the mode'; else fail 'the copy has another mode'; fi
back 'after all of it'
no_text 'triggers have to be run' out
no_text 'kept in the stash' out
no_file root/log
run "$INSTALL" status --root root --json
want_text '"generations":[]' out
want_text '"triggers_due":[]' out

# what was called but did not run, ran halfway, or was killed comes back as well
fresh
apply
need_status 0
back 'nothing ran'
fresh
sed 's/act","tree"/act","tree-sleep"/' up.json >slow.json
run "$DRAY" build --recipe slow.json --key ops.key -o slow.dray
"$INSTALL" apply slow.dray --root root --keyring ops.pub --allow-chroot >out 2>err </dev/null &
pid=$!
n=0
until grep -q tree root/log 2>/dev/null || [ $n -gt 500 ]; do
	n=$((n + 1))
	sleep 0.02
done
kill -9 $pid
wait $pid 2>/dev/null
back 'killed in a trigger'

# a failure that asks for the way back
fresh
sed 's/act","far"/act","far-fail"/; s/"id":"far"/"id":"far","on_failure":"rollback"/' up.json >bad.json
run "$DRAY" build --recipe bad.json --key ops.key -o bad.dray
need_status 0
run "$INSTALL" apply bad.dray --root root --keyring ops.pub --allow-chroot
want_status 41
rm -f root/log
seen >after
if cmp -s before after; then ok 'failed: all is what it was'; else fail "failed: $(diff before after)"; fi

# a cut anywhere, forward and back: any later run goes on, and what comes back is what it was
cut() {	# N COMMAND...: killed at its Nth call that changes a file
	c_n=$1
	shift
	"$OUT/killat" "$c_n" calls "$INSTALL" "$@" --root root >out 2>err </dev/null
	ended $? "$1, killed at call $c_n"
}
goes_back() {
	run "$INSTALL" resume --root root --allow-chroot
	want_status 0
	run "$INSTALL" status --root root --json
	case $(cat out) in
	*'"generations":[]'*) ;;
	*)	run "$INSTALL" rollback --root root --allow-chroot
		want_status 0 ;;
	esac
	rm -f root/log
	seen >after
	cmp -s before after || fail "$1: $(diff before after)"
}
if [ -x "$OUT/killat" ]; then
	for what in apply rollback; do
		fresh
		[ $what = apply ] || { apply --allow-chroot; rm -f root/log; }
		[ $what = apply ] && set -- apply up.dray --keyring ops.pub --allow-chroot -j1 || set -- rollback
		cut 0 "$@"
		need_status 0
		total=$(wc -l <calls)
		n=1
		while [ $n -le "$total" ]; do
			fresh
			[ $what = apply ] || { apply --allow-chroot; rm -f root/log; }
			cut $n "$@"
			[ "$status" = 137 ] || fail "status $status at call $n"
			goes_back "$what, cut at $n of $total"
			n=$((n + total / 8 + 1))
		done
		[ "$total" -gt 30 ] && ok "$what: $total calls" || fail "$what: $total calls"
	done
fi

# phases: what the first one's triggers change is kept with the first, and all goes back as one
fresh
apply --phase first --allow-chroot
need_status 0
is etc/place 'new text'
apply --allow-chroot
need_status 0
back 'two phases'
fresh
apply --phase first --allow-chroot
need_status 0
back 'one phase'

# kept for the way back until it is given up; what was there is freed then
fresh
apply --allow-chroot
run "$INSTALL" forget --root root
want_status 0
want_text 'freed' out
is etc/place 'new text'
run "$INSTALL" check --root root
want_status 0

# an output that cannot be kept is told, and its trigger runs again
fresh
echo old >old/etc/certs/rel
echo new >new/etc/certs/rel
echo gone >old/etc/certs/gone
cp -p old/etc/certs/rel old/etc/certs/gone base/etc/certs
run "$DRAY" build --recipe up.json --key ops.key -o up.dray
need_status 0
fresh
run "$INSTALL" plan up.dray --root root --keyring ops.pub
want_text 'made by triggers, and not kept for the way back:' out
want_text '  etc/certs:' out
want_text 'the upgrade changes what it holds; what makes it runs again then' out
apply --allow-chroot
need_status 0
rm -f root/log
run "$INSTALL" rollback --root root --allow-chroot
want_status 0
if [ "$(cat root/log)" = tree ]; then ok 'tree ran again'; else fail "ran again: $(cat root/log)"; fi
is etc/certs/rel old
is etc/certs/gone gone
is etc/place 'here place'

# edited between plan and switch: found before anything is changed
fresh
run "$INSTALL" plan up.dray --root root --keyring ops.pub --json
id=$(sed 's/.*"plan_id":"\([0-9a-f]*\)".*/\1/' out)
rm root/etc/sym
mkdir root/etc/sym
mkfifo root/etc/sym/pipe
apply --plan "$id"
want_status 24

# the state folder is no output, nor is what holds it: a copy of that would have no end. That is told, and its trigger runs again
cat >up.json <<'END'
{"recipe":1,"product":"demo","version":"1.1","counter":2,"from":[{"source":"old","version":"1.0","counter":1}],"to":"new",
"triggers":[{"id":"state","paths":["etc/a"],"outputs":["alias/data","srv/data/state/x"],"argv":["/bin/act","state"]},
{"id":"hidden","paths":["etc/a"],"outputs":["etc/sym","hidden/in/side","hidden/it"],"argv":["/bin/act","hidden"]}]}
END
run "$DRAY" build --recipe up.json --key ops.key -o up.dray
need_status 0
mkdir -p base/hidden/in base/srv/data/state
chmod 700 base/hidden base/srv/data/state
ln -s srv base/alias
fresh
run "$INSTALL" plan up.dray --root root --keyring ops.pub --state srv/data/state
want_status 0
want_text '  srv/data:' out
want_text '  srv/data/state/x:' out
want_text 'the state folder of dray-install lies there; what makes it runs again then' out
apply --allow-chroot --state srv/data/state
want_status 0
rm -f root/log
run "$INSTALL" rollback --root root --allow-chroot --state srv/data/state
want_status 0
if [ "$(cat root/log)" = state ]; then ok 'state ran again'; else fail "ran again: $(cat root/log)"; fi

# who may not look at one is told so, of that one and no other
fresh
as_nobody "$INSTALL" plan up.dray --root root --keyring ops.pub >out 2>err
ended $? 'plan of a user without rights'
want_status 0
want_text '  hidden/in/side:' out
want_text '  hidden/it:' out
want_text 'this user cannot look at it; what makes it runs again then' out
no_text etc/sym out
