#!/bin/sh
# debian-proof.sh - triggers on two real Debian systems: an old one becomes the new one offline, and what the release does not
# bring (cache of libraries, lists of modules, initrd, certificates, locales, databases of manual pages and of others, ...) is made on
# the target by the programs of the set `debian`; then it goes back; then the run is killed in each of these programs
#   debian-proof.sh WORK [PART]...      default: all parts
#   each      each trigger by itself: what it takes, and that it writes what it declares and nothing else
#   plain     a machine as it was installed must be what debootstrap and dpkg made of the new suite; then back
#   local     a machine with authorities, libraries, locales and pages of its own must be the new system with these, in which the
#             same programs were run by hand; then back
#   kill      as local, killed in one program after the other, but for those that end at once, resumed each time; then back
#   back      as local, killed in the middle of the initrd, and back from there
#   minor     an upgrade that changes a page: one trigger
# Compared are all of both trees by rsync, with owners, modes, links, xattrs and contents; of an initrd what is in it, of the database of
# pages what accessdb prints. After rollback everything, and every time to the nanosecond.
# OLD and NEW (bookworm, trixie) are the suites, installed once, in WORK, from the mirror that apt uses; LEVEL (1) is the build
# level. Needs 6 GB, debootstrap, rsync; root only. All mounts are in a namespace of its own and end with it.
# shellcheck disable=SC2016 # what others are to expand
set -eu
export LC_ALL=C TZ=UTC

