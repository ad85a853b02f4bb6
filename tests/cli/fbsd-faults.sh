#!/bin/sh
# what a freebsd-update server may do wrong, each with its own message, nothing made of it, and nothing bad kept: the next
# run from a good server needs only what is missing
. "$(dirname "$0")/lib.sh"
. "$TOP/tests/fbsd/site.sh"
is_root || skip "owners of the trees need root"
fbsd_trees in
fbsd_site in site >/dev/null || exit 1
R=13.2-RELEASE/amd64

# get SITE STORE [ARG...] - of the newest 13.2-RELEASE
get() {
	g_site=$1 g_store=$2
	shift 2
	run "$DRAY" fetch freebsd-update:$R --server "file://$T/$g_site" --keyprint "$KEYPRINT" --fetched "$g_store" "$@"
}
# broken KIND ARG... - a copy of the site with that fault
broken() {
	rm -rf bad
	cp -a site bad
	"$TOP/tools/fbupdate-server" fault bad "$@" || fail "no fault $*"
}
hash_of() {	# the content of a path of the newest 13.2-RELEASE
	gzip -dc "site/$R/m/"*.gz | awk -F '|' -v p="$1" '$3 == p && $4 == "f" { print $9 }' | sort | uniq -c | sort -rn |
	    awk 'NR == 1 { print $2 }'
}
refused() {	# STATUS TEXT... - and no bundle comes of it
	want_status "$1"
	shift
	for t; do
		want_text "$t"
	done
}

get site store --mirror mirror
need_status 0
want_text '13.2-RELEASE/amd64-p2: ' out
for d in pub.ssl latest.ssl f t m; do
	[ -e mirror/$R/$d ] || fail "no $d in the mirror"
done
get mirror store2
need_status 0

h=$(hash_of /bin/b)
broken missing "$R/f/$h.gz"
get bad fresh
refused 1 "the server has no file://$T/bad/$R/f/$h.gz" 'try another --server'
broken cut "$R/f/$h.gz"
get bad fresh
refused 31 "bin/b of $R: file://$T/bad/$R/f/$h.gz: is cut short" 'holds something else than it says'
broken flip "$R/f/$h.gz"
get bad fresh
want_status 31
want_text "bin/b of $R: file://$T/bad/$R/f/$h.gz: "
rm -rf bad && cp -a site bad
echo other | gzip -nc >"bad/$R/f/$h.gz"
get bad fresh
refused 31 "bin/b of $R: file://$T/bad/$R/f/$h.gz: does not hash to its name but to $(echo other | sha256sum | cut -c 1-64)"
[ ! -e "fresh/f/$(echo "$h" | cut -c 1-2)/$h.gz" ] || fail 'a wrong content was kept'
get site fresh
need_status 0
want_text '13.2-RELEASE/amd64-p2: ' out

# the chain of trust
run "$DRAY" fetch freebsd-update:$R --server "file://$T/site" --fetched fresh
refused 30 'wanted is 800651ef4b4c71c27e60786d7b487188970f4b4169cc055784e21eb71d410cc5' 'compare it with what its owner publishes'
broken flip "$R/latest.ssl"
get bad fresh
refused 30 "file://$T/bad/$R/latest.ssl: the signature of the tag is not by this key"
broken stale 13.2-RELEASE
get bad fresh
refused 23 "file://$T/bad/$R/latest.ssl: patch level 1 is older than 2, which was seen before" 'delete fresh/tag/'
get bad store3
need_status 0
want_text '13.2-RELEASE/amd64-p1: ' out
t=$(openssl rsautl -verify -pubin -inkey site/pub.ssl -in site/$R/latest.ssl 2>/dev/null | cut -d '|' -f 5)
broken cut "$R/t/$t"
get bad fresh2
refused 31 "file://$T/bad/$R/t/$t: does not hash to its name"
# from p1 to p2 with patches of the lists, and by whole lists where a patch is wrong
get site store3
need_status 0
want_text '13.2-RELEASE/amd64-p2: ' out
broken stale 13.2-RELEASE
get bad store4
need_status 0
rm -rf bad && cp -a site bad
for f in "bad/$R/tp/"*; do
	echo rubbish | gzip -nc >"$f"
done
get bad store4
need_status 0
want_text '13.2-RELEASE/amd64-p2: ' out

# lines: number and reason
line() {	# LINE REASON
	broken line 13.2-RELEASE "$1"
	get bad lines
	refused 31 "INDEX-ALL of $R, line " "$2" "tell its owner"
}
z=$(printf '%064d' 0)
line 'world|base|/bin/../x|d|0|0|0755|0||' 'it has a part "." or ".."'
line 'world|base|/bin/a|d|0|0|0755|0||' 'it stands there twice, not alike'
line 'world|base|/bin|d|0|0|0700|0||' 'it stands there twice'
line 'world|base|/lib/libc.so/x|d|0|0|0755|0||' 'it lies beneath a symlink'
line 'world|base|/bin/b/x|d|0|0|0755|0||' 'it lies beneath a file'
line 'world|base|/bin/a b|d|0|0|0755|0||' 'outside the class of names'
line "world|base|/bin/z|f|0|0|0755|0|$z|/bin/none" 'the file it is a hard link to is not there'
line 'world|base|/var/db/dray|d|0|0|0755|0||' 'a name that the installer keeps for itself'
line 'world|base|/bin/z|f|0|0|0755|0|' 'not ten fields'

# a copy in the store that was damaged since is fetched again
f=store/f/$(echo "$h" | cut -c 1-2)/$h.gz
printf X | dd of="$f" bs=1 seek=30 conv=notrunc 2>/dev/null
get site store --mirror mirror2
need_status 0
cmp "mirror2/$R/f/$h.gz" "site/$R/f/$h.gz" && ok 'healed'

# what the user may have meant
get site store --components world/bese
refused 2 '13.2-RELEASE/amd64 has no component world/bese'
get site store --components /world
refused 2 '--components: the component "/world": one such as world or world/base is wanted'
run "$DRAY" fetch freebsd-update:13.3-RELEASE/amd64 --server "file://$T/site" --keyprint "$KEYPRINT" --fetched store
refused 2 "the server has no file://$T/site/13.3-RELEASE/amd64/latest.ssl" 'is the release named as the server names it'
run "$DRAY" fetch freebsd-update:13.2-RELEASE --server "file://$T/site" --keyprint "$KEYPRINT" --fetched store
refused 2 'no release and architecture' 'freebsd-update:14.0-RELEASE/amd64'
for spec in x 13.2-RELEASE/amd64 freebsd_update:$R; do
	run "$DRAY" fetch "$spec" --server "file://$T/site" --keyprint "$KEYPRINT" --fetched store
	refused 2 "$spec: no release and architecture" 'write freebsd-update:RELEASE/ARCH'
done
run "$DRAY" fetch freebsd-update:$R --server "ftp://host" --keyprint "$KEYPRINT" --fetched store
refused 2 'the server "ftp://host": no such kind of URL'
run "$DRAY" fetch freebsd-update:$R --server "file://$T/site" --keyprint 12 --fetched store
refused 2 'the keyprint is not 64 hexadecimal digits'
run "$DRAY" fetch freebsd-update:$R --server 127.0.0.1:1 --keyprint "$KEYPRINT" --fetched fresh5
want_status 1
want_text "http://127.0.0.1:1/$R/pub.ssl: "
want_text '5 tries'
echo x >plain
run "$DRAY" build --to freebsd-update:$R --server "file://$T/bad" --keyprint "$KEYPRINT" --fetched lines -o no.dray
refused 31 'not ten fields'
no_file no.dray
no_leftover .
