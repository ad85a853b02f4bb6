#!/bin/sh
# other owners than those of the tree: rules, the rest as root, ACLs, programs that come to run as root, bad rules
. "$(dirname "$0")/lib.sh"

mkdir tree
echo x >tree/a
id=$(id -u) gid=$(id -g)
build() {
	run "$DRAY" build --to tree --product demo --version 1 --counter 1 --level fast -o up.dray "$@"
}
owner() {	# owner PATH WANTED - as list -l shows it
	got=$("$DRAY" list -l up.dray 2>/dev/null | awk -v p="Z $1( |$)" '$0 ~ p { print $3; exit }')
	if [ "$got" = "$2" ]; then ok "$1 belongs to $2"; else fail "$1 belongs to $got, wanted $2"; fi
}

# without root rights: the person's own files become root's
build --as-root
want_status 0
owner a 0:0
build --owner-map "$id:77,u$id:78"
owner a "77:$([ "$gid" = "$id" ] && echo 77 || echo "$gid")"
build --owner-map "u$id:1000" --owner-map "g$gid:1001"
owner a 1000:1001
build --owner-map '*:5'
owner a 5:5

if is_root; then
	echo b >tree/b && chown 100000:100033 tree/b
	echo c >tree/c && chown 1000:1000 tree/c && chmod 4755 tree/c
	echo d >tree/d && chown 1000:1000 tree/d && chmod 2755 tree/d
	ln tree/b tree/b2
	ln -s b tree/l && chown -h 100001:100001 tree/l
	build --owner-map 100000-165535:0
	want_status 0
	owner b 0:33
	owner b2 0:33
	owner c 1000:1000
	no_text warning
	build --owner-map u100000-165535:0,g1000:50
	owner b 0:100033
	owner c 1000:50
	build --owner-map 1000:0
	want_text 'warning: tree: c: setuid or setgid, and given to root by the owner rules'
	want_text 'warning: tree: d: setuid or setgid, and given to root by the owner rules'
	owner c 0:0
	build --owner-map 1000:7 --as-root
	no_text warning
	owner b 0:0
	owner c 7:7
	# the first rule that holds
	build --owner-map '100000:1,100000-200000:2,*:3'
	owner b 1:35
	owner a 3:3

	# the same by way of an archive
	tar --format=posix --numeric-owner -cf tree.tar -C tree .
	build --owner-map 100000-165535:0
	mv up.dray dir.dray
	run "$DRAY" build --to tree.tar --owner-map 100000-165535:0 --product demo --version 1 --counter 1 --level fast -o up.dray
	want_same dir.dray up.dray

	if setfacl -m u:1000:r,u:2000:rw,g:1000:x tree/a 2>/dev/null; then
		build --owner-map 1000:2500
		key
		"$DRAY" sign up.dray --key ops.key >/dev/null
		mkdir root
		run "$INSTALL" apply up.dray --root root --keyring ops.pub
		want_status 0
		getfacl -cn root/a >acl
		want_text 'user:2500:r--' acl
		want_text 'user:2000:rw-' acl
		want_text 'group:2500:--x' acl
		no_text ':1000:' acl
		build --owner-map 1000:2000
		want_status 2
		want_text 'tree: a: the owner rules make two entries of its ACL the same'
	fi
fi

refused() {
	rm -f up.dray
	build --owner-map "$1"
	want_status 2
	want_text "owner rule \"$2\": FROM:TO, FROM-LAST:TO or *:TO is wanted"
	no_file up.dray
}
refused 1 1
refused 1: 1:
refused :1 :1
refused 'root:0' root:0
refused '1:2,3' 3
refused '1:2,' ''
refused '5-4:0' 5-4:0
refused '0-4:4294967291' 0-4:4294967291
refused '4294967295:0' 4294967295:0
refused '*:4294967295' '*:4294967295'
refused '1:2:3' 1:2:3
refused 'x1:2' x1:2
refused '-1:2' -1:2
refused "$(printf '1:\033')" '1:\x1b'
build --owner-map "$(seq -s, 1 65 | sed 's/\([0-9]*\)/\1:0/g')"
want_status 2
want_text 'more than 64 rules for owners'
no_leftover .
