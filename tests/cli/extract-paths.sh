#!/bin/sh
# extract: paths that were asked for, all beneath them, the directories above; what stands there already is never touched
. "$(dirname "$0")/lib.sh"

mkdir -p new/usr/bin new/usr/share/doc new/etc old/etc
for f in usr/bin/a usr/bin/b usr/share/doc/read etc/conf; do echo "$f" >new/$f; done
echo gone >old/etc/gone
ln new/usr/bin/a new/usr/share/also-a
ln -s ../nowhere new/etc/link
chmod 750 new/usr/share
touch -d '2001-02-03 04:05:06.5' new/usr/share/doc new/usr/share new/usr
nl=$(printf 'a\nb\033[31m')
echo odd >"new/$nl"
run "$DRAY" build --from old --to new --product demo --version 1 --counter 1 --level 3 --no-cache -o up.dray
need_status 0

names() {
	(cd "$1" && find . -mindepth 1 | sort)
}

run "$DRAY" extract up.dray usr/share etc/link -C x
want_status 0
names x >list
cat >want <<-END
	./etc
	./etc/link
	./usr
	./usr/share
	./usr/share/also-a
	./usr/share/doc
	./usr/share/doc/read
END
want_same want list
[ "$(stat -c '%a %Y' x/usr/share)" = "750 $(stat -c %Y new/usr/share)" ] || fail "usr/share is not dressed"
[ "$(stat -c %Y x/usr)" = "$(stat -c %Y new/usr)" ] || fail "the directory above is not dressed"
want_same x/usr/share/also-a new/usr/bin/a

# the same into the same folder: directories above may be there, nothing else
tree_snapshot x >snap
run "$DRAY" extract up.dray usr/bin/b usr/share -C x
want_status 22
want_text 'cannot extract up.dray: usr/share: is there already'
want_text 'nothing is overwritten: give an empty or a new folder with -C; nothing was written'
want_unchanged x snap
run "$DRAY" extract up.dray ./usr/bin/ /etc/conf -C x
want_status 0
want_file x/usr/bin/b
want_file x/etc/conf
[ "$(stat -c '%a' x/usr/share)" = 750 ] || fail "a directory that was there has changed"

# two names of one inode, both asked for
run "$DRAY" extract up.dray usr -C y
want_status 0
[ "$(stat -c %i y/usr/bin/a)" = "$(stat -c %i y/usr/share/also-a)" ] || fail "hard link was lost"
want_text '1 further names of files' out

# a file, a link, a fifo in the way, also above: nothing is followed, nothing is written
for kind in file link dangling fifo; do
	rm -rf z outside
	mkdir z outside
	case $kind in
	file) echo mine >z/usr ;;
	link) ln -s ../outside z/usr ;;
	dangling) ln -s ../outside/new z/usr ;;
	fifo) mkfifo z/usr ;;
	esac
	tree_snapshot z >snap
	run "$DRAY" extract up.dray usr/bin/a etc -C z
	want_status 22
	want_text 'usr: is there already'
	want_unchanged z snap
	[ -z "$(ls outside)" ] || fail "something was written outside"
done
rm -rf z outside
mkdir -p z/usr outside
ln -s ../../outside z/usr/bin
run "$DRAY" extract up.dray usr/bin/a -C z
want_status 22
want_text 'usr/bin: is there already'
[ -z "$(ls outside)" ] || fail "something was written outside"
# the folder itself may be named by a link: the user says so
ln -s outside way
run "$DRAY" extract up.dray etc/conf -C way
want_status 0
want_file outside/etc/conf

# names of any bytes, and told in plain text
run "$DRAY" extract up.dray "$nl" -C odd
want_status 0
want_file "odd/$nl"
run "$DRAY" extract up.dray "$nl" -C odd
want_status 22
want_text 'cannot extract up.dray: a\x0ab\x1b[31m: is there already'

# the tree as a whole may be named; an empty name is a slip of a script, not the whole
run "$DRAY" extract up.dray -C whole
need_status 0
for p in . / ./ //.//; do
	run "$DRAY" extract up.dray "$p" -C all
	want_status 0
	touch -r whole all	# the root itself is no part of a release
	same_tree whole all
	rm -rf all
done
run "$DRAY" extract up.dray '' -C none
want_status 2
want_text 'extract: an operand is empty'
want_text 'hint: was a variable left unset? see dray extract --help'
no_file none
run "$DRAY" extract up.dray usr '' -C none
want_status 2
want_text 'extract: an operand is empty'
no_file none
run "$DRAY" extract up.dray -C ''
want_status 2
want_text 'extract: the value of option --directory is empty'

for p in nowhere usr/bin/a/b ../x usr/../etc "$(printf '%05000d' 0)"; do
	run "$DRAY" extract up.dray "$p" -C none
	want_status 2
	want_text 'the release has no such path'
	no_file none
done
run "$DRAY" extract up.dray etc/gone -C none
want_status 2
want_text 'etc/gone: the release has removed it'
run "$DRAY" extract up.dray
want_status 2
want_text 'no folder to write into'
want_text 'hint: say where: -C DIR'
run "$DRAY" extract
want_status 2
run "$DRAY" extract up.dray -C new/etc/conf
want_status 2
want_text 'not a folder'
run "$DRAY" extract up.dray -C no/such/folder
want_status 1
want_text 'folder no/such/folder: cannot be created'
run "$DRAY" extract up.dray -C none --preserve
want_status 2
want_text 'nobody vouches for this bundle'
run "$DRAY" extract up.dray -C none --base dir:nowhere etc
want_status 2
want_text '--base: dir:nowhere: '
no_file none
key
run "$DRAY" extract up.dray -C none --keyring ops.pub
want_status 30
no_file none
