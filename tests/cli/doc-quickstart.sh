#!/bin/sh
# the quick start: every command of it, typed as it stands there, does and says what it tells
. "$(dirname "$0")/lib.sh"

doc_runs spec/quickstart.md
