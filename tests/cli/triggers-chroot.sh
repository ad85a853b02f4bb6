#!/bin/sh
# what a trigger of another root finds around it: a proc of its own processes that it cannot write to, the usual devices, and
# empty folders for what is of no use to anybody afterwards. The tree has nothing of that before or after
. "$(dirname "$0")/lib.sh"
is_root || skip "a chroot needs root"
unshare --mount --pid --fork --propagation private mount -t tmpfs none /mnt 2>/dev/null || skip "no mounts of one's own here"

mkdir -p old/etc old/bin old/var/lib old/proc old/dev old/run old/tmp old/var/tmp old/srv new
cc -static -x c -o old/bin/look - <<'EOF' || skip "no static C library"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static void put(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0644);
	printf("%s %s\n", path, fd != -1 && write(fd, "x", 1) == 1 ? "written" : "refused");
}
int main(void)
{
	static const char *const dev[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom" };
	char exe[100] = "";
	struct stat st;
	for (int i = 0; i < 5; i++)
		printf("%s %s\n", dev[i], stat(dev[i], &st) == 0 && S_ISCHR(st.st_mode) ? "device" : "none");
	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0)
		printf("exe %s\n", exe);
	printf("1 %s\n", stat("/proc/1/exe", &st) == 0 && stat("/proc/2/exe", &st) != 0 ? "alone" : "not alone");
	printf("fd %s\n", stat("/dev/fd/1", &st) == 0 ? "open" : "none");
	put("/dev/null");
	put("/proc/sys/kernel/core_pattern");
	put("/run/x");
	put("/tmp/x");
	put("/var/tmp/x");
	put("/dev/shm/x");
	put("/srv/x");
	return 0;
}
EOF
cp -a old/. new
echo old >old/etc/a
echo new >new/etc/a
key
cat >up.json <<'END2'
{"recipe":1,"product":"demo","version":"1.1","counter":2,"from":[{"source":"old","version":"1.0","counter":1}],"to":"new",
"triggers":[{"id":"look","paths":["etc/a"],"argv":["/bin/look"]}]}
END2
run "$DRAY" build --recipe up.json --key ops.key -o up.dray
need_status 0
cp -a old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
run "$INSTALL" triggers --root root --allow-chroot
need_status 0
for l in '/dev/null device' '/dev/zero device' '/dev/full device' '/dev/random device' '/dev/urandom device' 'exe /bin/look' \
    '1 alone' 'fd open' '/dev/null written' '/proc/sys/kernel/core_pattern refused' '/run/x written' '/tmp/x written' '/var/tmp/x written' \
    '/dev/shm/x written' '/srv/x written'; do
	want_text "    $l" out
done
for d in proc dev run tmp var/tmp; do
	if [ -z "$(ls -A root/$d)" ]; then ok "nothing is left in $d"; else fail "left in $d: $(ls -A root/$d)"; fi
done
want_file root/srv/x
grep -qF " $PWD/root/" /proc/self/mountinfo && fail 'a mount is left' || ok 'no mount is left'

# a folder that is a symlink is none: nothing is mounted where it leads
rm -rf root
cp -a old root
rmdir root/tmp
ln -s srv root/tmp
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0
run "$INSTALL" triggers --root root --allow-chroot
need_status 0
want_file root/srv/x
