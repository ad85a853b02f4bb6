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

page=${TMPDIR:-/tmp}/dray-help.$$
trap 'rm -f "$page"' EXIT

# markdown FILE - a page for people as plain text: of a table each row is its first cell, then the others with their heads;
# of links the words
markdown() {
	awk '
	function words(t, one, more, n, w, i, line) {
		n = split(t, w, " ")
		line = one
		for (i = 1; i <= n; i++) {
			if (line != one && line != more && length(line) + 1 + length(w[i]) > 76) {
				print line
				line = more
			}
			line = line (line == one || line == more ? "" : " ") w[i]
		}
		print line
	}
	{
		while (match($0, /\[[^]]+\]\([^)]*\)/)) {
			link = substr($0, RSTART + 1, RLENGTH - 2)
			sub(/\]\(.*/, "", link)
			$0 = substr($0, 1, RSTART - 1) link substr($0, RSTART + RLENGTH)
		}
	}
	function flush() {
		if (text != "") words(text, first, next_)
		text = ""
	}
	/^\|/ {
		flush()
		gsub(/\\\|/, "\001")
		sub(/^\| */, ""); sub(/ *\|$/, "")
		n = split($0, cell, / *\| */)
		for (i = 1; i <= n; i++) gsub(/\001/, "|", cell[i])
		if (!rows++) {
			for (i = 1; i <= n; i++) head[i] = cell[i]
		} else if ($0 !~ /^[-| ]*$/) {
			words(cell[1], "", "")
			for (i = 2; i <= n; i++)
				if (cell[i] != "") words(cell[i], "    " head[i] ": ", "      ")
		}
		next
	}
	{ rows = 0 }
	/^$/ || /^    / || /^#/ { flush(); print; next }
	match($0, /^ *(-|[0-9]+[.]) /) {
		flush()
		first = substr($0, 1, RLENGTH)
		next_ = "   "
		text = substr($0, RLENGTH + 1)
		next
	}
	text == "" { first = next_ = "" }
	{ text = text " " $0 }
	END { flush() }' "$1" | fold -s -w 76 | sed 's/[[:blank:]]*$//'
}

# one NAME WORDS COMMAND... - not behind a pipe: the list of topics is this shell's
one() {
	name=$1 words=$2
	shift 2
	"$@" >"$page"
	topic "$name" "$words" <"$page"
}

echo '/* made by tools/help.sh */'
echo '#include <stddef.h>'
echo
echo '#include "installer/help.h"'
one manual 'all commands and options: dray-install(8)' manual installer/dray-install.8
one policy 'what a site decides beforehand: dray-policy(5)' manual spec/dray-policy.5
one bundle 'what a bundle is, and how to look into one: dray-bundle(5)' manual spec/dray-bundle.5
one status 'exit statuses, and what each means' section spec/cli.md '### 1.1'
one messages 'what a message means, and what to do' markdown installer/troubleshooting.md
one media 'volumes, sticks, folders' section spec/cli.md '### 1.3'
one stick 'one machine and a stick, step by step' markdown installer/runbook-stick.md
one rack 'many machines, step by step' markdown installer/runbook-rack.md
one threats 'what you can rely on, and what is yours to do' markdown spec/threats-operators.md
one recovery 'the machine does not start after a cut' markdown spec/recovery-card.md
printf '\nconst struct inst_topic inst_topics[] = {%s\n	{ NULL, NULL, NULL },\n};\n' "$topics"
