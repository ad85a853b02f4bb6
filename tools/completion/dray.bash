# completion of dray and dray-install for bash: verbs and options as the programs' own help tells them, else files
# installed as share/bash-completion/completions/dray and .../dray-install
_dray() {
	local prog=$1 cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} second=${COMP_WORDS[2]} words
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ] && [[ $cur != -* ]]; then
		words=$("$prog" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\).*/\1/p' | sort -u)
	elif [[ $cur == -* ]]; then
		# "key new" is two words; whatever is no verb has no help
		words=$("$prog" "$verb" "$second" --help 2>/dev/null || "$prog" "$verb" --help 2>/dev/null)
		words=$(printf '%s\n' "$words" | sed -n 's/^  \(-[a-zA-Z], \)*\(--[a-z-]*\).*/\2/p')
	elif [ "$COMP_CWORD" -eq 2 ]; then
		words=$("$prog" "$verb" --help 2>/dev/null | sed -n "s/^  $verb \([a-z]*\) .*/\1/p")
		# pages of the manual
		[ "$verb" != help ] || words=$("$prog" help 2>/dev/null | sed -n 's/^  dray-install help \([a-z]*\) .*/\1/p')
	fi
	if [ -n "$words" ]; then
		# shellcheck disable=SC2207 # words of our own help: no blanks, no patterns
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	fi
	[ "${#COMPREPLY[@]}" -gt 0 ] || compopt -o default 2>/dev/null
}
complete -F _dray dray dray-install
