#!/bin/sh
# how far a long run is: one live line on a terminal, with bytes, rate and time left, also within one large file; plain
# lines elsewhere; nothing with -q; never 100 % before the end
. "$(dirname "$0")/lib.sh"

command -v script >/dev/null || skip 'script is needed to make a terminal'

# as much as anybody has time for, and no room on the disk: it is interrupted as soon as enough was seen
mkdir huge
truncate -s 64G huge/file
cat >on-terminal <<'END'
echo $$ >pid
exec "$DRAY" build --to huge --product demo --version 1 --counter 1 -o up.dray
END
export DRAY
script -qefc 'sh on-terminal' log </dev/null >/dev/null 2>&1 &
script=$!
n=0
while :; do
	# a live line ends with "erase to the end of the line"
	seen=0
	[ ! -e log ] || seen=$(tr '\r' '\n' <log | grep -c '^read: [0-9]* % (.* of 68\.7 GB), .*B/s, .* left')
	[ "$seen" -lt 3 ] || break
	n=$((n + 1))
	if [ $n -gt 2000 ]; then
		fail "no progress on a terminal"
		break
	fi
	sleep 0.05
done
kill -TERM "$(cat pid)"
wait $script
ended $? 'build on a terminal, interrupted'
want_status 40
tr '\r' '\n' <log >lines
no_text '100 %' lines
no_text 'dray: read:' lines
want_text 'cannot build up.dray: interrupted' lines
# each line stands for itself and is taken away before other words
esc=$(printf '\033')
if grep -q "^$esc\[Kdray: cannot build" lines; then ok 'the line is gone'; else fail 'the line stays'; fi
differ=$(grep '^read: ' lines | sort -u | wc -l)
if [ "$differ" -ge 3 ]; then ok 'it moves within one file'; else fail 'it does not move'; fi

# elsewhere: lines, and all of it with -v
mkdir small
echo text >small/file
run "$DRAY" build -v --to small --product demo --version 1 --counter 1 -o small.dray
need_status 0
grep 'begins$' err >phases
printf 'dray: %s: begins\n' read compare match pack index write check >wanted
want_same phases wanted
no_text "$esc" err
# -q: nothing at all, on a terminal too
script -qefc "$DRAY build -q --to small --product demo --version 1 --counter 1 -o quiet.dray" log </dev/null >/dev/null 2>&1
ended $? 'build -q on a terminal'
want_status 0
sed '/^Script /d; /^$/d' log >lines
want_same lines /dev/null

# a terminal that cannot take a line back gets lines; a serial line of 9600 baud few words, and once a second at most
n=0
for line in 'TERM=dumb' 'stty 9600 2>/dev/null; TERM=vt100'; do
	n=$((n + 1))
	printf '%s; export TERM\necho $$ >pid\nexec "$DRAY" build --to huge --product demo --version 1 --counter 1 -o up.dray\n' "$line" >on-terminal
	rm -f pid log
	script -qefc 'sh on-terminal' log </dev/null >/dev/null 2>&1 &
	script=$!
	i=0
	while :; do
		seen=0
		[ ! -e log ] || seen=$(tr '\r' '\n' <log | grep -c '[0-9] s left\|[0-9] min left\|h [0-9]* min left')
		if [ $n = 1 ]; then [ "$seen" -lt 1 ]; else [ "$seen" -lt 2 ]; fi || break
		i=$((i + 1))
		# without a terminal's abilities it is a line every 30 s: seen by the unit test, which has a clock of its own
		[ $n = 2 ] || [ $i -lt 40 ] || break
		[ $i -lt 1000 ] || break
		sleep 0.05
	done
	kill -TERM "$(cat pid)"
	wait $script
	ended $? "build, $line"
	want_status 40
	tr '\r' '\n' <log >lines
	if [ $n = 1 ]; then
		no_text "$esc" lines
	else
		grep '^read: ' lines >told
		if [ -s told ] && ! grep -v '^read: [0-9]* %\(, [0-9].* left\)\{0,1\}' told; then ok 'few words'; else fail "more than that: $(head -n 3 told)"; fi
	fi
done

# colour is never used, so there is none to turn off
if grep -n '033\[[0-9;]*m\|x1b\[[0-9;]*m' "$TOP"/format/*.c "$TOP"/format/tool/*.c "$TOP"/installer/*.c "$TOP"/builder/*.c; then fail 'colour'; else ok 'no colour'; fi
