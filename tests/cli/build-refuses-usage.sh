#!/bin/sh
# wrong options of build: exit 2, its own words, and no output
. "$(dirname "$0")/lib.sh"

mkdir -p new old
echo a >new/a
echo old bundle >up.dray
cp up.dray keep

refused() {	# refused TEXT ARG...
	text=$1
	shift
	run "$DRAY" build "$@"
	want_status 2
	want_text "$text"
	no_leftover .
	want_same up.dray keep
}

good="--to new --product demo --version 1 --counter 1"
# shellcheck disable=SC2086 # words without blanks
{
	refused '--to is missing' --product demo --version 1 --counter 1 -o up.dray
	refused '-o is missing' $good
	refused '--product is missing' --to new --version 1 --counter 1 -o up.dray
	refused '--version is missing' --to new --product demo --counter 1 -o up.dray
	refused '--counter is missing' --to new --product demo --version 1 -o up.dray
	refused 'option --counter: "0" will not do' --to new --product demo --version 1 --counter 0 -o up.dray
	refused 'option --counter: "1x" will not do' --to new --product demo --version 1 --counter 1x -o up.dray
	refused '--product "a b": 1 to 64 of' --to new --product 'a b' --version 1 --counter 1 -o up.dray
	refused '--version "1/2": 1 to 64 of' --to new --product demo --version 1/2 --counter 1 -o up.dray
	refused '--os: linux, freebsd or any is wanted' $good --os beos -o up.dray
	refused '--level "20": fast, default, best or 1 to 19' $good --level 20 -o up.dray
	refused '--slot: a multiple of 512' $good --slot 1000 -o up.dray
	refused 'option --slot: "257k" will not do' $good --slot 257k -o up.dray
	refused '--compatible other is given twice' $good --compatible other --compatible other -o up.dray
	refused '--compatible demo is the product itself' $good --compatible demo -o up.dray
	refused 'cannot build -: it cannot go to standard output: it must have a name' $good -o -
	no_file ./-
	refused '--compatible "x y"' $good --compatible 'x y' -o up.dray
	refused 'cannot build up.dray: dir:none: no such directory' --to dir:none --product demo --version 1 --counter 1 -o up.dray
	refused 'new/a: not a directory' --to dir:new/a --product demo --version 1 --counter 1 -o up.dray
	refused 'none: no such directory' $good --from none -o up.dray
	refused 'ftp:x: unknown kind of source' $good --from ftp:x -o up.dray
	refused 'the path is empty' $good --from dir: -o up.dray
	refused 'more --from-version than --from' $good --from-version 1 -o up.dray
	refused '--from-version "1:x": VERSION or VERSION:COUNTER' $good --from old --from-version 1:x -o up.dray
	refused 'the counter of base 1.0 is above that of the release' $good --from old --from-version 1.0:2 -o up.dray
	refused 'two bases are called 1.0' $good --from old --from-version 1.0 --from old --from-version 1.0 -o up.dray
	refused 'option --to is given twice' $good --to new -o up.dray
	for option in --output --tmpdir --cache --key --recipe --note --ignore --from --compatible --owner-map; do
		refused "build: the value of option $option is empty" $good $option ''
		want_text 'hint: was a variable left unset? see dray build --help'
	done
	refused 'build: an operand is empty' $good -o up.dray ''
	refused '"extra" is one operand too many' $good -o up.dray extra
	refused 'unknown option --frm' $good --frm old -o up.dray
	refused '--passphrase-file goes with --key only' $good --passphrase-file x -o up.dray
	refused 'two attachments are named a' $good --note new/a --note new/../new/a -o up.dray
	refused 'the name of an attachment' $good --note ./ -o up.dray
	for k in k1 k2 k3 k4; do key $k; done
	refused '4 signatures need 545 bytes, the signature slot has 512' $good --slot 512 --key k1.key --key k2.key --key k3.key \
	    --key k4.key -o up.dray
	want_text 'hint: give more room with --slot'
	refused 'cannot build old: is a folder' $good -o old
	refused 'cannot build new/up.dray: the output lies inside the source new' $good -o new/up.dray
	refused 'the output lies inside the source old' $good --from old -o old/../old/up.dray
	mkfifo pipe
	refused 'cannot build pipe: exists and is not a regular file' $good -o pipe
	for bad in '' x -1 1.5 ' 1' 99999999999999999999; do
		export SOURCE_DATE_EPOCH="$bad"
		refused "SOURCE_DATE_EPOCH \"$bad\": seconds since 1970 are wanted" $good -o up.dray
	done
	unset SOURCE_DATE_EPOCH

	run "$DRAY" build $good -o nowhere/up.dray
	want_status 1
	want_text 'cannot build nowhere/up.dray: the folder cannot be opened: no such file'

	# keys and attachments are read before the long work
	for option in --key --note; do
		run "$DRAY" build $good $option none -o up.dray
		want_status 1
		want_text 'no such file'
		want_text none
		want_same up.dray keep
		no_leftover .
	done
	echo rubbish >not.key
	run "$DRAY" build $good --key not.key -o up.dray
	want_status 30
	want_text 'key not.key: no private key in it'
	want_same up.dray keep
	no_leftover .
}

# nothing wrong: the old file gives way
# shellcheck disable=SC2086
run "$DRAY" build $good -o up.dray
want_status 0
run "$DRAY" info up.dray
want_status 0
