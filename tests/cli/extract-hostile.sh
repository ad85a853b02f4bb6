#!/bin/sh
# extract: a bundle of bad will, made right again after its paths were bent, writes nothing at all, inside or outside
. "$(dirname "$0")/lib.sh"
perl -MJSON::PP -MDigest::SHA -e 1 2>/dev/null || skip "no perl with JSON::PP and Digest::SHA"

mkdir -p new around/in/evil-target around/secret
echo evil >new/aaXevil
ln -s ../evil-target new/d
echo inner >new/dXf
echo z >new/zz
echo z >new/zzz
echo keep >around/in/evil-target/keep
echo keep >around/evil
key
run "$DRAY" build --to new --product demo --version 1 --counter 1 --level 3 --no-cache -o good.dray
need_status 0
inventory() {
	(cd around && find . -printf '%p %y %i %s %C@ %l\n' | sort)
}

# bent harmlessly it is taken, so that it is not the bending that is refused
perl "$TOP/tests/hostile/bend.pl" good.dray bent.dray aaXevil aaYevil || exit 1
run "$DRAY" sign bent.dray --key ops.key
need_status 0
run "$DRAY" verify bent.dray --keyring ops.pub
want_status 0
run "$DRAY" extract bent.dray -C fine --keyring ops.pub
want_status 0
want_file fine/aaYevil

# $3: a piece of the message; printf escapes
refused() {
	perl "$TOP/tests/hostile/bend.pl" good.dray bent.dray "$1" "$2" || exit 1
	inventory >before
	run "$DRAY" extract bent.dray -C around/in/x
	want_status 31
	want_text "$3"
	no_file around/in/x
	run "$DRAY" sign bent.dray --key ops.key
	if [ "$status" = 0 ]; then
		run "$DRAY" extract bent.dray -C around/in/x --keyring ops.pub
		want_status 31
		want_text "$3"
	fi
	mkdir around/in/x
	run "$DRAY" extract bent.dray "$2" -C around/in/x
	want_status 31
	rmdir around/in/x || fail "something was written"
	inventory >after
	# the folder's own times have moved with the test's mkdir
	grep -v '^./in d' before >b
	grep -v '^./in d' after >a
	want_same b a
}
refused aaXevil ../evil 'index: entry 0 (../evil): not a path: it has a part "." or ".."'
refused aaXevil aa/evil 'the release has no directory for it'
refused aaXevil /aaevil 'it is absolute'
refused aaXevil aa//vil 'it has an empty part'
refused aaXevil ./aevil 'it has a part "." or ".."'
refused aaXevil 'a\0aevil' 'it holds a NUL byte'
refused dXf d/f 'entry 2 (d/f): the release has no directory for it'	# through the symlink d
refused zzz zy1 'the path does not follow the one before it'
refused aaXevil .dray/x reserved

# control characters of a name stay text
perl "$TOP/tests/hostile/bend.pl" good.dray bent.dray aaXevil "$(printf 'a\033[2J\r')\\n" || exit 1
run "$DRAY" extract bent.dray -C ctl
want_status 0
run "$DRAY" extract bent.dray -C ctl
want_status 22
want_text 'a\x1b[2J\x0d\x0a: is there already'
run "$DRAY" list bent.dray
if LC_ALL=C grep -q '[^ -~]' out err; then fail "control characters came through"; else ok "plain text"; fi

# somebody swaps a directory that was just made for a symlink: what is still to be written there is not, and nothing
# beyond the symlink is touched, not even when all is taken away again
if strace -o /dev/null true 2>/dev/null && [ -z "${SAN:-}" ]; then
	mkdir -p race/a race/b race/c beyond
	ln -s x race/a/link
	echo one >race/b/file
	ln -s x race/b/link
	ln race/b/file race/c/name
	echo keep >beyond/file
	run "$DRAY" build --to race --product demo --version 1 --counter 1 --level 3 --no-cache -o race.dray
	need_status 0
	tree_snapshot beyond >snap
	strace -f -qq -o trace -e trace=symlinkat -e inject=symlinkat:delay_enter=1500000:when=1 \
	    "$DRAY" extract race.dray -C y >out 2>err </dev/null &
	pid=$!
	i=0
	while [ ! -e y/b/file ] && [ $i -lt 100 ]; do
		sleep 0.05
		i=$((i + 1))
	done
	sleep 0.3	# into the delay before the first symlink, behind all files
	mv y/b y/b.moved
	ln -s ../beyond y/b
	wait $pid
	ended $? "extract while a directory is swapped"
	want_status 22
	want_text 'cannot extract race.dray: b/link: the directory above it was replaced meanwhile'
	want_text 'hint: 2 paths that had been written could not be removed again, among them b'
	want_unchanged beyond snap
	[ "$(cd y && find . -mindepth 1 | sort | tr '\n' ' ')" = './b ./b.moved ./b.moved/file ' ] || fail "left: $(find y)"
fi
