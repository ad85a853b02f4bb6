#!/bin/sh
# check --mtree lists the release for programs that know nothing of us: mtree finds no difference in a tree that was
# applied and every one that is made, and what libarchive reads is the tree
. "$(dirname "$0")/lib.sh"

sh "$TOP/tools/make-cases.sh" cases small || exit 1
key
run "$DRAY" build --from cases/old --to cases/new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
cp -a cases/old root
run "$INSTALL" check --mtree --root root
want_status 22
want_text 'nothing is recorded as installed on root'
[ ! -s out ] && ok 'no lines then' || fail 'a list of nothing'
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0

run "$INSTALL" check --mtree --root root
want_status 0
cp out list
[ "$(head -n 3 list)" = '#mtree
# demo 2, release counter 2
. type=dir' ] && ok 'it begins as readers expect' || fail "$(head -n 3 list)"
# the same of the bundle, wherever it is compared and by how many
for o in '--root root' '--root cases -j7' '--root root -v'; do
	# shellcheck disable=SC2086
	run "$INSTALL" check up.dray --mtree --keyring ops.pub $o
	want_status 0
	want_same out list
done
[ "$(grep -c '^\./' list)" = "$(find cases/new -mindepth 1 -printf . | wc -c)" ] && ok 'each path has a line' || fail 'lines are missing'
line() {
	grep -qxF -e "$1" list && ok "$1" || fail "no line: $1"
}
sum() {
	sha256sum <"cases/new/$1" | cut -d ' ' -f 1
}
own="uid=$(id -u) gid=$(id -g)"
line "./names/\\052\\077\\133x\\135 type=file $own mode=0644 time=1700000000.987654321 size=58 sha256digest=$(sum 'names/*?[x]')"
line "./names/ctl\\001\\033\\13331m type=file $own mode=0644 time=1700000000.987654321 size=58 sha256digest=$(sum "$(printf 'names/ctl\001\033[31m')")"
grep -q '^\./names/l\\040lead\\040and\\040trail\\040 type=link .* link=\\040lead\\040and\\040trail\\040$' list && ok 'a target with spaces' ||
    fail 'a target with spaces'

# libarchive: an archive made by the list is the tree, to the nanosecond
if command -v bsdtar >/dev/null; then
	LC_ALL=C bsdtar -tf list >names 2>err || fail "bsdtar cannot list it: $(cat err)"
	[ "$(wc -l <names)" = "$(grep -vc '^#' list)" ] && ok 'libarchive reads all' || fail 'libarchive reads less'
	mkdir again
	if is_root; then
		# a name that is no UTF-8 is a warning, and travels all the same
		(cd root && LC_ALL=C bsdtar -cf ../x.tar --format pax @../list) 2>err || fail "$(cat err)"
		LC_ALL=C bsdtar -xpf x.tar -C again 2>err || fail "$(cat err)"
		diff=$(rsync -nrlptgoD --modify-window=-1 --checksum --delete --itemize-changes --exclude=/var/lib/dray root/ again/ |
		    grep -v '^\.d\.\.t[.]* \./$')
		[ -z "$diff" ] && ok 'an archive by the list is the tree' || fail "$diff"
	fi
fi

run "$INSTALL" check --mtree --json --root root
want_status 2
want_text '--mtree compares nothing: it excludes --json, --quick, --strict and --extra'
for o in --quick --strict --extra; do
	run "$INSTALL" check --mtree $o --root root
	want_status 2
	[ ! -s out ] && ok 'no lines' || fail 'lines'
done
if [ -w /dev/full ]; then
	"$INSTALL" check --mtree --root root >/dev/full 2>err
	status=$? ran='check --mtree to a full disk'
	want_status 1
	want_text 'cannot write to standard output: no space left on device'
fi

# mtree itself
command -v mtree >/dev/null || skip 'no mtree here'
compare() {
	mtree -f "${1:-list}" -p "${2:-root}" >found 2>err
	status=$? ran="mtree -f ${1:-list}"
}
compare
want_status 0
[ "$(cat found err)" = 'extra: var/lib/dray' ] && ok 'mtree finds the state folder alone' || fail "$(cat found err)"
finds() {	# WHAT, in a tree in which only that was changed
	compare
	want_status 2
	grep -v '^extra: var/lib/dray$' found | tr -s '\n\t ' ' ' >one
	case $(cat one) in
	"$1"*) ok "mtree finds $1" ;;
	*) fail "mtree does not find $1: $(cat one)" ;;
	esac
}
f=root/content/empty-fills
cp -p $f kept
printf X | dd of=$f bs=1 seek=3 conv=notrunc 2>/dev/null
touch -r kept $f
finds 'content/empty-fills: sha256 '
cp -p kept $f
chmod 600 $f
finds 'content/empty-fills: permissions '
cp -p kept $f
touch -d @5 $f
finds 'content/empty-fills: modification time '
cp -p kept $f
echo more >>$f
touch -r kept $f
finds 'content/empty-fills: size '
cp -p kept $f
if is_root; then
	chown 7 $f
	finds 'content/empty-fills: user '
	chown 0 $f
	chmod 644 $f && touch -r kept $f
fi
touch -r cases/new/content root/content
ln -sfn elsewhere root/names/l-dash
touch -h -d @1500000000 root/names/l-dash
touch -r cases/new/names root/names
compare
want_status 2
want_text 'names/l-dash' found
rm root/names/l-dash && cp -a cases/new/names/l-dash root/names && touch -r cases/new/names root/names
compare
want_status 0

# what was not asked for is not in the list; the words about it go elsewhere
cp -a cases/old mine
run "$INSTALL" apply up.dray --root mine --keyring ops.pub --no-owner
need_status 0
run "$INSTALL" check --mtree --root mine
want_status 0
want_text '# demo 2, release counter 2; owners were left alone' out
want_text 'owners are left alone, as in the last upgrade of mine' err
no_text 'uid=' out
no_text 'device=' out
want_text './mode/setgid type=dir time=' out
cp out list
compare list mine
want_status 0
