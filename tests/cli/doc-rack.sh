#!/bin/sh
# the runbook of a rack: two servers, one bundle on a share, a policy, a loop over ssh; it works and says what it tells
. "$(dirname "$0")/lib.sh"

doc_runs installer/runbook-rack.md
