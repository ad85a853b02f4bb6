#!/bin/sh
# without root: what cannot be read is named and counted and never passes for good; --quick needs no reading
. "$(dirname "$0")/lib.sh"

is_root || skip 'needs root, to become nobody'
mkdir -p new/open new/closed
echo 1 >new/open/secret && chmod 600 new/open/secret
echo 1 >new/open/public
echo 1 >new/closed/in && chmod 700 new/closed
key
run "$DRAY" build --to new --product demo --version 1.1 --counter 2 --key ops.key -o up.dray
need_status 0
mkdir root
run "$INSTALL" apply up.dray --root root --keyring ops.pub
need_status 0

nobody() {
	ran="as nobody: $*"
	as_nobody "$@" >out 2>err </dev/null
	status=$?
}
nobody "$INSTALL" check up.dray --root root --keyring ops.pub
want_status 22
want_text 'not checked, because this user may not read it:' out
want_text '  closed' out
want_text '  closed/in' out
want_text '  open/secret' out
no_text 'open/public' out
want_text '3 of 5 entries could not be checked by this user'
want_text 'hint: all others are as demo 1.1 says; run it as root, or with --quick'
nobody "$INSTALL" check up.dray --root root --keyring ops.pub --json
want_status 22
want_text '"not_checked":[{"path":"closed"},{"path":"closed/in"},{"path":"open/secret"}],"not_checked_total":3' out

# size, owner, mode and time are seen without reading; what is behind a closed door is not
nobody "$INSTALL" check up.dray --root root --keyring ops.pub --quick
want_status 22
want_text '1 of 5 entries could not be checked'
chmod 755 root/closed
run "$INSTALL" check up.dray --root root --keyring ops.pub --quick
want_status 20
want_text 'closed: mode' out
chmod 711 root/closed && chmod 600 root/open/public
nobody "$INSTALL" check up.dray --root root --keyring ops.pub
want_status 20
want_text 'open/public: mode' out
want_text '2 of 5 entries differ from demo 1.1, and not all could be checked'
