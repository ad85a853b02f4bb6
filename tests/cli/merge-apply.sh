#!/bin/sh
# edited config files go into the release's texts: what is clean, what is a conflict, and back again
. "$(dirname "$0")/lib.sh"
key

lines() { seq "$1" "$2"; }
mkdir -p old/etc old/usr new/etc new/usr old/var/lib new/var/lib
for f in far near same deletion mode crlf theirs mine; do lines 1 60 >old/etc/$f; done
sed -i 's/$/\r/' old/etc/crlf
printf 'a\nb\nc\nd\ne\nf\ng\nh\nend' >old/etc/noeol
lines 1 70 >old/usr/program
cp -a old/etc/. new/etc/
for f in far near same deletion mode theirs mine; do sed -i 's/^30$/thirty/' new/etc/$f; done
sed -i 's/^30\r$/thirty\r/' new/etc/crlf
sed -i 's/^b$/B/' new/etc/noeol
lines 1 71 >new/usr/program
lines 1 10 >new/etc/added-both
lines 1 10 >new/etc/added-same
ln -s far old/etc/link && ln -s near new/etc/link
printf 'bin\0ary one\n' >old/etc/binary && printf 'bin\0ary two\n' >new/etc/binary
lines 1 9 >old/etc/mode-only && cp old/etc/mode-only new/etc && chmod 600 new/etc/mode-only
find old new -exec touch -h -d @1700000000 {} +
for mode in --slim ""; do
	run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --config 'etc/**' --key ops.key $mode -o up.dray
	need_status 0

	rm -rf root before && cp -a old root
	sed -i 's/^1$/# mine\n1/' root/etc/far
	sed -i 's/^32$/thirty-two/' root/etc/near
	sed -i 's/^30$/thirty/' root/etc/same
	sed -i '/^5$/d' root/etc/deletion
	sed -i 's/^1\r$/one\r/' root/etc/crlf
	sed -i 's/^h$/H/' root/etc/noeol
	sed -i 's/^60$/sixty/' root/etc/mode && chmod 640 root/etc/mode
	{ sed 's/^30$/thirty/' old/etc/theirs | sed 's/^2$/two/'; } >root/etc/mine
	lines 1 10 >root/etc/added-same
	echo edited >>root/etc/mode-only
	echo local >root/etc/local
	ln -sf elsewhere root/etc/link
	cp -a root before
	run "$INSTALL" plan up.dray --root root --keyring ops.pub
	want_status 0
	want_text 'local edits, merged with the release'"'"'s:' out
	want_text '  etc/far: edited here; merged with the release' out
	want_text '  etc/mine: edited here; nothing of the release is new in it' out
	want_text '  etc/mode-only: edited here; only its attributes are set' out
	want_text '  etc/link: edited here and replaced' out
	run "$INSTALL" plan up.dray --root root --keyring ops.pub --json
	id=$(sed -n 's/.*"plan_id":"\([0-9a-f]*\)".*/\1/p' out)
	want_text '"kind":"merged","path":"etc/near"' out
	run "$INSTALL" apply up.dray --root root --keyring ops.pub --plan "$id" --verify-writes
	want_status 0
	expect() {	# FILE, the wanted bytes on stdin
		cat >want
		want_same want "root/etc/$1"
	}
	sed 's/^1$/# mine\n1/' new/etc/far | expect far
	sed 's/^32$/thirty-two/' new/etc/near | expect near
	sed '/^5$/d' new/etc/deletion | expect deletion
	sed 's/^1\r$/one\r/' new/etc/crlf | expect crlf
	sed 's/^h$/H/' new/etc/noeol | expect noeol
	sed 's/^60$/sixty/' new/etc/mode | expect mode
	expect same <new/etc/same
	expect mine <before/etc/mine
	expect binary <new/etc/binary
	[ "$(stat -c %a root/etc/mode)" = 644 ] && ok "the release's mode" || fail 'the mode stays'
	[ "$(stat -c %a root/etc/mode-only)" = 600 ] && ok 'its mode is set' || fail 'no mode'
	[ "$(readlink root/etc/link)" = near ] && ok 'a symlink is no text' || fail 'link'
	run "$INSTALL" check --root root
	want_status 0
	want_text 'etc/far: content, mtime (config)' out
	run "$INSTALL" status --root root --export e -q
	run "$DRAY" report e
	want_text '6 merged' out
	want_status 0
	run "$INSTALL" apply up.dray --root root --keyring ops.pub
	want_status 0
	run "$INSTALL" rollback --root root
	want_status 0
	same_tree before root
done

# conflicts: each named, nothing changed, decided by a policy
rm -rf root before && cp -a old root
sed -i 's/^30$/dreissig/' root/etc/far
lines 5 9 >root/etc/added-both
printf 'bin\0ary mine\n' >root/etc/binary
cp -a root before
refused() {
	tree_seen root >snap
	run "$INSTALL" "$@"
	want_status 20
	tree_seen root >now
	want_same snap now
}
for verb in plan apply; do
	refused $verb up.dray --root root --keyring ops.pub
	want_text '3 conflicts: etc/added-both '
	want_text 'etc/far 1 place where both changed it'
	want_text 'etc/binary edited here, changed by the release: '
