# shellcheck shell=sh disable=SC2034,SC2154
# scenes.sh - sourced by fault.sh: what each verb works on, what it may answer, and how a run that was disturbed is judged
#
#   scene VERB		sets
#	image		the file system image that it begins with
#	line		its words; $t: the tree, $bundle: the bundle that may be meddled with, $HERE: a folder of the point's own
#	from, to	the trees, by name, before it and when it has come to its end; from is between when it goes on with a killed run
#	last, first	the trees that the next apply, and rollback after it, must reach; empty: there is none
#	may		the exit statuses that it may have when a call fails; what else spec/cli.md knows would be untrue
#	kind		tree: changes it; look: changes nothing; file: makes a file, which is $made
#	chroot		--allow-chroot where programs of the tree are run
#   judge		after the run: $rc, $HERE/out

scene() {
	image=new line="$1 --root $t" from=new to=new last='' first='' kind=tree chroot='' bundle=${bundle:-up.dray} made=''
	may='0 1 21 22'
	case $1 in
	verify) image=old line="verify $bundle --keyring ops.pub" kind=look may='0 1 33' ;;
	verify-damaged) image=old line='verify damaged.dray --keyring ops.pub' kind=look may='1 31 33' ;;
	plan) image=old line="plan $bundle --root $t --keyring ops.pub --json" kind=look may='0 1 21 22 33' ;;
	check) kind=look may='0 1 20 22 33' ;;
	check-damaged) image=damaged line="check --root $t" kind=look may='1 20 22 33' ;;
	status) line="status --root $t --json" kind=look may='0 1' ;;
	log) line="status --root $t --log --json" kind=look may='0 1' ;;
	paths) line="status --root $t --paths 1" kind=look may='0 1' ;;
	export) line="status --root $t --export $HERE/m/evidence" kind=file made=$HERE/m/evidence may='0 1 21' ;;
	trust) image=bare line='trust init ops.pub --fingerprint' kind=file made=$HERE/m/etc/dray/keyring.d/ops.pub ;;
	apply)
		image=old line="apply $bundle --root $t --keyring ops.pub" from=old last=new first=old
		may='0 1 21 22 24 33 41'
		;;
	repair)
		image=damaged line="repair $bundle --root $t --keyring ops.pub" from=damaged last=new first=damaged
		may='0 1 21 22 24 33 41'
		;;
	rollback) to=old last=new first=old ;;
	resume) image=killed from=between last=new first=old may='0 1 21 22 41' ;;
	undo) image=undoing line="resume --root $t" from=between to=old last=new first=old ;;
	forget) last=new ;;
	phase)
		image=phased line="apply phased.dray --root $t --keyring ops.pub --phase world" from=mid1 to=mid2 last=want first=phases
		may='0 1 21 22 24 33 41'
		;;
	back) image=phased line="rollback --root $t" from=mid1 to=phases last=want first=phases ;;
	triggers)
		image=calm line="apply triggers.dray --root $t --keyring ops.pub --allow-chroot" from=calm to=called
		last=called first=calm chroot=--allow-chroot may='0 1 21 22 24 33 41 50'
		;;
	due)
		image=due line="triggers --root $t --allow-chroot" from=called to=called last=called first=calm
		chroot=--allow-chroot may='0 1 21 22 50'
		;;
	esac
	case $1 in
	phase | back) whole="apply phased.dray --root $t --keyring ops.pub" ;;
	triggers | due) whole="apply triggers.dray --root $t --keyring ops.pub --allow-chroot" ;;
	repair) whole="repair up.dray --root $t --keyring ops.pub" ;;
	*) whole="apply up.dray --root $t --keyring ops.pub" ;;
	esac
}

# the run itself, which a rule disturbs, or several; in a place of its own for the first key of a system
disturbed() {	# LIST RULE... -- [COMMAND...]: how the installer is begun; nothing: as it is
	# shellcheck disable=SC2016,SC2086
	case $verb in
	trust)
		unshare -m timeout -k 5 60 sh -c 'mount --bind "$0" /etc && exec "$@"' "$HERE/m/etc" \
		    "$OUT/failat" "$@" "$INSTALL" $line "$(cat fingerprint)"
		;;
	*) timeout -k 5 60 "$OUT/failat" "$@" "$INSTALL" $line "${workers:--j1}" ;;
	esac
}

