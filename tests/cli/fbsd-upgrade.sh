#!/bin/sh
# a freebsd-update server as source: ONE bundle brings targets at any patch level, and such that mix them, to the newest
# 14.0-RELEASE, and each goes back exactly. The plan says what the server's lists say
. "$(dirname "$0")/lib.sh"
. "$TOP/tests/fbsd/site.sh"
is_root || skip "owners of the trees need root"
key
fbsd_trees in
fbsd_site in site >/dev/null || exit 1
set -- --server "file://$T/site" --keyprint "$KEYPRINT" --fetched store --os any --level 3 --no-cache --key ops.key

run "$DRAY" build --from freebsd-update:13.2-RELEASE/amd64 --from freebsd-update:14.0-RELEASE/amd64 \
    --to freebsd-update:14.0-RELEASE/amd64 "$@" -o up.dray
need_status 0
want_text 'up.dray: FreeBSD-amd64 14.0-RELEASE-p1, counter 1400000001' out
want_text '  from       13.2-RELEASE: freebsd-update:13.2-RELEASE/amd64' out
run "$DRAY" info up.dray --keyring ops.pub
need_status 0
want_text '  components kernel/generic, src/src, world/base' out
want_text '  phases     kernel, world, cleanup' out
want_text '14.0-RELEASE (former states: a machine may mix them)' out
want_text '13.2-RELEASE (former states: a machine may mix them)' out

fbsd_whole in 14.0-RELEASE p1 new
for level in p0 p1 p2 14p0 mix; do
	case $level in
	14p0) fbsd_whole in 14.0-RELEASE p0 $level ;;
	mix)
		fbsd_whole in 13.2-RELEASE p0 $level
		cp -a in/13.2-RELEASE/p2/world/base/bin/c in/13.2-RELEASE/p2/world/base/bin/by-p1 mix/bin/
		cp -a in/13.2-RELEASE/p1/kernel/generic/boot/kernel/kernel mix/boot/kernel/
		;;
	*) fbsd_whole in 13.2-RELEASE $level $level ;;
	esac
	cp -a $level before
	run "$INSTALL" apply up.dray --root $level --keyring ops.pub
	need_status 0
	no_text 'local edits' out
	fbsd_same new $level
	run "$INSTALL" check --root $level
	want_status 0
	run "$INSTALL" rollback --root $level
	need_status 0
	same_tree before $level
	rm -rf before
done

