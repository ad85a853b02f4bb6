#!/bin/sh
# demo.sh - a real upgrade on screen: two releases of some Debian packages become a signed bundle, which is looked at,
# planned, applied, checked and rolled back; rsync, which knows nothing of dray, compares after each
#   OUT=out tools/demo.sh           (make demo)
# Downloads are kept under OUT/demo. Without apt or a mirror the trees are generated.
set -eu
export LC_ALL=C TZ=UTC
umask 022

OUT=${OUT:-out}
cd "$(dirname "$0")/.."
TOP=$PWD
mkdir -p "$OUT/demo"
OUT=$(cd "$OUT" && pwd)
here=$OUT/demo
PATH=$OUT:$PATH

PACKAGES="bash coreutils perl-base tzdata openssl man-db manpages manpages-dev"
OLD_SUITE=bookworm NEW_SUITE=trixie

say() {
	printf '%s\n' "$*" | fold -s -w 76 | sed 's/ *$//'
}

title() {
	printf '\n== %s\n' "$*"
}

# show ARG... - the command as a person would type it, then its own words
show() {
	printf '%s' "$*" | fold -s -w 70 | sed -e '1s/^/$ /' -e '2,$s/^/      /' -e '$!s/ *$/ \\/'
	echo
	"$@" </dev/null
}

# --- the two trees ---------------------------------------------------------------------------------------------------

mirror() {	# the machine's own Debian mirror, from either form of sources
	sed -n -e 's/^URIs: *\([^ ]*\).*/\1/p' -e 's/^deb  *\(\[[^]]*\] *\)*\([^ ]*\).*/\2/p' \
	    /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null |
	    grep -E '/debian/?$' | head -n 1
}

# fetch SUITE - the packages of a suite, through apt folders of our own; the machine's are not touched
fetch() {
	a=$here/apt/$1
	mkdir -p "$a/etc/apt.conf.d" "$a/etc/preferences.d" "$a/lists/partial" "$a/archives/partial" "$a/dpkg" "$here/debs/$1"
	: >"$a/dpkg/status"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $2 $1 main" >"$a/etc/sources.list"
	cat >"$a/apt.conf" <<-CONF
		Dir::Etc "$a/etc"; Dir::Etc::sourcelist "$a/etc/sources.list"; Dir::Etc::sourceparts "-";
		Dir::State "$a"; Dir::State::lists "$a/lists"; Dir::State::status "$a/dpkg/status";
		Dir::Cache "$a"; Dir::Cache::archives "$a/archives"; APT::Sandbox::User "root";
		Acquire::Languages "none"; Acquire::Retries "1"; Acquire::http::Timeout "15"; Debug::NoLocking "1";
	CONF
	# shellcheck disable=SC2086 # a list of names
	(cd "$here/debs/$1" && APT_CONFIG=$a/apt.conf timeout 60 apt-get -qq update &&
	    APT_CONFIG=$a/apt.conf timeout 60 apt-get -qq download $PACKAGES) >"$a/log" 2>&1
}

# unpack SUITE TREE - owners, modes and times as the packages carry them
unpack() {
	mkdir -p "$2"
	for deb in "$here/debs/$1"/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -C "$2" -xpf - --numeric-owner || return 1
	done
	mkdir -p "$2/var/lib"
	touch -d '@1700000000' "$2/var/lib" "$2/var" "$2"
}

real_trees() {
	command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null && [ "$(id -u)" = 0 ] || return 1
	from=$(mirror)
	[ -n "$from" ] || return 1
	for suite in $OLD_SUITE $NEW_SUITE; do
		say "fetching the $suite builds of: $PACKAGES"
		fetch "$suite" "$from" || return 1
	done
	rm -rf "$here/apt"	# the lists are larger than all the rest
	unpack $OLD_SUITE "$here/trees/old" && unpack $NEW_SUITE "$here/trees/new"
}

# the cases of the tests and some thousand files, a third of which change
made_trees() {
	rm -rf "$here/trees"
	"$TOP/tools/make-cases.sh" "$here/trees" small
	for side in old new; do
		(
			cd "$here/trees/$side"
			mkdir -p usr/share/many
			awk -v side=$side 'BEGIN {
				for (i = 0; i < 3000; i++) {
					f = "usr/share/many/file-" i
					for (j = 0; j < 40; j++)
						printf "%d: entry %d of %s\n", i * 31 + j, j, i % 3 == 0 ? side : "both" >f
					close(f)
				}
			}'
			find usr/share/many -exec touch -d '@1650000000' -- {} +
		)
	done
}

