#!/bin/sh
# Makes the packages of this platform from PROGRAM and tries each of them: packaging/test.sh PROGRAM
set -eu
program=${1:?usage: packaging/test.sh PROGRAM}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$("$program" --version)
fail() { echo "FAILED: $*" >&2; exit 1; }
same() { [ "$("$1" --version)" = "$version" ] || fail "$1 is not $version"; }

"$here/build.sh" archive "$program" "$work" this-machine
tar -C "$work" -xzf "$work"/andon-v*-this-machine.tar.gz
same "$work"/andon-v*-this-machine/andon
grep -q andon "$work"/andon-v*-this-machine/share/man/man1/andon-check.1 || fail "no man pages in the archive"
first=$(cat "$work"/andon-v*-this-machine.tar.gz | sha256sum)
"$here/build.sh" archive "$program" "$work" this-machine
[ "$first" = "$(cat "$work"/andon-v*-this-machine.tar.gz | sha256sum)" ] || fail "an archive differs when it is made again"
echo "archive: ok"

if command -v dpkg-deb >/dev/null; then
  "$here/build.sh" deb "$program" "$work" "$(dpkg --print-architecture)"
  dpkg-deb -x "$work"/andon_*.deb "$work/deb"
  same "$work/deb/usr/bin/andon"
  [ -e "$work/deb/usr/share/bash-completion/completions/andon" ] || fail "no completions in the Debian package"
  echo "deb: ok"
fi

if command -v npm >/dev/null; then
  platform=$(node -p 'process.platform + "-" + process.arch')
  "$here/build.sh" npm "$program" "$work/npm" "$platform"
  (cd "$work/npm" && npm pack --silent ./andon "./andon-$platform" >/dev/null)
  mkdir "$work/both" "$work/alone"
  (cd "$work/both" && npm install --silent --no-audit --no-fund --offline --omit=optional "$work"/npm/*.tgz >/dev/null)
  same "$work/both/node_modules/.bin/andon"
  code=0
  "$work/both/node_modules/.bin/andon" no-such-command 2>/dev/null || code=$?
  [ "$code" = 2 ] || fail "the launcher ends with $code instead of 2"
  (cd "$work/alone" && npm install --silent --no-audit --no-fund --offline --omit=optional "$work"/npm/andon-[0-9]*.tgz >/dev/null)
  "$work/alone/node_modules/.bin/andon" --version 2>"$work/said" && fail "it starts what is not installed"
  for way in "without --omit=optional" "packaging/build.sh npm PROGRAM OUT $platform" "cargo install --locked --path ."; do
    grep -q -e "$way" "$work/said" || fail "the launcher does not say how to get the program: $(cat "$work/said")"
  done
  ! grep -q "npm install @" "$work/said" || fail "the launcher names a package that is not published: $(cat "$work/said")"
  echo "npm: ok"
fi

if command -v maturin >/dev/null && command -v uv >/dev/null; then
  # Not optimized: what is tried is the package.
  "$here/build.sh" wheel "$program" "$work/wheel" dev
  uv venv --quiet "$work/venv"
  uv pip install --quiet --offline --python "$work/venv" "$work"/wheel/andon-*.whl
  same "$work/venv/bin/andon"
  grep -q andon "$work/venv/share/man/man1/andon-check.1" || fail "no man pages in the wheel"
  [ -e "$work/venv/share/bash-completion/completions/andon" ] || fail "no completions in the wheel"
  [ "$(uv tool run --quiet --offline --from "$work"/wheel/andon-*.whl andon --version)" = "$version" ] || fail "uvx does not start it"
  echo "wheel: ok"
fi

if command -v pre-commit >/dev/null && [ -d "$work/wheel" ]; then
  # The hooks as they are committed, in a project that names the wheel.
  hooks=$(dirname "$here")
  mkdir "$work/project"
  cd "$work/project"
  git init -q .
  cat >.pre-commit-config.yaml <<CONFIG
repos:
  - repo: $hooks
    rev: $(git -C "$hooks" rev-parse HEAD)
    hooks:
      - id: andon-wheel
        additional_dependencies: ["$(echo "$work"/wheel/andon-*.whl)"]
CONFIG
  printf '[test]\ncommand = "true"\n' >andon.toml
  echo "fn main() {}" >main.rs
  git add .
  PRE_COMMIT_HOME=$work/pre-commit pre-commit run --all-files >"$work/said" 2>&1 && fail "untested code passes: $(cat "$work/said")"
  grep -q 'error\[untested-edit\]' "$work/said" || fail "pre-commit does not start the wheel: $(cat "$work/said")"
  echo "pre-commit with the wheel: ok"
fi
