#!/bin/sh
# status --needs-restart names a process that still runs a replaced or removed file, until it ends; also after forget
. "$(dirname "$0")/lib.sh"

[ -r /proc/self/maps ] || skip 'there is no /proc that tells'
sleep=$(command -v sleep)
mkdir -p old/bin old/lib/x old/var/lib new/bin new/var/lib
cp "$sleep" old/bin/changes && cp "$sleep" old/lib/x/removed && cp "$sleep" old/bin/stays
cp "$sleep" new/bin/changes && cp "$sleep" new/bin/stays
echo more >>new/bin/changes
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
cp -a old root
root/bin/changes 60 & changes=$!
root/lib/x/removed 60 & removed=$!
root/bin/stays 60 & stays=$!
trap 'kill $changes $removed $stays 2>/dev/null || true; at_end' EXIT
started() {	# until all three are what they shall be
	for p in $changes $removed $stays; do
		case $(readlink /proc/$p/exe) in "$T"/root/*) ;; *) return 1 ;; esac
	done
}
while ! started; do sleep 0.1; done

restart() {
	run "$INSTALL" status --root root --needs-restart "$@"
	want_status 0
}
restart
want_text 'uses what was replaced: nothing to restart' out
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
restart
want_text "process $changes (root/bin/changes 60) still uses:" out
want_text '  bin/changes' out
want_text "process $removed (root/lib/x/removed 60) still uses:" out
want_text '  lib/x/removed' out
no_text "process $stays " out
want_text 'next: restart them, or reboot' out
run "$INSTALL" status --root root --needs-restart --exit-detail
want_status 11
run "$INSTALL" status --root root --needs-restart --exit-detail --json
want_status 11
run "$INSTALL" status --root root --exit-detail
want_status 0
restart --json
want_text "{\"command\":\"root/bin/changes 60\",\"pid\":$changes,\"uses\":[\"bin/changes\"]}" out
no_text "\"pid\":$stays," out

# after forget the file is gone, and its process is still named
run "$INSTALL" forget --root root
restart
want_text "process $changes (root/bin/changes 60) still uses:" out
want_text "process $removed " out

# replaced once more by somebody else: another file has the name now
cp root/bin/stays root/bin/stays.new && mv root/bin/stays.new root/bin/stays
restart
want_text "process $stays (root/bin/stays 60) still uses:" out

kill $changes $removed
wait $changes $removed 2>/dev/null
restart
no_text "process $changes " out
no_text "process $removed " out

# another tree knows nothing of them
mkdir -p other/var/lib
run "$INSTALL" status --root other --needs-restart
want_status 0
want_text 'nothing to restart' out
run "$INSTALL" status --root other --needs-restart --exit-detail
want_status 0

# without /proc it is not known, and that is no "none"
if is_root && [ -z "${SAN:-}" ] && unshare -m true 2>/dev/null; then
	run unshare -m sh -c "mount -t tmpfs none /proc && exec $INSTALL status --root root --needs-restart"
	want_status 22
	want_text 'there is no /proc here that tells which files processes use'
	want_text 'hint: which have to be restarted is not known'
fi
