#!/bin/sh
# Fuzzes the readers of test reports: bench/fuzz/run.sh [SECONDS] [FAMILY...]
# One process a family of seeds (the folders of bench/fuzz/seeds), two at a time.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- xml json-lines json-documents tap libtest text-a text-b
cargo build --quiet --locked --profile fuzz --example fuzz-reports
fuzz=${CARGO_TARGET_DIR:-target}/fuzz/examples/fuzz-reports
# The names are for the shell that xargs starts.
# shellcheck disable=SC2016
for family in "$@"; do echo "$family"; done | xargs -P 2 -I {} sh -c \
    'printf "%s\n" "{}: $(nice -n 19 "$1" "$2" "$(date +%s)" bench/fuzz/seeds/"{}"/* 2>&1 | tail -n 20)"' \
    sh "$fuzz" "$seconds"
