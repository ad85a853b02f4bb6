#!/bin/sh
# a recipe file holds a whole build: the same bytes as by options, components, phases and triggers in the bundle,
# options on top; what it does not know is refused with its line and column
. "$(dirname "$0")/lib.sh"

mkdir -p release/old/boot release/new/boot release/new/usr/src/sys release/new/usr/bin release/new/etc elsewhere
echo one >release/old/boot/kernel
echo two >release/new/boot/kernel
echo src >release/new/usr/src/sys/a.c
echo bin >release/new/usr/bin/tool
echo cfg >release/new/etc/tool.conf
echo no >release/new/usr/bin/core
echo 'what is new' >release/notes.txt

cat >release/site.json <<'X'
{
  "recipe": 1,
  "product": "demo", "version": "2.0", "counter": 7,
  "compatible": ["other", "another"], "os": "linux", "mode": "complete", "level": "fast",
  "from": [ {"source": "dir:old", "version": "1.0", "counter": 3} ],
  "to": "dir:new",
  "components": [ {"name": "src", "paths": ["usr/src"]}, {"name": "base"} ],
  "phases": [ {"name": "kernel", "paths": ["boot"]}, {"name": "world"} ],
  "config": ["etc"],
  "ignore": ["**/core"],
  "notes": ["notes.txt"],
  "triggers": [
    {"id": "cache", "paths": ["usr/bin/*"], "argv": ["/sbin/rehash", "--all"], "outputs": ["var/cache/x"]},
    {"id": "boot", "paths": ["boot/**"], "argv": ["/sbin/mkboot"], "after": ["cache"], "on_failure": "warn", "phase": "kernel", "timeout": 60}
  ]
}
X
build() {
	run "$DRAY" build "$@"
	need_status 0
}
entry() {	# entry PATH - what list says of it, in the file `one`
	"$DRAY" list up.dray --json 2>/dev/null | tr '{' '\n' | grep -F "\"path\":\"$1\"" >one
}

build --recipe release/site.json -o up.dray
run "$DRAY" info up.dray --json
for t in '"product":"demo"' '"version":"2.0"' '"counter":7' '"compatible":["another","other"]' '"os":"linux"' \
    '"components":["src","base"]' '"phases":["kernel","world"]' '"name":"notes/notes.txt"' '"mode":"complete"' \
    '"bases":[{"copies":' '"counter":3,' '"version":"1.0"' \
    '{"argv":["/sbin/rehash","--all"],"id":"cache","outputs":["var/cache/x"],"paths":["usr/bin/*"]}' \
    '{"after":["cache"],"argv":["/sbin/mkboot"],"id":"boot","on_failure":"warn","paths":["boot/**"],"phase":"kernel","timeout":60}'; do
	want_text "$t" out
done
run "$DRAY" info up.dray
want_text '  components src, base' out
want_text '  phases     kernel, world' out
want_text '  trigger    boot: /sbin/mkboot' out
tar xOf up.dray dray.json >desc
want_text '"features":{"optional":["triggers"],' desc

entry usr/src/sys/a.c
want_text '"components":["src"]' one
want_text '"phase":"world"' one
no_text config one
entry usr/src
want_text '"components":["src"]' one
# a directory belongs to all that lies beneath it
entry usr
want_text '"components":["src","base"]' one
entry usr/bin/tool
want_text '"components":["base"]' one
entry boot/kernel
want_text '"phase":"kernel"' one
entry etc/tool.conf
want_text '"config":true' one
entry usr/bin/core
[ -s one ] && fail "an ignored path is in the bundle"

# from anywhere; the recipe's folder is where its paths begin
(cd elsewhere && exec "$DRAY" build --recipe ../release/site.json -o ../same.dray) >out 2>err </dev/null
ended $? 'build from another folder'
want_status 0
want_same up.dray same.dray

# the same by options, as far as there are options
cat >release/plain.json <<'X'
{"recipe":1,"product":"demo","version":"2.0","counter":7,"level":9,"from":["old"],"to":"new","path_sets":["image"],"as_root":true,
 "owner_map":["u77:78"],"xattrs":["trusted.*"],"mounts":["boot"],"portable_names":true,"slot":4096,"config":["etc"],"ignore":["**/core"]}
