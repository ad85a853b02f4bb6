#!/bin/sh
# apply to the running system says when no boot hook is there to finish it; in a chroot that system is a folder
. "$(dirname "$0")/lib.sh"

is_root || skip 'needs root, for a chroot'
[ -z "${SAN:-}" ] || skip 'needs the static program'
mkdir -p old/var/lib old/etc old/usr/lib/systemd
: >old/usr/lib/systemd/systemd
cp -a old new
echo 1 >old/a && echo 2 >new/a
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
cp -a old root
cp up.dray ops.pub root/etc
cp "$INSTALL" root/etc/dray-install
mkdir root/proc && mount -t proc proc root/proc 2>/dev/null || skip 'cannot mount proc here'
trap 'umount "$T/root/proc"; at_end' EXIT
run chroot root /etc/dray-install apply /etc/up.dray --keyring /etc/ops.pub
want_status 0
want_text 'no boot hook: after a power cut, run `dray-install resume` before anything else' out
want_text 'to have each boot do that: dray-install hook install' out
run chroot root /etc/dray-install rollback
want_status 0
run chroot root /etc/dray-install hook install
want_status 0
run chroot root /etc/dray-install apply /etc/up.dray --keyring /etc/ops.pub
want_status 0
no_text 'no boot hook' out
