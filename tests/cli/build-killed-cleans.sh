#!/bin/sh
# a build that is killed leaves a temporary file; the next build into that folder removes it, but not that of a build that
# still runs
. "$(dirname "$0")/lib.sh"

# a build that would take an hour: its input is a hole
mkdir huge small to
truncate -s 900G huge/file
echo text >small/file

# until a build has made its file beside $1; the name in $temp
await() {
	n=0
	while :; do
		temp=$(find to -name ".dray-tmp-$1-*")
		[ -z "$temp" ] || break
		n=$((n + 1))
		if [ $n -gt 1000 ]; then
			fail "build $1 makes no temporary file"
			exit 1
		fi
		sleep 0.02
	done
	n=0
	# and until it reads: then it has long since locked it
	while ! grep -q 'read: begins' "err$2" && [ $n -lt 1000 ]; do
		n=$((n + 1))
		sleep 0.02
	done
}

long() {
	"$DRAY" build -v --to huge --product demo --version 1 --counter 1 -o "to/long$1.dray" >/dev/null 2>"err$1" </dev/null &
}

short() {
	run "$DRAY" build --to small --product demo --version 1 --counter 1 -o to/short.dray
	need_status 0
	want_file to/short.dray
}

long 1
first=$!
await $first 1
first_temp=$temp
long 2
second=$!
await $second 2
second_temp=$temp
kill -KILL $first
wait $first
want_file "$first_temp"
short
want_text 'removed 1 temporary file of a build that was killed'
no_file "$first_temp"
want_file "$second_temp"
short
no_text 'temporary file'
want_file "$second_temp"
kill -TERM $second
wait $second
ended $? 'the second build, interrupted'
want_status 40
no_leftover to

# with -q nothing is said, and it is done all the same
long 3
third=$!
await $third 3
kill -KILL $third
wait $third
run "$DRAY" build -q --to small --product demo --version 1 --counter 1 -o to/short.dray
want_status 0
want_same err /dev/null
no_leftover to
