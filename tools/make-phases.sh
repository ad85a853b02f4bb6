#!/bin/sh
# make-phases.sh - trees for an upgrade in phases: old, new, and what the tree is after each phase
#   tools/make-phases.sh DIR     makes DIR/old, DIR/new, DIR/mid1, DIR/mid2, DIR/want and DIR/recipe.json
# mid1 and mid2 are the states between kernel, world and cleanup; want is new with the time of the root kept.
set -e
umask 022
cd "$1"

mkdir -p old/boot old/usr/bin old/mix old/gone old/etc old/var/lib old/away
for f in boot/kernel boot/old usr/bin/a usr/bin/b mix/k mix/w gone/g etc/x away/k away/w; do
	echo "1 $f" >old/$f
done
cp -a old new
for f in boot/kernel boot/new usr/bin/a mix/k mix/w etc/x; do
	echo "2 $f" >new/$f
done
# a directory that is new as a whole comes with the first phase in it, one that goes leaves with the last
rm -r new/gone new/boot/old new/usr/bin/b new/away
mkdir new/usr/more new/fresh && echo 2 >new/usr/more/m && echo 2 >new/fresh/k && echo 2 >new/fresh/w
chmod 750 new/boot new/usr new/etc
find old -exec touch -h -d @1000000000 {} +
find new -exec touch -h -d @1100000000 {} +
cat >recipe.json <<'X'
{"recipe": 1, "phases": [{"name": "kernel", "paths": ["boot", "mix/k", "fresh/k", "away/k"]},
 {"name": "world", "paths": ["usr", "mix", "fresh", "away/w"]},
 {"name": "cleanup"}]}
X

mkdir -m 700 old/var/lib/dray
touch -d @1000000000 old/var/lib

# what the tree is after the first and after the second phase
cp -a old mid1
cp -a new/boot/kernel new/boot/new mid1/boot && rm mid1/boot/old && cp -a new/mix/k mid1/mix/k && chmod 750 mid1/boot
cp -a new/fresh mid1/fresh
touch -d @1100000000 mid1/boot mid1/mix
touch -d @1000000000 mid1
cp -a mid1 mid2
cp -a new/usr/bin/a mid2/usr/bin/a && rm mid2/usr/bin/b && cp -a new/usr/more mid2/usr/more && chmod 750 mid2/usr
cp -a new/mix/w mid2/mix/w
touch -d @1100000000 mid2/usr mid2/usr/bin mid2/mix
cp -a new want && touch -d @1000000000 want
