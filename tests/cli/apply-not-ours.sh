#!/bin/sh
# another user than root: what he may not change is found before the first write; a plan id that is none is a mistake
. "$(dirname "$0")/lib.sh"

is_root || skip 'needs root, to become somebody else'
mkdir -p old/var/lib old/etc old/bin new/var/lib new/etc new/bin
for f in etc/a bin/b; do
	echo 1 >old/$f
	echo 2 >new/$f
done
chown -R 65534:65534 old new
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0
cp -a old root

refused() {
	cp -a root before
	run as_nobody "$INSTALL" apply up.dray --root root --keyring ops.pub
	want_status 22
	want_text "$1"
	same_tree before root
	run as_nobody "$INSTALL" status --root root
	want_text 'nothing is pending and nothing is kept' out
	rm -rf before
}
chmod 555 root/etc
refused 'etc/a cannot be changed by this user'
chmod 755 root/etc
chown 0:0 root/bin
refused 'bin/b cannot be changed by this user'
chmod 777 root/bin
refused 'bin cannot be changed by this user'
chown 65534:65534 root/bin
chmod 755 root/bin
run as_nobody "$INSTALL" apply up.dray --root root --keyring ops.pub --plan 193ec382
want_status 2
want_text 'plan: not a plan id'
run as_nobody "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
same_tree new root

if command -v setcap >/dev/null; then
	cp -a new caps
	cp -p caps/etc/a caps/etc/cap && setcap cap_net_raw+ep caps/etc/cap || exit 1
	run "$DRAY" build --from new --to caps --product demo --version 1.2 --counter 3 --key ops.key -o caps.dray
	want_status 0
	run as_nobody "$INSTALL" apply caps.dray --root root --keyring ops.pub
	want_status 22
	want_text '1 paths need an owner, a device or a capability that only root can give, the first is etc/cap'
	same_tree new root
fi

# a staging folder that cannot be made is not left behind as an interrupted run
run as_nobody "$INSTALL" rollback --root root
(
	ulimit -f 1
	as_nobody "$INSTALL" apply up.dray --root root --keyring ops.pub >out 2>err
)
ended $? 'apply with a file size limit'
want_status 1
run as_nobody "$INSTALL" status --root root
want_text 'nothing is pending and nothing is kept' out
