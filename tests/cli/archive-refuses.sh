#!/bin/sh
# archives that are damaged, of another kind or hostile: the member's name, what is wrong with it, exit code, no output
. "$(dirname "$0")/lib.sh"

mkdir old
echo old >old/a
echo keep >keep && cp keep up.dray

# member NAME TYPE LINK [DATA] [MODE] - one member of a ustar archive on standard output
member() {
	perl -e '
		my ($name, $type, $link, $data, $mode) = @ARGV;
		my $h = pack("a100 a8 a8 a8 a12 a12 A8 a1 a100 a6 a2 x32 x32 a8 a8 x155 x12", $name, $mode || "0000644", "0000000",
		    "0000000", sprintf("%011o", length $data), "00000000000", "", $type, $link, "ustar", "00", "0000000",
		    "0000000");
		substr($h, 148, 8) = sprintf("%06o\0 ", unpack("%32C*", $h));
		print $h, $data, "\0" x (-length($data) % 512)' -- "$1" "$2" "$3" "${4:-}" "${5:-}"
}
finish() {
	head -c 1024 /dev/zero
}
refused() {	# refused STATUS TEXT SOURCE
	run "$DRAY" build --from old --to "$3" --product demo --version 1 --counter 1 --level fast -o up.dray
	want_status "$1"
	want_text "cannot build up.dray: $2"
	want_same keep up.dray
	no_leftover .
}
hostile() {	# hostile TEXT, the archive on standard input
	cat >bad.tar
	refused 31 "bad.tar: $1" bad.tar
}

# names that lead out
{ member ../evil 0 '' x; finish; } | hostile '../evil: this name will not do: it has a part "." or ".."'
{ member a/../../evil 0 '' x; finish; } | hostile 'a/../../evil: this name will not do: it has a part'
{ member /.. 5 '' ''; finish; } | hostile '/..: this name will not do'
{ member a 0 '' x; member b 1 ../../etc/shadow; finish; } |
    hostile 'b: the target of this hard link will not do: it has a part "." or ".."'
{ member . 0 '' x; finish; } | hostile '.: the root of the tree, but no directory'
{ member . 2 /etc; finish; } | hostile '.: the root of the tree, but no directory'

# members beneath what is no directory, in both orders
{ member d 2 /etc; member d/passwd 0 '' x; finish; } | hostile 'd/passwd: it lies beneath d, which is a symlink'
{ member d/passwd 0 '' x; member d 2 /etc; finish; } | hostile 'd/passwd: it lies beneath d, which is a symlink'
{ member d 0 '' x; member d/e/f 0 '' x; finish; } | hostile 'd/e: it lies beneath d, which is a file'
{ member d 6 ''; member d/x 0 '' x; finish; } | hostile 'd/x: it lies beneath d, which is a special file'
{ member "$(printf 'a\nb\033[31m')" 2 /; member "$(printf 'a\nb\033[31m/x')" 0 '' x; finish; } |
    hostile 'a\x0ab\x1b[31m/x: it lies beneath a\x0ab\x1b[31m, which is a symlink'

# hard links
{ member a 1 b; finish; } | hostile 'a: a hard link to b, which is not there'
{ member a 1 a; finish; } | hostile 'a: a hard link to itself'
{ member a 1 b; member b 1 a; finish; } | hostile 'a: a hard link to b, in a circle of links'
{ member d 5 ''; member a 1 d; finish; } | hostile 'a: a hard link to a directory'
{ member a 1 d; member d 5 ''; finish; } | hostile 'a: a hard link to d, which is a directory'
{ member a 1 .; finish; } | hostile 'a: a hard link to a directory'
{ member d 2 /etc; member a 1 d/passwd; finish; } | hostile 'a: a hard link to d/passwd, which is not there'
{ member l 2 ''; finish; } | hostile 'l: the target of this symlink is not 1 to 4095 bytes long'

