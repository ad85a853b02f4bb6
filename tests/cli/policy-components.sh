#!/bin/sh
# parts of a release that a tree may lack: chosen by option, kept by the record, or found by what is there
. "$(dirname "$0")/lib.sh"

for v in 1 2 3; do
	mkdir -p v$v/bin v$v/usr/src/sys v$v/usr/share v$v/doc v$v/var/lib
	for f in bin/tool usr/src/sys/main.c usr/src/README usr/share/list doc/guide; do
		echo "$v $f" >v$v/$f
	done
	echo same >v$v/usr/src/sys/same.h
	echo "group $v" >v$v/bin/one && ln v$v/bin/one v$v/usr/src/two
done
echo gone >v1/usr/src/gone.c && echo gone >v2/usr/src/gone.c
mkdir v2/usr/src/new && echo new >v2/usr/src/new/file && cp -a v2/usr/src/new v3/usr/src/new
for v in 1 2 3; do
	find v$v -exec touch -h -d @1${v}00000000 {} +
	mkdir -m 700 v$v/var/lib/dray && touch -d @1000000000 v$v/var/lib v$v
done
cat >recipe.json <<'X'
{"recipe": 1, "components": [{"name": "src", "paths": ["usr/src"]}, {"name": "doc", "paths": ["doc"]}, {"name": "base"}]}
X
key
build() {	# build OUT FROM TO
	run "$DRAY" build --recipe recipe.json ${2:+--from v$2} --to v$3 --product demo --version "$3" --counter "$3" --key ops.key -o "$1"
	need_status 0
}
build 2.dray 1 2
build 3.dray 2 3
build 3-all.dray '' 3
run "$INSTALL" info 2.dray --keyring ops.pub
want_text 'src, doc, base' out

verb() {	# verb NAME ARG... - on the tree, with the key
	run "$INSTALL" "$@" --root root --keyring ops.pub
}
tree() {
	tree_snapshot root | grep -v var/lib/dray
}
# part FROM DIR... - the tree of a release without some of its directories
part() {
	v=$1
	shift
	rm -rf want && cp -a v"$v" want
	for d in "$@"; do
		rm -r want/"$d"
	done
}
# no_src SRC DOC - the tree is that, times of the directories above aside
like_want() {
	find want root -name dray -prune -o -type d -exec touch -d @1000000000 {} +
	same_tree want root
}

# a name that there is none of, nothing left, both at once: nothing is changed
cp -a v1 root
tree >snap
for v in plan apply; do
	verb $v 2.dray --without sources
	want_status 2
	want_text '--without sources: the bundle has no such component'
	want_text 'hint: it has: src,doc,base'
	verb $v 2.dray --components base,,doc
	want_status 2
	want_text '--components : the bundle has no such component'
	verb $v 2.dray --without src,doc,base
	want_status 2
	want_text '--without src,doc,base leaves no component'
	verb $v 2.dray --without src --components base
	want_status 2
	want_text '--components and --without exclude each other'
done
tree >now
want_same snap now

# the choice is part of the plan
verb plan 2.dray
all=$(sed -n 's/^plan id //p' out)
verb plan 2.dray --without src
want_status 0
want_text 'component src is not on root: nothing of it is touched' out
want_text '--without src' out
id=$(sed -n 's/^plan id //p' out)
[ -n "$id" ] && [ "$id" != "$all" ] && ok 'another plan' || fail "plan ids: $all, $id"
verb plan 2.dray --components doc,base --json
want_text '"components":["doc","base"],"components_absent":["src"]' out
want_text "\"plan_id\":\"$id\"" out
verb apply 2.dray --plan "$id"
want_status 24
verb apply 2.dray --without src --plan "$id"
want_status 0
# what lies there stays as it was, and its name of the group keeps the old file
part 2 usr/src && cp -a v1/usr/src want/usr/src && rm want/usr/src/two && cp -p v1/usr/src/two want/usr/src/two
like_want
run "$INSTALL" status --root root --json
want_text '"components":["doc","base"],"components_absent":["src"]' out
run "$INSTALL" status --root root
want_text 'component src is not on it' out
run "$INSTALL" status --root root --log --json
want_text '"components_absent":["src"],"no_owner"' out
for b in '' 2.dray; do
	# shellcheck disable=SC2086
	verb check $b
	want_status 0
	want_text 'component src is not here, so it was not compared' out
