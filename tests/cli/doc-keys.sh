#!/bin/sh
# the key ceremony: k of n, a signing room, a key that is revoked; each command works and says what it tells
. "$(dirname "$0")/lib.sh"

doc_runs builder/key-ceremony.md
