#!/bin/sh
# andon hook shim (andon uninstall restores what was here before)
P=@PROGRAM@
for A in "$P" andon; do
	[ "$A" != andon ] || A=$(command -v andon) || break
	[ -x "$A" ] || continue
	ANDON_HOOK=$0 "$A" hook @HOOK@ "$@"
	# As a hook the program never ends so: it cannot be started here, as on another kind of machine.
	R=$?; case $R in 2 | 126 | 127) ;; *) exit $R ;; esac
done
[ "${ANDON-}" = 0 ] || case ${0##*/} in prepare-commit-msg* | pre-push*) echo "andon: no program that starts here, so nothing is checked or recorded; put andon on the PATH, or remove its hooks, such as $0" >&2 ;; esac
[ ! -x "$0.andon-chained" ] || exec "$0.andon-chained" "$@"
exit 0
