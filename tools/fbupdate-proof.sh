#!/bin/sh
# fbupdate-proof.sh - a freebsd-update server with all patch levels of two releases, from real trees, and ONE bundle of it: targets at
# p0, p5, p12 and one that mixes them, with and without sources, are planned, upgraded, compared, and one goes back
#   fbupdate-proof.sh TREES WORK
# TREES holds old, minor-new, new, src-old and src-new, as tools/real-trees.sh takes them. The plan's counts are compared with those of
# an awk over the server's lists, the trees with those that the server was made of, by rsync: neither knows anything of us. What
# stands in WORK already (trees, server, bundle) is not made again. LEVEL (default 1) is the build level, BP_MAX (default
# 16384) bounds the files that the server makes binary patches of. NO_SRC names folders of the sources that are left out, MAX bounds
# all files, in KiB, for a machine that has little time. Needs nginx and 40 GB. Root only.
set -eu
export LC_ALL=C TZ=UTC

TOP=$(cd "$(dirname "$0")/.." && pwd)
OUT=${OUT:-$TOP/out}
LEVEL=${LEVEL:-1} NO_SRC=${NO_SRC:-nothing} BP_MAX=${BP_MAX:-16384}
export BP_MAX
DRAY=$OUT/dray INSTALL=$OUT/dray-install
OLD=13.2-RELEASE NEW=14.0-RELEASE LAST_OLD=12 LAST_NEW=10
[ $# = 2 ] || { sed -n '2,10s/^# //p' "$0"; exit 2; }
trees=$(cd "$1" && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd)
cd "$work"
bad=0

say() {
	echo "$(date +%T) $*"
}

not_ok() {
	say "NOT OK $*"
	bad=$((bad + 1))
}

# three trees of a system with its sources in them; the sources have patch levels too: some of what changes with the release
make_trees() {
	rm -rf old minor-new new in.part
	# shellcheck disable=SC2046,SC2086 # a list of names
	set -- $(printf -- ' --exclude=/%s' $NO_SRC)
	for t in old minor-new new; do
		cp -a "$trees/$t" $t
		mkdir -p $t/usr/src
		case $t in
		new) rsync -a "$@" "$trees/src-new/" $t/usr/src/ ;;
		*) rsync -a "$@" "$trees/src-old/" $t/usr/src/ ;;
		esac
	done
	rsync -n -a -8 --delete "$@" --out-format='%o %n' "$trees/src-new/" "$trees/src-old/" | sed -n 's/^send //p' | grep -v '/$' |
	    awk 'NR % 40 == 1' >src-list
	rsync -a --files-from=src-list "$trees/src-new/" minor-new/usr/src/
	[ -z "${MAX:-}" ] || find old minor-new new -type f -size "+${MAX}k" -delete
	"$TOP/tools/fbupdate-trees" old minor-new new in.part $LAST_OLD $LAST_NEW
	rm -r old minor-new new
	mv in.part in
}

# whole RELEASE LEVEL TO [COMPONENT...] - a machine's tree, without what the server had to leave out
whole() {
	w_release=$1 w_level=$2 w_to=$3
	shift 3
	mkdir "$w_to"
	for c; do
		cp -a "in/$w_release/$w_level/$c/." "$w_to/"
	done
	drop_left_out "$w_release" "$w_to"
}
drop_left_out() {	# RELEASE TREE
	sed -n "s|^$1: left out: /||p" made | sort -r | tr '\n' '\0' | (cd "$2" && xargs -0 -r rm -rf --)
}

# lines RELEASE LEVEL - what the release is there
lines() {
	cat "site/$1/amd64/.history/ALL.$2"
}

# the machine that mixes: of the files that p12 has otherwise, a third is of p12, a third of p5, the rest of p0
mix_lines() {
	awk -F '|' -v p5=p5.lines -v p12=p12.lines '
	    BEGIN { while ((getline l <p5) > 0) { split(l, a, "|"); five[a[3]] = l }
		while ((getline l <p12) > 0) { split(l, a, "|"); twelve[a[3]] = l } }
	    $4 == "f" && $10 == "" && $3 in twelve && $3 in five && twelve[$3] != $0 {
		split(five[$3], a, "|"); split(twelve[$3], b, "|")
		if (a[4] == "f" && a[10] == "" && b[4] == "f" && b[10] == "") {
			n++
			if (n % 3 == 1) { print b[3] >"mix.p12"; print twelve[$3]; next }
			if (n % 3 == 2) { print a[3] >"mix.p5"; print five[$3]; next }
		} }
	    { print }' p0.lines >mix.lines
}
mix_tree() {	# TO COMPONENT...
	m_to=$1
	shift
	whole $OLD p0 "$m_to" "$@"
	for level in p5 p12; do
		for c; do
			# each is made anew and renamed, so that other names of it stay as they are
			(cd "in/$OLD/$level/$c" && sed 's|^/||' "$work/mix.$level" | while IFS= read -r p; do
				[ ! -f "$p" ] || printf '%s\n' "$p"
			done) | rsync -aI --files-from=- "in/$OLD/$level/$c/" "$m_to/"
		done
	done
}

