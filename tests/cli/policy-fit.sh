#!/bin/sh
# which bundle may go on which tree: product, system, counter; an older one only when its very counter is allowed
. "$(dirname "$0")/lib.sh"

for v in 1 2 3; do
	mkdir -p v$v/var/lib
	echo $v >v$v/a
	touch -d @100000000$v v$v/a
done
cp -a v2 other && echo other >other/b
key
build() {	# build OUT COUNTER ARG...
	o=$1 c=$2
	shift 2
	run "$DRAY" build --product demo --counter "$c" --key ops.key -o "$o" "$@"
	want_status 0
}
build 1.dray 1 --to v1 --version 1
build 2.dray 2 --from v1 --to v2 --version 2
build 2-slim.dray 2 --from v1 --from v3 --to v2 --version 2 --slim
build 2-other.dray 2 --from v1 --to other --version 2
build 2b.dray 2 --from v1 --to other --version 2b
build 3.dray 3 --from v2 --to v3 --version 3
apply() {
	run "$INSTALL" apply "$@" --root root --keyring ops.pub
}
tree() {
	tree_snapshot root | grep -v var/lib/dray
}

cp -a v1 root
apply 2.dray
want_status 0
# the same release in another packing is the same release
apply 2-slim.dray
want_status 0
want_text 'demo 2 is there already' out
# another release with its counter is not, whatever it calls itself
tree >snap
for b in 2-other 2b; do
	for verb in plan apply; do
		run "$INSTALL" $verb $b.dray --root root --keyring ops.pub
		want_status 23
		want_text "demo ${b%-other} has release counter 2, but root already had another release with it: 2"
		want_text 'hint: build it again with a higher --counter, or accept it with --allow-downgrade 2'
	done
done
apply 1.dray
want_status 23
want_text 'demo 1 has release counter 1, but root already had 2'
want_text 'hint: older releases are refused; use rollback to go back, or --allow-downgrade 1'
# the option names one counter, and fits no other bundle
apply 1.dray --allow-downgrade 2
want_status 2
want_text '--allow-downgrade 2, but demo 1 has release counter 1'
apply 3.dray --allow-downgrade 1
want_status 2
want_text '--allow-downgrade 1, but demo 3 has release counter 3'
apply 1.dray --allow-downgrade 0
want_status 2
tree >snap.now
want_same snap snap.now

run "$INSTALL" plan 1.dray --root root --keyring ops.pub --allow-downgrade 1 --profile strict
want_status 0
want_text 'allowed by --allow-downgrade 1: demo 1 has release counter 1, but root already had 2' out
want_text '--allow-downgrade 1' out
id=$(sed -n 's/^plan id //p' out)
apply 1.dray --allow-downgrade 1 --profile strict --plan "$id"
want_status 0
same_tree root v1
# that was one downgrade: the floor is where it was
run "$INSTALL" status --root root --json
want_text '"installed":{"bundle_id":' out
want_text '"version":"1"}' out
want_text '"floors":[{"counter":2,"product":"demo"}]' out
apply 1.dray
want_status 23
run "$INSTALL" rollback --root root
want_status 0
same_tree root v2

# back before the release that raised the floor: its counter still belongs to it
run "$INSTALL" rollback --root root
want_status 0
same_tree root v1
apply 2b.dray
want_status 23
want_text 'demo 2b has release counter 2, but root already had another release with it'
apply 2.dray
want_status 0
apply 3.dray
want_status 0

# the record is gone: said, and the bases of the bundle are asked instead
rm root/var/lib/dray/anchor.json
run "$INSTALL" status --root root
want_status 0
want_text 'nothing is recorded as installed on root' out
want_text 'anchor.json is gone from var/lib/dray: the next upgrade is trusted anew' out
run "$INSTALL" status --root root --json
want_text '"anchor_lost":true' out
run "$INSTALL" plan 2.dray --root root --keyring ops.pub
want_status 0
want_text 'var/lib/dray/anchor.json is gone: what was installed, and how old a release may be, is not known' out
# the whole folder is gone: as on a machine that never had an upgrade
rm -r root/var/lib/dray
run "$INSTALL" status --root root --json
no_text 'anchor_lost' out
