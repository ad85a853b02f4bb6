#!/bin/sh
# sets of triggers: what a system has to do after its files have changed stands in the bundle, but only where there is
# something to wait for, a program to run, and something to make
. "$(dirname "$0")/lib.sh"
. "$TOP/tests/fbsd/site.sh"

build() {	# OUT OPTION...
	b_out=$1
	shift
	run "$DRAY" build --product p --version 1 --counter 1 --level 1 --no-cache -o "$b_out" "$@"
}
lists() {	# BUNDLE ID...: exactly these, in this order
	l_bundle=$1
	shift
	run "$DRAY" info "$l_bundle"
	sed -n 's/^  trigger    \([^:]*\):.*/\1/p' out | tr '\n' ' ' >ids
	if [ "$(cat ids)" = "$*${*:+ }" ]; then ok "$l_bundle has: $*"; else fail "$l_bundle has $(cat ids), wanted $*"; fi
}

# Debian: what the release brings itself is not made again, what has no program is not run
mkdir -p old new/usr/sbin new/usr/bin new/usr/lib/x new/usr/lib/modules/6.1.0-9-amd64/kernel new/usr/share/man/man1 \
    new/usr/share/ca-certificates new/usr/lib/systemd/system new/etc
ln -s usr/lib new/lib
ln -s usr/sbin new/sbin
ln -s usr/bin new/bin
for p in sbin/ldconfig sbin/depmod sbin/update-initramfs bin/mandb bin/systemctl; do
	echo prog >new/usr/$p
