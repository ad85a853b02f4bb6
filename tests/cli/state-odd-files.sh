#!/bin/sh
# symlinks, pipes, sockets, folders and foreign files in the state folder where a file of ours has to be: never followed,
# waited for or written to; what only looks tells what it can
. "$(dirname "$0")/lib.sh"

S=root/var/lib/dray
mkdir -p old/var/lib new/var/lib side/dir
echo 1 >old/a && echo 2 >new/a && echo e >old/e && cp -p old/e new/e && chmod 600 new/e
find old new -exec touch -h -d @1700000000 {} +
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
run "$DRAY" build --to new --product demo --version 2 --counter 2 --key ops.key -o full.dray
need_status 0
cp -a old start && echo mine >start/e
run "$INSTALL" apply up.dray --root start --keyring ops.pub
need_status 0
echo bad >start/a
echo precious >side/file && echo x >side/dir/x
tree_snapshot side >side.snap

# again [FILE KIND] - a fresh root in which KIND is in the place of the state's FILE
again() {
	rm -rf root
	cp -a start root
	[ $# = 2 ] || return 0
	case $1 in
	release/*) set -- "release/$(basename "$S/$1")" "$2" ;;
	esac
	rm -rf "${S:?}/$1"
	case $2 in
	link) ln -s ../../../../side/file "$S/$1" ;;
	far) ln -s "$T/side/dir" "$S/$1" ;;
	pipe) mkfifo "$S/$1" ;;
	folder) mkdir "$S/$1" ;;
	socket) (cd "$(dirname "$S/$1")" && perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1)' "$(basename "$1")") ;;
	name) ln side/file "$S/$1" && tree_snapshot side >side.snap ;;
	esac
}
run() {	# as in lib.sh, with an end to waiting
	ran="$*"
	timeout 30 "$@" >"$T/out" 2>"$T/err" </dev/null
	status=$?
}
untouched() {
	tree_snapshot side >side.now
	want_same side.snap side.now
}
verb() {
	case $1 in
	repair) set -- repair full.dray --keyring ops.pub ;;
	esac
	run "$INSTALL" "$@" --root root
}

# the lock: whoever writes needs it
for kind in link far pipe folder socket name; do
	again lock $kind
	for v in repair rollback resume forget; do
		verb $v
		want_status 22
		want_text 'the lock in var/lib/dray is not a regular file of one name'
		want_text 'hint: nothing was changed; move it away and run it again'
	done
	verb status
	want_status 0
	verb check
	want_status 20
	untouched
	rm -rf "${S:?}/lock"
done
tree_snapshot side >side.snap

# the anchor: nobody goes on without knowing what is installed
for kind in link pipe folder socket; do
	again anchor.json $kind
	for v in check status repair rollback; do
		verb $v
		want_status 22
		want_text 'anchor.json is not a regular file'
	done
done

# what a release was, and what was decided about it
for f in head kept; do
	name=$(cd start/var/lib/dray && echo release/*.$f)
	for kind in link pipe folder socket; do
		again "$name" $kind
		verb check
		want_status 22
		[ $f = kept ] && want_text "$f is not a regular file" || want_text 'no record of what is installed in var/lib/dray'
		verb status
		want_status 0
	done
done

# the folders: nobody goes through a symlink
for d in evidence release tx; do
	for kind in far pipe link; do
		again $d $kind
		for v in status check repair rollback resume forget; do
			verb $v
			want_status 22
			want_text "var/lib/dray/$d is not a directory (a symlink is not followed)"
			want_text 'hint: nothing was changed; put the folder back, or move away what is in its place'
		done
		same_tree start root
	done
done
untouched

# the evidence: all that is whole is still told and can be taken out
for kind in link pipe folder socket; do
	again evidence/000001.paths $kind
	verb status --log
	want_status 31
	want_text 'the list of paths of record 1 was changed'
	verb status --paths 1
	want_status 31
	rm -f e.tar
	verb status --export e.tar
	want_status 31
	want_text 'e.tar is written, but: the evidence is not whole'
	tar -tf e.tar >names
	want_text evidence/000001.json names
	no_text .paths names
	again evidence/000001.json $kind
	verb status --log
	want_status 31
	want_text 'record 1 cannot be read'
	verb repair
	want_status 0
	want_same root/a new/a
done
untouched
