#!/bin/sh
# the end of life of a release, as its server signs it: build warns when it is past and goes on, the bundle carries the date,
# info and plan tell it
. "$(dirname "$0")/lib.sh"

base=in/13.2-RELEASE/p0/world/base
mkdir -p $base/bin $base/var/lib
echo a >$base/bin/a
chmod 0755 $base $base/bin $base/var $base/var/lib
echo 1719792000 >in/13.2-RELEASE/eol
cp -a in/13.2-RELEASE in/14.0-RELEASE
rm in/14.0-RELEASE/eol
cp -a in/13.2-RELEASE in/15.0-RELEASE
echo 999999999999999999 >in/15.0-RELEASE/eol
"$TOP/tools/fbupdate-server" make in site >made || exit 1
key
build() {	# build RELEASE OUT
	run "$DRAY" build --to "freebsd-update:$1-RELEASE/amd64" --server "file://$T/site" --keyprint "$(cat site/KEYPRINT)" \
	    --fetched store --os any --level 1 --no-cache --key ops.key -o "$2" --json
	need_status 0
}
build 13.2 past.dray
want_text 'dray: warning: freebsd-update:13.2-RELEASE/amd64: end of life was 2024-07-01T00:00:00Z; whoever made it gives no more fixes'
want_text '"eol":1719792000' out
build 14.0 later.dray
no_text 'end of life'
want_text '"eol":4102444800' out
build 15.0 never.dray
no_text 'end of life'
no_text eol out

run "$INSTALL" info past.dray --keyring ops.pub
want_text '  support    end of life was 2024-07-01T00:00:00Z' out
run "$INSTALL" info later.dray --keyring ops.pub
want_text '  support    end of life is 2100-01-01T00:00:00Z' out
run "$INSTALL" info past.dray --keyring ops.pub --json
want_text '"eol":1719792000' out
run "$INSTALL" info never.dray --keyring ops.pub --json
no_text eol out
run "$DRAY" diff past.dray never.dray
want_status 20

cp -a $base root
run "$INSTALL" plan past.dray --root root --keyring ops.pub --no-owner
want_status 0
want_text 'end of life was 2024-07-01T00:00:00Z' out
run "$INSTALL" plan past.dray --root root --keyring ops.pub --no-owner --json
want_text '"eol":1719792000' out
run "$INSTALL" apply past.dray --root root --keyring ops.pub --no-owner
want_status 0
