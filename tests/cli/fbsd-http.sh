#!/bin/sh
# a freebsd-update server behind nginx that cuts off each connection at its third request: the same bundle as from a folder; what one run
# has fetched the next one does not ask for; a mirror is a server too
. "$(dirname "$0")/lib.sh"
. "$TOP/tests/fbsd/site.sh"
is_root || skip "owners of the trees need root"
command -v nginx >/dev/null || skip "no nginx here"
key
fbsd_trees in
fbsd_site in site >/dev/null || exit 1

build() {	# SERVER STORE FILE
	run "$DRAY" build --from freebsd-update:13.2-RELEASE/amd64 --to freebsd-update:14.0-RELEASE/amd64 --server "$1" \
	    --keyprint "$KEYPRINT" --fetched "$2" --os any --level 1 --no-cache --key ops.key -o "$3"
}

build "file://$T/site" store1 file.dray
need_status 0
fbsd_serve site drop
build "127.0.0.1:$port" store2 http.dray
need_status 0
want_same file.dray http.dray
grep -q ' 444 ' site/nginx.access && ok 'requests were cut off' || fail 'no request was cut off'
# key and lists stand in the store: only the tags are asked for
grep -c . site/nginx.access >before
build "127.0.0.1:$port" store2 again.dray
need_status 0
want_same file.dray again.dray
tail -n +$(($(cat before) + 1)) site/nginx.access | grep -v '/latest.ssl ' >asked
[ ! -s asked ] && ok 'nothing else is asked for' || { fail 'more was asked for'; head -n 5 asked; }
fbsd_unserve site

run "$DRAY" fetch freebsd-update:13.2-RELEASE/amd64 freebsd-update:14.0-RELEASE/amd64 --server "file://$T/site" \
    --keyprint "$KEYPRINT" --fetched store1 --mirror mirror
need_status 0
fbsd_serve mirror
build "http://127.0.0.1:$port/" store3 mirror.dray
need_status 0
want_same file.dray mirror.dray
fbsd_unserve mirror
