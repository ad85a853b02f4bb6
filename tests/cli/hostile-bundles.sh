#!/bin/sh
# bundles of bad will, made and signed as a key holder could: each ends with the code and the message of the table, and the
# target is as it was (make hostile shows those that all commands refuse to verify and plan too)
. "$(dirname "$0")/lib.sh"

[ -x "$OUT/hostile" ] || skip "the kit is not built"
# sanitizers make a start slow: what reaches the later stages then
parts=
[ -z "${SAN:-}" ] || parts="good delta frame says target volume note dir-4"
# shellcheck disable=SC2086 # a list
"$OUT/hostile" brief "$TOP/tools/hostile/cases" "$INSTALL" "$T/work" $parts >log 2>&1
status=$?
summary=$(tail -n 1 log)
case $summary in
"hostile: "*" cases, "*" as expected, 0 not") ok "$summary" ;;
*)
	head -n 60 log
	fail "$summary"
	;;
esac
ran="hostile brief"
want_status 0
# the table may grow, and never shrinks below what the texts promise
n=$(echo "$summary" | cut -d ' ' -f 2)
if [ -n "$parts" ] || [ "${n:-0}" -ge 1380 ]; then ok "$n cases"; else fail "$n cases"; fi
