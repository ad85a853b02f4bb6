#!/bin/sh
# init=/var/lib/dray/dray-install: as the first process, on a read-only root, it finishes the switch and becomes init; when
# it cannot, it says what to do and gives a shell. No proof of a boot, but of all that does not need a kernel of its own
. "$(dirname "$0")/lib.sh"

is_root || skip 'needs root, for a process namespace'
[ -z "${SAN:-}" ] || skip 'needs the static program'
command -v strace >/dev/null || skip 'needs strace, to kill at a chosen moment'
unshare -m --pid --fork true 2>/dev/null || skip 'no process namespaces here'
mkdir -p old/var/lib new/var/lib old/sbin old/bin old/dev
for f in a b c; do
	echo 1 >old/$f
done
# what runs as init or as the shell says by its message how it was called: a program alone, without libraries
cp "$INSTALL" old/sbin/init
cp -a old/. new
for f in a b c; do
	echo 2 >new/$f
done
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0

mkdir m
truncate -s 96M img && mkfs.ext4 -q -F img 2>/dev/null && unshare -m mount -o loop img m 2>/dev/null ||
    skip 'no loop mounts here'
# boot WHAT ARG... - in namespaces of its own: a file system with a tree whose upgrade is killed in the middle, WHAT done to
# it, read-only as a kernel mounts it, and then the copy of the program as process 1
boot() {
	what=$1
	shift
	run unshare -m sh -c '
		what=$1; shift
		mount -o loop img m && rm -rf m/* && cp -a old/. m || exit 90
		strace -f -o trace -e trace=renameat2,linkat -e inject=renameat2,linkat:signal=KILL:when=2 \
		    "$INSTALL" apply -q up.dray --root m --keyring ops.pub -j1
		[ $? = 137 ] || exit 91
		[ "$(cat m/[abc] | tr -d "\n")" = 211 ] || exit 92
		( cd m && eval "$what" ) || exit 93
		mount -o remount,ro m || exit 94
		unshare --pid --fork chroot m /var/lib/dray/dray-install "$@"
		rc=$?
		cat m/[abc] | tr -d "\n" >tree
		grep " $PWD/m " /proc/self/mounts >mount
		rm -rf evidence; cp -r m/var/lib/dray/evidence . 2>/dev/null
		exit $rc' sh "$what" "$@"
}
export INSTALL
tree_is() { [ "$(cat tree)" = "$1" ] && ok "tree: $1" || fail "tree: $(cat tree), wanted $1"; }

boot : single
want_status 2
want_text 'started in the place of init: finishing what was interrupted'
want_text 'an upgrade was interrupted while it was switching; it is finished now, in the new state' out
want_text 'starting the system'
want_text 'dray-install: unknown command "single"'	# that was /sbin/init
tree_is 222
want_text ' ro,' mount
want_text '"ended":"done"' evidence/000001.json
want_text '"verb":"resume"' evidence/000001.json

# without init: advice and a shell, which has the name sh and no words
boot 'mv sbin/init bin/sh'
want_status 2
want_text 'there is no init to start'
want_text '/var/lib/dray/dray-install resume --state var/lib/dray --back    to the old state'
want_text 'a command is missing'
tree_is 222

# the journal is damaged: nothing is started that does not know of it
boot 'cp sbin/init bin/sh; printf x >>var/lib/dray/tx/000001/plan' quiet
want_status 2
want_text 'the plan is not the one that was decided on'
want_text 'the upgrade is not finished. Read what is said above, repair the cause, then:'
want_text 'a command is missing'
no_text 'starting the system'
tree_is 211

# told to do something, or not from a state folder: a program like any other, though it is process 1
boot : status
want_status 0
want_text 'pending: an upgrade was interrupted while it was switching' out
no_text 'in the place of init'
tree_is 211
boot 'mv var/lib/dray/tx var/lib/dray/x'
want_status 2
want_text 'a command is missing'
no_text 'in the place of init'
