#!/bin/sh
# hard links: every way a group can change, with local edits and with names outside of the root, there and back
. "$(dirname "$0")/lib.sh"

# group TREE DIR CONTENT NAME... - one file under these names
group() {
	mkdir -p "$1/$2"
	echo "$3 $2" >"$1/$2/$4"
	dir=$1/$2 first=$4
	shift 4
	for n; do
		ln "$dir/$first" "$dir/$n"
	done
}
both() {	# the same in both trees
	group old "$@" && group new "$@"
}
mkdir -p old/var/lib new/var/lib
group old form 1 a && group old form 1 b && group new form 1 a b
group old form-new 1 a && group old form-new 2 b && group new form-new 3 a b
group old dissolve 1 a b && group new dissolve 1 a && group new dissolve 1 b
group old dissolve-new 1 a b && group new dissolve-new 2 a && group new dissolve-new 3 b
group old grow 1 a b && group new grow 1 a b c
group old grow-new 1 a b && group new grow-new 2 a b c
group old shrink 1 a b c && group new shrink 1 a b
group old gone 1 a b && mkdir new/gone && echo x >new/gone/x
group old change 1 a b c && group new change 2 a b c
group old regroup 1 a b && group old regroup 2 c d && group new regroup 1 a c && group new regroup 2 b d
group old mode 1 a b && group new mode 1 a b && chmod 600 new/mode/a
group old other 1 a b && mkdir new/other && echo 2 >new/other/a && ln -s a new/other/b
both same 1 a b
find old -exec touch -h -d @1000000000 {} +
find new -exec touch -h -d @1100000000 {} +
cp -a old/same/. new/same/ && touch -d @1000000000 new/same
rm new/same/b && ln new/same/a new/same/b && touch -d @1000000000 new/same
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
cases='form form-new dissolve dissolve-new grow grow-new shrink gone change regroup mode other same'

fresh() {
	rm -rf root outside && cp -a old root && mkdir outside
	mkdir -m 700 root/var/lib/dray
	touch -d @1000000000 root/var/lib
}
# there - apply; back - and the same tree as before
there() {
	cp -a root before
	run "$INSTALL" apply -v up.dray --root root --keyring ops.pub
	want_status 0
}
back() {
	run "$INSTALL" rollback --root root
	want_status 0
	same_tree root before
	rm -rf before
}

fresh
touch -d @1100000000 root
there
for c in $cases; do
	same_tree "root/$c" "new/$c"
done
run "$INSTALL" check --root root
want_status 0
back

# a member edited in place: the other names see it as well, and all of it is in the stash where it gave way
fresh
for c in $cases; do
	echo mine >"root/$c/a"
done
there
for c in form-new dissolve-new grow-new gone change other; do
	same_tree "root/$c" "new/$c"
	want_text "  $c/a:" out
done
for c in same mode; do
	[ "$(cat root/$c/a root/$c/b)" = "mine
mine" ] && ok "$c: the edit is kept" || fail "$c: the edit is not kept"
done
[ "$(stat -c %a root/mode/a)" = 600 ] && ok 'mode: set on the edit' || fail 'mode: not set on the edit'
back

# a member replaced: no link any more
fresh
for c in $cases; do
	rm "root/$c/a" && echo mine >"root/$c/a"
done
there
for c in form-new dissolve-new grow-new gone change other; do
	same_tree "root/$c" "new/$c"
done
back

# names outside of the root: another file, other attributes, never changed with it
fresh
for c in $cases; do
	ln "root/$c/a" "outside/$c"
done
there
for c in $cases; do
	case $c in
	form | dissolve | grow | shrink | regroup | same) ;;	# where nothing but names changes an object may stay
	*) same_tree "root/$c" "new/$c" ;;
	esac
done
for c in $cases; do
	cmp -s "outside/$c" old/"$c"/a && [ "$(stat -c '%a %Y' "outside/$c")" = '644 1000000000' ] ||
	    fail "outside/$c was changed: $(cat "outside/$c") $(stat -c '%a %Y' "outside/$c")"
done
want_text 'has other names, which keep the old content' out
back
for c in $cases; do
	[ "$(stat -c %i "outside/$c")" = "$(stat -c %i "root/$c/a")" ] || fail "$c: not the same file again"
done
