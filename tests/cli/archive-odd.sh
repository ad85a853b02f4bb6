#!/bin/sh
# members that few archives have: sparse ones in every format, marks of container layers, many levels, contents that are
# longer than told, damaged headers
. "$(dirname "$0")/lib.sh"

build() {
	rm -f "$o"
	run "$DRAY" build --product demo --version 1 --counter 1 --level 1 --no-cache -o "$o" "$@"
}

# a sparse file is the same file however it is written down
mkdir sparse
truncate -s 20M sparse/f
printf begin | dd of=sparse/f conv=notrunc 2>/dev/null
printf middle | dd of=sparse/f bs=1 seek=10000001 conv=notrunc 2>/dev/null
printf end | dd of=sparse/f bs=1 seek=20971517 conv=notrunc 2>/dev/null
touch -d '2001-02-03 04:05:06' sparse/f
o=want.dray
build --to sparse
need_status 0
o=got.dray
for v in 0.0 0.1 1.0 old; do
	case $v in
	old) tar --format=gnu -S --numeric-owner -cf s.tar -C sparse . ;;
	*) tar --format=posix -S --sparse-version=$v --numeric-owner -cf s.tar -C sparse . ;;
	esac
	[ "$(wc -c <s.tar)" -lt 100000 ] || fail "sparse $v: the archive is not sparse"
	build --to s.tar
	want_status 0
	want_same want.dray got.dray
done

# member NAME DATA [KEY=VALUE]... - one file of a tar with an extended header, and the end
member() {
	perl -e '
		sub head {
			my ($name, $type, $data) = @_;
			my $h = pack("a100 a8 a8 a8 a12 a12 A8 a1 a100 a6 a2 x32 x32 a8 a8 x155 x12", $name, "0000644", "0000000",
			    "0000000", sprintf("%011o", length $data), "00000000000", "", $type, "", "ustar", "00", "0000000",
			    "0000000");
			substr($h, 148, 8) = sprintf("%06o\0 ", unpack("%32C*", $h));
			return $h . $data . "\0" x (-length($data) % 512);
		}
		my ($name, $data, @pairs) = @ARGV;
		my $x = "";
		for my $p (@pairs) {
			my $n = length($p) + 2;
			$n = length("$n$p") + 2 for 1 .. 3;
			$x .= "$n $p\n";
		}
		print head("x", "x", $x), head($name, 0, $data), "\0" x 1024' -- "$@"
}
refused() {
	cat >bad.tar
	build --to bad.tar
	want_status 31
	want_text "cannot build got.dray: bad.tar: $1"
	no_file got.dray
}
member f abcdef GNU.sparse.size=10 GNU.sparse.numblocks=2 GNU.sparse.map=0,3,20,3 GNU.sparse.name=a |
    refused 'a: the archive is damaged: the contents are longer than told'
member f abcdef GNU.sparse.size=100 GNU.sparse.numblocks=2 GNU.sparse.map=20,3,0,3 GNU.sparse.name=a |
    refused 'a: the archive is damaged: its contents overlap'
member f abcdef GNU.sparse.major=2 GNU.sparse.minor=0 GNU.sparse.name=a |
    refused 'the archive is damaged or cut short: Unrecognized GNU sparse file format'
member f abc GNU.sparse.major=1 GNU.sparse.minor=0 GNU.sparse.name=a GNU.sparse.realsize=10 |
    refused 'the archive is damaged or cut short: '
member f abc a=b | sed 's/6 a=b/9 a=b/' | refused 'the archive is damaged or cut short: malformed pax extended attribute'

# a zip: encrypted, packed by a method that nobody knows, with a device, which has no number there
mkdir zip && echo x >zip/f && touch -d '2001-02-03 04:05:06' zip/f
bsdtar --format=zip -cf plain.zip -C zip f
perl -e '
	local $/;
	open F, "<", "plain.zip" or die;
	my $plain = <F>;
	my $central = index($plain, "PK\1\2");
	sub change {	# NAME, then places and bytes
		my ($name, @what) = @_;
		my $z = $plain;
		while (my ($at, $bytes) = splice(@what, 0, 2)) {
			substr($z, $at, length $bytes) = $bytes;
		}
		open G, ">", $name or die;
		print G $z;
		close G;
	}
	change("locked.zip", 6, "\011", $central + 8, "\011");
	change("method.zip", 8, "c", $central + 10, "c");
	change("dev.zip", $central + 38, pack("V", 0020666 << 16))'
o=got.dray
for t in 'locked.zip: f: it is encrypted' 'method.zip: f: it is written in a way that is not read here: Unsupported ZIP'; do
	build --to "${t%%:*}"
	want_status 31
	want_text "cannot build got.dray: $t"
	no_file got.dray
done
build --to dev.zip --allow-empty
want_status 0
want_text 'warning: dev.zip: f: an object of unknown type: not packed'

# whoever gives a layer of an image as a tree means something else
mkdir -p layer/d
echo x >layer/.wh.gone
echo x >layer/d/.wh..wh..opq
echo x >layer/d/x.wh.y
is_root && mknod layer/d/dev c 0 0
tar --format=posix --numeric-owner -cf layer.tar -C layer .
for s in layer layer.tar; do
	build --to $s
	want_status 0
	why='as layers of container images mark what they remove: packed as it stands, nothing is removed'
	want_text "warning: $s: .wh.gone: $why"
	want_text "warning: $s: d/.wh..wh..opq: $why"
	no_text x.wh.y
	if is_root; then want_text "warning: $s: d/dev: $why"; fi
done

# paths of 4,000 bytes and 2,000 levels take their time, but no more than that: each rule looks at them once
perl -e '
	my $p = "a/" x 1990;
	for my $i (1 .. 150) {
		my $r = " path=$p$i\n";
		$r = (length($r) + 4) . $r;
		for (["x", $r], ["0", ""]) {
			my ($type, $data) = @$_;
			my $h = pack("a100 a8 a8 a8 a12 a12 A8 a1 a100 a6 a2 x32 x32 a8 a8 x155 x12", "f", "0000644", "0000000",
			    "0000000", sprintf("%011o", length $data), "00000000000", "", $type, "", "ustar", "00", "0000000",
			    "0000000");
			substr($h, 148, 8) = sprintf("%06o\0 ", unpack("%32C*", $h));
			print $h, $data, "\0" x (-length($data) % 512);
		}
	}
	print "\0" x 1024' >deep.tar
run sh -c 'ulimit -t 20 && exec "$@"' sh "$DRAY" build --to deep.tar --product demo --version 1 --counter 1 --level 1 \
    --no-cache --path-set debian --config '**/never' --ignore '**/no/such' -o got.dray
want_status 0
want_text ' 2140 added,' out

# few open files: enough for a build, and told when there are not enough
mkdir many many/d
i=0
while [ $i -lt 100 ]; do
	echo $i >many/$i
	echo $i >many/d/$i
	i=$((i + 1))
done
o=want.dray
build --to many --from sparse
need_status 0
run sh -c 'ulimit -n 32 && exec "$@"' sh "$DRAY" build --to many --from sparse --product demo --version 1 --counter 1 \
    --level 1 --no-cache -j8 -o got.dray
want_status 0
want_same want.dray got.dray
if [ -z "${SAN:-}" ]; then
	run sh -c 'ulimit -n 7 && exec "$@"' sh "$DRAY" build --to many --product demo --version 1 --counter 1 -o no.dray
	want_status 1
	want_text 'cannot build no.dray: many: '
	want_text 'too many open files'
	want_text 'hint: raise the limit of open files (ulimit -n), or take fewer threads (-j)'
	no_file no.dray
fi
no_leftover .
