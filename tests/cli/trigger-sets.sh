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
want_text '  trigger    ldconfig: /sbin/ldconfig' out
want_text '  trigger    depmod-6.1.0-9-amd64: /sbin/depmod -a 6.1.0-9-amd64' out
want_text '  trigger    initramfs-6.1.0-9-amd64: /usr/sbin/update-initramfs -c -k 6.1.0-9-amd64' out
run "$DRAY" info deb.dray --json
want_text '"after":["depmod-6.1.0-9-amd64"]' out
want_text '"on_failure":"fail","outputs":["boot/initrd.img-6.1.0-9-amd64"]' out
touch new/etc/ld.so.cache
rm new/usr/bin/mandb
build deb.dray --to new --triggers debian
need_status 0
lists deb.dray depmod-6.1.0-9-amd64 initramfs-6.1.0-9-amd64 systemd
# what only a base had counts too
mkdir -p base/usr/local/lib
echo lib >base/usr/local/lib/liblocal.so.1
rm new/etc/ld.so.cache new/usr/lib/x/libfoo.so.1
build deb.dray --to new --triggers debian
lists deb.dray depmod-6.1.0-9-amd64 initramfs-6.1.0-9-amd64 systemd
build deb.dray --from base --to new --triggers debian
lists deb.dray ldconfig depmod-6.1.0-9-amd64 initramfs-6.1.0-9-amd64 systemd
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
	echo prog >"$b/usr/bin/makewhatis"
	echo cert >"$b/usr/share/certs/trusted/a.pem"
	fbsd_site in site >/dev/null || exit 1
	set -- --from freebsd-update:13.2-RELEASE/amd64 --to freebsd-update:14.0-RELEASE/amd64 --server "file://$T/site" \
	    --keyprint "$KEYPRINT" --fetched store
	build fbsd.dray "$@"
	need_status 0
	lists fbsd.dray kldxref certctl services_mkdb makewhatis
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
