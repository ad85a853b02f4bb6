#!/bin/sh
# what applying will cost in CPU is told, and with --apply-cpu kept within a bound: frames that only dear bases read become
# larger; the same bytes whatever threads and cache; a bound that cannot be met is refused with the least that can
. "$(dirname "$0")/lib.sh"
key

# programs of calls to two hundred functions; a release puts something in here and there, and all behind it moves, with
# where the calls lead
cat >program.pl <<'END'
my ($x, $put) = @ARGV;
my $next = sub { $x = ($x * 1103515245 + 12345) % 2147483648; return $x >> 8 };
my $put_at = sub { return $put == 0 ? 0 : 1 + $_[0] * $put % 50 };
my @shift = (0);
push @shift, $shift[-1] + $put_at->($_) for 1 .. 200;
binmode STDOUT;
print "\177ELF\2\1\1" . "\0" x 9 . "\3\0\76\0" . "\0" x 44;
my $part = 0;
for (my $at = 64; $at < 600000; $at += 21) {
	my $to = $next->() % 200 * 3000;
	print "\x90" x $put_at->(++$part) while $part < int($at / 3000);
	print pack("V4", map { $next->() } 1 .. 4), "\xe8", pack("l<", $to + $shift[$to / 3000] - $at - $shift[$part] - 21);
}
END
mkdir -p r1/bin r1/var/lib r2/bin r2/var/lib new/bin new/var/lib
for i in 1 2 3; do
	perl program.pl $i 0 >r1/bin/p$i
	perl program.pl $i 7 >new/bin/p$i
	cp new/bin/p$i r2/bin
done
perl program.pl 1 9 >r2/bin/p1
seq 1 20000 >r1/text
seq 1 20100 >new/text
cp new/text r2/text

build() {	# build OUTPUT ARG...
	o=$1
	shift
	run "$DRAY" build --from r1 --from-version 1:1 --from r2 --from-version 2:2 --to new --product demo --version 3 --counter 3 \
	    --level 1 --key ops.key -o "$o" "$@"
}
number() {	# number TEXT - what stands behind TEXT, a pattern, where the last run told it last
	sed -n "s/.*$1\([0-9]*\).*/\1/p" out
}
milliseconds() {	# milliseconds SECONDS
	echo "$1" | sed 's/\.//; s/^0*//'
}
seconds() {	# seconds MS
	printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
}

first='"bases":\[{"apply_cpu_ms":' second='},{"apply_cpu_ms":' reads2='"exact","reads":' frames='"descriptor":[0-9]*,"frames":'
more='"cheaper":{"bound_ms":[0-9]*,"bytes":' cheaper='"cheaper":{[^}]*"frames":'

# told without being asked for
build free.dray --no-cache --json
need_status 0
no_text '"cheaper"' out
ms1=$(number "$first") ms2=$(number "$second") read2=$(number "$reads2") bytes=$(number "$frames")
if [ "$ms2" -gt 1 ] && [ "$ms1" -gt $((ms2 + 5)) ]; then ok "$ms1 ms, $ms2 ms"; else fail "costs of $ms1 and $ms2 ms"; fi
build again.dray --cache frames
need_status 0
want_text "  apply      about $(seconds "$ms1") s of CPU on one core from 1" out
want_text "  apply      about $(seconds "$ms2") s of CPU on one core from 2" out
no_text cheaper out
run "$DRAY" build --to new --product demo --version 3 --counter 3 --level 1 -o all.dray --cache frames --json
need_status 0
[ "$(number '{"apply_cpu_ms":')" -gt 0 ] || fail 'what an installation costs is not told'

# a bound that is met already changes nothing
build wide.dray --cache frames --apply-cpu "$(seconds "$ms1")"
need_status 0
want_text "  cheaper    0 frames, 0 bytes more, for at most $(seconds "$ms1") s" out
want_same free.dray wide.dray

