#!/bin/sh
# a bundle with upstream's signed metadata: each path is held against the list that the server's key has signed, and what is
# not as it stands there, or not there, is refused by name, whoever signed the bundle
. "$(dirname "$0")/lib.sh"
. "$TOP/tests/fbsd/site.sh"
is_root || skip "owners of the trees need root"
key
fbsd_trees in
fbsd_site in site >/dev/null || exit 1
good=$KEYPRINT
TO=freebsd-update:14.0-RELEASE/amd64

# build SITE KEYPRINT OUT OPTION...
build() {
	b_site=$1 b_key=$2 b_out=$3
	shift 3
	run "$DRAY" build --from $TO --to $TO --server "file://$T/$b_site" --keyprint "$b_key" --fetched "store-$b_site" --level 3 \
	    --no-cache --key ops.key -o "$b_out" "$@"
}
# refused BUNDLE TEXT...: by both programs, in the same words
refused() {
	r_bundle=$1
	shift
	for p in "$DRAY" "$INSTALL"; do
		run "$p" verify "$r_bundle" --keyring ops.pub --upstream "$good"
		want_status 30
		for t; do
			want_text "$t"
		done
		no_text verified out
	done
}

build site "$good" up.dray --with-upstream
need_status 0
want_text '  notes      5, ' out
for p in "$DRAY" "$INSTALL"; do
	run "$p" verify up.dray --keyring ops.pub --upstream "$good"
	need_status 0
	want_text 'up.dray: FreeBSD-amd64 14.0-RELEASE-p1, counter 1400000001: verified' out
	want_text '  upstream   14.0-RELEASE/amd64, patch level 1, by the key of the keyprint' out
	want_text '             46 paths equal to the lines of its list, none differs' out
	want_text '  left out   nothing of its 47 lines' out
done
run "$INSTALL" verify up.dray --keyring ops.pub --upstream "$good" --json
need_status 0
want_text '"upstream":{"arch":"amd64","left_out":[],"lines":47,"patch":1,"paths":46,"release":"14.0-RELEASE","removed":0}' out
# by hand: the key, the tag and the list stand there as the server has them
mkdir by-hand && tar -xf up.dray -C by-hand
n=by-hand/notes/upstream
want_same $n-pub.ssl site/pub.ssl
want_same $n-latest.ssl site/14.0-RELEASE/amd64/latest.ssl
want_same $n-tINDEX "site/14.0-RELEASE/amd64/t/$(sha256sum <$n-tINDEX | cut -c 1-64)"
zstd -dqc $n-INDEX-ALL.zst >list
run grep -x "INDEX-ALL|$(sha256sum <list | cut -c 1-64)" $n-tINDEX
want_status 0
build site "$good" again.dray --with-upstream -j1
want_same up.dray again.dray

# what was left out is listed, with the reason
build site "$good" part.dray --with-upstream --components world/base,kernel --ignore bin/c --ignore usr/include
need_status 0
run "$INSTALL" verify part.dray --keyring ops.pub --upstream "$good"
need_status 0
want_text '  left out   11 of its 47 lines:' out
want_text '               component src/src: 5 lines, not in this bundle' out
want_text '               bin/c: 1 line, left out by an ignore rule' out
want_text '               usr/include: 5 lines, left out by an ignore rule' out
no_text 'bin/d' out
run "$INSTALL" verify part.dray --keyring ops.pub --upstream "$good" --json
want_text '{"component":"src/src","lines":5,"why":"not in this bundle"}' out
want_text '{"lines":1,"path":"bin/c","why":"left out by an ignore rule"}' out
echo '{ "recipe": 1, "freebsd_update": { "with_upstream": true } }' >with.json
build site "$good" recipe.dray --recipe with.json
need_status 0
want_same up.dray recipe.dray

# somebody else's server, with other files, and upstream's attachments
notes() {	# FOLDER [NAME FILE]: options for its attachments, NAME as another FILE
	for f in pub.ssl latest.ssl tINDEX INDEX-ALL.zst left-out; do
		if [ "${2:-}" = $f ]; then echo --note "$3"; else echo --note "$1/notes/upstream-$f"; fi
	done
}
mkdir -p evil-in/14.0-RELEASE
cp -a in/14.0-RELEASE/p1 evil-in/14.0-RELEASE/p0
fbsd_change evil-in/14.0-RELEASE/p0/world/base/bin/b 's/55/of somebody/'
chmod 4755 evil-in/14.0-RELEASE/p0/world/base/bin/d
"$TOP/tools/fbupdate-server" make evil-in evil >/dev/null || exit 1
evil=$(cat evil/KEYPRINT)
# shellcheck disable=SC2046 # names without blanks
build evil "$evil" evil.dray $(notes by-hand)
need_status 0
run "$INSTALL" verify evil.dray --keyring ops.pub
want_status 0
refused evil.dray 'cannot verify evil.dray: 2 paths are not as upstream' 'the first: bin/b: content: ' \
    "$(sha256sum <in/14.0-RELEASE/p1/world/base/bin/b | cut -c 1-64) in the list" 'hint: whoever signed the bundle changed'
