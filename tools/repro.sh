#!/bin/sh
# repro.sh - the same inputs give the same bytes: builds one bundle in many ways and compares them with cmp
#   TREES=DIR [LEVEL=fast] [WORK=DIR] [WAYS="jobs umask ..."] [SLIM_WAYS=...] OUT=out tools/repro.sh       (make repro)
# TREES holds pairs of trees: old and new, and any NAME-old and NAME-new; they are only read. WORK (default: a folder
# under TMPDIR) needs room for a copy of one pair at a time and five bundles. Each pair is built complete and slim. Ways:
#   jobs    -j1, -j2, -j8                   umask     077 and 000
#   place   locale, zone, folder, HOME      user      another user, who may read everything (root only)
#   order   copied, names in reverse order  fs        copied to a tmpfs, or an ext2 that is mounted (root only)
#   holes   copied, zeros as holes; copied, holes as zeros
#   archive both as tar, and one of them    sources   dir:PATH and PATH, order of options
#   bases   two bases in both orders        cache     an empty one, a full one, a damaged one
# A way that this machine cannot go is named. Ends with "repro: N builds are the same bytes", or exit 1.
set -eu
export LC_ALL=C TZ=UTC
umask 022
unset SOURCE_DATE_EPOCH

cd "$(dirname "$0")/.."
OUT=${OUT:-out} LEVEL=${LEVEL:-fast}
WAYS=${WAYS:-jobs umask place user order fs holes archive sources bases cache}
SLIM_WAYS=${SLIM_WAYS:-$WAYS}
DRAY=${DRAY:-$(cd "$OUT" && pwd)/dray}
[ -n "${TREES:-}" ] || {
	echo "repro: TREES=DIR is missing: a folder with old and new, NAME-old and NAME-new" >&2
	exit 2
}
TREES=$(cd "$TREES" && pwd -P)
if [ -n "${WORK:-}" ]; then mkdir -p "$WORK"; else WORK=${TMPDIR:-/tmp}; fi
WORK=$(mktemp -d "$WORK/dray-repro-XXXXXX")
built=0 bad=0 mounted=

at_end() {
	rc=$?
	cd /
	[ -z "$mounted" ] || umount "$WORK/mnt" || true
	chmod -R u+rwx "$WORK" 2>/dev/null || true
	rm -rf "$WORK"
	exit $rc
}
trap at_end EXIT
trap 'exit 40' HUP INT TERM

no_way() {
	printf '  %-28s not here: %s\n' "$1" "$2"
}

# build FILE ARG... - ARG: options that come before all others; $mode and $common are those of the pair
build() {
	file=$1
	shift
	# shellcheck disable=SC2086
	"$DRAY" build "$@" $mode $common -q -o "$file" </dev/null >"$WORK/words" 2>&1 || {
		cat "$WORK/words" >&2
		echo "repro: dray build $* $mode $common: failed" >&2
		exit 1
	}
}

# same WAY [FILE [REFERENCE]] - is the bundle just made the same?
same() {
	built=$((built + 1))
	file=${2:-$WORK/this.dray} ref=${3:-$WORK/ref.dray}
	if cmp -s "$ref" "$file"; then
		printf '  %-28s same\n' "$1"
	else
		bad=$((bad + 1))
		printf '  %-28s DIFFERS\n' "$1"
		"$DRAY" diff "$ref" "$file" | sed 's/^/    /'
	fi
	rm -f "$WORK/this.dray"
}

# another DIR ARG... - the pair as it lies in DIR, into this.dray
another() {
	where=$1
	shift
	build "$WORK/this.dray" "$@" --from "dir:$where/$old" --to "dir:$where/$new"
}

way_jobs() {
	for n in 1 2 8; do
		another "$TREES" --no-cache -j$n
		same "-j$n"
	done
}

way_umask() {
	for m in 077 000; do
		(umask $m && another "$TREES" --no-cache)
		same "umask $m"
	done
}

way_place() {
	(cd / && LC_ALL=tr_TR.UTF-8 LANG=de_DE TZ=Asia/Tokyo HOME=/nonexistent && export LC_ALL LANG TZ HOME &&
	    another "$TREES" --no-cache)
	same "locale, zone, folder"
}

# the rights of another user, and the one right to read what the trees hold
way_user() {
	set -- setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,+dac_read_search \
	    --ambient-caps=-all,+dac_read_search --bounding-set=-all,+dac_read_search
	if [ "$(id -u)" != 0 ] || ! "$@" true 2>/dev/null; then
		no_way "another user" "needs root and setpriv"
		return
	fi
	mkdir "$WORK/theirs"
	chmod 711 "$WORK"
	chown 65534 "$WORK/theirs"
	# shellcheck disable=SC2086
	"$@" "$DRAY" build --no-cache --from "dir:$TREES/$old" --to "dir:$TREES/$new" $mode $common -q \
	    -o "$WORK/theirs/this.dray" </dev/null >"$WORK/words" 2>&1 || {
		cat "$WORK/words" >&2
		exit 1
	}
	same "another user" "$WORK/theirs/this.dray"
	rm -rf "$WORK/theirs"
}

# copied SUBDIR OPTION... - both trees into WORK/SUBDIR by rsync
copied() {
	to=$WORK/$1
	shift
	mkdir -p "$to"
	for t in "$old" "$new"; do
		rsync -aHAX "$@" "$TREES/$t/" "$to/$t/" 2>"$WORK/words" || return 1
	done
}