# numbers that do not fit: never the nearest one that does
pax() {	# pax KEY=VALUE - an extended header
	perl -e '
		my $x = $ARGV[0];
		my $n = length($x) + 2;
		$n = length("$n$x") + 2 for 1 .. 3;
		print "$n $x\n"' -- "$1" >record
	member pax x '' "$(cat record)
"
}
for t in 9223372036854775808 99999999999999999999 -9223372036854775808 -99999999999999999999.5; do
	{ pax mtime=$t; member a 0 '' x; finish; } | hostile 'a: its modification time is no number of 64 bits'
done
for k in devmajor devminor; do
	{ pax SCHILY.$k=4294967296; member a 3 ''; finish; } | hostile 'a: its device number is not two numbers of 32 bits'
	{ pax SCHILY.$k=-1; member a 4 ''; finish; } | hostile 'a: its device number is not two numbers of 32 bits'
done
for k in uid gid; do
	for n in 4294967295 99999999999999999999 -1; do
		{ pax $k=$n; member a 0 '' x; finish; } | hostile 'a: its owner is no number of 32 bits'
	done
done
for t in 9223372036854775806.999999999 -9223372036854775806 4294967296; do
	{ pax mtime=$t; member a 0 '' x; finish; } >far.tar
	run "$DRAY" build --to far.tar --product demo --version 1 --counter 1 --level fast -o far.dray
	want_status 0
	run "$DRAY" list -l --json far.dray
	want_text "\"mtime\":${t%.*}," out
done

# what cannot be anything else is not refused: slashes in front and doubled ones, "." in the middle
{ member /./a//./b/ 5 '' '' 0000755; member //a/./b/f 0 '' x; finish; } >odd.tar
run "$DRAY" build --to odd.tar --product demo --version 1 --counter 1 --level fast -o odd.dray
want_status 0
want_text 'warning: odd.tar: a: a directory that the archive lacks: taken as mode 0755 of root'
run "$DRAY" list odd.dray
want_text '+ a/b/f' out

# the same name under two layers: named with its archive
{ member d 5 '' '' 0000755; member d/x 0 '' x; finish; } >one.tar
{ member d 2 /tmp; finish; } >two.tar
refused 31 'one.tar: d/x: it lies beneath d, which is a symlink' archive:one.tar,two.tar

# cut short, at each place where a reader might take it for whole
mkdir new
i=0
while [ $i -lt 5 ]; do
	seq 1 400 >new/f$i
	i=$((i + 1))
done
tar --format=posix -cf whole.tar -C new .
end=$(($(wc -c <whole.tar) / 512))
i=1
while [ $i -lt $end ]; do
	head -c $((i * 512)) whole.tar >cut.tar
	"$DRAY" build --from old --to cut.tar --product demo --version 1 --counter 1 --level 1 -o up.dray >out 2>err </dev/null
	case $?:$(cat err) in
	0:*) [ -n "${whole:-}" ] || whole=$i ;;
	31:*"cannot build up.dray: cut.tar: "*"the archive is "*) ;;
	*) fail "cut after $i blocks: $(cat err)" ;;
	esac
	i=$((i + 1))
done
# the first length that will do ends with one block of zeros behind the last member
tail=$(tail -c +$((whole * 512 - 511)) whole.tar | tr -d '\0' | wc -c)
[ "$tail" = 0 ] && [ "$(head -c $((whole * 512 - 512)) whole.tar | tail -c 512 | tr -d '\0' | wc -c)" != 0 ] ||
    fail "a tar of $whole blocks passes for whole"
ok "a tar is whole from block $whole of $end on"
cp keep up.dray
for filter in gzip xz zstd bzip2; do
	tar --format=posix --$filter -cf whole.$filter -C new .
	head -c $(($(wc -c <whole.$filter) - 20)) whole.$filter >cut.$filter
	refused 31 "cut.$filter: " cut.$filter
	want_text 'the archive is damaged or cut short: '
