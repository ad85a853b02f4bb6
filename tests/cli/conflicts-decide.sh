#!/bin/sh
# conflicts: listed, shown, decided one by one in any order; plan and apply keep to it, other hosts can use it
. "$(dirname "$0")/lib.sh"
key

mkdir -p old/etc old/var/lib
for f in a b c clean 'odd name#*'; do seq 1 40 >"old/etc/$f"; done
printf 'bin\0one\n' >old/etc/blob
cp -a old new
for f in a b c clean 'odd name#*'; do sed -i 's/^20$/twenty/' "new/etc/$f"; done
printf 'bin\0two\n' >new/etc/blob
find old new -exec touch -h -d @1700000000 {} +
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --config 'etc/**' --key ops.key -o up.dray
need_status 0
cp -a old root
for f in a b c 'odd name#*'; do sed -i 's/^20$/zwanzig/' "root/etc/$f"; done
sed -i 's/^1$/one/' root/etc/clean
printf 'bin\0mine\n' >root/etc/blob
cp -a root before

conflicts() {
	run "$INSTALL" conflicts up.dray --root root --keyring ops.pub "$@"
}
untouched() {	# the tree but for the state
	same_tree before root
}

# list and show change nothing at all
tree_seen root >snap
conflicts
want_status 20
want_text '5 of 5 conflicts undecided'
want_text '  etc/a: 1 place where both changed it' out
want_text '  etc/blob: edited here, changed by the release: ' out
no_text 'etc/clean' out
conflicts --json
want_status 20
want_text '"path":"etc/a","places":1' out
want_text '"undecided":5' out
want_text '"code":20' out
conflicts --show etc/a
want_status 0
want_text '@@ place 1 @@' out
want_text '<<<<<<< mine' out
want_text 'zwanzig' out
want_text '>>>>>>> released 2' out
[ "$(wc -l <out)" = 14 ] && ok 'three lines around it' || fail "$(cat out)"
conflicts --show etc/blob
want_status 20
want_text 'there is no merged text to show: '
# what is no conflict, or no way to call it
conflicts etc/clean --take mine
want_status 2
want_text 'etc/clean is no conflict between this bundle and root'
conflicts etc/a etc/none --take mine
want_status 2
want_text 'etc/none is no conflict'
conflicts --take mine
want_status 2
conflicts etc/a --take ours
want_status 2
conflicts etc/a
want_status 2
conflicts --take mine --show etc/a
want_status 2
run "$INSTALL" conflicts --root root
want_status 2
untouched
no_file root/var/lib/dray/decisions/policy

# one by one
conflicts /etc/a --take mine
want_status 0
want_text '4 conflicts are not decided yet' out
conflicts etc/blob etc/c --take theirs
want_status 0
conflicts 'etc/odd name#*' --take theirs
want_status 0
want_text '1 conflict is not decided yet' out
untouched
conflicts
want_status 20
want_text '1 of 5 conflicts undecided'
want_text '  etc/a: mine' out
want_text '  etc/c: theirs' out
want_text '  etc/b: 1 place' out
run "$INSTALL" plan up.dray --root root --keyring ops.pub
want_status 20
want_text '1 conflict: etc/b'
want_text 'to decide: dray-install conflicts up.dray --root root' out
# a decision that is changed, and one that is taken back
conflicts etc/c --take mine
want_status 0
conflicts etc/c --take theirs --json
want_status 0
want_text '{"decided":[{"path":"etc/c"}],"undecided":1}' out
[ "$(grep -c etc/c root/var/lib/dray/decisions/policy)" = 1 ] && ok 'one line for a path' || fail "$(cat root/var/lib/dray/decisions/policy)"
conflicts etc/a --reopen
want_status 0
conflicts etc/a --reopen
want_status 2
want_text 'nothing is decided about etc/a alone'
conflicts etc/a --take mine
want_status 0

# edit: without an editor, with markers, with a file, with an editor
unset VISUAL EDITOR
conflicts --edit etc/b
want_status 20
want_text 'neither VISUAL nor EDITOR names an editor'
edit=$(echo root/var/lib/dray/decisions/edit-*-b)
want_file "$edit"
conflicts --edit etc/b --from "$edit"
want_status 20
want_text 'line 20 is still a marker of a conflict'
conflicts --edit etc/b --from nowhere
want_status 2
conflicts --edit etc/blob
want_status 20
want_text 'there is no merged text to edit'
VISUAL=true
export VISUAL
conflicts --edit etc/b
want_status 20
want_text 'is still a marker'
VISUAL='sh -c "exit 3"'
conflicts --edit etc/b
want_status 20
want_text 'the editor ended with status 3'
VISUAL="sed -i -e '/^[<|=>]\{7\}/d' -e '/^20\$/d'"
conflicts --edit etc/b
want_status 0
want_text 'etc/b: becomes the edited text' out
no_file "$edit"
unset VISUAL
untouched
sed 's/^20$/zwanzig\ntwenty/' old/etc/b >want
conflicts
want_status 0
want_text '  etc/b: an edited text' out
want_text 'all of them are decided' out

