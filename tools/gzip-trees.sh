#!/bin/sh
# gzip-trees.sh - what .gz files of two real trees cost in a bundle, and what applying that costs: spec/performance.md 5.1
#   tools/gzip-trees.sh OLD NEW WORK [build option...]       WORK: a folder to make, of twice the size of the .gz files of both
set -eu
[ $# -ge 3 ] || { sed -n '2,3s/^# *//p' "$0" >&2; exit 2; }
out=$(cd "${OUT:-out}" && pwd -P)
old=$(cd "$1" && pwd -P) new=$(cd "$2" && pwd -P) work=$3
shift 3
mkdir "$work"
cd "$work"
for side in old new; do
	mkdir $side
	[ $side = old ] && from=$old || from=$new
	(cd "$from" && find . -name '*.gz' -type f -print0 | tar --null -T - -cf -) | tar -C $side -xf -
done
find "$PWD/new" -name '*.gz' -type f >list
DRAY_GZIP_LIST=list "$out/unit/test_gzip" | grep '^#'
"$out/dray" key new key -q
time "$out/dray" build --from old --to new --product demo --version 1 --counter 1 --slim --no-cache --key key.key -o up.dray "$@"
cp -a old root
time "$out/dray-install" apply up.dray --root root --keyring key.pub -j1
rsync -n -aHAX --checksum --delete --itemize-changes --exclude=/var/lib new/ root/
