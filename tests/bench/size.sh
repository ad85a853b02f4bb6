#!/bin/sh
# size.sh - what is carried, against other programs: TREES=DIR OUT=out tests/bench/size.sh   (make bench-size)
# Of each pair the sample (tools/sample-tree.sh) with all peers that are installed; with WHOLE="PEER..." the whole trees with these
# as well (WHOLE=none: dray alone). PEERS="PEER..." are others than all, SAMPLE=0 leaves the samples out. One round, as sizes do not vary; time and
# memory are told too. What each peer brings is applied to a copy of the old tree and compared by rsync, bytes and names.
. "$(dirname "$0")/lib.sh"
begin size
need_trees
PEERS=${PEERS-$(sh "$BENCH/peers.sh" installed)}

# peer CASE PEER OLD NEW
peer() {
	dir=$W/peer
	rm -rf "$dir"
	p="sh $BENCH/peers.sh"
	say "$1, $2"
	# shellcheck disable=SC2086  # they are words
	{
		$p prepare "$2" "$3" "$4" "$dir" >/dev/null
		meter "$1" "$2" build $p build "$2" "$3" "$4" "$dir"
		sample "$1" size "$2" "$($p size "$2" "$3" "$4" "$dir")"
		cp -a "$3" "$dir/tree"
		$p ready "$2" "$3" "$4" "$dir" >/dev/null
		meter "$1" "$2" apply $p apply "$2" "$3" "$4" "$dir"
		# whatever a peer thinks of times and owners, the bytes must be right
		same=$(rsync -nrlH --checksum --delete --itemize-changes "$4/" "$($p result "$2" "$3" "$4" "$dir")/" | head -n 5)
	}
	rm -rf "$dir"
	if [ -n "$same" ]; then
		echo "$1, $2: not the new release: $same" >&2
		exit 1
	fi
}

# ours CASE LEVEL OLD NEW
ours() {
	say "$1, dray --level $2"
	up=$W/up.dray
	build "$1" "dray-$2" build --from "dir:$3" --to "dir:$4" --slim --level "$2" --no-cache -j1 -o "$up"
	"$DRAY" info --json "$up" >"$W/info"
	sample "$1" size "dray-$2" "$(stat -c %s "$up")"
	sample "$1" payload "dray-$2" "$(field frames_bytes "$W/info")"
	rm -rf "$W/tree"
	cp -a "$3" "$W/tree"
	# shellcheck disable=SC2086
	meter "$1" "dray-$2" apply "$INSTALL" apply "$up" --root "$W/tree" $KEY -q -j1
	same=$(differs "$4" "$W/tree")
	rm -rf "$W/tree" "$up"
	if [ -n "$same" ]; then
		echo "$1, dray: not the new release: $same" >&2
		exit 1
	fi
}

# one CASE OLD NEW PEERS
one() {
	for p in $4; do
		peer "$1" "$p" "$2" "$3"
	done
	for l in best default fast; do
		ours "$1" $l "$2" "$3"
	done
}

for pair in $PAIRS; do
	case=${pair%%=*} both=${pair#*=}
	old=$TREES/${both%%:*} new=$TREES/${both#*:}
	if [ "${SAMPLE:-1}" != 0 ]; then
		sh "$TOP/tools/sample-tree.sh" "$old" "$new" "$W/$case"
		one "$case-sample" "$W/$case/old" "$W/$case/new" "$PEERS"
		rm -rf "${W:?}/$case"
		payload=0.88 total=0.90
		[ "$case" != minor ] || payload=0.80 total=0.86
		goal "$case-sample" payload dray-best size/peers $payload
		goal "$case-sample" size dray-best peers $total
		goal "$case-sample" size dray-fast dray-default 1.15
		goal "$case-sample" build_user dray-default ostree 0.6
		goal "$case-sample" build_user dray-fast dray-default 0.1
	fi
	if [ -n "${WHOLE:-}" ]; then
		[ "$WHOLE" != none ] || WHOLE=' '
		one "$case" "$old" "$new" "$WHOLE"
		goal "$case" build_rss dray-default 1 1536000
	fi
done
finish