[ -n "${PROOF_ALONE:-}" ] || PROOF_ALONE=1 exec unshare --mount --propagation private "$0" "$@"
TOP=$(cd "$(dirname "$0")/.." && pwd)
OUT=${OUT:-$TOP/out} OLD=${OLD:-bookworm} NEW=${NEW:-trixie} LEVEL=${LEVEL:-1}
DRAY=$OUT/dray INSTALL=$OUT/dray-install
[ $# -ge 1 ] || { sed -n '2,18s/^# //p' "$0"; exit 2; }
mkdir -p "$1"
work=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- each plain local kill back minor
cd "$work"

packages='systemd systemd-sysv udev dbus openssh-server linux-image-cloud-amd64 initramfs-tools kmod zstd ca-certificates openssl
locales man-db install-info python3 python3-yaml perl mailcap shared-mime-info desktop-file-utils fontconfig fonts-dejavu-core
libglib2.0-bin gsettings-desktop-schemas gtk-update-icon-cache hicolor-icon-theme'

: >not-ok
say() {
	echo "$(date +%T) $*"
}
verdict() {	# TEXT, what is wrong on stdin
	sed -n '1,12s/^/        /p' >wrong
	if [ -s wrong ]; then
		say "NOT OK $1"
		cat wrong
		echo "$1" >>not-ok	# a variable would be lost behind the pipe
	else
		say "ok     $1"
	fi
}

# within TREE COMMAND...: in the tree as in a machine of its own; nothing of it outlives the command
within() {
	w_tree=$1
	shift
	unshare --mount --pid --fork --kill-child sh -e -c '
		mount -t proc proc "$0/proc"
		mount -t tmpfs tmp "$0/tmp"
		mount -t tmpfs run "$0/run"
		mount --rbind /dev "$0/dev"
		exec chroot "$0" env -i PATH=/sbin:/bin:/usr/sbin:/usr/bin LC_ALL=C HOME=/ "$@"' "$w_tree" "$@" </dev/null
}

make_system() {	# SUITE
	[ ! -d "$1" ] || return 0
	say "installing $1 (some minutes)"
	rm -rf "$1.part"
	mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' | head -n 1)
	[ -n "$mirror" ] || { echo "debian-proof: apt knows no mirror of Debian" >&2; exit 1; }
	# shellcheck disable=SC2086 # a list of names
	if ! { debootstrap --variant=minbase "$1" "$work/$1.part" "$mirror" &&
	    echo 'en_US.UTF-8 UTF-8' >"$1.part/etc/locale.gen" &&
	    within "$1.part" apt-get -q update &&
	    within "$1.part" env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends -o Dpkg::Options::=--force-unsafe-io \
		-o Dpkg::Options::=--force-confold install $packages &&
	    within "$1.part" locale-gen; } >"$1.log" 2>&1; then
		tail -n 5 "$1.log" >&2
		echo "debian-proof: installing $1 failed; the whole log is in $work/$1.log" >&2
		exit 1
	fi
	rm -rf "$1.part"/var/cache/apt/archives/*.deb "$1.part"/var/lib/apt/lists/*
	mv "$1.part" "$1"
}

# what a package's programs make on the machine: no part of the bundle
cat >made-there <<'EOF'
etc/ld.so.cache
usr/lib/modules/*/modules.alias*
usr/lib/modules/*/modules.builtin.alias*
usr/lib/modules/*/modules.builtin.bin
usr/lib/modules/*/modules.dep*
usr/lib/modules/*/modules.devname
usr/lib/modules/*/modules.softdep
usr/lib/modules/*/modules.symbols*
usr/lib/modules/*/modules.weakdep
boot/initrd.img-*
var/lib/systemd/catalog
usr/lib/udev/hwdb.bin
etc/ssl/certs
usr/lib/locale/locale-archive
usr/share/info/dir
usr/share/info/dir.old
usr/share/applications/mimeinfo.cache
usr/share/mime/[!p]*
usr/share/icons/hicolor/icon-theme.cache
usr/share/glib-2.0/schemas/gschemas.compiled
usr/lib/*/gio/modules/giomodule.cache
usr/lib/*/gdk-pixbuf-2.0/2.10.0/loaders.cache
EOF
build() {	# OUT FROM TO COUNTER
	set -f
	# shellcheck disable=SC2046 # a list of patterns
	"$DRAY" build --from "$2" --to "$3" --product debian --version "$3" --counter "$4" --path-set debian --path-set debian-fleet \
	    --triggers debian $(sed 's/^/--ignore /' made-there) --level "$LEVEL" --cache cache --key ops.key -q -o "$1" 2>build.err ||
	    { cat build.err >&2; exit 1; }
	set +f
}

# what a machine has of its own
localize() {	# TREE
	mkdir -p "$1/opt/site/lib"
	cp -p site/site.crt "$1/usr/local/share/ca-certificates/"
	cp -p site/libsite.so.1 "$1/usr/local/lib/"
	cp -p site/libsite.so.1 "$1/opt/site/lib/libother.so.1"
	echo /opt/site/lib >"$1/etc/ld.so.conf.d/site.conf"
	mkdir -p "$1/usr/local/man/man1"
	cp -p site/site.1 "$1/usr/local/man/man1/"
	echo 'de_DE.UTF-8 UTF-8' >>"$1/etc/locale.gen"
}
make_site() {
	[ ! -e site/made ] || return 0
	mkdir -p site
	openssl req -x509 -newkey ed25519 -nodes -keyout site/key -out site/site.crt -days 9999 -subj /CN=site 2>site/log
	echo 'int site(void) { return 1; }' | cc -shared -fPIC -Wl,-soname,libsite.so.1 -x c -o site/libsite.so.1 -
	printf '.TH SITE 1\n.SH NAME\nsite \\- what this machine is for\n' >site/site.1
	: >site/made
}

# by_hand TREE - what dpkg would have the packages' programs do
by_hand() {
	set -f
	# shellcheck disable=SC2046 # a list of patterns, for find
	(cd "$1" && find . $(sed 's|.*|-o -path ./&|; 1s/^-o //' ../made-there) | sort -r | while IFS= read -r p; do
		if [ -d "$p" ]; then rm -rf "${p:?}"/*; else rm -rf "$p"; fi
	done)
	set +f
	rm -rf "$1"/var/cache/man/* "$1"/var/cache/fontconfig/* "$1"/var/cache/ldconfig/*
	within "$1" sh -e -c '
	    ldconfig -X
	    systemd-hwdb --usr update
	    for v in /lib/modules/*; do depmod "${v##*/}"; update-initramfs -c -k "${v##*/}"; done
	    journalctl --update-catalog
	    update-ca-certificates --fresh
	    locale-gen
	    runuser -u man -- mandb -cq
	    update-info-dir
	    update-desktop-database -q
	    update-mime-database /usr/share/mime
	    fc-cache -s
	    gtk-update-icon-cache --force --quiet /usr/share/icons/hicolor
	    cd /usr/lib/x86_64-linux-gnu
	    glib-2.0/glib-compile-schemas /usr/share/glib-2.0/schemas
	    glib-2.0/gio-querymodules gio/modules
	    gdk-pixbuf-2.0/gdk-pixbuf-query-loaders >gdk-pixbuf-2.0/2.10.0/loaders.cache' >by-hand.log 2>&1 ||
	    { tail -n 5 by-hand.log >&2; echo "debian-proof: a program failed that was run by hand" >&2; exit 1; }
}

# inside TREE TO - of what has times or an order in it: what is in it
inside() {
	rm -rf "$2"
	mkdir "$2"
	mkdir -p view
	mount -t tmpfs view view
	mkdir view/initrd view/man
	cp "$1"/boot/initrd.img-* view/initrd/
	find "$1/var/cache/man" -name index.db -printf '%P\n' | while IFS= read -r f; do
		cp "$1/var/cache/man/$f" "view/man/$(echo "$f" | tr / -)"
	done
	mount --bind view "$NEW/mnt"
	within "$NEW" sh -e -c 'cd /mnt
	    for f in initrd/*; do unmkinitramfs "$f" "$f.tree"; rm "$f"; done
	    for f in man/*; do accessdb "$f" >"$f.txt"; rm "$f"; done'
	cp -a view/. "$2/"
	umount "$NEW/mnt"
	umount view
	grep -v '^#' "$1"/usr/lib/x86_64-linux-gnu/gdk-pixbuf-2.0/2.10.0/loaders.cache | grep . >"$2/loaders"
	within "$1" ldconfig -p >"$2/libraries"
	within "$1" sh -c 'man -w ls site 2>&1; apropos -e ls passwd site 2>&1; dpkg --audit; python3 -B -c "import ssl; print(ssl.OPENSSL_VERSION)"
	    perl -MPOSIX -e "print \"perl \$^V\n\"; print setlocale(LC_ALL, \"de_DE.UTF-8\") // \"no German\", \"\n\""; openssl version
	    for c in /usr/local/share/ca-certificates/*.crt; do [ ! -e "$c" ] || openssl verify -CApath /etc/ssl/certs "$c"; done
	    journalctl --list-catalog | md5sum; locale -a' >"$2/programs" 2>&1 || echo "status $?" >>"$2/programs"
}

# is_system TREE WANTED TEXT - but for what is each machine's own, and for logs and what apt and debconf remember
is_system() {
	rsync -n -aHAX --checksum --delete --itemize-changes --exclude=/var/lib/dray --exclude='/boot/initrd.img-*' --exclude=/etc/machine-id \
	    --exclude='/etc/ssh/ssh_host_*' --exclude=/var/lib/dbus/machine-id --exclude=/var/log --exclude=/var/cache/apt \
	    --exclude=/var/cache/debconf --exclude=/var/cache/fontconfig --exclude=/var/cache/ldconfig --exclude=index.db --exclude=CACHEDIR.TAG \
	    --exclude=loaders.cache --exclude=/usr/share/info/dir.old "$2/" "$1/" >differs 2>&1 || echo "rsync: status $?" >>differs
	# times, and the empty folder of a kernel that has gone
	grep -v -e '^[.h][fdLDS]\.\.t\.*  *' -e '^\*deleting  *usr/lib/modules/[^/]*/$' differs | verdict "$3: $(find "$1" | wc -l) paths are as they should be"
	inside "$1" inside-got
	inside "$2" inside-wanted
	rsync -n -aHAX --checksum --delete --itemize-changes inside-wanted/ inside-got/ | grep -v '^[.h][fdLDS]\.\.t\.*  *' |
	    verdict "$3: $(find inside-got/initrd | wc -l) paths of the initrd, $(cat inside-got/man/*.txt | wc -l) entries of manual pages, $(wc -l <inside-got/libraries) libraries, $(wc -l <inside-got/programs) lines of programs that run in it"
	for f in "$1"/var/cache/ldconfig/aux-cache "$1"/var/cache/fontconfig/*-9; do
		[ -s "$f" ] || echo "missing: $f"
	done | verdict "$3: caches of ldconfig and fontconfig are there"
}
# is_old TREE WANTED TEXT - to the nanosecond
is_old() {
	rsync -n -aHAX --checksum --modify-window=-1 --delete --itemize-changes --exclude=/var/lib/dray "$2/" "$1/" 2>&1 |
	    verdict "$3: the old system, bit for bit"
}

fresh() {	# as PART is about: target, and what it was
	rm -rf target before
	cp -a "$OLD" target
	was=$OLD
	[ "$1" != plain ] || return 0
	localize target
	was=before
	cp -a target before
}
install() {	# TEXT WANTED-STATUS ARG...
	i_text=$1 i_status=$2
	shift 2
	i_rc=0
	"$INSTALL" "$@" --root target >run.out 2>run.err </dev/null || i_rc=$?
	{ [ $i_rc = "$i_status" ] || { echo "status $i_rc"; tail -n 8 run.err; tail -n 8 run.out; }; } | verdict "$i_text"
}
apply="apply bare.dray --keyring ops.pub --allow-chroot"

snapshot() {
	find target -path target/var/lib/dray -prune -o -printf '%P\t%y %i %s %T@ %C@ %m %U %G %l\n' | sort
}
do_each() {
	fresh plain
	# shellcheck disable=SC2086
	install "each: files alone" 0 apply bare.dray --keyring ops.pub --no-triggers
	"$INSTALL" status --root target --json | sed 's/.*"triggers_due":\[//' | grep -o '"id":"[^"]*"' | cut -d '"' -f 4 >ids
	"$DRAY" info bare.dray --json | sed 's/{"a[rf]/\n&/g' | grep '"paths":' >declared
	snapshot >seen.before
	while read -r id; do
		[ "$id" != systemd ] || continue
		"$INSTALL" triggers "$id" --root target --allow-chroot --json >run.out 2>run.err </dev/null || sed 1q run.err | verdict "each: $id"
		ms=$(grep -o '"milliseconds":[0-9]*' run.out | cut -d : -f 2)
		snapshot >seen.after
		diff seen.before seen.after | sed -n 's/^[<>] //p' | cut -f 1 | sort -u >changed
		mv seen.after seen.before
		grep -F "\"id\":\"$id\"" declared | sed 's/.*"outputs":\[\([^]]*\)\].*/\1/' | tr -d '"' | tr ',' '\n' >outputs
		# the time of a folder changes with what is made in it
		awk 'NR == FNR { out[$0]; sub("/[^/]*$", ""); above[$0]; next }
		    { for (p = $0; p != ""; p = sub("/[^/]*$", "", p) ? p : "") if (p in out) next
		      if (!($0 in above)) print "not declared: " $0 }' outputs changed |
		    verdict "each: $id, $ms ms, $(wc -l <changed) paths changed, all of them declared"
	done <ids
}

do_plain() {
	fresh plain
	# shellcheck disable=SC2086
	install "plain: upgrade with all triggers" 0 $apply
	is_system target "$NEW" plain
	install "plain: rollback" 0 rollback --allow-chroot
	is_old target "$was" plain
}

oracle() {
	rm -rf oracle
	cp -a "$NEW" oracle
	localize oracle
	by_hand oracle
}
do_local() {
	oracle
	fresh local
	# shellcheck disable=SC2086
	install "local: upgrade with all triggers" 0 $apply
	is_system target oracle local
	install "local: rollback" 0 rollback --allow-chroot
	is_old target "$was" local
}

# runs PROGRAM - in the target, and not elsewhere on this machine
runs() {
	for r_pid in $(pgrep -f "/$1( |\$)"); do
		case $(readlink "/proc/$r_pid/root") in */target) return 0 ;; esac
	done
	return 1
}

