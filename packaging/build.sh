#!/bin/sh
# Makes a package from a program that was built before: packaging/build.sh archive|deb|npm PROGRAM OUT NAME
# Writes completions and man pages of PROGRAM below OUT/NAME: packaging/build.sh share PROGRAM OUT NAME
# Makes a wheel with maturin, which compiles with a profile of cargo: packaging/build.sh wheel PROGRAM OUT PROFILE
# (PROGRAM writes the completions and man pages in it).
set -eu
if [ $# -ne 4 ]; then
  echo "usage: $0 archive|deb|npm|share|wheel PROGRAM OUT TARGET|ARCHITECTURE|PLATFORM|NAME|PROFILE" >&2
  exit 2
fi
kind=$1 name=$4
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
program=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
mkdir -p "$3"
out=$(cd "$3" && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$top/Cargo.toml" | head -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Completions and man pages come from the program itself. One that cannot run here is packed without them.
extras() {
  ANDON=0 "$program" --version >/dev/null 2>&1 || { echo "$program does not run here: no completions, no man pages" >&2; return 0; }
  mkdir -p "$1/man/man1" "$1/bash-completion/completions" "$1/zsh/vendor-completions" "$1/fish/vendor_completions.d"
  "$program" man >"$1/man/man1/andon.1"
  for command in check report export status watch resume review sync test; do
    "$program" man "$command" >"$1/man/man1/andon-$command.1"
  done
  "$program" completions bash >"$1/bash-completion/completions/andon"
  "$program" completions zsh >"$1/zsh/vendor-completions/_andon"
  "$program" completions fish >"$1/fish/vendor_completions.d/andon.fish"
}

case $kind in
archive)
  dir=$work/andon-v$version-$name
  mkdir -p "$dir"
  cp "$program" "$top/README.md" "$top/CHANGELOG.md" "$top/LICENSE-MIT" "$top/LICENSE-APACHE" "$dir"
  extras "$dir/share"
  tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -czf "$out/$(basename "$dir").tar.gz" "$(basename "$dir")"
  ;;
deb)
  root=$work/root
  mkdir -p "$root/DEBIAN" "$root/usr/bin" "$root/usr/share/doc/andon"
  install -m 755 "$program" "$root/usr/bin/andon"
  cat "$top/LICENSE-MIT" "$top/LICENSE-APACHE" >"$root/usr/share/doc/andon/copyright"
  extras "$root/usr/share"
  find "$root/usr/share/man" -name '*.1' -exec gzip -9n {} + 2>/dev/null || true
  cat >"$root/DEBIAN/control" <<CONTROL
Package: andon
Version: $version
Architecture: $name
Maintainer: The Andon maintainers <andon@users.noreply.github.com>
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: libc6, git (>= 1:2.30)
Section: vcs
Priority: optional
Homepage: https://github.com/andon/andon
Description: circuit breaker for autonomous coding loops
 Git hooks record every commit in git notes, refuse code whose tests never ran
 on exactly that code, and stop a loop that no longer makes progress until a
 person answers.
CONTROL
  dpkg-deb --root-owner-group --build "$root" "$out/andon_${version}_$name.deb" >/dev/null
  ;;
npm)
  node "$here/npm/build.mjs" "$version" "$program" "$out" "$name"
  ;;
share)
  extras "$out/$name"
  ;;
wheel)
  # maturin reads the project in its working directory: what is generated stays out of the tree.
  sed "s|^manifest-path = .*|manifest-path = \"$top/Cargo.toml\"|" "$here/python/pyproject.toml" >"$work/pyproject.toml"
  extras "$work/data/data/share"
  (cd "$work" && maturin build --quiet --profile "$name" --out "$out")
  ;;
*)
  echo "$kind is none of archive, deb, npm, share, wheel" >&2
  exit 2
  ;;
esac
