#!/bin/sh
# no room, a file size limit, a signal: own exit status, a message with the path, nothing under the final name
. "$(dirname "$0")/lib.sh"

mkdir -p new small
head -c 3000000 /dev/urandom >new/noise
set -- build --to new --product demo --version 1 --counter 1 --level 1

# shellcheck disable=SC3045 # -f is POSIX
run sh -c 'ulimit -f 2000 && exec "$@"' sh "$DRAY" "$@" -o small/up.dray
want_status 1
want_text 'cannot build small/up.dray: '
want_text 'cannot be written: file too large'
no_file small/up.dray
no_leftover small

if is_root && mount -t tmpfs -o size=2m none small 2>/dev/null; then
	run "$DRAY" "$@" -o small/up.dray
	want_status 21
	want_text 'cannot build small/up.dray: temporary file in small: cannot be written: no space left on device'
	want_text 'hint: name a folder with more room by --tmpdir; nothing was written'
	# room for the frames elsewhere, none for the bundle
	mkdir large
	run "$DRAY" "$@" --tmpdir large -o small/up.dray
	left=$(ls -A small large/)
	want_status 21
	want_text 'cannot build small/up.dray: cannot be written: no space left on device'
	want_text 'hint: make room, or name a file in another folder by -o; nothing was written'
	tar -cf new.tar new
	run "$DRAY" build --to new.tar --product demo --version 1 --counter 1 --level 1 -o small/up.dray
	want_status 21
	want_text 'temporary file in small: cannot be written: no space left on device'
	want_text 'hint: name a folder with more room by --tmpdir; nothing was written'
	left=$left$(ls -A small)
	umount small
	if [ "$left" = "large/:

small:" ]; then ok "nothing left"; else fail "left: $left"; fi
else
	echo "# no room: not shown, there is no small file system to be had"
fi

# enough work for some seconds; the signal comes when the temporary file is there
i=0
while [ $i -lt 8 ]; do
	cp new/noise new/noise$i
	echo $i >>new/noise$i
	i=$((i + 1))
done
for sig in INT TERM HUP; do
	"$DRAY" build --to new --product demo --version 1 --counter 1 -j1 -o small/up.dray >out 2>err </dev/null &
	pid=$!
	n=0
	while [ -z "$(ls -A small)" ] && [ $n -lt 200 ]; do
		sleep 0.05
		n=$((n + 1))
	done
	# a shell starts background jobs with INT ignored; what the caller ignores stays ignored
	[ $sig != INT ] || sig=TERM
	kill -$sig $pid
	wait $pid
	ended $? "$sig to a running build"
	want_status 40
	want_text 'cannot build small/up.dray: interrupted'
	want_text 'hint: nothing was written'
	no_file small/up.dray
	no_leftover small
done
