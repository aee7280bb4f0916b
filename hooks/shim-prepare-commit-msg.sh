#!/bin/sh
# andon hook shim (andon uninstall restores what was here before)
[ "${ANDON-}" = 0 ] || [ -e "$0.andon-chained" ] || { R=${GIT_DIR:-.git}/andon/receipt; [ -f "$R" ] && read -r P <"$R" && [ "$P" = "$PPID" ] && exit; }; A=@PROGRAM@; [ -x "$A" ] || A=$(command -v andon) || { [ "${ANDON-}" = 0 ] || echo "andon: program not found, nothing was checked; reinstall andon, or take this shim away: $0" >&2; [ ! -x "$0.andon-chained" ] || exec "$0.andon-chained" "$@"; exit 0; }; ANDON_HOOK=$0; export ANDON_HOOK; exec "$A" hook @HOOK@ "$@"
