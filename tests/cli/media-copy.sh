#!/bin/sh
# dray copy: bundle, installer and sheet on a medium, flushed and read back; a medium that keeps less than it takes is found
# out with the byte; files of others are left alone
. "$(dirname "$0")/lib.sh"

mkdir -p old new/big stick/photos
head -c 3500000 /dev/urandom >new/big/file
echo one >old/one && echo two >new/one
echo mine >stick/photos/a && echo mine >stick/notes.txt
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0
id=$("$DRAY" info up.dray --json | grep -o '"id":"[0-9a-f]*"' | head -n 1 | cut -d '"' -f 4)

run "$DRAY" copy up.dray stick --check
want_status 0
want_same stick/up.dray up.dray
want_same stick/dray-install "$INSTALL"
[ -x stick/dray-install ] && ok 'the installer runs' || fail 'the installer has no right to run'
want_text "bundle id $id" stick/up.txt
want_text "signed with the key $("$DRAY" key show ops.pub | grep -oE '([0-9a-f]{4} ){7}[0-9a-f]{4}' | head -n 1)" stick/up.txt
want_text './dray-install apply  up.dray' stick/up.txt
want_text 'stick/up.dray: 3.5 MB' out
want_text 'identical' out
want_text 'stick/up.txt tells what to type there' out
[ "$(cat stick/photos/a stick/notes.txt)" = 'mine
mine' ] && ok 'other files are as they were' || fail 'other files changed'
no_leftover stick

# what the sheet says works
run sh -c 'cd stick && ./dray-install verify up.dray --keyring ../ops.pub'
want_status 0

# names as people have them: what is printed and what the sheet says can be typed
mkdir 'USB DISK' && cp up.dray "./-it's; up.dray"
run "$DRAY" copy "./-it's; up.dray" 'USB DISK'
want_status 0
want_text "./dray-install verify ./'-it'\\''s; up.dray'" "USB DISK/-it's; up.txt"
want_text './dray-install help recovery' "USB DISK/-it's; up.txt"
grep '^    ./dray-install verify' "USB DISK/-it's; up.txt" >typed
run sh -c 'line=$(cat typed); cd "USB DISK" && eval "$line --keyring ../ops.pub"'
want_status 0
run sh -c 'cd "USB DISK" && ./dray-install help recovery'
want_status 0
rm 'USB DISK'/*.dray
run "$DRAY" split up.dray --size 1M -d 'USB DISK'
want_status 0
want_text "next: dray-install verify 'USB DISK/up.part1of4' --keyring ops.pub" out
run "$DRAY" join 'USB DISK/up.part3of4' -o 'USB DISK/a b'
want_status 0
want_text "next: dray verify 'USB DISK/a b' --keyring ops.pub" out
run "$INSTALL" info 'USB DISK/a b'
want_text "next: dray-install verify 'USB DISK/a b' --keyring ops.pub" out
run "$INSTALL" verify 'USB DISK/a b' --keyring ops.pub
want_text "next: dray-install plan 'USB DISK/a b' --root DIR" out
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 -o 'USB DISK/no key'
want_status 0
want_text "next: dray sign 'USB DISK/no key' --key ops.key" out
run "$DRAY" copy 'USB DISK/no key' stick
want_status 0
want_text 'it is not signed yet: no machine takes it like that' out
rm stick/no*

# once more: nothing to write, but all is read back
tree_snapshot stick >before
run "$DRAY" copy up.dray stick --check --json
want_status 0
want_text '"read_back":true' out
want_text '"size":' out
[ "$(grep -o '"was_there":true' out | wc -l)" = 3 ] && ok 'three files were there' || fail "not three: $(cat out)"
want_unchanged stick before

refused() {	# refused STATUS TEXT... - and the medium is untouched
	want_status "$1"
	shift
	for text; do want_text "$text" err; done
	want_unchanged stick before
}
echo other >stick/up.txt
tree_snapshot stick >before
run "$DRAY" copy up.dray stick
refused 2 'stick/up.txt is there already and is another file' '--replace takes its place'
run "$DRAY" copy up.dray stick --replace
want_status 0
want_text 'not read back (--check does)' out
want_text "bundle id $id" stick/up.txt
tree_snapshot stick >before
run "$DRAY" copy up.dray nowhere
refused 2 'nowhere is no folder'
run "$DRAY" copy up.dray stick --installer nothing
refused 2 'no installer: nothing: no such file' 'say where it is: --installer FILE'
head -c 100000 up.dray >cut.dray
run "$DRAY" copy cut.dray stick
refused 31 'bundle ends at byte 100000'

# a medium that takes a write and does not keep it: the second of the large writes is only said to have happened
command -v strace >/dev/null || exit 0
rm -f stick/up.dray stick/up.txt
run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e trace=pwrite64 -e inject=pwrite64:retval=1048576:when=2 \
    "$DRAY" copy up.dray stick --check
want_status 33
want_text 'stick/up.dray: at byte 1048576 of 35' err
want_text 'the medium gives back something else than was written' err
want_text 'it is worn out, or smaller than it says' err
no_file stick/up.dray
no_file stick/up.txt
no_leftover stick
# without being asked to look nobody finds that out here; the machine does
run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e trace=pwrite64 -e inject=pwrite64:retval=1048576:when=2 \
    "$DRAY" copy up.dray stick
want_status 0
run "$INSTALL" verify stick --keyring ops.pub
want_status 31
rm -f stick/up.dray stick/up.txt

# modes that are not ours to set are no failure, and are set on the file that was written, not by a name that others may take
run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e trace=fchmod,chmod,fchmodat -e inject=fchmod:error=EPERM \
    "$DRAY" copy up.dray stick --replace
want_status 0
want_same stick/up.dray up.dray
rm stick/dray-install
run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e trace=fchmod,chmod,fchmodat "$DRAY" copy up.dray stick --replace
want_status 0
no_text ' chmod(' trace
no_text ' fchmodat(' trace
[ -x stick/dray-install ] && ok 'the installer runs' || fail 'the installer has no right to run'
rm stick/up.dray stick/up.txt

# stopped on the way, and a full medium: nothing is left
run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e trace=pwrite64 -e inject=pwrite64:error=ENOSPC:when=3 \
    "$DRAY" copy up.dray stick --check
want_status 21
want_text 'stick/up.dray: ' err
no_file stick/up.dray
no_leftover stick
is_root || exit 0
truncate -s 3M img && mkfs.ext4 -q -F img 2>/dev/null && mkdir small && mount -o loop img small 2>/dev/null || exit 0
run "$DRAY" copy up.dray small
want_status 21
want_text 'small has room for ' err
want_text 'nothing was written; dray split cuts it for several media' err
[ "$(cd small && echo *)" = lost+found ] && ok 'nothing there' || fail "there is $(ls small)"
umount small
