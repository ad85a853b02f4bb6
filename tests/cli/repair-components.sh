#!/bin/sh
# a component that a tree does not have is no damage: repair brings nothing of it, not even when it is named
. "$(dirname "$0")/lib.sh"

mkdir -p new/src/lib new/bin new/var/lib
for f in src/lib/a src/lib/b bin/p; do
	echo "$f" >new/$f
done
find new -exec touch -h -d @1000000000 {} +
cat >r.json <<'J'
{"recipe": 1, "product": "demo", "version": "1", "counter": 1, "to": "dir:new",
 "components": [{"name": "src", "paths": ["src"]}, {"name": "base"}]}
J
key
run "$DRAY" build --recipe r.json --key ops.key -o full.dray
need_status 0
mkdir -p root/var/lib
run "$INSTALL" apply full.dray --root root --keyring ops.pub --without src
need_status 0

echo bad >root/bin/p
for path in '' / bin; do
	cp -a root "root$$"
	# shellcheck disable=SC2086
	run "$INSTALL" repair full.dray $path --root "root$$" --keyring ops.pub
	want_status 0
	want_text "1 path of demo 1 on root$$ is repaired" out
	want_same "root$$/bin/p" new/bin/p
	no_file "root$$/src"
	run "$INSTALL" check --root "root$$"
	want_status 0
	want_text 'component src is not here, so it was not compared' out
	rm -r "root$$"
done
cp new/bin/p root/bin && touch -r new/bin/p root/bin/p
for path in src src/lib/a; do
	run "$INSTALL" repair full.dray $path --root root --keyring ops.pub
	want_status 0
	want_text 'component src is not here, so it was not compared' out
	want_text 'root is demo 1: nothing to repair there' out
	no_file root/src
done

# a tree that has it gets back what is missing
run "$INSTALL" apply full.dray --root root --keyring ops.pub --components src,base
need_status 0
want_same root/src/lib/a new/src/lib/a
rm root/src/lib/a
run "$INSTALL" repair full.dray --root root --keyring ops.pub
want_status 0
want_same root/src/lib/a new/src/lib/a
run "$INSTALL" check --root root
want_status 0
