#!/bin/sh
# dist.sh - what a release is made of: the source as git has it, the programs built from that very tarball, checksums
#   OUT=out tools/dist.sh           (make dist)     OUT/dist/
#   OUT=out tools/dist.sh deb       (make deb)      the Debian packages too, built from the tarball, looked at by lintian
# Only what is committed goes in; a tree with changes is refused.
set -eu
export LC_ALL=C TZ=UTC
umask 022

cd "$(dirname "$0")/.."
mkdir -p "${OUT:=out}"
here=$(cd "$OUT" && pwd)
unset OUT	# what is built below has a folder of its own, and its `make clean` must mean that one
die() {
	echo "dist: $1" >&2
	exit 1
}
git rev-parse -q --verify HEAD >/dev/null || die "not in a git checkout"
[ -z "$(git status --porcelain --untracked-files=no)" ] || die "there are changes that are not committed: commit or stash them"

version=$(sed -n 's/^VERSION := //p' Makefile)
name=dray-$version
dist=$here/dist
rm -rf "$dist"
mkdir -p "$dist/build"
# no time and no name in the gzip header: the same commit gives the same bytes
git archive --format=tar --prefix="$name/" HEAD | gzip -n -9 >"$dist/$name.tar.gz"

tar xzf "$dist/$name.tar.gz" -C "$dist/build"
system=$(uname -s | tr A-Z a-z)-$(uname -m)
make -C "$dist/build/$name" --no-print-directory -j"${J:-2}" OUT=out all >"$dist/build/log" 2>&1 ||
    { tail -n 20 "$dist/build/log" >&2; die "the tarball does not build"; }
for program in dray dray-install; do
	strip -o "$dist/$program-$version-$system" "$dist/build/$name/out/$program"
done

if [ "${1:-}" = deb ]; then
	cp -R "$dist/build/$name/tools/debian" "$dist/build/$name/debian"
	# its date is that of the commit, so that a second build is the same
	printf 'dray (%s) unstable; urgency=medium\n\n  * As upstream released it.\n\n -- dray maintainers <maintainers@dray.example>  %s\n' \
	    "$version" "$(git log -1 --format=%cD)" >"$dist/build/$name/debian/changelog"
	rm -rf "$dist/build/$name/out"
	(cd "$dist/build/$name" && DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage -us -uc -b) >"$dist/build/deb.log" 2>&1 ||
	    { tail -n 20 "$dist/build/deb.log" >&2; die "the package does not build"; }
	mv "$dist/build/"*.deb "$dist/build/"*.changes "$dist/build/"*.buildinfo "$dist/"
	lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$dist/"*.changes
	rm "$dist/"*.changes "$dist/"*.buildinfo
fi
rm -rf "$dist/build"
(cd "$dist" && sha256sum -- * >../SHA256SUMS.new && mv ../SHA256SUMS.new SHA256SUMS)
cat "$dist/SHA256SUMS"
