#!/bin/sh
# --json: real documents of every verb against their schemas in spec/json; a key that a schema does not know is a failure
# here, though readers have to pass over it, so that schemas move with the programs
. "$(dirname "$0")/lib.sh"

mkdir seen
n=0
# json NAME STATUS CMD... - this command prints one document NAME
json() {
	name=$1 wanted=$2
	shift 2
	run "$@" --json
	want_status "$wanted"
	n=$((n + 1))
	cp out "seen/$name.$n"
	if perl "$TOP/tests/cli/json-schema.pl" "$TOP/spec/json/$name.json" out >told 2>&1; then
		ok "$name: $*"
	else
		fail "$name: $*: $(head -n 5 told)"
		head -c 600 out
	fi
	echo "$name" >>used
	case $1 in "$DRAY") prog=dray ;; *) prog=dray-install ;; esac
	case "$2 ${3:-}" in
	"key "* | "hook "* | "trust "*) echo "$prog $2 $3" ;;
	*) echo "$prog $2" ;;
	esac >>verbs
}

run "$DRAY" quickstart demo
need_status 0
cp -a demo/old plain && "$DRAY" extract demo/up.dray etc/app/app.conf -C x -q && cp -a plain twice
k="--keyring demo/ops.pub"
json key-new 0 "$DRAY" key new k2
json key-show 0 "$DRAY" key show k2.pub
json key-show 0 "$DRAY" key show k2.key
json error 2 "$DRAY" key new k2
mkdir one && echo one >one/a && mkdir -p two/d && echo two >two/a && ln two/a two/d/b && ln -s a two/c && echo note >note
json build 0 "$DRAY" build --from one --to two --product p --version 2 --counter 2 -o b.dray --note note
json build 0 "$DRAY" build --to two --product p --version 2 --counter 2 --key k2.key -o full.dray --no-cache
json build 0 "$DRAY" build --history one --to two --product p --version 2 --counter 2 -o h.dray --apply-cpu 100
json sign 0 "$DRAY" sign b.dray --key k2.key
json sign 0 "$DRAY" resign b.dray --key demo/ops.key
json sign-request 0 "$DRAY" sign b.dray --request -o b.req
json sign-request 0 "$DRAY" sign --make b.req --key k2.key -o b.sig
json sign 0 "$DRAY" sign b.dray --add b.sig
json info 0 "$DRAY" info demo/up.dray
# shellcheck disable=SC2086 # an option and its value
json info 0 "$INSTALL" info b.dray $k
json list 0 "$DRAY" list demo/up.dray -l
json list 0 "$INSTALL" list b.dray
json why 0 "$DRAY" list demo/up.dray --why usr/bin/tool-05 --why etc/app/app.conf
json verify 0 "$DRAY" verify demo/up.dray --keyring demo/ops.pub
json verify 0 "$INSTALL" verify b.dray --keyring demo/ops.pub
json error 30 "$INSTALL" verify full.dray --keyring demo/ops.pub
json extract 0 "$DRAY" extract demo/up.dray -C y --base demo/old --keyring demo/ops.pub
json diff 20 "$DRAY" diff -a one two
json diff 0 "$DRAY" diff demo/up.dray demo/up.dray
mkdir s1 stick
json split 0 "$DRAY" split demo/up.dray --size 100k -d s1
json join 0 "$DRAY" join s1 -o j.dray
json copy 0 "$DRAY" copy demo/up.dray stick --check

