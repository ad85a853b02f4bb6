#!/bin/sh
# binary patches of a freebsd-update server: the same bundle with them and without, by them alone, and where they are wrong; no
# more questions than a server without any is worth; what clients may ask for stands in a mirror
. "$(dirname "$0")/lib.sh"
. "$TOP/tests/fbsd/site.sh"
is_root || skip "owners of the trees need root"
command -v nginx >/dev/null || skip "no nginx here"
key
fbsd_trees in
# many small files that the new release changes
for i in $(seq 60); do
	for d in in/13.2-RELEASE/p*; do
		echo "$i of old" >$d/world/base/usr/share/many-$i
	done
	for d in in/14.0-RELEASE/p*; do
		echo "$i of new" >$d/world/base/usr/share/many-$i
	done
done
fbsd_site in site >/dev/null || exit 1
O=13.2-RELEASE/amd64 N=14.0-RELEASE/amd64

build() {	# SERVER STORE FILE [ARG...]
	b_server=$1 b_store=$2 b_file=$3
	shift 3
	run "$DRAY" build --from freebsd-update:$O --to freebsd-update:$N --server "$b_server" --keyprint "$KEYPRINT" \
	    --fetched "$b_store" --os any --level 1 --no-cache --key ops.key -o "$b_file" "$@"
}
broken() {	# a copy of the site
	rm -rf bad
	cp -a site bad
}
by_patches() {	# how many contents
	sed -n 's/^ *\([0-9]*\) of them by patches, .*/\1/p' out
}
hash_of() {	# RELEASE LEVEL PATH
	sha256sum "in/$1/$2/world/base/$3" | cut -c 1-64
}

# without any
broken
rm -r bad/$O/bp bad/to-$N/bp
build "file://$T/bad" store-f whole.dray
need_status 0
no_text 'by patches' out
# with them
build "file://$T/site" store-bp bp.dray
need_status 0
n=$(by_patches)
[ "${n:-0}" -gt 60 ] && ok "$n contents by patches" || fail "by patches: $n"
want_same whole.dray bp.dray
build "file://$T/site" store-json json.dray --json
want_text "\"patched\":$n}" out
# what a patch has made stands in the store as if the server had sent it: nothing is fetched again
build "file://$T/nothing-but-tags" store-bp no.dray
want_status 2
mkdir -p tags/$O tags/$N
cp site/$O/latest.ssl tags/$O/
cp site/$N/latest.ssl tags/$N/
build "file://$T/tags" store-bp again.dray
need_status 0
want_same whole.dray again.dray

# a server that has no other way to them
broken
for r in 13.2-RELEASE 14.0-RELEASE; do
	"$TOP/tools/fbupdate-server" fault bad bp-only $r
done
[ ! -e "bad/$N/f/$(hash_of 14.0-RELEASE p1 bin/f).gz" ] || fail 'bin/f is there whole'
[ ! -e "bad/$O/f/$(hash_of 13.2-RELEASE p1 bin/c).gz" ] || fail 'a former bin/c is there whole'
build "file://$T/bad" store-only only.dray
need_status 0
want_same whole.dray only.dray
# old contents that are here, and not there
rm "bad/$O/f/$(hash_of 13.2-RELEASE p0 bin/f).gz"
build "file://$T/bad" store-no no.dray
want_status 1
no_file no.dray
want_text ": the server has no file://$T/bad/"
build "file://$T/bad" store-have have.dray --have in/13.2-RELEASE/p0/world/base
need_status 0
want_same whole.dray have.dray

# patches that are wrong: cut, flipped, none at all, of something else
broken
find bad/$O/bp bad/to-$N/bp -type f | sort >list
other=$(sed -n 1p list)
awk 'NR > 1' list | while read -r p; do
	k=$((${k:-0} + 1))
	case $((k % 4)) in
	0) "$TOP/tools/fbupdate-server" fault bad cut "${p#bad/}" ;;
	1) "$TOP/tools/fbupdate-server" fault bad flip "${p#bad/}" ;;
	2) echo rubbish >"$p" ;;
	3) cp "$other" "$p" ;;
	esac
done
build "file://$T/bad" store-wrong wrong.dray -v
need_status 0
want_same whole.dray wrong.dray
want_text ': a patch of no use: file://'
for why in 'no patch (BSDIFF40)' 'the patch is damaged: ' 'what it makes hashes to '; do
	want_text "$why"
done
n=$(grep -c 'a patch of no use' err)
[ "$n" -lt 60 ] && ok "$n times, then no more were asked for" || fail "$n patches were tried"
# and nothing else
h=$(hash_of 14.0-RELEASE p1 usr/share/many-7)
rm "bad/$N/f/$h.gz"
for p in "bad/to-$N/bp/"*"-$h"; do
	echo rubbish >"$p"
done
build "file://$T/bad" store-none none.dray
want_status 1
want_text "usr/share/many-7 of $N: the server has no file://$T/bad/$N/f/$h.gz, nor a patch that makes it"
want_text 'try another --server'
no_file none.dray

# questions are few where there are no patches; a server that refuses them has none
broken
rm -r bad/$O/bp bad/to-$N/bp
for kind in '' forbid; do
	fbsd_serve bad $kind
	: >bad/nginx.access
	build "127.0.0.1:$port" "store-http$kind" http$kind.dray
	need_status 0
	fbsd_unserve bad
	want_same whole.dray http$kind.dray
	asked=$(grep -c '/bp/' bad/nginx.access)
	[ "$asked" -gt 0 ] && [ "$asked" -lt 50 ] && ok "asked $asked times" || fail "asked $asked times"
done

# a mirror holds those that lead to what a release holds now
run "$DRAY" fetch freebsd-update:$O freebsd-update:$N --server "file://$T/site" --keyprint "$KEYPRINT" --fetched store-f \
    --mirror mirror
need_status 0
want_text 'patches in the mirror: ' out
for r in 13.2-RELEASE 14.0-RELEASE; do
	level=$(find site/$r/amd64/.history -name 'ALL.*' | sed 's/.*\.//' | sort -n | tail -n 1)
	awk -F '|' '$4 == "f" { print $9 }' "site/$r/amd64/.history/ALL.$level" | sort -u >now
	for d in $r to-$r; do
		find site/$d/amd64/bp -type f -printf '%f\n' 2>/dev/null | sort | awk 'FILENAME == ARGV[1] { now[$0] = 1; next }
		    substr($0, 66) in now' now - >wanted
		ls mirror/$d/amd64/bp | sort >got
		want_same wanted got
		while read -r p; do
			cmp -s "site/$d/amd64/bp/$p" "mirror/$d/amd64/bp/$p" || fail "$d/amd64/bp/$p is another"
		done <got
	done
done
[ -s wanted ] || fail 'no patch was looked at'
rm -r mirror/$N/f
for h in $(awk -F '|' '$4 == "f" { print $9 }' "site/$N/.history/ALL.1" | sort -u); do
	mkdir -p mirror/$N/f
	[ -n "$(find "mirror/to-$N/bp" -name "*-$h")" ] || cp "site/$N/f/$h.gz" mirror/$N/f/
done
build "file://$T/mirror" store-mirror mirror.dray
need_status 0
want_same whole.dray mirror.dray
run "$DRAY" fetch freebsd-update:$O freebsd-update:$N --server "file://$T/site" --keyprint "$KEYPRINT" --fetched store-f \
    --mirror mirror
need_status 0
no_text 'patches in the mirror: ' out
