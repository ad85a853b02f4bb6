#!/bin/sh
# peers.sh - other programs that bring a tree from one release to the next, all driven alike:
#   peers.sh VERB PEER OLD NEW DIR        DIR is one peer's own folder, the same for all verbs
#   peers.sh list                         their names; peers.sh installed: those whose program is here
# prepare   what a publisher has anyway: archives or a repository of both releases (not timed)
# build     what is carried to the machine, in DIR/carry
# size      its bytes
# ready     what a machine has anyway, beside its tree: a repository that holds the old release (not timed)
# apply     from DIR/tree, a copy of OLD, and DIR/carry to the new release
# result    the folder where that lies now
# exact     1 if owners, modes and times come along as well
# Programs are those of Debian; tools/setup.sh bench installs them.
set -eu
export LC_ALL=C TZ=UTC

tree_tar() {	# TREE: the same bytes whatever the order on the disk
	tar --sort=name --numeric-owner --xattrs --acls --format=posix \
	    --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime -C "$1" -cf - .
}
untar() {
	mkdir "$2"
	tar --numeric-owner --xattrs --xattrs-include='*' --acls -xpf "$1" -C "$2"
}
both_tars() {
	tree_tar "$old" >"$dir/old.tar"
	tree_tar "$new" >"$dir/new.tar"
}
carried() {
	find "$dir/carry" -type f -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }'
}
nothing() {
	:
}
# log2 of what must be looked back on
long() {
	n=$(stat -c %s "$dir/old.tar")
	m=$(stat -c %s "$dir/new.tar")
	echo "$((n > m ? n : m))" | awk '{ for (b = 20; 2 ^ b < $1 && b < 31; b++); print b }'
}

# --- the whole new release, compressed --------------------------------------------------------------------------------

tar_prepare() { tree_tar "$new" >"$dir/new.tar"; }
tar_build() { zstd -qq -19 --long=27 -T1 "$dir/new.tar" -o "$dir/carry/tar.zst"; }
tar_ready() { nothing; }
tar_apply() {
	mkdir "$dir/out"
	zstd -qq -dc --long=27 "$dir/carry/tar.zst" | tar --numeric-owner --xattrs --xattrs-include='*' --acls -xpf - -C "$dir/out"
}
tar_result() { echo "$dir/out"; }
tar_exact() { echo 1; }
tar_program() { echo tar; }

# --- archives against each other ------------------------------------------------------------------------------------

zstd_prepare() { both_tars; }
zstd_build() { zstd -qq -19 --long="$(long)" --single-thread --patch-from="$dir/old.tar" "$dir/new.tar" -o "$dir/carry/patch"; }
zstd_ready() { nothing; }
zstd_apply() {
	tree_tar "$dir/tree" >"$dir/here.tar"
	zstd -qq -d --memory=2048MB --long="$(long)" --patch-from="$dir/here.tar" "$dir/carry/patch" -o "$dir/made.tar"
	untar "$dir/made.tar" "$dir/out"
}
zstd_result() { echo "$dir/out"; }
zstd_exact() { echo 1; }
zstd_program() { echo zstd; }

zstd22_prepare() { both_tars; }
zstd22_build() {
	zstd -qq --ultra -22 --long="$(long)" --single-thread --patch-from="$dir/old.tar" "$dir/new.tar" -o "$dir/carry/patch"
}
zstd22_ready() { nothing; }
zstd22_apply() { zstd_apply; }
zstd22_result() { echo "$dir/out"; }
zstd22_exact() { echo 1; }
zstd22_program() { echo zstd; }

xdelta3_prepare() { both_tars; }
xdelta3_build() { xdelta3 -q -e -9 -S lzma -B 1073741824 -s "$dir/old.tar" "$dir/new.tar" "$dir/carry/patch"; }
xdelta3_ready() { nothing; }
xdelta3_apply() {
	tree_tar "$dir/tree" >"$dir/here.tar"
	xdelta3 -q -d -B 1073741824 -s "$dir/here.tar" "$dir/carry/patch" "$dir/made.tar"
	untar "$dir/made.tar" "$dir/out"
}
xdelta3_result() { echo "$dir/out"; }
xdelta3_exact() { echo 1; }
xdelta3_program() { echo xdelta3; }

bsdiff_prepare() { both_tars; }
bsdiff_build() { bsdiff "$dir/old.tar" "$dir/new.tar" "$dir/carry/patch"; }
bsdiff_ready() { nothing; }
bsdiff_apply() {
	tree_tar "$dir/tree" >"$dir/here.tar"
	bspatch "$dir/here.tar" "$dir/made.tar" "$dir/carry/patch"
	untar "$dir/made.tar" "$dir/out"
}
bsdiff_result() { echo "$dir/out"; }
bsdiff_exact() { echo 1; }
bsdiff_program() { echo bsdiff; }

