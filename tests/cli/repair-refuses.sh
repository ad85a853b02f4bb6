#!/bin/sh
# repair refuses what is not the installed release, what the bundle lacks, and what it may not decide; nothing changes then
. "$(dirname "$0")/lib.sh"

mkdir -p old/var/lib new/var/lib new/same new/dir/sub
for f in changed same/a same/b dir/sub/x; do
	echo "1 $f" >new/$f
done
seq 1 20000 >new/changed
cp -a new/. old
sed s/7777/x/ new/changed >old/changed
echo twin >new/twin && cp -p new/twin new/same/twin && cp -p new/twin old && cp -p new/twin old/same
cp -a new next && echo 3 >next/changed
cp -a new other && echo other >other/same/a
find old new next other -exec touch -h -d @1000000000 {} +
key
build() {
	out=$1
	shift
	run "$DRAY" build --product demo --key ops.key -o "$out" "$@"
	need_status 0
}
build up.dray --from old --to new --version 1.1 --counter 2
build slim.dray --from old --to new --version 1.1 --counter 2 --slim
build full.dray --to new --version 1.1 --counter 2
build next.dray --from new --to next --version 1.2 --counter 3
build other.dray --to other --version 1.1 --counter 2
run "$DRAY" build --product toast --key ops.key -o toast.dray --to new --version 1.1 --counter 2
need_status 0
cp -a old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
echo bad >root/changed

refuses() {	# STATUS TEXT ARG...
	want=$1 text=$2
	shift 2
	tree_seen root >snap
	for dry in '' --dry-run; do
		# shellcheck disable=SC2086
		run "$INSTALL" repair "$@" --root root --keyring ops.pub $dry
		want_status "$want"
		want_text "$text"
		tree_seen root >now
		want_same snap now
	done
}
refuses 22 'the bundle is demo 1.2 (release counter 3), but root has demo 1.1 (2)' next.dray
refuses 22 'the bundle is toast 1.1 (release counter 2), but root has demo 1.1 (2)' toast.dray
refuses 22 "the bundle's demo 1.1 is another release than the one of that name on root" other.dray
refuses 2 'nonsense: the release has no such path' full.dray nonsense
run "$INSTALL" repair full.dray --root root
want_status 30

# the bytes have to be there: those of unchanged files are in no upgrade, slim ones lack more
echo bad >root/same/a
refuses 20 'same/a the bundle holds no copy of it' up.dray
want_text 'hint: nothing was changed; bring a bundle that holds them: not slim, or built without --from'
refuses 20 'changed builds on a file that is not here as released' slim.dray changed
# what is not asked for does not stand in the way; another file with the bytes will do
run "$INSTALL" repair up.dray changed --root root --keyring ops.pub
want_status 0
want_text '1 path of demo 1.1 on root is repaired' out
want_same root/changed new/changed
rm root/twin
run "$INSTALL" repair up.dray twin --root root --keyring ops.pub
want_status 0
want_same root/twin new/twin
run "$INSTALL" check --root root
want_status 20
want_text '1 of 11 entries differ' err

# a symlink for a directory may be somebody's decision: it is replaced when it is named
mv root/dir root/elsewhere && ln -s elsewhere root/dir
refuses 20 'dir is a symlink here, a directory in the release' full.dray
want_text 'hint: nothing was changed; name these paths to have them replaced, or move them out of the way'
refuses 20 'dir is a symlink here, a directory in the release' full.dray dir/sub
run "$INSTALL" repair full.dray dir --root root --keyring ops.pub
want_status 0
want_text '  dir: was not as any release had it; kept in the stash' out
want_same root/dir/sub/x new/dir/sub/x
want_file root/elsewhere/sub/x
# local files in a directory that has to give way
rm root/same/b && mkdir root/same/b && echo mine >root/same/b/mine
refuses 20 'same/b has to give way, but holds same/b/mine' full.dray same/b
run "$INSTALL" repair full.dray same --root root --keyring ops.pub --park
want_status 0
want_same root/same/b new/same/b
run "$INSTALL" check --root root
want_status 0

# a plan is held to
echo bad >root/changed
run "$INSTALL" repair full.dray --root root --keyring ops.pub --dry-run
want_status 0
id=$(sed -n 's/^plan id //p' out)
echo worse >root/changed
tree_seen root >snap
run "$INSTALL" repair full.dray --root root --keyring ops.pub --plan "$id"
want_status 24
want_text 'the plan is no longer'
tree_seen root >now
want_same snap now

# the floor does not rise, and does not forbid to repair an older release that was gone back to
run "$INSTALL" apply next.dray --root root --keyring ops.pub
want_status 0
run "$INSTALL" rollback --root root
want_status 0
run "$INSTALL" repair full.dray --root root --keyring ops.pub
want_status 0
run "$INSTALL" status --root root --json
want_text '"counter":3' out
want_text '"installed":{"bundle_id"' out
run "$INSTALL" check --root root
want_status 0
