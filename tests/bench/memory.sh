#!/bin/sh
# memory.sh - the most memory that dray-install holds: OUT=out tests/bench/memory.sh [PATHS]   (make bench calls it)
# PATHS (100,000) small files are all changed, with two workers and with --memory 48M. Exit 1 when a run holds more than
# spec/performance.md 4 promises. TMPDIR must have room for the trees, some 400,000 small files.
set -eu
cd "$(dirname "$0")/../.."
OUT=$(cd "${OUT:-out}" && pwd)
N=${1:-100000}
W=$(mktemp -d "${TMPDIR:-/var/tmp}/dray-memory.XXXXXX")
trap 'rm -rf "$W"' EXIT
trap 'exit 1' HUP INT TERM
export XDG_CACHE_HOME="$W/cache"
bad=0

# measure NAME LIMIT_KIB STATUS COMMAND...: the peak, and whether it is within the limit
measure() {
	name=$1 limit=$2 want=$3
	shift 3
	status=0
	"$OUT/peak" "$W/kib" "$@" >"$W/log" 2>&1 </dev/null || status=$?
	if [ "$status" != "$want" ]; then
		echo "$name: exit status $status"
		tail -n 5 "$W/log"
		exit 1
	fi
	read -r kib _ <"$W/kib"
	verdict=
	if [ "$kib" -gt "$limit" ]; then
		verdict=", above $limit"
		bad=1
	fi
	echo "$name: $kib KiB$verdict"
}

sh tests/bench/memory_trees.sh "$N" "$W"
(cd "$W" && "$OUT/dray" key new ops -q)
"$OUT/dray" build -q --from "$W/old" --to "$W/new" --product memory --version 2 --counter 2 --key "$W/ops.key" \
    --level fast --no-cache -o "$W/up.dray"
mv "$W/old" "$W/root"
where="--root $W/root"
bundle="$W/up.dray $where --keyring $W/ops.pub"
mib=1024
# shellcheck disable=SC2086  # they are words
{
	measure 'plan -j2' $((64 * mib)) 0 "$OUT/dray-install" plan $bundle -j2
	measure 'apply -j2' $((128 * mib)) 0 "$OUT/dray-install" apply $bundle -j2
	measure 'check -j2' $((64 * mib)) 0 "$OUT/dray-install" check $where -j2
	measure 'rollback' $((64 * mib)) 0 "$OUT/dray-install" rollback $where
	measure 'apply --memory 48M' $((64 * mib)) 0 "$OUT/dray-install" apply $bundle -j2 --memory 48M
	grep 'memory for' "$W/log" || true
	"$OUT/dray-install" rollback -q $where
	if command -v strace >/dev/null; then
		strace -f -o /dev/null -e trace=renameat2 -e "inject=renameat2:signal=KILL:when=$((N / 2))" \
		    "$OUT/dray-install" apply -q $bundle -j2 || true
		measure 'resume' $((64 * mib)) 0 "$OUT/dray-install" resume $where
	fi
}
exit $bad