X
build --recipe release/plain.json -o a.dray
build --from release/old --to release/new --product demo --version 2.0 --counter 7 --level 9 --path-set image --as-root \
    --owner-map u77:78 --xattr 'trusted.*' --mount boot --portable-names --slot 4k --config etc --ignore '**/core' -o b.dray
want_same a.dray b.dray

# options on top: one value replaces, a list adds
build --recipe release/plain.json --version 2.1 --counter 8 --ignore usr/src --to dir:release/old --slot 512 -o c.dray
run "$DRAY" info c.dray --json
want_text '"version":"2.1"' out
want_text '"counter":8' out
want_text '"same":' out
build --recipe release/site.json --from release/new --from-version 1.9:5 --compatible third --ignore usr/src -o d.dray
run "$DRAY" info d.dray --json
want_text '"compatible":["another","other","third"]' out
want_text '"version":"1.9"' out
want_text '"version":"1.0"' out
run "$DRAY" list d.dray
no_text usr/src out
no_text usr/bin/core out

# archives beside the recipe, one with a comma in the folder's name
mkdir 'a,b' && tar --format=posix --numeric-owner -cf 'a,b/new.tar' -C release/new . && cp 'a,b/new.tar' 'a,b/over.tar'
echo '{"recipe":1,"product":"demo","version":"2","counter":7,"to":"archive:new.tar,over.tar"}' >'a,b/r.json'
build --recipe 'a,b/r.json' -o e.dray
run "$DRAY" list e.dray
want_text '+ usr/bin/tool' out

# the installer shows what a bundle declares and takes it
key
"$DRAY" sign up.dray --key ops.key >/dev/null
cp -a release/old root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
want_status 0
want_same root/usr/bin/tool release/new/usr/bin/tool

# what is wrong, and where
bad() {	# bad LINE:COLUMN TEXT, the recipe on standard input
	cat >release/bad.json
	run "$DRAY" build --recipe release/bad.json -o no.dray
	want_status 2
	want_text "cannot build no.dray: release/bad.json:$1: $2"
	want_text 'hint: see "Recipes" in the manual page of dray'
	no_file no.dray
}
base='"recipe":1,"product":"d","version":"1","counter":1,"to":"new"'
bad 3:3 'comps: unknown key' <<'X'
{
  "recipe": 1,
  "comps": []
}
X
printf '{"recipe":1,\n\t"x\\u001b\\n": 1}\n' | bad 1:1 'x\x1b\x0a: unknown key'
echo "{$base,\"components\":[{\"name\":\"a\",\"path\":[]}]}" | bad 1:90 'components[0].path: unknown key'
echo "{$base,\"components\":[{\"paths\":[]}]}" | bad 1:78 'components[0]: "name" is missing'
echo "{$base,\"components\":[{\"name\":\"a b\"}]}" | bad 1:78 'components[0]: the name is not 1 to 64 of'
echo "{$base,\"components\":[]}" | bad 1:64 'components: 1 to 64 are possible'
echo "{$base,\"components\":[{\"name\":\"a\"},{\"name\":\"b\"}]}" | bad 1:91 'components[1]: a and b have no paths; one may have none'
echo "{$base,\"phases\":[{\"name\":\"a\"},{\"name\":\"a\",\"paths\":[\"x\"]}]}" | bad 1:87 'phases[1]: a stands twice'
echo "{$base,\"phases\":[{\"name\":\"a\",\"paths\":[\"x\",\"/y\"]}]}" |
    bad 1:99 'phases[0].paths[1]: the pattern "/y" will not do: it has an empty part'
