#!/bin/sh
# inventory.sh DIR - on stdout each object of the system below DIR with its attributes, and the bytes of each file; not what
# a mount covers in a running system, what is the guest's own, and the installer's state folder
set -eu
export LC_ALL=C TZ=UTC
cd "$1"
set -- . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./run -o -path ./tmp -o -path ./vm -o -path ./lost+found \
    -o -path ./var/tmp -o -path ./var/lib/dray -o -path ./usr/sbin/init \) -prune -o
{
	find "$@" -type f -printf '%P %y %m %U %G %T@ %s\n' -o -path . -o ! -type f -printf '%P %y %m %U %G %T@ %l\n'
	find "$@" -type f -print0 | xargs -0 sha256sum --
} | sort
