#!/bin/sh
# path sets, ignore rules, config files, other file systems, attributes on request, names that differ by case: what is
# packed, what is said; a directory and its archive are treated alike
. "$(dirname "$0")/lib.sh"

mkdir -p tree/proc/1 tree/sys tree/dev tree/run/lock tree/tmp/x tree/var/tmp tree/var/log/apt tree/var/cache/apt \
    tree/etc/ssh tree/etc/alternatives tree/var/lib/dpkg/info tree/var/lib/apt/lists tree/var/lib/dbus \
    tree/var/lib/systemd tree/usr/bin tree/lost+found tree/home/lost+found tree/home/user
for f in proc/1/maps run/lock/x tmp/x/y var/log/apt/history var/cache/apt/pkgcache.bin etc/machine-id \
    etc/ssh/ssh_host_rsa_key etc/ssh/ssh_host_rsa_key.pub etc/ssh/sshd_config etc/passwd etc/ld.so.cache etc/ssl/certs/ca.crt \
    etc/debian_version var/lib/dpkg/status var/lib/dpkg/info/a.list var/lib/apt/lists/l var/lib/dbus/machine-id \
    var/lib/systemd/random-seed usr/bin/tool home/lost+found/f home/user/notes; do
	echo "$f" >"tree/$f"
done
ln -s /usr/bin/tool tree/etc/alternatives/tool
touch -d '2001-02-03' tree/var/log
tar --format=posix --xattrs --acls --numeric-owner -cf tree.tar -C tree .

build() {
	run "$DRAY" build --product demo --version 1 --counter 1 --level fast -o up.dray "$@"
	need_status 0
	"$DRAY" list up.dray 2>/dev/null | sed 's/^. //; s/ -> .*//' >listed
}
has() {
	for p; do
		if grep -qxF -e "$p" listed; then ok "$p is packed"; else fail "$p is not packed"; fi
	done
}
lacks() {
	for p; do
		if grep -qxF -e "$p" listed; then fail "$p is packed"; else ok "$p is not packed"; fi
	done
}

# none: all is packed, and the set that fits is named with the first path it is about
build --to tree
has proc/1/maps etc/machine-id lost+found var/lib/dpkg/status home/user/notes
want_text 'warning: tree: etc/machine-id: and others like it: would be left out with --path-set debian'
no_text 'path-set image'

build --to tree --path-set debian
has proc sys dev run tmp var/tmp var/log var/cache var/lib/dpkg var/lib/apt etc/passwd etc/ssh/sshd_config usr/bin/tool \
    home/user/notes var/lib/dbus
lacks proc/1 run/lock tmp/x var/log/apt var/cache/apt etc/machine-id etc/ssh/ssh_host_rsa_key \
    etc/ssh/ssh_host_rsa_key.pub lost+found home/lost+found home/lost+found/f var/lib/dbus/machine-id \
    var/lib/systemd/random-seed var/lib/dpkg/status var/lib/apt/lists
want_text 'warning: tree: var/lib/dpkg: a package database: left out; --path-set debian-fleet packs it'
want_text 'warning: tree: var/lib/apt: a package database: left out'
no_text 'var/log'
want_text 'left out   ' out
cp up.dray dir.dray
cp listed dir.listed
build --to tree -v --path-set debian
want_text 'dray: tree: var/log: what it holds is left out by the path set debian'
want_text 'dray: tree: etc/machine-id: left out by the path set debian'
build --to tree.tar --path-set debian
want_text 'warning: tree.tar: var/lib/dpkg: a package database: left out'
want_same dir.dray up.dray

# a new time of /var/log or /tmp is no change
cp -a tree other && touch other/var/log other/tmp
build --from tree --to other --path-set debian
want_text 'nothing changes: the release is the same as its bases' out

build --to tree --path-set debian --path-set debian-fleet
has var/lib/dpkg/status var/lib/dpkg/info/a.list var/lib/apt/lists/l
no_text 'package database'
no_text warning
lacks var/log/apt

build --to tree --path-set image
has var/lib/dpkg/status
lacks etc/machine-id var/log/apt lost+found

# config files: flagged, and not what programs make of them
build --to tree --path-set debian --path-set debian-fleet --config usr/bin
run "$DRAY" list up.dray --json
for p in etc/passwd etc/ssh/sshd_config usr/bin/tool; do
	tr '{' '\n' <out | grep -F "\"path\":\"$p\"" >one
	want_text '"config":true' one
