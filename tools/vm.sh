#!/bin/sh
# vm.sh - dray-install on a whole Debian system in a virtual machine: as a kernel of its own and a machine without power
# show it     vm.sh [tests|rescue|power]...      default: all      (make vm calls it)
#   tests     tests/cli scripts that want what only few kernels have: casefold directories, quotas
#   rescue    the machine's own root is killed in the middle of the switch; init=/var/lib/dray/dray-install brings it up
#   power     POWER (10) times the machine is turned off at a random moment of an upgrade of its own root (SEED=1), every
#             other time with a switch made slow; after the next start and `resume` the tree must be old or new
# What the guest had not yet written is lost, what its disk had taken is not: a harder disk is another test's matter.
# The guest is made once, in OUT/vm, and needs 3 GB there; root only, and a mirror of Debian.
set -eu
export LC_ALL=C TZ=UTC

TOP=$(cd "$(dirname "$0")/.." && pwd)
OUT=${OUT:-$TOP/out} POWER=${POWER:-10} SEED=${SEED:-1}
OUT=$(cd "$OUT" && pwd)
VM=$OUT/vm
packages=linux-image-cloud-amd64,initramfs-tools,kmod,udev,strace,rsync,e2fsprogs,xfsprogs,btrfs-progs,attr,acl,libcap2-bin
packages=$packages,quota,openssl,libarchive13,libjson-c5,libcurl4,libdivsufsort3
vm_tests='fs-kinds apply-quota'

bad=0
verdict() {	# 0|1 TEXT
	if [ "$1" = 0 ]; then
		echo "ok     $2"
	else
		echo "not ok $2"
		bad=$((bad + 1))
	fi
}
running=
off() {
	[ -z "$running" ] || kill -9 "$running" 2>/dev/null || :
	wait "$running" 2>/dev/null || :
	running=
}
trap 'off; rm -f "$VM/disk"' EXIT
trap 'exit 130' INT TERM HUP

