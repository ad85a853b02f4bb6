#!/bin/sh
# list: one line for each path with what happens to it; --changed leaves out the same; JSON tells it all
. "$(dirname "$0")/lib.sh"

mkdir -p old/dir new/dir
for f in same meta content type gone; do echo $f >old/$f; done
cp -a old/. new
rm new/gone new/type
chmod 600 new/meta
echo other >new/content
ln -s x new/type
echo more >new/added
touch -r old/dir new/dir
run "$DRAY" build --from old --to new --product demo --version 1 --counter 1 --level fast -o up.dray
want_status 0
cat >want <<-END
	+ added
	~ content
	= dir
	- gone
	m meta
	= same
	t type
END
run "$DRAY" list up.dray
want_status 0
want_same want out
want_text 'dray: signatures were not checked (no --keyring)'
run "$DRAY" list up.dray -c
want_status 0
grep -v = want >changed
want_same changed out
run "$DRAY" list up.dray -q
no_text signatures

run "$DRAY" list up.dray --json
want_status 0
want_text '{"change":"removed","path":"gone"}' out
want_text '"change":"metadata","gid":' out
want_text '"change":"type",' out
want_text '"signatures_checked":false' out
want_text "\"sha256\":\"$(sha256sum <new/content | cut -c1-64)\"" out

key
run "$DRAY" sign up.dray --key ops.key
run "$DRAY" list up.dray --keyring ops.pub
want_status 0
want_same want out
no_text signatures
key stranger
run "$DRAY" list up.dray --keyring stranger.pub
want_status 30
[ ! -s out ] || fail "paths of a bundle that is not trusted were listed"

# a full disk behind standard output is told
if [ -w /dev/full ]; then
	"$DRAY" list up.dray >/dev/full 2>err
	ended $? "list to a full device"
	want_status 1
	want_text 'could not be written'
fi
