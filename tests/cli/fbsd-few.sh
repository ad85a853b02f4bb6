#!/bin/sh
# a bundle of patch levels: only what differs is fetched, whatever the store holds; the sizes of all other files are not
# known, and nobody minds: apply, rollback, check, list, extract
. "$(dirname "$0")/lib.sh"
. "$TOP/tests/fbsd/site.sh"
is_root || skip "owners of the trees need root"
command -v nginx >/dev/null || skip "no nginx here"
key
fbsd_trees in
# of one file only the mode changes, at the second level
for level in p1 p2; do
	fbsd_change in/13.2-RELEASE/$level/world/base/etc/services ''
	chmod 600 in/13.2-RELEASE/$level/world/base/etc/services
done
: >in/13.2-RELEASE/p2/world/base/bin/nothing
fbsd_site in site >/dev/null || exit 1
R=13.2-RELEASE/amd64

# an independent count: contents of paths that had more than one state, or were not there at some time; no bytes need no
# asking
cat site/$R/.history/ALL.0 site/$R/.history/ALL.1 site/$R/.history/ALL.2 | awk -F '|' '
    { what = $4 == "f" ? $9 : $4; levels[$3]++
      if (!(($3, what) in seen)) { seen[$3, what]; states[$3]++; all[$3] = all[$3] " " what } }
    END { for (p in all) if (states[p] > 1 || levels[p] < 3) print all[p] }' | tr ' ' '\n' |
    grep -E '^[0-9a-f]{64}$' | grep -v '^e3b0c442' | sort -u >differ

levels() {	# STORE FILE [ARG...]
	l_store=$1 l_file=$2
	shift 2
	run "$DRAY" build --to freebsd-update:$R --server "127.0.0.1:$port" --keyprint "$KEYPRINT" --fetched "$l_store" \
	    --os any --level 3 --no-cache --key ops.key -o "$l_file" "$@"
	need_status 0
}
fbsd_serve site
levels store up.dray
sed -n "s|.*GET /$R/f/\([0-9a-f]*\).gz .*|\1|p; s|.*GET /$R/bp/[0-9a-f]*-\([0-9a-f]*\) HTTP/1.1\" 200 .*|\1|p" site/nginx.access |
    sort >asked
want_same differ asked
[ "$(wc -l <asked)" -lt "$(find site/$R/f -name '*.gz' | wc -l)" ] && ok "$(wc -l <asked) contents" || fail 'all was fetched'

# what the store holds does not show, nor does mode or where a content came from
run "$DRAY" fetch freebsd-update:$R --server "127.0.0.1:$port" --keyprint "$KEYPRINT" --fetched full
need_status 0
levels full again.dray
want_same up.dray again.dray
levels store2 have.dray --have in/13.2-RELEASE/p2/world/base
want_same up.dray have.dray
levels store slim.dray --slim
# sizes that another source tells are known
fbsd_whole in 13.2-RELEASE p0 p0
fbsd_whole in 13.2-RELEASE p2 new
levels store3 dir.dray --from p0
fbsd_unserve site
run "$DRAY" info dir.dray
no_text 'unsized' out

for bundle in up slim; do
	run "$DRAY" verify $bundle.dray --keyring ops.pub
	want_status 0
	for level in p0 p1 mix; do
		root=$bundle-$level
		if [ $level = mix ]; then
			fbsd_whole in 13.2-RELEASE p0 $root
			cp -a in/13.2-RELEASE/p2/world/base/bin/c in/13.2-RELEASE/p1/world/base/bin/by-p1 $root/bin/
		else
			fbsd_whole in 13.2-RELEASE $level $root
		fi
		# its mode cannot change in place: a copy is made of a file whose size the bundle does not tell
		ln $root/etc/services outside-$root
		cp -a $root before
		run "$INSTALL" apply $bundle.dray --root $root --keyring ops.pub
		need_status 0
		[ $level = p1 ] || [ "$(stat -c %h $root/etc/services)" = 1 ] || fail 'etc/services was changed in place'
		fbsd_same new $root
		run "$INSTALL" check --root $root
		want_status 0
		run "$INSTALL" rollback --root $root
		need_status 0
		same_tree before $root
		rm -rf before
	done
	fbsd_whole in 13.2-RELEASE p2 $bundle-p2
	run "$INSTALL" apply $bundle.dray --root $bundle-p2 --keyring ops.pub --exit-detail
	want_status 10
	run "$INSTALL" check $bundle.dray --root $bundle-p2 --keyring ops.pub
	want_status 0
done

# nobody prints a number that there is not
run "$DRAY" info up.dray
need_status 0
want_text 'files that no machine needs: known by hash alone' out
unsized=$(sed -n 's/^ *unsized *\([0-9]*\) .*/\1/p' out)
run "$DRAY" info up.dray --json
want_text "\"files_unsized\":$unsized" out
tar -xOf up.dray dray.json >desc
want_text '"required":["delta","history"]' desc
run "$DRAY" list up.dray -l
need_status 0
want_text ' ? - bin/a' out
no_text 18446744073709551615 out
run "$DRAY" list up.dray --json
need_status 0
no_text 18446744073709551615 out
no_text '"size":-1' out
run "$DRAY" list up.dray --why bin/a
want_text 'content    ? bytes' out
run "$DRAY" list up.dray --why bin/a --json
no_text '"size"' out
fbsd_whole in 13.2-RELEASE p0 root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
run "$INSTALL" check --root root --quick
want_status 0
want_text "of $unsized files the release tells no size, so --quick did not compare their content" out
run "$INSTALL" check --root root --quick --json
want_text "\"unsized\":$unsized" out
run "$INSTALL" check --root root --mtree
need_status 0
no_text 18446744073709551615 out
grep '^\./bin/a ' out >line
no_text 'size=' line
want_text "sha256digest=$(sha256sum <new/bin/a | cut -c 1-64)" line
grep '^\./bin/c ' out >line
want_text "size=$(stat -c %s new/bin/c) " line

# a file that the release does not change, edited, of another size and of the same: seen by check, and no way back from here
echo edited >root/bin/a
printf X | dd of=root/bin/f bs=1 conv=notrunc 2>/dev/null
run "$INSTALL" check --root root
want_status 20
want_text 'bin/a: content' out
want_text 'bin/f: content' out
tree_seen root >snap
run "$INSTALL" repair up.dray --root root --keyring ops.pub
want_status 20
want_text 'the bundle holds no copy of it'
tree_seen root >now
want_same snap now
fbsd_whole in 13.2-RELEASE p0 strict
echo edited >strict/bin/a
tree_snapshot strict >snap
run "$INSTALL" plan up.dray --root strict --keyring ops.pub --profile strict
want_status 20
want_text 'bin/a'
want_text 'the bundle holds no copy of it'
want_unchanged strict snap

# an extraction takes them from a base, whatever their size; without one it names what is missing
run "$DRAY" extract up.dray -C all --base p0 --keyring ops.pub
need_status 0
diff -r --no-dereference new all >differences && ok 'all is there' || { fail 'not all is there'; head differences; }
run "$DRAY" extract up.dray -C none --keyring ops.pub
want_status 20
want_text 'its bytes are neither in the bundle nor in a base'
no_file none
run "$DRAY" diff up.dray dir.dray
no_text 18446744073709551615 out

# comparing and taking need the files themselves
run "$DRAY" diff freebsd-update:$R new
want_status 2
want_text 'is a source of dray build and dray fetch alone'
