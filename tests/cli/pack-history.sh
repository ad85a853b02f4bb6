#!/bin/sh
# former states: one base from several trees. It installs on each tree and on any mix of them, path by path, and goes back
# exactly; slim too. A local edit is met as with exact bases. The order of --history does not show; slips are told
. "$(dirname "$0")/lib.sh"
key

for d in a b new; do
	mkdir -p $d/bin $d/lib $d/etc $d/var/lib $d/links $d/type
	i=0
	while [ $i -lt 8 ]; do	# a and b differ in all of these, and new from both
		seq -f "$i %.0f" 2000 | sed "s/ 15../ of $d/" >$d/bin/f$i
		seq -f "$i %.0f" 200 | sed "s/ 17./ of $d/" >$d/bin/small$i
		i=$((i + 1))
	done
	i=0
	while [ $i -lt 6 ]; do	# a and b agree
		{ seq -f "$i %.0f" 300 && [ $d != new ] || echo new; } >$d/lib/steady$i
		i=$((i + 1))
	done
	seq 1 3 30000 | sed "s/77/$d/" >$d/etc/conf
	echo same >$d/etc/same
done
cp -p "$(command -v sh)" a/bin/prog
{ cat a/bin/prog && echo b; } >b/bin/prog
{ head -c 20000 a/bin/prog && echo new && tail -c +20001 a/bin/prog; } >new/bin/prog
chmod 755 ./*/bin/prog
# there in one of them alone, in the release and not
seq 5 9000 >a/only-a && seq 5 9001 >new/only-a
seq 7 9000 >b/only-b && seq 7 9001 >new/only-b
seq 9 9000 >a/gone-a
seq 11 9000 >b/gone-b
# under another name: in both, and in one of them
for d in a b; do seq 13 20000 | sed "s/99/$d/" >$d/lib/x.so.1; done
seq 13 20000 | sed 's/99/new/' >new/lib/x.so.2
cp a/only-a new/copy-of-only-a
# attributes, types, hard links
for d in a b new; do echo mode >$d/mode; done
chmod 600 a/mode
chmod 640 b/mode
echo file >a/type/x && ln -s target b/type/x && mkdir new/type/x && echo in >new/type/x/in
ln -s one a/type/y && ln -s two b/type/y && echo file >new/type/y
seq 100 >a/links/1 && ln a/links/1 a/links/2 && seq 100 >a/links/3
seq 100 >b/links/1 && seq 100 >b/links/2 && ln b/links/2 b/links/3
seq 101 >new/links/1 && ln new/links/1 new/links/2 && ln new/links/1 new/links/3
# whose parts have nothing in common
head -c 30000 /dev/urandom >a/noise && head -c 30000 /dev/urandom >b/noise && head -c 30000 /dev/urandom >new/noise
touch -d 2020-01-01 a b new

set -- --to new --product demo --version 3 --counter 9 --level 3 --no-cache --config 'etc/**' --key ops.key
run "$DRAY" build --history a --history dir:b "$@" -j1 -o complete.dray
need_status 0
want_text '  from       history, each path as in: a' out
want_text '  from       history, each path as in: dir:b' out
want_text ' from history' out
run "$DRAY" build --history dir:b --history a "$@" -j4 --json -o other.dray
need_status 0
want_same complete.dray other.dray
want_text '"kind":"history","reads":' out
want_text '"sources":[{"source":"dir:b"},{"source":"a"}],"version":"history"}]' out
tar --format=posix --numeric-owner -cf a.tar -C a .
echo '{"recipe":1,"history":["a.tar","b"]}' >recipe.json
run "$DRAY" build --recipe recipe.json "$@" -o other.dray
need_status 0
want_same complete.dray other.dray
run "$DRAY" build --recipe recipe.json "$@" --slim -o slim.dray
need_status 0
run "$DRAY" diff -a slim.dray complete.dray
want_text 'mode: slim | complete' out
run "$DRAY" info slim.dray
want_text '  from       history (former states: a machine may mix them)' out
want_text '  reads      at most ' out
run "$DRAY" info slim.dray --json
want_text '"kind":"history"' out
"$DRAY" list slim.dray --why bin/f0 >out 2>err
if [ "$(grep -c '    from    bin/f0 (history), ' out)" = 2 ] && ! grep -q '  full' out; then ok "a way from each state"
else fail "not a way from each state: $(cat out)"; fi

# slim: full copies where a state leads nowhere, and of config files
for f in bin/f3 bin/small3 bin/prog lib/steady2 lib/x.so.2 links/2 only-a only-b noise type/x/in type/y copy-of-only-a etc/conf; do
	"$DRAY" list slim.dray --why $f -q 2>err | grep -q '  full ' && echo $f
done >full
printf '%s\n' only-a only-b noise type/x/in type/y copy-of-only-a etc/conf >want
want_same want full

# mix FROM OTHER MODULUS REST - root is FROM, but every MODULUS-th name with the remainder REST is as in OTHER
mix() {
	rm -rf root
	cp -a "$1" root
	(cd "$1" && find . -mindepth 1 ! -type d && cd "../$2" && find . -mindepth 1 ! -type d) | sort -u |
	    awk -v m="$3" -v r="$4" 'NR % m == r' >names
	while read -r f; do
		rm -f "root/$f"
		[ ! -e "$2/$f" ] && [ ! -L "$2/$f" ] || cp -a "$2/$f" "root/$f"
	done <names
	touch -d 2020-01-01 root
}
for way in 'slim a b 1000 999' 'complete b a 1000 999' 'slim a b 2 0' 'complete a b 2 1' 'slim b a 3 1' 'slim b a 7 2'; do
	mix ${way#* }
	rm -rf kept && cp -a root kept
	run "$INSTALL" apply "${way%% *}.dray" --root root --keyring ops.pub --no-sync
	want_status 0
	same_tree new root
	run "$INSTALL" rollback --root root
	want_status 0
	same_tree kept root
done
# what it read of slim is not above what info says
run "$DRAY" info slim.dray --json
most=$(sed 's/.*"reads_bytes":\([0-9]*\).*/\1/' out)
for way in 'a b 1000 999' 'a b 2 1' 'b a 3 1'; do
	mix $way
	run "$INSTALL" plan slim.dray --root root --keyring ops.pub --json
	want_text '"unmatched":0,' out
	reads=$(sed 's/.*"payload":\([0-9]*\).*/\1/' out)
	if [ "$reads" -gt 1000 ] && [ "$reads" -le "$most" ]; then ok "reads $reads of $most"; else fail "reads $reads, at most $most"; fi
