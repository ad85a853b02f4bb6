#!/bin/sh
# plan: what would be done, in lines of at most 76 columns, the last one says what to do next; nothing is written
. "$(dirname "$0")/lib.sh"

mkdir -p old/bin old/var/lib new/bin new/var/lib
echo 1 >old/bin/a && echo 22 >new/bin/a
echo 1 >old/gone
echo 2 >new/added
cp -p old/bin/a old/bin/m && cp -p old/bin/m new/bin/m && chmod 700 new/bin/m
ln -s a old/t && echo 1 >new/t
touch -d @1000000000 old new old/bin old/var/lib old/var new/bin new/var/lib new/var
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
want_status 0
cp -a old 'a root'
tree_snapshot 'a root' >snap
run "$INSTALL" plan up.dray --root 'a root' --keyring ops.pub
want_status 0
want_unchanged 'a root' snap
want_text 'demo 1.1 (release counter 2) on a root' out
want_text '1  added' out
want_text '1  updated' out
want_text '1  of another type' out
want_text '1  with other attributes only' out
want_text '1  removed' out
want_text 'match base base-1' out
want_text 'plan id ' out
[ -z "$(awk 'length > 76' out)" ] && ok 'at most 76 columns' || fail 'more than 76 columns'
[ -z "$(tr -d '\11\12\40-\176' <out)" ] && ok 'ASCII' || fail 'not ASCII'

# the last words are a command that a shell takes as it stands
sed -n '/^next: /,$p' out | sed '1s/^next: dray-install //' >cmd
id=$(sed -n 's/^plan id //p' out)
eval "set -- $(cat cmd)"
run "$INSTALL" "$@"
want_status 0
same_tree 'a root' new

run "$INSTALL" plan up.dray --root 'a root' --keyring ops.pub
want_status 0
[ "$(tail -n 1 out)" = 'nothing to do: everything is as the release wants it, or left alone' ] && ok 'nothing to do' ||
    fail 'the last line is another'

cp -a old root
run "$INSTALL" plan up.dray --root root --keyring ops.pub --json -j 1
want_status 0
want_text "\"plan_id\":\"$id\"" out
want_text '"partial":false,"paths":{"added":1,"already":0,"blocked":0,"conflicts":0,"left_alone":0,"merged":0,"meta_only":1' out
want_text '"bases":[{"matched":' out
want_text '"room":[{"bytes":' out
want_text '"path":"."' out
want_text '"notes":[]' out
[ "$(wc -l <out)" = 1 ] && ok 'one document' || fail 'more than one document'

# quiet is quiet
run "$INSTALL" plan up.dray --root root --keyring ops.pub -q
want_status 0
[ ! -s out ] && [ ! -s err ] && ok 'not a word' || fail 'words with -q'
