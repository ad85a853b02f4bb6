#!/bin/sh
# extract: each kind of frame and recipe gives the bytes back, from whichever base has what it builds on; a base that
# fails on the way is told; list --why and info tell what came from where
. "$(dirname "$0")/lib.sh"

mkdir -p r1/lib r2/lib r3/lib
# text that changes in places; a program in which everything moves; one over the frame limit; a moved file
seq 1 30000 >r1/text
sed 's/77/moved/' r1/text >r2/text
sed 's/999/x/' r2/text >r3/text
prog=$(command -v perl || command -v sh)
cp "$prog" r1/lib/prog
{ head -c 20000 "$prog" && head -c 1000 /dev/zero && tail -c +20001 "$prog"; } >r2/lib/prog
{ head -c 30000 r2/lib/prog && head -c 333 /dev/zero && tail -c +30001 r2/lib/prog; } >r3/lib/prog
for r in 1 2 3; do
	awk -v r=$r 'BEGIN { x = 5; for (i = 0; i < 400000; i++) { x = (x * 1103515245 + 12345) % 2147483648
		print x, i % 1000 == r ? "changed" : "same" } }' >r$r/large
	chmod 755 r$r/lib/prog
done
seq 7 9000 >r1/old-name
cp r1/old-name r3/new-name
seq 7 9000 >r2/old-name
echo small >r3/small
key
set -- --from dir:r1 --from-version 1:1 --from dir:r2 --from-version 2:2 --to dir:r3 --product demo --version 3 \
    --counter 3 --level 3 --no-cache --key ops.key
run "$DRAY" build "$@" --slim -o slim.dray
need_status 0
run "$DRAY" build "$@" -o full.dray
need_status 0

for base in r1 r2; do
	run "$DRAY" extract slim.dray -C x --base $base --keyring ops.pub --json
	need_status 0
	want_text '"made_from":{"copy":1,"delta":3,"full":1}' out
	touch -r r3 x
	same_tree r3 x
	rm -rf x
done
run "$DRAY" extract full.dray -C x --keyring ops.pub --json
need_status 0
want_text '"made_from":{"copy":0,"delta":0,"full":5}' out
touch -r r3 x
same_tree r3 x
# nothing but a part of what a base had
mkdir part
cp -p r2/large part/under-another-name
run "$DRAY" extract slim.dray large small -C y --base part --keyring ops.pub
want_status 0
want_same y/large r3/large
run "$DRAY" extract slim.dray -C none --base part
want_status 20
want_text '3 files cannot be made; the first is: lib/prog: '
no_file none
# two parts of one base, and the rest from another
mkdir half
cp -p r1/text r1/old-name half
mkdir other
cp -p r2/lib/prog other
run "$DRAY" extract slim.dray -C z --base part --base half --base other --keyring ops.pub
want_status 0
touch -r r3 z
run "$DRAY" diff slim.dray z
want_status 0

run "$DRAY" list slim.dray --why text --why new-name --why lib/prog --why small --why old-name
want_status 0
cat >want <<-END
	~ text
	> new-name moved from old-name
	~ lib/prog
	+ small
	- old-name moved to new-name
END
grep '^[^ ]' out >got
want_same want got
want_text '    in base 1' out
want_text '    in base 2' out
want_text '    from    old-name (1, 2), 43.9 kB read' out
want_text "$(stat -c %s r1/text | awk '{ printf "    from    text (1), %.1f kB read", $1 / 1000 }')" out
want_text '  copy       costs nothing: a base has these bytes' out
want_text ', x86 filter' out
want_text '  no bytes   the release has removed it' out
awk '/^[^ ]/ { p = $2 } / full / { full[p] = 1 } / delta / { delta[p]++ } END {
	exit !(full["small"] && !full["text"] && delta["text"] >= 1 && delta["lib/prog"] >= 1) }' out ||
    fail "--why does not tell the recipes: $(cat out)"
run "$DRAY" list full.dray --why text --json
want_status 0
want_text '"kind":"delta"' out
want_text '"kind":"full"' out
want_text "\"from\":[{\"path\":\"text\",\"paths\":[{\"bases\":[\"1\"],\"path\":\"text\"}],\"reads\":$(stat -c %s r1/text)," out
want_text '"change":"content","path":"text"' out
run "$DRAY" list full.dray --why nowhere --why text
want_status 2
want_text 'cannot list full.dray: --why nowhere: the bundle has no such path'
run "$INSTALL" list full.dray --why small -q
want_status 0
want_text '  full       ' out

run "$DRAY" info full.dray
want_status 0
want_text '  bytes      full ' out
want_text ' copies cost nothing' out
want_text ' from 1:' out
want_text ' from 2:' out
run "$DRAY" info full.dray --json
if perl -MJSON::PP -e 1 2>/dev/null; then
	perl -MJSON::PP -0777 -ne '
		my $d = decode_json($_);
		my ($r, $k) = @$d{qw(recipes frame_kinds)};
		my $all = $r->{full}{bytes} + $r->{delta}{bytes};
		my $kinds = 0;
		$kinds += $_->{bytes} for values %$k;
		die "sums\n" unless $all == $d->{frames_bytes} && $kinds == $all && $all + $d->{metadata_bytes} == $d->{bytes};
		die "recipes\n" unless $r->{full}{contents} == 5 && $r->{copy}{contents} == 1 && $r->{delta}{contents} == 3;
		for (@{$d->{bases}}) {
			die "base\n" unless $_->{copies} == 1 && $_->{deltas} == 3 && $_->{fulls} == 1;
			die "reads\n" unless $_->{reads_bytes} > 0 && $_->{reads_bytes} < $r->{full}{bytes} / 2;
		}' out || fail "the sums of info do not fit: $(cat out)"
fi

# a base that cannot be read any more at the moment of use (third read: the first two made its hash)
if strace -o /dev/null true 2>/dev/null && [ -z "${SAN:-}" ]; then
	run strace -f -qq -o trace -P "$T/half/text" -e trace=pread64 -e inject=pread64:error=EIO:when=3+ \
	    "$DRAY" extract slim.dray text -C eio --base half
	want_status 24
	want_text 'cannot extract slim.dray: text: what a base gave for it does not have the signed hash'
	want_text 'hint: a base changed while it was read: use one that is at rest'
	no_file eio
fi