# differs and is, but for the time of the merged file, which is that of the merge, the log that triggers write into the root,
# and, with $except, what somebody else has changed meanwhile
tree_is() {	# NAME
	[ -z "$(differs "$t" "$WORK/trees/$1" 2>&1 | grep -v '^\.f\.\.t\.*  *etc/conf$' | case $1 in
	calm | called) grep -vx '\*deleting  *log\|\.d\.\.t\.*  *\./' ;;
	*) grep -v "${except:-^$}" ;;
	esac)" ]
}

inventory() {
	(cd "$1" && find . -printf '%p %y %m %U %G %s %T@ %C@ %i %n %l\n' | sort)
}

wrong() {
	{
		echo "NOT OK $id: $*"
		echo "    failat ... $rules -- dray-install $line: status $rc"
		[ ! -s "$HERE/out" ] || sed 's/^/    /' "$HERE/out" | tail -n 8
		[ ! -s "$HERE/then" ] || { echo '  then:'; sed 's/^/    /' "$HERE/then" | tail -n 8; }
	} >"$WORK/points/$id.failed"
	finish
	exit 0
}

finish() {
	[ "$image" = none ] || umount "$HERE/m" || umount -l "$HERE/m"
	rm -rf "$HERE"
}

says() {
	grep -q "$1" "$HERE/out"
}

# what somebody else has put in a place meanwhile is never thrown away: it stays there or in the stash, and is named
named_foreign() {
	says 'changed by somebody else\|changed since the upgrade'
}

# the tree alone says what is
state_now() {
	for state; do
		if [ "$state" != between ] && tree_is "$state"; then
			echo "$state"
			return
		fi
	done
	echo between
}

# what stands for the answer of a look: the bytes, but for what differs from run to run
# that bytes could not be counted it may say, and which filters it does without when they were refused; json-c says on stderr
# that it had no random numbers
answer() {
	case ${class:-} in
	fence) sed 's/"filters":\[[^]]*\]//' "$1" ;;
	entropy) sed 's/^error from getrandom(): Input\/output error//' "$1" ;;
	*) cat "$1" ;;
	esac | case $(cat "$HERE/out" 2>/dev/null) in
	*'"bytes_partial":true'*) sed 's/"bytes":[0-9]*,\("bytes_partial":true,\)\{0,1\}//' ;;
	*) cat ;;
	esac
}

judge_look() {
	case $verb:$rc in
	check:20) says 'read error' || wrong 'it tells of a difference that is none' ;;
	plan:0) says "\"plan_id\":\"$(cat "$WORK/plan_id")\"" || wrong 'another plan id' ;;
	status:0 | log:0 | paths:0) answer "$HERE/out" >"$HERE/now"
		answer "$WORK/answer.$verb" | cmp -s - "$HERE/now" || wrong 'another answer' ;;
	esac
	inventory "$HERE/m" >"$HERE/now"
	cmp -s "$HERE/before" "$HERE/now" || wrong 'it has changed something'
}

# a file that is made: there and right, or not there; with the same name and all the words it comes into being afterwards
judge_file() {
	if [ "$rc" = 0 ]; then
		cmp -s "$made" "$WORK/made.$verb" || wrong 'the file is not the one that it makes undisturbed'
	elif [ -e "$made" ]; then	# only its flush failed
		cmp -s "$made" "$WORK/made.$verb" || says 'is written, but' || wrong 'half a file under its name'
		says 'flush\|is written, but' || wrong 'it says that it failed, and the file is there'
	fi
	inventory "$HERE/m" | sed 's/ .*//' | grep -v '^\./evidence$' >"$HERE/now"
	sed 's/ .*//' "$HERE/before" | comm -13 - "$HERE/now" | grep -v '^\./etc/dray' >"$HERE/more"
	[ ! -s "$HERE/more" ] || says 'unlink\|left' || grep -q unlink "$HERE/list" || wrong "left behind: $(cat "$HERE/more")"
	if [ "$rc" != 0 ] && [ ! -e "$made" ]; then
		disturbed "$HERE/list2" sync:0:EIO -- >"$HERE/then" 2>&1 </dev/null || wrong "the same again: status $?"
		cmp -s "$made" "$WORK/made.$verb" || wrong 'the same again makes another file'
	fi
}

