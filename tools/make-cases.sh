#!/bin/sh
# make-cases.sh - two small trees, DIR/old and DIR/new, that hold every case an upgrade can meet
#   make-cases.sh DIR [small|full]
# small leaves out what only costs time (the 9 MiB files, the 4000-byte path). Deterministic: names, bytes, modes and
# times are fixed. Devices, owners and capabilities only as root. tests/data/README.md lists the cases.
set -eu
export LC_ALL=C TZ=UTC
umask 022

die() {
	echo "make-cases: $1" >&2
	exit 1
}

[ $# -ge 1 ] || die "usage: make-cases.sh DIR [small|full]"
dir=$1 size=${2:-full}
if [ -e "$dir/old" ] || [ -e "$dir/new" ]; then
	die "$dir/old or $dir/new is there already"
fi
mkdir -p "$dir/old" "$dir/new"
dir=$(cd "$dir" && pwd)
root=false
[ "$(id -u)" != 0 ] || root=true

# text COUNT SEED - COUNT lines that compress, but not to nothing
text() {
	awk -v n="$1" -v s="$2" 'BEGIN { x = s * 7919 + 1; for (i = 0; i < n; i++) {
		x = (x * 1103515245 + 12345) % 2147483648; printf "%s line %d %d\n", s, i, x } }'
}

# long SEED BYTES - much text that is quick to compress
long() {
	text 60000 "$1" >"$dir/block"
	for i in 1 2 3 4 5 6 7 8; do
		echo "part $i"
		cat "$dir/block"
	done | head -c "$2"
	rm "$dir/block"
}

# put FILE COUNT SEED
put() {
	mkdir -p -- "$(dirname -- "$1")"
	text "$2" "$3" >"$1"
}

# thing KIND PATH SIDE - an object of a kind; SIDE makes the two sides of a pair differ
thing() {
	case $1 in
	absent) ;;
	file) text 20 "$3" >"$2" ;;
	dir)
		mkdir "$2" "$2/sub"
		text 5 "$3" >"$2/f$3"
		text 5 7 >"$2/same"
		ln -s "f$3" "$2/sub/link"
		text 3 "$3" >"$2/sub/g"
		;;
	symlink) ln -s "target-$3" "$2" ;;
	fifo) mkfifo -m "60$3" "$2" ;;
	char) mknod -m 600 "$2" c 1 "$3" ;;
	block) mknod -m 640 "$2" b 7 "20$3" ;;
	esac
}

kinds="file dir symlink fifo absent"
! $root || kinds="$kinds char block"

pairs() {	# every ordered pair, a kind with itself too
	mkdir "$dir/old/pair" "$dir/new/pair"
	for a in $kinds; do
		for b in $kinds; do
			thing "$a" "$dir/old/pair/$a-to-$b" 1
			thing "$b" "$dir/new/pair/$a-to-$b" 4
		done
	done
}

hard_links() {	# $1: side
	mkdir -p links/sub
	put links/keep-a 10 20
	ln links/keep-a links/keep-b	# stays as it is
	put links/change-a 10 "2$1"
	ln links/change-a links/change-b	# new content, same group
	ln links/change-a links/sub/change-c
	put links/grow-a 10 30
	ln links/grow-a links/grow-b
	put links/shrink-a 10 31
	ln links/shrink-a links/shrink-b
	put links/part-a 10 33	# two groups exchange a member
	put links/part-c 10 34
	put links/gone-a 10 35
	if [ "$1" = 1 ]; then
		put links/form-a 10 32	# equal bytes, two inodes, then one
		put links/form-b 10 32
		put links/dissolve-a 10 36
		ln links/dissolve-a links/dissolve-b
		ln links/shrink-a links/shrink-c
		ln links/part-a links/part-b
		ln links/part-c links/part-d
		ln links/gone-a links/gone-b
	else
		put links/form-a 10 32
		ln links/form-a links/form-b
		put links/dissolve-a 10 36
		put links/dissolve-b 10 37
		ln links/grow-a links/sub/grow-c
		ln links/part-c links/part-b
		ln links/part-a links/part-d
		rm links/gone-a
		put links/born-a 10 38
		ln links/born-a links/sub/born-b
	fi
}

