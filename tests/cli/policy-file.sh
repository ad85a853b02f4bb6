#!/bin/sh
# --policy FILE: what a site has decided about paths beforehand, as lines and as JSON; both ways, and what check says then
. "$(dirname "$0")/lib.sh"

mkdir -p old/etc/ssh old/usr old/opt/x old/srv/d new/etc/ssh new/usr new/opt/x new/srv/d old/var/lib new/var/lib
for f in etc/ssh/sshd etc/ntp etc/login usr/a opt/x/f 'etc/a b' srv/d/f; do
	echo "1 $f" >"old/$f" && echo "2 $f" >"new/$f"
done
echo same >old/etc/same && echo same >new/etc/same
echo 1 >old/usr/gone && echo 2 >new/usr/added && echo 1 >old/opt/gone && echo 2 >new/opt/added
find old new -exec touch -h -d @1700000000 {} +
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0

cat >site.policy <<'X'
# local decisions
/etc/ssh/    mine
etc/ntp      mine if changed
etc/a\ b     ignore
etc/login    theirs
etc/same     strict
opt/**       ignore if added
opt/**       ignore if removed
srv/d        redirect
never/*      mine
X
cat >site.json <<'X'
{ "dray_policy": 1, "rules": [
  { "path": "etc/ssh", "action": "mine" }, { "path": "etc/ntp", "action": "mine", "if": "changed" },
  { "path": "etc/a\\ b", "action": "ignore" }, { "path": "etc/login", "action": "theirs" },
  { "path": "etc/same", "action": "strict" }, { "path": "opt/**", "action": "ignore", "if": "added" },
  { "path": "opt/**", "action": "ignore", "if": "removed" }, { "path": "srv/d", "action": "redirect" },
  { "path": "never/*", "action": "mine" } ] }
X
cp -a old root
for f in etc/ssh/sshd etc/login usr/a; do
	echo mine >root/$f
done
chmod 600 root/etc/same
mv root/srv/d root/srv/real && ln -s real root/srv/d
cp -a root before
tree_seen root >snap
run "$INSTALL" plan up.dray --root root --keyring ops.pub --policy site.policy
want_status 0
want_text 'local edits, kept by the policy:' out
want_text '  etc/ssh/sshd: edited here; the policy keeps it' out
want_text '  etc/a b: left alone, as the policy says' out
want_text '  opt/added: not there, and not added, as the policy says' out
want_text '  opt/gone: left alone, as the policy says' out
want_text 'site.policy, line 10: decides about no path of this bundle' out
want_text '--policy site.policy' out
run "$INSTALL" plan up.dray --root root --keyring ops.pub --policy site.policy --json
id=$(sed -n 's/.*"plan_id":"\([0-9a-f]*\)".*/\1/p' out)
want_text '"rules_unused":[10]' out
run "$INSTALL" plan up.dray --root root --keyring ops.pub --policy site.json --json
want_text "\"plan_id\":\"$id\"" out
want_text '"rules_unused":[9]' out
tree_seen root >now
want_same snap now
# the rules are part of the plan
run "$INSTALL" apply up.dray --root root --keyring ops.pub --symlink srv/d=redirect --plan "$id"
want_status 24
run "$INSTALL" apply up.dray --root root --keyring ops.pub --policy site.json --plan "$id"
want_status 0
holds() {	# FILE TEXT
	[ "$(cat "root/$1")" = "$2" ] && ok "$1: $2" || fail "$1: $(cat "root/$1"), wanted $2"
}
after() {
	holds etc/ssh/sshd mine
	holds etc/ntp '2 etc/ntp'	# nobody had edited it
	holds 'etc/a b' '1 etc/a b'
	holds etc/login '2 etc/login'
	[ "$(stat -c %a root/etc/same)" = 644 ] && ok 'strict sets a mode back' || fail 'the mode stays'
	holds usr/a '2 usr/a'
	holds opt/x/f '2 opt/x/f'
	holds opt/gone 1
	no_file root/opt/added
	no_file root/usr/gone
	holds usr/added 2
	holds srv/real/f '2 srv/d/f'
	[ "$(readlink root/srv/d)" = real ] || fail 'the symlink is gone'
}
after
run "$INSTALL" check --root root
want_status 0
want_text 'by local decision' out
run "$INSTALL" check --root root --json
want_text '"policy"' out
echo damaged >root/etc/ntp
run "$INSTALL" check --root root
want_status 20
want_text 'etc/ntp: content' out
echo '2 etc/ntp' >root/etc/ntp && touch -d @1700000000 root/etc/ntp
run "$INSTALL" status --root root --export e -q
run "$DRAY" report e
want_status 0
# once more: nothing to do, and the decisions stay
run "$INSTALL" apply up.dray --root root --keyring ops.pub --policy site.policy
want_status 0
after
run "$INSTALL" rollback --root root
want_status 0
same_tree before root

# killed in the switch: the next run needs no policy to finish what was decided
if command -v strace >/dev/null; then
	for n in 1 3 6; do
		rm -rf root && cp -a before root
		strace -f -qq -o /dev/null -e trace=renameat2 -e "inject=renameat2:signal=KILL:when=$n" \
		    "$INSTALL" apply -q up.dray --root root --keyring ops.pub --policy site.policy -j1
		run "$INSTALL" resume --root root
		want_status 0
		after
	done
fi

# a hard link whose first name is mine: the other names are the release's
rm -rf old new root
for t in old new; do
	mkdir -p $t/bin $t/var/lib
	echo $t >$t/bin/a && ln $t/bin/a $t/bin/b && ln $t/bin/a $t/bin/c
