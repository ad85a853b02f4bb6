#!/bin/sh
# archives cut at many places and with single bits flipped: 31 with the name of the archive, and never another bundle
. "$(dirname "$0")/lib.sh"

command -v bsdtar >/dev/null || skip "no bsdtar here"
mkdir -p new/d pkg/DEBIAN
head -c 1500 /dev/urandom >new/noise
seq 1 400 >new/d/text
touch -d '2001-02-03 04:05:06' new/noise new/d/text new/d
tar --format=posix --numeric-owner -C new -cf whole.tar .
bsdtar --format=newc -C new -cf whole.cpio .
bsdtar --format=odc -C new -cf whole.odc .
bsdtar --format=zip -C new -cf whole.zip .
gzip -nk whole.tar
xz -k whole.tar
zstd -qk whole.tar
bsdtar --bzip2 -cf whole.tar.bz2 @whole.tar
gzip -nk whole.cpio
kinds='whole.tar whole.cpio whole.odc whole.zip whole.tar.gz whole.tar.xz whole.tar.zst whole.tar.bz2 whole.cpio.gz'
if command -v dpkg-deb >/dev/null; then
	printf 'Package: demo\nVersion: 1\nArchitecture: all\nMaintainer: x <x@example.org>\nDescription: x\n' >pkg/DEBIAN/control
	cp -a new/noise new/d pkg
	for z in none gzip xz; do
		dpkg-deb -Z$z --root-owner-group -b pkg $z.deb >/dev/null
		kinds="$kinds $z.deb"
	done
fi

# build FILE - status in $status; quick, for there are many
build() {
	rm -f up.dray
	ran="build of $1"
	"$DRAY" build --to "$1" --product demo --version 1 --counter 1 --level 1 --no-cache -j1 -q -o up.dray >out 2>err </dev/null
	status=$?
}

# cut KIND LENGTH
cut_at() {
	head -c "$2" "$1" >"cut.${1#*.}"
	build "cut.${1#*.}"
	case $status:$(head -n 1 err) in
	31:*"cannot build up.dray: cut.${1#*.}: "*"the archive is "*) ;;
	*)
		fail "$1 cut after $2 bytes: status $status"
		show
		;;
	esac
	[ ! -e up.dray ] || fail "$1 cut after $2 bytes: a bundle was made"
}

for kind in $kinds; do
	build $kind
	need_status 0
	cp up.dray "good.$kind"
	end=$(($(wc -c <$kind)))
	last='1 4 8 9 20'
	case $kind in
	*.tar | none.deb)	# the zeros at the end may be fewer
		[ $kind = none.deb ] || end=$(perl -0777 -ne 's/\0+$//; print length' $kind)
		first=300
		last='1 20 700'
		;;
	*.cpio | *.odc) end=$(perl -0777 -ne 's/\0+$//; print length' $kind) first=6 ;;
	*.zip) first=4 ;;
	*) first=8 ;;
	esac
	[ $kind != none.deb ] || last='1100 5000'
	for n in $first $((first + 3)) 400 $((end / 4)) $((end / 2)) $((end * 3 / 4)); do
		cut_at $kind "$n"
	done
	for n in $last; do
		cut_at $kind $((end - n))
	done
	ok "$kind cut short"
done
for kind in whole.tar.gz whole.tar.xz whole.tar.zst whole.tar.bz2 gzip.deb; do
	[ -e $kind ] || continue
	: >"cut.${kind#*.}"
	build "cut.${kind#*.}"
	want_status 31
	want_text 'the archive is empty: not even one byte'
done

# flip FILE FROM LENGTH COUNT - one bit at so many places of a stretch, each in a file of its own: flipNN.FILE; the
# first four are the last bytes of the stretch, where checksums are
flip() {
	perl -e '
		my ($name, $from, $len, $n) = @ARGV;
		local $/;
		open F, "<", $name or die;
		my $whole = <F>;
		for my $i (0 .. $n - 1) {
			my $x = $whole;
			substr($x, $from + ($i < 4 ? $len - 1 - 2 * $i : int($i * $len / $n)), 1) ^= chr(1 << $i % 8);
			open G, ">", sprintf("flip%02d.%s", $i, $name) or die;
			print G $x;
			close G;
		}' "$@"
}

