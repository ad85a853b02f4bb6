# shellcheck shell=sh disable=SC2034,SC2154
# lib.sh - sourced by the benchmarks: begin NAME, then words to measure with, then finish
#
#	begin NAME		a work folder $W, rows go to $OUT/bench/NAME.rows
#	sample CASE METRIC WHO VALUE
#	goal CASE METRIC WHO AGAINST MOST	(tests/bench/summary.c says what AGAINST may be)
#	meter CASE WHO WHAT CMD...	run it: WHAT_user, WHAT_cpu, WHAT_wall in s, WHAT_rss in KiB; it must end with 0
#	used			the last meter's "KiB user system wall"
#	build CASE WHO WHAT OPTION...	the same for dray build, with the key and no cache unless told
#	phase WHAT		ms of a phase in the last meter's --progress=json, all of that name together
#	differs WANTED GOT	how an upgraded tree is not the new release, in some lines
#	need_trees		TREES is there, unless all of PAIRS are made
#	trees PAIR		$case, and $old and $new in TREES; NAME=made:FILES are made, with SAMPLE=1 others are sampled, in $W/trees
#	finish			tables, $OUT/bench/NAME.json; status 1 when a goal is missed and STRICT=1
#
# ROUNDS (each bench has a default) is how often what is measured takes turns. BENCH_TMP (default: TMPDIR, else /var/tmp)
# is where the work folder lies. TREES is a folder as of tools/real-trees.sh, PAIRS are "NAME=OLD:NEW..." in it.

set -eu
export LC_ALL=C TZ=UTC
BENCH=$(cd "$(dirname "$0")" && pwd -P)
TOP=$(cd "$BENCH/../.." && pwd -P)
OUT=$(cd "${OUT:-$TOP/out}" && pwd -P)
DRAY=$OUT/dray INSTALL=$OUT/dray-install
PAIRS=${PAIRS:-major=old:new minor=minor-old:minor-new}
HOLD=''

begin() {
	name=$1
	W=$(mktemp -d "${BENCH_TMP:-${TMPDIR:-/var/tmp}}/dray-bench.XXXXXX")
	trap 'cd /; for m in $HOLD; do umount "$m" 2>/dev/null || umount -l "$m"; done; rm -rf "$W"' EXIT
	trap 'exit 130' HUP INT TERM
	export XDG_CACHE_HOME="$W/cache"
	ROWS=$OUT/bench/$name.rows
	mkdir -p "$OUT/bench"
	: >"$ROWS"
	(cd "$W" && "$DRAY" key new ops -q)
	KEY="--keyring $W/ops.pub"
	echo "== $name: $(uname -srm), $(getconf _NPROCESSORS_ONLN) processors, load $(cut -d ' ' -f 1-3 /proc/loadavg 2>/dev/null)"
	sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | sort | uniq -c
}

say() {
	echo "-- $(date +%T) $*" >&2
}

sample() {
	echo "sample $*" >>"$ROWS"
}

goal() {
	echo "goal $*" >>"$ROWS"
}

meter() {
	m_case=$1 m_who=$2 m_what=$3
	shift 3
	m_rc=0
	"$OUT/peak" "$W/used" "$@" >"$W/log" 2>"$W/err" </dev/null || m_rc=$?
	if [ "$m_rc" != 0 ]; then
		echo "$m_case, $m_who, $m_what: status $m_rc: $*" >&2
		tail -n 5 "$W/log" "$W/err" >&2
		exit 1
	fi
	read -r m_kib m_user m_sys m_wall <"$W/used"
	sample "$m_case" "${m_what}_user" "$m_who" "$m_user"
	sample "$m_case" "${m_what}_cpu" "$m_who" "$(echo "$m_user $m_sys" | awk '{ print $1 + $2 }')"
	sample "$m_case" "${m_what}_wall" "$m_who" "$m_wall"
	sample "$m_case" "${m_what}_rss" "$m_who" "$m_kib"
}

build() {
	b_case=$1 b_who=$2 b_what=$3
	shift 3
	meter "$b_case" "$b_who" "$b_what" "$DRAY" build -q --product bench --version 2 --counter 2 --key "$W/ops.key" "$@"
}

phase() {
	sed -n "s/^{\"done\":[0-9]*,\"ms\":\([0-9]*\),.*\"phase\":\"$1\".*\"state\":\"done\".*/\1/p" "$W/err" | awk '{ n += $1 } END { print n + 0 }'
}

# the number behind "KEY": in a file of JSON, the first one
field() {
	sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$2" | head -n 1
}

# differs WANTED GOT - first differences of an upgraded tree, of all that rsync sees; the state folder and what had to be made
# for it are no part of a release, nor is the time of the top folder
differs() {
	d_not=/var/lib/dray
	[ -d "$1/var/lib" ] || d_not=/var/lib
	[ -d "$1/var" ] || d_not=/var
	rsync -naHAX --checksum --delete --exclude="$d_not" --exclude=/.dray --itemize-changes "$1/" "$2/" |
	    grep -v '^\.d\.\.t\.* *\./$' | head -n 5
}

need_trees() {
	case $PAIRS in
	*=[!m]* | *=m[!a]*) ;;
	*) return ;;
	esac
	if [ -z "${TREES:-}" ]; then
		echo "$name: TREES=DIR is missing: a folder that holds OLD and NEW of each of PAIRS: $PAIRS" >&2
		exit 2
	fi
	TREES=$(cd "$TREES" && pwd -P)
}

trees() {
	case=${1%%=*} both=${1#*=}
	old=${TREES:-}/${both%%:*} new=${TREES:-}/${both#*:}
	case $both:${SAMPLE:-0} in
	made:*) sh "$BENCH/memory_trees.sh" "${both#made:}" "$W/trees" ;;
	*:0) return ;;
	*)
		sh "$TOP/tools/sample-tree.sh" "$old" "$new" "$W/trees"
		case=$case-sample
		;;
	esac
	old=$W/trees/old new=$W/trees/new
}

finish() {
	strict=
	[ "${STRICT:-0}" = 0 ] || strict=--goals
	"$OUT/bench/summary" $strict --json "$OUT/bench/$name.json" <"$ROWS"
}