trees() {
	if [ -e "$here/trees/ready" ]; then
		say "the trees of an earlier run are used again"
		return
	fi
	rm -rf "$here/trees" "$here/debs"
	if real_trees; then
		echo "some Debian packages, $OLD_SUITE to $NEW_SUITE" >"$here/trees/about"
	else
		say "no packages to be had here (no apt, no mirror, or not root): generated trees instead"
		made_trees
		echo "generated trees" >"$here/trees/about"
	fi
	: >"$here/trees/ready"
}

# --- the comparison --------------------------------------------------------------------------------------------------

# same SIDE - is the machine exactly that tree? content, type, mode, owner, time to the nanosecond, links, ACLs, xattrs
same() {
	printf '$ rsync -n -aHAX --checksum --delete --itemize-changes %s/ machine/\n' "$1"
	rsync -n -aHAX --checksum --modify-window=-1 --delete --itemize-changes --exclude=/var/lib/dray "$1/" machine/ >differs
	if [ -s differs ]; then
		head -n 20 differs
		say "DIFFERENT: $(wc -l <differs) lines"
		exit 1
	fi
	say "(no output: not one byte, mode, owner, time, link or attribute differs)"
}

began=$(date +%s)
title "Two releases of a system"
trees
about=$(cat "$here/trees/about")
rm -rf "$here/run"
mkdir -p "$here/run"
cd "$here/run"
ln -s ../trees/old old
ln -s ../trees/new new
say "$about: old has $(find old/ | wc -l) paths, new has $(find new/ | wc -l);" \
    "$(du -sm --apparent-size old/ | cut -f1) and $(du -sm --apparent-size new/ | cut -f1) MB"

title "On the connected machine: a key, and one signed bundle"
show dray key new ops
show dray build --from dir:old --to dir:new --product demo --version 2 --counter 2 --key ops.key -o up.dray
say "the bundle is $(wc -c <up.dray) bytes"

title "It can be read with any tar"
show tar -tvf up.dray | head -n 8

title "On the disconnected machine: one static program, one file, one key"
cp -a old/. machine
mkdir -m 700 machine/var/lib/dray
touch -r old/var/lib machine/var/lib
say "dray-install: $(wc -c <"$OUT/dray-install") bytes, static"
show dray-install info up.dray --keyring ops.pub
title "What would happen? (nothing is written)"
show dray-install plan up.dray --root machine --keyring ops.pub
same old
title "Do it: all of it or none of it"
show dray-install apply up.dray --root machine --keyring ops.pub
same new
show dray-install check --root machine
title "A file is damaged: check names it"
victim=$(cd new && find usr -type f -size +3k | sort | head -n 1)
cp -p "machine/$victim" saved
printf 'x' | dd of="machine/$victim" bs=1 conv=notrunc 2>/dev/null
printf '$ dray-install check --root machine\n'
if dray-install check --root machine; then
	say "check did not see that $victim was changed"
	exit 1
fi
cat saved >"machine/$victim"
touch -r saved "machine/$victim"
title "A bundle that was tampered with is refused"
cp up.dray bad.dray
at=$(($(wc -c <bad.dray) / 2))
byte=$(dd if=bad.dray bs=1 skip=$at count=1 2>/dev/null | od -An -tu1)
# shellcheck disable=SC2059 # the format is the byte itself, in octal
printf "\\$(printf %o $((byte ^ 1)))" | dd of=bad.dray bs=1 seek=$at conv=notrunc 2>/dev/null
printf '$ dray-install verify bad.dray --keyring ops.pub\n'
if dray-install verify bad.dray --keyring ops.pub; then
	say "verify did not see that byte $at was changed"
	exit 1
fi
title "And the way back"
show dray-install rollback --root machine
same old

title "Done in $(($(date +%s) - began)) s"
say "Everything is in ${here#"$TOP"/}/run: the bundle, the keys, the machine."
