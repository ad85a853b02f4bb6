#!/bin/sh
# --progress=json: each phase begins and ends, each line is one object of the form that spec/cli.md tells, on standard error
# alone, and the result does not change
. "$(dirname "$0")/lib.sh"

mkdir -p old/var/lib new/var/lib
for i in 1 2 3; do seq $i 3000 >old/$i && seq $i 4000 >new/$i; done
key
lines() {	# lines PHASE... - of the last run: all are objects; these phases began and were done, in this order
	grep '^{' err >json
	want='^{"done":[0-9]*,"ms":[0-9]*(,"percent":[0-9]{1,2})?,"phase":"[a-z ]*"(,"rate":[0-9]*)?(,"seconds_left":[0-9]*)?,"state":"(begins|runs|done|stopped)"(,"total":[0-9]*)?,"unit":"(bytes|paths)"}$'
	if [ -s json ] && ! grep -vE "$want" json; then ok 'each line has its form'; else fail 'another form'; fi
	no_text '"percent":100' json
	sed -n 's/.*"phase":"\([a-z ]*\)".*"state":"begins".*/\1/p' json >begun
	sed -n 's/.*"phase":"\([a-z ]*\)".*"state":"done".*/\1/p' json >ended
	printf '%s\n' "$@" >wanted
	want_same begun wanted
	want_same ended wanted
}
run "$DRAY" build --from old --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray --progress=json
need_status 0
grep -q '"phase":"pack"' err && ok 'build tells its phases' || fail "build: $(cat err)"
# spent - where bytes are weighed, a phase that is done has spent all that was expected; 99 is the most that is ever told
spent() {	# PHASE...
	for phase in "$@"; do
		grep "\"phase\":\"$phase\".*\"state\":\"done\".*\"unit\":\"bytes\"" err >last
		if [ -s last ] && ! grep -v '"percent":99,' last; then ok "$phase: all of it was counted"; else fail "$phase: $(cat last)"; fi
	done
}
spent read compare pack write check
cp -a old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub --progress=json --json
want_status 0
spent looking staging
lines opening looking preparing staging comparing 'writing to the disk' switching 'writing to the disk' comparing finishing
grep -q '^{"phase' out && fail 'progress is on standard output' || ok 'standard output is the document alone'
same_tree root new
run "$INSTALL" check --root root --progress=json
want_status 0
spent checking
run "$INSTALL" verify up.dray --keyring ops.pub --progress=json
want_status 0
spent verify
run "$INSTALL" rollback --root root --progress json
want_status 0
lines looking 'going back' 'writing to the disk' recording cleaning recording cleaning
run "$INSTALL" verify up.dray --keyring ops.pub -q --progress=json
want_status 0
[ ! -s err ] && ok 'nothing with -q' || fail "words with -q: $(cat err)"
head -c 9000 up.dray >cut.dray
run "$INSTALL" plan cut.dray --root root --keyring ops.pub --progress=json
want_status 31
grep -q '"phase":"opening".*"state":"stopped"' err && ok 'a failure is told as stopped' || fail "no stop: $(cat err)"
run "$INSTALL" plan up.dray --root root --keyring ops.pub --progress=xml
want_status 2
want_text '--progress is text or json' err
run "$INSTALL" plan up.dray --root root --keyring ops.pub --progress=text
want_status 0
no_text '{' err