done

# a state that none of the trees had: replaced from the full copy, kept in the stash; slim refuses
mix a b 2 1
sed -i 's/ 1..$/ edited/' root/bin/f3
rm -rf kept && cp -a root kept
tree_snapshot root >before
run "$INSTALL" apply slim.dray --root root --keyring ops.pub
want_status 20
want_text 'bin/f3: builds on a file that is not here as released: bin/f3' out
rm -rf root/var/lib/dray
same_tree kept root
run "$INSTALL" plan complete.dray --root root --keyring ops.pub
want_status 0
want_text '1 match no base' out
run "$INSTALL" apply complete.dray --root root --keyring ops.pub
want_status 0
want_text 'edited here and replaced; the old one is kept in the stash' out
same_tree new root
run "$INSTALL" rollback --root root
want_status 0
same_tree kept root

# beside exact bases: it comes last
cp -a a c && sed -i 's/ 18../ of c/' c/bin/f* && touch -d 2020-01-01 c
run "$DRAY" build --from c --from-version 2:8 --history b --history a "$@" --slim -o three.dray
need_status 0
tar -xOf three.dray dray.json >desc
want_text '"bases":[{"counter":8,"kind":"exact","version":"2"},{"counter":0,"kind":"history","version":"history"}]' desc
for d in c b; do
	rm -rf root
	cp -a $d root
	run "$INSTALL" apply three.dray --root root --keyring ops.pub
	want_status 0
	same_tree new root
done

# slips, the recipe's with their place
run "$DRAY" build --history a --history b "$@" -o b/x.dray
want_status 2
want_text 'cannot build b/x.dray: the output lies inside the source b'
run "$DRAY" build --history '' "$@" -o no.dray
want_status 2
want_text 'the value of option --history is empty'
bad() {	# bad TEXT OPTION...
	text=$1
	shift
	run "$DRAY" build "$@" --product d --version 1 --counter 1 -o no.dray
	want_status 2
	want_text "cannot build no.dray: $text"
	no_file no.dray
}
mkdir empty
cp -a b b-too
bad '--history empty: there is nothing in it' --history empty --to new
bad '--history a: it holds the same as --history a' --history a --history a --to new
bad '--history b-too: it holds the same as --history b' --history b --history a --history b-too --to new
bad '--history b: it holds the same as --from b-too' --from a --from b-too --history b --to new
bad '--history dir:new: it holds the same as the release' --history a --history dir:new --to new
want_text 'hint: leave it out: a machine that has it needs no upgrade'
bad 'two bases are called history' --from a --from-version history --history b --to new
bad 'nowhere: no such directory or archive' --history nowhere --to new
bad 'more --from-version than --from' --from-version 1 --history a --to new
echo '{"recipe":1,"history":"a","to":"new"}' >recipe.json
bad 'recipe.json:1:13: history: an array is wanted' --recipe recipe.json
echo '{"recipe":1,"history":["a","nowhere"],"to":"new"}' >recipe.json
bad 'recipe.json:1:28: history[1]: ./nowhere: no such directory or archive' --recipe recipe.json
i=0
set --
while [ $i -lt 65 ]; do
	set -- "$@" --history a
	i=$((i + 1))
done
bad 'more than 64 times --history' "$@" --to new
no_leftover .