# killed PROGRAM SECONDS ARG... - the run, killed so long after that program was begun; 1: it ended before
killed() {
	k_program=$1 k_after=$2
	shift 2
	"$INSTALL" "$@" --root target >run.out 2>run.err </dev/null &
	k_pid=$!
	while kill -0 $k_pid 2>/dev/null && ! runs "$k_program"; do
		sleep 0.01
	done
	sleep "$k_after"
	kill -9 $k_pid 2>/dev/null || :
	wait $k_pid 2>/dev/null && return 1
	return 0
}
do_kill() {
	[ -d oracle ] || oracle
	fresh local
	run=$apply
	while read -r program after; do
		# shellcheck disable=SC2086
		if killed "$program" "$after" $run; then had=; else had="the run had ended: $(tail -n 1 run.err)"; fi
		printf %s "$had" | verdict "kill: killed in $program, waiting then: $("$INSTALL" status --root target --json | sed 's/.*"triggers_due":\[//' | grep -o '"id":"' | wc -l)"
		run="resume --allow-chroot"
	done <<'EOF'
systemd-hwdb 0.2
depmod 0.2
update-initramfs 4
update-ca-certificates 1
locale-gen 1
mandb 0.3
update-mime-database 1
EOF
	install "kill: resumed" 0 resume --allow-chroot
	is_system target oracle kill
	install "kill: rollback" 0 rollback --allow-chroot
	is_old target "$was" kill
}
do_back() {
	fresh local
	# shellcheck disable=SC2086
	if killed update-initramfs 4 $apply; then :; else echo "the run had ended"; fi | verdict "back: killed in update-initramfs"
	install "back: rollback" 0 rollback --allow-chroot
	is_old target "$was" back
}

