#!/bin/sh
# andon hook shim (andon uninstall restores what was here before)
# Where git asks and nothing is to be chained, this only marks git's process: prepare-commit-msg, which --no-verify does
# not skip, judges the tree that git has fixed by then. Whatever is not so plain is left to the program.
P=@PROGRAM@
if [ ! -x "$0.andon-chained" ]; then
	[ "${ANDON-}" != 0 ] || exit 0
	N=${0%/*}/prepare-commit-msg D=${GIT_DIR:-.git}/andon/asked
	if [ -x "$P" ] && [ -x "$N" ] && { read -r L && read -r L; } <"$N" && IFS= read -r S </proc/$PPID/stat; then
		case $L$S in "# andon hook shim ("*")$PPID (git) "* | "# andon hook shim ("*")$PPID (git-"*)
			{ [ -d "$D" ] || mkdir -p "$D"; } && echo "$S" >"$D/$((PPID % 1024))" && exit 0 ;;
		esac
	fi 2>/dev/null
fi
for A in "$P" andon; do
	[ "$A" != andon ] || A=$(command -v andon) || break
	[ -x "$A" ] || continue
	ANDON_HOOK=$0 "$A" hook @HOOK@ "$@"
	R=$?
	# As a hook the program never ends so: it cannot be started here, as on another kind of machine.
	case $R in 2 | 126 | 127) ;; *) exit $R ;; esac
done
[ ! -x "$0.andon-chained" ] || exec "$0.andon-chained" "$@"
exit 0