# the system as it is released: made once
make_system() {
	[ ! -e "$VM/rootfs/.made" ] || return 0
	mkdir -p "$VM"
	rm -rf "$VM/rootfs"
	echo 'vm: installing a Debian system (some minutes)'
	if ! debootstrap --variant=minbase --include="$packages" bookworm "$VM/rootfs" >"$VM/debootstrap.log" 2>&1; then
		tail -n 5 "$VM/debootstrap.log" >&2
		echo "vm: debootstrap failed; the whole log is in $VM/debootstrap.log" >&2
		exit 1
	fi
	rm -rf "$VM"/rootfs/var/cache/apt/archives/*.deb "$VM"/rootfs/var/lib/apt/lists/*
	: >"$VM/rootfs/.made"
}

# the next release: most programs and libraries other files that run the same, a third of the texts, things come and go
make_release() {
	rm -rf "$VM/old" "$VM/new"
	# times in whole seconds, for mkfs.ext4 -d keeps no others
	mkdir "$VM/old"
	tar --format=ustar --numeric-owner -C "$VM/rootfs" --exclude=./.made -cf - . | tar --numeric-owner -C "$VM/old" -xpf -
	install -m 755 "$OUT/dray-install" "$VM/old/usr/local/sbin/dray-install"
	touch -d @1700000000 "$VM/old/usr/local/sbin/dray-install" "$VM/old/usr/local/sbin"
	cp -a "$VM/old" "$VM/new"
	find "$VM/new/usr/bin" "$VM/new/usr/sbin" "$VM/new/usr/lib/x86_64-linux-gnu" -type f -size -300k | sort >"$VM/programs"
	echo "$VM/new/usr/lib/x86_64-linux-gnu/libc.so.6" >>"$VM/programs"
	find "$VM/new/usr/share" -type f | sort | awk 'NR % 3 == 0' >"$VM/texts"
	cat "$VM/programs" "$VM/texts" | tr '\n' '\0' |
	    xargs -0 sh -c 'for f; do printf "\n# the next release\n" >>"$f" && touch -d 2031-02-03T04:05:06 "$f"; done' sh
	rm -r "$VM/new/usr/share/zoneinfo/Asia" "$VM/new/usr/share/common-licenses"
	ln -s doc "$VM/new/usr/share/common-licenses"
	mkdir "$VM/new/usr/share/zoneinfo/Mars" && echo x >"$VM/new/usr/share/zoneinfo/Mars/base"
	(
		cd "$VM"
		rm -f ops.key ops.pub
		"$OUT/dray" key new ops >/dev/null
		"$OUT/dray" build -q --from old --to new --product vm --version 2 --counter 2 --level fast --key ops.key -o up.dray
	)
}

# the disk: the old release, and in /vm what the guest is told to do
make_disk() {
	rm -rf "$VM/old/vm"
	sh "$TOP/tests/vm/inventory.sh" "$VM/old" >"$VM/old.list"
	sh "$TOP/tests/vm/inventory.sh" "$VM/new" >"$VM/new.list"
	mkdir -p "$VM/old/vm/dray/out"
	cp "$TOP/tests/vm/init.sh" "$TOP/tests/vm/inventory.sh" "$VM/old.list" "$VM/new.list" "$VM/up.dray" "$VM/ops.pub" "$VM/old/vm"
	printf '%s\n' "$vm_tests" >"$VM/old/vm/tests"
	cp -r "$TOP/tests" "$VM/old/vm/dray"
	cp "$OUT/dray" "$OUT/dray-install" "$VM/old/vm/dray/out"
	install -m 755 "$TOP/tests/vm/init.sh" "$VM/old/usr/sbin/init"
	touch -r "$VM/new/usr/sbin" "$VM/old/usr/sbin"
	truncate -s 2G "$VM/disk.first"
	mkfs.ext4 -q -F -d "$VM/old" "$VM/disk.first"
}

fresh_disk() {
	cp --sparse=always "$VM/disk.first" "$VM/disk"
}

# start WHAT [INIT] - the machine, with its console in VM/console
start() {
	: >"$VM/console"
	qemu-system-x86_64 -machine q35 -accel tcg,thread=multi -smp 2 -m 1024 -no-reboot -display none \
	    -nodefaults -serial "file:$VM/console" -drive "file=$VM/disk,if=virtio,format=raw,cache=writeback" \
	    -kernel "$(echo "$VM"/rootfs/boot/vmlinuz-*)" -initrd "$(echo "$VM"/rootfs/boot/initrd.img-*)" \
	    -append "console=ttyS0 root=/dev/vda ro quiet panic=-1 vm=$1 init=${2:-/vm/init.sh}" </dev/null >"$VM/qemu.log" 2>&1 &
	running=$!
}
boot() {
	start "$@"
	for _ in $(seq 1200); do
		kill -0 "$running" 2>/dev/null || break
		sleep 1
	done
	off
}
said() { tr -d '\r' <"$VM/console" | grep -qx "VM $1"; }
wants() {	# TEXT WHAT
	if said "$1"; then
		verdict 0 "$2"
	else
		verdict 1 "$2"
		tr -d '\r' <"$VM/console" | tail -n 30 | sed 's/^/    /'
	fi
}

do_tests() {
	fresh_disk
	boot tests
	for t in $vm_tests; do
		wants "TEST $t 0" "tests/cli/$t"
	done
	tr -d '\r' <"$VM/console" | sed -n '/casefold\|quota/s/^/  /p'
}

do_rescue() {
	fresh_disk
	boot killed
	wants 'KILLED 137' 'rescue: the upgrade of the root is killed in the middle of the switch'
	boot state /var/lib/dray/dray-install
	wants 'TREE new' 'rescue: started as init, the installer finishes it and starts the system'
	wants 'NOTHING PENDING' 'rescue: nothing is left to do'
	boot rollback
	wants 'ROLLED BACK 0' 'rescue: rollback of the running root'
	wants 'TREE old' 'rescue: the old tree again'
}

do_power() {
	fresh_disk
	from=$(date +%s)
	boot apply
	wants 'APPLIED 0' 'power: an undisturbed upgrade'
	span=$(($(date +%s) - from))
	boot state
	wants 'TREE new' 'power: ... gives the new tree'
	old=0 new=0
	for i in $(seq "$POWER"); do
		after=$(awk -v seed="$SEED" -v i="$i" -v span="$span" 'BEGIN { srand(seed * 1000 + i); print rand() * span * (1 + i % 2) }')
		fresh_disk
		start "apply$([ $((i % 2)) = 0 ] || echo :slow)"
		while ! said APPLY && kill -0 "$running" 2>/dev/null; do
			sleep 0.1
		done
		sleep "$after"
		at=$(tr '\r' '\n' <"$VM/console" | tail -n 1 | cut -c 1-60)
		off
		boot resume
		if said 'TREE old'; then old=$((old + 1)); elif said 'TREE new'; then new=$((new + 1)); fi
		if said 'NOTHING PENDING' && { said 'TREE old' || said 'TREE new'; }; then
			echo "       turned off after $after s ($at): $(tr -d '\r' <"$VM/console" | sed -n 's/^VM TREE //p')"
		else
			wants 'TREE old or new' "power: turned off after $after s ($at)"
		fi
	done
	verdict "$((old + new != POWER))" "power: $POWER times turned off: old $old, new $new"
}

[ $# -gt 0 ] || set -- tests rescue power
make_system
make_release
make_disk
for what; do
	case $what in
	tests | rescue | power) "do_$what" ;;
	*) echo "vm: no case '$what'; there are tests, rescue, power" >&2; exit 2 ;;
	esac
done
[ "$bad" = 0 ]
