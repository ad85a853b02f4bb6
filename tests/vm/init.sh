#!/bin/sh
# init.sh - the first process of the guest (tools/vm.sh): does what vm=WHAT of the kernel's command line says on this
# machine's own root, tells it on the console in lines that begin with "VM", and turns the machine off
export PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C TZ=UTC HOME=/root
what=$(sed 's/.*\<vm=\([^ ]*\).*/\1/' /proc/cmdline)
install=/usr/local/sbin/dray-install

mount -o remount,rw /
mount -t tmpfs tmp /tmp
echo "VM BEGIN $what $(uname -r)"

off() {
	sync
	echo o >/proc/sysrq-trigger
	sleep 60
}

# which tree is this?
state() {
	sh /vm/inventory.sh / >/tmp/now
	for t in old new; do
		if cmp -s "/vm/$t.list" /tmp/now; then
			echo "VM TREE $t"
			return
		fi
	done
	echo "VM TREE neither old nor new; what differs from the nearer one:"
	diff /vm/old.list /tmp/now >/tmp/old
	diff /vm/new.list /tmp/now >/tmp/new
	if [ "$(wc -l </tmp/old)" -lt "$(wc -l </tmp/new)" ]; then head -n 20 /tmp/old; else head -n 20 /tmp/new; fi
}

case $what in
apply*)		# apply, apply:slow
	set -- $install apply /vm/up.dray --keyring /vm/ops.pub
	# two milliseconds for each rename make the switch long enough to be hit
	[ "$what" = apply ] || set -- strace -f -qq -o /dev/null -e trace=renameat2 -e inject=renameat2:delay_enter=2000 "$@"
	echo "VM APPLY"
	"$@"
	echo "VM APPLIED $?"
	;;
killed)		# in the middle of the switch, as a killed process leaves it
	strace -f -qq -o /dev/null -e trace=renameat2 -e inject=renameat2:signal=KILL:when=400 \
	    $install apply /vm/up.dray --keyring /vm/ops.pub -q -j1
	echo "VM KILLED $?"
	;;
resume)
	$install resume -q
	echo "VM RESUMED $?"
	$install status --json | grep -q '"pending":"none"' && echo 'VM NOTHING PENDING'
	state
	;;
state)		# after a rescue: this is what it started as init
	$install status --json | grep -q '"pending":"none"' && echo 'VM NOTHING PENDING'
	state
	;;
rollback)
	$install rollback -q
	echo "VM ROLLED BACK $?"
	state
	;;
tests)
	modprobe -a loop quota_v2 xfs btrfs overlay
	cd /vm/dray || off
	mkdir -p out/test-logs
	for t in $(cat /vm/tests); do
		TMPDIR=/var/tmp sh "tests/cli/$t.sh" >"out/test-logs/$t" 2>&1 </dev/null
		echo "VM TEST $t $?"
		sed 's/^/    /' "out/test-logs/$t"
	done
	;;
*) echo "VM nothing known as $what" ;;
esac
echo "VM END $what"
off
