#!/bin/sh
# What `andon attest` prints, in the hands of the in-toto libraries from PyPI: all three statements are read by them, and
# ssh-keygen verifies their signatures.
#
#   ANDON_ATTEST_PROGRAM=FILE  the andon program to test (else it is built: cargo build)
#
# Needs git, ssh-keygen, python3 and PyPI. Without one of them the run is skipped, by name.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
cache=$target/ci-attest

skip() {
  printf 'attest: SKIPPED: %s\n' "$*"
  exit 0
}

command -v ssh-keygen > /dev/null || skip "ssh-keygen is not here"
if ! [ -e "$cache/ready" ]; then
  python3 -m venv "$cache" > /dev/null 2>&1 || skip "python3 has no venv"
  "$cache/bin/pip" install -q --disable-pip-version-check in-toto-attestation==0.9.3 securesystemslib==1.6.0 > /dev/null 2>&1 ||
    skip "PyPI cannot be reached"
  : > "$cache/ready"
fi
program=${ANDON_ATTEST_PROGRAM:-}
if [ -z "$program" ]; then
  (cd "$root" && cargo build --quiet --locked)
  program=$target/debug/andon
fi
exec "$cache/bin/python" "$here/validate.py" "$program"
