#!/bin/sh
# map.sh - the list of files at the end of spec/architecture.md, from the first sentence of each file
#   map.sh          rewrites it
#   map.sh check    says what would change; lint asks that
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
doc=spec/architecture.md
mark='## Files'

# job FILE - "name - what it is for" up to the first full stop
job() {
	awk '
	/\/\*/ && !on { on = 1; sub(/.*\/\*+/, "") }
	on {
		end = /\*\//
		sub(/\*\/.*/, "")
		sub(/^[ \t]*\*?[ \t]*/, "")
		text = text " " $0
		if (end || ($0 == "" && text ~ /[a-z]/))
			exit
	}
	END {
		gsub(/[ \t]+/, " ", text)
		sub(/^ /, "", text)
		sub(/^[A-Za-z0-9_.]+\.[ch] - /, "", text)
		sub(/\. .*/, "", text)
		sub(/ Source:.*/, "", text)
		sub(/ \(spec\/[^)]*\)/, "", text)
		sub(/[. ]+$/, "", text)
		gsub(/\|/, "\\|", text)
		print text
	}' "$1"
}

list() {
	printf '%s\n\nMade by `tools/map.sh` from the first sentence of each file.\n' "$mark"
	for d in format format/tool builder installer; do
		printf '\n### %s/\n\n| file | job |\n|---|---|\n' "$d"
		for f in $(git ls-files "$d/*.c" "$d/*.h" | sort -u | grep -E "^$d/[^/]*$" | sort); do
			# a header with a .c of the same name is told by it
			case $f in
			*.h) [ ! -e "${f%.h}.c" ] || continue ;;
			esac
			printf '| `%s` | %s |\n' "${f##*/}" "$(job "$f")"
		done
	done
}

new=$(mktemp)
trap 'rm -f "$new"' EXIT
sed "/^$mark\$/,\$d" "$doc" >"$new"
list >>"$new"
if [ "${1:-}" = check ]; then
	cmp -s "$doc" "$new" || echo "$doc: the list of files is old: run tools/map.sh"
else
	cat "$new" >"$doc"
fi
