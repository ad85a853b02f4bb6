#!/bin/sh
# help.sh - the pages that `dray-install help TOPIC` shows, as C on stdout: the program goes where no manual is
#   tools/help.sh >OUT/gen/help.c        (make does it)
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
command -v mandoc >/dev/null || {
	echo "help.sh: needs mandoc: tools/setup.sh build installs it" >&2
	exit 1
}

# a page of the manual as plain text; bold and underlined letters are printed over each other
manual() {
	mandoc -T ascii -O width=76 "$1" | sed -e "s/.$(printf '\b')//g" -e 's/[[:blank:]]*$//'
}

# section "### N.N ..." of a specification
section() {
	awk -v want="$2 " 'index($0, want) == 1 { on = 1; print; next } /^##/ { on = 0 } on' "$1" | fold -s -w 76 |
	    sed 's/[[:blank:]]*$//'
}

# topic NAME WORDS - what comes on stdin is its text
topics=
topic() {
	printf '\nstatic const char *const page_%s[] = {\n' "$1"
	sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/	/        /g' -e 's/.*/	"&",/'
	printf '	NULL\n};\n'
	topics="$topics
	{ \"$1\", \"$2\", page_$1 },"
}

echo '/* made by tools/help.sh */'
echo '#include <stddef.h>'
echo
echo '#include "installer/help.h"'
manual installer/dray-install.8 >"${TMPDIR:-/tmp}/dray-help.$$"
trap 'rm -f "${TMPDIR:-/tmp}/dray-help.$$"' EXIT
# not behind a pipe: the list of topics is this shell's
one() {
	topic "$1" "$2" <"${TMPDIR:-/tmp}/dray-help.$$"
}
one manual 'all commands and options: dray-install(8)'
manual spec/dray-policy.5 >"${TMPDIR:-/tmp}/dray-help.$$"
one policy 'what a site decides beforehand: dray-policy(5)'
section spec/cli.md '### 1.1' >"${TMPDIR:-/tmp}/dray-help.$$"
one status 'exit statuses, and what each means'
section spec/cli.md '### 1.3' >"${TMPDIR:-/tmp}/dray-help.$$"
one media 'volumes, sticks, folders'
fold -s -w 76 spec/recovery-card.md | sed 's/[[:blank:]]*$//' >"${TMPDIR:-/tmp}/dray-help.$$"
one recovery 'the machine does not start after a cut'
printf '\nconst struct inst_topic inst_topics[] = {%s\n	{ NULL, NULL, NULL },\n};\n' "$topics"
