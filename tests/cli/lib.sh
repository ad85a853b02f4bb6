# shellcheck shell=sh disable=SC2034
# lib.sh - sourced by every cli test: a fresh folder to stand in, the programs, and a few words to judge with
#
#	. "$(dirname "$0")/lib.sh"
#	key					# ops.key and ops.pub in the fresh folder
#	run "$DRAY" verify up.dray --keyring ops.pub
#	want_status 31
#	want_text 'digest differs' err
#
# A test goes on after a failed word and ends with status 1. Standard input is empty.
#
#	run CMD ARG...		run it; its exit status in $status, its output in the files `out` and `err`
#	ended STATUS WHAT	the same for what the test ran by itself, into `out` and `err`
#	want_status N		... it must have ended with N
#	need_status N		... or the test ends here
#	want_text TEXT [FILE]	FILE (default err) must hold TEXT, which is no pattern; prints FILE otherwise
#	no_text TEXT [FILE]	... must not
#	want_same A B		two files, byte for byte
#	want_file FILE / no_file FILE
#	tree_snapshot DIR	on stdout: every name, type, mode, owner, size, times, inode, links, bytes, xattrs
#	tree_seen DIR		the same but for the installer's lock, which names its last holder
#	want_unchanged DIR SNAP	DIR still is what `tree_snapshot DIR >SNAP` saw; ctime too, so no write goes unseen
#	same_tree A B		two trees hold the same (rsync, checksums, hard links, xattrs, ACLs; not inode and ctime, nor the
#				time of the top folder)
#	no_leftover DIR		no temporary file of the builder in DIR
#	ok TEXT / fail TEXT	a verdict of the test's own
#	skip TEXT		end here: this machine cannot show it
#	doc_runs FILE		the transcripts of this manual (tests/cli/doc.pl) do and say what they tell
#	is_root, as_nobody CMD	(the latter only as root; the folder is made readable for it)

set -u
umask 022
export LC_ALL=C TZ=UTC
unset SOURCE_DATE_EPOCH

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd -P)}
OUT=${OUT:-$TOP/out}
case $OUT in
/*) ;;
*) OUT=$TOP/$OUT ;;
esac
DRAY=${DRAY:-$OUT/dray} INSTALL=${INSTALL:-$OUT/dray-install}
failed=0 status=0 skipped=

T=$(mktemp -d) || exit 1
T=$(cd "$T" && pwd -P)
export XDG_CACHE_HOME="$T/.cache"	# no test meets the frames of another one

at_end() {
	rc=$?
	cd /
	chmod -R u+rwx "$T" 2>/dev/null
	rm -rf "$T"
	if [ -n "$skipped" ]; then
		echo "$skipped"
		exit 77
	fi
	[ $rc != 0 ] || rc=$failed
	exit $rc
}
trap at_end EXIT
trap 'exit 1' HUP INT TERM
cd "$T" || exit 1

ok() {
	echo "ok $1"
}

fail() {
	echo "NOT OK $1"
	failed=1
}

skip() {
	skipped=$1
	exit 0
}

show() {	# the last command's words, for the log
	echo "  ran: $ran"
	for f in out err; do
		[ ! -s "$T/$f" ] || sed "s/^/  $f: /" "$T/$f" | head -n 30
	done
}

run() {
	ran=$*
	"$@" >"$T/out" 2>"$T/err" </dev/null
	status=$?
}

ended() {
	status=$1 ran=$2
}

want_status() {
	if [ "$status" = "$1" ]; then
		ok "status $1: $ran"
	else
		fail "status $status, wanted $1"
		show
	fi
}

need_status() {
	want_status "$1"
	[ "$status" = "$1" ] || exit 1
}

in_file() {
	case ${2:-err} in
	out | err) grep -qF -e "$1" "$T/${2:-err}" ;;
	*) grep -qF -e "$1" "$2" ;;
	esac
}

want_text() {
	if in_file "$@"; then
		ok "${2:-err} says: $1"
	else
		fail "${2:-err} does not say: $1"
		show
	fi
}

no_text() {
	if in_file "$@"; then
		fail "${2:-err} says: $1"
		show
	else
		ok "${2:-err} does not say: $1"
	fi
}

want_same() {
	if cmp -- "$1" "$2"; then
		ok "$1 and $2 are the same"
	else
		fail "$1 and $2 differ"
	fi
}

want_file() {
	if [ -e "$1" ]; then ok "$1 is there"; else fail "$1 is missing"; fi
}

no_file() {
	if [ -e "$1" ] || [ -L "$1" ]; then fail "$1 is there"; else ok "$1 is not there"; fi
}

no_leftover() {
	left=$(find "$1" -name '.dray-tmp-*')
	if [ -z "$left" ]; then ok "nothing left in $1"; else fail "left behind: $left"; fi
}

tree_seen() {
	tree_snapshot "$1" | grep -v var/lib/dray/lock
}

tree_snapshot() {
	(
		cd "$1" || exit 1
		find . -printf '%p|%y|%m|%U|%G|%s|%T@|%C@|%i|%n|%l\0' | sort -z | tr '\0' '\n'
		find . -type f -print0 | sort -z | xargs -0 -r sha256sum --
		if command -v getfattr >/dev/null; then
			find . -print0 | sort -z | xargs -0 -r getfattr -h -d -m - -e hex -- 2>/dev/null
		fi
		true
	)
}

want_unchanged() {
	tree_snapshot "$1" >"$T/.snapshot-now"
	if cmp -s "$2" "$T/.snapshot-now"; then
		ok "$1 is untouched"
	else
		fail "$1 has changed"
		diff "$2" "$T/.snapshot-now" | head -n 20
	fi
}

same_tree() {
	# the time of the top folder is no part of a release: two that were made in one second have the same, others do not
	diff=$(rsync -n -aHAX --checksum --delete --exclude=/var/lib/dray --exclude=/.dray --exclude=/.dray-pending \
	    --itemize-changes "$1/" "$2/" 2>&1 | grep -vx '\.d\.\.t\.*  *\./')
	if [ -z "$diff" ]; then
		ok "$1 and $2 are the same trees"
	else
		fail "$1 and $2 differ: $(echo "$diff" | head -n 10)"
	fi
}

key() {
	"$DRAY" key new "${1:-ops}" >"$T/out" 2>"$T/err" </dev/null || {
		cat "$T/err"
		exit 1
	}
}

is_root() {
	[ "$(id -u)" = 0 ]
}

doc_runs() {
	is_root || skip 'needs root, for mounts and systems of its own'
	[ -z "${SAN:-}" ] || skip 'needs the static program'
	run unshare -m true
	[ "$status" = 0 ] || skip 'needs mounts of its own'
	mkdir doc
	run env DRAY="$DRAY" INSTALL="$INSTALL" unshare -m perl "$TOP/tests/cli/doc.pl" "$TOP/$1" doc
	want_status 0
	[ "$status" = 0 ] || cat out
	tail -n 1 out
}

as_nobody() {
	chmod 755 "$T"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
