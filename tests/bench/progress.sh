#!/bin/sh
# progress.sh - how far per cent are off from time, phase by phase, on real trees: by hand, and not part of make bench
#   OUT=out tests/bench/progress.sh OLD NEW [WORK]
# Builds a bundle of the two trees (level fast), applies it to a copy of OLD, and prints of each phase that took more than a
# second and tells per cent the largest difference, in points, between what it told and the share of its time that had passed.
set -eu
old=$1 new=$2
here=$(cd "$(dirname "$0")/../.." && pwd)
case ${OUT:=out} in /*) ;; *) OUT=$here/$OUT ;; esac
work=$(mktemp -d "${3:-${TMPDIR:-/tmp}}/dray-progress.XXXXXX")
trap 'rm -rf "$work"' EXIT

off() {	# lines of --progress=json on stdin
	perl -ne '
		next unless /"ms":(\d+)/;
		my $ms = $1;
		my ($phase) = /"phase":"([^"]*)"/;
		my ($state) = /"state":"(\w+)"/;
		my $total = /"total":(\d+)/ ? $1 : 0;
		my ($done) = /"done":(\d+)/;
		@seen = () if $state eq "begins";
		push @seen, [$ms, 100 * $done / $total] if $state eq "runs" && $total;
		next unless $state eq "done" && $ms > 1000 && @seen;
		my $worst = 0;
		for (@seen) { my $d = abs($_->[1] - 100 * $_->[0] / $ms); $worst = $d if $d > $worst }
		printf "%-22s %7.1f s  %4.1f points off at most, %d looks\n", $phase, $ms / 1000, $worst, scalar @seen;'
}

"$OUT/dray" key new "$work/ops" -q
"$OUT/dray" build --from "$old" --to "$new" --product bench --version 2 --counter 2 --level fast --no-cache --key "$work/ops.key" \
    -o "$work/up.dray" --progress=json 2>"$work/build" >/dev/null
echo "build:" && off <"$work/build"
"$OUT/dray-install" verify "$work/up.dray" --keyring "$work/ops.pub" --progress=json 2>"$work/verify" >/dev/null
echo "verify:" && off <"$work/verify"
cp -a "$old" "$work/root"
"$OUT/dray-install" apply "$work/up.dray" --root "$work/root" --keyring "$work/ops.pub" --progress=json 2>"$work/apply" >/dev/null
echo "apply:" && off <"$work/apply"
"$OUT/dray-install" check --root "$work/root" --progress=json 2>"$work/check" >/dev/null
echo "check:" && off <"$work/check"
