#!/bin/sh
# every type, every kind of name, hard links, special modes, nanoseconds, xattrs are in the bundle; sockets, mounts and
# reserved names are left out and named
. "$(dirname "$0")/lib.sh"

mkdir -p old new/dir/sub new/var/lib/dray/x new/.dray new/dir/.dray
echo plain >new/file
: >new/empty
ln new/file new/dir/link2
ln new/file new/dir/link3
echo alone >outside
ln outside new/single-name
ln -s '../nowhere there' new/symlink
mkfifo -m 640 new/fifo
echo s >new/setuid && chmod 6755 new/setuid
mkdir new/sticky && chmod 1777 new/sticky
nl=$(printf 'a\nb\033[31m')
printf x >"new/$nl"
printf x >"new/quo'te\"back\\slash"
printf x >"new/$(printf 'bad\377utf8')"
long=$(printf '%0255d' 0)
printf x >"new/$long"
echo hidden >new/.dray/secret
echo hidden >new/var/lib/dray/x/state
echo hidden >new/dir/.dray/secret
echo packed >new/dir/.drayish
touch -d '2001-02-03 04:05:06.123456789' new/file
touch -d '1960-01-01 00:00:00' new/empty
perl -MSocket -e 'my $s; socket($s, PF_UNIX, SOCK_STREAM, 0) && bind($s, sockaddr_un("new/dir/sock")) or die' || exit 1
xattr=false
if setfattr -n user.note -v hello new/dir 2>/dev/null && setfattr -n user.zero new/file; then
	xattr=true
fi
if is_root; then
	mknod -m 600 new/chr c 1 3
	mknod -m 660 new/blk b 7 200
	chown 12:34 new/setuid && chmod 6755 new/setuid
fi

mounted=false
mkdir new/mnt
if is_root && mount -t tmpfs -o size=64k none new/mnt 2>/dev/null; then
	mounted=true
	echo hidden >new/mnt/foreign
fi

run "$DRAY" build --from old --to new --product demo --version 1 --counter 1 --level fast -o up.dray
if $mounted; then
	umount new/mnt
	rmdir new/mnt	# left out of the bundle, so out of the comparison below
	want_text 'warning: new: mnt: another file system is mounted here: not packed'
fi
want_status 0
want_text 'warning: new: dir'
no_text 'warning: old'
want_text 'dir/sock: a socket: sockets are not packed'
want_text ': .dray: a reserved name'
want_text 'dir/.dray: a reserved name'
want_text 'var/lib/dray: a reserved name'
want_text 'next: dray sign up.dray --key ops.key' out

run "$DRAY" list up.dray
want_status 0
want_text 'signatures were not checked'
no_text sock out
no_text secret out
no_text foreign out
no_text state out
want_text '+ dir/.drayish' out
no_text 'dir/.dray/' out
want_text '+ a\x0ab\x1b[31m' out
want_text "+ quo'te\"back\\x5cslash" out
want_text '+ bad\xffutf8' out
want_text "+ $long" out
if LC_ALL=C grep -q '[^ -~]' "$T/out"; then fail "a list holds control characters"; else ok "a list is plain text"; fi

run "$DRAY" list -l up.dray
want_status 0
want_text '2001-02-03T04:05:06Z dir/link2' out
want_text ' dir/link3 link to dir/link2' out
want_text ' file link to dir/link2' out
want_text '1960-01-01T00:00:00Z empty' out
want_text ' symlink -> ../nowhere there' out
want_text '+ prw-r----- ' out
want_text '+ drwxrwxrwt ' out
want_text '+ -rwsr-sr-x ' out
no_text ' single-name link' out
if is_root; then
	want_text '+ crw-------  0:0            1,3 ' out
	want_text '+ brw-rw----  0:0          7,200 ' out
	want_text '+ -rwsr-sr-x  12:34 ' out
fi
if $xattr; then
	want_text 'drwxr-xr-x+ ' out
	run "$DRAY" list up.dray --json
	want_text '"path":"dir","type":"dir","uid":0,"xattrs":[{"bytes":5,"name":"user.note"}]' out
	want_text '{"bytes":0,"name":"user.zero"}' out
fi
run "$DRAY" list up.dray --json
want_text '"mtime":981173106,"mtime_nsec":123456789' out
want_text '"mtime":-315619200,"mtime_nsec":0' out
want_text '"path_hex":"626164ff75746638"' out

# nothing but the release decides what is in it: the same list of names as find sees
run "$DRAY" list up.dray --json
perl -MJSON::PP -e 1 2>/dev/null && {
	perl -MJSON::PP -0777 -ne 'for (@{decode_json($_)->{entries}}) {
		print defined $_->{path_hex} ? pack("H*", $_->{path_hex}) : do { my $p = $_->{path}; utf8::encode($p); $p }, "\0" }' \
	    "$T/out" | sort -z >listed
	(cd new && find . -mindepth 1 ! -type s ! -name .dray ! -path '*/.dray/*' ! -path './var/lib/dray' \
	    ! -path './var/lib/dray/*' -printf '%P\0' | sort -z) >found
	want_same listed found
}
