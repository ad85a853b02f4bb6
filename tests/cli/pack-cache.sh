#!/bin/sh
# the cache of frames: the bundle is the same without it, with an empty one, a full one and a damaged one; it is told how
# many were found; one that can only be read is read; deleting it harms nothing; a folder that cannot be used is told
. "$(dirname "$0")/lib.sh"

mkdir old new
i=0
while [ $i -lt 30 ]; do
	seq $i 7 $((i + 90000)) >old/f$i
	{ seq $i 7 $((i + 9000)); echo changed; seq $((i + 9000)) 7 $((i + 90100)); } >new/f$i
	i=$((i + 1))
done
build() {
	o=$1
	shift
	run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --level 3 --json -o "$o" "$@"
	need_status 0
}

build none.dray --no-cache
no_text '"cache"' out
build empty.dray --cache deep/er/cache
want_text '"damaged":0,"found":0,' out
build full.dray --cache deep/er/cache -j8
want_text '"made":0,' out
want_same none.dray empty.dray
want_same none.dray full.dray

# each file in it damaged in another way
n=0
for f in deep/er/cache/*/*; do
	n=$((n + 1))
	case $((n % 4)) in
	0) : >"$f" ;;
	1) printf X | dd of="$f" bs=1 seek=60 conv=notrunc 2>/dev/null ;;
	2) printf X >>"$f" ;;
	3) rm "$f" && ln -s /dev/zero "$f" ;;
	esac
done
if [ $n -gt 3 ]; then ok "$n frames were kept"; else fail "only $n frames were kept"; fi
build damaged.dray --cache deep/er/cache
want_text '"found":0,' out
no_text '"damaged":0,' out
want_same none.dray damaged.dray
build again.dray --cache deep/er/cache
want_text '"damaged":0,' out
want_text '"made":0,' out
want_same none.dray again.dray
if [ -z "$(find deep -name 'tmp-*')" ]; then ok "no temporary file is left"; else fail "temporary files are left"; fi

# one frame under the name of another: its own hash is right and its content is not
set -- deep/er/cache/*/*
cp "$1" "$2"
build swapped.dray --cache deep/er/cache
no_text '"damaged":0,' out
want_same none.dray swapped.dray

# a folder that can only be read: what it holds is used, what is missing is made and not kept
if is_root; then
	find deep -type f -newer none.dray | head -n 1 >one
	xargs rm <one
	chmod -R a+rX,a-w deep
	mkdir open && chmod 777 open
	(cd deep && find . | sort) >before
	run as_nobody "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --level 3 --json \
	    --cache deep/er/cache -o open/ro.dray
	want_status 0
	want_text 'warning: the cache deep/er/cache cannot be written: it is read, not added to'
	want_text '"made":1,' out
	want_text '"read_only":true' out
	want_same none.dray open/ro.dray
	(cd deep && find . | sort) >after
	want_same before after
	# the usual one is used as well, and nobody has asked for it
	mkdir home && mv deep/er/cache home/dray
	run as_nobody env XDG_CACHE_HOME="$PWD/home" "$DRAY" build --from old --to new --product demo --version 1.1 \
	    --counter 2 --level 3 --json -o open/usual.dray
	want_status 0
	no_text warning
	want_text '"made":1,' out
	want_same none.dray open/usual.dray
fi
chmod -R u+w deep
rm -rf deep
build gone.dray --cache deep/er/cache
want_same none.dray gone.dray

# the usual place
build usual.dray
want_text "\"path\":\"$XDG_CACHE_HOME/dray\"" out
want_same none.dray usual.dray

echo file >file
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --cache file/x -o no.dray
want_status 1
want_text 'the cache file/x cannot be used'
no_file no.dray
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --cache x --no-cache -o no.dray
want_status 2
want_text '--cache and --no-cache exclude each other'

# in one of its own trees it would be packed, and what it holds would change the bundle
for c in new/cache new/a/b new; do
	run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --cache $c -o no.dray
	want_status 2
	want_text 'the cache lies inside the source new'
	no_file new/cache
	no_file new/a
done
no_file no.dray
ln -s new/sub in-new
mkdir new/sub
run "$DRAY" build --from new --to old --product demo --version 1.1 --counter 2 --cache in-new -o no.dray
want_status 2
rmdir new/sub
rm in-new
XDG_CACHE_HOME=$PWD/new build usual-inside.dray
no_text '"cache"' out
no_file new/dray
want_same none.dray usual-inside.dray
no_leftover .
