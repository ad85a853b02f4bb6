#!/bin/sh
# a directory of the release that is a symlink here: refused as one conflict, or ignored, restored, redirected
. "$(dirname "$0")/lib.sh"

mkdir -p old/lib/sub old/usr/lib old/var/log/app old/var/lib
for f in lib/a lib/sub/b lib/gone usr/lib/u var/log/app/conf var/log/app/same; do
	echo "1 $f" >old/$f
done
cp -a old new
for f in lib/a lib/sub/b usr/lib/u var/log/app/conf lib/added var/log/app/new; do
	echo "2 $f" >new/$f
done
rm new/lib/gone
chmod 750 new/lib/sub new/var/log/app
find old new -exec touch -h -d @1000000000 {} +
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
want_status 0

# two symlinks here: a merged lib, and logs elsewhere by an absolute text, which means beneath the root
merged() {
	cp -a "$1" "$2"
	mkdir "$2/data"
	cp -a "$2"/lib/. "$2"/usr/lib && rm -r "${2:?}/lib" && ln -s usr/lib "$2/lib"
	mv "$2/var/log" "$2/data/log" && ln -s /data/log "$2/var/log"
	touch -h -d @1000000000 "$2/lib" "$2/var/log" "$2" "$2/data" "$2/usr/lib" "$2/var"
}
merged old here
merged new want
mkdir -m 700 here/var/lib/dray
touch -d @1000000000 here/var/lib
cp -a here root
tree_snapshot root >snap
run "$INSTALL" plan up.dray --root root --keyring ops.pub
want_status 20
want_text '2 conflicts: lib is a symlink here, a directory in the release (leads to usr/lib);'
want_text 'var/log is a symlink here, a directory in the release (leads to data/log, taken as beneath the root)'
want_text 'hint: nothing was changed; decide with --symlink PATH=ignore, PATH=restore or PATH=redirect'
# one decision is not both
run "$INSTALL" plan up.dray --root root --keyring ops.pub --symlink /lib/=redirect
want_status 20
want_text '1 conflict: var/log is a symlink here'
want_unchanged root snap

# redirected: as if the release had been built for this layout, and back
set -- --symlink lib=redirect --symlink var/log=redirect
run "$INSTALL" plan up.dray --root root --keyring ops.pub "$@"
want_status 0
want_text '  lib: is a symlink here; what is beneath it goes to usr/lib' out
want_text '  var/log: is a symlink here; what is beneath it goes to data/log' out
want_text '--symlink lib=redirect --symlink var/log=redirect' out
id=$(sed -n 's/^plan id //p' out)
want_unchanged root snap
run "$INSTALL" apply up.dray --root root --keyring ops.pub "$@" --plan "$id"
want_status 0
same_tree root want
run "$INSTALL" apply up.dray --root root --keyring ops.pub "$@" --exit-detail
want_status 10
run "$INSTALL" rollback --root root
want_status 0
same_tree root here

# ignored: nothing beneath either is touched, the rest is new
run "$INSTALL" apply up.dray --root root --keyring ops.pub --symlink lib=ignore --symlink var/log=ignore
want_status 0
want_text '  lib: is a symlink here; nothing beneath it is changed' out
want_same root/usr/lib/u new/usr/lib/u
want_same root/usr/lib/a old/lib/a
want_file root/usr/lib/gone
no_file root/data/log/app/new
run "$INSTALL" rollback --root root
want_status 0
same_tree root here

# restored: directories again, all of what they hold, the symlinks in the stash
run "$INSTALL" apply up.dray --root root --keyring ops.pub --symlink lib=restore --symlink var/log=restore
want_status 0
want_text '  var/log: edited here and replaced; the old one is kept in the stash' out
cp -a here restored
rm restored/lib restored/var/log
cp -a new/lib restored/lib && cp -a new/var/log restored/var/log && cp -a new/usr/lib/u restored/usr/lib/u
touch -d @1000000000 restored restored/var restored/usr/lib
same_tree root restored
run "$INSTALL" status --root root --json
want_text '"parked":["lib","var/log"]' out
run "$INSTALL" rollback --root root
want_status 0
same_tree root here

# what is outside of the root is never reached, whatever the text says
mkdir outside && echo theirs >outside/app && tree_snapshot outside >snap.outside
for text in "$T/outside" ../../outside /../outside /var/log ../lib/a; do
	rm root/var/log && ln -s "$text" root/var/log
	tree_snapshot root >snap
	run "$INSTALL" apply up.dray --root root --keyring ops.pub --symlink lib=ignore --symlink var/log=redirect
	want_status 20
	case $text in
	"$T"*) want_text 'var/log cannot be redirected: it dangles: ' ;;
	*outside) want_text 'var/log cannot be redirected: it leads out of the root: ' ;;
	/var/log) want_text 'var/log cannot be redirected: it leads back to itself: /var/log' ;;
	*) want_text 'var/log cannot be redirected: it leads through another symlink, lib' ;;
	esac
	tree_snapshot root | grep -v var/lib/dray >now
	grep -v var/lib/dray snap >snap.tree
	want_same snap.tree now
done
want_unchanged outside snap.outside

# mistakes in the option
for o in 'lib=perhaps' 'lib' '=ignore' 'a/../b=ignore'; do
	run "$INSTALL" plan up.dray --root root --keyring ops.pub --symlink "$o"
	want_status 2
	want_text "--symlink $o: "
done
run "$INSTALL" plan up.dray --root root --keyring ops.pub --symlink lib=ignore --symlink /lib=restore
want_status 2
want_text '--symlink decides twice about lib'
run "$INSTALL" plan up.dray --root root --keyring ops.pub --symlink lib/a=ignore
want_status 2
want_text '--symlink: lib/a is no directory of the release'

# killed at every name it moves, with the redirect: old or new
command -v strace >/dev/null || exit 0
n=0
while :; do
	n=$((n + 1))
	rm -rf root && cp -a here root
	# the leak check of a sanitizer build cannot run under strace
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e trace=renameat2 \
	    -e "inject=renameat2:signal=KILL:when=$n" "$INSTALL" apply up.dray --root root --keyring ops.pub "$@"
	[ "$status" != 0 ] || break
	if [ $((n % 2)) = 0 ]; then
		"$INSTALL" resume -q --root root || fail "resume after kill $n"
		same_tree root want
	else
		"$INSTALL" resume -q --back --root root || fail "back after kill $n"
		same_tree root here
	fi
done
[ $n -gt 5 ] && ok "killed at $((n - 1)) calls" || fail "killed at $((n - 1)) calls only"
