#!/bin/sh
# info works without a keyring and says that nothing is proven; with one it checks the signatures
. "$(dirname "$0")/lib.sh"

mkdir old new
echo one >old/a
echo two >new/a
touch -d '2024-02-29 12:00:00' new/a
key
key stranger
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 7 -o up.dray
want_status 0
want_text 'signed     by 0 keys' out
want_text 'next: dray sign up.dray --key ops.key' out
id=$(sed -n 's/^  id  *//p' out)

run "$DRAY" info up.dray
want_status 0
want_text 'up.dray: demo 1.1' out
want_text "id         $id" out
want_text 'release    1.1, counter 7, built 2024-02-29T12:00:00Z' out
want_text 'signature  none' out
want_text 'nothing of this is proven: signatures were not checked (no --keyring)' out
want_text 'next: dray verify up.dray --keyring ops.pub' out
run "$DRAY" info up.dray --keyring ops.pub
want_status 30
want_text 'cannot read up.dray: '

run "$DRAY" sign up.dray --key ops.key
run "$DRAY" info up.dray
want_status 0
want_text "id         $id" out
want_text 'signature  not checked' out
run "$DRAY" info up.dray --keyring ops.pub
want_status 0
want_text 'signature  ops: good' out
no_text 'nothing of this is proven' out
run "$DRAY" info up.dray --keyring ops.pub --json
want_status 0
want_text '"signatures_checked":true' out
want_text '"state":"good"' out
run "$DRAY" info up.dray --keyring stranger.pub
want_status 30

# nothing wider than a terminal of 76 columns
run "$DRAY" info up.dray
awk 'length > 76 { print; bad = 1 } END { exit bad }' out || fail "info is wider than 76 columns"

run "$DRAY" info none
want_status 1
want_text 'cannot read none: cannot be opened: no such file or directory'
run "$DRAY" info new
want_status 2
want_text 'cannot read new: not a file'
: >nothing
head -c 2000 /dev/zero >zeros
echo text >text
run "$DRAY" info nothing
want_status 31
want_text 'cannot read nothing: bundle ends at byte 0, inside its first members'
for f in zeros text; do
	run "$DRAY" info $f
	want_status 31
	want_text "cannot read $f: not a dray bundle"
done
run "$DRAY" info
want_status 2
want_text 'an operand is missing'