# an independent count of what differs between p2 and the release
lines() {
	gzip -dc "site/$1/amd64/m/$(sed -n 's/^INDEX-ALL|//p' "site/$1/amd64/t/$2").gz" | awk -F '|' '$3 != "/"'
}
newest() {
	openssl rsautl -verify -pubin -inkey site/pub.ssl -in "site/$1/amd64/latest.ssl" 2>/dev/null | cut -d '|' -f 5
}
lines 13.2-RELEASE "$(newest 13.2-RELEASE)" >old.lines
lines 14.0-RELEASE "$(newest 14.0-RELEASE)" >new.lines
counts=$(awk -F '|' 'FILENAME == ARGV[1] { type[$3] = $4; line[$3] = $0; next }
    { seen[$3] = 1
      if (!($3 in type)) added++
      else if (type[$3] != $4) typed++
      else if (line[$3] != $0) { split(line[$3], a, "|"); if ($4 != "d" && a[9] != $9) updated++ } }
    END { for (p in type) if (!(p in seen)) removed++; print added + 0, updated + 0, removed + 0, typed + 0 }' old.lines new.lines)
run "$INSTALL" plan up.dray --root p2 --keyring ops.pub --json
need_status 0
while read -r added updated removed typed; do
	want_text "\"added\":$added," out
	want_text "\"updated\":$updated}" out
	want_text "\"removed\":$removed," out
	want_text "\"type_changed\":$typed," out
	for n in "$added" "$updated" "$removed" "$typed"; do
		[ "$n" -gt 0 ] || fail "nothing was counted: $counts"
	done
done <<END
$counts
END

# without the sources: a machine that has none gets none
run "$DRAY" build --from freebsd-update:13.2-RELEASE/amd64 --to freebsd-update:14.0-RELEASE/amd64 "$@" \
    --components world,kernel/generic -o nosrc.dray
need_status 0
fbsd_whole in 13.2-RELEASE p1 nosrc world/base kernel/generic
fbsd_whole in 14.0-RELEASE p1 nosrc-new world/base kernel/generic
run "$INSTALL" apply nosrc.dray --root nosrc --keyring ops.pub
need_status 0
fbsd_same nosrc-new nosrc

# patch levels alone; order of bases and number of threads do not show
run "$DRAY" build --to freebsd-update:13.2-RELEASE/amd64 "$@" -o levels.dray
need_status 0
want_text 'levels.dray: FreeBSD-amd64 13.2-RELEASE-p2, counter 1300200002' out
fbsd_whole in 13.2-RELEASE p2 newest
fbsd_whole in 13.2-RELEASE p0 levels
run "$INSTALL" apply levels.dray --root levels --keyring ops.pub
need_status 0
fbsd_same newest levels
run "$DRAY" build --from freebsd-update:14.0-RELEASE/amd64 --from freebsd-update:13.2-RELEASE/amd64 \
    --to freebsd-update:14.0-RELEASE/amd64 "$@" -j1 -o other.dray
need_status 0
want_same up.dray other.dray

# the same by a recipe; what it says wrong is told by its place
cat >site.json <<END
{ "recipe": 1, "from": ["freebsd-update:13.2-RELEASE/amd64", "freebsd-update:14.0-RELEASE/amd64"],
  "to": "freebsd-update:14.0-RELEASE/amd64", "os": "any", "level": 3,
  "freebsd_update": { "server": "file://$T/site", "keyprint": "$KEYPRINT", "components": ["world", "kernel", "src"] } }
END
run "$DRAY" build --recipe site.json --fetched store --no-cache --key ops.key -o recipe.dray
need_status 0
want_same up.dray recipe.dray
sed 's/"src"\]/"\/src"]/' site.json >wrong.json
run "$DRAY" build --recipe wrong.json --fetched store -o no.dray
want_status 2
want_text 'wrong.json:3:'
want_text 'freebsd_update.components[2]: the component "/src": one such as world or world/base is wanted'
no_file no.dray

# what is left out of all sources
run "$DRAY" build --from freebsd-update:13.2-RELEASE/amd64 --to freebsd-update:14.0-RELEASE/amd64 "$@" --ignore 'bin/[[]' \
    --ignore usr/src -o ignore.dray
need_status 0
run "$DRAY" list ignore.dray -q
no_text 'usr/src' out
no_text 'bin/[' out
want_text 'bin/a' out

# what is here need not be fetched: of the first patch level only what the later ones changed
tar -cJf base.txz -C in/13.2-RELEASE/p0/world/base .
set -- --server "file://$T/site" --keyprint "$KEYPRINT" --os any --level 3 --no-cache --key ops.key
run "$DRAY" build --from freebsd-update:13.2-RELEASE/amd64 --to freebsd-update:14.0-RELEASE/amd64 "$@" --fetched store2 \
    --have archive:base.txz --have in/14.0-RELEASE/p1 -o have.dray
need_status 0
run "$DRAY" build --from freebsd-update:13.2-RELEASE/amd64 --to freebsd-update:14.0-RELEASE/amd64 "$@" --fetched store -o all.dray
need_status 0
want_same all.dray have.dray
h=$(sha256sum <in/13.2-RELEASE/p0/world/base/bin/a | cut -c 1-64)
f=f/$(echo "$h" | cut -c 1-2)/$h.gz
cmp -s "store2/$f" "store/$f" && fail 'a content that was here was fetched' || ok 'what was here was not fetched'
run "$DRAY" build --from freebsd-update:13.2-RELEASE/amd64 --to freebsd-update:14.0-RELEASE/amd64 "$@" --fetched store3 \
    --have archive:none.txz -o no.dray
want_status 2
want_text '--have: archive:none.txz: no such file'
no_file no.dray
