#!/bin/sh
# what is no bundle, given to every command that takes one: the same words everywhere, and nothing is written into it
. "$(dirname "$0")/lib.sh"

mkdir new root folder
echo a >new/a
key
"$DRAY" build --to new --product demo --version 1 --counter 1 --level 1 --no-cache --key ops.key -q -o up.dray || exit 1
mkfifo pipe
ln -s loop loop
truncate -s 1G huge
echo 'a short text' >text
printf dray.j >piece
: >empty
cp ops.pub list.pub

each() {	# each STATUS FILE TEXT
	for verb in "dray info" "dray list" "dray verify --keyring ops.pub" "dray extract -C x" "dray sign --key ops.key" \
	    "dray resign --key ops.key" "dray sign --request -o x" "dray-install info" \
	    "dray-install plan --root root --keyring ops.pub" "dray-install apply --root root --keyring ops.pub"; do
		# shellcheck disable=SC2086 # words without blanks
		run "$OUT"/$verb "$2"
		want_status "$1"
		want_text "$2: $3"
		no_file x
	done
}
each 2 folder 'not a file'
each 2 pipe 'not a file'
each 2 /dev/null 'not a file'
each 2 /dev/zero 'not a file'
each 1 loop 'cannot be opened: too many levels of symbolic links'
each 1 none 'cannot be opened: no such file or directory'
each 1 up.dray/ 'cannot be opened: not a directory'
each 31 huge 'not a dray bundle, or its start is damaged'
cp text before
each 31 text 'not a dray bundle'
want_same before text
each 31 piece 'bundle ends at byte 6, inside its first members'
each 31 empty 'bundle ends at byte 0, inside its first members'
no_text 'hint: check' err
want_text 'hint: it was not copied whole'
if [ -n "$(ls -A root)" ]; then fail "something was written into root"; fi

# keys that are none
for f in folder pipe /dev/null; do
	run "$DRAY" sign up.dray --key $f
	want_status 30
	want_text "$f: not a regular file"
done
run "$DRAY" sign up.dray --key none
want_status 1
want_text 'key none: cannot be opened: no such file or directory'
run "$DRAY" info up.dray --keyring none
want_status 1
want_text 'keyring none: cannot be opened: no such file or directory'
