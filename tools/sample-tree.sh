#!/bin/sh
# sample-tree.sh OLD NEW DEST - one file in 20 of two trees, by the hash of its path with versions folded, so that a file
# and its successor stay together; files up to 5 MB; hard links, directories and symlinks as they are. Makes DEST/old and
# DEST/new: what the size figures in spec/performance.md were measured with.
set -eu
[ $# = 3 ] || { echo "usage: $0 OLD NEW DEST" >&2; exit 2; }
command -v python3 >/dev/null || { echo "$0: python3 is needed" >&2; exit 1; }
mkdir -p "$3"

take() {
	mkdir "$3"
	(cd "$1" && python3 - "$2" <<'PY'
import hashlib, os, re, sys
every = int(sys.argv[1])
out, groups = [], {}
def chosen(path):
    folded = re.sub(rb"\d+(\.\d+)*", b"#", path)
    return int.from_bytes(hashlib.sha256(folded).digest()[:8], "big") % every == 0
for top, dirs, files in os.walk(b"."):
    dirs.sort()
    for name in sorted(files + dirs):
        path = os.path.join(top, name)[2:]
        st = os.lstat(path)
        regular = (st.st_mode & 0o170000) == 0o100000
        if (st.st_mode & 0o170000) == 0o040000 or regular and st.st_size > 5000000:
            continue
        # a group of hard links comes as a whole, or not
        if regular and st.st_nlink > 1:
            path_of = groups.setdefault((st.st_dev, st.st_ino), path)
            if chosen(path_of):
                out.append(path)
        elif chosen(path):
            out.append(path)
sys.stdout.buffer.write(b"".join(p + b"\0" for p in out))
PY
	) | rsync -aHAX --from0 --files-from=- "$1/" "$3/"
}

take "$1" "${EVERY:-20}" "$3/old"
take "$2" "${EVERY:-20}" "$3/new"
