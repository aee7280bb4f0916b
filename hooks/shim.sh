#!/bin/sh
# andon hook shim (andon uninstall restores what was here before)
A=@PROGRAM@; [ -x "$A" ] || A=$(command -v andon) || { [ "${ANDON-}" = 0 ] || echo "andon: program not found, nothing was checked; reinstall andon, or remove this shim: $0" >&2; [ ! -x "$0.andon-chained" ] || exec "$0.andon-chained" "$@"; exit 0; }; ANDON_HOOK=$0; export ANDON_HOOK; exec "$A" hook @HOOK@ "$@"
