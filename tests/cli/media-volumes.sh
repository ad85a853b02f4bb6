#!/bin/sh
# a bundle in volumes: cut, looked at, installed from them in any order and place, joined again; what is missing, cut short,
# damaged or of another bundle is named, and nothing is touched
. "$(dirname "$0")/lib.sh"

mkdir -p old/etc old/var/lib new/etc new/var/lib s1 s2 s3
for i in 1 2 3 4 5 6 7 8; do
	seq "$i" 900 | sed "s/\$/ $i/" >old/etc/$i
	head -c 9000 /dev/urandom >new/etc/$i
done
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0

# cut: equal but for the last, by number and count in the name
run "$DRAY" split up.dray --size 16k -d s1
want_status 0
want_text 's1/up.part1of6: ' out
want_text 'next: dray-install verify s1/up.part1of6 --keyring ops.pub' out
[ "$(cd s1 && echo *)" = 'up.part1of6 up.part2of6 up.part3of6 up.part4of6 up.part5of6 up.part6of6' ] && ok 'six volumes' ||
    fail "s1 holds $(ls s1)"
[ "$(find s1 -name 'up.part[1-5]of6' -size 16384c | wc -l)" = 5 ] && ok 'of one size' || fail "sizes: $(wc -c s1/*)"
{ for i in 1 2 3 4 5 6; do tail -c +513 s1/up.part${i}of6; done; } >again
want_same again up.dray

# all commands take a folder, or any volume, with the rest in other folders, under any names
for what in s1 s1/up.part1of6 s1/up.part4of6; do
	run "$INSTALL" verify $what --keyring ops.pub
	want_status 0
	want_text 'demo 1.1, counter 2: verified' out
done
run "$DRAY" info s1/up.part6of6 --keyring ops.pub
want_status 0
mv s1/up.part2of6 s2/some-name
mv s1/up.part6of6 s3/other.dray
echo notes >s2/readme.txt
echo sidecar >s1/._up.part2of6
cp s2/some-name s2/copy-of-it
run "$INSTALL" list s1 -d s2 -d s3
want_status 0
run "$DRAY" extract s3/other.dray -d s2 -d s1 -C out-tree --keyring ops.pub
want_status 0
want_same out-tree/etc/3 new/etc/3
cp -a old root
run "$INSTALL" plan s3 -d s1 -d s2 --root root --keyring ops.pub
want_status 0
want_text '--dir s1 --dir s2' out
run "$INSTALL" apply s3 -d s1 -d s2 --root root --keyring ops.pub
want_status 0
same_tree root new
run "$INSTALL" check s3 -d s1 -d s2 --root root --keyring ops.pub
want_status 0
run "$INSTALL" rollback --root root
want_status 0

# joined: the same bytes
run "$DRAY" join s2/some-name -d s1 -d s3 -o joined.dray
want_status 0
want_same joined.dray up.dray
run "$DRAY" join up.dray -o no.dray
want_status 2
want_text 'is one file already: nothing to join' err

# where only a whole bundle will do, that is told
for c in 'copy s1/up.part1of6 s2' 'split s1/up.part1of6 --size 1k -d s2' 'sign s1/up.part1of6 --key ops.key'; do
	# shellcheck disable=SC2086
	run "$DRAY" $c
	want_status 31
	want_text 'a volume of a bundle, not a whole one' err
	want_text 'dray join makes one file of its volumes' err
done

# not in the place of one of them
cp s1/up.part1of6 keep1
run "$DRAY" join s1 -d s2 -d s3 -o s1/../s1/up.part1of6
want_status 2
want_text 'the file to write is one of its volumes' err
want_same s1/up.part1of6 keep1

# missing, by number; the plan touches nothing
rm -rf root && cp -a old root
tree_snapshot root >before
refused() {	# refused STATUS TEXT... - the last run, and the tree is untouched
	want_status "$1"
	shift
	for text; do want_text "$text" err; done
	want_unchanged root before
}
run "$INSTALL" plan s1 --root root --keyring ops.pub
refused 31 'volume 2, 6 of 6 of bundle' 'is not here' 'name the folder where it is: --dir DIR'
run "$INSTALL" apply s1 -d s2 --root root --keyring ops.pub
refused 31 'volume 6 of 6 of bundle'
run "$INSTALL" verify s1 --keyring ops.pub
refused 31 'volume 2, 6 of 6 of bundle'
want_text 'volume 1 of 6: s1/up.part1of6: as it was cut' out
want_text 'volume 5 of 6: s1/up.part5of6: as it was cut' out
run "$INSTALL" verify s3 --keyring ops.pub
refused 31 'volume 1-5 of 6 of bundle'

# one that is cut short; one with a flipped bit
cp s2/some-name keep
head -c 9000 keep >s2/some-name && rm s2/copy-of-it
run "$INSTALL" plan s1 -d s2 -d s3 --root root --keyring ops.pub
refused 31 'volume 2 of 6 of bundle' 's2/some-name has 9000 of 16384 bytes: copy it again'
cp keep s2/some-name
printf 'X' | dd of=s2/some-name bs=1 seek=5000 conv=notrunc 2>/dev/null
run "$INSTALL" verify s2 --keyring ops.pub
refused 31 's2/some-name is damaged' 'copy it again'
run "$INSTALL" verify s1 -d s2 -d s3 --keyring ops.pub
refused 31 's2/some-name is damaged' 'copy it again'
want_text 'volume 1 of 6: s1/up.part1of6: as it was cut' out
cp keep s2/some-name