done
run "$INSTALL" check --mtree --root root
want_status 0
want_text './doc/guide' out
no_text 'usr/src' out
verb repair 2.dray usr/src
want_status 0
want_text 'nothing to repair there' out
run "$INSTALL" rollback --root root
want_status 0
want_text 'root is back in the state before the upgrade' out
part 1 && like_want
run "$INSTALL" status --root root --json
no_text components out

# a tree that never had them: found, kept by the next upgrade, and again after the way back
part 1 usr/src doc && rm -rf root && cp -a want root && cp -a root v1part
verb apply 2.dray
want_status 0
want_text 'component src is not on root' out
want_text 'component doc is not on root' out
part 2 usr/src doc && like_want
verb check
want_status 0
echo mine >root/doc && mkdir root/usr/src && echo mine >root/usr/src/gone.c
verb apply 3.dray
want_status 0
part 3 usr/src doc && cp -a root/doc want/doc && cp -a root/usr/src want/usr/src && like_want
verb check
want_status 0
run "$INSTALL" rollback --root root
want_status 0
want_text 'root is back at demo 2' out
rm -r root/doc root/usr/src
part 2 usr/src doc && like_want

# somebody who may not look into its place: a partial plan, as for any path, and no guess
if is_root; then
	cp -a v1 closed && chmod 700 closed/usr/src
	for who in '' as_nobody; do
		run $who "$INSTALL" plan 2.dray --root closed --keyring ops.pub
		want_status 0
		no_text 'component ' out
	done
	want_text 'the plan is partial and has no id' out
	want_text 'usr/src: cannot be read by this user' out
fi

# a symlink in the place of its directory is a conflict like any, not a component that is not here
rm -rf linked && cp -a v1 linked && mv linked/usr/src moved && ln -s ../moved linked/usr/src
run "$INSTALL" plan 2.dray --root linked --keyring ops.pub
want_status 20
want_text 'usr/src is a symlink here' err
no_text 'component ' out

# one of them comes now: whole; what the bundle does not hold is told by name, and one that holds all has it
verb apply 3.dray --components base,src
want_status 20
want_text 'usr/src/sys/same.h'
want_text 'nothing was changed'
like_want
verb apply 3-all.dray --components base,src
want_status 0
no_text 'component src' out
part 3 doc && like_want
verb check
want_status 0
want_text 'component doc is not here' out
rm root/usr/src/README
verb check
want_status 20
verb repair 3-all.dray
want_status 0
run "$INSTALL" rollback --root root
want_status 0
cp -a v3/usr/src/README root/usr/src
run "$INSTALL" rollback --root root
want_status 0
part 2 usr/src doc && like_want
run "$INSTALL" status --root root --json
want_text '"components":["base"],"components_absent":["src","doc"]' out

# a step of several: with the choice that the first was made with, or none
cat >recipe.json <<'X'
{"recipe": 1, "components": [{"name": "src", "paths": ["usr/src"]}, {"name": "base"}],
 "phases": [{"name": "one", "paths": ["bin"]}, {"name": "two"}]}
X
build steps.dray 1 2
for last in '' '--without src' '--components base'; do
	rm -rf root && cp -a v1 root
	verb apply steps.dray --phase one --without src
	want_status 0
	tree >snap
	for other in '--components src,base' '--profile strict' '--park'; do
		# shellcheck disable=SC2086
		verb apply steps.dray $other
		want_status 22
		want_text 'the phases of demo 2 were begun with other options'
		want_text 'hint: nothing was changed; give those that the first phase had, or go back with rollback'
	done
	tree >now
	want_same snap now
	# shellcheck disable=SC2086
	verb apply steps.dray $last
	want_status 0
	run "$INSTALL" status --root root --json
	want_text '"components":["base"],"components_absent":["src"]' out
	run "$INSTALL" rollback --root root
	want_status 0
	part 1 && like_want
done
