#!/bin/sh
# a directory gives way to a file or a symlink: what is local in it is named and refused, or goes along with --park
. "$(dirname "$0")/lib.sh"

mkdir -p old/conf/sub old/log old/gone old/var/lib new/tool/share new/data/log new/var/lib
echo 1 >old/conf/a && echo 1 >old/conf/sub/b && echo 2 >new/conf
echo 1 >old/log/x && echo 2 >new/data/log/x && ln -s data/log new/log
echo 1 >old/tool && echo 2 >new/tool/bin && echo 2 >new/tool/share/doc
echo 1 >old/gone/g
touch -h -d @1000000000 old/* old/conf/* old/log/* new/* new/data/* new/tool/*
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
want_status 0

# without anything local it is an upgrade like any other
cp -a old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
same_tree root new
run "$INSTALL" check --root root
want_status 0
run "$INSTALL" rollback --root root
want_status 0
same_tree root old
rm -r root

local_tree() {
	cp -a old "$1"
	echo mine >"$1/conf/mine"
	mkdir "$1/conf/own" "$1/conf/sub/own"
	echo mine >"$1/conf/own/deep"
	echo mine >"$1/conf/sub/own/deep"
	echo edited >"$1/conf/a"
	echo mine >"$1/log/mine"
	echo mine >"$1/gone/mine"
	touch -d @1100000000 "$1"/*/mine "$1"/conf/own/deep "$1"/conf/sub/own/deep "$1"/conf/a
	touch -d @1100000000 "$1"/conf/sub/own "$1"/conf/own "$1"/conf/sub "$1"/conf "$1"/log "$1"/gone
	mkdir -m 700 "$1/var/lib/dray"
	touch -d @1000000000 "$1/var/lib"
}
local_tree root
cp -a root before
tree_snapshot root >snap
for verb in plan apply; do
	run "$INSTALL" $verb up.dray --root root --keyring ops.pub
	want_status 20
	want_text '2 conflicts: conf has to give way, but holds conf/mine; log has to give way, but holds log/mine'
	want_text 'hint: nothing was changed; move the local objects out of the way, or have them taken into'
	want_text 'with --park'
	[ $verb = apply ] || want_unchanged root snap
done
rm -r root && local_tree root

# with --park it all goes into the stash, and every local thing is named
run "$INSTALL" plan up.dray --root root --keyring ops.pub --park
want_status 0
for f in conf/mine conf/own conf/sub/own log/mine; do
	want_text "  $f: made here; goes into the stash with its directory" out
done
want_text '  conf/a: edited here; goes into the stash with its directory' out
want_text '  gone: stays, because it holds gone/mine' out
want_text '--park' out
no_text 'conf/own/deep' out
id=$(sed -n 's/^plan id //p' out)
run "$INSTALL" apply up.dray --root root --keyring ops.pub --plan "$id"
want_status 20
run "$INSTALL" apply up.dray --root root --keyring ops.pub --plan "$id" --park
want_status 0
want_text '  log/mine: made here; goes into the stash with its directory' out
want_same root/conf new/conf
[ "$(readlink root/log)" = data/log ] && ok 'log is the symlink' || fail 'log is not the symlink'
want_same root/log/x new/data/log/x
want_same root/tool/share/doc new/tool/share/doc
want_file root/gone/mine
no_file root/gone/g
run "$INSTALL" status --root root --json
want_text '"parked":["conf","conf/a","conf/mine","conf/own","conf/sub/own","log","log/mine"]' out
cp -a root applied
run "$INSTALL" rollback --root root
want_status 0
same_tree root before

# forget keeps them, until they are asked for
run "$INSTALL" apply up.dray --root root --keyring ops.pub --park
want_status 0
run "$INSTALL" forget --root root
want_status 0
want_text '2 parked objects stay' out
run "$INSTALL" status --root root
want_text '  conf/own' out
[ "$(grep -rl mine root/var/lib/dray/tx | wc -l)" -ge 4 ] && ok 'they are in the stash' || fail 'they are not in the stash'
run "$INSTALL" forget --root root --parked
want_status 0
[ -z "$(ls root/var/lib/dray/tx)" ] && ok 'nothing is left' || fail 'something is left'
same_tree root applied

# a symlink that is there already: what the release removes beneath it is not looked for through the link
rm -r root && cp -a old root
rm -r root/log
mkdir root/elsewhere && echo 1 >root/elsewhere/x
ln -s elsewhere root/log
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
want_text '  log: edited here and replaced' out
[ "$(readlink root/log)" = data/log ] && ok 'log is the symlink' || fail 'log is not the symlink'
want_same root/elsewhere/x old/log/x

# a mount among what would go along: never moved, never entered
if is_root && unshare -m true 2>/dev/null; then
	rm -r root && local_tree root
	mkdir root/conf/own/mnt outside
	echo theirs >outside/x
	cat >in-mount <<'X'
mount --bind outside root/conf/own/mnt || exit 99
"$INSTALL" "$@" --root root --keyring ops.pub --park
X
	export INSTALL
	for verb in plan apply; do
		run unshare -m sh ./in-mount $verb up.dray
		want_status 22
		want_text '1 path cannot be changed here: conf something is mounted on mnt inside'
	done
	want_file outside/x
	want_file root/conf/own/deep
fi

# killed at every name it moves: the next run makes it old or new, and nothing local is lost
command -v strace >/dev/null || exit 0
n=0
while :; do
	n=$((n + 1))
	rm -rf root && cp -a before root
	# the leak check of a sanitizer build cannot run under strace
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e trace=renameat2 \
	    -e "inject=renameat2:signal=KILL:when=$n" "$INSTALL" apply up.dray --root root --keyring ops.pub --park
	[ "$status" != 0 ] || break
	if [ $((n % 2)) = 0 ]; then
		"$INSTALL" resume -q --root root || fail "resume after kill $n"
	else
		"$INSTALL" apply -q up.dray --root root --keyring ops.pub --park || fail "apply after kill $n"
	fi
	same_tree root applied
	"$INSTALL" rollback -q --root root || fail "rollback after kill $n"
	same_tree root before
done
[ $n -gt 5 ] && ok "killed at $((n - 1)) calls" || fail "killed at $((n - 1)) calls only"
