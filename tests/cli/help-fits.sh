#!/bin/sh
# help of both commands and of each of their verbs: exit 0, on standard output alone, plain text of at most 76 columns,
# with an example that names the verb
. "$(dirname "$0")/lib.sh"

fits() {	# fits WORD... - the help of this command line
	run "$@" --help
	want_status 0
	[ -s out ] && [ ! -s err ] || fail "$*: help is not on standard output alone"
	if LC_ALL=C grep -n '[^ -~]' out || awk 'length > 76 { print; n++ } END { exit n > 0 ? 0 : 1 }' out; then
		fail "$*: the lines above are too wide or no plain text"
	fi
}

for prog in "$DRAY" "$INSTALL"; do
	fits "$prog"
	# a verb begins in column 3 and is followed by what it does in column 23
	sed -n 's/^  \([a-z][a-z ]\{19\}\)[^ ].*/\1/p' out >verbs
	[ "$(wc -l <verbs)" -ge 10 ] || fail "only $(wc -l <verbs) verbs in the help of $prog"
	while read -r verb; do
		# shellcheck disable=SC2086 # "key new" is two words
		fits "$prog" $verb
		want_text "${prog##*/} $verb" out
		head -n 1 out | grep -q "^${prog##*/} $verb" && ok "$verb: an example first" || fail "$verb: its help does not begin with an example"
		want_text "usage: ${prog##*/} $verb" out
	done <verbs
done
fits "$DRAY" key

# the pages that the installer brings along
run "$INSTALL" help
want_status 0
sed -n 's/^  dray-install help \([a-z]*\) .*/\1/p' out >topics
[ "$(wc -l <topics)" -ge 5 ] || fail "only $(wc -l <topics) pages"
while read -r topic; do
	run "$INSTALL" help "$topic"
	want_status 0
	[ "$(wc -l <out)" -gt 10 ] || fail "help $topic is short: $(wc -l <out) lines"
	! LC_ALL=C grep -n '[^ -~]' out || fail "help $topic: the lines above are no plain text"
done <topics
run "$INSTALL" help recovery
want_text 'Print this page and keep it with the machine.' out
run "$INSTALL" help policy
want_text 'pattern action [keep-metadata] [if case] [validate "command %f"]' out
run "$INSTALL" help recovry
want_status 2
want_text 'no page "recovry"' err
want_text 'did you mean recovery?' err
