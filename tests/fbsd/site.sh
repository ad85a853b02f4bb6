# shellcheck shell=sh disable=SC2034
# site.sh - sourced by tests of freebsd-update sources: small trees of two releases, and the server made of them
#
#	fbsd_trees IN		13.2-RELEASE p0 to p2 and 14.0-RELEASE p0 and p1, each of world/base, kernel/generic, src/src
#	fbsd_site IN OUT	the server; $KEYPRINT
#	fbsd_whole IN RELEASE LEVEL TO [COMPONENT...]	a machine's tree, of all components or those
#	fbsd_serve FOLDER [KIND]	nginx for it at 127.0.0.1:$port, KIND as of fbupdate-server; requests in FOLDER/nginx.access
#	fbsd_unserve FOLDER
#	fbsd_same WANTED GOT	equal but for times (a server knows none) and the installer's own folder

fbsd_p0() {	# BASE KERNEL SRC
	mkdir -p "$1/bin" "$1/sbin" "$1/libexec" "$1/lib" "$1/etc/rc.d" "$1/usr/lib" "$1/var/lib" "$1/usr/share/old/deep" "$1/var/empty" \
	    "$1/usr/include/c++/v1" "$2/boot/kernel" "$3/usr/src/sys"
	for i in a b c d e f; do
		seq -f "$i %.0f" 3000 >"$1/bin/$i"
	done
	ln "$1/bin/a" "$1/bin/["
	ln "$1/bin/a" "$1/sbin/a-too"
	chmod 4555 "$1/bin/b"
	seq 9000 >"$1/libexec/ld-elf.so.1"
	seq 3 9000 >"$1/lib/libc.so.7"
	seq 5 9000 >"$1/lib/libold.so.5"
	echo string >"$1/usr/include/c++/v1/__string"
	echo deep >"$1/usr/share/old/deep/file"
	for n in a,b c%d 'e@f' 'g~h' i[j k+l; do
		echo "$n" >"$1/usr/share/$n"
	done
	echo 'host="old"' >"$1/etc/rc.conf"
	seq 50 >"$1/etc/services"
	ln -s nowhere "$1/usr/lib/dangling"
	ln -s libc.so.7 "$1/lib/libc.so"
	seq 7 9000 >"$2/boot/kernel/kernel"
	seq 11 900 >"$2/boot/kernel/old.ko"
	seq 13 900 >"$3/usr/src/COPYRIGHT"
	seq 17 900 >"$3/usr/src/sys/main.c"
	chmod 0555 "$1/var/empty"
}

# change FILE SED-SCRIPT - as a new file, since other levels have links to the old one
fbsd_change() {
	sed "$2" "$1" >"$1.new"
	chmod --reference="$1" "$1.new"
	mv "$1.new" "$1"
}

fbsd_trees() {
	old=$1/13.2-RELEASE new=$1/14.0-RELEASE
	for d in world/base kernel/generic src/src; do
		mkdir -p "$old/p0/$d"
	done
	mkdir -p "$new"
	fbsd_p0 "$old/p0/world/base" "$old/p0/kernel/generic" "$old/p0/src/src"
	echo '/libexec/ld-elf.so.1 400000' >"$old/flags"
	cp -al "$old/p0" "$old/p1"
	fbsd_change "$old/p1/world/base/bin/c" 's/77/of p1/'
	fbsd_change "$old/p1/world/base/bin/d" 's/99/of p1/'
	echo added >"$old/p1/world/base/bin/by-p1"
	rm "$old/p1/world/base/bin/e"
	fbsd_change "$old/p1/kernel/generic/boot/kernel/kernel" 's/88/of p1/'
	cp -al "$old/p1" "$old/p2"
	fbsd_change "$old/p2/world/base/bin/c" 's/11/of p2/'
	fbsd_change "$old/p2/src/src/usr/src/sys/main.c" 's/22/of p2/'
	cp -al "$old/p2" "$new/p0"
	b=$new/p0/world/base
	for f in bin/c bin/f lib/libc.so.7 libexec/ld-elf.so.1 etc/services; do
		fbsd_change "$b/$f" 's/33/of 14/'
	done
	rm "$b/bin/by-p1" "$b/lib/libold.so.5" "$b/usr/include/c++/v1/__string" "$b/usr/lib/dangling" "$b/bin/["
	rm -r "$b/usr/share/old"
	mkdir "$b/usr/include/c++/v1/__string"
	echo in >"$b/usr/include/c++/v1/__string/char_traits.h"
	ln -s elsewhere "$b/usr/lib/dangling"
	seq 19 9000 >"$b/lib/libnew.so.6"
	mkdir "$b/lib/casper"
	seq 23 900 >"$b/lib/casper/libcap.so.1"
	fbsd_change "$b/usr/share/c%d" 's/$/ of 14/'
	fbsd_change "$b/usr/share/i[j" 's/$/ of 14/'
	rm "$new/p0/kernel/generic/boot/kernel/old.ko"
	seq 29 900 >"$new/p0/kernel/generic/boot/kernel/new.ko"
	fbsd_change "$new/p0/src/src/usr/src/sys/main.c" 's/44/of 14/'
	cp -al "$new/p0" "$new/p1"
	fbsd_change "$new/p1/world/base/bin/f" 's/55/of 14 p1/'
}

fbsd_site() {
	"$TOP/tools/fbupdate-server" make "$1" "$2" 13.2-RELEASE:14.0-RELEASE
	KEYPRINT=$(cat "$2/KEYPRINT")
}

fbsd_whole() {
	fw_from=$1/$2/$3 fw_to=$4
	shift 4
	[ $# -gt 0 ] || set -- world/base kernel/generic src/src
	mkdir -p "$fw_to"
	for c; do
		cp -a "$fw_from/$c/." "$fw_to/"
	done
}

fbsd_same() {
	d=$(rsync -n -rlpgoDHAX --checksum --delete --itemize-changes --exclude=/var/lib/dray "$1/" "$2/" |
	    grep -v '^\.[fdL]\.\.t\.*  *' || true)
	if [ -z "$d" ]; then
		ok "$2 is what $1 is"
	else
		fail "$2 is not what $1 is"
		echo "$d" | head -n 20
	fi
}

# a port that nobody has: nginx tells when it cannot take one
fbsd_serve() {	# FOLDER [KIND]
	port=$((20000 + $$ % 10000))
	while :; do
		"$TOP/tools/fbupdate-server" conf "$1" $port ${2:+"$2"} >nginx.conf
		nginx -c "$T/nginx.conf" 2>nginx.err && break
		grep -q 'Address already in use' nginx.err || { cat nginx.err; exit 1; }
		port=$((port + 1))
	done
}
fbsd_unserve() {
	kill "$(cat "$1/nginx.pid")"
	while [ -e "$1/nginx.pid" ]; do
		sleep 0.05
	done
}
