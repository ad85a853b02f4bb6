#!/bin/sh
# story: two sticks. A bundle that is larger than one of them is cut over both; what is missing is told by number; nothing is
# joined on a disk; the volumes install like the whole
. "$(dirname "$0")/lib.sh"

is_root && unshare -m true 2>/dev/null || skip 'needs root, for file systems of a size'
"$DRAY" quickstart demo -q || exit 1
mkdir s1 s2 rest
# 138 kB in volumes of 60 kB: two on the first stick, one on the second
cat >steps <<'X2'
set -eu
mount -t tmpfs -o size=128k tmpfs s1
mount -t tmpfs -o size=128k tmpfs s2
k='--keyring demo/ops.pub'
say() { echo "== $*"; }
status() { rc=0; "$@" || rc=$?; echo "status $rc"; }
say split
status "$DRAY" split demo/up.dray --size 60k -d s1 -d s2
ls s1 s2
say half
status "$INSTALL" verify s1 $k
say both
status "$INSTALL" verify s1 -d s2 $k
say plan
status "$INSTALL" plan s1 -d s2 --root demo/old $k
say bad
cp s1/up.part2of3 rest/
printf x | dd of=s1/up.part2of3 bs=1 seek=2000 conv=notrunc 2>/dev/null
status "$INSTALL" verify s1 -d s2 $k
cp rest/up.part2of3 s1/
say apply
status "$INSTALL" apply s2 -d s1 --root demo/old $k
df --output=used s1 s2
X2
export DRAY INSTALL
run unshare -m sh steps
want_status 0
cat out err | sed 's/^/  /'
part() { sed -n "/^== $1/,/^== /p" out; }
part split | grep -q 's1/up.part1of3' && part split | grep -q 's1/up.part2of3' && part split | grep -q 's2/up.part3of3' &&
    ok 'two on the first, one on the second' || fail 'not 2 and 1'
part split | grep -q '^next: dray-install verify s1/up.part1of3' && ok 'what comes next' || fail 'no next'
part half | grep -q '^status 31' && ok 'half is not enough' || fail 'half is taken'
want_text 'volume 3 of 3 of bundle ' err
want_text 'is not here' err
want_text 'hint: name the folder where it is: --dir DIR' err
part both | grep -q '^status 0' && ok 'both are verified' || fail 'both are not verified'
part both | grep -q '^next: dray-install plan s1 --root DIR --keyring demo/ops.pub -d s2$' && ok 'what comes next can be typed' ||
    fail 'next lacks what it was told'
part plan | grep -q '^status 0' && ok 'planned from volumes' || fail 'no plan'
part bad | grep -q '^status 31' && ok 'a bad volume' || fail 'a bad volume is taken'
want_text 'up.part2of3' err
part apply | grep -q 'demo/old is now demo 1.1' && ok 'installed from volumes' || fail 'not installed'