# the plan is as if the merge had given that text, its id knows of the decisions
run "$INSTALL" plan up.dray --root root --keyring ops.pub --json
want_status 0
id=$(sed -n 's/.*"plan_id":"\([0-9a-f]*\)".*/\1/p' out)
cp -a root other
conflicts etc/a --take theirs
run "$INSTALL" apply up.dray --root root --keyring ops.pub --plan "$id"
want_status 24
untouched
conflicts etc/a --take mine
run "$INSTALL" apply up.dray --root root --keyring ops.pub --plan "$id"
want_status 0
want_same want root/etc/b
want_same before/etc/a root/etc/a
want_same new/etc/c root/etc/c
want_same new/etc/blob root/etc/blob
want_same 'new/etc/odd name#*' 'root/etc/odd name#*'
sed 's/^1$/one/' new/etc/clean >want.clean
want_same want.clean root/etc/clean
run "$INSTALL" check --root root
want_status 0
run "$INSTALL" status --root root --export e -q
grep -aq '"action":"use"' e && ok 'the decision is in the evidence' || fail 'no decision in the evidence'

# what is parked is listed until it is forgotten
run "$INSTALL" conflicts --list --root root
want_status 0
want_text '  etc/b: edited here, replaced; lies in root/var/lib/dray/tx/' out
want_text "  etc/a: what is here stayed; the release's lies in root/var/lib/dray/tx/" out
at=$(sed -n 's/^  etc\/a: .* lies in //p' out)
want_same new/etc/a "$at"
at=$(sed -n 's/^  etc\/c: .* lies in //p' out)
want_same before/etc/c "$at"
run "$INSTALL" conflicts --list --root root --json
want_status 0
want_text '"path":"etc/a","sha256":"'"$(sha256sum <new/etc/a | cut -d' ' -f1)" out
run "$INSTALL" rollback --root root
want_status 0
untouched
run "$INSTALL" conflicts --list --root root
want_status 0
want_text 'nothing that was edited on root is parked' out
run "$INSTALL" apply up.dray --root root --keyring ops.pub --plan "$id"
want_status 0
run "$INSTALL" forget --root root --parked
want_status 0
run "$INSTALL" conflicts --list --root root
want_text 'nothing that was edited on root is parked' out

# what the site's rule asks for besides still holds
rm -rf root && cp -a other root
chmod 640 root/etc/b
echo 'etc/** merge keep-metadata' >site.rules
run "$INSTALL" apply up.dray --root root --keyring ops.pub --policy site.rules
want_status 0
want_same want root/etc/b
[ "$(stat -c %a root/etc/b)" = 640 ] && ok 'keep-metadata holds' || fail "mode $(stat -c %a root/etc/b)"

# on another host: the folder is copied, or named
rm -rf root && cp -a before root
cp -a other/var/lib/dray/decisions site
run "$INSTALL" apply up.dray --root root --keyring ops.pub --policy site/policy
want_status 0
want_same want root/etc/b
# a text that was tampered with
rm -rf root && cp -a other root && cp -a root snap.tree
for f in root/var/lib/dray/decisions/????????????????????????????????*; do echo x >>"$f"; done
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 2
want_text 'it is not the text of that name'
untouched

# accounts merge by name; one number for two new names is told wherever they stand. Names of odd bytes
odd=$(printf 'b\377d') nl=$(printf 'new\nline')
mkdir -p acc/old/etc acc/new/etc acc/old/var/lib acc/new/var/lib
printf 'root:x:0:0:::\ngames:x:5:5:::\n' | tee acc/old/etc/passwd acc/old/etc/group >acc/new/etc/passwd
printf 'root:x:0:0:::\ngames:x:5:5:::\nntp:x:7:7:::\n' | tee acc/new/etc/passwd >acc/new/etc/group
for f in "$odd" "$nl"; do
	echo old >"acc/old/etc/$f"
	echo new >"acc/new/etc/$f"
done
echo old >'acc/old/{odd' && echo new >'acc/new/{odd'
find acc -exec touch -h -d @1700000000 {} +
run "$DRAY" build --from acc/old --to acc/new --product acc --version 2 --counter 2 --config 'etc/**' --config '{odd' --key ops.key -o acc.dray
need_status 0
cp -a acc/old acc/root
echo 'me:x:1000:1000:::' >>acc/root/etc/passwd
sed -i '1i web:x:7:7:::' acc/root/etc/group
echo mine | tee "acc/root/etc/$odd" "acc/root/{odd" >"acc/root/etc/$nl"
run "$INSTALL" conflicts acc.dray --root acc/root --keyring ops.pub
want_status 20
want_text '  etc/group: 1 place where both changed it: two names got the same number' out
no_text etc/passwd out
run "$INSTALL" conflicts acc.dray --root acc/root --keyring ops.pub --take mine etc/group "etc/$odd" '{odd'
want_status 0
run "$INSTALL" conflicts acc.dray --root acc/root --keyring ops.pub --take theirs "etc/$nl"
want_status 2
want_text 'etc/new\x0aline cannot stand in a line'
printf '%s\n' '{"dray_policy": 1, "rules": [{"path": "etc/new\nline", "action": "theirs"}]}' >nl.json
run "$INSTALL" apply acc.dray --root acc/root --keyring ops.pub --policy nl.json
want_status 0
[ "$(cat "acc/root/etc/$odd" 'acc/root/{odd' "acc/root/etc/$nl")" = "$(printf 'mine\nmine\nnew')" ] && ok 'odd names' || fail 'odd names'
printf 'root:x:0:0:::\ngames:x:5:5:::\nntp:x:7:7:::\nme:x:1000:1000:::\n' >want.passwd
want_same want.passwd acc/root/etc/passwd

