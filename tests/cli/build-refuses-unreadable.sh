#!/bin/sh
# a file, a directory that cannot be read, or one that changes while it is read: error with its path, and no output
. "$(dirname "$0")/lib.sh"

if is_root && ! as_nobody true 2>/dev/null; then
	skip "root reads everything, and setpriv cannot change the user here"
fi
build() {
	set -- "$DRAY" build --from old --to new --product demo --version 1 --counter 1 --level fast -o "$T/outdir/up.dray" "$@"
	if is_root; then
		run as_nobody "$@"
	else
		run "$@"
	fi
	no_file outdir/up.dray
	no_leftover outdir
}

mkdir -p old new/dir outdir
chmod 777 outdir
echo one >old/a
echo two >new/a
echo three >new/dir/secret
chmod 000 new/dir/secret
tree_snapshot new >snap
build
want_status 1
want_text 'cannot build'
want_text 'new: dir/secret: cannot be read: permission denied'
want_text 'hint: build from a tree that is at rest and that you may read; nothing was written'
want_unchanged new snap
build --json
want_status 1
want_text '"code":1' out

chmod 644 new/dir/secret
chmod 000 new/dir
build
want_status 1
want_text 'new: dir: cannot be read: permission denied'
chmod 755 new/dir

chmod 000 old/a
build
want_status 1
want_text 'old: a: cannot be read: permission denied'
chmod 644 old/a

# a folder nobody may write into, told before the trees are read
chmod 000 old/a
chmod 555 outdir
build
want_status 1
want_text 'outdir/up.dray: cannot create a file there: permission denied'
no_text 'old: a'
