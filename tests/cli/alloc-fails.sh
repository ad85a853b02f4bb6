#!/bin/sh
# an allocation that fails, any of them: a true message, no leak (with a sanitizer), the tree exactly old or new after the next run.
# A sample of each command's; ALLOC=all takes every one
. "$(dirname "$0")/lib.sh"

TRIED=$OUT/dray-install-alloc
[ -x "$TRIED" ] || skip 'needs dray-install-alloc, which make test builds with GNU ld'
mkdir -p old/var/lib/dray old/d old/etc new/var/lib new/d new/etc new/born
chmod 700 old/var/lib/dray
for f in a d/c; do
	seq 1 900 >old/$f
	seq 2 1200 >new/$f
done
seq 1 30 >old/etc/conf
seq 1 31 >new/etc/conf
echo 1 >old/gone
cp new/a new/born/twin
ln new/d/c new/born/link
ln -s a new/sym
touch -d @1000000000 old old/var old/var/lib new new/var new/var/lib
key
run "$DRAY" build --from old --to new --product demo --version 2 --counter 2 --config etc --key ops.key -o up.dray
need_status 0
for f in old new; do
	cp -p $f/etc/conf was && touch -r $f/etc was-etc
	sed -i 's/^3$/three/' $f/etc/conf
	touch -r was $f/etc/conf && touch -r was-etc $f/etc
done

like() {	# root is old, or new: the merged file's and its directory's time are the merge's
	[ -z "$(rsync -n -aHAX --checksum --modify-window=-1 --delete --itemize-changes --exclude=/var/lib/dray "$1/" root/ |
	    grep -v '^\.f\.\.t\.*  *etc/conf$')" ]
}
fresh() {
	rm -rf root
	cp -a old root
}
way() {
	case $1 in
	verify) echo "verify up.dray --keyring ops.pub" ;;
	plan | apply) echo "$1 up.dray --root root --keyring ops.pub -j1" ;;
	*) echo "$1 --root root -j1" ;;
	esac
}
before() {
	fresh
	case $1 in
	check | rollback | status) "$INSTALL" apply -q up.dray --root root --keyring ops.pub || exit 1 ;;
	esac
}

told=0 borne=0
for verb in verify plan apply check status rollback; do
	before $verb
	# shellcheck disable=SC2046 # words on purpose, here and below
	run env DRAY_COUNT_ALLOC=count "$TRIED" $(way $verb)
	need_status 0
	total=$(cat count)
	step=$((total / 14 + 1))
	[ "${ALLOC:-}" != all ] || step=1
	n=1
	[ "$verb" != apply ] && [ "$verb" != rollback ] || before $verb
	while [ "$n" -le "$total" ]; do
		# shellcheck disable=SC2046
		run env DRAY_FAIL_ALLOC=$n "$TRIED" $(way $verb)
		case $verb:$status in
		*:0) borne=$((borne + 1)) ;;
		*:1 | apply:41) told=$((told + 1)) ;;
		*) fail "$verb, allocation $n of $total: status $status"; show ;;
		esac
		if [ "$status" != 0 ] && ! grep -q 'memory' err; then
			fail "$verb, allocation $n of $total: does not say that memory is short"
			show
		fi
		case $verb in
		apply | rollback)
			now=between
			if like old; then now=old; elif like new; then now=new; fi
			case $verb:$status:$now in
			*:1:* | apply:0:new | apply:41:old | rollback:0:old) ;;
			*) fail "$verb, allocation $n of $total: status $status, and the tree is $now" ;;
			esac
			"$INSTALL" resume -q --root root 2>resumed || { fail "$verb, allocation $n of $total: resume"; cat resumed; }
			like old || like new || fail "$verb, allocation $n of $total: neither old nor new after resume"
			if [ "$status:$now" != "1:$([ $verb = apply ] && echo old || echo new)" ]; then
				before $verb
			elif [ $verb = apply ] && [ -n "$(ls root/var/lib/dray/tx 2>/dev/null)" ]; then
				fail "$verb, allocation $n of $total: left behind after resume"
			fi
			;;
		esac
		n=$((n + step))
	done
done
[ $told -gt 30 ] && ok "$told told, $borne borne" || fail "$told told, $borne borne"