echo "{$base,\"ignore\":\"x\"}" | bad 1:64 'ignore: an array is wanted'
echo "{$base,\"ignore\":[1]}" | bad 1:74 'ignore[0]: a text is wanted'
echo "{$base,\"config\":[\"**x\"]}" | bad 1:74 'config[0]: the pattern "**x" will not do'
echo "{$base,\"counter_\":1}" | bad 1:64 'counter_: unknown key'
echo '{"recipe":1,"counter":0}' | bad 1:13 'counter: a number from 1 to'
echo '{"recipe":1,"version":2}' | bad 1:13 'version: a text is wanted'
echo '{"recipe":1,"as_root":"yes"}' | bad 1:13 'as_root: true or false is wanted'
echo '{"recipe":1,"level":"best"}' | bad 1:13 'level: "fast", "default" or a number from 1 to 19'
echo '{"recipe":1,"level":20}' | bad 1:13 'level: "fast", "default" or a number'
echo '{"recipe":1,"mode":"full"}' | bad 1:13 'mode: "complete" or "slim" is wanted'
echo '{"recipe":2}' | bad 1:2 'recipe: 1 is wanted, the version of its grammar'
echo '{"product":"d"}' | bad 1:1 'recipe: 1 is wanted'
echo '[]' | bad 1:1 'an object is wanted'
echo "{$base,\"from\":[{\"version\":\"1\"}]}" | bad 1:72 'from[0]: "source" is missing'
echo "{$base,\"from\":[{\"source\":\"old\",\"counter\":1}]}" | bad 1:88 'from[0].counter: a counter without a version'
echo "{$base,\"from\":[{\"source\":\"old\",\"version\":\"a:b\"}]}" | bad 1:88 'from[0].version: not 1 to 64 of'
trigger() {	# trigger COLUMN TEXT MEMBERS
	echo "{$base,\"triggers\":[$3]}" | bad "1:$1" "triggers$2"
}
trigger 76 '[0]: trigger: unknown key "run"' '{"id":"a","run":1}'
trigger 76 '[0]: trigger: the id is not 1 to 64' '{"id":"a b","argv":["/x"],"paths":["x"]}'
trigger 76 '[0]: trigger: argv has 0 texts' '{"id":"a","argv":[],"paths":["x"]}'
trigger 76 '[0]: trigger: argv begins with something that is no absolute path' '{"id":"a","argv":["x"],"paths":["x"]}'
trigger 76 '[0]: trigger: text 1 of paths will not do: it has an empty part' '{"id":"a","argv":["/x"],"paths":["/x"]}'
trigger 76 '[0]: trigger: text 1 of outputs will not do' '{"id":"a","argv":["/x"],"paths":["x"],"outputs":["../x"]}'
trigger 76 '[0]: trigger: text 1 of outputs will not do: it is a reserved name' \
    '{"id":"a","argv":["/x"],"paths":["x"],"outputs":["var/lib/dray/x"]}'
trigger 76 '[0]: trigger: on_failure is none of' '{"id":"a","argv":["/x"],"paths":["x"],"on_failure":"x"}'
trigger 76 '[0]: trigger: after names something that is no trigger before it' '{"id":"a","argv":["/x"],"paths":["x"],"after":["a"]}'
trigger 112 '[0].phase: there is no such phase' '{"id":"a","argv":["/x"],"paths":["x"],"phase":"p"}'
trigger 115 '[1]: trigger: a stands twice' '{"id":"a","argv":["/x"],"paths":["x"]},{"id":"a","argv":["/x"],"paths":["x"]}'

# not JSON at all; no such file; what the values mean is checked as with options
echo '{"recipe":1,}' >release/bad.json
run "$DRAY" build --recipe release/bad.json -o no.dray
want_status 2
want_text 'cannot build no.dray: release/bad.json:1:13: not JSON at byte 12'
for v in null 1.5 9223372036854775808 '"a\\u0000"'; do
	printf '{\n  "recipe": 1,\n  "counter": %b\n}\n' "$v" >release/bad.json
	run "$DRAY" build --recipe release/bad.json -o no.dray
	want_status 2
	want_text 'cannot build no.dray: release/bad.json:3:1'
done
no_json() {	# no_json LINE:COLUMN TEXT, the recipe on standard input
	cat >release/bad.json
	run "$DRAY" build --recipe release/bad.json -o no.dray
	want_status 2
	want_text "cannot build no.dray: release/bad.json:$1: $2"
	no_file no.dray
}
printf '{"recipe":1,\n "from":[],\n\t"\\u0066rom":[]}' | no_json 3:2 'the JSON has a key twice in one object, at byte 26'
printf '{"recipe":1,\n"to":"a"' | no_json 2:9 'the JSON ends too early, at byte 21'
printf '{"recipe":1,\n"ignore":["a"}' | no_json 2:14 'not JSON at byte 26'
printf '{"recipe":1,\n"ignore":["a"]}}\n' | no_json 2:16 'not JSON at byte 28'
printf '{"recipe":1}\n{"recipe":1}' | no_json 2:1 'not JSON at byte 13'
printf '\n "x"' | no_json 2:2 'the JSON is neither an object nor an array, at byte 2'
: | no_json 1:1 'the JSON ends too early, at byte 0'
run "$DRAY" build --recipe none.json -o no.dray
want_status 1
want_text 'none.json: cannot be read: no such file'
run "$DRAY" build --recipe release -o no.dray
want_status 2
want_text 'release: a recipe is a regular file of at most 4 MiB'

