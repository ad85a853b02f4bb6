#!/bin/sh
# directories that may not be written to, with times to the nanosecond; setuid files that are never seen with a wrong owner
# or half written, whatever calls made them
. "$(dirname "$0")/lib.sh"

mkdir -p old/locked/in old/gone/in old/var/lib/dray new/locked/in new/born/in new/var/lib/dray
chmod 700 old/var/lib/dray new/var/lib/dray
for t in old new; do
	seq 1 $((${#t} * 500)) >$t/locked/in/changes
	echo $t >$t/locked/in/$t
	echo same >$t/locked/stays
done
echo 1 >old/gone/in/x
echo 2 >new/born/in/y
find old -exec touch -h -d '2001-01-01 00:00:00.123456789' {} +
find new -exec touch -h -d '2002-02-02 00:00:00.987654321' {} +
touch -r old/locked/stays new/locked/stays
chmod 555 old/locked old/locked/in old/gone old/gone/in new/locked new/locked/in new/born new/born/in
touch -r old new
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0

# exact TREE - root is that tree, to the nanosecond and the mode of each directory; the state's own folder aside
exact() {
	for t in "$1" root; do
		(cd $t && find . -path ./var/lib/dray -prune -o -printf '%p %y %m %U:%G %T@ %l\n' | sort) >list.$t
	done
	if cmp -s "list.$1" list.root; then
		ok "root is $1, modes and times too"
	else
		fail "root is not $1"
		diff "list.$1" list.root
	fi
	same_tree "$1" root
}
there_and_back() {
	run "$@" "$INSTALL" apply up.dray --root root --keyring ops.pub
	want_status 0
	exact new
	run "$@" "$INSTALL" check --root root --strict
	want_status 0
	run "$@" "$INSTALL" rollback --root root
	want_status 0
	exact old
}
cp -a old root
is_root || skip 'needs root, which no mode stops'
there_and_back env

# setuid and setgid: a file gets them last, whole and with its owner; in place they are taken off before the owner changes
mkdir -p sold/var/lib snew/var/lib
for t in sold snew; do
	seq 1 500 >$t/content
	echo same >$t/owner
	chmod 4755 $t/content $t/owner
done
seq 1 90000 >snew/content && echo new >snew/added
chown 1:1 snew/content snew/owner snew/added
chmod 4755 snew/content snew/owner && chmod 6711 snew/added
touch -r sold/owner snew/owner
run "$DRAY" build --from sold --to snew --product demo --version 2 --counter 2 --key ops.key -o set.dray
need_status 0
cp -a sold set
# judged TIMES ARG... - so often a file got such a mode; the calls on it before and after
judged() {
	times=$1
	shift
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -y -o trace \
	    -e trace=write,pwrite64,fchmod,fchmodat,fchown,fchownat,chmod,chown,lchown,renameat2 "$INSTALL" "$@" --root set
	want_status 0
	grep -E '[^a-z](chmod|chown|lchown|fchmodat|fchownat)\(' trace && fail 'a call by name'
	awk -v times="$times" '
	match($0, /(f?ch(mod|own)|p?write(64)?)\([0-9]+<[^>]*>/) {
		call = $2; sub(/\(.*/, "", call)
		path = $0; sub(/^[^<]*</, "", path); sub(/>.*/, "", path)
		if (call == "fchmod" && $0 ~ /, 0[2-7][0-7][0-7][0-7](\)| <unfinished)/) {
			set[path] = 1; n++
			if (!(path in own)) { print "no owner before the mode: " $0; bad = 1 }
		} else if (call == "fchmod") {
			delete set[path]
		} else if (path in set) {
			print "after setuid: " $0; bad = 1
		}
		if (call == "fchown") own[path] = 1
	}
	END { if (n != times) { print n " files, wanted " times; bad = 1 }; exit bad }' trace && ok 'setuid comes last' ||
	    fail 'setuid does not come last'
}
if command -v strace >/dev/null; then
	judged 3 apply set.dray --keyring ops.pub
	[ "$(stat -c '%a %u' set/content set/owner set/added | tr '\n' ' ')" = '4755 1 4755 1 6711 1 ' ] && ok 'as the release says' ||
	    fail "$(stat -c '%n %a %u' set/*)"
	judged 1 rollback
	[ "$(stat -c '%a %u' set/content set/owner | tr '\n' ' ')" = '4755 0 4755 0 ' ] && ok 'as it was' || fail "$(stat -c '%n %a %u' set/*)"
fi

# the same for a user: what he may not write to is refused, and so is what he could not move or go back from
rm -r old/var/lib/dray new/var/lib/dray
chown -R 65534:65534 old new
refused() {
	rm -rf root && cp -a old root
	run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
	need_status 0
	tree_snapshot root >snap
	run as_nobody "$INSTALL" apply up.dray --root root --keyring ops.pub
	want_status 22
	want_text "$1"
	want_text 'hint: nothing was changed; '
	want_unchanged root snap
}
refused 'locked/in/new cannot be changed by this user'
# a directory of mode 0555 that comes as a whole, and one that becomes that while something changes in it
rm -rf old new
mkdir -p old/closes old/goes/in old/var/lib new/closes new/born/in new/var/lib
for t in old new; do
	echo $t >$t/closes/f
done
echo 1 >old/goes/in/x && echo 2 >new/born/in/y
chmod 555 old/goes/in new/born/in new/born
chown -R 65534:65534 old new
refused 'born is to be a directory that its owner may not write to'
chmod 755 new/born && chmod 555 new/closes
refused 'closes is to be a directory that its owner may not write to'
# beneath one that may be moved it is no matter: there, back, and freed
chmod 755 new/closes
mkdir -m 700 old/var/lib/dray new/var/lib/dray
chown 65534:65534 old/var/lib/dray new/var/lib/dray
find old new -type d -exec touch -d @1000000000 {} +
rm -rf root && cp -a old root
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
there_and_back as_nobody
run as_nobody "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
run as_nobody "$INSTALL" forget --root root
want_status 0
[ -z "$(ls root/var/lib/dray/tx)" ] && ok 'all is freed' || fail 'something is left'