way_order() {
	mkdir "$WORK/copy"
	for t in "$old" "$new"; do
		mkdir "$WORK/copy/$t"
		# hard links between two top-level names need one run, so a second one mends them
		(cd "$TREES/$t" && find . -mindepth 1 -maxdepth 1 -print0 | sort -rz) |
		    rsync -aHAX --from0 --files-from=- -r "$TREES/$t/" "$WORK/copy/$t/"
		rsync -aHAX --delete "$TREES/$t/" "$WORK/copy/$t/"
	done
	another "$WORK/copy" --no-cache
	same "names in reverse order"
	rm -rf "$WORK/copy"
}

way_fs() {
	mkdir -p "$WORK/mnt"
	if [ "$(id -u)" != 0 ]; then
		no_way "another file system" "needs root"
		return
	fi
	for kind in tmpfs ext2; do
		if [ $kind = tmpfs ]; then
			mount -t tmpfs none "$WORK/mnt" 2>/dev/null || continue
		else
			kb=$(du -skc "$TREES/$old" "$TREES/$new" | sed -n '$s/[^0-9].*//p')
			truncate -s $((kb * 2 + 65536))k "$WORK/image"
			mke2fs -q -F -t ext2 -b 1024 -I 256 "$WORK/image" && mount -o loop "$WORK/image" "$WORK/mnt" 2>/dev/null ||
			    continue
		fi
		mounted=yes
		if copied mnt; then
			another "$WORK/mnt" --no-cache
			same "$kind"
		else
			no_way "$kind" "cannot hold the trees: $(head -n 1 "$WORK/words")"
		fi
		umount "$WORK/mnt"
		mounted=
		rm -f "$WORK/image"
	done
	[ -e "$WORK/mnt" ] && rmdir "$WORK/mnt"
}

way_holes() {
	for how in always never; do
		for t in "$old" "$new"; do
			mkdir -p "$WORK/copy"
			cp -a --reflink=never --sparse=$how "$TREES/$t" "$WORK/copy/$t"
		done
		another "$WORK/copy" --no-cache
		same "holes: $how"
		rm -rf "$WORK/copy"
	done
}

way_archive() {
	for t in "$old" "$new"; do
		# ACLs go as the bytes of their xattrs: as text they hold names, which may mean others elsewhere
		tar -C "$TREES/$t" --format=posix --xattrs --xattrs-include='*' --numeric-owner --sparse --sort=name \
		    -cf "$WORK/$t.tar" .
	done
	build "$WORK/this.dray" --no-cache --from "archive:$WORK/$old.tar" --to "archive:$WORK/$new.tar"
	same "archives"
	build "$WORK/this.dray" --no-cache --from "dir:$TREES/$old" --to "archive:$WORK/$new.tar"
	same "directory to archive"
	build "$WORK/this.dray" --no-cache --from "archive:$WORK/$old.tar" --to "dir:$TREES/$new"
	same "archive to directory"
	rm -f "$WORK/$old.tar" "$WORK/$new.tar"
}

way_sources() {
	(cd "$TREES" && build "$WORK/this.dray" --to "$new" --from "./$old" --no-cache)
	same "relative paths"
}

way_bases() {
	build "$WORK/one.dray" --no-cache --from "dir:$TREES/$old" --from "dir:$TREES/$new"  --to "dir:$TREES/$new"
	build "$WORK/two.dray" --no-cache --from "dir:$TREES/$new" --from "dir:$TREES/$old"  --to "dir:$TREES/$new"
	same "two bases, both orders" "$WORK/two.dray" "$WORK/one.dray"
	rm -f "$WORK/one.dray" "$WORK/two.dray"
}

way_cache() {
	another "$TREES" --cache "$WORK/cache"
	same "empty cache"
	another "$TREES" --cache "$WORK/cache"
	same "full cache"
	# every second frame damaged in its middle, every third cut short
	find "$WORK/cache" -type f | sort | awk 'NR % 2' | while read -r f; do
		printf 'XXXX' | dd of="$f" bs=1 seek=$(($(wc -c <"$f") / 2)) conv=notrunc 2>/dev/null
	done
	find "$WORK/cache" -type f | sort | awk 'NR % 3 == 0' | while read -r f; do
		truncate -s $(($(wc -c <"$f") / 2)) "$f"
	done
	another "$TREES" --cache "$WORK/cache"
	same "damaged cache"
	rm -rf "$WORK/cache"
}

pairs() {
	for t in "$TREES"/old "$TREES"/*-old; do
		n=${t%old}new
		[ ! -d "$t" ] || [ ! -d "$n" ] || echo "${t##*/} ${n##*/}"
	done
}

pairs >"$WORK/pairs"
[ -s "$WORK/pairs" ] || {
	echo "repro: $TREES holds no pair of trees: old and new, or NAME-old and NAME-new" >&2
	exit 2
}
exec 3<"$WORK/pairs"
while read -r old new <&3; do
	for mode in "" --slim; do
		common="--product repro --version 1 --counter 1 --level $LEVEL"
		echo "$old -> $new${mode:+ $mode}"
		build "$WORK/ref.dray" --no-cache --from "dir:$TREES/$old" --to "dir:$TREES/$new"
		built=$((built + 1))
		printf '  %-28s %s bytes\n' "for comparison" "$(wc -c <"$WORK/ref.dray")"
		if [ -z "$mode" ]; then ways=$WAYS; else ways=$SLIM_WAYS; fi
		for way in $ways; do
			"way_$way"
		done
		rm -f "$WORK/ref.dray"
	done
done
echo
if [ $bad != 0 ]; then
	echo "repro: $bad of $built builds differ"
	exit 1
fi
echo "repro: $built builds are the same bytes"
