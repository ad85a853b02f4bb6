#!/bin/sh
# a signal in the middle of one large file is acted on at once, in each phase: exit 40, nothing left, and next to no
# processor time until then. The files are holes, so they cost no room
. "$(dirname "$0")/lib.sh"

# AT TEXT ARG...: interrupt a build when its standard error says TEXT
at() {
	text=$1
	shift
	ms=$(perl "$TOP/tests/cli/interrupt-at.pl" "$text" TERM err "$DRAY" build -v --product demo --version 1 --counter 1 \
	    --level 1 --no-cache -o to/up.dray "$@")
	ended $? "build $*, TERM at \"$text\""
	want_status 40
	want_text 'cannot build to/up.dray: interrupted'
	want_text 'hint: nothing was written'
	no_file to/up.dray
	no_leftover to
	if [ "${ms:-9999}" -lt 300 ]; then ok "$ms ms"; else fail "$ms ms of processor time after the signal"; fi
}

mkdir -p huge large to
truncate -s 64G huge/file
truncate -s 700M large/file

at 'read: begins' --to huge
at 'compare: begins' --to large
truncate -s 500M large/file
at 'check: begins' --to large
