#!/bin/sh
# sixty edits of all kinds in one etc: each is told for what it is, three rules let the upgrade run unattended, every decision is
# in the evidence, and rollback brings back all of them
#   ETC_TREES=OLD:NEW sh tests/cli/etc-edits.sh     the same with the differing texts of two real trees, judged by diff3
. "$(dirname "$0")/lib.sh"
key

n=0
edits() {	# edits KIND COUNT - names of that many files, counted
	k=0
	names=
	while [ $k -lt "$2" ]; do
		k=$((k + 1)) n=$((n + 1))
		names="$names $1$k"
	done
}
note() {	# note KIND PATH - what plan is to say of it
	printf '%s etc/%s\n' "$1" "$2" >>wanted
}
by_diff3() {	# by_diff3 PATH - the same, as diff3 sees it; the merged text for later
	mkdir -p "merged/$(dirname "$1")"
	if ! diff3 -aEm "root/etc/$1" "old/etc/$1" "new/etc/$1" >"merged/$1" 2>/dev/null; then
		rm "merged/$1"
		note conflict "$1"
	elif cmp -s "merged/$1" "new/etc/$1"; then
		cmp -s "root/etc/$1" "new/etc/$1" || note merged-release "$1"
	elif cmp -s "merged/$1" "root/etc/$1"; then
		note merged-mine "$1"
	else
		note merged "$1"
	fi
}
text() {	# text WHO - 80 lines; the release changes 30 and 70
	seq 1 80
}

generated() {
	mkdir -p old/etc new/etc old/var/lib new/var/lib
	for f in comment far near clash same part gone cut mode; do
		for i in 1 2 3 4 5 6 7 8; do text >old/etc/$f$i; done
	done
	text | sed 's/$/\r/' >old/etc/crlf1
	text | tr '\n' ',' | sed 's/,$//' | tr ',' '\n' >old/etc/open1
	cp -a old/etc/. new/etc/
	sed -i 's/^30$/thirty/; s/^70$/seventy/' new/etc/*
	sed -i 's/^30\r$/thirty\r/' new/etc/crlf1
	for i in 1 2 3; do
		printf 'x\0old %s\n' $i >old/etc/bin$i
		printf 'x\0new %s\n' $i >new/etc/bin$i
		ln -s before$i old/etc/link$i
		ln -s after$i new/etc/link$i
		echo released >new/etc/both$i
	done
	find old new -exec touch -h -d @1700000000 {} +
	cp -a old root

	edits comment 8; for f in $names; do sed -i 's/^10$/#10/' root/etc/$f; by_diff3 $f; done
	edits far 8; for f in $names; do sed -i 's/^50$/fifty/; 1i first' root/etc/$f; by_diff3 $f; done
	edits near 6; for f in $names; do sed -i 's/^32$/thirty-two/' root/etc/$f; by_diff3 $f; done
	edits clash 6; for f in $names; do sed -i 's/^30$/dreissig/' root/etc/$f; by_diff3 $f; done
	edits same 3; for f in $names; do cp -p new/etc/$f root/etc/$f; by_diff3 $f; done
	edits part 3; for f in $names; do sed -i 's/^30$/thirty/' root/etc/$f; by_diff3 $f; done
	edits cut 4; for f in $names; do sed -i '/^5[0-5]$/d' root/etc/$f; by_diff3 $f; done
	edits crlf 1; for f in $names; do sed -i 's/^10\r$/ten\r/' root/etc/$f; by_diff3 $f; done
	edits open 1; for f in $names; do sed -i 's/^10$/ten/' root/etc/$f; by_diff3 $f; done
	edits gone 4; for f in $names; do rm root/etc/$f; note kept-deleted $f; done
	edits local 4; for f in $names; do echo here >root/etc/$f; done
	edits both 2; for f in $names; do echo here >root/etc/$f; note conflict $f; done
	edits mode 4; for f in $names; do chmod 600 root/etc/$f; note attributes-replaced $f; done
	edits link 3; for f in $names; do ln -sf elsewhere root/etc/$f; note parked $f; done
	edits bin 3; for f in $names; do printf 'x\0here\n' >root/etc/$f; note conflict $f; done
	printf 'etc/bin* theirs\netc/both* theirs\netc/clash* mine\n' >three.policy
}

# every text that is there twice and not alike gets an edit, in turn of five kinds
real() {
	mkdir -p old/var/lib new/var/lib
	cp -a "${1%%:*}/etc" old/etc
	cp -a "${1##*:}/etc" new/etc
	cp -a old root
	(cd old/etc && find . -type f | sed 's/^\.\///' | sort) >list
	while read -r f; do
		if [ -L "new/etc/$f" ] || [ ! -f "new/etc/$f" ] || cmp -s "old/etc/$f" "new/etc/$f" ||
		    [ "$(tr -d '\0' <"old/etc/$f" | wc -c)" != "$(wc -c <"old/etc/$f")" ]; then
			continue
		fi
		n=$((n + 1))
		lines=$(wc -l <"old/etc/$f")
		case $((n % 5)) in
		0) echo '# added here' >>"root/etc/$f" ;;
		1) sed -i '1i # added here' "root/etc/$f" ;;
		2) sed -i "$((lines / 2 + 1))s/^/#/" "root/etc/$f" ;;
		3) sed -i "$((lines / 3 + 1))d" "root/etc/$f" ;;
		4) sed -i "$((lines * 2 / 3 + 1))s/\$/ changed here/" "root/etc/$f" ;;
		esac
		by_diff3 "$f"
	done <list
	sed -n 's/^conflict \(.*\)/\1 theirs/p' wanted >three.policy
}

if [ -n "${ETC_TREES:-}" ]; then
	real "$ETC_TREES"
else
	generated
	[ $n = 60 ] && ok 'sixty edits' || fail "$n edits"
fi
cp -a root before
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --config 'etc/**' --key ops.key -o up.dray -q
need_status 0

# told for what it is, and nothing else is told
notes() {
	tr '{' '\n' <out | sed -n 's/^"kind":"\([^"]*\)","path":"\([^"]*\)".*/\1 \2/p' | sort
}
tree_seen root >snap
run "$INSTALL" plan up.dray --root root --keyring ops.pub --json
if [ -z "${ETC_TREES:-}" ]; then
	want_status 20
	notes >told