done
echo lib >new/usr/lib/x/libfoo.so.1
echo ko >new/usr/lib/modules/6.1.0-9-amd64/kernel/a.ko
echo page >new/usr/share/man/man1/a.1
echo unit >new/usr/lib/systemd/system/a.service
echo cert >new/usr/share/ca-certificates/a.crt
build deb.dray --to new --triggers debian
need_status 0
lists deb.dray ldconfig depmod-6.1.0-9-amd64 initramfs-6.1.0-9-amd64 systemd mandb
want_text '  trigger    ldconfig: /sbin/ldconfig -X' out
want_text '  trigger    depmod-6.1.0-9-amd64: /bin/sh -c test ! -d /usr/lib/modules/6.1.0-9-amd64 || exec /sbin/depmod -a 6.1.0-9-amd64' out
want_text '  trigger    initramfs-6.1.0-9-amd64: /bin/sh -c test ! -d /usr/lib/modules/6.1.0-9-amd64 || exec /usr/sbin/update-initramfs -c -k 6.1.0-9-amd64' out
run "$DRAY" info deb.dray --json
want_text '"after":["depmod-6.1.0-9-amd64"]' out
want_text '"on_failure":"fail","outputs":["boot/initrd.img-6.1.0-9-amd64",' out
# of what the release brings only the cache of libraries is made anew: a machine may have some of its own
touch new/etc/ld.so.cache new/usr/lib/modules/6.1.0-9-amd64/modules.dep.bin
rm new/usr/bin/mandb
build deb.dray --to new --triggers debian
need_status 0
lists deb.dray ldconfig initramfs-6.1.0-9-amd64 systemd
rm new/etc/ld.so.cache new/usr/lib/modules/6.1.0-9-amd64/modules.dep.bin
# what only a base had counts too
mkdir -p base/usr/local/lib
echo lib >base/usr/local/lib/liblocal.so.1
rm new/usr/lib/x/libfoo.so.1
build deb.dray --to new --triggers debian
lists deb.dray depmod-6.1.0-9-amd64 initramfs-6.1.0-9-amd64 systemd
build deb.dray --from base --to new --triggers debian
lists deb.dray ldconfig depmod-6.1.0-9-amd64 initramfs-6.1.0-9-amd64 systemd
# a kernel that only a base has leaves what was made for it, which goes too; one that is only in another folder now has not gone
mkdir -p gone/lib/modules/5.10.0-1-amd64 gone/lib/modules/6.1.0-9-amd64 gone/boot
touch gone/boot/vmlinuz-5.10.0-1-amd64 gone/boot/vmlinuz-6.1.0-9-amd64
build gone.dray --from gone --to new --triggers debian
need_status 0
lists gone.dray depmod-6.1.0-9-amd64 depmod-gone-5.10.0-1-amd64 initramfs-6.1.0-9-amd64 initramfs-gone-5.10.0-1-amd64 systemd
# on the way back they are called again, and must not take from the kernel that is back what was put back for it
run "$DRAY" info gone.dray --json
want_text '"argv":["/bin/sh","-c","test -e /boot/vmlinuz-5.10.0-1-amd64 || exec /usr/sbin/update-initramfs -d -k 5.10.0-1-amd64"]' out
sed 's/.*"argv":\["\/bin\/sh","-c","\([^"]*rm -f [^"]*\)".*/\1/' out | sed "s|/lib/modules|$T/gone/lib/modules|g; s|/boot|$T/gone/boot|g" >rm.sh
touch gone/lib/modules/5.10.0-1-amd64/modules.dep gone/lib/modules/5.10.0-1-amd64/modules.mine
run sh -e rm.sh
need_status 0
want_file gone/lib/modules/5.10.0-1-amd64/modules.dep
rm gone/boot/vmlinuz-5.10.0-1-amd64
run sh -e rm.sh
need_status 0
no_file gone/lib/modules/5.10.0-1-amd64/modules.dep
want_file gone/lib/modules/5.10.0-1-amd64/modules.mine
rm -r gone/lib/modules/5.10.0-1-amd64
run sh -e rm.sh
need_status 0
run "$DRAY" info gone.dray --json
want_text '"id":"initramfs-gone-5.10.0-1-amd64","on_failure":"fail","outputs":["boot/initrd.img-5.10.0-1-amd64","boot/initrd.img-5.10.0-1-amd64.bak"],"paths":["boot/vmlinuz-5.10.0-1-amd64"]' out
# libraries of each architecture that have programs of their own; what asks the machine, on the machine alone
mkdir -p desk/usr/lib/x86_64-linux-gnu/glib-2.0 desk/usr/lib/x86_64-linux-gnu/gio/modules desk/usr/lib/i386-linux-gnu/gio/modules \
    desk/usr/lib/i386-linux-gnu/glib-2.0 desk/usr/share/glib-2.0/schemas desk/usr/share/mime/packages desk/usr/bin desk/usr/sbin \
    desk/boot desk/usr/share/man desk/usr/share/info desk/usr/share/fonts
for p in lib/x86_64-linux-gnu/glib-2.0/glib-compile-schemas lib/x86_64-linux-gnu/glib-2.0/gio-querymodules \
    bin/update-mime-database sbin/update-grub bin/mandb bin/setpriv sbin/update-info-dir bin/systemd-hwdb sbin/update-initramfs; do
	echo prog >desk/usr/$p
done
mkdir -p desk/usr/lib/udev/hwdb.d desk/usr/lib/modules/6.1.0-9-amd64
touch desk/boot/vmlinuz-6.1.0-9-amd64 desk/usr/lib/udev/hwdb.d/a.hwdb
build desk.dray --to desk --triggers debian
need_status 0
# the hardware database goes into the initrd, so it comes first
lists desk.dray udev-hwdb initramfs-6.1.0-9-amd64 grub mandb info mime-database glib-schemas-x86_64-linux-gnu gio-modules-x86_64-linux-gnu
want_text '  trigger    mandb: /usr/bin/setpriv --reuid man --regid man --init-groups -- /usr/bin/mandb --create --quiet' out
run "$DRAY" info desk.dray --json
want_text '"argv":["/usr/sbin/update-grub"],"id":"grub","needs":"root-live"' out
# update-ca-certificates adds to what a killed run of it has left: behind such a run it has to begin anew
mkdir -p certs/usr/share/ca-certificates certs/usr/sbin ssl
echo 'echo "ran with: $*" >>$T/ran' | sed "s|\$T|$T|" >certs/usr/sbin/update-ca-certificates
echo cert >certs/usr/share/ca-certificates/a.crt
build certs.dray --to certs --triggers debian
need_status 0
lists certs.dray ca-certificates
run "$DRAY" info certs.dray --json
sed 's/.*"argv":\["\/bin\/sh","-c","\([^"]*\)".*/\1/' out | sed "s|/etc/ssl/certs|$T/ssl|g; s|exec /usr|exec sh $T/certs/usr|g" >ca.sh
run sh ca.sh
need_status 0
touch ssl/ca-certificates.crt.new
run sh ca.sh
need_status 0
no_file ssl/ca-certificates.crt.new
printf 'ran with: \nran with: --fresh\n' >want
if cmp -s want ran; then ok 'anew behind a killed run alone'; else fail "$(cat ran)"; fi