# what an option of the same name would refuse is told by its place as well
echo '{"recipe":1,"to":"gone"}' | bad 1:13 'to: release/gone: no such directory or archive'
echo '{"recipe":1,"to":"word:x"}' >release/bad.json
run "$DRAY" build --recipe release/bad.json -o no.dray
want_status 2
want_text 'release/bad.json:1:13: to: word:x: unknown kind of source'
want_text 'hint: write dir:PATH, archive:FILE or freebsd-update:RELEASE/ARCH'
echo '{"recipe":1,"to":""}' | bad 1:13 'to: : the path is empty'
echo '{"recipe":1,"product":"a b"}' | bad 1:13 'product: not 1 to 64 of A-Z a-z 0-9 . _ + -'
echo '{"recipe":1,"version":""}' | bad 1:13 'version: not 1 to 64 of'
echo '{"recipe":1,"os":"beos"}' | bad 1:13 'os: linux, freebsd or any is wanted'
echo '{"recipe":1,"slot":1000}' | bad 1:13 'slot: a multiple of 512 is wanted'
echo '{"recipe":1,"slot":262145}' | bad 1:13 'slot: a number from 1 to 262144 is wanted'
echo '{"recipe":1,"mode":"slim"}' | bad 1:13 'mode: "slim" goes with "from" or "history"'
echo '{"recipe":1,"compatible":["a","b c"]}' | bad 1:31 'compatible[1]: not 1 to 64 of'
echo '{"recipe":1,"compatible":["a","b","a"]}' | bad 1:35 'compatible[2]: a stands twice'
echo '{"recipe":1,"compatible":["a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p","q"]}' |
    bad 1:13 'compatible: more than 16'
echo '{"recipe":1,"owner_map":["1:2","1:2,x"]}' | bad 1:32 'owner_map[1]: owner rule "x": FROM:TO'
echo '{"recipe":1,"path_sets":["image","x"]}' | bad 1:34 'path_sets[1]: there is no path set "x": debian'
echo '{"recipe":1,"notes":["notes.txt","new"]}' | bad 1:34 'notes[1]: release/new: an attachment is a regular file'
echo '{"recipe":1,"notes":["a b"]}' | bad 1:22 'notes[0]: release/a b: the name of an attachment is'
echo '{"recipe":1,"from":["old","gone"]}' | bad 1:27 'from[1]: release/gone: no such directory'
echo '{"recipe":1,"from":[{"version":"1","source":"gone"}]}' | bad 1:36 'from[0].source: release/gone: no such directory'
echo '{"recipe":1,"counter":2,"from":[{"source":"old","version":"1","counter":3}]}' |
    bad 1:63 'from[0].counter: a base cannot have a higher one than the release'
v='{"source":"old","version":"1","counter":1}'
echo "{\"recipe\":1,\"from\":[$v,$v]}" | bad 1:64 'from[1]: two bases are called 1:1'
echo '{"recipe":1,"notes":["gone"]}' >release/bad.json
run "$DRAY" build --recipe release/bad.json -o no.dray
want_status 1
want_text 'release/bad.json:1:22: notes[0]: release/gone: cannot be read: no such file'
# ... unless an option takes its place
echo '{"recipe":1,"to":"gone","product":"-","version":"@","counter":1,"os":"x","slot":3}' >release/bad.json
build --recipe release/bad.json --to release/new --product demo --version 1 --os any --slot 512 -o over.dray
echo '{"recipe":1}' >release/bad.json
run "$DRAY" build --recipe release/bad.json -o no.dray
want_status 2
want_text '--to is missing'
want_text 'hint: give it as an option, or in the recipe'
no_file no.dray
no_leftover .
