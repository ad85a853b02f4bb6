#!/bin/sh
# --level best: LZMA where it gains, told; smaller than the default; the same bytes whatever threads and cache; applies, goes back,
# extracts; a bound on what applying costs takes zstd again; a recipe may ask for it; other levels have none of it
. "$(dirname "$0")/lib.sh"
key

# bytes of which each depends on the one before: what programs are like, as far as LZMA is better at them
cat >program.pl <<'END'
my ($x, $n, $each) = @ARGV;
my $b = 0;
binmode STDOUT;
print "\177ELF\2\1\1" . "\0" x 9 . "\3\0\76\0" . "\0" x 44;
for my $i (1 .. $n) {
	$x = ($x * 1103515245 + 12345) % 2147483648;
	$b = ((($b >> 5) + 1) * 37 + ($x >> 16) % 6 + ($each && $i % $each == 0 ? 1 : 0)) & 255;
	print chr $b;
}
END
mkdir -p old/bin old/var/lib new/bin new/var/lib
perl program.pl 1 200000 0 >old/bin/changed
perl program.pl 1 200000 9 >new/bin/changed
perl program.pl 7 100000 0 >new/bin/added
seq 1 20000 >old/text
seq 1 20100 >new/text

set -- --from old --to new --product demo --version 1.1 --counter 2 --key ops.key
run "$DRAY" build "$@" --no-cache -o plain.dray --json
need_status 0
want_text '"lzma":{"bytes":0,"frames":0,"stored":0}' out
run "$DRAY" info plain.dray --json
want_text '"lzma":{"bytes":0,"frames":0}' out
run "$DRAY" build "$@" --level best --cache frames -o best.dray
need_status 0
want_text '  by LZMA    3 of these frames, ' out
run "$DRAY" info best.dray --json
no_text '"lzma":{"bytes":0,' out
want_text ',"frames":3},"members"' out
want_text '"encoders":{"lzma":"lzma-' out
tar -xOf best.dray dray.json >dray.json
want_text '"required":["delta","lzma"]' dray.json
less=$(wc -c <best.dray) more=$(wc -c <plain.dray)
if [ $((less * 100)) -lt $((more * 95)) ]; then ok "$less of $more bytes"; else fail "$less of $more bytes"; fi
for way in '-j1 --no-cache' '-j3 --no-cache' '--cache frames'; do
	# shellcheck disable=SC2086
	run "$DRAY" build "$@" --level best $way -o again.dray
	need_status 0
	want_same best.dray again.dray
done
printf '{"recipe":1,"from":["old"],"to":"new","product":"demo","version":"1.1","counter":2,"level":"best"}' >recipe.json
run "$DRAY" build --recipe recipe.json --key ops.key --cache frames -o again.dray
need_status 0
want_same best.dray again.dray

run "$DRAY" verify best.dray --keyring ops.pub
want_status 0
cp -a old root
run "$INSTALL" apply best.dray --root root --keyring ops.pub
want_status 0
same_tree new root
run "$INSTALL" check --root root
want_status 0
run "$INSTALL" rollback --root root
want_status 0
same_tree old root
run "$DRAY" extract best.dray --keyring ops.pub -C x
want_status 0
run diff -r new x
want_status 0

# a bound: the least that can be met is below what LZMA takes
run "$DRAY" build "$@" --level best --no-cache --apply-cpu 0.001 -o none.dray
want_status 2
no_file none.dray
least=$(sed -n 's/.*applying takes \([0-9.]*\) s at least.*/\1/p' err)
run "$DRAY" build "$@" --level best --no-cache --apply-cpu "$least" -o cheap.dray --json
need_status 0
want_text '"cheaper":{"bound_ms":' out
# what is left is the full copy that no unmodified machine reads
want_text '"lzma":{"bytes":109494,"frames":1,' out
