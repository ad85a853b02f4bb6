#!/bin/sh
# the last line of each report names the command that comes next, or says that there is nothing to do; what it names is a
# command. What prints a result and no report (list, diff, policy, help, lists of paths) is not asked
. "$(dirname "$0")/lib.sh"

mkdir bin
ln -s "$DRAY" bin/dray && ln -s "$INSTALL" bin/dray-install
PATH=$T/bin:$PATH

# names STATUS PROG VERB... - runs it
names() {
	wanted=$1
	shift
	run "$@"
	want_status "$wanted"
	# lines that a backslash or an indent joins are one
	sed -e ':a' -e '/\\$/{N;s/\\\n *//;ba' -e '}' out | awk '/^ / && last ~ /^next: / { last = last $0; next } { last = $0 } END { print last }' >last
	if grep -qE '^(next|to [a-z ]+): (dray|dray-install) [a-z]' last; then
		words=$(sed -E 's/^[a-z ]+: ((dray|dray-install) (key|hook|trust) [a-z]+|(dray|dray-install) [a-z]+).*/\1/' last)
		# shellcheck disable=SC2086 # a program, and one or two words
		if $words --help >help 2>&1; then ok "$* names $words"; else fail "$* names $words, which is none"; fi
	elif grep -qE '^next: (take it |have its boot call )' last; then
		ok "$*: something that no command does here"
	elif grep -qE 'nothing to (do|restart)$|^nothing to do|nothing to do on ' last; then
		ok "$*: nothing to do"
	else
		fail "$*: the last line names no command: $(cat last)"
	fi
}

names 0 dray quickstart demo
k=demo/ops.pub
names 0 dray key new k2
names 0 dray key show k2.pub
names 0 dray key show k2.key
mkdir one two && echo 1 >one/a && echo 2 >two/a
names 0 dray build --from one --to two --product p --version 2 --counter 2 -o a.dray
names 0 dray build --from one --to two --product p --version 2 --counter 2 -o b.dray --key k2.key
names 0 dray sign a.dray --key k2.key
names 0 dray sign a.dray --request -o req
names 0 dray sign --make req --key demo/ops.key -o sig
names 0 dray sign a.dray --add sig
names 0 dray resign a.dray --key demo/ops.key
names 0 dray info demo/up.dray
names 0 dray verify demo/up.dray --keyring $k
mkdir s1 stick
names 0 dray split demo/up.dray --size 100k -d s1
names 0 dray join s1 -o j.dray
names 0 dray copy demo/up.dray stick
names 0 dray extract demo/up.dray -C y --base demo/old --keyring $k

cp -a demo/old root
names 0 dray-install info demo/up.dray
names 0 dray-install verify demo/up.dray --keyring $k
names 0 dray-install status --root root
names 0 dray-install plan demo/up.dray --root root --keyring $k
names 0 dray-install conflicts demo/up.dray --root root --keyring $k
names 0 dray-install apply demo/up.dray --root root --keyring $k
names 0 dray-install apply demo/up.dray --root root --keyring $k
names 0 dray-install plan demo/up.dray --root root --keyring $k
names 0 dray-install check --root root
names 0 dray-install check demo/up.dray --root root --keyring $k --extra
names 0 dray-install status --root root
names 0 dray-install status --log --root root
names 0 dray-install status --export ev --root root
[ ! -d /proc/self ] || names 0 dray-install status --needs-restart --root root
names 0 dray report ev
names 0 dray-install conflicts --list --root root
names 0 dray-install repair demo/up.dray --root root --keyring $k
rm root/usr/bin/tool-05
names 0 dray-install repair demo/up.dray --root root --keyring $k --dry-run
names 0 dray-install repair demo/up.dray --root root --keyring $k
names 0 dray-install triggers --root root
names 0 dray-install resume --root root
names 0 dray-install rollback --root root
names 0 dray-install forget --root root
names 0 dray-install forget --root root
mkdir -p root/lib/systemd && echo x >root/lib/systemd/systemd
names 0 dray-install hook status --root root
names 0 dray-install hook install --root root
names 0 dray-install hook status --root root
names 0 dray-install hook remove --root root
names 0 dray-install hook remove --root root

# an edit that no merge settles
cp -a demo/old other && echo 'log here' >other/etc/app/app.conf
run dray-install conflicts demo/up.dray --root other --keyring $k
want_status 20
want_text 'hint: with PATH and --take mine, --take theirs, --show or --edit' err
names 0 dray-install conflicts demo/up.dray --take theirs etc/app/app.conf --root other --keyring $k
names 0 dray-install conflicts demo/up.dray --reopen etc/app/app.conf --root other --keyring $k

if is_root && [ -z "${SAN:-}" ]; then
	mkdir -p jail/etc && cp "$INSTALL" $k jail
	print=$("$DRAY" key show $k | grep -oE '([0-9a-f]{4} ){7}[0-9a-f]{4}' | head -n 1)
	names 0 chroot jail /dray-install trust init ops.pub --fingerprint "$print"
	names 0 chroot jail /dray-install trust show
fi

# a slip is answered with what is nearest, by both programs, for verbs, groups of two words and options
near() {	# near TEXT PROG WORD...
	text=$1
	shift
	run "$@"
	want_status 2
	want_text "$text" err
}
near 'did you mean verify?' dray verfy b.dray
near 'did you mean apply?' dray-install aply b.dray
near 'did you mean rollback?' dray-install rolback
near 'did you mean hook?' dray-install hok install
near 'did you mean key show?' dray key shw
near 'there are: key new, key show' dray key quux
near 'did you mean trust show?' dray-install trust shwo
near 'did you mean --keyring?' dray verify b.dray --keyrng x
near 'did you mean --counter?' dray build --conter 2
near 'did you mean --root?' dray-install plan b.dray --rot x
near 'did you mean messages?' dray-install help mesages
