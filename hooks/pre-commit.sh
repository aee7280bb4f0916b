# Mostly this only marks git's process: prepare-commit-msg judges the tree that git has fixed by then (hooks/README.md).
if [ ! -x "$0.andon-chained" ]; then
	[ "${ANDON-}" != 0 ] || exit 0
	N=${0%/*}/prepare-commit-msg D=${GIT_DIR:-.git}/andon/asked
	if [ -x "$P" ] && [ -x "$N" ] && { read -r L && read -r L; } <"$N" && IFS= read -r S </proc/$PPID/stat; then
		case $L$S in "# andon hook shim ("*")$PPID (git) "* | "# andon hook shim ("*")$PPID (git-"*)
			{ [ -d "$D" ] || mkdir -p "$D"; } && echo "$S" >"$D/$((PPID % 1024))" && exit 0 ;;
		esac
	fi 2>/dev/null
fi
