#!/bin/sh
# a path of 4095 bytes is packed, one above is an error that names its beginning
. "$(dirname "$0")/lib.sh"

mkdir new
part=$(printf '%0254d' 0)
(
	cd new || exit 1
	i=0
	while [ $i -lt 15 ]; do	# 15 * 255 bytes with the slashes
		mkdir "$part" && cd -P "$part" || exit 1
		i=$((i + 1))
	done
	: >"$(printf '%0255d' 1)"	# a path of 4080
	mkdir "$(printf '%0253d' 2)" && cd -P "$(printf '%0253d' 2)" || exit 1	# 4078
	: >"$(printf '%016d' 3)"	# 4095
) || exit 1
run "$DRAY" build --to new --product demo --version 1 --counter 1 --level fast -o up.dray
want_status 0
run "$DRAY" list up.dray
[ "$(awk '{ print length - 2 }' out | sort -n | tail -n 1)" = 4095 ] || fail "no path of 4095 bytes in the list"

(
	cd new || exit 1
	while cd -P "$part" 2>/dev/null; do :; done
	cd -P "$(printf '%0253d' 2)" && : >"$(printf '%017d' 4)"
) || exit 1
run "$DRAY" build --to new --product demo --version 1 --counter 1 --level fast -o long.dray
want_status 31
want_text "new: $part/"
want_text 'longer than 4095 bytes'
no_file long.dray
no_leftover .
