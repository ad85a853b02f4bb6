#!/bin/sh
# setup.sh - install what a stage needs, and nothing when it is already there
#   setup.sh [build] [demo] [test] [lint] [fuzz] [vm] [deb] [bench]    default: build
# Knows apt (Debian 12 and its kin) and FreeBSD's pkg. Quiet when there is nothing to do; needs root otherwise.
# A machine that starts with git and make alone gets its compiler from here too.
set -u

die() {
	printf 'setup: %s\n' "$1" >&2
	[ $# -lt 2 ] || printf 'setup: hint: %s\n' "$2" >&2
	exit 1
}

# the packages of one stage, by package system
packages() {
	case $1:$2 in
	apt:build) echo gcc libc6-dev make pkg-config libzstd-dev liblzma-dev libssl-dev libjson-c-dev libarchive-dev libdivsufsort-dev zlib1g-dev libbz2-dev libcurl4-openssl-dev mandoc ;;
	apt:demo) echo rsync acl attr libcap2-bin ca-certificates ;;
	apt:test) echo rsync acl attr libcap2-bin strace openssl zstd e2fsprogs xfsprogs btrfs-progs mount binutils file xz-utils libarchive-tools mtree-netbsd nginx bsdiff ;;
	apt:lint) echo clang clang-tidy cppcheck shellcheck binutils ;;
	apt:fuzz) echo clang "libclang-rt-$(clang_major)-dev" ;;
	apt:bench) echo rsync perl python3 zstd tar xdelta3 bsdiff rdiff casync ostree e2fsprogs xfsprogs btrfs-progs mount ;;
	apt:deb) echo dpkg-dev debhelper lintian fakeroot ;;
	apt:vm) echo qemu-system-x86 debootstrap ;;
	pkg:build) echo gmake pkgconf zstd json-c libdivsufsort curl ;;
	pkg:demo) echo rsync ;;
	pkg:test) echo rsync zstd nginx bsdiff ;;
	pkg:lint) echo cppcheck hs-ShellCheck ;;
	pkg:fuzz) ;;
	*) die "no stage '$2'" "stages: build demo test lint fuzz vm deb bench" ;;
	esac
}

# Debian names the fuzzing runtime by compiler version; the candidate of `clang` tells which one
clang_major() {
	v=$(apt-cache policy clang 2>/dev/null | sed -n 's/.*Candidate: *\([0-9]*:\)*\([0-9]*\)\..*/\2/p')
	echo "${v:-14}"
}

missing_apt() {
	for p; do
		# "not-installed" is a status too; a package of two architectures has two
		case " $(dpkg-query -W -f '${db:Status-Status} ' "$p" 2>/dev/null)" in
		*" installed "*) ;;
		*) printf '%s ' "$p" ;;
		esac
	done
}

missing_pkg() {
	for p; do
		pkg info -e "$p" 2>/dev/null || printf '%s ' "$p"
	done
}

have_lists() {
	for f in /var/lib/apt/lists/*_Packages*; do
		[ -e "$f" ] && return 0
	done
	return 1
}

apt() {
	DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 "$@" </dev/null
}

install_apt() {
	log=$(mktemp) || die "no room for a log in ${TMPDIR:-/tmp}"
	if ! have_lists; then
		apt update >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; die "cannot fetch the package lists"; }
	fi
	# lists may be older than the archive: then fetch them anew and try once more
	if ! apt --no-install-recommends install "$@" >"$log" 2>&1; then
		apt update >>"$log" 2>&1
		if ! apt --no-install-recommends install "$@" >>"$log" 2>&1; then
			cat "$log" >&2
			rm -f "$log"
			die "cannot install: $*" "the package manager's own words are above"
		fi
	fi
	rm -f "$log"
}

[ $# -gt 0 ] || set -- build

if command -v apt-get >/dev/null 2>&1 && command -v dpkg-query >/dev/null 2>&1; then
	system=apt
elif [ "$(uname -s)" = FreeBSD ]; then
	system=pkg
else
	# another system: say so only when something that the build cannot do without is really missing
	command -v cc >/dev/null 2>&1 && exit 0
	die "this system's package manager is not known here" \
	    "install a C compiler, GNU make, zstd, liblzma, OpenSSL 3 and json-c with their static libraries"
fi

want=
for stage; do
	list=$(packages $system "$stage") || exit 1
	want="$want $list"
done
# shellcheck disable=SC2086 # lists of words on purpose, here and below
need=$(missing_$system $want)
[ -n "$need" ] || exit 0
# shellcheck disable=SC2086
need=$(printf '%s\n' $need | sort -u | tr '\n' ' ')

[ "$(id -u)" = 0 ] || die "these packages are missing and only root can install them: $need" \
    "run as root: tools/setup.sh $*"
printf 'setup: installing %s\n' "$need" >&2
if [ $system = apt ]; then
	# shellcheck disable=SC2086
	install_apt $need
else
	# shellcheck disable=SC2086
	env ASSUME_ALWAYS_YES=yes pkg install -q $need </dev/null || die "cannot install: $need"
fi
