#!/bin/sh
# Fuzzes readers: bench/fuzz/run.sh [SECONDS] [FAMILY...]
# A family is a folder of crates/testreport/samples (test reports), or one of what Andon keeps: records, journal, ledger, caches,
# totals, objects, config. One process a family, two at a time (JOBS=1: one).
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- xml json-lines json-documents tap libtest text-a text-b records journal ledger caches totals objects config
cargo build --quiet --locked --profile fuzz --example fuzz-reports --example fuzz-stores
fuzz=${CARGO_TARGET_DIR:-target}/fuzz/examples
# The names are for the shell that xargs starts.
# shellcheck disable=SC2016
for family in "$@"; do echo "$family"; done | xargs -P "${JOBS:-2}" -I {} sh -c '
    if [ -d "crates/testreport/samples/{}" ]; then set -- "$1/fuzz-reports" "$2" "$(date +%s)" crates/testreport/samples/"{}"/*
    else set -- "$1/fuzz-stores" "{}" "$2" "$(date +%s)"; fi
    printf "%s\n" "{}: $(nice -n 19 "$@" 2>&1 | tail -n 20)"' sh "$fuzz" "$seconds"