# what cannot be met is refused, with the least that can
build no.dray --cache frames --apply-cpu 0.001
need_status 2
least=$(sed -n 's/.*hint: give --apply-cpu \(0\.[0-9]*\) or more, or leave it out$/\1/p' err)
want_text "dray: cannot build no.dray: --apply-cpu cannot be met: applying takes $least s at least"
no_file no.dray
no_leftover .
ms=$(milliseconds "$least")
build no.dray --cache frames --apply-cpu "$(seconds $((ms - 1)))"
need_status 2
want_text "takes $least s at least"
no_file no.dray
build least.dray --cache frames --json --apply-cpu "$least"
need_status 0
want_text "\"bound_ms\":$ms," out
[ "$(number "$first")" = "$ms" ] || fail "$least is not what it costs now"
all=$(number "$cheaper")

# between the two: some frames, of the dearer base alone, and what they add is told
middle=$(seconds $(((ms1 + ms) / 2)))
build bound.dray --cache frames --json --apply-cpu "$middle" -j1
need_status 0
some=$(number "$cheaper")
if [ "$some" -gt 0 ] && [ "$some" -lt "$all" ]; then ok "$some of $all"; else fail "$some frames, and $all at least"; fi
[ "$(number "$first")" -le $(((ms1 + ms) / 2)) ] || fail 'the bound is not kept'
added=$(number "$more")
if [ "$added" -gt 0 ] && [ "$(number "$frames")" = $((bytes + added)) ]; then
	ok "$added bytes more"
else
	fail "$added bytes more than $bytes, and it is $(number "$frames")"
fi
[ "$(number "$second")/$(number "$reads2")" = "$ms2/$read2" ] || fail 'what the cheaper base reads has changed'

# the same bytes whatever cache and threads
build warm.dray --cache frames --json --apply-cpu "$middle" -j2
need_status 0
want_text '"made":0,' out
want_same bound.dray warm.dray
build cold.dray --no-cache --apply-cpu "$middle" -j8
need_status 0
want_text "  cheaper    $some frames, " out
want_same bound.dray cold.dray

# and slim
build slim.dray --cache frames --slim --apply-cpu "$middle"
need_status 0
want_text "  cheaper    $some frames, " out
for b in bound slim; do
	for base in r1 r2; do
		rm -rf root
		cp -a $base root
		run "$INSTALL" apply $b.dray --root root --keyring ops.pub
		want_status 0
		same_tree new root
	done
done

# from a recipe; the option wins
recipe() {	# recipe VALUE
	echo '{"recipe":1,"product":"demo","version":"3","counter":3,"level":1,"to":"new","from":[{"source":"r1","version":"1","counter":1},'
	echo "{\"source\":\"r2\",\"version\":\"2\",\"counter\":2}],"
	echo "  \"apply_cpu\": $1}"
}
recipe "\"$middle\"" >ok.json
run "$DRAY" build --recipe ok.json --key ops.key --cache frames -o recipe.dray
need_status 0
want_same bound.dray recipe.dray
run "$DRAY" build --recipe ok.json --key ops.key --cache frames -o free2.dray --apply-cpu 60
need_status 0
want_same free.dray free2.dray
recipe 60 >ok.json
run "$DRAY" build --recipe ok.json --key ops.key --cache frames -o free2.dray
need_status 0
want_text 'for at most 60.000 s' out

# what is no number of seconds
rm -f no.dray
for v in 0 0.000 -1 1e3 0.0001 1000000.001 99999999999999999999 .5 5. '2 s'; do
	build no.dray --apply-cpu "$v"
	want_status 2
	want_text "--apply-cpu \"$v\": 0.001 to 1000000 seconds are wanted, such as 2.5"
done
build no.dray --apply-cpu 3 --apply-cpu 3
want_status 2
bad() {	# bad VALUE PLACE TEXT
	recipe "$1" >bad.json
	run "$DRAY" build --recipe bad.json -o no.dray
	want_status 2
	want_text "cannot build no.dray: bad.json:$2: $3"
}
for v in 0 -1 '"0.0001"' '"1e3"' '""' '" 1"' 9223372036854775807 1000001 true '[1]' '{}'; do
	bad "$v" 3:3 'apply_cpu: 0.001 to 1000000 seconds are wanted, such as 60 or "2.5"'
done
bad 2.5 3:16 'the JSON has something other than a plain whole number'
bad 1e3 3:16 'the JSON has something other than a plain whole number'
bad 99999999999999999999 3:16 'the JSON has a number beyond 64 bits'
no_file no.dray
