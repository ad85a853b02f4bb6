#!/bin/sh
# a component that no record tells of is here when more than half of its paths are: none, 40 %, 60 % and all of them, of one
# base, of former states, and of the one of several bases that the tree is
. "$(dirname "$0")/lib.sh"

mkdir -p v1/bin v1/usr/src v1/var/lib v0/bin v0/usr/src v0/var/lib
for i in 0 1 2 3 4 5 6 7 8 9; do
	echo "1 $i" >v1/usr/src/$i.c
	echo "1 $i" >v1/bin/$i
done
cp -a v1/. v2
for i in 0 1 2 3 4 5 6 7 8 9; do
	echo "2 $i" >v2/usr/src/$i.c
	echo "0 $i" >v0/bin/$i
	for k in a b c d; do
		echo "0 $i" >v0/usr/src/$i$k.c
	done
done
echo 2 >v2/bin/0
cp -a v1 v1b && echo '1b 3' >v1b/usr/src/3.c
cat >recipe.json <<'X'
{"recipe": 1, "components": [{"name": "src/src", "paths": ["usr/src"]}, {"name": "world/base"}]}
X
key
build() {	# build OUT ARG...
	up=$1
	shift
	run "$DRAY" build --recipe recipe.json --to v2 --product demo --version 2 --counter 2 --key ops.key --level 1 "$@" -o "$up"
	need_status 0
}
build exact.dray --from v1
build former.dray --history v1 --history v1b
build several.dray --from v0 --from v1

part() {	# part DIR N - v1 with N of its ten source files
	rm -rf "$1" && cp -a v1 "$1"
	for i in 0 1 2 3 4 5 6 7 8 9; do
		[ $i -lt "$2" ] || rm "$1/usr/src/$i.c"
	done
}
for b in exact former several; do
	for n in 0 4 5; do
		part root $n && cp -a root before
		case $n in
		0) why='none of its 10 paths is here' ;;
		*) why="only $n of its 10 paths are here; if it is to be whole again, name it in --components" ;;
		esac
		run "$INSTALL" plan $b.dray --root root --keyring ops.pub
		want_status 0
		want_text "component src/src is not on root: nothing of it is touched ($why)" out
		want_text 'world/base is on root: more than half of its paths are here' out
		run "$INSTALL" plan $b.dray --root root --keyring ops.pub --json
		want_text '"components":["world/base"],"components_absent":["src/src"]' out
		want_text "{\"here\":$n,\"name\":\"src/src\",\"of\":10}" out
		run "$INSTALL" apply $b.dray --root root --keyring ops.pub
		want_status 0
		diff -r before/usr/src root/usr/src >said && ok 'the sources are as they were' || fail "touched: $(cat said)"
		[ "$(cat root/bin/0)" = 2 ] && ok 'the rest is new' || fail "bin/0: $(cat root/bin/0)"
		run "$INSTALL" plan $b.dray --root root --keyring ops.pub
		want_text 'nothing of it is touched (as recorded)' out
		run "$INSTALL" rollback --root root
		want_status 0
		same_tree before root
		rm -rf before
	done
	for n in 6 10; do
		part root $n && cp -a root before
		run "$INSTALL" plan $b.dray --root root --keyring ops.pub
		want_status 0
		no_text 'is not on root' out
		run "$INSTALL" apply $b.dray --root root --keyring ops.pub
		want_status 0
		for i in 0 5 9; do
			case $i$n$b in
			96exact | 96former) no_file root/usr/src/$i.c ;;	# deleted here, one by one
			*) want_same v2/usr/src/$i.c root/usr/src/$i.c ;;
			esac
		done
		run "$INSTALL" rollback --root root
		want_status 0
		same_tree before root
		rm -rf before
	done
done

# said by the operator: that counts
part root 4
run "$INSTALL" plan exact.dray --root root --keyring ops.pub --components world/base,src/src
no_text 'is not on root' out
part root 10
run "$INSTALL" plan exact.dray --root root --keyring ops.pub --without src/src
want_text 'component src/src is not on root: nothing of it is touched (left out by --without, or not here before)' out