# made by what the release has, or brought by it; the program of a trigger is that which makes, not that which starts it
touch desk/usr/share/mime/mime.cache desk/usr/share/glib-2.0/schemas/gschemas.compiled
rm desk/usr/bin/mandb
build desk.dray --to desk --triggers debian
need_status 0
lists desk.dray udev-hwdb initramfs-6.1.0-9-amd64 grub info gio-modules-x86_64-linux-gnu
# none without being asked; the same by a recipe, whose own triggers stand first and replace one of the same name
build no.dray --to new
need_status 0
lists no.dray
echo '{ "recipe": 1, "trigger_sets": ["debian"], "triggers": [ {"id": "systemd", "argv": ["/bin/x"], "paths": ["usr/lib"]},
    {"id": "mine", "argv": ["/bin/y"], "paths": ["usr"], "after": ["systemd"]} ] }' >r.json
build recipe.dray --to new --recipe r.json
need_status 0
lists recipe.dray systemd mine depmod-6.1.0-9-amd64 initramfs-6.1.0-9-amd64
want_text '  trigger    systemd: /bin/x' out

# FreeBSD: by itself where the release is a server's
if is_root; then
	fbsd_trees in
	b=in/14.0-RELEASE/p1/world/base
	mkdir -p "$b/usr/sbin" "$b/usr/share/certs/trusted" "$b/usr/share/man" "$b/usr/bin"
	echo prog >"$b/usr/sbin/kldxref"
	echo prog >"$b/usr/sbin/certctl"
	echo prog >"$b/usr/sbin/services_mkdb"
	echo prog >"$b/usr/sbin/service"
	echo prog >"$b/usr/sbin/sshd"
	echo prog >"$b/usr/bin/makewhatis"
	echo cert >"$b/usr/share/certs/trusted/a.pem"
	fbsd_site in site >/dev/null || exit 1
	set -- --from freebsd-update:13.2-RELEASE/amd64 --to freebsd-update:14.0-RELEASE/amd64 --server "file://$T/site" \
	    --keyprint "$KEYPRINT" --fetched store
	build fbsd.dray "$@"
	need_status 0
	lists fbsd.dray kldxref certctl services_mkdb makewhatis sshd
	want_text '  trigger    kldxref: /usr/sbin/kldxref -R /boot' out
	want_text '  trigger    certctl: /usr/sbin/certctl rehash' out
	want_text '  trigger    services_mkdb: /usr/sbin/services_mkdb -q -o /var/db/services.db /etc/services' out
	build fbsd.dray "$@" --components kernel
	need_status 0
	lists fbsd.dray kldxref
	build fbsd.dray "$@" --triggers none
	need_status 0
	lists fbsd.dray
fi

build no2.dray --to new --triggers openbsd
want_status 2
want_text 'there is no set of triggers "openbsd": debian, freebsd, none'
build no2.dray --to new --triggers none --triggers debian
want_status 2
want_text '"none" and other sets of triggers exclude each other'
echo '{ "recipe": 1, "trigger_sets": ["x"] }' >r.json
build no2.dray --to new --recipe r.json
want_status 2
want_text 'r.json:1:33: trigger_sets[0]: there is no set of triggers "x"'
no_file no2.dray
