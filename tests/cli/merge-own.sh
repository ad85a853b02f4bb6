#!/bin/sh
# owner, mode and flags that a rule keeps; databases that are built from a text
. "$(dirname "$0")/lib.sh"
key

mkdir -p old/etc old/usr/d old/var/db old/var/lib
for f in etc/edited etc/chmod etc/master.passwd etc/login.conf etc/services usr/content usr/attrs usr/released usr/linked; do
	seq 1 30 >old/$f
done
ln old/usr/linked old/usr/linked2
for f in etc/pwd.db etc/spwd.db etc/login.conf.db var/db/services.db; do printf 'db\0old\n' >old/$f; done
cp -a old new
for f in etc/edited etc/chmod etc/master.passwd etc/login.conf etc/services usr/content usr/released usr/linked; do
	sed -i 's/^20$/twenty/' new/$f
done
ln -f new/usr/linked new/usr/linked2
for f in etc/pwd.db etc/spwd.db etc/login.conf.db var/db/services.db; do printf 'db\0new\n' >new/$f; done
chmod 755 new/usr/attrs new/usr/released && chmod 700 new/usr/d
find old new -exec touch -h -d @1700000000 {} +
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --path-set freebsd --triggers freebsd --key ops.key -o up.dray
need_status 0
mode() {	# FILE MODE
	[ "$(stat -c %a "root/$1")" = "$2" ] && ok "$1: $2" || fail "$1: $(stat -c %a "root/$1"), wanted $2"
}
fresh() {
	rm -rf root && cp -a old root
	sed -i 's/^1$/one/' root/etc/edited && chmod 600 root/etc/edited
	chmod 600 root/etc/chmod root/usr/content root/usr/attrs root/usr/linked && chmod 711 root/usr/d
	cp -a root/. before
}
rm -rf before && mkdir before
fresh
# by itself the release's attributes come, and that is told
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
mode etc/edited 644
want_text '  etc/edited: its owner, mode or other attributes were set here' out
mode usr/content 644
want_text '  usr/content: its owner, mode or other attributes were set here' out
run "$INSTALL" rollback --root root
same_tree before root
# with keep-metadata they stay, as a rule of its own or with another one
printf '%s\n' 'etc/edited merge keep-metadata' '** keep-metadata' >keep.policy
rm -rf root before && mkdir before && fresh
run "$INSTALL" apply up.dray --root root --keyring ops.pub --policy keep.policy
want_status 0
want_text 'local owner, mode or flags, kept by the policy:' out
want_text '  usr/attrs: its owner, mode or flags were set here and stay' out
mode etc/edited 600
mode etc/chmod 600
mode usr/content 600
mode usr/attrs 600
mode usr/d 711
mode usr/released 755	# nobody had set it
mode usr/linked 644	# several names share it
want_same new/usr/content root/usr/content
sed 's/^1$/one/' new/etc/edited >want
want_same want root/etc/edited
run "$INSTALL" check --root root
want_status 0
want_text 'usr/attrs: mode' out
want_text '(attributes)' out
want_text '(edited-attributes)' out
run "$INSTALL" repair up.dray --root root --keyring ops.pub
want_status 0
mode usr/attrs 600
run "$INSTALL" status --root root --export e -q
run "$DRAY" report e
want_status 0
run "$DRAY" report e --paths 1
want_text 'attributes-kept' out
echo edited >>root/usr/attrs && chmod 640 root/usr/attrs
run "$INSTALL" check --root root
want_status 20
want_text 'usr/attrs: content' out
rm root/usr/attrs && cp -p before/usr/attrs root/usr/attrs
run "$INSTALL" rollback --root root
want_status 0

# databases: built here, or of a text that is the machine's own
dbs='etc/pwd.db etc/spwd.db etc/login.conf.db var/db/services.db'
rm -rf root && cp -a old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
for f in $dbs; do want_same new/$f root/$f; done
rm -rf root && cp -a old root
sed -i 's/^5$/five/' root/etc/master.passwd root/etc/login.conf
printf 'db\0mine\n' >root/etc/pwd.db && printf 'db\0mine\n' >root/var/db/services.db
cp -a root was
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
want_text 'databases of local texts, left alone:' out
want_text '  etc/spwd.db: stays; to be built again from etc/master.passwd' out
for f in $dbs; do want_same was/$f root/$f; done
want_same new/etc/services root/etc/services
# what builds them again is due, because their texts were changed
run "$INSTALL" status --root root --log --json
want_text '"triggers_due":["pwd_mkdb","cap_mkdb","services_mkdb"]' out
sed 's/^5$/five/' new/etc/login.conf >want
want_same want root/etc/login.conf
run "$INSTALL" check --root root
want_status 0
run "$INSTALL" rollback --root root
want_status 0
same_tree was root
run "$INSTALL" apply up.dray --root root --keyring ops.pub --profile strict
want_status 0
for f in $dbs; do want_same new/$f root/$f; done
