#!/bin/sh
# surprise.sh - no command of the installer opens a socket, or writes outside the root and its state folder; what each holds
#   surprise.sh short            the trees of tools/make-cases.sh, small      (cli/no-surprise-writes)
#   surprise.sh full             those in full, and a piece of this machine's own /usr and /etc      (make surprise)
#
# Each command runs twice, in two equal targets: once measured (tests/bench/peak.c), once under strace, which follows every
# process and thread; judge.pl tells what is a finding. What is started as a trigger is followed and judged as well. Both
# targets end equal. In the folder for temporary files, in the home folder and where it was started nothing is left.
# The one file elsewhere is that of status --export, which the command line names.
#
# The table (descriptors, threads, files, memory) is kept in $OUT/surprise, dated.
export NAME=surprise
. "$(dirname "$0")/../crash/common.sh"

mode=${1:-short}
case $mode in
short | full) ;;
*)
	echo 'usage: surprise.sh short|full' >&2
	exit 2
	;;
esac
none() {
	echo "$*"
	exit 77
}
[ "$(id -u)" = 0 ] || none 'needs root, for owners and a chroot'
for p in strace perl; do command -v $p >/dev/null || none "needs $p"; done
if [ ! -x "$OUT/killat" ] || [ ! -x "$OUT/peak" ]; then none 'needs killat and peak'; fi
strace -o /dev/null true 2>/dev/null || none 'strace is not allowed to look'

scratch 2G
cd "$WORK" || exit 1
mkdir temp home cwd out
bad=0
wrong() {
	say "NOT OK $*"
	bad=$((bad + 1))
}
die() {
	say "$*"
	tail -n 20 log
	exit 1
}

# --- trees and bundles ---------------------------------------------------------------------------------------------

size=small
[ "$mode" = short ] || size=full
mkdir phases
sh "$TOP/tools/make-cases.sh" cases $size && sh "$TOP/tools/make-phases.sh" phases || exit 1
pack() {	# BUNDLE OLD NEW OPTION...
	bundle=$1 old=$2 new=$3
	shift 3
	"$DRAY" build --from "$old" --to "$new" --product quiet --version 2 --counter 2 --key ops.key -o "$bundle" --level fast "$@" \
	    >log 2>&1 || die "no $bundle"
}
"$DRAY" key new ops >/dev/null || exit 1
pack cases.dray cases/old cases/new
pack phases.dray phases/old phases/new --recipe phases/recipe.json
kinds='cases phases'
if [ "$mode" = full ]; then
	# every third file has a line more, every tenth is removed, every eleventh is there under another name too
	mkdir -p real/old/var/lib
	for d in /usr/sbin /usr/share/perl5 /usr/lib/python3 /etc; do
		[ ! -d $d ] || (cd / && find ".$d" -xdev \( -type f -size -2000k -o -type d -o -type l \) -print | head -n 2500 |
		    tar -c --no-recursion -T - -f - 2>/dev/null) | tar -C real/old -xpf -
	done
	cp -a real/old real/new
	(cd real/new && find . -type f | LC_ALL=C sort | awk '{
		if (NR % 10 == 0) print "rm -- \"" $0 "\""; else if (NR % 11 == 0) print "cp -p -- \"" $0 "\" \"" $0 ".more\""
		else if (NR % 3 == 0) print "echo more >>\"" $0 "\"" }' | sh)
	pack real.dray real/old real/new
	kinds="$kinds real"
	say "real: $(find real/old | wc -l) paths, $(du -sm real/old | cut -f 1) MB"
fi
mkdir -p triggers/old/var/lib triggers/old/etc triggers/old/bin
if cc -static -o triggers/old/bin/act "$TOP/tests/cli/act.c" 2>/dev/null; then
	echo 1 >triggers/old/etc/a
	cp -a triggers/old triggers/new
	echo 2 >triggers/new/etc/a
	cat >recipe.json <<'X'
{"recipe": 1, "triggers": [{"id": "one", "paths": ["etc/a"], "argv": ["/bin/act", "one", "@/etc/made=x"], "outputs": ["etc/made"]},
 {"id": "two", "paths": ["etc/a"], "argv": ["/bin/act", "two"], "needs": "none"}]}
X
	pack triggers.dray triggers/old triggers/new --recipe recipe.json
	kinds="$kinds triggers"
else
	say 'no static C library: no triggers'
fi
for twin in plain traced; do
	mkdir $twin
	for k in $kinds; do
		if [ -e "$k/old/$STATE" ]; then cp -a "$k/old" "$twin/$k"; else old_target "$k" "$twin/$k"; fi
	done
