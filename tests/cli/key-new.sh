#!/bin/sh
# dray key new and show: modes, never over an old key, fingerprints as openssl has them, passphrases from files only
. "$(dirname "$0")/lib.sh"

must() {	# must TEXT CMD... - TEXT holds when CMD succeeds
	what=$1
	shift
	if "$@"; then ok "$what"; else fail "not so: $what"; fi
}

umask 0
run "$DRAY" key new ops
need_status 0
want_text 'next: dray build' out
must 'ops.key is private whatever the umask' [ "$(stat -c %a ops.key)" = 600 ]
must 'ops.pub is readable' [ "$(stat -c %a ops.pub)" = 644 ]
umask 022

sum=$(openssl pkey -pubin -in ops.pub -outform DER | sha256sum | cut -d' ' -f1)
first=$(printf %.32s "$sum" | sed 's/..../& /g; s/ $//')
want_text "fingerprint  $first" out
for f in ops.pub ops.key; do
	run "$DRAY" key show $f
	want_status 0
	want_text "fingerprint  $first" out
	want_text "sha256       $sum" out
done
run "$DRAY" key show ops.pub --json
want_status 0
want_text "\"sha256\":\"$sum\"" out
want_text '"private":false' out

# both halves belong together, says openssl
openssl pkey -in ops.key -pubout -out derived.pub 2>/dev/null
want_same ops.pub derived.pub

cp ops.key before.key
run "$DRAY" key new ops
want_status 2
want_text 'ops.key exists already' err
want_text 'hint: a key is never overwritten: choose another name' err
want_same ops.key before.key
rm ops.key
run "$DRAY" key new ops
want_status 2
want_text 'ops.pub exists already' err
no_file ops.key
run "$DRAY" key new no/such/folder
want_status 1
want_text 'cannot make a key: no/such/folder.key: cannot be created: no such file or directory' err

printf 'correct horse\nsecond line\n' >pass
run "$DRAY" key new sealed --passphrase-file pass
want_status 0
must 'sealed.key is encrypted' grep -q 'BEGIN ENCRYPTED PRIVATE KEY' sealed.key
must 'openssl opens it' openssl pkey -in sealed.key -passin 'pass:correct horse' -pubout -out opened.pub
want_same opened.pub sealed.pub
run "$DRAY" key show sealed.key
want_status 30
want_text 'the key is encrypted and no passphrase was given' err
want_text '--passphrase-file' err
echo wrong >wrong
run "$DRAY" key show sealed.key --passphrase-file wrong
want_status 30
want_text 'the passphrase does not open this key' err
run "$DRAY" key show sealed.key --passphrase-file pass
want_status 0
: >empty
run "$DRAY" key new other --passphrase-file empty
want_status 2
want_text 'the first line of the passphrase file empty is empty' err
no_file other.key
no_file other.pub

echo junk >junk
run "$DRAY" key show junk
want_status 30
want_text 'neither a keyring document nor a PEM public key' err

# the sheet: the fingerprint in groups that are read out, and what to type; only of a public key
print=$("$DRAY" key show ops.pub | sed -n 's/^fingerprint *//p')
hex=$("$DRAY" key show ops.pub | sed -n 's/^sha256 *//p')
run "$DRAY" key show ops.pub --sheet
want_status 0
want_text "fingerprint  $print" out
want_text "fingerprint \"$print\"" out
[ "$(sed -n '/numbered/,/^on a/p' out | grep -oE ' [0-9a-f]{4}( |$)' | tr -d ' \n')" = "$hex" ] && ok 'all groups' || fail 'groups'
awk 'length > 76 { exit 1 }' out && ok 'narrow' || fail 'too wide'
run "$DRAY" key show sealed.key --sheet --passphrase-file pass
want_status 2
want_text 'sealed.key is a private key' err
