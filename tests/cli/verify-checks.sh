#!/bin/sh
# verify: each signer by name, every byte; 30 for trust, 31 for damage, and it says what it checked
. "$(dirname "$0")/lib.sh"

mkdir old new
seq 1 5000 >old/a
seq 1 6000 >new/a
head -c 20000 /dev/urandom >new/noise
key
key second
key stranger
run "$DRAY" build --from old --to new --product demo --version 1 --counter 1 --level fast --key ops.key -o up.dray
want_status 0
want_text 'signed     by 1 key' out
want_text 'next: dray-install plan up.dray --root DIR --keyring ops.pub' out

run "$DRAY" verify up.dray --keyring ops.pub
want_status 0
want_text 'up.dray: demo 1, counter 1: verified' out
want_text 'signature  ops: good' out
want_text 'trust      1 good of 1 needed' out
want_text 'all checked; 2 of 3 frames unpacked' out
want_text 'and compared, the others build on a base' out
run "$DRAY" verify up.dray --keyring ops.pub -q
want_status 0
[ ! -s out ] && [ ! -s err ] || fail "-q has words: $(cat out err)"
run "$DRAY" build --to new --product demo --version 1 --counter 1 --level fast --key ops.key -o whole.dray
want_status 0
run "$DRAY" verify whole.dray --keyring ops.pub
want_status 0
want_text 'all checked, every content unpacked and compared' out
run "$DRAY" verify up.dray --keyring ops.pub --json
want_status 0
want_text '"verified":true' out
run "$DRAY" verify up.dray
want_status 2
want_text 'hint: say whom you trust: --keyring ops.pub'
run "$DRAY" verify up.dray --keyring stranger.pub
want_status 30
want_text 'cannot verify up.dray: '
run "$DRAY" verify up.dray --keyring none.pub
want_status 1
want_text 'keyring none.pub: cannot be opened: no such file'

run "$DRAY" sign up.dray --key second.key
run "$DRAY" verify up.dray --keyring ops.pub
want_status 0
want_text 'signature  ops: good' out
want_text 'unknown' out
run "$DRAY" verify up.dray --keyring ops.pub --keyring second.pub
want_status 0
want_text 'signature  second: good' out

run "$DRAY" build --from old --to new --product demo --version 1 --counter 1 --level fast -o bare.dray
run "$DRAY" verify bare.dray --keyring ops.pub
want_status 30

size=$(wc -c <up.dray)
flip() {	# flip OFFSET - one bit of the copy bad.dray
	cp up.dray bad.dray
	byte=$(dd if=up.dray bs=1 skip="$1" count=1 2>/dev/null | od -An -tu1 | tr -d ' ')
	# shellcheck disable=SC2059 # the format is made here
	printf "$(printf '\\%03o' $((byte ^ 1)))" | dd of=bad.dray bs=1 seek="$1" conv=notrunc 2>/dev/null
	run "$DRAY" verify bad.dray --keyring ops.pub
}
offset() {	# offset MEMBER - of its data
	tar tvRf up.dray | awk -v m="$1" '$NF == m { sub(/:/, "", $2); print ($2 + 1) * 512 }'
}
flip "$(offset README.txt)"
want_status 31
want_text 'README.txt'
flip "$(offset index/00)"
want_status 31
flip "$(($(offset index/01) + 10))"
want_status 31
flip "$(($(offset blocks/000000) + 100))"
want_status 31
want_text 'needed for a: its bytes do not have the hash in the index'
flip $((size - 1))
want_status 31
flip "$(offset dray.json)"
want_status 31
head -c $((size - 1)) up.dray >bad.dray
run "$DRAY" verify bad.dray --keyring ops.pub
want_status 31
cp up.dray bad.dray && printf x >>bad.dray
run "$DRAY" verify bad.dray --keyring ops.pub
want_status 31