done
printf '%-22s %8s %6s %6s %7s %7s %6s %6s %8s\n' command KiB open procs threads written made temp calls >table

# --- one command, twice --------------------------------------------------------------------------------------------

CALLS=%file,%network,%process,%desc,io_uring_setup,bpf,unshare,setns,mount,umount2,pivot_root

# look NAME TREE ARG... - TREE is put behind --root; $also: one more place that it may write
also='' rows=0
look() {
	what=$1 tree=$2
	shift 2
	(cd cwd && TMPDIR=$WORK/temp HOME=$WORK/home "$OUT/peak" "$WORK/kib" "$INSTALL" "$@" ${tree:+--root "$WORK/plain/$tree"}) \
	    >"out/$what.plain" 2>&1 </dev/null
	rc=$?
	[ -z "$also" ] || rm -f "$also"
	[ $rc = 0 ] || wrong "$what: status $rc: $(tail -n 2 "out/$what.plain" | tr '\n' ' ')"
	(cd cwd && TMPDIR=$WORK/temp HOME=$WORK/home strace -f -y -qq -s 4096 -e signal=none \
	    -e "trace=$CALLS" -o "$WORK/trace" \
	    "$INSTALL" "$@" ${tree:+--root "$WORK/traced/$tree"}) >"out/$what.traced" 2>&1 </dev/null
	traced=$?
	[ $traced = $rc ] || wrong "$what, traced: status $traced: $(tail -n 2 "out/$what.traced" | tr '\n' ' ')"
	root=$WORK/traced/${tree:-nothing}
	# shellcheck disable=SC2086 # a list
	perl "$TOP/tests/surprise/judge.pl" trace "$WORK/cwd" "$WORK/out/$what.traced" "$root/$STATE" "$root" $also -- "$what" >judged
	judged=$?
	grep -v "^$what [0-9]" judged | tee -a pairs | grep '^wrong' | sed 's/^wrong: //' >findings
	[ ! -s findings ] || wrong "$(head -n 12 findings)"
	[ $judged = 0 ] || [ -s findings ] || wrong "$what: no judgement"
	grep "^$what [0-9]" judged | while read -r _ fds procs threads written made temp calls; do
		printf '%-22s %8s %6s %6s %7s %7s %6s %6s %8s\n' "$what" "$(cut -d ' ' -f 1 kib)" "$fds" "$procs" "$threads" "$written" \
		    "$made" "$temp" "$calls"
	done >>table
	rows=$((rows + 1))
	[ -z "${TRACES:-}" ] || cp trace "$TRACES/$what"
}

# stopped WHAT TREE BACK ARG... - both targets are left in the middle of its switch by a kill
stopped() {
	what=$1 tree=$2
	shift 2
	back=$1
	shift
	for twin in plain traced; do
		at=$WORK/$twin/$tree
		# how many calls it has is found by doing it once and going back
		"$OUT/killat" 0 calls "$INSTALL" "$@" --root "$at" -j1 >log 2>&1 </dev/null || die "$what"
		call=$(awk '$2 == "renameat2" { at[++n] = $1 } END { print at[int(n / 2)] }' calls)
		# shellcheck disable=SC2086 # words on purpose
		run log $back --root "$at" || die "$back after $what"
		"$OUT/killat" "$call" calls "$INSTALL" "$@" --root "$at" -j1 >log 2>&1 </dev/null
		[ $? = 137 ] || die "$what: not killed at call $call"
	done
}

# control - a program that does what none may: each of it has to be found
control() {
	mkdir -p "control/root/$STATE" control/other
	# shellcheck disable=SC2016 # its own variables
	strace -f -y -qq -s 4096 -e signal=none -e "trace=$CALLS" -o trace perl -MSocket -e '
		my ($root, $other) = @ARGV;
		sub say { my $f; open $f, ">", $_[0] and print $f "x" }
		say("$other/file");
		say("$other/temporary");
		unlink "$other/temporary";
		mkdir "$other/folder";
		rename "$other/file", "$root/taken";
		link "$root/taken", "$other/name";
		symlink "x", "$other/symlink";
		chmod 0600, "$other/name";
		utime 1, 1, "$other/name";
		truncate "$other/name", 0;
		symlink "../other", "$root/link";
		say("$root/link/through");
		say("$root/temporary");
		unlink "$root/temporary";
		chdir $other;
		say("../other/relative");
		say("$root/inside");
		chmod 0600, "$root/inside";
		socket my $s, PF_INET, SOCK_STREAM, 0;
		socket $s, PF_UNIX, SOCK_STREAM, 0 and connect $s, sockaddr_un("$other/socket");
		exit 0 if fork;
		mkdir "$other/child"' "$WORK/control/root" "$WORK/control/other" >log 2>&1 || die 'control'
	! perl "$TOP/tests/surprise/judge.pl" trace "$WORK" "$WORK/log" "$WORK/control/root/$STATE" "$WORK/control/root" -- control >judged ||
	    wrong 'control: nothing was found'
	for what in openat.*other/file 'write .*other/file' openat.*other/temporary 'unlink.* .*other/temporary' mkdir.*other/folder \
	    rename.*other/file link.*other/name symlink.*other/symlink chmod.*other/name utim.*other/name truncate.*other/name \
	    openat.*other/through 'names more than one part: .*link/through' 'temporary .*root/temporary' openat.*other/relative \
	    'socket(AF_INET' 'socket(AF_UNIX' connect mkdir.*other/child; do
		grep -q "^wrong: control: .*$what" judged || wrong "control: not found: $what"
	done
	! grep 'root/inside' judged | grep -qv 'more than one part' || wrong "control: $(grep root/inside judged)"
}