modes() {
	mkdir -p mode/sticky mode/setgid mode/shut mode/readonly
	for m in 4755 2755 6711 0000 0444; do
		put "mode/content-$m" 5 "$1"
		chmod "$m" "mode/content-$m"
	done
	put mode/gains 5 40
	put mode/loses 5 41
	if [ "$1" = 1 ]; then
		chmod 4711 mode/loses
	else
		chmod 4711 mode/gains
	fi
	put mode/sticky/f 5 "$1"
	put mode/setgid/f 5 "$1"
	put mode/shut/f 5 "$1"
	put mode/readonly/f 5 "$1"
	put mode/readonly/same 5 9
	put "mode/readonly/only-$1" 5 9
	chmod 1777 mode/sticky
	chmod 2775 mode/setgid
	chmod 0555 mode/readonly
	if [ "$1" = 1 ]; then chmod 0700 mode/shut; else chmod 0755 mode/shut; fi
}

xattrs() {
	mkdir -p xattr/on-dir
	for f in same-content new-content adds drops changes binary; do
		put "xattr/$f" 5 50
	done
	put xattr/new-content 5 "$1"
	setfattr -n user.one -v fixed xattr/same-content ||
	    die "no user xattrs here: use another file system"
	setfattr -n user.one -v fixed xattr/new-content
	setfattr -n user.value -v "side $1" xattr/changes
	setfattr -n user.bytes -v "0x00ff0a0$1" xattr/binary
	setfattr -n user.dir -v "side $1" xattr/on-dir
	if [ "$1" = 1 ]; then
		setfattr -n user.old -v gone xattr/drops
	else
		setfattr -n user.new -v "" xattr/adds
		setfattr -n user.second -v "$(printf '%0200d' 0)" xattr/adds
	fi
	mkdir -p acl/default
	for f in same adds drops changes; do
		put "acl/$f" 5 60
	done
	put acl/same 5 "$1"
	setfacl -m u:12345:r acl/same
	setfacl -m "u:12345:r,g:$((100 + $1)):rw" acl/changes
	setfacl -d -m "u:1234$1:rwx" acl/default
	if [ "$1" = 1 ]; then setfacl -m u:7:rwx acl/drops; else setfacl -m u:7:rwx acl/adds; fi
	$root || return 0
	mkdir -p cap
	for f in same adds drops changes; do
		put "cap/$f" 5 61
		chmod 755 "cap/$f"
	done
	put cap/same 5 "$1"
	setcap cap_net_raw+ep cap/same
	if [ "$1" = 1 ]; then
		setcap cap_net_raw+ep cap/drops
		setcap cap_net_raw+ep cap/changes
	else
		setcap cap_net_raw+ep cap/adds
		setcap cap_net_bind_service,cap_net_raw+p cap/changes
	fi
}

