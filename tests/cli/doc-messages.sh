#!/bin/sh
# troubleshooting by message: each message on the page is one of the programs', and each refusal of the installer is on it
. "$(dirname "$0")/lib.sh"

run perl "$TOP/tests/cli/doc-messages.pl" "$TOP" installer/troubleshooting.md
want_status 0
cat out
