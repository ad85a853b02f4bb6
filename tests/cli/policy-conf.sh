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
etc/ merge
boot/device.hints* merge
etc/ mine
root/ mine
.cshrc* mine
X
want_same want out
mv out site.policy

mkdir -p old/etc old/usr/local new/etc new/usr/local old/var/lib new/var/lib
for f in etc/rc.conf usr/local/x .cshrc usr/b; do
	echo 1 >old/$f && echo 2 >new/$f
done
seq 1 9 >old/etc/rc.conf && seq 1 10 >new/etc/rc.conf && sed 's/^1$/one/' old/etc/rc.conf >rc.conf
echo 2 >new/etc/added && chmod 755 new/usr/b
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --config etc --key ops.key -o up.dray
need_status 0
cp -a old root
cp rc.conf root/etc/rc.conf && echo mine >root/usr/b && chmod 700 root/usr/b
run "$INSTALL" apply up.dray --root root --keyring ops.pub --policy site.policy
want_status 0
sed 's/^1$/one/' new/etc/rc.conf >want
want_same want root/etc/rc.conf
[ "$(stat -c %a root/usr/b)" = 755 ] && ok 'the mode of the release' || fail 'its own mode'
[ "$(cat root/usr/local/x root/.cshrc root/usr/b | tr '\n' ' ')" = '1 2 2 ' ] && ok 'as the old client' || fail 'otherwise'
no_file root/etc/added
run "$INSTALL" check --root root
want_status 0

# KeepModifiedMetadata
run "$INSTALL" rollback --root root
want_status 0
echo 'KeepModifiedMetadata yes' >>conf
run "$DRAY" policy conf
want_status 0
want_text 'etc/ merge keep-metadata' out
want_text 'etc/ mine keep-metadata' out
want_text '** keep-metadata' out
no_text 'ignore keep' out
mv out site.policy
run "$INSTALL" apply up.dray --root root --keyring ops.pub --policy site.policy
want_status 0
want_same want root/etc/rc.conf
[ "$(stat -c %a root/usr/b)" = 700 ] && ok 'its own mode' || fail 'the mode of the release'

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
