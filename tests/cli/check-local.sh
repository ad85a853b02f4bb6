#!/bin/sh
# check takes no local decision for damage: edited config files, what upgrades left alone, absent components
. "$(dirname "$0")/lib.sh"

# three releases; what is deleted and edited here is touched by the second one alone
mkdir -p v1/etc v1/share/sub v1/src/lib v1/bin v1/var/lib
for f in etc/conf etc/gone etc/mode share/deleted share/sub/x share/edited src/lib/a src/lib/b bin/prog; do
	echo "1 $f" >v1/$f
done
cp -a v1 v2
echo 2 >v2/share/deleted
echo 2 >v2/share/sub/x
chmod 600 v2/share/edited
echo 2 >v2/bin/prog
cp -a v2 v3
echo 3 >v3/bin/prog
for v in 1 2 3; do
	find v$v -exec touch -h -d "@100000000$v" {} +
	cat >$v.json <<-EOF
	{"recipe": 1, "product": "demo", "version": "$v", "counter": $v, "to": "dir:v$v",
	 "from": [$([ $v = 1 ] || echo "\"dir:v$((v - 1))\"")], "config": ["etc/*"],
	 "components": [{"name": "src", "paths": ["src"]}, {"name": "base"}]}
	EOF
done
key
for v in 1 2 3; do
	run "$DRAY" build --recipe $v.json --key ops.key -o $v.dray
	need_status 0
done

# a machine without sources; its state folder has a place
mkdir -p root/var/lib
run "$INSTALL" apply 1.dray --without src --root root --keyring ops.pub
need_status 0
run "$INSTALL" check --root root
want_status 0
want_text 'component src is not here, so it was not compared' out
want_text 'root is demo 1: all 13 entries are as the release says' out
run "$INSTALL" check --root root --json --strict
want_status 0
want_text '"absent":["src"]' out
# without a record it is what is there that tells: one file of it, and it counts
cp -a root bare && rm -r bare/var/lib/dray
run "$INSTALL" check 1.dray --root bare --keyring ops.pub
want_status 0
want_text 'component src is not here, so it was not compared' out
mkdir -p bare/src/lib && cp -p v1/src/lib/a bare/src/lib
touch -d @1000000001 bare/src
run "$INSTALL" check 1.dray --root bare --keyring ops.pub
want_status 20
want_text 'src/lib/b: missing' out
# recorded as there and gone: damage, until the operator says otherwise
mkdir -p whole/var/lib
run "$INSTALL" apply 1.dray --root whole --keyring ops.pub
want_status 0
rm -r whole/src
run "$INSTALL" check --root whole
want_status 20
want_text 'src: missing, and 3 paths beneath it' out
run "$INSTALL" apply 1.dray --without src --root whole --keyring ops.pub
want_status 0
want_text 'component src is not on whole' out
run "$INSTALL" check --root whole
want_status 0

# config files: edited, deleted; but not their mode
echo mine >root/etc/conf
rm root/etc/gone
run "$INSTALL" check --root root
want_status 0
want_text '  etc/conf: content, mtime (config)' out
want_text '  etc/gone: missing (config)' out
want_text 'root is demo 1: 11 of 13 entries are as the release says, 2 differ by local decision' out
run "$INSTALL" check --root root --json
want_status 0
want_text '{"path":"etc/conf","what":["content","mtime"],"why":"config"}' out
want_text '"different":[],"different_total":0' out
want_text '"local_total":2' out
chmod 666 root/etc/mode
run "$INSTALL" check --root root
want_status 20
want_text 'etc/mode: mode' out
chmod 644 root/etc/mode
run "$INSTALL" check --root root --strict
want_status 20
want_text 'etc/conf: content, mtime' out
want_text '3 of 13 entries differ from demo 1' err

# deleted and edited here without a word to anybody: damage; left alone by an upgrade: decided
rm -r root/share/deleted root/share/sub
echo mine >root/share/edited
run "$INSTALL" check --root root
want_status 20
want_text 'share/sub: missing, and 1 path beneath it' out
cp -a root damaged
run "$INSTALL" apply 2.dray --root root --keyring ops.pub
need_status 0
cp -a v1/share/sub root/share && rm root/share/sub/x
run "$INSTALL" check --root root
want_status 0
for line in '  share/deleted: missing (deleted)' '  share/sub/x: missing (deleted)' \
    '  share/edited: content, mtime (edited)'; do
	grep -qxF -e "$line" out && ok "$line" || fail "no line: $line"
done
# a decision about the content is none about the mode, nor about another path
chmod 640 root/share/edited
rm root/bin/prog
run "$INSTALL" check --root root
want_status 20
want_text 'share/edited: mode' out
want_text 'bin/prog: missing' out
chmod 600 root/share/edited
cp -p v2/bin/prog root/bin

# repair leaves decisions alone, unless the path is named: then there is none any more, until that is rolled back
run "$INSTALL" repair 2.dray --root root --keyring ops.pub
want_status 0
want_text '  share/deleted: missing (deleted)' out
want_text 'root is demo 2: nothing to repair' out
run "$INSTALL" repair 2.dray share/deleted --root root --keyring ops.pub
want_status 0
want_same root/share/deleted v2/share/deleted
want_text '  share/edited: content, mtime (edited)' out
mv root/share/deleted gone
run "$INSTALL" check --root root
want_status 20
want_text 'share/deleted: missing' out
no_text 'share/deleted: missing (deleted)' out
mv gone root/share/deleted
run "$INSTALL" rollback --root root
want_status 0
run "$INSTALL" check --root root
want_status 0
want_text '  share/deleted: missing (deleted)' out

# the next upgrade does not touch them, so they are still decided; and the way back knows what was before
run "$INSTALL" apply 3.dray --root root --keyring ops.pub
need_status 0
run "$INSTALL" check --root root
want_status 0
want_text '  share/deleted: missing (deleted)' out
run "$INSTALL" check 3.dray --root root --keyring ops.pub
want_status 0

# a symlink for a directory that an upgrade was told to leave alone; what lies beneath is not compared
cp -a v1 linked && mv linked/share linked/mine && ln -s mine linked/share
run "$INSTALL" apply 2.dray --root linked --keyring ops.pub --symlink share=ignore
need_status 0
run "$INSTALL" check --root linked
want_status 0
want_text '  share: type, and 4 paths beneath it (symlink)' out
run "$INSTALL" check --root linked --strict
want_status 20

# a damaged record is no reason to judge otherwise
cp -a root broken
for f in broken/var/lib/dray/release/*.kept; do
	echo '{"dray_kept":1,"paths":[{"path":7}]}' >"$f"
done
run "$INSTALL" check --root broken
want_status 22
want_text 'it says what upgrades left alone'

run "$INSTALL" rollback --root root
need_status 0
run "$INSTALL" check --root root
want_status 0
want_text '  share/deleted: missing (deleted)' out
run "$INSTALL" rollback --root root
need_status 0
run "$INSTALL" check --root root
want_status 20
want_text 'share/deleted: missing' out
[ "$(ls root/var/lib/dray/release)" = "$(cd damaged/var/lib/dray/release && ls)" ] && ok 'no old record stays' ||
    fail 'old records stay'
