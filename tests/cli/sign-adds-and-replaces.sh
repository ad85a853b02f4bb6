#!/bin/sh
# dray sign adds, resign replaces; only the slot changes; thresholds, revoked and bound keys refuse with their own words
. "$(dirname "$0")/lib.sh"

must() {	# must TEXT CMD... - TEXT holds when CMD succeeds
	what=$1
	shift
	if "$@"; then ok "$what"; else fail "not so: $what"; fi
}

for k in a b c; do key $k; done
mkdir old new
echo one >old/f
echo two >new/f
build() {	# build FILE ARG...
	file=$1
	shift
	run "$DRAY" build --from dir:old --to dir:new --product demo --version 2 --counter 2 -o "$file" "$@"
	need_status 0
}
pem() {
	sed ':x; N; $!bx; s/\n/\\n/g' "$1.pub"
}
refuses() {	# refuses STATUS TEXT ARG...
	s=$1 t=$2
	shift 2
	run "$INSTALL" verify up.dray "$@"
	want_status "$s"
	want_text "$t" err
}

build up.dray
cp up.dray unsigned.dray
refuses 30 'the bundle is not signed' --keyring a.pub
run "$DRAY" sign up.dray --key a.key
want_status 0
want_text '1 signature added, it has 1 now' out
run "$INSTALL" verify up.dray --keyring a.pub
want_status 0
refuses 30 'no signature by a key of the keyring' --keyring b.pub

# the same bytes as a bundle signed by build: signing is part of "same inputs, same bytes"
build signed.dray --key a.key
want_same up.dray signed.dray

# only the slot changes
first=$(cmp -l up.dray unsigned.dray | awk 'NR == 1 { print $1 }')
last=$(cmp -l up.dray unsigned.dray | awk '{ last = $1 } END { print last }')
begin=$(grep -abo DRAYSIG1 up.dray | head -n 1 | cut -d: -f1)
must "of bytes $first to $last none is before the slot" [ "$first" -gt "$begin" ]
must "of bytes $first to $last none is behind the slot" [ "$last" -le $((begin + 8192)) ]

# again by the same key: said, and nothing is written
cp up.dray before.dray
run "$DRAY" sign up.dray --key a.key
want_status 0
want_text 'signed already by 1 of these keys' out
want_same up.dray before.dray

cat >two.json <<END
{"dray_keyring":1,"keys":[{"name":"a","pem":"$(pem a)"},{"name":"b","pem":"$(pem b)"}],"threshold":2}
END
refuses 30 '1 of 2 needed signatures' --keyring two.json
run "$DRAY" sign up.dray --key a.key --key b.key --json
want_status 0
want_text '"added":1,"already":1' out
run "$INSTALL" verify up.dray --keyring two.json
want_status 0

run "$DRAY" resign up.dray --key c.key
want_status 0
want_text 'it has 1 now' out
refuses 30 'no signature by a key of the keyring' --keyring two.json
run "$INSTALL" verify up.dray --keyring c.pub
want_status 0
run "$DRAY" resign up.dray
want_status 2
want_text 'name at least one --key' err

cat >revoked.json <<END
{"dray_keyring":1,"keys":[{"name":"c","pem":"$(pem c)","revoked":"stolen in 2026"},{"name":"a","pem":"$(pem a)"}],"threshold":1}
END
refuses 30 'a key that is revoked: stolen in 2026' --keyring revoked.json
cat >bound.json <<END
{"dray_keyring":1,"keys":[{"name":"c","pem":"$(pem c)","products":["other"]}],"threshold":1}
END
refuses 30 'a key that does not count for the product demo' --keyring bound.json
refuses 30 'one document or bare keys, not a mix of both' --keyring bound.json --keyring c.pub
refuses 30 'this is a private key' --keyring c.key
refuses 30 'the same public key stands twice' --keyring c.pub --keyring c.pub

# a signature of another bundle moved over, and one with a flipped bit
cp up.dray good.dray
printf '\001' | dd of=up.dray bs=1 seek=$((begin + 8191)) conv=notrunc 2>/dev/null
refuses 30 'bytes after the last record are not zero' --keyring c.pub
cp good.dray up.dray
text=$(od -An -tu1 -j$((begin + 8)) -N2 up.dray | awk '{ print $1 + 256 * $2 }')
byte=$(od -An -tu1 -j$((begin + 16 + text + 40)) -N1 up.dray)
printf %b "\\0$(printf %03o $((byte ^ 1)))" | dd of=up.dray bs=1 seek=$((begin + 16 + text + 40)) conv=notrunc 2>/dev/null
refuses 30 'is wrong: it or the signed text was changed' --keyring c.pub

# nobody signs a bundle whose head is damaged
cp good.dray up.dray
printf X | dd of=up.dray bs=1 seek=600 conv=notrunc 2>/dev/null
cp up.dray before.dray
run "$DRAY" sign up.dray --key a.key
want_status 31
want_text 'dray.json does not have the hash in the signed text' err
want_same up.dray before.dray
run "$DRAY" sign up.dray --key c.pub
want_status 30
want_text 'this is a public key; signing needs the private one' err
run "$DRAY" sign up.dray
want_status 2
want_text 'say one of --key, --request, --make, --add' err