do_minor() {
	rm -rf target minor
	cp -a "$NEW" minor
	printf '.TH NEWS 1\n.SH NAME\nnews \\- a page more\n' >minor/usr/share/man/man1/news.1
	build minor.dray "$NEW" minor 3
	cp -a "$NEW" target
	install "minor: upgrade" 0 apply minor.dray --keyring ops.pub --allow-chroot --json
	grep -o '"id":"[^"]*","milliseconds"' run.out | cut -d '"' -f 4 | grep -v '^mandb$' |
	    verdict "minor: one trigger of $("$DRAY" info minor.dray | grep -c '^  trigger ') was run"
	within target man -w news >run.out 2>&1 || verdict "minor: the page is not found" <run.out
	rm -rf minor
}

make_system "$OLD"
make_system "$NEW"
[ -e ops.key ] || "$DRAY" key new ops >/dev/null
make_site
say "bundle"
[ -n "$(find . -maxdepth 1 -name bare.dray -newer "$DRAY")" ] || build bare.dray "$OLD" "$NEW" 2
say "bundle: $(stat -c %s bare.dray) bytes, $("$DRAY" info bare.dray | grep -c '^  trigger ') triggers"
for part; do
	case $part in
	each | plain | local | kill | back | minor) "do_$part" ;;
	*) echo "debian-proof: no part '$part'" >&2; exit 2 ;;
	esac
done
rm -rf target before oracle
[ ! -s not-ok ] || { say "$(wc -l <not-ok) not ok"; exit 1; }
say "all as it should be"
