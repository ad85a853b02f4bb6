#!/bin/sh
# make-corpus.sh - seeds of the fuzz targets for what programs make: bundles, keyrings, records, journals, archives
#   OUT=out tools/make-corpus.sh       (writes tests/fuzz/corpus/{container,slot,descriptor,keyring,evidence,export,journal,
#                                       archive,gunzip})
# Run it after a change of the format. Inputs that once crashed something are put beside them by hand as bad-*.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd -P)
OUT=${OUT:-out}
case $OUT in
/*) ;;
*) OUT=$TOP/$OUT ;;
esac
DRAY=$OUT/dray
C=$TOP/tests/fuzz/corpus K=$TOP/tests/data/keys
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$T"
export LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH=1700000000
for t in container slot descriptor keyring evidence export journal archive gunzip; do
	mkdir -p "$C/$t"
	rm -f "$C/$t"/good-* "$C/$t"/odd-*
done

mkdir -p old/d new/d
echo one >old/f
echo two >new/f
ln new/f new/d/hard
ln -s ../f new/d/link
mkfifo new/pipe
find old new -exec touch -h -d @1700000000 {} +
build() {	# build NAME ARG...
	name=$1
	shift
	"$DRAY" build --slot 512 --from dir:old --to dir:new --product demo --version 1.1 --counter 2 -o "$name" "$@" >/dev/null
}
echo note >changes.txt
build plain.dray --key "$K/test-b.key"
build notes.dray --key "$K/test-b.key" --key "$K/test-c.key" --note changes.txt
build unsigned.dray
for b in plain notes unsigned; do
	tar -xf $b.dray dray.json dray.sig
	cp $b.dray "$C/container/good-$b"
	cp dray.sig "$C/slot/good-$b"
	cp dray.json "$C/descriptor/good-$b"
done
head -c 3000 plain.dray >"$C/container/odd-cut"
sed 's/"format":1/"format":2/' dray.json >"$C/descriptor/odd-newer"
sed 's/"required":\[\]/"required":["no-such-feature"]/' dray.json >"$C/descriptor/odd-feature"
cat >triggers.json <<'END'
{"recipe":1,"phases":[{"name":"kernel","paths":["d"]},{"name":"rest"}],"triggers":[
{"id":"one","paths":["f"],"argv":["/bin/one"],"phase":"kernel","needs":"root-live","on_failure":"warn"},
{"id":"two","paths":["f"],"argv":["/bin/two","x"],"after":["one"],"needs":"none","on_failure":"rollback","outputs":["var/two"],
"timeout":60}]}
END
build triggers.dray --recipe triggers.json
tar -xf triggers.dray dray.json
cp dray.json "$C/descriptor/good-triggers"
sed 's/"needs":"none"/"needs":"root"/' dray.json >"$C/descriptor/odd-trigger-needs"
sed 's/"phase":"kernel"/"phase":"kernal"/' dray.json >"$C/descriptor/odd-trigger-phase"
printf 'dray-bundle-v1\nproduct=demo\nversion=1.1\ncounter=2\nsize=4096\nsha256=%064d\n' 0 >"$C/slot/good-text"

cp "$K/test-a.pub" "$C/keyring/good-bare"
cat "$K/test-a.pub" "$K/test-b.pub" >"$C/keyring/good-two"
pem() {
	sed ':x; N; $!bx; s/\n/\\n/g' "$K/test-$1.pub"
}
cat >"$C/keyring/good-document" <<END
{"dray_keyring":1,"keys":[{"name":"a","pem":"$(pem a)"},{"name":"b","pem":"$(pem b)","products":["demo","demo-2"]},
{"name":"c","pem":"$(pem c)","revoked":"lost"}],"threshold":2}
END
cp "$K/test-c-sealed.key" "$C/keyring/odd-private"
printf '{"dray_keyring":1,"keys":[],"threshold":0}' >"$C/keyring/odd-empty"

# records have the time of day in them, so these differ from run to run
"$OUT/dray-install" apply -q plain.dray --root old --keyring "$K/test-b.pub" --allow-test-keys
"$OUT/dray-install" rollback -q --root old
E=old/var/lib/dray/evidence
{ printf L; cat $E/000001.paths; } >"$C/evidence/good-list"
for n in 1 2; do
	{ printf R; cat $E/00000$n.json; } >"$C/evidence/good-record-$n"
done

# an export as it stands, and its members with NULs between
"$OUT/dray-install" status -q --root old --export machine.export >/dev/null
{ printf '\0'; cat machine.export; } >"$C/export/good-file"
mkdir export
tar -xf machine.export -C export
{
	printf '\001'
	cat export/dray-evidence.json
	for f in export/evidence/*.json; do
		printf '\0'
		cat "$f"
		printf '\0'
		[ ! -f "${f%.json}.paths" ] || cat "${f%.json}.paths"
	done
} >"$C/export/good-members"

# two bytes length of the log (twice it, and 1: sums are put right), two of the list of file systems, log, list, plan
"$OUT/dray-install" apply -q plain.dray --root old --keyring "$K/test-b.pub" --allow-test-keys
n=$(ls old/var/lib/dray/tx | tail -n 1)
tx=old/var/lib/dray/tx/$n
le16() {
	printf "\\$(printf %03o $(($1 % 256)))\\$(printf %03o $(($1 / 256)))"
}
for how in 0 1; do
	{ le16 $(($(wc -c <"$tx/log") * 2 + how)); le16 0; cat "$tx/log" "$tx/plan"; } >"$C/journal/good-$how"
done
{ le16 $(($(wc -c <"$tx/log") * 2 + 1)); le16 24; cat "$tx/log"; printf '0123456789abcdef\006\000var/db'; cat "$tx/plan"; } >"$C/journal/odd-sites"

for f in ustar pax gnu; do
	tar -C new --format=$f -cf "$C/archive/good-$f" --sort=name --mtime=@1700000000 .
done
(cd new && zip -Xqr "$C/archive/good-zip" d f && mv "$C/archive/good-zip.zip" "$C/archive/good-zip")
gzip -9nc "$C/archive/good-ustar" >"$C/archive/good-gzip"
zstd -q -c "$C/archive/good-pax" >"$C/archive/good-zstd"
xz -c "$C/archive/good-pax" >"$C/archive/good-xz"
gzip -9nc dray.json >"$C/gunzip/good-text"
{ gzip -9nc dray.json; gzip -9nc dray.json; } >"$C/gunzip/odd-two"
head -c 100 "$C/gunzip/good-text" >"$C/gunzip/odd-cut"
chmod 644 "$C"/*/*
du -sh "$C"
