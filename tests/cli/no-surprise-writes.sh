#!/bin/sh
# no command makes a socket or writes outside the root and its state folder, as system calls tell; what does is found out
. "$(dirname "$0")/lib.sh"

run sh "$TOP/tests/surprise/surprise.sh" short
[ "$status" != 77 ] || skip "$(tail -n 1 out)"
want_status 0
want_text ' commands, 0 findings' out
n=$(sed -n 's/^surprise: \([0-9]*\) commands.*/\1/p' out)
if [ "${n:-0}" -ge 23 ]; then ok "$n commands"; else fail "only ${n:-no} commands"; fi