done
run "$DRAY" build --from old --to new --product demo --version 3 --counter 3 --key ops.key -o links.dray
need_status 0
cp -a old root
rm root/bin/a && echo mine >root/bin/a
echo 'bin/a ignore' >one.policy
run "$INSTALL" apply links.dray --root root --keyring ops.pub --policy one.policy
want_status 0
[ "$(cat root/bin/a root/bin/b root/bin/c | tr '\n' ' ')" = 'mine new new ' ] && ok 'each as it should be' || fail 'a link went wrong'
[ root/bin/b -ef root/bin/c ] && ok 'still one file' || fail 'two files'
run "$INSTALL" check --root root
want_status 0
want_text 'bin/a: content' out
want_text '(policy)' out
run "$INSTALL" repair links.dray bin/a --root root --keyring ops.pub
want_status 0
run "$INSTALL" check --strict --root root
want_status 0
[ root/bin/a -ef root/bin/c ] && ok 'by name it comes back, as one file' || fail 'two files'

# what is mine keeps its directory; a directory that has to give way for a file cannot be kept in part
rm -rf old new root
mkdir -p old/d/e old/to-file new old/var/lib new/var/lib
echo 1 >old/d/e/f && echo 1 >old/d/e/g && echo 1 >old/to-file/x && echo 2 >new/to-file
run "$DRAY" build --from old --to new --product demo --version 4 --counter 4 --key ops.key -o dirs.dray
need_status 0
cp -a old root
echo mine >root/d/e/f
echo '** mine' >mine.policy
run "$INSTALL" apply dirs.dray --root root --keyring ops.pub --policy mine.policy
want_status 0
[ "$(cat root/d/e/f)" = mine ] && ok 'it stays, and where it lies' || fail 'it is gone'
no_file root/d/e/g
want_text 'removed by the release, left because of what they hold:' out
run "$INSTALL" rollback --root root
want_status 0
# what the profile or another rule says about its directories does not take it along, and they are no left-overs then
for how in mine ignore; do
	for others in '' '** theirs' '** strict'; do
		rm -rf root before && cp -a old root
		[ $how = ignore ] || echo mine >root/d/e/f
		cp -a root before
		cp root/d/e/f want
		printf '%s\n' "d/e/f $how" "$others" >one.policy
		profile=preserve
		[ -n "$others" ] || profile=strict
		run "$INSTALL" apply dirs.dray --root root --keyring ops.pub --policy one.policy --profile $profile
		want_status 0
		want_same want root/d/e/f
		no_file root/d/e/g
		want_text '  d/e: stays, because it holds d/e/f' out
		no_text 'parked' out
		run "$INSTALL" check --root root
		want_status 0
		run "$INSTALL" repair dirs.dray --root root --keyring ops.pub
		want_status 0
		no_text 'to be repaired' out
		want_same want root/d/e/f
		run "$INSTALL" rollback --root root
		want_status 0
		same_tree before root
	done
done
rm -rf root && cp -a old root
echo mine >root/to-file/x
tree_seen root | grep -v var/lib/dray >snap
run "$INSTALL" apply dirs.dray --root root --keyring ops.pub --policy mine.policy
want_status 20
want_text '1 conflict: to-file has to give way, but holds to-file/x'
tree_seen root | grep -v var/lib/dray >now
want_same snap now

# wrong files: 2 with the line, nothing looked at
wrong() {	# TEXT LINE...
	text=$1
	shift
	printf '%s\n' "$@" >bad.policy
	tree_seen root >snap
	run "$INSTALL" apply links.dray --root root --keyring ops.pub --policy bad.policy
	want_status 2
	want_text "--policy bad.policy: $text"
	tree_seen root >now
	want_same snap now
}
wrong 'line 2: no action is called keep' '# x' 'etc keep'
wrong 'line 1: no rule: a pattern, an action' 'etc'
wrong 'line 1: no rule: a pattern, an action' 'etc mine when added'
wrong 'line 1: no case is called always' 'etc mine if always'
wrong 'line 1: the pattern' 'etc/[ mine'
wrong 'line 3: redirect is about one directory' '' '' 'a/* redirect'
wrong 'rule 1: ' '{ "dray_policy": 1, "rules": [ { "path": "a", "action": "keep" } ] }'
wrong 'the policy: ' '{ "dray_policy": 1, "rules": [], "more": 1 }'
mkfifo pipe
run "$INSTALL" plan links.dray --root root --keyring ops.pub --policy pipe
want_status 2
want_text '--policy pipe: pipe is not a regular file'
echo 'nodir redirect' >bad.policy
run "$INSTALL" plan links.dray --root root --keyring ops.pub --policy bad.policy
want_status 2
want_text '--policy: nodir is no directory of the release'

# a directory that is a symlink here and that the release leaves as it is
rm -rf old new root
mkdir -p old/lk old/var/lib new/lk new/var/lib
echo 1 >old/lk/f && echo 2 >new/lk/f && echo 2 >new/lk/n && echo 1 >old/x && echo 2 >new/x
run "$DRAY" build --from old --to new --product demo --version 5 --counter 5 --key ops.key -o lk.dray
need_status 0
for rule in ignore mine; do
	rm -rf root
	cp -a old root && mv root/lk root/real && ln -s real root/lk
	echo "lk $rule" >lk.policy
	run "$INSTALL" apply lk.dray --root root --keyring ops.pub --policy lk.policy
	want_status 0
	[ "$(cat root/real/f root/x | tr '\n' ' ')" = '1 2 ' ] && ok 'left alone beneath, done elsewhere' || fail 'otherwise'
	run "$INSTALL" check --root root
	want_status 0
done
run "$INSTALL" plan links.dray --root root --keyring ops.pub --policy none
want_status 2
want_text '--policy none: no such file'
