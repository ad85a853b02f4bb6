#!/bin/sh
# the runbook of one machine and a stick: what it tells to type works and says what it tells
. "$(dirname "$0")/lib.sh"

doc_runs installer/runbook-stick.md
