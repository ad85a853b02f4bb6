#!/bin/sh
# story: up through the disc. Two people, two keys, a medium that only goes one way: what the bundle says of itself, a copy
# that was read back, paper for the keys, and on the other side a machine that verifies from a medium nobody may write
. "$(dirname "$0")/lib.sh"

"$DRAY" quickstart demo -q || exit 1
key build && key security
n=0
keyring() {	# of both keys, two must sign
	printf '{"dray_keyring": 1, "threshold": 2, "keys": [\n'
	for k in build security; do
		n=$((n + 1))
		printf '%s{"name": "%s", "pem": "%s"}\n' "$([ $k = build ] || echo ,)" $k "$(awk '{ printf "%s\\n", $0 }' $k.pub)"
	done
	printf ']}\n'
}
keyring >keyring.json
run "$DRAY" build --to demo/new --from demo/old --from-version 1.0:1 --product demo --version 1.1 --counter 41 \
    --config 'etc/**' --key build.key -o up.dray
need_status 0

# one of two is not enough, on either side
run "$DRAY" verify up.dray --keyring keyring.json
want_status 30
want_text '1 of 2 needed signatures' err
run "$DRAY" sign up.dray --key security.key
want_status 0

# product, release number, from where, id, who signed, size
run "$DRAY" info up.dray --keyring keyring.json
want_status 0
for text in 'product    demo' 'release    1.1, counter 41' 'from       1.0, counter 1' '  id         ' 'build: good' 'security: good' 'size       '; do
	want_text "$text" out
done
group=$(sed -n 's/^  id  *//p' out)

mkdir disc
run "$DRAY" copy up.dray disc --check
want_status 0
want_text 'written, flushed, read back' out
id=$("$DRAY" info up.dray --json | grep -o '"id":"[0-9a-f]*"' | head -n 1 | cut -d '"' -f 4)
want_text "bundle id $id" disc/up.txt
[ "$(awk 'length > 76' disc/up.txt)" = '' ] && [ "$(wc -l <disc/up.txt)" -lt 60 ] && ok 'a sheet of one page' || fail 'the sheet is no page'
# paper: each key on a page, all digits in numbered groups, two lines to sign
run "$DRAY" key show build.pub --sheet
want_status 0
for text in 'the whole of it, in numbered groups' '  16 ' 'made by   ____' 'compared  ____'; do want_text "$text" out; done
print=$(grep -m 1 '^fingerprint' out | sed 's/^fingerprint *//')

# the high side: nobody may write to the disc, and nothing is written beside the bundle
chmod -R a-w disc
tree_snapshot disc >disc-before
reader() {
	if is_root; then as_nobody "$@"; else "$@"; fi
}
run reader "$INSTALL" verify disc/up.dray --keyring keyring.json
want_status 0
want_text 'build: good' out
want_text 'security: good' out
want_text '2 good of 2 needed' out
want_text 'all checked' out
want_text "$group" out
want_unchanged disc disc-before
# the first key by its paper: capitals, blanks and dashes as people type them; another number is 30, and nothing is trusted
if is_root && [ -z "${SAN:-}" ]; then
	mkdir -p high/etc && cp "$INSTALL" build.pub high
	run chroot high /dray-install trust init build.pub --fingerprint "$(echo "$print" | sed 's/^..../0000/')"
	want_status 30
	want_text 'it is another key' err
	no_file high/etc/dray
	run chroot high /dray-install trust init build.pub --fingerprint "$(echo "$print" | tr 'a-f ' 'A-F-')"
	want_status 0
	# a rescue shell without /proc: planned; refused with what to do; nothing of the system changed
	mkdir -p high/disc && cp disc/up.dray keyring.json high/disc && cp -a demo/old/. high/
	run chroot high /dray-install plan disc/up.dray --keyring disc/keyring.json
	want_status 0
	run chroot high /dray-install apply disc/up.dray --keyring disc/keyring.json
	want_status 1
	want_text 'open the running program: no such file or directory' err
	want_text 'hint: nothing live was changed; if /proc is not mounted: mount -t proc proc /proc, and the same command again' err
	run diff -r --no-dereference --exclude=dray demo/old/usr high/usr
	want_status 0
	run diff -r --no-dereference --exclude=dray demo/old/etc high/etc
	want_status 0
fi
# a medium that root may write to is not written to either, whatever reads from it
chmod -R u+w disc
tree_snapshot disc >disc-before
cp -a demo/old high-side
for verb in info list verify 'plan --root high-side' 'apply --root high-side'; do
	# shellcheck disable=SC2086 # a verb and its options
	run "$INSTALL" $verb disc/up.dray --keyring keyring.json
	want_status 0
	want_unchanged disc disc-before
done
# no clock: at its zero, or broken, it is the same bundle; and nothing that decides about trust asks for it
if [ -z "${SAN:-}" ] && command -v cc >/dev/null; then
	cat >clock.c <<'END'
#include <errno.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static int broken(void) { return getenv("BROKEN") != NULL; }
int clock_gettime(clockid_t id, struct timespec *t) { (void)id; *t = (struct timespec){ 0 }; errno = EINVAL; return broken() ? -1 : 0; }
int gettimeofday(struct timeval *restrict t, void *restrict z) { (void)z; *t = (struct timeval){ 0 }; errno = EINVAL; return broken() ? -1 : 0; }
time_t time(time_t *t) { time_t now = broken() ? -1 : 0; if (t != NULL) *t = now; return now; }
END
	cc -shared -fPIC -o clock.so clock.c || fail 'the clock does not compile'
	"$DRAY" verify disc/up.dray --keyring keyring.json >with-clock
	for how in BROKEN= -u; do
		if [ "$how" = -u ]; then set -- env -u BROKEN; else set -- env BROKEN=1; fi
		run "$@" LD_PRELOAD="$T/clock.so" "$DRAY" verify disc/up.dray --keyring keyring.json
		want_status 0
		want_same out with-clock
	done
	run env LD_PRELOAD="$T/clock.so" "$DRAY" verify disc/up.dray --keyring build.pub
	want_status 0
fi
if (cd "$TOP/format" && grep -nE '(^|[^a-z_])(time|gettimeofday|clock_gettime|localtime|gmtime)(_r)? *[(]' trust.c keyring.c pubkey.c \
    bundle.c slot.c); then
	fail 'trust asks for the time'
else
	ok 'trust asks no clock'
fi

# a scanner wants plain files; what comes out goes in again and is the same bundle
"$DRAY" build --to demo/new --product demo --version 1.1 --counter 41 -o full.dray -q || fail 'no full bundle'
run "$DRAY" extract full.dray -C scan
want_status 0
run "$DRAY" build --to scan --product demo --version 1.1 --counter 41 -o again.dray
want_status 0
run "$DRAY" diff full.dray again.dray
want_status 0
want_same full.dray again.dray
