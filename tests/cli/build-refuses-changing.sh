#!/bin/sh
# a file that is not what its size and time said is an error: files of /proc are empty by their size and hold bytes
. "$(dirname "$0")/lib.sh"

[ "$(wc -c </proc/sys/kernel/random/uuid 2>/dev/null)" -gt 0 ] || skip "there is no /proc/sys/kernel/random here"
run "$DRAY" build --to /proc/sys/kernel/random --product demo --version 1 --counter 1 -o up.dray
want_status 1
want_text '/proc/sys/kernel/random: '
want_text ': changed while it was read'
want_text 'hint: build from a tree that is at rest'
no_file up.dray
no_leftover .