rdiff_prepare() { both_tars; }
rdiff_build() {
	rdiff signature "$dir/old.tar" "$dir/signature"
	rdiff delta "$dir/signature" "$dir/new.tar" "$dir/delta"
	zstd -qq -19 --long=27 -T1 "$dir/delta" -o "$dir/carry/patch.zst"
}
rdiff_ready() { nothing; }
rdiff_apply() {
	tree_tar "$dir/tree" >"$dir/here.tar"
	zstd -qq -d --long=27 "$dir/carry/patch.zst" -o "$dir/patch"
	rdiff patch "$dir/here.tar" "$dir/patch" "$dir/made.tar"
	untar "$dir/made.tar" "$dir/out"
}
rdiff_result() { echo "$dir/out"; }
rdiff_exact() { echo 1; }
rdiff_program() { echo rdiff; }

# --- trees -------------------------------------------------------------------------------------------------------------

rsync_prepare() { nothing; }
rsync_build() {
	rsync -aHAX --checksum --delete --only-write-batch="$dir/batch" "$new/" "$old/"
	zstd -qq -19 --long=27 -T1 "$dir/batch" -o "$dir/carry/batch.zst"
}
rsync_ready() { nothing; }
rsync_apply() {
	zstd -qq -d --long=27 "$dir/carry/batch.zst" -o "$dir/unpacked"
	rsync -aHAX --checksum --delete --read-batch="$dir/unpacked" "$dir/tree/"
}
rsync_result() { echo "$dir/tree"; }
rsync_exact() { echo 1; }
rsync_program() { echo rsync; }

casync_prepare() { casync make --store="$dir/old.castr" "$dir/old.caidx" "$old" >/dev/null; }
casync_build() {	# the chunks that the old release has not
	casync make --store="$dir/new.castr" "$dir/carry/new.caidx" "$new" >/dev/null
	(cd "$dir/new.castr" && find . -type f | sort >../new.chunks)
	(cd "$dir/old.castr" && find . -type f | sort >../old.chunks)
	mkdir "$dir/carry/new.castr"
	comm -23 "$dir/new.chunks" "$dir/old.chunks" >"$dir/chunks"
	tar -C "$dir/new.castr" -T "$dir/chunks" -cf - | tar -C "$dir/carry/new.castr" -xf -
}
casync_ready() { nothing; }
casync_apply() {
	casync extract --store="$dir/carry/new.castr" --seed="$dir/tree" "$dir/carry/new.caidx" "$dir/out" >/dev/null
}
casync_result() { echo "$dir/out"; }
casync_exact() { echo 1; }
casync_program() { echo casync; }

ostree_prepare() {
	ostree --repo="$dir/repo" init --mode=bare
	ostree --repo="$dir/repo" commit -b old --tree=dir="$old" >"$dir/old.id"
	ostree --repo="$dir/repo" commit -b new --tree=dir="$new" >"$dir/new.id"
}
ostree_build() {
	ostree --repo="$dir/repo" static-delta generate --min-fallback-size=0 --inline --filename="$dir/carry/delta" \
	    --from="$(cat "$dir/old.id")" --to="$(cat "$dir/new.id")" >/dev/null 2>&1
}
ostree_ready() {
	ostree --repo="$dir/here" init --mode=bare
	ostree --repo="$dir/here" pull-local "$dir/repo" "$(cat "$dir/old.id")" >/dev/null
}
ostree_apply() {
	ostree --repo="$dir/here" static-delta apply-offline "$dir/carry/delta" >/dev/null
	ostree --repo="$dir/here" checkout "$(cat "$dir/new.id")" "$dir/out"
}
ostree_result() { echo "$dir/out"; }
ostree_exact() { echo 0; }	# no times
ostree_program() { echo ostree; }

all='ostree zstd zstd22 xdelta3 rsync rdiff casync bsdiff tar'
case ${1:-} in
list)
	echo "$all"
	exit 0
	;;
installed)
	for p in $all; do
		! command -v "$("${p}_program")" >/dev/null || printf '%s ' "$p"
	done
	exit 0
	;;
prepare | build | size | ready | apply | result | exact) [ $# = 5 ] ;;
*) false ;;
esac || { sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 2; }
verb=$1 peer=$2 old=$3 new=$4 dir=$5
case " $all " in
*" $peer "*) ;;
*) echo "no such peer: $peer" >&2; exit 2 ;;
esac
mkdir -p "$dir/carry"
if [ "$verb" = size ]; then
	carried
else
	"${peer}_$verb"
fi