# count LINES LINES [without] - added, updated, removed, changed in type: paths of two lists
count() {
	awk -F '|' -v without="${3:-}" '
	    $3 == "/" || (without != "" && $1 == without) { next }
	    FILENAME == ARGV[1] { type[$3] = $4; value[$3] = $9; next }
	    { seen[$3] = 1
	      if (!($3 in type)) added[$3]
	      else if (type[$3] != $4) typed[$3]
	      else if ($4 != "d" && value[$3] != $9) updated[$3] }
	    END { for (p in type) if (!(p in seen)) removed++
		for (p in added) a++; for (p in typed) t++; for (p in updated) u++
		print a + 0, u + 0, removed + 0, t + 0 }' "$1" "$2"
}
# planned FILE - the same of a plan
planned() {
	for key in added updated removed type_changed; do
		printf '%s ' "$(sed -n "s/.*\"paths\":{[^}]*\"$key\":\([0-9]*\).*/\1/p" "$1")"
	done | sed 's/ $//'
}

# links TREE - which names are one file
links() {
	find "$1" -type f -links +1 -printf '%i\t%P\n' | grep -v '	var/lib/dray/' | sort -t '	' -k 2 |
	    awk -F '\t' '{ if (!($1 in first)) first[$1] = $2; if (first[$1] != $2) print $2, first[$1] }'
}

# same WANTED GOT TEXT [TIMES] - all but times, which a server does not know, and the installer's own folder
same() {
	rsync -n -rlptgoDHA --checksum --delete --itemize-changes --exclude=/var/lib/dray "$1/" "$2/" |
	    { [ -n "${4:-}" ] && cat || grep -v '^[.h][fdL]\.\.t\.*  *'; } >differs || true
	links "$1" >links.wanted
	[ -n "${4:-}" ] || links "$2" | diff links.wanted - >>differs || true
	if [ -s differs ]; then
		not_ok "$3: $(wc -l <differs) lines"
		head -n 5 differs
	else
		say "ok $3"
	fi
}

# one NAME [COMPONENT...] - a target
one() {
	name=$1 without=
	shift
	[ $# = 3 ] || without=src
	rm -rf root
	case $name in
	mix) mix_tree root "$@" ;;
	*) whole $OLD "$name" root "$@" ;;
	esac
	label="$name${without:+ without sources}"
	if ! "$INSTALL" plan up.dray --root root --keyring ops.pub --json >plan 2>err; then
		not_ok "$label: plan: $(cat err)"
		return
	fi
	wanted=$(count $name.lines new.lines $without)
	got=$(planned plan)
	if [ "$wanted" = "$got" ]; then
		say "ok $label: added, updated, removed, changed in type: $got, as the lists say"
	else
		not_ok "$label: added, updated, removed, changed in type: $got, but the lists say $wanted"
	fi
	back=
	if [ "$label" = mix ]; then
		cp -a root before
		back=1
	fi
	at=$(date +%s)
	if ! "$INSTALL" apply up.dray --root root --keyring ops.pub -q >out 2>err; then
		not_ok "$label: apply: $(cat err)"
		return
	fi
	say "ok $label: applied in $(($(date +%s) - at)) s"
	same "new${without:+-nosrc}" root "$label is the server's $NEW-p$LAST_NEW"
	"$INSTALL" check --root root -q >out 2>err && say "ok $label: check" || not_ok "$label: check: $(head -n 3 err)"
	if [ -n "$back" ]; then
		at=$(date +%s)
		"$INSTALL" rollback --root root -q >out 2>err || not_ok "$label: rollback: $(cat err)"
		say "ok $label: back in $(($(date +%s) - at)) s"
		same before root "$label is what it was" times
		rm -rf before
	fi
}

[ -d in ] || { say "trees"; make_trees; }
if [ ! -e made ]; then
	say "server"
	rm -rf site
	"$TOP/tools/fbupdate-server" make in site $OLD:$NEW >made.part
	mv made.part made
fi
for r in $OLD.$LAST_OLD $NEW.$LAST_NEW; do
	n=$(lines "${r%.*}" "${r##*.}" | cut -d '|' -f 3 | sort -u | wc -l)
	say "${r%.*}-p${r##*.}: $n paths, $(grep -c "^${r%.*}: left out: " made) left out of all levels"
	[ "$n" -ge 20000 ] || not_ok "these are less than 20000"
done
[ -e ops.key ] || "$DRAY" key new ops >/dev/null
for p in 0 5 12; do
	lines $OLD $p >p$p.lines
done
lines $NEW $LAST_NEW >new.lines
mix_lines
if [ ! -e up.dray ]; then
	say "bundle"
	rm -f site/nginx.access
	port=8018
	while "$TOP/tools/fbupdate-server" conf site $port >nginx.conf && ! nginx -c "$work/nginx.conf" 2>nginx.err; do
		grep -q 'Address already in use' nginx.err || { cat nginx.err; exit 1; }
		port=$((port + 1))
	done
	trap 'kill "$(cat site/nginx.pid)"' EXIT
	"$DRAY" build --from freebsd-update:$OLD/amd64 --to freebsd-update:$NEW/amd64 --server 127.0.0.1:$port \
	    --keyprint "$(cat site/KEYPRINT)" --fetched store --os any --level "$LEVEL" --cache cache --key ops.key -o up.dray >report
	cat report
	kill "$(cat site/nginx.pid)"
	trap - EXIT
	echo "requests: $(grep -c . site/nginx.access), of patches $(grep -c '/bp/' site/nginx.access), not there $(grep -c ' 404 ' site/nginx.access)"
fi
rm -rf new new-nosrc
whole $NEW p$LAST_NEW new world/base kernel/generic src/src
whole $NEW p$LAST_NEW new-nosrc world/base kernel/generic
for t in p0 p5 p12 mix; do
	one $t world/base kernel/generic src/src
	one $t world/base kernel/generic
done
rm -rf root new new-nosrc
[ $bad = 0 ] || { say "$bad not ok"; exit 1; }
say "one bundle brings all of them to $NEW-p$LAST_NEW"