done
for p in etc/ld.so.cache etc/ssl/certs/ca.crt etc/alternatives/tool etc home/user/notes; do
	tr '{' '\n' <out | grep -F "\"path\":\"$p\"" >one
	no_text '"config":true' one
done

# ignore rules, on both kinds of source
build --to tree --ignore 'home/*/notes' --ignore '**/apt' --ignore usr
lacks home/user/notes var/log/apt var/cache/apt var/lib/apt usr usr/bin/tool
has home/user
cp up.dray dir.dray
build --to tree.tar --ignore 'home/*/notes' --ignore '**/apt' --ignore usr
want_same dir.dray up.dray
build --to tree --json --ignore usr
want_text '"left_out":[{"path":"usr","source":"tree","text":"left out by an ignore rule"}]' out

# FreeBSD
mkdir -p bsd/bin bsd/var/db/pkg bsd/var/db/entropy bsd/var/run bsd/etc/ssh bsd/.snap bsd/boot bsd/usr/home/.snap
for f in bin/freebsd-version var/db/pkg/local.sqlite var/db/entropy/e var/run/x etc/hostid entropy boot/entropy \
    etc/ssh/ssh_host_ed25519_key etc/master.passwd etc/pwd.db; do
	echo "$f" >bsd/$f
done
build --to bsd
want_text 'would be left out with --path-set freebsd'
build --to bsd --path-set freebsd
has var/run var/db/pkg var/db/entropy etc/master.passwd etc/pwd.db bin/freebsd-version
lacks var/run/x var/db/pkg/local.sqlite entropy boot/entropy etc/hostid etc/ssh/ssh_host_ed25519_key .snap \
    usr/home/.snap var/db/entropy/e
want_text 'warning: bsd: var/db/pkg: a package database: left out; --path-set freebsd-fleet packs it'

# nothing of the kind: no advice
mkdir plain && echo x >plain/tmp && mkdir plain/proc plain/run
build --to plain
no_text warning

# a hard link whose other name is left out
mkdir linked && echo x >linked/a && ln linked/a linked/b
tar --format=posix -cf linked.tar -C linked a b
run "$DRAY" build --to linked.tar --ignore a --product demo --version 1 --counter 1 -o no.dray
want_status 2
want_text 'linked.tar: b: a hard link to a, which is left out'
no_file no.dray

# wrong words
refused() {
	text=$1
	shift
	run "$DRAY" build --to plain --product demo --version 1 --counter 1 -o no.dray "$@"
	want_status 2
	want_text "$text"
	no_file no.dray
}
refused 'there is no path set "ubuntu": debian, debian-fleet, freebsd, freebsd-fleet, image' --path-set ubuntu
refused '--ignore: the pattern "/tmp" will not do: it has an empty part' --ignore /tmp
refused '--config: the pattern "a/../b" will not do: it has a part "." or ".."' --config a/../b
refused '--xattr: the pattern "[a" will not do: a [ has no ]' --xattr '[a'
refused 'plain: there is nothing in it' --ignore '*'

# attributes beyond the usual ones only on request
if is_root && setfattr -n trusted.demo -v 1 plain/tmp 2>/dev/null; then
	build --to plain
	run "$DRAY" list up.dray --json
	no_text trusted out
	build --to plain --xattr 'trusted.*'
	run "$DRAY" list up.dray --json
	want_text '"name":"trusted.demo"' out
	tar --format=posix --xattrs --numeric-owner -cf plain.tar -C plain .
	cp up.dray dir.dray
	build --to plain.tar --xattr 'trusted.*'
	want_same dir.dray up.dray
fi

# names that differ only by case
mkdir -p case/dir case/Dir && : >case/dir/Readme && : >case/dir/README && : >case/Dir/readme && : >case/dir/other
build --to case
want_text 'warning: case: dir: differs only by case from a name beside it, and so does 1 other (-v names them)'
[ "$(grep -c 'only by case' err)" = 1 ] || fail "$(cat err)"
build --to case -v
want_text 'warning: case: dir: differs only by case from a name beside it'
want_text 'warning: case: dir/Readme: differs only by case from a name beside it'
[ "$(grep -c 'only by case' err)" = 2 ] || fail "$(cat err)"
rm -f no.dray
run "$DRAY" build --to case --portable-names --product demo --version 1 --counter 1 -o no.dray
want_status 2
want_text 'case: 2 names differ only by case from a name beside it'
want_text 'warning: case: dir: differs only by case'
no_file no.dray
run "$DRAY" build --to case --portable-names --ignore Dir --ignore dir/README --product demo --version 1 --counter 1 -o no.dray
want_status 0
no_leftover .
