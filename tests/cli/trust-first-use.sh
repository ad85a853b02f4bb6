#!/bin/sh
# the first key of a system: only with the fingerprint that came another way, only where none is trusted yet; then bundles
# verify without being told a keyring
. "$(dirname "$0")/lib.sh"

is_root || skip 'needs root, for a system of its own (chroot)'
[ -z "${SAN:-}" ] || skip 'needs the static program'
mkdir -p old new jail/etc
echo one >old/a && echo two >new/a
key && key other
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --key ops.key -o up.dray
need_status 0
cp "$INSTALL" up.dray ops.pub other.pub ops.key jail
in_jail() {
	run chroot jail /dray-install "$@"
}
print=$("$DRAY" key show ops.pub | grep -oE '([0-9a-f]{4} ){7}[0-9a-f]{4}' | head -n 1)
whole=$("$DRAY" key show ops.pub --json | grep -oE '[0-9a-f]{64}')
[ -n "$print" ] && [ -n "$whole" ] && ok 'a fingerprint' || fail 'no fingerprint'

in_jail verify up.dray
want_status 2
want_text 'no keyring: neither --keyring nor /etc/dray/keyring.json' err
in_jail trust show
want_status 30
want_text 'no key is trusted here' err

tree_snapshot jail >before
refused() {	# refused STATUS TEXT
	want_status "$1"
	want_text "$2" err
	want_unchanged jail before
}
in_jail trust init ops.pub
refused 2 'no fingerprint'
in_jail trust init other.pub --fingerprint "$print"
refused 30 'cannot trust other.pub: it is another key: its fingerprint is '
in_jail trust init ops.pub --fingerprint "${print% *}"
refused 2 'a fingerprint has 8 groups of 4'
in_jail trust init ops.pub --fingerprint "${print%?}g"
refused 2 'a fingerprint has 8 groups of 4'
in_jail trust init ops.key --fingerprint "$print"
refused 30 'private key'
in_jail trust init up.dray --fingerprint "$print"
refused 30 ''
in_jail trust init nothing --fingerprint "$print"
refused 2 'no such file'
cat ops.pub other.pub >jail/two.pub
tree_snapshot jail >before
in_jail trust init two.pub --fingerprint "$print"
refused 2 'holds more than one bare public key'

# as it is read out: any case, any way of grouping
in_jail trust init ops.pub --fingerprint "$(echo "$print" | tr 'a-f ' 'A-F:')"
want_status 0
want_text '/etc/dray/keyring.d/ops.pub: trusted from now on' out
want_text "fingerprint $print" out
want_same jail/etc/dray/keyring.d/ops.pub ops.pub
in_jail trust show
want_status 0
want_text '/etc/dray/keyring.d: 1 of these 1 must sign' out
want_text "$print  ops" out
in_jail trust show --json
want_text "\"sha256\":\"$whole\"" out
in_jail verify up.dray
want_status 0

# not a second time; an empty folder is no trust
tree_snapshot jail >before
in_jail trust init other.pub --fingerprint "$("$DRAY" key show other.pub | grep -oE '([0-9a-f]{4} ){7}[0-9a-f]{4}' | head -n 1)"
refused 22 'this system has its keys already, in /etc/dray/keyring.d'
rm jail/etc/dray/keyring.d/ops.pub
in_jail trust init ops.pub --fingerprint "$whole" --json
want_status 0
want_text "\"sha256\":\"$whole\"" out
in_jail verify up.dray
want_status 0

# where others may write, nothing becomes trusted; what is no keyring is not said to hold keys
rm -rf jail/etc/dray && mkdir jail/etc/dray
for bad in 'chmod 775' 'chmod 757' 'chown 1000'; do
	chmod 755 jail/etc/dray && chown 0 jail/etc/dray && $bad jail/etc/dray
	tree_snapshot jail/etc/dray >before
	in_jail trust init ops.pub --fingerprint "$print"
	want_status 22
	want_text '/etc/dray belongs to uid ' err
	want_text 'others could change whom this system trusts' err
	want_unchanged jail/etc/dray before
done
chmod 755 jail/etc/dray && chown 0 jail/etc/dray && mkdir jail/etc/dray/keyring.d && touch jail/etc/dray/keyring.d/README
tree_snapshot jail >before
in_jail trust init ops.pub --fingerprint "$print"
refused 22 '/etc/dray/keyring.d is there, and no keyring can be made of it: '
want_text 'no file NAME.pub in this folder' err
rm -rf jail/etc/dray
ran='trust init with umask 077'
(umask 077 && chroot jail /dray-install trust init ops.pub --fingerprint "$print") >out 2>err
ended $? "$ran"
want_status 0
[ "$(stat -c %a jail/etc/dray jail/etc/dray/keyring.d jail/etc/dray/keyring.d/ops.pub | tr '\n' ' ')" = '755 755 644 ' ] &&
    ok 'all may read it' || fail "modes: $(stat -c %a jail/etc/dray/keyring.d/*)"
