#!/bin/sh
# build.sh - what building takes: TREES=DIR OUT=out tests/bench/build.sh   (make bench-build)
# Of each pair's sample (SAMPLE=0: the whole trees) in turns (ROUNDS, default 3): both levels with -j1 and with two threads, one base
# more with everything else in the cache, and ostree's delta (PEERS, default ostree, if it is here). Then inputs that
# are hard on a matcher (KINDS, at the two lengths of ODD="MIB MIB", default "8 32"; ODD=none leaves them out).
. "$(dirname "$0")/lib.sh"
begin build
ROUNDS=${ROUNDS:-3} ODD=${ODD:-8 32}
have=" $(sh "$BENCH/peers.sh" installed)"
[ -z "$PAIRS" ] || need_trees

# half as many paths of the old tree, as another base
another() {
	mkdir "$2"
	(cd "$1" && find . ! -type d | LC_ALL=C sort | awk 'NR % 2') | tar -C "$1" --no-recursion -T - -cf - | tar -C "$2" -xpf -
}
# shellcheck disable=SC2154  # m_* are of lib.sh
one_round() {	# CASE OLD NEW
	for l in default fast; do
		say "$1, --level $l, round $round"
		build "$1" "dray-$l" build --from "dir:$2" --to "dir:$3" --slim --level $l --no-cache -j1 -o "$W/up.dray"
		build "$1" "dray-$l" build2 --from "dir:$2" --to "dir:$3" --slim --level $l --no-cache -j2 -o "$W/up.dray"
		sample "$1" size "dray-$l" "$(stat -c %s "$W/up.dray")"
		sample "$1" wall_per_cpu "dray-$l" "$(echo "$m_wall $m_user $m_sys" | awk '{ print $1 / ($2 + $3) }')"
	done
	rm -rf "$W/frames"
	build "$1" dray-default cold --from "dir:$2" --to "dir:$3" --slim --cache "$W/frames" -j2 -o "$W/up.dray"
	build "$1" dray-default warm --from "dir:$2" --to "dir:$3" --slim --cache "$W/frames" -j2 -o "$W/up.dray"
	build "$1" dray-default more --from "dir:$2" --from "dir:$W/another" --to "dir:$3" --slim --cache "$W/frames" -j2 -o "$W/up.dray"
	for p in ${PEERS-ostree}; do
		case $have in
		*" $p "*) ;;
		*) continue ;;
		esac
		say "$1, $p, round $round"
		rm -rf "$W/peer"
		sh "$BENCH/peers.sh" prepare "$p" "$2" "$3" "$W/peer" >/dev/null
		meter "$1" "$p" build sh "$BENCH/peers.sh" build "$p" "$2" "$3" "$W/peer"
		rm -rf "$W/peer"
	done
}
# odd KIND BYTES: old and new text of a kind, in two folders
odd() {
	rm -rf "$W/odd"
	mkdir -p "$W/odd/old" "$W/odd/new"
	perl -e '
		my ($kind, $n, $dir) = @ARGV;
		my ($a, $b) = ("", "");
		if ($kind eq "equal") { $a = "a" x $n; $b = "a" x ($n - 1) . "b" }
		if ($kind eq "periodic") { my $p = join "", map { chr(97 + $_ * 7 % 26) } 0 .. 96; $a = $p x ($n / 97); $b = substr($a, 1) . "x" }
		if ($kind eq "fibonacci") { my ($s, $t) = ("a", "b"); ($s, $t) = ($t . $s, $s) while length $s < $n; $a = substr($s, 0, $n); $b = substr($s, 1, $n - 1) . "c" }
		if ($kind eq "noise") { my $x = 1; for (1 .. $n / 4) { $x = ($x * 1664525 + 1013904223) & 0xffffffff; $a .= pack "V", $x } $b = reverse $a }
		if ($kind eq "counted") { my $i = 0; $a .= sprintf("line %d\n", $i++) while length $a < $n; ($b = $a) =~ s/line/row/g }
		for (["old", $a], ["new", $b]) { open my $f, ">", "$dir/$_->[0]/text" or die; print $f $_->[1]; close $f or die }
	' "$1" "$2" "$W/odd"
}

for pair in $PAIRS; do
	case=${pair%%=*} both=${pair#*=}
	old=$TREES/${both%%:*} new=$TREES/${both#*:}
	if [ "${SAMPLE:-1}" != 0 ]; then
		sh "$TOP/tools/sample-tree.sh" "$old" "$new" "$W/trees"
		old=$W/trees/old new=$W/trees/new case=$case-sample
	fi
	another "$old" "$W/another"
	for round in $(seq "$ROUNDS"); do
		one_round "$case" "$old" "$new"
	done
	rm -rf "$W/trees" "$W/another" "$W/frames" "$W/up.dray"
	goal "$case" build_user dray-default ostree 0.6
	goal "$case" build_user dray-fast dray-default 0.1
	goal "$case" size dray-fast dray-default 1.15
	goal "$case" wall_per_cpu dray-default 1 0.6
	goal "$case" more_user dray-default cold_user/dray-default 0.3
	goal "$case" build2_rss dray-default 1 1536000
done

if [ "$ODD" != none ]; then
	# per byte, so that the two lengths can be compared
	least=${ODD%% *} most=${ODD##* }
	for kind in ${KINDS:-equal periodic fibonacci noise counted}; do
		for mib in $least $most; do
			say "$kind, $mib MiB"
			odd $kind $((mib * 1048576))
			build "odd-$kind-$mib" dray one --from "dir:$W/odd/old" --to "dir:$W/odd/new" --no-cache -j1 -o "$W/up.dray"
			sample odd us_per_mib "$kind-$mib" "$(echo "$m_user $m_sys $mib" | awk '{ printf "%.1f\n", ($1 + $2) * 1e6 / $3 }')"
		done
		goal odd us_per_mib "$kind-$most" "$kind-$least" 3
	done
	rm -rf "$W/odd"
	mkdir -p "$W/odd/old" "$W/odd/new"
	for mib in ${ZEROS:-256 1024}; do
		truncate -s "${mib}M" "$W/odd/old/text"
		cp --sparse=always "$W/odd/old/text" "$W/odd/new/text"
		printf 'x' >>"$W/odd/new/text"
		say "zeros, $mib MiB"
		build "odd-zeros-$mib" dray one --from "dir:$W/odd/old" --to "dir:$W/odd/new" --no-cache -j1 -o "$W/up.dray"
		sample odd us_per_mib "zeros-$mib" "$(echo "$m_user $m_sys $mib" | awk '{ printf "%.1f\n", ($1 + $2) * 1e6 / $3 }')"
		: "${first:=$mib}"
		last=$mib
	done
	goal odd us_per_mib "zeros-$last" "zeros-$first" 3
fi
finish