# judge FILE MIN - each is refused, but for bits that say nothing: then the bundle is the same
judge() {
	refused=0
	for f in flip??."$1"; do
		build "$f"
		case $status in
		31) refused=$((refused + 1)) ;;
		0) cmp -s up.dray "good.$1" || fail "$f: another bundle" ;;
		*)
			fail "$f: status $status"
			show
			;;
		esac
		rm "$f"
	done
	if [ $refused -ge "$2" ]; then ok "$refused flips in $1 found"; else fail "only $refused flips in $1 found"; fi
}

# where a format has no checksum there is nothing to find: plain tar and cpio, names and times of a zip, headers of a package
for kind in whole.tar.gz whole.tar.xz whole.tar.zst whole.tar.bz2 whole.cpio.gz; do
	flip $kind 0 "$(wc -c <$kind)" 16
	judge $kind 14
done
at=$(perl -0777 -e 'open F, "<", "new/noise"; open G, "<", "whole.zip"; print index(<G>, substr(<F>, 0, 64))')
flip whole.zip "$at" 1500 8
judge whole.zip 8

# a flip may leave nothing of the beginning that looks like an archive, and the checksum that tells comes much later
head -c 1000000 /dev/urandom | gzip >noise.gz
perl -e 'open F, "+<", "noise.gz" or die; seek F, -8, 2; print F "\0\1\2\3"'
head -c 400000 /dev/urandom | bzip2 >noise.bz2
perl -e 'open F, "+<", "noise.bz2" or die; seek F, 10, 0; print F "\0\1\2\3"'
for f in noise.gz noise.bz2; do
	build $f
	want_status 31
	want_text "cannot build up.dray: $f: the archive is damaged"
done

# gzip files put together are one, as gzip has it; zeros that fill up a block do no harm, anything else is told
head -c 3000 whole.tar | gzip >two.tar.gz
tail -c +3001 whole.tar | gzip >>two.tar.gz
head -c 700 /dev/zero >>two.tar.gz
build two.tar.gz
want_status 0
want_same up.dray good.whole.tar.gz
for z in gz xz zst bz2; do
	{ cat whole.tar.$z; echo more; } >more.tar.$z
	build more.tar.$z
	want_status 31
	want_text "cannot build up.dray: more.tar.$z: "
	want_text 'the archive is damaged'
done
build more.tar.gz
want_text 'more.tar.gz: the archive is damaged: what follows its gzip data is none'
# within the unpacked archive as well
cat whole.tar whole.tar | gzip >twice.gz
for f in twice.gz "$(cat whole.tar whole.tar >twice.tar; echo twice.tar)"; do
	build "$f"
	want_status 31
	want_text "$f: the archive is damaged: more follows behind its end"
	want_text 'hint: two archives put together are given as archive:ONE,OTHER'
done
gzip -nc whole.tar | xz -c | zstd -qc >onion
build onion
want_status 0
want_same up.dray good.whole.tar
cp whole.tar much && for i in 1 2 3 4 5; do gzip much && mv much.gz much; done
build much
want_status 31
want_text 'much: the archive is packed more than 4 times over'

# disk images are no archives, packed or not, whatever they begin with
truncate -s 2M zeros.img
truncate -s 2M ext4.img && mkfs.ext4 -q ext4.img 2>/dev/null
{ printf '\353\074\220mkfs.fat'; head -c 2000000 /dev/zero; printf 'FAT'; } >fat.img
{ head -c 4096 /dev/zero; printf x; } >short.img
for f in zeros ext4 fat short; do
	gzip -k $f.img
	xz -k $f.img
	for z in '' .gz .xz; do
		build $f.img$z
		want_status 2
		want_text "cannot build up.dray: $f.img$z: no archive of a kind that is read here"
		ran="base $f.img$z"
		"$DRAY" build --from $f.img$z --to new --product demo --version 1 --counter 1 -o up.dray >out 2>err </dev/null
		status=$?
		want_status 2
		want_text "$f.img$z: no archive of a kind that is read here"
	done
done
want_text 'hint: it begins with zeros: of a disk image, mount it and give the directory'
# ... and a large one is not read to its end
truncate -s 200G large.img
run sh -c 'ulimit -t 10 && exec "$@"' sh "$DRAY" build --to large.img --product demo --version 1 --counter 1 -o up.dray
want_status 2
want_text 'large.img: no archive of a kind that is read here'
# a tar of nothing is one
head -c 10240 /dev/zero | gzip >empty.tar.gz
ran='an empty base'
"$DRAY" build --from empty.tar.gz --to new --product demo --version 1 --counter 1 -o up.dray >out 2>err </dev/null
status=$?
want_status 0
no_leftover .