json plan 0 "$INSTALL" plan demo/up.dray --root plain --keyring demo/ops.pub
sed 's/^log.*/log here/; 3,4d' plain/etc/app/app.conf >conf && cat conf >twice/etc/app/app.conf
mkdir twice/lib/libdemo.so.1.1
json plan 20 "$INSTALL" plan demo/up.dray --root twice --keyring demo/ops.pub
rmdir twice/lib/libdemo.so.1.1
json conflicts 20 "$INSTALL" conflicts demo/up.dray --root twice --keyring demo/ops.pub
json conflicts-show 0 "$INSTALL" conflicts demo/up.dray --show etc/app/app.conf --root twice --keyring demo/ops.pub
json conflicts-take 0 "$INSTALL" conflicts demo/up.dray --take theirs etc/app/app.conf --root twice --keyring demo/ops.pub
json conflicts-take 0 "$INSTALL" conflicts demo/up.dray --reopen etc/app/app.conf --root twice --keyring demo/ops.pub
cp x/etc/app/app.conf mine
json conflicts-take 0 "$INSTALL" conflicts demo/up.dray --edit etc/app/app.conf --from mine --root twice --keyring demo/ops.pub
json apply 0 "$INSTALL" apply demo/up.dray --root plain --keyring demo/ops.pub
json apply 10 "$INSTALL" apply demo/up.dray --root plain --keyring demo/ops.pub --exit-detail
json apply 0 "$INSTALL" apply demo/up.dray --root twice --keyring demo/ops.pub
json conflicts-list 0 "$INSTALL" conflicts --list --root twice
json check 0 "$INSTALL" check --root plain --extra
echo bad >plain/usr/bin/tool-01 && rm plain/usr/bin/tool-02
json check 20 "$INSTALL" check --root plain
json repair 20 "$INSTALL" repair demo/up.dray --root plain --keyring demo/ops.pub --dry-run
"$DRAY" build --to demo/new --product demo --version 1.1 --counter 2 --config 'etc/**' --key demo/ops.key -o all.dray -q
json repair 0 "$INSTALL" repair all.dray --root plain --keyring demo/ops.pub --dry-run
json repair 0 "$INSTALL" repair all.dray --root plain --keyring demo/ops.pub
json repair 0 "$INSTALL" repair all.dray --root plain --keyring demo/ops.pub
json status 0 "$INSTALL" status --root plain
json status-log 0 "$INSTALL" status --log --root plain
json status-paths 0 "$INSTALL" status --paths 1 --root plain
json status-export 0 "$INSTALL" status --export ev --root plain
[ ! -d /proc/self ] || json status-restart 0 "$INSTALL" status --needs-restart --root plain
json report 0 "$DRAY" report ev
json status-paths 0 "$DRAY" report ev --paths 1
json back 0 "$INSTALL" rollback --root plain
json back 0 "$INSTALL" resume --root plain
json triggers 0 "$INSTALL" triggers --root plain
json forget 0 "$INSTALL" forget --root twice
json hook 0 "$INSTALL" hook status --root plain
mkdir -p plain/lib/systemd && echo x >plain/lib/systemd/systemd
json hook 0 "$INSTALL" hook install --root plain
json hook 0 "$INSTALL" hook remove --root plain
if is_root && [ -z "${SAN:-}" ]; then
	mkdir -p jail/etc && cp "$INSTALL" demo/ops.pub jail
	json error 30 chroot jail /dray-install trust show
	print=$("$DRAY" key show demo/ops.pub | grep -oE '([0-9a-f]{4} ){7}[0-9a-f]{4}' | head -n 1)
	in_jail() { chroot jail /dray-install "$@"; }
	json trust-init 0 in_jail trust init ops.pub --fingerprint "$print"
	json trust-show 0 in_jail trust show
fi

# every verb is in here, but those that print no document; so is every schema
for prog in "$DRAY" "$INSTALL"; do
	"$prog" --help | sed -n "s/^  \([a-z][a-z ]\{19\}\)[^ ].*/${prog##*/} \1/p" | sed 's/ *$//'
done | grep -vxE 'dray (quickstart|policy|fetch)|dray-install help' | sort >all
sort -u verbs | grep -v ' jail$' >these
if ! is_root || [ -n "${SAN:-}" ]; then grep -v ' trust ' all >some; mv some all; fi
missing=$(comm -23 all these)
[ -z "$missing" ] && ok 'every verb' || fail "no document of: $missing"
for f in "$TOP"/spec/json/*.json; do
	f=${f##*/} f=${f%.json}
	case $f in fetch | progress | trust-* | release | error-object) continue ;; esac
	grep -qx "$f" used || fail "$f.json is of no document here"
done

# lines of progress
run "$INSTALL" apply demo/up.dray --root demo/old --keyring demo/ops.pub --progress=json
grep '^{' err | while IFS= read -r line; do
	echo "$line" >line
	perl "$TOP/tests/cli/json-schema.pl" "$TOP/spec/json/progress.json" line || echo bad >progress-bad
done
[ ! -e progress-bad ] && ok 'progress' || fail 'progress'
[ -z "${KEEP_JSON:-}" ] || cp -a seen "$KEEP_JSON"
