#!/bin/sh
# progress.sh - how far per cent are off from time, phase by phase, on real trees: by hand, and not part of make bench
#   OUT=out tests/bench/progress.sh OLD NEW [WORK]
# Builds bundles of the two trees at both levels, and on an ext4 image (as root; elsewhere in WORK) verifies, plans, applies,
# checks and goes back. Of each phase that took more than a second and tells per cent it prints the largest difference, in
# points, between what it told and the share of its time that had passed, and where that was. Status 1 when a phase of more
# than 2 s is off by 15 points or more. KEEP=DIR keeps the lines that were told; LEVELS="fast" builds one level alone.
set -eu
old=$1 new=$2
here=$(cd "$(dirname "$0")/../.." && pwd)
case ${OUT:=out} in /*) ;; *) OUT=$here/$OUT ;; esac
work=$(mktemp -d "${3:-${TMPDIR:-/tmp}}/dray-progress.XXXXXX")
mounted=
trap '[ -z "$mounted" ] || umount "$mounted" || umount -l "$mounted"; rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
: >"$work/bad"

off() {	# WHAT, whose --progress=json lines are in $work/told
	echo "$1:"
	[ -z "${KEEP:-}" ] || cp "$work/told" "$KEEP/$1"
	perl -ne '
		next unless /"ms":(\d+)/;
		my $ms = $1;
		my ($phase) = /"phase":"([^"]*)"/;
		my ($state) = /"state":"(\w+)"/;
		my ($percent) = /"percent":(\d+)/;
		@seen = () if $state eq "begins";
		push @seen, [$ms, $percent] if $state eq "runs";
		next unless $state eq "done" && $ms > 1000;
		if (!grep { defined $_->[1] } @seen) { printf "%-22s %7.1f s  no per cent\n", $phase, $ms / 1000; next }
		my ($worst, $at, $is) = (-1, 0, 0);
		for (@seen) {
			my $told = defined $_->[1] ? $_->[1] : 0;
			my $d = abs($told - 100 * $_->[0] / $ms);
			($worst, $at, $is) = ($d, $_->[0], $told) if $d > $worst;
		}
		printf "%-22s %7.1f s  %4.1f points off at most: %2d %% at %d of the time, %d looks\n", $phase, $ms / 1000, $worst,
		    $is, 100 * $at / $ms, scalar @seen;
		print STDERR "$phase\n" if $ms > 2000 && $worst >= 15;' "$work/told" 2>>"$work/bad"
}

tell() {	# WHAT COMMAND... - run it, and see what it told
	what=$1
	shift
	"$@" --progress=json 2>"$work/told" >/dev/null || { tail -n 3 "$work/told"; exit 1; }
	off "$what"
}

"$OUT/dray" key new "$work/ops" -q
for level in ${LEVELS:-default fast}; do
	set --
	[ "$level" = default ] || set -- --level "$level"
	tell "build-$level" "$OUT/dray" build --from "$old" --to "$new" --product bench --version 2 --counter 2 --no-cache \
	    --key "$work/ops.key" -o "$work/up.dray" "$@"
done
mkdir "$work/fs"
if [ "$(id -u)" = 0 ] && command -v mkfs.ext4 >/dev/null; then
	kib=$(du -sk "$old" "$new" | awk '{ n += $1 } END { print n * 2 + 262144 }')
	truncate -s "${kib}K" "$work/img"
	mkfs.ext4 -q -F -E nodiscard "$work/img"
	mount -o loop "$work/img" "$work/fs"
	mounted=$work/fs
fi
cp -a "$old" "$work/fs/root"
sync -f "$work/fs"
set -- --keyring "$work/ops.pub" --root "$work/fs/root"
tell verify "$OUT/dray-install" verify "$work/up.dray" --keyring "$work/ops.pub"
tell plan "$OUT/dray-install" plan "$work/up.dray" "$@"
tell apply "$OUT/dray-install" apply "$work/up.dray" "$@"
tell check "$OUT/dray-install" check --root "$work/fs/root"
tell rollback "$OUT/dray-install" rollback --root "$work/fs/root"
if [ -s "$work/bad" ]; then
	echo "15 points off or more: $(tr '\n' ' ' <"$work/bad")"
	exit 1
fi
