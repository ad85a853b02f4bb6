#!/bin/sh
# 65,001 names of one file, one more than ext4 gives it: plan and apply say so, and nothing is changed
. "$(dirname "$0")/lib.sh"

[ -x "$OUT/hostile" ] || skip "the kit is not built"
[ -x "$OUT/peak" ] || skip 'needs peak'
is_root || skip 'needs root, for an ext4 of its own'
run sh "$TOP/tests/hostile/many.sh" links
[ "$status" != 77 ] || skip "$(tail -n 1 out)"
want_status 0
want_text 'hostile: 1 cases, 1 as expected, 0 not' out
