#!/bin/sh
# Packs a program that was built before. Archives, installers, the formula and the npm package are made by dist.
#   packaging/build.sh share PROGRAM OUT          man pages and completions below OUT
#   packaging/build.sh deb PROGRAM OUT            a Debian package for the system that this runs on, with cargo-deb
#   packaging/build.sh wheel PROGRAM OUT PROFILE  a wheel with maturin, which compiles with that profile; PROGRAM writes the
#                                                 man pages and completions in it
set -eu
case $# in
3 | 4) ;;
*) echo "usage: $0 share|deb|wheel PROGRAM OUT [PROFILE]" >&2 && exit 2 ;;
esac
kind=$1
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
program=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
mkdir -p "$3"
out=$(cd "$3" && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$top/Cargo.toml" | head -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

share() {
  mkdir -p "$1/bash-completion/completions" "$1/zsh/vendor-completions" "$1/fish/vendor_completions.d"
  "$program" man --all "$1/man/man1"
  "$program" completions bash >"$1/bash-completion/completions/andon"
  "$program" completions zsh >"$1/zsh/vendor-completions/_andon"
  "$program" completions fish >"$1/fish/vendor_completions.d/andon.fish"
}

# The day of the newest commit, so that the same sources give the same package.
changelog() {
  cat <<CHANGES
andon ($version-1) unstable; urgency=medium

  * https://github.com/andon/andon/blob/v$version/CHANGELOG.md

 -- The Andon maintainers <andon@users.noreply.github.com>  $(git -C "$top" log -1 --format=%aD)
CHANGES
}

case $kind in
share)
  share "$out"
  ;;
deb)
  # cargo-deb takes what it packs from the target folder: one of its own, so that nothing that was built is touched.
  mkdir -p "$work/release/deb"
  cp "$program" "$work/release/andon"
  share "$work/release/deb/share"
  gzip -9n "$work"/release/deb/share/man/man1/*.1
  changelog | gzip -9n >"$work/release/deb/changelog.Debian.gz"
  SOURCE_DATE_EPOCH=$(git -C "$top" log -1 --format=%ct) CARGO_TARGET_DIR=$work \
    cargo deb --quiet --locked --manifest-path "$top/Cargo.toml" --package andon --no-build --no-strip --output "$out/"
  ;;
wheel)
  # maturin reads the project in its working directory: what is generated stays out of the tree.
  sed "s|^manifest-path = .*|manifest-path = \"$top/Cargo.toml\"|" "$here/python/pyproject.toml" >"$work/pyproject.toml"
  share "$work/data/data/share"
  (cd "$work" && maturin build --quiet --profile "$4" --out "$out")
  ;;
*)
  echo "$kind is none of share, deb, wheel" >&2
  exit 2
  ;;
esac
