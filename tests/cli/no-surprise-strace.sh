#!/bin/sh
# verify, plan, apply, check and rollback open nothing outside bundle, root, state folder and keyring, and no socket
#
# Every system call that names a path or makes a socket is traced; each path must be one of
#   - the bundle, the keyring, the target root and what lies beneath (its state folder too), and whether that is / itself,
#   - /etc/dray/hooks.d and the two folders above it: are there hooks of the site?
#   - the running program itself (a copy is kept beside the journal) and the standard streams it was given,
#   - /proc/self/..., /proc/mounts: which program is running, which mounts there are,
#   - /sys/devices/system/cpu/..., /sys/fs/cgroup/...: how many processors, asked by the C library,
#   - /sys/fs/FSTYPE/...: the file system's UUID; /dev/null.
# Names relative to a directory handle are shown by strace with the handle's path (-y).
set -u
bad=0

wrong() {
	echo "wrong: $1"
	bad=1
}

d=$(mktemp -d) || exit 1
d=$(cd "$d" && pwd -P)
trap 'rm -rf "$d"' EXIT
cd "$d" || exit 1
mkdir -p old/etc new/etc media
echo one >old/etc/a
echo two >new/etc/a
echo more >new/etc/b
cp -a old root
"$DRAY" key new ops >/dev/null && mv ops.pub media/ || exit 1
"$DRAY" build --from dir:old --to dir:new --product demo --version 2 --counter 2 --key ops.key -o media/up.dray >/dev/null || exit 1

look() {	# look NAME ARG... - run it traced and judge each path
	name=$1
	shift
	strace -f -y -qq -s 4096 -e signal=none -e trace=%file,%network,io_uring_setup,bpf,ptrace -o "trace.$name" "$INSTALL" "$@" >"log.$name" 2>&1 </dev/null ||
	    { wrong "$name: status $?: $(tail -n 2 "log.$name")"; return; }
	[ -s "trace.$name" ] || wrong "$name: nothing was traced"
	sockets=$(grep -E '^[0-9]+ +(socket|socketpair|connect|bind|listen|accept4?|send[a-z]*|recv[a-z]*|io_uring_setup|bpf|ptrace)\(' "trace.$name")
	[ -z "$sockets" ] || wrong "$name: $(echo "$sockets" | head -n 3)"
	# a path: an absolute one in quotes, or a handle's path in <> where the name is relative
	odd=$(grep -vE '^[0-9]+ +(execve|\+\+\+|---)' "trace.$name" | awk -v d="$d" -v self="$INSTALL" '
	function fine(p) {
		return p == "/" || p == d "/root" || index(p, d "/root/") == 1 || p == self || p == d "/media/up.dray" || p == d "/media/ops.pub" ||
		    p == "/etc" || p == "/etc/dray" || p ~ /^\/etc\/dray\/hooks\.d/ ||
		    p ~ /^\/proc\/(self|thread-self)(\/|$)/ || p == "/proc/mounts" || p == "/dev/null" ||
		    p ~ /^\/sys\/devices\/system\/cpu/ || p ~ /^\/sys\/fs\/cgroup/ || p ~ /^\/sys\/fs\/[a-z0-9]+\//
	}
	{
		line = $0
		sub(/ = .*/, "", line)
		# FD</path>, "name"  or  AT_FDCWD</path>, "name"
		while (match(line, /(AT_FDCWD|[0-9]+)<[^>]*>, "[^"]*"/)) {
			part = substr(line, RSTART, RLENGTH)
			line = substr(line, RSTART + RLENGTH)
			if (part ~ /^[012]<.*, ""$/)
				continue
			dir = part; sub(/^[^<]*</, "", dir); sub(/>.*/, "", dir)
			n = part; sub(/^[^"]*"/, "", n); sub(/"$/, "", n)
			p = n ~ /^\// ? n : (n == "" ? dir : dir "/" n)
			if (!fine(p))
				print p
		}
		# calls without a handle: open("name"), readlink("name") ...
		if (line ~ /^[0-9]+ +[a-z0-9_]+\("/) {
			p = line; sub(/^[^"]*"/, "", p); sub(/".*/, "", p)
			if (p !~ /^\//)
				p = d "/" p
			if (!fine(p))
				print p
		}
	}' | sort -u)
	[ -z "$odd" ] || wrong "$name touches $(echo "$odd" | head -n 8 | tr '\n' ' ')"
	echo "$name: $(wc -l <"trace.$name") calls with a path"
}

look verify verify media/up.dray --keyring media/ops.pub
look plan plan media/up.dray --root root --keyring media/ops.pub
look apply apply media/up.dray --root root --keyring media/ops.pub
diff -r --exclude=dray new root | grep -v 'Only in root: var' && wrong "apply did not bring the new tree"
look check check --root root
look status status --root root
look rollback rollback --root root
diff -r --exclude=dray old root | grep -v 'Only in root: var' && wrong "rollback did not bring the old tree"
exit $bad