# a whole life, of each tree
life() {	# KIND
	b=$WORK/$1.dray key="--keyring $WORK/ops.pub"
	# shellcheck disable=SC2086 # words on purpose
	{
		look "verify.$1" '' verify "$b" $key
		look "info.$1" '' info "$b" $key
		look "list.$1" '' list "$b" $key
		look "plan.$1" "$1" plan "$b" $key
		look "apply.$1" "$1" apply "$b" $key -j4
		look "check.$1" "$1" check
		look "status.$1" "$1" status
		look "log.$1" "$1" status --log
		also="$WORK/cwd/evidence" look "export.$1" "$1" status --export "$WORK/cwd/evidence"
		rm -f cwd/evidence
		look "rollback.$1" "$1" rollback
		stopped apply "$1" rollback apply "$b" $key
		look "resume.$1" "$1" resume
		stopped rollback "$1" "apply $b $key" rollback
		look "resume-back.$1" "$1" resume
		look "apply-again.$1" "$1" apply "$b" $key
		f=$(cd "$1/new" && find . -type f -links 1 -size +0 | LC_ALL=C sort | head -n 1)
		for twin in plain traced; do echo damaged >"$twin/$1/$f"; done
		look "repair.$1" "$1" repair "$b" $key
		look "conflicts.$1" "$1" conflicts "$b" $key
		look "parked.$1" "$1" conflicts --list
		look "forget.$1" "$1" forget
	}
}

control
life cases
[ "$mode" = short ] || life real
k="--keyring $WORK/ops.pub"
# shellcheck disable=SC2086
{
	look phase.phases phases apply "$WORK/phases.dray" $k --phase kernel
	look phase-rest.phases phases apply "$WORK/phases.dray" $k
	look rollback.phases phases rollback
	look hook-install.cases cases hook install --init systemd
	look hook-status.cases cases hook status --init systemd
	look hook-remove.cases cases hook remove --init systemd
	case $kinds in
	*triggers*)
		look waiting.triggers triggers apply "$WORK/triggers.dray" $k --no-triggers
		look triggers.triggers triggers triggers --allow-chroot
		look rollback.triggers triggers rollback --allow-chroot
		look apply.triggers triggers apply "$WORK/triggers.dray" $k --allow-chroot
		;;
	esac
}

# --- what is left --------------------------------------------------------------------------------------------------

for k in $kinds; do
	differs "$WORK/plain/$k" "traced/$k" >differ 2>&1
	# a run by a trigger has the time of that run
	[ "$k" = triggers ] || [ ! -s differ ] || wrong "$k: the twins are not equal: $(head -n 4 differ | tr '\n' ' ')"
	left=$(left_behind "$WORK/traced/$k")
	[ -z "$left" ] || wrong "$k: left behind: $left"
done
for d in temp home cwd; do
	[ -z "$(ls -A $d)" ] || wrong "in $d: $(find $d)"
done
cat table
grep -v '^wrong' pairs | sed 's/ \(([^)]*\).*/ \1/' | sed 's/^[^ ]* //' | sort | uniq -c
if [ "$mode" = full ]; then
	mkdir -p "$OUT/surprise"
	result=$OUT/surprise/$(date -u +%Y-%m-%dT%H%M%SZ).txt
	{
		echo "$(uname -sr), $(sha256sum "$INSTALL" | cut -c 1-16)"
		cat table
	} >"$result"
	say "the table is kept in $result"
fi
say "$rows commands, $bad findings"
[ $bad = 0 ] && [ $rows -gt 0 ]
