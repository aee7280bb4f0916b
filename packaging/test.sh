#!/bin/sh
# Makes the packages of this platform from PROGRAM and tries each of them. What is not on the PATH (cargo-deb, lintian, dist,
# npm, ruby, nix-instantiate, maturin with uv, pre-commit) is left out, and said.
#   packaging/test.sh PROGRAM [deb|installers|formula|nix|wheel ...]     without names: all
set -eu
program=${1:?usage: packaging/test.sh PROGRAM [deb|installers|formula|nix|wheel ...]}
shift
[ $# -gt 0 ] || set -- deb installers formula nix wheel
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
work=$(mktemp -d)
server=
trap 'rm -rf "$work"; [ -z "$server" ] || kill "$server"' EXIT
version=$("$program" --version)
number=${version#andon }
fail() { echo "FAILED: $*" >&2; exit 1; }
same() { [ "$("$1" --version)" = "$version" ] || fail "$1 is not $version"; }
has() { command -v "$1" >/dev/null || { echo "note: no $1 here: $2 is NOT tried"; return 1; }; }
pages=$("$program" man --all "$work/pages" && find "$work/pages" -type f | wc -l)

deb() {
  has cargo-deb "the Debian package" || return 0
  "$here/build.sh" deb "$program" "$work/debian" >/dev/null
  package=$(find "$work/debian" -name '*.deb')
  dpkg-deb -x "$package" "$work/deb"
  same "$work/deb/usr/bin/andon"
  [ "$(find "$work/deb/usr/share/man/man1" -name '*.gz' | wc -l)" = "$pages" ] || fail "not all $pages man pages are in the Debian package"
  for file in bash-completion/completions/andon zsh/vendor-completions/_andon fish/vendor_completions.d/andon.fish; do
    [ -s "$work/deb/usr/share/$file" ] || fail "no $file in the Debian package"
  done
  for needed in 'libc6 (>=' 'git (>='; do
    dpkg-deb -f "$package" Depends | grep -qF "$needed" || fail "no $needed in: $(dpkg-deb -f "$package" Depends)"
  done
  first=$(sha256sum <"$package")
  "$here/build.sh" deb "$program" "$work/debian" >/dev/null
  [ "$first" = "$(sha256sum <"$package")" ] || fail "the Debian package differs when it is made again"
  if has lintian "the policy of Debian"; then
    # That tag is for what is sent to Debian itself.
    lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$package" || fail "lintian complains"
  fi
  echo "deb: ok, $pages man pages"
}

# The archive that a release has for this platform, with PROGRAM in it, behind an address of this machine; and the installers
# that dist writes, told to take it from there.
serve() {
  [ -z "$server" ] || return 0
  target=$(rustc -vV | sed -n 's/^host: //p')
  mkdir -p "$work/served" "$work/andon-$target"
  cp "$program" "$work/andon-$target/andon"
  tar -C "$work" -czf "$work/served/andon-$target.tar.gz" "andon-$target"
  (cd "$top" && dist build --artifacts=global --output-format=json --tag "v$number" >"$work/manifest.json" 2>"$work/said") ||
    fail "dist: $(cat "$work/said")"
  made=$(cd "$top" && cargo metadata --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/distrib
  python3 -u -m http.server --bind 127.0.0.1 --directory "$work/served" 0 >"$work/port" 2>"$work/requests" &
  server=$!
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    port=$(sed -n 's/.* port \([0-9]*\).*/\1/p' "$work/port")
    [ -z "$port" ] || break
    sleep 0.5
  done
  address=http://127.0.0.1:${port:?the server did not start: $(cat "$work/requests")}
}

installers() {
  has dist "what dist makes" || return 0
  (cd "$top" && dist generate --check) || fail "release.yml is not what dist makes of dist-workspace.toml: dist generate"
  serve
  mkdir "$work/home"
  HOME=$work/home XDG_BIN_HOME=$work/home/bin ANDON_DOWNLOAD_URL=$address ANDON_NO_MODIFY_PATH=1 \
    sh "$made/andon-installer.sh" >"$work/said" 2>&1 || fail "the shell installer: $(cat "$work/said")"
  same "$work/home/bin/andon"
  echo "shell installer: ok"
  has npm "the npm package" || return 0
  mkdir "$work/npm"
  tar -C "$work/npm" -xzf "$made/andon-npm-package.tar.gz"
  node -e 'const [, file, url] = process.argv, fs = require("fs"), made = JSON.parse(fs.readFileSync(file)); made.artifactDownloadUrls = [url]; fs.writeFileSync(file, JSON.stringify(made))' \
    "$work/npm/package/package.json" "$address"
  (cd "$work" && npm install --loglevel=error --no-audit --no-fund --install-links --prefix "$work/installed" "$work/npm/package" >"$work/said" 2>&1) ||
    fail "the npm package: $(cat "$work/said")"
  same "$work/installed/node_modules/.bin/andon"
  code=0
  "$work/installed/node_modules/.bin/andon" no-such-command 2>/dev/null || code=$?
  [ "$code" = 2 ] || fail "the launcher of npm ends with $code instead of 2"
  echo "npm: ok"
}

formula() {
  has dist "the formula" || return 0
  has ruby "the formula" || return 0
  serve
  ruby -c "$made/andon.rb" >/dev/null || fail "the formula is no Ruby"
  echo "formula: ok, as far as Ruby reads it"
}

nix() {
  has nix-instantiate "the package for nix" || return 0
  nix-instantiate --parse "$top/flake.nix" >/dev/null
  # With stand-ins for nixpkgs: what the package asks of it.
  named=$(nix-instantiate --eval --strict --json --expr "
    let
      lib = { cleanSource = path: path; optionalString = _: text: text; licenses = { mit = 1; asl20 = 2; }; };
      package = import $here/nix/package.nix {
        inherit lib;
        stdenv = { buildPlatform.canExecute = _: true; hostPlatform = { }; };
        rustPlatform.buildRustPackage = one: one;
        installShellFiles = { }; git = { }; versionCheckHook = { };
      };
    in [ package.pname package.version package.meta.mainProgram (builtins.pathExists package.cargoLock.lockFile) ]" 2>"$work/said") ||
    fail "nix: $(cat "$work/said")"
  [ "$named" = "[\"andon\",\"$number\",\"andon\",true]" ] || fail "nix reads $named"
  echo "nix: ok, as far as it evaluates without nixpkgs"
}

wheel() {
  has maturin "the wheel" || return 0
  has uv "the wheel" || return 0
  # Not optimized: what is tried is the package.
  "$here/build.sh" wheel "$program" "$work/wheel" dev
  uv venv --quiet "$work/venv"
  uv pip install --quiet --offline --python "$work/venv" "$work"/wheel/andon-*.whl
  same "$work/venv/bin/andon"
  [ "$(find "$work/venv/share/man/man1" -name 'andon*.1' | wc -l)" = "$pages" ] || fail "not all $pages man pages are in the wheel"
  [ -e "$work/venv/share/bash-completion/completions/andon" ] || fail "no completions in the wheel"
  [ "$(uv tool run --quiet --offline --from "$work"/wheel/andon-*.whl andon --version)" = "$version" ] || fail "uvx does not start it"
  echo "wheel: ok"
  has pre-commit "the wheel under pre-commit" || return 0
  # As today, with a path; and as it will be, with a release that depends on the wheel that is published with it.
  git clone --quiet "$top" "$work/hooks"
  try_hooks "$work/hooks" "additional_dependencies: [\"$(echo "$work"/wheel/andon-*.whl)\"]"
  sed -i "s/^dependencies = .*/dependencies = [\"andon==$number\"]/" "$work/hooks/pyproject.toml"
  git -C "$work/hooks" -c user.name=A -c user.email=a@example.org commit --quiet --all --message "A release"
  PIP_FIND_LINKS=$work/wheel try_hooks "$work/hooks" "args: []"
  echo "pre-commit with the wheel: ok, with a path and as a dependency"
}

try_hooks() { # REPOSITORY LINE
  rm -rf "$work/project"
  git init -q "$work/project"
  cat >"$work/project/.pre-commit-config.yaml" <<CONFIG
repos:
  - repo: $1
    rev: $(git -C "$1" rev-parse HEAD)
    hooks:
      - id: andon-wheel
        $2
CONFIG
  printf '[test]\ncommand = "true"\n' >"$work/project/andon.toml"
  echo "fn main() {}" >"$work/project/main.rs"
  git -C "$work/project" add .
  (cd "$work/project" && PRE_COMMIT_HOME=$work/pre-commit pre-commit run --all-files >"$work/said" 2>&1) &&
    fail "untested code passes: $(cat "$work/said")"
  grep -q 'error\[untested-edit\]' "$work/said" || fail "pre-commit does not start the wheel: $(cat "$work/said")"
}

for part in "$@"; do
  case $part in
  deb | installers | formula | nix | wheel) "$part" ;;
  *) fail "$part is none of deb, installers, formula, nix, wheel" ;;
  esac
done
