#!/bin/sh
# dray-install is one static file without a network: no loader, no shared library, no socket call, no foreign code.
# The release program is looked at with readelf, nm and strings; its own objects with nm -u.
set -u
bad=0

wrong() {
	echo "wrong: $1"
	bad=1
}

nothing() {	# nothing WHAT TEXT - TEXT must be empty
	[ -z "$2" ] || wrong "$1: $(echo "$2" | head -n 5 | tr '\n' ' ')"
}

[ -x "$INSTALL" ] || { echo "no $INSTALL"; exit 1; }

# how it is linked
readelf -lW "$INSTALL" | grep -q 'LOAD' || wrong "readelf shows no segments"
nothing "it asks for a loader" "$(readelf -lW "$INSTALL" | grep -w INTERP)"
nothing "it needs a shared library" "$(readelf -dW "$INSTALL" | grep NEEDED)"
readelf -hW "$INSTALL" | grep -q 'Type:.*DYN' || wrong "it is not position independent"
readelf -lW "$INSTALL" | grep -q 'GNU_RELRO' || wrong "no read-only relocations"
nothing "its stack is executable" "$(readelf -lW "$INSTALL" | grep GNU_STACK | grep 'RWE')"

# what our own code asks for
net='socket|socketpair|connect|bind|listen|accept4?|sendto|sendmsg|recvfrom|recvmsg|getaddrinfo|getnameinfo'
net="$net|gethostby[a-z_0-9]*|getservby[a-z_0-9]*|res_[a-z]+|inet_[a-z]+|dlopen|dlsym|system|popen|getpwnam|getgrnam|iconv_open|setlocale"
objects=0
for o in "$OUT"/format/*.o "$OUT"/format/tool/*.o "$OUT"/installer/*.o; do
	[ -e "$o" ] || continue
	objects=$((objects + 1))
	nothing "${o##*/} names" "$(nm -u "$o" | awk '{ print $2 }' | grep -xE "(__)?($net)(_chk|@.*)?")"
done
[ $objects -gt 20 ] || wrong "only $objects objects looked at"

# what the C library brought: sockets and resolver are ours, which refuse (installer/no_network.c). Threads of the C
# library carry the state of a resolver, and what names interfaces behind it, which nobody asks; what would connect,
# accept or look a name up is not in the file. no-surprise-strace.sh shows that no socket is ever made.
nothing "the C library's network is inside" "$(nm "$INSTALL" | awk '{ print $NF }' |
    grep -xE '__(connect|accept|accept4|listen|getaddrinfo|gethostby.*|res_.*(send|query|search)|nss_.*|dns_.*)')"
# and no instruction loads the number of such a call right before a system call (x86-64: connect is 42)
if [ "$(uname -m)" = x86_64 ]; then
	# shellcheck disable=SC2016 # a dollar sign of the assembler
	numbers='mov +\$0x(2a|2b|2d|32|35|120),%eax'
	calls=$(objdump -d --no-show-raw-insn "$INSTALL" | grep -B 2 -w syscall)
	[ -n "$calls" ] || wrong "objdump shows no system call at all"
	nothing "a system call that connects" "$(echo "$calls" | grep -E "$numbers")"
fi

# foreign code, by symbol and by the texts that its builds carry. Of liblzma the raw decoder is wanted (bundle-format.md 6.7), and neither
# an encoder nor what reads .xz and .lzma files
containers='lzma_(lz_encoder|lzma2?_encoder|raw_encoder|easy_|alone_|auto_|stream_|index_|block_|file_)'
nothing "foreign symbols" "$(nm "$INSTALL" | awk '{ print $NF }' | grep -E '^(archive_(read|write|entry)|curl_|BZ2_|xml[A-Z]|deflate(Init|Bound|$)|'"$containers)")"
nothing "foreign texts" "$(strings -n 6 "$INSTALL" | grep -iE 'libarchive|libcurl|libxml2|bzip2|bzlib|liblzma_la-(lz|lzma2?)_encoder|liblzma_la-(stream|block|index|alone|auto)' | head -n 5)"
nothing "signing code" "$(nm "$INSTALL" | awk '{ print $NF }' | grep -E '^dray_(key|encode|iw)_')"

# it runs where nothing else is
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
cp "$INSTALL" "$room/dray-install"
if [ "$(id -u)" = 0 ]; then
	chroot "$room" /dray-install --help >"$room/help" 2>&1 || wrong "it does not run in an empty root: $(head -n 3 "$room/help")"
	grep -q apply "$room/help" || wrong "--help in an empty root does not name apply"
fi

cp "$INSTALL" "$room/stripped"
strip "$room/stripped"
echo "size: $(wc -c <"$INSTALL") bytes, $(wc -c <"$room/stripped") stripped"
exit $bad
