#!/bin/sh
# the README's first bundle by hand, and the examples of both manual pages, run as they stand
. "$(dirname "$0")/lib.sh"

mkdir bin
ln -s "$DRAY" bin/dray && ln -s "$INSTALL" bin/dray-install
PATH=$T/bin:$PATH

# README: from "Or by hand:" to the next line of words
awk '/^Or by hand:/ { on = 1; next } on && /^[^ ]/ { exit } on { sub(/^    /, ""); print }' "$TOP/README.md" >by-hand
[ "$(grep -c . by-hand)" -ge 9 ] && ok 'a block by hand' || fail "the README's block is not found"
mkdir readme
run sh -c 'cd readme && sh -eu ../by-hand'
want_status 0
want_text 'machine is now demo 1.1' out
want_text 'machine is back in the state before the upgrade' out
[ "$(cat readme/machine/etc/motd)" = one ] && ok 'the old text' || fail 'not the old text'
# quickstart stands there too
grep -q '^    dray quickstart demo ' "$TOP/README.md" && ok 'quickstart' || fail 'no quickstart in the README'

# examples PAGE - each block of its EXAMPLES as a file ex.N, backslashes as a shell sees them
examples() {
	rm -f ex.*
	awk '/^\.Sh EXAMPLES/ { on = 1; next } /^\.Sh / { on = 0 }
	    on && /^\.Bd -literal/ { n++; lit = 1; next } /^\.Ed/ { lit = 0 }
	    on && lit { gsub(/\\e/, "\\"); gsub(/\\-/, "-"); print >"ex." n }' "$1"
}
example() {	# example N COMMANDS - the Nth block has them; it runs in the folder m
	grep -q -e "$2" "ex.$1" || fail "block $1 has no $2: $(cat "ex.$1")"
	run sh -c "cd m && sh -eu ../ex.$1"
	want_status 0
}
release() {
	mkdir -p "m/$1/usr/bin" "m/$1/etc"
	seq 1 "$2" >"m/$1/usr/bin/env"
	echo "$1" >"m/$1/etc/release"
}
release old 2000; release new 2100; release r1 1000; release r2 1100; release r3 1200
for p in 1 2 3 4; do release p$p $((3000 + p)); done
examples "$TOP/builder/dray.1"
example 1 'dray key new ops'
want_text 'verified' out
cp m/up.dray first.dray
example 2 'from-version 1.1:2'
want_text 'dray sign up.dray' out
example 3 'history dir:p1'
cp first.dray m/up.dray; cp first.dray m/mine.dray; cp first.dray m/theirs.dray; rm -rf m/new
example 4 'dray list up.dray --why'
want_text 'mine.dray and theirs.dray are the same' out
"$DRAY" build --from m/old --to m/r3 --product demo --version 1.1 --counter 2 -o m/up.dray -q
example 5 'dray sign --make'
want_text '1 signature added' out

# the installer's: /mnt and the plan's id are this test's
cp first.dray m/up.dray && cp -a m/old m/root
"$INSTALL" plan m/up.dray --root m/root --keyring m/ops.pub --json >plan.json 2>told
id=$(grep -o '"plan_id":"[0-9a-f]*"' plan.json | cut -d '"' -f 4)
examples "$TOP/installer/dray-install.8"
sed -i "s,/mnt,root,; s,--plan ID,--plan $id," ex.1
example 1 'dray-install rollback'
want_text 'root is now demo 1.1' out
want_text 'root is back in the state before the upgrade' out
examples "$TOP/spec/dray-bundle.5"
example 1 'tar -tvf up.dray'
want_text 'dray.json' out
example 2 'dray verify up.dray'
want_text 'verified' out
# the policy that the page shows is one
examples "$TOP/spec/dray-policy.5"
cp ex.1 site.policy
run "$INSTALL" plan m/up.dray --root m/root --keyring m/ops.pub --policy site.policy
want_status 0
