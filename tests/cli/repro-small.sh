#!/bin/sh
# the same inputs give the same bundle: tools/repro.sh in small, over trees with every case, a program, sparse files and
# a file above the frame limit; and it does notice when two builds differ
. "$(dirname "$0")/lib.sh"

"$TOP/tools/make-cases.sh" "$T/trees" small >/dev/null 2>&1 || skip "no user xattrs here"
prog=$(command -v ls)
for side in old new; do
	cp "$prog" trees/$side/prog
	truncate -s 300k trees/$side/sparse
	awk -v s=$side 'BEGIN { x = 7; for (i = 0; i < 280000; i++) { x = (x * 1103515245 + 12345) % 2147483648
		print x, i % 1000 == 3 ? s : "same" } }' >trees/$side/above-the-limit
done
printf 'inserted' | dd of=trees/new/prog bs=1 seek=30000 conv=notrunc 2>/dev/null
printf 'end' | dd of=trees/new/sparse bs=1 seek=200000 conv=notrunc 2>/dev/null
find trees -newermt 2024-01-01 ! -type d -exec touch -h -d '2024-02-03 04:05:06.123456789' {} +

mkdir work
run env TREES="$T/trees" LEVEL=3 WORK="$T/work" SLIM_WAYS="jobs archive cache" "$TOP/tools/repro.sh"
need_status 0
no_text DIFFERS out
want_text ' builds are the same bytes' out
[ "$(tail -n 1 out | sed 's/[^0-9]//g')" -ge 27 ] || fail "too few builds: $(cat out)"
[ -z "$(ls work)" ] || fail "left behind: $(ls work)"
grep 'not here' out

# a build that depends on its surroundings: another umask gives another level
cat >dray <<-END
	#!/bin/sh
	[ "\$1" = build ] && [ "\$(umask)" = 0077 ] && exec "$DRAY" "\$@" --note "$T/note"
	exec "$DRAY" "\$@"
END
chmod +x dray
echo x >note
run env TREES="$T/trees" LEVEL=3 WORK="$T/work" WAYS="jobs umask" DRAY="$T/dray" "$TOP/tools/repro.sh"
want_status 1
want_text 'umask 077                    DIFFERS' out
want_text 'umask 000                    same' out
want_text 'member notes/note: none | 2 bytes' out
want_text 'repro: 2 of 12 builds differ' out

run env TREES="$T/work" "$TOP/tools/repro.sh"
want_status 2
want_text 'holds no pair of trees'
run env TREES='' "$TOP/tools/repro.sh"
want_status 2
want_text 'TREES=DIR is missing'
