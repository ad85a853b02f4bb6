#!/bin/sh
# a hook that changes the tree or the stash before the switch is found out before each switch: the first, that of a later phase,
# and that of the way back. What goes on then would be no state that anybody planned
. "$(dirname "$0")/lib.sh"
is_root || skip 'hooks have to lie in folders that only root may change'
H=$(mktemp -d /dray-hooks.XXXXXX) || skip 'no folder of its own in /'
trap 'rm -rf "$H"; at_end' EXIT
chmod 755 "$H"
mkdir -p "$H/before-commit" "$H/after-rollback" old/etc/d old/var/lib
for f in a b c d/x; do
	echo 1 >old/etc/$f
done
cp -a old new
rm -r new/etc/d
for f in a b c; do
	echo 2 >new/etc/$f
done
key
cat >up.json <<'END'
{"recipe":1,"product":"demo","version":"1.1","counter":2,"from":[{"source":"old","version":"1.0","counter":1}],"to":"new",
"phases":[{"name":"first","paths":["etc/a"]},{"name":"rest"}]}
END
run "$DRAY" build --recipe up.json --key ops.key -o up.dray
need_status 0
printf '#!/bin/sh\necho told >>%s/told\n' "$T" >"$H/after-rollback/1"
chmod 755 "$H/after-rollback/1"

apply() {
	run "$INSTALL" apply up.dray --root root --keyring ops.pub "$@"
}
# begin HOW: a tree that is before its first switch, before that of its second phase, or before the way back
begin() {
	rm -rf root told
	cp -a old root
	case $1 in
	later) apply --phase first ;;
	back) apply ;;
	esac
}
meddles() {	# COMMAND: what the hook does, in the tree
	printf '#!/bin/sh\ncd %s/root || exit 1\n%s\n' "$T" "$1" >"$H/before-commit/1"
	chmod 755 "$H/before-commit/1"
}
seen() {
	(cd root && find etc -type f -exec grep -H . {} + | sort)
}
refused() {	# STATUS TEXT: and nothing but the hook has changed what is there
	want_status "$1"
	want_text "$2"
	want_text 'hint: nothing was changed'
	want_file told
	seen >after
	want_same before after
	rm -f told
}
for how in first later; do
	for what in 'echo mine >etc/b' 'rm -f etc/b' 'echo y >etc/d/y' 'rm -rf etc/b; mkdir -p etc/b'; do
		begin $how
		meddles "$what"
		(cd root && eval "$what")
		seen >before
		rm -rf root
		begin $how
		apply --hooks "$H"
		refused 24 'changed since the plan was made'
	done
done
begin later
seen >before
meddles 'rm -rf var/lib/dray/tx/*/slots var/lib/dray/tx/*/0*'
apply --hooks "$H"
refused 24 'what was staged for it is gone'

begin back
meddles 'mv etc gone'
apply_seen=$(seen)
run "$INSTALL" rollback --root root --hooks "$H"
want_status 22
want_text 'cannot be put back: the directory above it is gone or something else'
want_file told
mv root/gone root/etc
[ "$(seen)" = "$apply_seen" ] && ok 'the tree is as it was before the way back' || fail "the tree: $(seen)"
rm "$H/before-commit/1"
run "$INSTALL" rollback --root root --hooks "$H"
want_status 0
same_tree old/etc root/etc

# what a hook changes of the files themselves is an edit like any other: it stays in the stash, and is named
begin back
meddles 'echo mine >etc/b'
run "$INSTALL" rollback --root root --hooks "$H"
want_status 0
want_text 'changed since the upgrade; kept in the stash:' out
want_text '  etc/b' out
same_tree old/etc root/etc