judge() {
	case " $may " in
	*" $rc "*) ;;
	*) wrong "status $rc is none that it may have" ;;
	esac
	if [ "$rc" != 0 ]; then
		says '^dray-install: ' || [ "$verb" = check-damaged ] || wrong 'it does not say why'
		if says 'Success\|(null)\|errno'; then wrong 'that is no message'; fi
	fi
	case $kind in
	look) judge_look; return ;;
	file) judge_file; return ;;
	esac
	now=$(state_now "$from" "$to" ${first:+"$first"})
	case $rc in
	0 | 50) [ "$now" = "$to" ] || named_foreign || wrong "$rc, but the tree is $now" ;;
	41)
		case $verb:$now in
		resume:old | *:"$from") ;;
		*) wrong "41, but the tree is $now" ;;
		esac
		;;
	*) if says 'nothing live was changed\|nothing was changed\|everything is as it was' && [ "$now" != "$from" ] &&
		    [ "$from" != between ]; then
			wrong "it says that nothing was changed, but the tree is $now"
		fi ;;
	esac
	[ "$verb" != forget ] || [ "$now" = new ] || wrong "the tree is $now"
	# shellcheck disable=SC2086
	run "$HERE/then" resume --root "$t" -j1 $chroot || wrong "the next resume: status $?"
	case $from in
	between) then=$(state_now old new) ;;
	*) then=$(state_now "$from" "$to") ;;
	esac
	# what somebody else has put there is left, or lies in the stash, and was named
	! named_foreign || return
	[ "$then" != between ] || wrong "after resume the tree is neither $from nor $to"
	[ "$verb:$then" != resume:old ] || [ "$rc" = 41 ] || says 'going back stopped too' || wrong 'a commit was taken back'
	[ "$verb:$then" != undo:new ] || wrong 'the way back was taken back'
	run "$HERE/then" status --root "$t" --json || wrong "status: status $?"
	case $then:$(grep -o '"pending":"[a-z-]*"' "$HERE/then") in
	*:'"pending":"none"' | mid?:'"pending":"between-phases"') ;;
	*) wrong 'something is pending after resume' ;;
	esac
	run "$HERE/then" status --root "$t" --log || [ "$error" = flip ] || wrong "the evidence: status $?"
	left=$(left_behind "$t"
	    case $then in old | phases | calm) ls "$t/$STATE/tx" 2>/dev/null ;; esac)
	[ -z "$left" ] || wrong "left behind: $left"
	if [ -n "$chroot" ] && [ "$then" = called ]; then
		# one that failed waits until somebody says so
		run "$HERE/then" triggers --root "$t" --allow-chroot || wrong "the next triggers: status $?"
		run "$HERE/then" status --root "$t" --json
		grep -q '"triggers_due":\[\]' "$HERE/then" || wrong 'a trigger still waits'
		grep -qx one "$t/log" && grep -qx two "$t/log" || wrong "a trigger has not run: $(tr '\n' ' ' <"$t/log")"
	fi
	[ $((serial % 4)) = 0 ] && [ -z "$except" ] || return
	# shellcheck disable=SC2086
	run "$HERE/then" $whole -j1 || wrong "the next apply: status $?"
	tree_is "$last" || wrong "the next apply does not reach $last"
	run "$HERE/then" check --root "$t" -j1 || [ -n "$chroot" ] || wrong "check: status $?"
	[ "$verb" != forget ] || return
	# shellcheck disable=SC2086
	run "$HERE/then" rollback --root "$t" -j1 $chroot || wrong "the next rollback: status $?"
	tree_is "$first" || wrong "the next rollback does not reach $first"
}
