#!/bin/sh
# each piece of work of dray-install is told by a word: all of them with -v, those that take their time on a terminal, where
# no second passes without a line; and 100 % is never told, neither before the commit nor at all
. "$(dirname "$0")/lib.sh"

command -v strace >/dev/null || skip 'needs strace, to make calls slow'
mkdir -p old/var/lib new/var/lib
for i in 1 2 3; do
	seq $i 3000 >old/$i
	seq $i 4000 >new/$i
done
# four paths change: the files, and var/lib, whose time the state folder moves; none because of when a folder was made
touch -d @1700000000 old/var/lib old/var new/var/lib new/var
key
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0

# phases WORD... - those are what the last run told, in this order
phases() {
	sed -n 's/^dray-install: \(.*\): begins$/\1/p' err >told
	printf '%s\n' "$@" >wanted
	want_same told wanted
}

cp -a old root
disk='writing to the disk'
run "$INSTALL" verify -v up.dray --keyring ops.pub
want_status 0
phases opening verify
run "$INSTALL" plan -v up.dray --root root --keyring ops.pub
want_status 0
phases opening looking
run "$INSTALL" apply -v up.dray --root root --keyring ops.pub --verify-writes
want_status 0
phases opening looking preparing staging "$disk" 'reading back' comparing "$disk" switching "$disk" comparing finishing
run "$INSTALL" check -v --extra --root root
want_status 0
phases opening checking searching
run "$INSTALL" check -v up.dray --root root --keyring ops.pub --json
want_status 0
phases opening checking
echo bad >root/1
run "$INSTALL" repair -v up.dray --root root --keyring ops.pub
want_status 0
phases opening checking looking preparing staging comparing "$disk" switching "$disk" comparing finishing
run "$INSTALL" rollback -v --root root
want_status 0
phases looking 'going back' "$disk" recording cleaning recording cleaning
run "$INSTALL" forget -v --root root
want_status 0
phases counting forgetting recording cleaning

# not without -v
rm -rf root && cp -a old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
no_text 'begins' err
run "$INSTALL" rollback --root root
want_status 0

# killed right before the record that decides, and right before the one that says it is done
log() {	# N - the N-th record of the journal is never written
	rm -rf root && cp -a old root
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -y -o trace -P "$T/root/var/lib/dray/tx/000001/log" \
	    -e trace=pwrite64 -e inject=pwrite64:signal=KILL:when="$1" "$INSTALL" apply -v up.dray --root root --keyring ops.pub
	want_status 137
	no_text '100 %' err
	no_text 'is now demo' out
}
log 1
phases opening looking preparing staging comparing "$disk"
log 2
phases opening looking preparing staging comparing "$disk" switching "$disk"
# what was decided goes on, and is told alike
run "$INSTALL" resume -v --root root
want_status 0
phases switching "$disk" comparing finishing
log 2
run "$INSTALL" resume -v --back --root root
want_status 0
phases 'going back' "$disk" recording cleaning recording cleaning
# a staging that nobody wants
log 1
run "$INSTALL" resume -v --root root
want_status 0
phases cleaning

[ -z "${NOFAST:-}" ] || exit 0	# the calls that are made slow here are other ones then

# slow CALLS COMMAND... - each of these calls takes 0.7 s; without a terminal, each write and the time it was made
slow() {
	calls=$1
	shift
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -ttt -s 200 -o trace -e "trace=write,pwrite64,$calls" \
	    -e "inject=$calls:delay_enter=700000" "$@"
}
rm -rf root && cp -a old root
slow renameat2,syncfs "$INSTALL" apply up.dray --root root --keyring ops.pub -j1
want_status 0
want_text 'dray-install: switching: ' err
# which of them is told first depends on when the thread that tells it gets the processor
if grep -q '([123] of 4 paths)$' err; then ok 'paths are counted on the way'; else fail 'no path is counted'; show; fi
grep -q '^dray-install: switching: 4 paths, took [0-9]* s$' err && ok 'switching tells its end' || { fail 'no end of switching'; show; }
no_text '100 %' err
# the last word of all comes behind the last record
last=$(grep -n 'pwrite64([0-9]*, "DLOG' trace | tail -n 1 | cut -d: -f1)
word=$(grep -n 'write(1, "root is now demo' trace | cut -d: -f1)
if [ -n "$last" ] && [ "${word:-0}" -gt "$last" ]; then ok 'the end is told behind FINISHED'; else fail "record in line $last, words in line $word"; fi

# on a terminal: no call that takes its time passes without a line. The second without one is unit/test_progress's, which
# has its own clock; here a call takes three, so that a busy machine does not matter
command -v script >/dev/null || exit 0
export INSTALL
lines() {	# what the terminal got, a line each
	tr '\r' '\n' <log >lines
	no_text '100 %' lines
	no_text 'begins' lines
}
# silent - the slow calls during which nothing was written to the terminal; needs trace with -f -ttt -T
silent() {
	awk '/ write\(2, / { wrote[++writes] = $2 }
	    /\(DELAYED\)/ {
		took = substr($NF, 2) + 0
		calls++
		begin[calls] = /resumed>/ ? $2 - took : $2
		end[calls] = begin[calls] + took
	    }
	    END {
		for (i = 1; i <= calls; i++) {
			told = 0
			for (w = 1; w <= writes; w++) if (wrote[w] > begin[i] && wrote[w] < end[i]) told = 1
			if (!told) printf "call %d of %d, %.2f s\n", i, calls, end[i] - begin[i]
		}
		if (calls == 0) print "no call was slow"
	    }' trace
}
cat >on-terminal <<'X'
exec env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -ttt -T -s 200 -o trace -e trace=write,syncfs,renameat2,unlinkat \
    -e inject=syncfs,renameat2:delay_enter=3000000:when=1+4 -e inject=unlinkat:delay_enter=3000000:when=1+8 "$INSTALL" $WHAT --root root
X
for what in 'rollback' 'apply up.dray --keyring ops.pub --verify-writes' 'forget'; do
	WHAT=$what script -qec 'sh on-terminal' log </dev/null >/dev/null 2>&1
	ended $? "$what on a terminal, every call slow"
	want_status 0
	lines
	silent >unheard
	if [ ! -s unheard ]; then ok 'each slow call is told'; else fail "not told: $(head -n 1 unheard)"; show; fi
	case $what in
	rollback) words="going back|$disk|cleaning" ;;
	forget) words='forgetting|cleaning' ;;
	*) words="$disk|switching" ;;
	esac
	for word in $(echo "$words" | tr ' |' '_ '); do
		want_text "$(echo "$word" | tr _ ' '): " lines
	done
done