else
	notes | grep -E '^(conflict|merged)' >told
fi
sort wanted >wanted.sorted
want_same wanted.sorted told
[ "$failed" = 0 ] || diff wanted.sorted told | head -n 20
echo "# $n edits: $(cut -d' ' -f1 wanted | sort | uniq -c | tr -s ' \n' ' ')"
run "$INSTALL" conflicts up.dray --root root --keyring ops.pub --json
notes_of_conflicts=$(grep -c '^conflict ' wanted.sorted)
want_text "\"undecided\":$notes_of_conflicts" out
tree_seen root >now
want_same snap now

# three rules, and nobody is asked
run "$INSTALL" apply up.dray --root root --keyring ops.pub --policy three.policy
need_status 0
bad=0
while read -r kind path; do
	f=${path#etc/}
	case $kind in
	merged) cmp "merged/$f" "root/$path" || bad=$((bad + 1)) ;;
	merged-release) cmp "new/$path" "root/$path" || bad=$((bad + 1)) ;;
	merged-mine) cmp "before/$path" "root/$path" || bad=$((bad + 1)) ;;
	conflict) cmp -s "before/$path" "root/$path" || cmp -s "new/$path" "root/$path" || bad=$((bad + 1)) ;;
	esac
done <wanted
[ $bad = 0 ] && ok 'each file is what it should be' || fail "$bad files are not"
if [ -z "${ETC_TREES:-}" ]; then
	for f in clash1 clash6; do want_same before/etc/$f root/etc/$f; done
	for f in bin1 both2 mode1; do want_same new/etc/$f root/etc/$f; done
	want_same before/etc/local4 root/etc/local4
	no_file root/etc/gone1
	[ "$(readlink root/etc/link3)" = after3 ] && ok 'the link is the release'"'"'s' || fail 'link3'
fi
run "$INSTALL" check --root root
want_status 0

# every decision is on record
run "$INSTALL" status --root root --paths 1
want_status 0
cp out recorded
bad=0
while read -r kind path; do
	grep -qF " $path" recorded || { echo "$kind $path"; bad=$((bad + 1)); }
done <wanted
[ $bad = 0 ] && ok 'every decision is in the evidence' || fail "$bad are not in the evidence"

# and back
run "$INSTALL" rollback --root root
want_status 0
same_tree before root