# one that may not be read is told with the number that is missed
if is_root; then
	chmod 0 s2/some-name
	run as_nobody "$INSTALL" verify s1 -d s2 -d s3 --keyring ops.pub
	refused 31 'volume 2 of 6 of bundle' 's2/some-name cannot be opened: permission denied'
	chmod 644 s2/some-name
fi

# more volumes than files may be open by the usual limit: it is raised where it may be, and told where it may not
mkdir many
run "$DRAY" split up.dray --size 1024 -d many -q
want_status 0
run sh -c 'ulimit -Sn 64 && exec "$@"' sh "$INSTALL" verify many --keyring ops.pub
want_status 0
run sh -c 'ulimit -n 64 && exec "$@"' sh "$INSTALL" verify many --keyring ops.pub
want_status 1
want_text 'too many open files' err
want_text 'raise the limit of open files (ulimit -n)' err

# a header that cannot be is no volume: its number is missed
cp keep s2/some-name && printf '\377' | dd of=s2/some-name bs=1 seek=20 conv=notrunc 2>/dev/null
run "$INSTALL" plan s1 -d s2 -d s3 --root root --keyring ops.pub
refused 31 'volume 2 of 6 of bundle'
run "$INSTALL" plan s2/some-name --root root --keyring ops.pub
refused 31 'a volume whose first bytes are damaged'
cp keep s2/some-name

# a range that is not its own: the signed bundle finds it out, whatever the headers say
cp s1/up.part3of6 keep3
{ head -c 512 keep3; tail -c +513 s1/up.part4of6; } >s1/up.part3of6
run "$INSTALL" apply s1 -d s2 -d s3 --root root --keyring ops.pub
want_status 31
want_text 'is damaged (its hash differs)' err
same_tree root old	# it had begun: the attempt is on record
tree_snapshot root >before
cp keep3 s1/up.part3of6

# of another bundle, and of another splitting of this one
run "$DRAY" build --from new --to old --product demo --version 1.2 --counter 3 --key ops.key -o next.dray
need_status 0
run "$DRAY" split next.dray --size 8k
want_status 0
cp next.part2of* s2/some-name
run "$INSTALL" plan s1/up.part1of6 -d s2 -d s3 --root root --keyring ops.pub
refused 31 'volume 2 of 6 of bundle' 's2/some-name is of another bundle'
run "$INSTALL" plan s1 -d s2 -d s3 --root root --keyring ops.pub
refused 2 'holds two different bundles: ' 's2/some-name' 'name the one that you mean'
mkdir cut2
run "$DRAY" split up.dray --size 20k -d cut2
want_status 0
cp cut2/up.part2of* s2/some-name
run "$INSTALL" plan s1 -d s2 -d s3 --root root --keyring ops.pub
refused 31 'volume 2 of 6 of bundle' 's2/some-name is of another splitting of it'
# both whole: either will do
cp keep s2/some-name
run "$INSTALL" verify cut2 -d s1 -d s2 -d s3 --keyring ops.pub
want_status 0

# folders: identical copies are one, hidden files and other things do not count, two bundles are refused
mkdir stick
run "$INSTALL" verify stick --keyring ops.pub
refused 2 'no bundle or volume of one is in it'
cp up.dray stick/a.dray && cp up.dray stick/b.dray && cp next.dray stick/._a.dray && ln -s ../next.dray stick/link.dray
run "$INSTALL" verify stick --keyring ops.pub
want_status 0
cp next.dray stick/c.dray
run "$INSTALL" verify stick --keyring ops.pub
refused 2 'holds two different bundles: stick/' 'stick/c.dray'

# splitting again: what is there is told, and --replace takes its place
run "$DRAY" split up.dray --size 24k -d cut2
want_status 2
want_text 'cut2/up.part' err
want_text 'is there already, and more of them' err
run "$DRAY" split up.dray --size 24k -d cut2 --replace
want_status 0
[ "$(cd cut2 && echo *)" = 'up.part1of4 up.part2of4 up.part3of4 up.part4of4' ] && ok 'four volumes' || fail "cut2: $(ls cut2)"
# one folder by several names is one: what was just written there is not what an earlier splitting left
ln -s cut2 cut2-link
for again in '24k -d cut2 -d ./cut2 -d cut2-link' '20k -d cut2 -d cut2'; do
	# shellcheck disable=SC2086
	run "$DRAY" split up.dray --size $again --replace
	want_status 0
	no_text ' -d ' out
	run "$INSTALL" verify cut2 --keyring ops.pub
	want_status 0
done
for bad in '--size 1G:fits as it is: nothing to split' '--size 100:--size takes fat32, dvd or a number of bytes from 1024 on' \
    ':say how large a volume may be: --size fat32' '--size 1024 -d nowhere:folder nowhere: no such file or directory'; do
	# shellcheck disable=SC2086
	run "$DRAY" split up.dray ${bad%%:*} --replace
	want_status "$([ "${bad#*nowhere}" = "$bad" ] && echo 2 || echo 1)"
	want_text "${bad#*:}" err
done

# a stick that is pulled while it is read: 33 with the volume; another copy of the same goes on
command -v strace >/dev/null || exit 0
rm -rf root && cp -a old root
run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -P "$T/s1/up.part5of6" -e trace=pread64 \
    -e inject=pread64:error=EIO:when=2+ "$INSTALL" apply s1 -d s2 -d s3 --root root --keyring ops.pub
want_status 33
want_text 'the medium stopped answering at byte' err
want_text 'in s1/up.part5of6' err
same_tree root old
mkdir other
run "$DRAY" split up.dray --size 9k -d other
run "$INSTALL" apply other --root root --keyring ops.pub
want_status 0
same_tree root new
