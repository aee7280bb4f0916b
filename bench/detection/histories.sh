#!/bin/sh
# Human histories are healthy: `andon replay` over them must not halt, and warn at no more than 0.25 % of the commits.
#
#   bench/detection/histories.sh [--andon PROGRAM] REPOSITORY...
#
# Replays HEAD of each repository (bare ones and mirrors too), writes nothing into it, and prints a table. Exits with 1
# when a history halts or warns more often than that.
set -eu

andon=andon
if [ "${1:-}" = --andon ]; then
    andon=$2
    shift 2
fi
[ $# -gt 0 ] || { echo "usage: histories.sh [--andon PROGRAM] REPOSITORY..." >&2; exit 2; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Nobody's configuration, no markers of an agent.
HOME=$scratch
XDG_CONFIG_HOME=$scratch
GIT_CONFIG_GLOBAL=/dev/null
GIT_CONFIG_NOSYSTEM=1
export HOME XDG_CONFIG_HOME GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE CLAUDECODE || true

# What a replay of the rest says of these lines is in no record of theirs: caches go into a clone that borrows the objects.
missed=0
echo "| history | commits | halts | warnings | % of commits | rules |"
echo "|---|--:|--:|--:|--:|---|"
for repository; do
    source=$(git -C "$repository" rev-parse --absolute-git-dir)
    clone=$scratch/clone
    rm -rf "$clone"
    git clone --quiet --shared --no-checkout "$source" "$clone"
    name=$(echo "$repository" | sed 's|/repo$||; s|/\.git$||; s|.*/||')
    (cd "$clone" && "$andon" replay HEAD --format json) > "$scratch/lines"
    commits=$(wc -l < "$scratch/lines")
    halts=$(grep -c '"decision":"halt"' "$scratch/lines" || true)
    warnings=$(grep -c '"decision":"warn"' "$scratch/lines" || true)
    rules=$(grep -E '"decision":"(halt|warn)"' "$scratch/lines" |
        grep -oE '"level":"(halt|warn)"[^}]*"rule":"[a-z-]*"' | sed 's/.*"rule":"//; s/"//' | sort | uniq -c |
        awk '{printf "%s%s %s", sep, $2, $1; sep=", "}')
    share=$(awk -v w="$warnings" -v c="$commits" 'BEGIN { printf "%.3f", c ? 100 * w / c : 0 }')
    echo "| $name | $commits | $halts | $warnings | $share | $rules |"
    [ "${KEEP:-}" = "" ] || grep -E '"decision":"(halt|warn)"' "$scratch/lines" > "$KEEP.$name" || true
    if [ "$halts" -gt 0 ] || awk -v s="$share" 'BEGIN { exit !(s > 0.25) }'; then missed=1; fi
done
exit $missed