names() {
	mkdir -p names
	long=$(printf '%0255d' 0)
	for n in "new
line" "qu'ote\"s" 'back\slash' '-dash' ' lead and trail ' "$(printf 'bad\377utf\200')" "$(printf 'ctl\001\033[31m')" \
	    '...' '*?[x]' 'per%cent' "$long" '#hash' '~tilde' 'ümlaut' ':colon' '.hidden' 'a=b'; do
		text 3 "$1" >"names/$n"
		mkdir "names/d$(printf %.250s "$n")"
		text 3 8 >"names/d$(printf %.250s "$n")/same"
		ln -s -- "$n" "names/l$(printf %.250s "$n")"
	done
}

deep() {	# $1: side, $2: how many parts of 250 bytes
	(
		part=$(printf '%0250d' 0) i=0
		mkdir deep
		cd deep
		while [ $i -lt "$2" ]; do
			mkdir "$part"
			cd "$part"
			i=$((i + 1))
		done
		text 3 "$1" >changes
		text 3 8 >same
	)
}

contents() {
	mkdir -p content
	text 0 0 >content/empty-stays
	text 3000 5 >content/large-stays
	text 3000 "$1" >content/large-changes
	{ text 2000 5 && text 3 "$1"; } >content/tail-changes
	for i in 1 2 3 4 5 6 7 8; do
		put "content/many/f$i" 4 "$1$i"
	done
	text 12 77 >content/twin-stays
	if [ "$1" = 1 ]; then
		text 0 0 >content/empty-fills
		text 9 9 >content/becomes-empty
	else
		text 9 9 >content/empty-fills
		text 0 0 >content/becomes-empty
		text 12 77 >content/twin-added	# bytes that the old tree holds elsewhere
	fi
	if [ "$size" = full ]; then
		long "$1" 9437184 >content/nine-mib
		[ "$1" = 1 ] || long 99 9437185 >content/nine-mib-added
	fi
}

meta_only() {	# content stays: mode, owner, time, of each type
	mkdir -p meta/dir
	for f in mode owner time; do
		put "meta/$f" 5 70
	done
	ln -s nowhere meta/link
	mkfifo meta/fifo
	put meta/dir/same 2 71
	[ "$1" != 2 ] || chmod 0600 meta/mode meta/fifo
	[ "$1" != 2 ] || chmod 0750 meta/dir
	! $root || chown "$1:$1" meta/owner
	! $root || chown -h "$1:0" meta/link
}

moves() {
	mkdir -p "move/v$1/deep" "move/stay"
	put "move/v$1/lib.txt" 40 80
	put "move/v$1/deep/data" 40 81
	put "move/stay/file-$1" 40 82
	ln -s "v$1" move/current
	if [ "$1" = 1 ]; then	# a directory becomes a link to where its files went
		put merge/bin/tool 6 83
		put merge/bin/tool2 6 84
		mkdir -p merge/usr/bin
	else
		put merge/usr/bin/tool 6 83
		put merge/usr/bin/tool2 6 85
		ln -s usr/bin merge/bin
	fi
	if [ "$1" = 1 ]; then put gone/a/b/c 4 1; else put born/a/b/c 4 1; fi
	mkdir -p "empty-dir-$1"
}

system() {	# names by which the commit orders its swaps
	for f in lib/ld-linux-x86-64.so.2 lib/libc.so.6 "usr/lib/libfoo.so.1.$1" bin/sh sbin/init usr/bin/env \
	    boot/vmlinuz boot/initrd.img etc/passwd etc/rc.conf "usr/share/doc/read-$1"; do
		put "$f" 8 "$1"
	done
	chmod 755 lib/ld-linux-x86-64.so.2 lib/libc.so.6 bin/sh sbin/init usr/bin/env
	ln -s "libfoo.so.1.$1" usr/lib/libfoo.so.1
	put usr/share/same/one 5 90
	put usr/share/same/two 5 91
	ln -s one usr/share/same/link
	mkdir -p var/lib	# where the state folder lies later
}

# stamp SIDE - every object gets a fixed time; what is marked with a side, or changed, differs between the sides
stamp() {
	find . -depth -exec touch -h -d '@1600000000.123456789' -- {} +
	find . -type l -exec touch -h -d '@1500000000.5' -- {} +
	[ "$1" = 2 ] || return 0
	# newer where the new side differs
	find pair links/change* content mode names lib bin boot etc -type f \
	    ! -name 'same*' ! -name '*stays' -exec touch -d '@1700000000.987654321' -- {} +
	find pair links names mode/readonly content acl usr -type d -exec touch -d '@1700000001.000000001' -- {} +
	touch -d '@1234567890.1' meta/time
	touch -d '@-1' meta/dir	# before 1970
	touch -h -d '@1700000002' meta/link
}

pairs
for side in 1 2; do
	if [ $side = 1 ]; then cd "$dir/old"; else cd "$dir/new"; fi
	hard_links $side
	modes $side
	xattrs $side
	names $side
	if [ "$size" = full ]; then deep $side 16; else deep $side 3; fi
	contents $side
	meta_only $side
	moves $side
	system $side
	stamp $side
done
