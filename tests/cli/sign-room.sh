#!/bin/sh
# the signing room: a request of some hundred bytes travels there, a signature file back; each mix-up is refused
. "$(dirname "$0")/lib.sh"

must() {	# must TEXT CMD... - TEXT holds when CMD succeeds
	what=$1
	shift
	if "$@"; then ok "$what"; else fail "not so: $what"; fi
}

key a
mkdir old new
echo one >old/f
echo two >new/f
for v in 2 3; do
	echo $v >new/g
	run "$DRAY" build --from dir:old --to dir:new --product demo --version $v --counter $v -o up$v.dray
	need_status 0
done

run "$DRAY" sign up2.dray --request -o up.req
want_status 0
want_text 'product      demo' out
want_text 'version      2' out
want_text 'next: dray sign --make up.req' out
must 'the request is short' [ "$(wc -c <up.req)" -lt 512 ]
must 'it is text' [ "$(head -n 1 up.req)" = dray-bundle-v1 ]

# what cannot be written is named, not the bundle
mkdir folder
run "$DRAY" sign up2.dray --request -o folder
want_status 2
want_text 'dray: cannot sign up2.dray: folder: is a folder; give the name of a file'
run "$DRAY" sign up2.dray --request -o none/up.req
want_status 1
want_text 'dray: cannot sign up2.dray: none/up.req: the folder cannot be opened: no such file or directory'
run "$DRAY" sign up2.dray --request -o -
want_status 2
want_text 'dray: cannot sign up2.dray: -: it cannot go to standard output: it must have a name'
want_text 'hint: a file of the name "-" is written ./-'
no_file ./-

run "$DRAY" sign --make up.req --key a.key -o up.sig
want_status 0
want_text 'counter      2' out
want_text "size         $(wc -c <up2.dray) bytes" out
want_text 'signed by    ' out

cp up2.dray before.dray
run "$DRAY" sign up3.dray --add up.sig
want_status 30
want_text 'the signature is for another bundle: demo 2' err
run "$DRAY" sign up2.dray --add up.sig
want_status 0
want_text '1 signature added, it has 1 now' out
run "$INSTALL" verify up2.dray --keyring a.pub
want_status 0
run "$DRAY" sign up2.dray --add up.sig
want_status 0
want_text 'signed already by 1' out

# the same bytes as one that was signed here
run "$DRAY" sign before.dray --key a.key
want_status 0
want_same before.dray up2.dray

# a changed signature, a changed key, other files
sed 's/"signature":"\(..\)/"signature":"ff/; s/"signature":"ffff/"signature":"00ff/' up.sig >bad.sig
cp up3.dray before.dray
run "$DRAY" sign up2.dray --add bad.sig
want_status 30
want_text 'the signature is wrong: it or the text was changed' err
run "$DRAY" sign up2.dray --add up.req
want_status 31
want_text 'signature file' err
sed 's/counter=2/counter=9/' up.req >forged.req
run "$DRAY" sign --make forged.req --key a.key -o forged.sig
want_status 0
want_text 'counter      9' out
run "$DRAY" sign up2.dray --add forged.sig
want_status 30
want_text 'the signature is for another bundle: demo 2' err
printf 'please sign\n' >odd.req
run "$DRAY" sign --make odd.req --key a.key -o odd.sig
want_status 30
want_text 'odd.req: the signed text is not one of a dray bundle' err
no_file odd.sig
want_same before.dray up3.dray

run "$DRAY" sign --make up.req -o x.sig
want_status 2
want_text '--make takes exactly one --key' err
run "$DRAY" sign up2.dray --request
want_status 2
want_text 'say where to write with -o FILE' err
run "$DRAY" sign up2.dray --key a.key --add up.sig
want_status 2
want_text 'say one of' err
no_leftover .
