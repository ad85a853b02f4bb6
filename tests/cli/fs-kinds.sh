#!/bin/sh
# the same upgrade on each kind of file system: applied, compared, rolled back; killed in the switch and brought to an end
. "$(dirname "$0")/lib.sh"
is_root || skip 'mounts need root'
unshare -m true 2>/dev/null || skip 'mount namespaces are not allowed here'

for t in old new; do
	mkdir -p $t/usr/lib $t/usr/bin $t/etc $t/$t
	echo $t >$t/etc/conf
	echo $t >$t/usr/lib/liba.so
	ln $t/usr/lib/liba.so $t/usr/lib/libb.so
	echo same >$t/etc/same
	ln -s $t $t/usr/link
	echo $t >$t/$t/x
	printf '#!/bin/sh\n' >$t/usr/bin/su
	chmod 4755 $t/usr/bin/su
done
mkdir old/dir-to-file old/gone new/file-to-dir
echo 1 >old/dir-to-file/a && echo 2 >new/dir-to-file
echo 1 >old/file-to-dir && echo 2 >new/file-to-dir/b
echo 1 >old/gone/c
setfattr -n user.t -v old old/etc/conf && setfattr -n user.t -v new new/etc/conf || skip 'no extended attributes here'
chmod 0555 new/usr/lib
key
run "$DRAY" build --from old --to new --product p --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
export INSTALL

# what runs in a mount namespace of its own on a fresh file system in ./root; "KEEP" is for what the mounts hold
cat >whole-way <<'X'
same() {
	rsync -naHAX --checksum --delete --itemize-changes --exclude=/var --exclude=.dray --exclude=lost+found "$1/" root/ |
	    grep -v '^\.d\.\.t\.\.\.\.\.\. \./$' | sed 's/^/  differs: /'
}
step() { echo "$@"; }
fill() { cp -a old/. root/; }
d="$INSTALL"
fill
"$d" apply up.dray --root root --keyring ops.pub -q || step "apply: $?"
same new
"$d" check --root root -q || step "check: $?"
"$d" rollback --root root -q || step "rollback: $?"
same old
for n in 1 4 8; do
	strace -f -qq -o /dev/null -e trace=renameat2 -e "inject=renameat2:signal=SIGKILL:when=$n" \
	    "$d" apply up.dray --root root --keyring ops.pub -j 1 -q >/dev/null 2>&1
	again
	"$d" resume --root root -q || step "resume $n: $?"
	"$d" status --root root --json | grep -q '"pending":"none"' || step "pending after $n"
	case $("$d" status --root root --json) in
	*'"installed":{'*) same new ;;
	*) same old ;;
	esac
	"$d" rollback --root root -q >/dev/null 2>&1
	same old
done
"$d" apply up.dray --root root --keyring ops.pub -q || step "apply again: $?"
again
"$d" rollback --root root -q || step "rollback after a new mount: $?"
same old
X

# kind NAME SCRIPT - SCRIPT mounts an empty file system on ./root and defines again(): unmount and mount it
kind() {
	rm -rf root && mkdir root
	{
		echo "$2"
		cat whole-way
	} >script
	run unshare -m sh ./script
	if grep -q '^cannot' out; then
		echo "$1: $(grep '^cannot' out)"
	elif [ "$status" = 0 ] && [ ! -s out ] && [ ! -s err ]; then
		ok "$1"
	else
		fail "$1"
		cat out err
	fi
}
command -v strace >/dev/null || skip 'no strace'

loop='image() {
	truncate -s "$1" fs.img && shift && "$@" fs.img >/dev/null 2>&1 || { echo cannot make it; exit 0; }
	mount -o loop fs.img root 2>/dev/null || { echo cannot mount it; exit 0; }
}
again() { umount root && mount -o loop fs.img root; }
rm -f fs.img
'
kind ext4 "$loop image 64M mkfs.ext4 -q -F"
kind 'ext4 without a journal' "$loop image 64M mkfs.ext4 -q -F -O ^has_journal"
kind xfs "$loop image 320M mkfs.xfs -q -f"
kind btrfs "$loop image 128M mkfs.btrfs -q -f"
kind 'btrfs with nested subvolumes' "$loop image 128M mkfs.btrfs -q -f
btrfs subvolume create root/usr >/dev/null && btrfs subvolume create root/etc >/dev/null || { echo cannot; exit 0; }"
kind 'ext4, a casefold directory' "$loop image 64M mkfs.ext4 -q -F -O casefold
mkdir root/usr && chattr +F root/usr || { echo cannot; exit 0; }"

overlay='mkdir -p ov && mount -t tmpfs none ov 2>/dev/null || { echo cannot; exit 0; }
truncate -s 64M ov.img && mkfs.ext4 -q -F ov.img && mount -o loop ov.img ov || { echo cannot; exit 0; }
mkdir ov/low ov/up ov/work
cp -a old/. ov/low
over() { mount -t overlay -o "lowerdir=ov/low,upperdir=ov/up,workdir=ov/work$options" none root; }
again() { umount root && over; }
'
kind 'overlayfs with redirect_dir' "$overlay options=,redirect_dir=on; over || { echo cannot; exit 0; }"

# without redirect_dir a directory of the lower layer cannot be moved: refused by name
rm -rf root && mkdir root
cat >script <<X
$overlay
options=,redirect_dir=off
over || { echo cannot; exit 0; }
"\$INSTALL" apply up.dray --root root --keyring ops.pub
X
run unshare -m sh ./script
if ! grep -q '^cannot' out; then
	want_status 22
	want_text 'is a directory on overlayfs mounted without redirect_dir=on' err
fi
