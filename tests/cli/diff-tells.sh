#!/bin/sh
# diff: 0 and silence of differences, or 20 and the first one; -a all of them; between bundles the encoder comes first
. "$(dirname "$0")/lib.sh"

mkdir -p a/dir b
for f in content mode mtime link1 only-a; do echo $f >a/$f; done
ln a/link1 a/link2
ln -s one a/symlink
mkdir a/type
echo x >a/dir/same
xattr=false
! setfattr -n user.x -v one a/dir 2>/dev/null || xattr=true
cp -a a/. b

run "$DRAY" diff a b
want_status 0
want_text 'a and b are the same' out

echo other >b/content
touch -r a/content b/content
chmod 600 b/mode
touch -d '2001-01-01 00:00:00.5' a/mtime
touch -d '2001-01-01 00:00:00.25' b/mtime
rm b/only-a b/link2 b/symlink
ln -s two b/symlink
touch -h -r a/symlink b/symlink
cp -p b/link1 b/link2
rmdir b/type
echo file >b/type
echo b >b/only-b
! $xattr || setfattr -n user.x -v two b/dir
touch -r a/dir b/dir
run "$DRAY" diff a b
want_status 20
cat >want <<-END
	content: content: 8 bytes, sha256 $(sha256sum <a/content | cut -c1-64) | 6 bytes, sha256 $(sha256sum <b/content | cut -c1-64)
	a and b differ; the first difference is told
	next: dray diff -a a b
END
want_same want out
[ ! -s err ] || fail "words on standard error: $(cat err)"
run "$DRAY" diff -a dir:a dir:b
want_status 20
{
	sed -n 1p want
	! $xattr || echo 'dir: xattrs: user.x of 3 bytes | user.x of 3 bytes'
	cat <<-END
		link1: link: link1 | none
		link2: link: link1 | none
		mode: mode: $(printf %04o "0$(stat -c %a a/mode)") | 0600
		mtime: mtime: 2001-01-01T00:00:00Z +500000000 ns | 2001-01-01T00:00:00Z +250000000 ns
		only-a: only in dir:a
		only-b: only in dir:b
		symlink: target: one | two
		type: type: dir | file
	END
} >all
sed '$d' out >got
want_same all got
want_text 'dir:a and dir:b differ: ' out
run "$DRAY" diff -a a b --ignore content --ignore link --ignore mode --ignore mtime --ignore xattrs --ignore type --ignore target
want_status 20
printf 'only-a: only in a\nonly-b: only in b\na and b differ: 2 differences\n' >want
want_same want out
run "$DRAY" diff -a b a --json
want_status 20
want_text '"complete":true' out
want_text '"equal":false' out
want_text '{"a":"0600","b":"0644","field":"mode","path":"mode"}' out
want_text '{"b":"there","field":"path","path":"only-a"}' out
run "$DRAY" diff a b -q
want_status 20
[ "$(wc -l <out)" = 1 ] || fail "-q tells more than the difference"

# a bundle against its trees
b() {
	run "$DRAY" build --from a --to b --product demo --version 2 --counter 2 --level 3 --no-cache -o "$@"
	need_status 0
}
b one.dray
run "$DRAY" diff one.dray b
want_status 0
run "$DRAY" diff b one.dray
want_status 0
no_text 'signatures are not compared' out
run "$DRAY" diff a one.dray
want_status 20
want_text 'content: content: ' out

# bundles: the same but for signatures; then every part
key
cp one.dray signed.dray
run "$DRAY" sign signed.dray --key ops.key
run "$DRAY" diff one.dray signed.dray
want_status 0
want_text 'one.dray and signed.dray are the same; signatures are not compared' out
run "$DRAY" diff one.dray signed.dray --keyring ops.pub
want_status 30
want_text 'cannot compare: one.dray: '
one_difference() {
	run "$DRAY" diff one.dray other.dray -a
	want_status 20
	sed '$d' out >got
	echo "$1" >want
	want_same want got
}
echo hello >note
b other.dray --note note
one_difference 'member notes/note: none | 6 bytes'
b other.dray --os linux
one_difference 'os: any | linux'
b other.dray --compatible friend
one_difference 'compatible 1: none | friend'
b other.dray --slot 1k
one_difference 'slot: 8192 | 1024'
(SOURCE_DATE_EPOCH=1234567890 && export SOURCE_DATE_EPOCH && b other.dray) || exit 1
one_difference "built: $(stat -c %Y b/only-b) | 1234567890"
cat >recipe.json <<-END
	{ "recipe": 1, "triggers": [ { "argv": ["/bin/true"], "id": "reload", "paths": ["content"] } ] }
END
if "$DRAY" build --recipe recipe.json --from a --to b --product demo --version 2 --counter 2 --level 3 --no-cache \
    -q -o other.dray 2>err; then
	run "$DRAY" diff one.dray other.dray -a
	want_status 20
	want_text 'trigger 1: none | {"' out
else
	fail "no build with a trigger: $(cat err)"
fi
b other.dray --from-version 1.0:1
one_difference 'base 1: base-1, counter 0 | 1.0, counter 1'
cp -a a a.kept
chmod 640 a/mode
b other.dray
one_difference "mode: mode in base base-1: 0644 | 0640"
rm -rf a
mv a.kept a
# former states: each of them counts
h() {
	run "$DRAY" build "$@" --to b --product demo --version 2 --counter 2 --level 3 --no-cache
	need_status 0
}
cp -a a h1
echo >h1/new-in-h1
touch -d '2037-02-01' h1/mode
cp -a h1 h2
touch -d '2037-02-02' h2/mode
h --history a --history h1 -o h1.dray
h --history a --history h2 -o h2.dray
run "$DRAY" diff -a h1.dray h2.dray
want_status 20
sed '$d' out >got
echo 'mode: mtime in base history: 2037-02-01T00:00:00Z +0 ns | 2037-02-02T00:00:00Z +0 ns' >want
want_same want got
h --history h1 --history h2 -o h3.dray
run "$DRAY" diff -a h1.dray h3.dray
want_text 'new-in-h1: states in base history: 2 | 1' out

# encoders first, though everything else differs too: a bundle that says it came from another one
if perl -MJSON::PP -MDigest::SHA -e 1 2>/dev/null; then
	echo later >b/content
	b other.dray
	ENCODER=zstd-9.9.9 perl "$TOP/tests/hostile/bend.pl" other.dray strange.dray only-b only-b || exit 1
	run "$DRAY" diff one.dray strange.dray
	want_status 20
	want_text 'encoder zstd: zstd-' out
	want_text ' | zstd-9.9.9' out
	[ "$(wc -l <out)" = 3 ] || fail "more than the first difference"
	run "$DRAY" diff -a one.dray strange.dray
	[ "$(sed -n '1s/ .*//p' out)" = encoder ] || fail "the encoder is not named first"
	want_text 'content: content: ' out
	want_text 'content: recipe ' out
fi

# names of any bytes stay plain text; what cannot be read is told
printf x >"b/$(printf 'a\nb\033[31m')"
run "$DRAY" diff a b
want_text 'a\x0ab\x1b[31m: only in b' out
if LC_ALL=C grep -q '[^ -~]' out; then fail "control characters came through"; else ok "plain text"; fi
run "$DRAY" diff a nowhere
want_status 2
want_text 'cannot compare: nowhere: '
run "$DRAY" diff a
want_status 2
run "$DRAY" diff a b --ignore time
want_status 2
want_text '--ignore "time": no such field'
head -c 3000 one.dray >cut.dray
run "$DRAY" diff cut.dray b
want_status 31
want_text 'cannot compare: cut.dray: '