done
perl -e 'local $/; open F, "<", "whole.xz"; $_ = <F>; substr($_, 300, 1) ^= "\x10"; print' >flip.xz
refused 31 'flip.xz: ' flip.xz
perl -e 'local $/; open F, "<", "whole.tar"; $_ = <F>; substr($_, 512 * 3 + 10, 1) ^= "\x10"; print' >flip.tar
refused 31 'flip.tar: the archive is damaged or cut short: ' flip.tar

# no archive at all
: >zero
refused 31 'zero: the archive is empty: not even one byte' zero
echo text >text
refused 2 'text: no archive of a kind that is read here' text
want_text 'hint: read are tar, cpio, zip and .deb, plain or compressed by gzip, xz, zstd or bzip2'
head -c 20000 /dev/urandom | gzip >random.gz
refused 2 'random.gz: no archive of a kind' random.gz
printf '#mtree\n./a type=file mode=0644 contents=/etc/passwd\n' >evil.mtree
refused 2 'evil.mtree: no archive of a kind' evil.mtree
ar rcs lib.a text 2>/dev/null && refused 2 'lib.a: an ar archive that is no Debian package' lib.a
finish >nothing.tar
refused 2 'nothing.tar: there is nothing in it' nothing.tar
# a disk image begins with zeros as an empty tar does
{ head -c 32768 /dev/zero; printf '\001CD001\001'; head -c 4096 /dev/zero; } >disk.iso
refused 2 'disk.iso: no archive of a kind that is read here' disk.iso
refused 2 'disk.iso: no archive of a kind that is read here' archive:whole.tar,disk.iso
mkdir empty
refused 2 'empty: there is nothing in it: the bundle would remove all it knows' empty
want_text 'hint: give --allow-empty if that is what you want'
refused 2 'none.tar: no such directory or archive' none.tar
refused 2 'archive:none.tar: no such file' archive:none.tar
refused 2 'archive:old: not a regular file' archive:old
refused 2 'archive:whole.tar,none.tar: none.tar: no such file' archive:whole.tar,none.tar
refused 2 'archive:: the path is empty' archive:
refused 2 'archive:whole.tar,: : the path is empty' archive:whole.tar,
refused 2 'zip:x: unknown kind of source' zip:x
mkfifo pipe
refused 2 'pipe: neither a directory nor a regular file' pipe
if ! is_root; then
	cp whole.tar secret.tar && chmod 000 secret.tar
	refused 1 'secret.tar: cannot be read: permission denied' secret.tar
fi

# a bundle is a tar, but its members are no tree that anybody means
run "$DRAY" build --to new --product demo --version 1 --counter 1 --level 1 -o a.dray
need_status 0
gzip -k a.dray
for f in a.dray a.dray.gz; do
	refused 2 "$f: a bundle, where a tree or an archive of one is wanted" $f
	want_text 'hint: write out what is in it with dray extract, and give that folder'
	run "$DRAY" build --from $f --to new --product demo --version 1 --counter 1 -o b.dray
	want_status 2
	want_text "$f: a bundle, where a tree"
	no_file b.dray
done

# the output would take the place of a source
cp whole.tar source.tar
run "$DRAY" build --to source.tar --product demo --version 1 --counter 1 -o ./source.tar
want_status 2
want_text 'the output would replace the source source.tar'
want_same source.tar whole.tar

# room for the contents
run "$DRAY" build --to whole.tar --product demo --version 1 --counter 1 --tmpdir nowhere -o up.dray
want_status 1
want_text 'temporary file in nowhere: cannot be opened: no such file or directory'
want_same keep up.dray

# types that are not packed, and those of a hard link to no file
{ member s 2 there; member t 1 s; finish; } >link.tar
run "$DRAY" build --to link.tar --product demo --version 1 --counter 1 --level fast -o link.dray
want_status 0
want_text 'warning: link.tar: t: a hard link to something that is no file: packed as an object of its own'
no_leftover .
