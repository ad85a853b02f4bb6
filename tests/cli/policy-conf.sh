#!/bin/sh
# dray policy: the path lists of a freebsd-update.conf as a policy, which dray-install then keeps to
. "$(dirname "$0")/lib.sh"

cat >conf <<'X'
# $FreeBSD$
KeyPrint 800651ef4b4c71c27e60786d7b487188970f4b4169cc055784e21eb71d410cc5
ServerName update.FreeBSD.org
Components src world kernel
IgnorePaths /boot/kernel/linker\.hints /usr/local/
IDSIgnorePaths /usr/share/man/cat
UpdateIfUnmodified /etc/ /root/ /.cshrc	# edits
MergeChanges /etc/ /boot/device.hints
AllowAdd no
AllowDelete yes
X
run "$DRAY" policy conf
want_status 0
cat >want <<'X'
# made from conf
boot/kernel/linker.hints* ignore
usr/local/ ignore
** ignore if added
etc/ mine
root/ mine
.cshrc* mine
etc/ mine
boot/device.hints* mine
X
want_same want out
mv out site.policy

mkdir -p old/etc old/usr/local new/etc new/usr/local old/var/lib new/var/lib
for f in etc/rc.conf usr/local/x .cshrc usr/b; do
	echo 1 >old/$f && echo 2 >new/$f
done
echo 2 >new/etc/added
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
cp -a old root
echo mine >root/etc/rc.conf && echo mine >root/usr/b
run "$INSTALL" apply up.dray --root root --keyring ops.pub --policy site.policy
want_status 0
[ "$(cat root/etc/rc.conf root/usr/local/x root/.cshrc root/usr/b | tr '\n' ' ')" = 'mine 1 2 2 ' ] && ok 'as the old client' || fail 'otherwise'
no_file root/etc/added
run "$INSTALL" check --root root
want_status 0

wrong() {	# TEXT LINE
	printf '%s\n' '# x' "$2" >bad
	run "$DRAY" policy bad
	want_status 2
	want_text "no policy: bad: line 2: $1"
	[ ! -s out ] && ok 'nothing is written' || fail 'something is written'
}
wrong '/a.*b: it repeats, chooses or ends' 'IgnorePaths /ok /a.*b'
wrong 'no option is called Ignore' 'Ignore /a'
wrong 'AllowAdd is yes or no' 'AllowAdd maybe'
printf '%s\n' 'AllowAdd no' 'AllowAdd no' >bad
run "$DRAY" policy bad
want_status 2
want_text 'line 2: AllowAdd is there twice'
run "$DRAY" policy nowhere
want_status 1
want_text 'nowhere: open: no such file'
