#!/bin/sh
# many.sh - the cases of the hostile kit that run by hand, on an ext4 of their own with 65,536 inodes: the names that it gives
# one file, one more than that, and ten million entries, of nothing and of empty files
#   many.sh links		the second of these	(cli/hostile-many)
#   many.sh all		all of them		(make hostile); what each command took goes to $OUT/hostile-many, dated
export NAME=hostile
. "$(dirname "$0")/../crash/common.sh"

case ${1:-} in
links) parts=links-65001 ;;
all) parts='links-650 -million' ;;
*)
	echo 'usage: many.sh links|all' >&2
	exit 2
	;;
esac
scratch 1G
[ -n "$mounted" ] || { echo 'needs loop mounts: the bounds are those of ext4'; exit 77; }
# the kit gives a program no environment
cat >"$HOME_DIR/measured" <<END
#!/bin/sh
OUT='$OUT' HOME_DIR='$HOME_DIR' INSTALL='$INSTALL'
END
cat >>"$HOME_DIR/measured" <<'END'
"$OUT/peak" "$HOME_DIR/kib" "$INSTALL" "$@"
rc=$?
echo "$(basename "$2" .dray) $1 $(cat "$HOME_DIR/kib")" >>"$HOME_DIR/used"
exit $rc
END
chmod +x "$HOME_DIR/measured"
: >"$HOME_DIR/used"
# shellcheck disable=SC2086 # a list
"$OUT/hostile" run "$TOP/tools/hostile/cases" "$HOME_DIR/measured" "$WORK/kit" $parts
rc=$?
result=/dev/null
if [ "$1" = all ]; then
	mkdir -p "$OUT/hostile-many"
	result=$OUT/hostile-many/$(date -u +%Y-%m-%dT%H%M%SZ).txt
fi
awk '{ printf "%-20s %-7s %8d KiB  %7.2f s of processor  %7.2f s\n", $1, $2, $3, $4 + $5, $6 }' "$HOME_DIR/used" | tee "$result"
exit $rc