done
no_file root/var/lib/dray/tx
cat >site.policy <<'P'
etc/far mine
etc/binary theirs
P
refused apply up.dray --root root --keyring ops.pub --policy site.policy
want_text '1 conflict: etc/added-both '
# a text that was decided on
lines 1 9 >text && hash=$(sha256sum <text | cut -d' ' -f1)
mkdir decided && cp site.policy decided/site.policy
echo "etc/added-both use $hash" >>decided/site.policy
tree_seen root >snap
run "$INSTALL" apply up.dray --root root --keyring ops.pub --policy decided/site.policy
want_status 2
want_text "etc/added-both: the text decided on, decided/$hash: no such file"
echo other >decided/"$hash"
run "$INSTALL" apply up.dray --root root --keyring ops.pub --policy decided/site.policy
want_status 2
want_text 'it is not the text of that name'
tree_seen root >now
want_same snap now
cp text decided/"$hash"
run "$INSTALL" apply up.dray --root root --keyring ops.pub --policy decided/site.policy
want_status 0
want_text '  etc/added-both: becomes the text decided on' out
want_same text root/etc/added-both
want_same new/etc/binary root/etc/binary
want_same before/etc/far root/etc/far
run "$INSTALL" check --root root
want_status 0
run "$INSTALL" rollback --root root
want_status 0
same_tree before root
# markers never go live
printf '<<<<<<< mine\na\n=======\nb\n>>>>>>> theirs\n' >text && hash=$(sha256sum <text | cut -d' ' -f1)
cp text decided/"$hash" && cp site.policy decided/ && echo "etc/added-both use $hash" >>decided/site.policy
refused apply up.dray --root root --keyring ops.pub --policy decided/site.policy
want_text 'still holds a conflict marker'

# strict takes the release's, a rule merges all the same; what is no config file is replaced, with a rule it is a conflict
# because no former text of it travels
rm -rf root && cp -a old root
sed -i 's/^1$/one/' root/etc/far root/etc/near root/usr/program
run "$INSTALL" apply up.dray --root root --keyring ops.pub --profile strict
want_status 0
want_same new/etc/far root/etc/far
want_text '  etc/far: edited here and replaced' out
run "$INSTALL" rollback --root root
echo 'etc/near merge' >one.policy
run "$INSTALL" apply up.dray --root root --keyring ops.pub --profile strict --policy one.policy
want_status 0
want_same new/etc/far root/etc/far
sed 's/^1$/one/' new/etc/near >want
want_same want root/etc/near
run "$INSTALL" rollback --root root
echo 'usr/program merge' >one.policy
refused apply up.dray --root root --keyring ops.pub --policy one.policy
want_text 'usr/program edited here, changed by the release: the bundle carries no former text'

# names of one file that become one text stay one file; those that become two texts are two files
mkdir -p links/old/etc links/old/var/lib
for f in both apart; do
	seq 1 30 >links/old/etc/$f
	ln links/old/etc/$f links/old/etc/$f.too
done
cp -a links/old links/new
for f in both apart; do
	sed 's/^20$/twenty/' links/old/etc/$f >text
	cat text >links/new/etc/$f
done
find links -exec touch -h -d @1700000000 {} +
run "$DRAY" build --from links/old --to links/new --product links --version 2 --counter 2 --config etc --key ops.key -o links.dray
need_status 0
cp -a links/old links/root
sed 's/^1$/one/' links/old/etc/both >text
cat text >links/root/etc/both
sed -i 's/^1$/one/' links/root/etc/apart
sed -i 's/^1$/two/' links/root/etc/apart.too
cp -a links/root links/before
run "$INSTALL" apply links.dray --root links/root --keyring ops.pub
want_status 0
sed 's/^1$/one/' links/new/etc/both >want
want_same want links/root/etc/both
[ links/root/etc/both -ef links/root/etc/both.too ] && ok 'one file' || fail 'two files where the release has one'
[ "$(stat -c %h links/root/etc/both)" = 2 ] && ok 'of two names' || fail 'another name of it'
sed 's/^1$/two/' links/new/etc/apart >want
want_same want links/root/etc/apart.too
[ links/root/etc/apart -ef links/root/etc/apart.too ] && fail 'one file where there are two texts' || ok 'two files'
run "$INSTALL" check --root links/root
want_status 0
run "$INSTALL" rollback --root links/root
want_status 0
same_tree links/before links/root

# a file that goes away after the plan has looked at it and before it is read to be merged is a change meanwhile. One file alone,
# and no state, so that one thread opens the same files in each run
if command -v strace >/dev/null; then
	mkdir -p one/old/etc one/new/etc
	seq 1 30 | tee one/old/etc/near >one/new/etc/near
	sed -i 's/^20$/twenty/' one/new/etc/near
	run "$DRAY" build --from one/old --to one/new --product one --version 2 --counter 2 --config etc --key ops.key -o one.dray
	need_status 0
	cp -a one/old one/root && sed -i 's/^1$/one/' one/root/etc/near
	plan() {	# STRACE-OPTION...
		run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e trace=openat "$@" "$INSTALL" plan one.dray --root one/root \
		    --keyring ops.pub -j1
	}
	plan
	want_status 0
	n=$(grep -n '"near", ' trace | sed -n '2s/:.*//p')
	plan -e "inject=openat:error=ENOENT:when=${n:-0}"
	want_status 24
	want_text 'etc/near: went away while the plan was being made'
fi
