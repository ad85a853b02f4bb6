#!/bin/sh
# the first ten minutes: every command is the one that the command before names, typed as it stands there; no root, no network,
# no file of the machine; after the way back all is as it was
. "$(dirname "$0")/lib.sh"

mkdir home bin
ln -s "$DRAY" bin/dray
ln -s "$INSTALL" bin/dray-install
as() {	# as whoever has no rights here, when that can be had
	if is_root; then
		as_nobody "$@"
	else
		"$@"
	fi
}
# follow WORD - the command behind "WORD: " in what was said last, lines joined as a shell does
follow() {
	sed -n "/^$1: /,\$p" out | sed -e '1s/^[^:]*: //' >next
	[ -s next ] || fail "no line begins with $1:"
	run as env -i PATH="$T/bin:/usr/bin:/bin" HOME="$T/home" sh next
}
! is_root || chown 65534:65534 home
cd home || exit 1
run as env -i PATH="$T/bin:/usr/bin:/bin" HOME="$T/home" dray quickstart demo
need_status 0
cp "$T/out" out
cp -a demo/old before
for file in demo/up.dray demo/ops.pub demo/ops.key demo/new/etc/release; do want_file $file; done

step() {	# step WORD - as follow; the words of each are kept here, where the next one looks for them
	cd "$T/home" || exit 1
	follow "$1"
	want_status 0
	cp "$T/out" out
}
step next
want_text 'plan id ' "$T/out"
want_text '13  added' "$T/out"
want_text "merged with the release's" "$T/out"
same_tree demo/old before
step next
want_text 'demo/old is now demo 1.1' "$T/out"
# new in all but the edit, which has both
grep -q '^threads 16$' demo/old/etc/app/app.conf && grep -q '^rotate daily$' demo/old/etc/app/app.conf &&
    ok 'the edit and the release' || fail "app.conf: $(cat demo/old/etc/app/app.conf)"
cp -p demo/old/etc/app/app.conf demo/new/etc/app/app.conf
[ -z "$(cd demo && diff -r --no-dereference --exclude=dray old new)" ] && ok 'as the release' || fail "$(diff -r demo/old demo/new)"
# the same once more: nothing to do
cp out told
run as "$INSTALL" apply demo/up.dray --root demo/old --keyring demo/ops.pub
want_status 0
want_text 'demo 1.1 is there already: nothing to do' "$T/out"
cp told out
step 'to go back'
want_text 'is back in the state before the upgrade' "$T/out"
same_tree demo/old before

# twice into one folder is a mistake
run as "$DRAY" quickstart demo
want_status 2
want_text 'cannot make demo: it is there already'
# what it says next can be typed, whatever the folder is called
mkdir odd
for name in 'a b;c' -x; do
	run sh -c 'cd odd && exec "$@"' sh "$DRAY" quickstart -- "$name"
	want_status 0
	sed -n '/^next: /,$s/^next: dray-install/"$0"/p; /^    --root/p' "$T/out" >typed
	run sh -c 'cd odd && eval "$(cat ../typed)"' "$INSTALL"
	want_status 0
	want_text 'demo 1.1 (release counter 2) on ' "$T/out"
done
# stopped half-way: what is left is told
if command -v strace >/dev/null; then
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e trace=symlink,symlinkat \
	    -e inject=symlink,symlinkat:error=ENOSPC "$DRAY" quickstart half
	want_status 21
	want_text 'hint: what was made until then stays: remove the folder before the next try' err
fi
# two machines make the same trees, and but for the key the same bundle
run as "$DRAY" quickstart again
want_status 0
[ "$("$DRAY" info demo/up.dray --json | grep -o '"id":"[0-9a-f]*"' | head -n 1)" = \
    "$("$DRAY" info again/up.dray --json | grep -o '"id":"[0-9a-f]*"' | head -n 1)" ] && ok 'one id' || fail 'two ids'
