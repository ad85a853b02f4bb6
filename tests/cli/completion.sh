#!/bin/sh
# completion: what a shell offers are the verbs and options that the help tells; bash is asked itself
. "$(dirname "$0")/lib.sh"

command -v bash >/dev/null || skip 'needs bash'
mkdir bin && ln -s "$DRAY" bin/dray && ln -s "$INSTALL" bin/dray-install
cat >ask <<'X'
# ask WORD... - what is offered for the last of them
. "$TOP/tools/completion/dray.bash"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_dray "$1"
printf '%s\n' "${COMPREPLY[@]}"
X
offers() {	# offers WANTED WORD... - among others
	wanted=$1
	shift
	run env TOP="$TOP" PATH="$T/bin:$PATH" bash ask "$@"
	if grep -qx -e "$wanted" out; then ok "$* offers $wanted"; else fail "$* does not offer $wanted: $(tr '\n' ' ' <out)"; fi
}
offers apply dray-install a
offers build dray ''
offers --keyring dray-install plan --key
offers --root dray-install hook install --
offers new dray key ''
offers --counter dray build --c
offers install dray-install hook i
offers recovery dray-install help re
offers stick dray-install help ''
run env TOP="$TOP" PATH="$T/bin:$PATH" bash ask dray-install apply up
[ -z "$(cat out)" ] && ok 'files are left to the shell' || fail "offers $(cat out)"
run env TOP="$TOP" PATH="$T/bin:$PATH" bash ask dray-install nothing --
[ -z "$(cat out)" ] && ok 'nothing of a verb that is none' || fail "offers $(cat out)"
# the others are looked at by their own shells, where there are any
! command -v zsh >/dev/null || { run zsh -n "$TOP/tools/completion/_dray" && want_status 0; }
! command -v fish >/dev/null || { run fish -n "$TOP/tools/completion/dray.fish" && want_status 0; }
