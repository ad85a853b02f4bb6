#!/bin/sh
# real-trees.sh - the whole way on real release trees: one bundle from all old trees, slim and complete; extract
# everything; on a fresh image of each file system apply to a copy of each old tree, compare with rsync and mtree (which
# know nothing of us), check, run programs of the new tree in it, roll back, compare again
#   real-trees.sh TREES WORK [PAIR...]      TREES holds OLD and NEW of each PAIR
# PAIR: NAME=OLD[,OLD...]:NEW, default: major=old,minor-new:new minor=minor-old:minor-new source=src-old:src-new
# FS (default "ext4 xfs btrfs") are the file systems, LEVEL (default fast) is the build level; WORK needs room for a tree
# three times and the bundles. Root only.
set -eu
export LC_ALL=C TZ=UTC

TOP=$(cd "$(dirname "$0")/.." && pwd)
OUT=${OUT:-$TOP/out}
LEVEL=${LEVEL:-fast}
FS=${FS:-ext4 xfs btrfs}
DRAY=$OUT/dray INSTALL=$OUT/dray-install
KEYS=type,uid,gid,mode,link,nlink,size,time,sha256
[ $# -ge 2 ] || { sed -n '2,9s/^# //p' "$0"; exit 2; }
trees=$(cd "$1" && pwd) work=$2
shift 2
[ $# -gt 0 ] || set -- major=old,minor-new:new minor=minor-old:minor-new source=src-old:src-new

mkdir -p "$work/mnt"
cd "$work"
[ -f ops.key ] || "$DRAY" key new ops >/dev/null
unmount() {
	for m in mnt/root/tmp mnt/root/dev mnt; do
		! mountpoint -q "$m" || umount "$m" || umount -l "$m"
	done
}
cleanup() {
	unmount
	rm -f "$work/img"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

: >not-ok
verdict() {	# WHAT, differences on stdin
	sed -n '1,10s/^/      /p' >differences
	if [ -s differences ]; then
		echo "    NOT OK: $1"
		cat differences
		echo "$1" >>not-ok	# a variable would be lost behind the pipe
	else
		echo "    ok: $1"
	fi
}
# state DIR - where the installer keeps its own, below DIR
state() {
	s=var/dray
	[ ! -d "$1/var/lib" ] || s=var/lib/dray
	[ -d "$1/var" ] || s=.dray
	echo "$s"
}
# same WANTED GOT WHAT - the root directory's own attributes are no part of a release, nor is the state folder
same() {
	rsync -n -aHAX --checksum --modify-window=-1 --delete --itemize-changes --exclude="/$(state "$1")" "$1/" "$2/" |
	    grep -v '^\.d\.\.[a-z.]*  *\./$' | verdict "$3, by rsync"
}
# same_mtree WANTED GOT WHAT - the size of a directory is the file system's, and its links count the state folder
same_mtree() {
	[ -n "$mtree" ] || return 0
	printf './%s\n' "$(state "$1")" >not
	[ -f "${1##*/}.mtree" ] || mtree -c -k "$KEYS" -X not -p "$1" | sed '/type=dir/s/ \(size\|nlink\)=[0-9]*//g' >"${1##*/}.mtree"
	mtree -X not -f "${1##*/}.mtree" -p "$2" | grep -v '^\.: *modification time' | verdict "$3, by mtree"
}
timed() {
	what=$1
	shift
	begin=$(date +%s%N)
	"$@" || { echo "    NOT OK: $what: status $?"; echo "$what" >>not-ok; }
	took=$((($(date +%s%N) - begin) / 100000000))
	echo "    $what: $((took / 10)).$((took % 10)) s"
}
# programs TREE FILE - what a machine needs tomorrow says into FILE, at its end the status; may write to tmp only
programs() {
	rm -f "$2"
	[ -x "$1/usr/bin/dpkg" ] || return 0
	mount --bind /dev "$1/dev"
	mount -t tmpfs tmp "$1/tmp"
	chroot "$1" /bin/sh -e >"$2" 2>&1 <<'END' && echo "status 0" >>"$2" || echo "status $?" >>"$2"
cd /tmp
python3 -B -c 'import ssl, json, sqlite3; print(ssl.OPENSSL_VERSION)'
perl -MPOSIX -MSocket -e 'print "perl $^V\n"'
git -c init.defaultBranch=m init -q r
cd r
echo a >a
git add a
git -c user.name=a -c user.email=a@b commit -q -m a
git log --format=%s
git fsck
dpkg --audit
dpkg -l
END
	umount "$1/tmp"
	umount "$1/dev"
}
make_fs() {	# FS
	unmount
	rm -f img
	truncate -s 8G img
	case $1 in
	ext4) mkfs.ext4 -q -F img ;;
	xfs) mkfs.xfs -q -f img ;;
	btrfs) mkfs.btrfs -q -f img >/dev/null 2>&1 ;;
	*) echo "no such file system here: $1" >&2; exit 2 ;;
	esac
	mount -o loop img mnt
}
# one BUNDLE OLD NEW FS WHAT - to the new release and back
one() {
	make_fs "$4"
	cp -a "$2" mnt/root
	sync -f mnt
	timed "$5, plan" "$INSTALL" plan "$1" --root mnt/root --keyring ops.pub -q
	timed "$5, apply" "$INSTALL" apply "$1" --root mnt/root --keyring ops.pub -q
	same "$3" mnt/root "$5, applied"
	same_mtree "$3" mnt/root "$5, applied"
	timed "$5, check" "$INSTALL" check --root mnt/root -q
	if [ -x "$3/usr/bin/dpkg" ]; then
		programs mnt/root got
		diff programs got | verdict "$5, $(wc -l <got) lines of python3, perl, git and dpkg in it as in the release"
		same "$3" mnt/root "$5, after they ran"
	fi
	timed "$5, rollback" "$INSTALL" rollback --root mnt/root -q
	same "$2" mnt/root "$5, rolled back"
	same_mtree "$2" mnt/root "$5, rolled back"
}

mtree=$(command -v mtree || true)
[ -n "$mtree" ] || echo "no mtree here: rsync alone compares"
for pair; do
	name=${pair%%=*} both=${pair#*=}
	new=$trees/${both#*:}
	olds=$(echo "${both%%:*}" | tr , ' ')
	from='' base=''
	for o in $olds; do
		from="$from --from dir:$trees/$o"
		base=${base:-dir:$trees/$o}
		echo "$name: $(find "$trees/$o" | wc -l) -> $(find "$new" | wc -l) paths from $o"
	done
	programs "$new" programs
	[ ! -f programs ] || [ "$(tail -n 1 programs)" = "status 0" ] || { cat programs; exit 1; }
	for mode in slim complete; do
		b=$name-$mode.dray
		flag=
		[ $mode = complete ] || flag=--slim
		# shellcheck disable=SC2086
		timed "$mode, build" "$DRAY" build $from --to "dir:$new" --product real --version "$name" --counter 2 \
		    $flag --level "$LEVEL" --cache cache --key ops.key -q -o "$b"
		echo "    $b: $(stat -c %s "$b") bytes"
		rm -rf x
		# also a complete bundle holds only what changed
		timed "$mode, extract" "$DRAY" extract -p "$b" -C x --base "$base" --keyring ops.pub -q
		same "$new" x "$mode, extracted"
		rm -rf x
		for fs in $FS; do
			for o in $olds; do
				one "$b" "$trees/$o" "$new" "$fs" "$mode from $o on $fs"
			done
		done
	done
done
[ ! -s not-ok ] || { echo "$(wc -l <not-ok) not ok"; exit 1; }
echo "all as released"
