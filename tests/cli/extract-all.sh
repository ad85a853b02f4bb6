#!/bin/sh
# extract: everything of a release equals its tree, by content, type, mode, owner, links, times, xattrs; from a bundle
# without bases alone, from one with bases and the old tree; without root rights and without --preserve as far as that goes
. "$(dirname "$0")/lib.sh"

"$TOP/tools/make-cases.sh" "$T/cases" full >/dev/null 2>&1 || skip "no user xattrs here"
key
set -- --to cases/new --product demo --version 1.1 --counter 2 --level 3 --key ops.key
run "$DRAY" build "$@" --no-cache -o full.dray
need_status 0
run "$DRAY" build --from cases/old "$@" --no-cache -o up.dray
need_status 0

# the folder itself is not an entry, so its times are its own
same_release() {
	touch -r cases/new "$1"
	same_tree cases/new "$1"
}

trust="--keyring ops.pub"
! is_root || trust="$trust --preserve"
# shellcheck disable=SC2086
run "$DRAY" extract full.dray -C one $trust -j1
need_status 0
want_text 'one: ' out
want_text 'next: dray diff full.dray dir:one' out
no_text signatures
# shellcheck disable=SC2086
run "$DRAY" extract up.dray -C two $trust --base dir:cases/old -j3
need_status 0
! is_root || no_text 'left out' out
if is_root; then
	same_release one
	same_release two
fi
run "$DRAY" diff full.dray one
want_status 0
run "$DRAY" diff up.dray dir:two
want_status 0
no_file one/pair/file-to-absent

# slim: deltas and copies, all from the old tree; as a directory and as an archive
run "$DRAY" build --from cases/old "$@" --slim --no-cache -o slim.dray
need_status 0
# shellcheck disable=SC2086
run "$DRAY" extract slim.dray -C four $trust --base dir:cases/old
need_status 0
! is_root || same_release four
run "$DRAY" diff slim.dray four
want_status 0
tar -C cases/old -cf old.tar .
# shellcheck disable=SC2086
run "$DRAY" extract slim.dray -C five $trust --base archive:old.tar
need_status 0
! is_root || same_release five
run "$DRAY" extract slim.dray -C six
want_status 20
no_file six

# no bytes for what did not change: nothing is written, not even the folder
run "$DRAY" extract up.dray -C three
want_status 20
want_text 'cannot extract up.dray: '
want_text ' files cannot be made; the first is: '
want_text 'its bytes are neither in the bundle nor in a base'
want_text 'hint: a bundle holds what changed: name the old tree with --base dir:PATH'
no_file three

# without --preserve what gives rights is left out and counted
run "$DRAY" extract up.dray -C plain --base cases/old
want_status 0
want_text 'signatures were not checked (no --keyring): whoever made this bundle decides what is written'
want_text '  left out   ' out
[ -z "$(find plain -perm /6000 -type f)" ] || fail "setuid files were written"
[ -z "$(find plain -type b -o -type c)" ] || fail "devices were written"
if is_root; then
	[ -n "$(find cases/new -perm /6000 -type f)" ] || fail "the case has no setuid file"
	[ -z "$(getcap -r plain)" ] || fail "capabilities were written"
	want_text '14 devices, setuid or setgid of 4 files, 3 privileged' out
	rm -rf plain
	run "$DRAY" extract full.dray -C plain --json
	want_text '"left_out":{"devices":14,"setuid":4,"xattrs":3}' out
	want_text '"signatures_checked":false' out
fi
run "$DRAY" diff -a plain cases/new --ignore mode --ignore xattrs
! is_root || want_status 20
no_text content out

# another user: the bytes are the same, owners are his
if is_root; then
	mkdir theirs
	chown 65534 theirs
	run as_nobody "$DRAY" extract "$T/full.dray" -C "$T/theirs/x"
	want_status 0
	want_text 'owners     not set: that needs the rights of root' out
	[ -z "$(find theirs/x ! -uid 65534)" ] || fail "something is not his"
	run "$DRAY" diff -a full.dray theirs/x --ignore uid --ignore gid --ignore mode --ignore xattrs --ignore link
	no_text content out
	no_text mtime out
	run as_nobody "$DRAY" extract "$T/full.dray" -C "$T/theirs/y" --preserve --keyring "$T/ops.pub"
	want_status 22
	want_text '--preserve needs the rights of root'
	run "$DRAY" extract full.dray -C mine --no-owner --keyring ops.pub
	want_status 0
	[ -z "$(find mine ! -uid 0)" ] || fail "owners were set"
fi
