#!/bin/sh
# the same trees give the same bundle: any number of threads, umask, locale, zone, folder, user, order of directories
# and arguments, host time; SOURCE_DATE_EPOCH alone sets another build time
. "$(dirname "$0")/lib.sh"

"$TOP/tools/make-cases.sh" "$T/cases" small || exit 1
mkdir -p many/old many/new
i=0
while [ $i -lt 60 ]; do
	seq $i $((i + 4000)) >many/old/f$i
	seq $((i / 2)) $((i / 2 + 5000)) >many/new/f$i
	i=$((i + 1))
done
mv many/old cases/old/many
mv many/new cases/new/many

build() {	# build OUTPUT ARG...
	o=$1
	shift
	run "$DRAY" build --from dir:cases/old --to dir:cases/new --product demo --version 1.1 --counter 2 \
	    --level 3 --no-cache -o "$o" "$@"
	need_status 0
}

build one.dray -j1
build two.dray -j2
build eight.dray -j8
want_same one.dray two.dray
want_same one.dray eight.dray

(umask 077 && build umask.dray) || exit 1
want_same one.dray umask.dray
(LC_ALL=C.UTF-8 LANG=de_DE.UTF-8 TZ=Asia/Tokyo build place.dray) || exit 1
want_same one.dray place.dray

# copied in another order of names, so that directories are read in another order
mkdir copy
for side in old new; do
	mkdir "copy/$side"
	(cd "cases/$side" && find . -mindepth 1 -maxdepth 1 | sort -r) | while read -r name; do
		rsync -aHAX "cases/$side/$name" "copy/$side/"
	done
	rsync -aHAX "cases/$side/" "copy/$side/"
done
run sh -c 'cd / && "$1" build --from "$2/copy/old" --to "$2/copy/new" --product demo --version 1.1 --counter 2 \
	--level 3 -o "$2/copy.dray"' sh "$DRAY" "$T"
want_status 0
want_same one.dray copy.dray

# the order of bases, named and unnamed
set -- --product demo --version 1.1 --counter 2 --level 3 --to cases/new
mkdir third
echo third >third/x
run "$DRAY" build --from cases/old --from third --from cases/new "$@" -o order1.dray
want_status 0
run "$DRAY" build --from cases/new --from cases/old --from third "$@" -o order2.dray
want_status 0
want_same order1.dray order2.dray
run "$DRAY" build --from cases/old --from-version a:1 --from third --from-version b:2 "$@" -o named1.dray
want_status 0
run "$DRAY" build --from third --from-version b:2 --from cases/old --from-version a:1 "$@" -o named2.dray
want_status 0
want_same named1.dray named2.dray

# signing changes the slot only, and the same key signs the same bytes
key
build signed1.dray --key ops.key
cp one.dray signed2.dray
run "$DRAY" sign signed2.dray --key ops.key
want_status 0
want_same signed1.dray signed2.dray

(SOURCE_DATE_EPOCH=1234567890 && export SOURCE_DATE_EPOCH && build epoch.dray) || exit 1
if cmp -s one.dray epoch.dray; then fail "SOURCE_DATE_EPOCH does not count"; else ok "SOURCE_DATE_EPOCH counts"; fi
run "$DRAY" info epoch.dray --json
want_text '"built":1234567890' out
no_leftover .
