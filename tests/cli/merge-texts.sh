#!/bin/sh
# the former texts of config files travel: of every base, of histories, in both modes; others do not
. "$(dirname "$0")/lib.sh"
key

mkdir -p one/etc one/usr two/etc two/usr new/etc new/usr
for d in one two new; do
	{ echo "$d" && seq 1 500; } >$d/etc/text
	{ echo "$d" && seq 1 500; } >$d/usr/text
	{ printf '%s\0' "$d" && seq 1 500; } >$d/etc/binary
	seq 1 100 >$d/etc/same
done
cp new/etc/binary two/etc/was-here && cp one/etc/text new/usr/moved
echo 'added' >new/etc/added && echo 'removed' >one/etc/removed
head -c 5000000 /dev/zero | tr '\0' a >one/etc/large && echo small >new/etc/large
set -- --to new --product demo --version 2 --counter 2 --level 3 --config 'etc/**' --key ops.key --no-cache
for mode in "" --slim; do
	run "$DRAY" build --from one --from two "$@" $mode -o up.dray
	need_status 0
	want_text '  to merge   1 former text of config files' out
	run "$DRAY" verify up.dray --keyring ops.pub
	want_status 0
	run "$DRAY" info up.dray --json
	# one of two texts is in the release too, and was wanted anyway
	want_text '"former":{"bytes":' out
	want_text '"contents":1,"frames":1}' out
	run "$DRAY" build --history one --history two "$@" $mode -o history.dray
	need_status 0
	want_text '  to merge   1 former text of config files' out
	run "$DRAY" verify history.dray --keyring ops.pub
	want_status 0
	# whoever starts there reads none of them
	run "$DRAY" info up.dray --json
	reads=$(sed 's/.*"reads_bytes":\([0-9]*\).*/\1/' out)
	[ "$reads" -gt 0 ] && ok "reads $reads" || fail 'reads nothing'
done
# no config file, no former texts: byte for byte as without
run "$DRAY" build --from one --from two --to new --product demo --version 2 --counter 2 --level 3 --key ops.key --no-cache -o no.dray
need_status 0
no_text 'to merge' out
# the same whatever the number of threads
for j in 1 4; do
	run "$DRAY" build --from one --from two "$@" -j $j -o j$j.dray
	need_status 0
done
want_same j1.dray j4.dray
