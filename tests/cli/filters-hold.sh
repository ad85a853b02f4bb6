#!/bin/sh
# while a trigger runs, the run that asked for it is behind its filters and the runner is not: a trigger may make a socket; what
# writes elsewhere than beneath the root is refused by the kernel, and what should go there still does
. "$(dirname "$0")/lib.sh"
is_root || skip 'a chroot needs root'
[ -r /proc/self/status ] || skip 'there is no /proc that tells'

mkdir -p old/etc old/bin old/var/lib
cc -static -x c -o old/bin/act - <<'END' || skip 'no static C library'
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
/* says whether it has a socket, memory for code, and a process; then waits until /go is there */
int main(void)
{
	FILE *f;
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	f = fopen("/said", "w");
	fprintf(f, "socket %d code %d process %d\n", socket(AF_UNIX, SOCK_STREAM, 0) != -1,
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED, child != -1);
	fclose(f);
	rename("/said", "/told");
	while (access("/go", F_OK) != 0)
		usleep(10000);
	return 0;
}
END
cp -a old new
echo 1 >old/etc/a
echo 2 >new/etc/a
key
cat >up.json <<'END'
{"recipe":1,"product":"demo","version":"2","counter":2,"from":[{"source":"old","version":"1","counter":1}],"to":"new",
"triggers":[{"id":"act","paths":["etc/a"],"argv":["/bin/act"]}]}
END
run "$DRAY" build --recipe up.json --key ops.key -o up.dray
need_status 0
cp -a old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
rm -f root/told root/go

start() {	# a run whose program waits; $pid
	"$INSTALL" triggers --root root --allow-chroot >out 2>err </dev/null &
	pid=$!
	while [ ! -e root/told ]; do
		kill -0 $pid 2>/dev/null || { fail "triggers ended too soon: $(cat out err)"; exit 1; }
		sleep 0.02
	done
}
start
filtered() {	# PROCESS: its number of filters
	sed -n 's/^Seccomp:[[:space:]]*//p' /proc/"$1"/status
}
mine=$(filtered self)
runner=$(cat /proc/$pid/task/$pid/children)
# shellcheck disable=SC2086 # numbers
set -- $runner
[ $# = 1 ] && ok 'one runner' || fail "children of the run: $runner"
[ "$(filtered "$1")" = "$mine" ] && ok 'the runner has no filter' || fail "the runner has mode $(filtered "$1")"
run "$INSTALL" status --root root --json
need_status 0
if in_file '"calls"' out; then
	[ "$(filtered $pid)" = 2 ] && ok 'the run is filtered' || fail "the run has mode $(filtered $pid)"
	grep -q '^NoNewPrivs:[[:space:]]*1' /proc/$pid/status && ok 'and gains nothing' || fail 'it may gain rights'
	run "$INSTALL" status --root root -v
	want_text 'filters of this program: system calls yes' out
fi
# no handle but the two pipes leads from the run to the runner, and no socket
ls -l /proc/$pid/fd >fds
no_text 'socket:' fds
: >root/go
wait $pid
ended $? triggers
want_status 0
want_same root/told - <<'END'
socket 1 code 1 process 1
END

# a run that is killed takes the runner and the program along
rm -f root/told root/go
run "$INSTALL" rollback --root root
need_status 0
start
runner=$(tr -d ' ' </proc/$pid/task/$pid/children)
kill -9 $pid
wait $pid 2>/dev/null
while kill -0 "$runner" 2>/dev/null && ! grep -q '^State:[[:space:]]*Z' "/proc/$runner/status" 2>/dev/null; do sleep 0.02; done
for p in /proc/[0-9]*; do
	case $(readlink "$p/exe" 2>/dev/null) in
	"$T"/root/bin/act) [ "$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "$p/status" 2>/dev/null)" = Z ] || fail "still there: $p" ;;
	esac
done
ok 'looked for what is left'

# the file that status --export makes may be anywhere; a policy's decisions as well
mkdir away
run "$INSTALL" status --root root --export away/it.evidence
want_status 0
want_file away/it.evidence