build evil "$evil" own.dray --with-upstream
need_status 0
refused own.dray 'notes/upstream-latest.ssl: the public key has the print' "wanted is $good"

# a line more in the list, which the owner of the key has signed
mkdir more-out
cp -a site more
"$TOP/tools/fbupdate-server" fault more line 14.0-RELEASE "world|base|/bin/zz|f|0|0|0555|0|$(sha256sum <in/14.0-RELEASE/p1/world/base/bin/a | cut -c 1-64)|" ||
    exit 1
build more "$good" more.dray --with-upstream
need_status 0
tar -xf more.dray -C more-out
# shellcheck disable=SC2046
build site "$good" lacks.dray $(notes more-out)
need_status 0
refused lacks.dray 'bin/zz: it is in the list, and neither in the bundle nor among what was left out'
# shellcheck disable=SC2046
build more "$good" many.dray $(notes by-hand)
need_status 0
refused many.dray 'bin/zz: it is in the bundle, and not in the list'
# left out, and nobody says so
# shellcheck disable=SC2046
build site "$good" silent.dray --ignore bin/c $(notes by-hand)
need_status 0
refused silent.dray 'bin/c: it is in the list, and neither in the bundle'

# attachments: none, one too few, a bit flipped in each and all of it signed
build site "$good" bare.dray
need_status 0
refused bare.dray 'nothing of upstream can be proven: it has no notes/upstream-pub.ssl' 'hint: it was built without --with-upstream'
# shellcheck disable=SC2046
build site "$good" few.dray $(notes by-hand | grep -v tINDEX)
need_status 0
refused few.dray 'nothing of upstream can be proven: it has no notes/upstream-tINDEX'
while read -r name at text; do
	mkdir -p bent
	perl -e 'local $/; $_ = <STDIN>; substr($_, $ARGV[0], 1) ^= "\1"; print' "$at" <$n-"$name" >bent/upstream-"$name"
	# shellcheck disable=SC2046
	build site "$good" bent.dray $(notes by-hand "$name" "bent/upstream-$name")
	need_status 0
	refused bent.dray "$text"
done <<END
pub.ssl 100 notes/upstream-latest.ssl: the public key has the print
latest.ssl 100 notes/upstream-latest.ssl: the signature of the tag is not by this key
tINDEX 30 notes/upstream-tINDEX is not what the signed tag names: its SHA-256 is another
INDEX-ALL.zst 0 notes/upstream-INDEX-ALL.zst: not a zstd frame
END
# unpacked, but another list; and one that would unpack to more than any list has
sed 's/|0755|/|0555|/' list >bent/list
truncate -s 129M bent/zeros
while read -r file text; do
	zstd -qf --no-check bent/"$file" -o bent/upstream-INDEX-ALL.zst
	# shellcheck disable=SC2046
	build site "$good" bent.dray $(notes by-hand INDEX-ALL.zst bent/upstream-INDEX-ALL.zst)
	need_status 0
	refused bent.dray "$text"
done <<END
list notes/upstream-INDEX-ALL.zst is not what notes/upstream-tINDEX names: its SHA-256 is another
zeros notes/upstream-INDEX-ALL.zst: zstd frame holds 135266304 bytes, at most 134217728 are wanted
END
echo 'all|bin/../etc|because' >bent/upstream-left-out
# shellcheck disable=SC2046
build site "$good" bent.dray $(notes by-hand left-out bent/upstream-left-out)
need_status 0
refused bent.dray 'line 1 of notes/upstream-left-out says nothing'
# flipped in the bundle itself: found before anything of upstream is asked
perl -e 'local $/; $_ = <STDIN>; my $i = index $_, "BEGIN PUBLIC KEY"; die if $i < 0; substr($_, $i, 1) ^= "\1"; print' <up.dray >hit.dray
run "$INSTALL" verify hit.dray --keyring ops.pub --upstream "$good"
want_status 31
want_text 'notes/upstream-pub.ssl'

# what cannot be meant
run "$INSTALL" verify up.dray --keyring ops.pub --upstream "${good%?}"
want_status 2
want_text '--upstream: the keyprint is not 64 hexadecimal digits in lower case'
run "$INSTALL" verify up.dray --upstream "$good"
want_status 2
want_text 'no keyring'
run "$DRAY" build --to dir:in/14.0-RELEASE/p1/world/base --product p --version 1 --counter 1 --with-upstream -o no.dray
want_status 2
want_text '--with-upstream: dir:in/14.0-RELEASE/p1/world/base is no release of a server'
build site "$good" no.dray --with-upstream --owner-map 0:1
want_status 2
want_text '--with-upstream and --owner-map exclude each other'
build site "$good" no.dray --with-upstream --as-root
want_status 2
echo '{ "recipe": 1, "components": [ { "name": "all" } ] }' >comps.json
build site "$good" no.dray --with-upstream --recipe comps.json
want_status 2
want_text '--with-upstream and components of a recipe exclude each other'
build site "$good" no.dray --with-upstream --note by-hand/notes/upstream-tINDEX
want_status 2
want_text 'two attachments are named upstream-tINDEX'
no_file no.dray