# what could not be looked at is not called free of conflicts
rm -rf root && cp -a before root
mkdir -p root/var/lib/dray && chmod 700 root/var/lib/dray
if is_root && chattr +i root/etc/a 2>/dev/null; then
	run setpriv --bounding-set=-linux_immutable "$INSTALL" conflicts up.dray --root root --keyring ops.pub
	want_status 20
	run setpriv --bounding-set=-linux_immutable "$INSTALL" conflicts up.dray --root root --keyring ops.pub --take mine etc/b etc/c etc/blob 'etc/odd name#*'
	want_status 0
	run setpriv --bounding-set=-linux_immutable "$INSTALL" conflicts up.dray --root root --keyring ops.pub
	want_status 22
	want_text '1 path cannot be changed here, and so was not looked at for conflicts'
	no_text 'all of them are decided' out
	run setpriv --bounding-set=-linux_immutable "$INSTALL" conflicts up.dray --root root --keyring ops.pub --json
	want_status 22
	want_text '"partial":false' out
	run setpriv --bounding-set=-linux_immutable "$INSTALL" conflicts up.dray --root root --keyring ops.pub --take mine etc/a
	want_status 22
	want_text 'etc/a cannot be changed here, so nothing can be decided: it is immutable'
	chattr -i root/etc/a
fi
rm -rf part && cp -a before part
if is_root; then
	chmod -R go+rX part old new && chmod 000 part/etc/a && chmod 644 up.dray ops.pub
	run as_nobody "$INSTALL" conflicts up.dray --root part --keyring ops.pub
	want_status 20
	want_text 'some paths cannot be read by this user, and were not looked at' out
fi

# the next release: mine and theirs go on, a text is asked for anew because it was for that release
rm -rf root && cp -a other root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
cp -a new newer && for f in a b c; do sed -i 's/^20$/XX/; s/^twenty$/the twentieth/' newer/etc/$f; done
find newer -exec touch -h -d @1710000000 {} +
run "$DRAY" build --from new --to newer --product demo --version 3 --counter 3 --config 'etc/**' --key ops.key -o next.dray
need_status 0
run "$INSTALL" conflicts next.dray --root root --keyring ops.pub
want_status 20
want_text '1 of 2 conflicts undecided'
want_text '  etc/a: mine' out
want_text '  etc/b: 1 place' out
run "$INSTALL" plan next.dray --root root --keyring ops.pub
want_status 20
want_text '1 conflict: etc/b'

# another file than the state's: rules of the site stay, ours go in front
rm -rf root && cp -a before root
mkdir mine && printf '# our rules\netc/** mine\n' >mine/site.policy
conflicts --policy mine/site.policy
want_status 0
conflicts etc/a --take theirs --policy mine/site.policy
want_status 0
printf 'etc/a theirs\n# our rules\netc/** mine\n' >want
want_same want mine/site.policy
conflicts --edit etc/b --from new/etc/c --policy mine/site.policy
want_status 0
want_file mine/"$(sha256sum <new/etc/c | cut -d' ' -f1)"
no_file root/var/lib/dray
run "$INSTALL" apply up.dray --root root --keyring ops.pub --policy mine/site.policy
want_status 0
want_same new/etc/a root/etc/a
want_same new/etc/c root/etc/b
want_same before/etc/c root/etc/c
echo '{"dray_policy": 1, "rules": []}' >mine/json.policy
rm -rf root && cp -a before root
conflicts etc/a --take theirs --policy mine/json.policy
want_status 2
want_text 'is a policy in JSON'
conflicts etc/a --take theirs --policy nowhere/policy
want_status 2
want_text 'there is no folder nowhere/'
# a damaged file of decisions
mkdir -p root/var/lib/dray/decisions && chmod 700 root/var/lib/dray/decisions && echo 'etc/a what' >root/var/lib/dray/decisions/policy
chmod 700 root/var/lib/dray && tree_seen root >snap
run "$INSTALL" plan up.dray --root root --keyring ops.pub
want_status 2
want_text 'root/var/lib/dray/decisions/policy: line 1: no action is called what'
conflicts etc/a --take mine
want_status 2
tree_seen root >now
want_same snap now
# another folder in its place
rm -r root/var/lib/dray/decisions && ln -s "$T/mine" root/var/lib/dray/decisions
run "$INSTALL" plan up.dray --root root --keyring ops.pub
want_status 22
want_text 'the decisions in root/var/lib/dray/decisions/: decisions is not a directory'
conflicts etc/a --take mine
want_status 22
