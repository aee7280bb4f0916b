#!/bin/sh
# Andon under the real pre-commit and the real prek, from PyPI, against a local clone of this repository.
#
#   tests/frameworks/run.sh [pre-commit] [prek]     both without arguments; the hooks are tested as they are committed
#
#   ANDON_FRAMEWORKS_PROGRAM=FILE   the andon program to test (else it is built: cargo build)
#   ANDON_FRAMEWORKS_KEEP=DIR       work in DIR and keep it
#
# Needs git, cargo, python3 with pip, and PyPI. Ends with 0 only when every step of every tool held.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
if [ -n "${ANDON_FRAMEWORKS_KEEP:-}" ]; then
  mkdir -p "$ANDON_FRAMEWORKS_KEEP"
  work=$(cd "$ANDON_FRAMEWORKS_KEEP" && pwd)
else
  work=$(mktemp -d)
  trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
fi

# ---- a hermetic environment ----------------------------------------------------------------------------

export RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}"
# pyenv's shims look for versions in HOME too: name the interpreter itself.
python=$(python3 -c 'import sys; print(sys.executable)')
for name in $(env | sed -n 's/^\(GIT_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
unset ANDON CLAUDECODE CLAUDE_CODE_SESSION_ID CODEX_THREAD_ID CODEX_SESSION_ID CODEX_SANDBOX CODEX_CI GEMINI_CLI \
  QWEN_CODE COPILOT_CLI OPENCODE CURSOR_AGENT CLINE_ACTIVE CLINE_CONNECTOR_CLI_LAUNCH OR_APP_NAME AI_AGENT AGENT SKIP || true
mkdir -p "$work/home"
export HOME="$work/home" XDG_CONFIG_HOME="$work/home/.config" XDG_CACHE_HOME="$work/home/.cache"
export GIT_CONFIG_GLOBAL="$work/home/.gitconfig" GIT_CONFIG_NOSYSTEM=1 GIT_EDITOR=true NO_COLOR=1
git config --global user.name "A Person"
git config --global user.email person@example.com
git config --global init.defaultBranch main
git config --global protocol.file.allow always
# The tools run `cargo install`, each in a clone of its own. Here that puts a program in place that is built already: what it would
# compile, the rest of the gate compiles from the same sources (`.ci/targets install` has the real one). A toolchain does that, as
# prek looks past PATH at what rustup has.
program=${ANDON_FRAMEWORKS_PROGRAM:-}
if [ -z "$program" ]; then
  (cd "$root" && cargo build --locked --quiet)
  program=${CARGO_TARGET_DIR:-$root/target}/release/andon
fi
sysroot=$(rustc --print sysroot)
cargo=$sysroot/bin/cargo
[ -x "$cargo" ] || cargo=$(command -v cargo)
toolchain=$work/rustup/toolchains/tests
mkdir -p "$toolchain/bin"
ln -s "$sysroot/lib" "$toolchain/lib"
ln -s "$sysroot/bin/rustc" "$toolchain/bin/rustc"
cat > "$toolchain/bin/cargo" <<SH
#!/bin/sh
set -e
[ "\$1" = install ] || exec "$cargo" "\$@"
# Cargo looks at the package all the same: that it is there, and that the lists of its manifest hold.
"$cargo" metadata --no-deps --format-version 1 > "$work/metadata"
grep -q '"kind":\["bin"\],"crate_types":\["bin"\],"name":"andon"' "$work/metadata"
while [ "\$#" -gt 0 ]; do
  if [ "\$1" = --root ]; then place=\$2; fi
  shift
done
mkdir -p "\$place/bin"
cp "$program" "\$place/bin/andon"
SH
chmod +x "$toolchain/bin/cargo"
export RUSTUP_HOME="$work/rustup" RUSTUP_TOOLCHAIN=tests PATH="$toolchain/bin:$PATH"

# ---- saying what happens -------------------------------------------------------------------------------

tool=setup
steps=0

say() { printf '%s: %s\n' "$tool" "$*"; }

fail() {
  printf '%s: FAILED: %s\n' "$tool" "$*" >&2
  if [ -f "$work/out" ]; then
    printf -- '---- last output ----\n' >&2
    cat "$work/out" >&2
  fi
  exit 1
}

step() {
  steps=$((steps + 1))
  say "step $steps: $*"
}

# Runs a command that must succeed; its output goes to $work/out.
must() { "$@" > "$work/out" 2>&1 || fail "exit $? from: $*"; }

# Runs a command that must be refused.
refused() {
  if "$@" > "$work/out" 2>&1; then fail "was not refused: $*"; fi
}

# The last output must hold this text.
said() { grep -qF -- "$1" "$work/out" || fail "the output does not say: $1"; }

# field REV EXPRESSION: a field of the commit record, as python sees it in `r`.
field() {
  git notes --ref=andon show "$1" > "$work/note" 2> "$work/out" || fail "no record of $1 ($(git log -1 --format=%s "$1"))"
  [ "$(wc -l < "$work/note")" -eq 1 ] || fail "the record of $1 has more than one line"
  "$python" -c 'import json, sys
r = json.loads(open(sys.argv[1]).read())
print(eval(sys.argv[2]))' "$work/note" "$2"
}

# holds REV EXPRESSION VALUE
holds() {
  found=$(field "$1" "$2")
  [ "$found" = "$3" ] || fail "record of $1: $2 is $found, not $3: $(cat "$work/note")"
}

# The record of a revision is of this very commit.
recorded() {
  holds "$1" 'r["schema"]' andon/commit@1
  holds "$1" 'r["tree"]' "$(git rev-parse "$1^{tree}")"
  holds "$1" 'r["parent"]' "$(git rev-parse "$1^")"
}

# ---- the tools -----------------------------------------------------------------------------------------

install_tools() {
  if "$python" -m venv "$work/venv" > "$work/out" 2>&1 && [ -x "$work/venv/bin/pip" ]; then
    must "$work/venv/bin/pip" install --quiet --disable-pip-version-check pre-commit==4.7.0 prek==0.5.11
    PATH="$work/venv/bin:$PATH"
  else
    # A python without ensurepip: a folder of packages does as well.
    must "$python" -m pip install --quiet --disable-pip-version-check --target "$work/packages" \
      pre-commit==4.7.0 prek==0.5.11
    export PYTHONPATH="$work/packages"
    PATH="$work/packages/bin:$PATH"
  fi
  export PATH
  say "$(pre-commit --version), $(prek --version | head -n 1)"
}

# The hook repository: a clone, so that only what is committed is tested.
clone_hooks() {
  rev=$(git -C "$root" rev-parse --verify 'HEAD^{commit}')
  rm -rf "$work/hooks"
  must git clone --quiet --no-checkout "$root" "$work/hooks"
  must git -C "$work/hooks" checkout --quiet --detach "$rev"
  [ -f "$work/hooks/.pre-commit-hooks.yaml" ] || fail "$rev has no .pre-commit-hooks.yaml"
  say "hooks of $rev"
}

write_consumer() {
  rm -rf "${work:?}/${tool:?}"
  must git init --quiet "$work/$tool"
  cd "$work/$tool"
  cat > .pre-commit-config.yaml <<YAML
default_install_hook_types:
  [pre-commit, pre-merge-commit, prepare-commit-msg, post-commit, post-merge, post-rewrite, pre-push, pre-rebase]
repos:
  - repo: $work/hooks
    rev: $rev
    hooks:
      - id: andon
      - id: andon-pre-merge-commit
      - id: andon-prepare-commit-msg
      - id: andon-post-commit
      - id: andon-post-merge
      - id: andon-post-rewrite
      - id: andon-pre-push
      - id: andon-pre-rebase
      - id: andon-check
YAML
  cat > andon.toml <<'TOML'
[test]
command = "sh test.sh"
TOML
  cat > test.sh <<'SH'
echo 1..1
if sh calc.sh 2 3 | grep -qx 5; then echo "ok 1 - adds"; else echo "not ok 1 - adds"; exit 1; fi
SH
  # shellcheck disable=SC2016 # a program, not an expansion
  printf 'echo $(($1 + $2))\n' > calc.sh
  printf 'echo other\n' > other.sh
  printf '# Calculator\n' > README.md
  git add -A
  # Everything up to here is from before the hooks.
  git commit --quiet -m "Start"
}

install_hooks() {
  step "install every hook type and the program"
  must "$tool" install --install-hooks
  for hook in pre-commit pre-merge-commit prepare-commit-msg post-commit post-merge post-rewrite pre-push pre-rebase; do
    [ -x ".git/hooks/$hook" ] || fail "$tool installed no $hook"
  done
  andon=$(find "$1" -type f -path '*/bin/andon' -perm -u+x | head -n 1)
  [ -n "$andon" ] || fail "no program below $1"
  say "program: $andon"
  must "$andon" --version
}

# ---- what has to hold ----------------------------------------------------------------------------------

# A change of the code that keeps the tests green.
edit() { printf '# %s\n' "$1" >> calc.sh; }

tested_commit() {
  edit "$1"
  git add -A
  must "$andon" test
  must git commit -m "$1"
}

gate() {
  step "an untested edit is refused"
  before=$(git rev-parse HEAD)
  edit untested
  git add calc.sh
  refused git commit -m "Untested"
  said untested-edit
  [ "$(git rev-parse HEAD)" = "$before" ] || fail "HEAD moved"

  step "after the tests the same commit passes and is recorded"
  must "$andon" test
  must git commit -m "Tested"
  recorded HEAD
  holds HEAD 'r["gate"]' passed
  holds HEAD 'r["kind"]' normal
  holds HEAD 'r["tests"]["status"]' passed
  holds HEAD 'r["tests"]["code"] == r["code"]' True

  step "documentation needs no tests"
  echo more >> README.md
  must git commit -a -m "Document"
  recorded HEAD
  holds HEAD 'r["gate"]' passed
}

unstaged() {
  step "unstaged edits are kept and are not in the record"
  edit "staged part"
  git add calc.sh
  must "$andon" test
  printf 'echo not finished\n' >> other.sh
  cp other.sh "$work/other"
  must git commit -m "Staged part only"
  recorded HEAD
  holds HEAD 'r["gate"]' passed
  holds HEAD 'r["diff"]["files"]' 1
  holds HEAD 'r["tests"]["code"] == r["code"]' True
  cmp -s other.sh "$work/other" || fail "the unstaged edit was changed"
  git checkout --quiet other.sh
}

bypass() {
  step "--no-verify is recorded as bypassed"
  edit bypassed
  must git commit --no-verify -a -m "Bypassed"
  recorded HEAD
  holds HEAD 'r["gate"]' bypassed
  holds HEAD '"tests" in r and r["tests"]["code"] == r["code"]' False
}

skips() {
  step "a hook that is skipped by name is recorded with the reason, and check shows it"
  # Code, and no comment: three of those running would be a sign of being stuck.
  echo 'echo by name' >> other.sh
  must env SKIP=andon ANDON_SKIP_REASON="pager at night" git commit -a -m "Skipped by name"
  recorded HEAD
  holds HEAD 'r["gate"]' bypassed
  holds HEAD '[(s["rule"], s["reason"]) for s in r["skipped"]]' "[('hook-bypass', 'SKIP=andon: pager at night')]"
  refused "$andon" check HEAD~1..HEAD
  said 'SKIP=andon: pager at night'
  must "$andon" log --events --limit 3
  said 'bypassed  hook-bypass'

  step "the hooks that are not named run all the same"
  must "$andon" test
  must env SKIP=another git commit --allow-empty -m "Another is skipped"
  holds HEAD 'r["gate"]' passed
  holds HEAD '"skipped" in r' False

  step "one dirty bit is skipped for one commit, with a reason, and check shows it"
  echo 'echo a dirty bit' >> other.sh
  refused env ANDON_SKIP=untested-edit git commit -a -m "Without a reason"
  must env ANDON_SKIP=untested-edit ANDON_SKIP_REASON="site is down" git commit -a -m "Hotfix"
  holds HEAD 'r["gate"]' passed
  holds HEAD '[(s["rule"], s["reason"]) for s in r["skipped"]]' "[('untested-edit', 'site is down')]"
  must "$andon" check HEAD~1..HEAD
  said 'untested-edit was skipped for this commit: site is down'
}

rewrites() {
  step "an amend keeps the record, rewritten, without standard input"
  old=$(git rev-parse HEAD)
  must "$andon" test
  must git commit --amend -m "Amended"
  [ "$(git rev-parse HEAD)" != "$old" ] || fail "nothing was amended"
  recorded HEAD
  holds HEAD 'r["kind"]' amend

  step "a rebase keeps every record, rewritten, without standard input"
  git branch --quiet side
  printf 'echo elsewhere\n' >> other.sh
  git add -A
  must "$andon" test
  must git commit -m "Elsewhere"
  must git checkout --quiet side
  tested_commit "First of two"
  tested_commit "Second of two"
  must git rebase --quiet main
  for commit in HEAD HEAD~1; do
    recorded "$commit"
    holds "$commit" 'r["kind"]' rebase
  done
}

merges() {
  step "a merge is recorded"
  must git checkout --quiet main
  printf 'a line\n' >> README.md
  must git commit -a -m "Document again"
  # The result of the merge is code that no test has seen: run them on it before the merge is committed.
  must git merge --quiet --no-ff --no-commit side
  must "$andon" test
  must git commit --no-edit
  holds HEAD 'r["kind"]' merge
  must git checkout --quiet -b topic
  echo topic >> README.md
  must git commit -a -m "Topic"
  must git checkout --quiet main
  must git merge --no-ff --no-edit topic
  recorded HEAD
  holds HEAD 'r["kind"]' merge
}

halts() {
  step "while stopped, commits are refused, with --no-verify too"
  mkdir -p .andon
  : > .andon/STOP
  before=$(git rev-parse HEAD)
  echo stopped >> README.md
  git add README.md
  refused git commit -m "Stopped"
  refused git commit --no-verify -m "Stopped"
  refused git commit --amend --no-verify -m "Stopped"
  said user-stop
  [ "$(git rev-parse HEAD)" = "$before" ] || fail "HEAD moved"

  step "after a person resumed, they pass"
  rm -f .andon/STOP
  must "$andon" resume --yes --reason "stopped for the test"
  must git commit -m "Resumed"
  recorded HEAD
}

pushes() {
  step "green code may be pushed"
  must git init --quiet --bare "$work/$tool-remote"
  git remote add origin "$work/$tool-remote"
  must "$andon" test
  must git push origin main

  step "failing tests are told at commit and refused at push"
  printf 'echo 6\n' > calc.sh
  git add -A
  refused "$andon" test
  must git commit -m "Break it"
  said failing-tests
  holds HEAD 'r["tests"]["status"]' failed
  refused git push origin main
  said failing-tests
}

checks() {
  step "the manual check re-derives the range and names the bypass"
  echo "past the gate" >> README.md
  must git commit --no-verify -a -m "Past the gate"
  holds HEAD 'r["gate"]' bypassed
  first=$(git rev-list --max-parents=0 HEAD)
  refused "$tool" run --hook-stage manual andon-check --from-ref "$first" --to-ref HEAD
  said 'bypassed the gate'
  said failing-tests
  said "$(git rev-parse --short=12 HEAD)"
}

both() {
  step "andon install chains the hooks of $tool, both together record once"
  rm -rf "$work/before"
  cp -a .git/hooks "$work/before"
  cp .git/config "$work/config"
  must "$andon" install --mode shim
  [ -x .git/hooks/pre-commit.andon-chained ] || fail "the hook of $tool was not chained"
  # shellcheck disable=SC2016 # a program, not an expansion
  printf 'echo $(($1 + $2))\n' > calc.sh
  must "$andon" test
  must git commit -a -m "Mend it"
  recorded HEAD
  holds HEAD 'r["gate"]' passed
  must git commit --amend -m "Mend it, amended"
  recorded HEAD
  must git push origin main

  step "andon uninstall restores them byte for byte"
  must "$andon" uninstall
  must diff -r "$work/before" .git/hooks
  must cmp "$work/config" .git/config
}

drive() {
  tool=$1
  steps=0
  write_consumer
  case $tool in
    pre-commit) export PRE_COMMIT_HOME="$work/$tool-home" && install_hooks "$PRE_COMMIT_HOME" ;;
    prek) export PREK_HOME="$work/$tool-home" && install_hooks "$PREK_HOME" ;;
    *) fail "no such tool: $tool" ;;
  esac
  gate
  unstaged
  bypass
  skips
  rewrites
  merges
  halts
  pushes
  checks
  both
  say "all $steps steps held"
}

[ $# -gt 0 ] || set -- pre-commit prek
install_tools
clone_hooks
for name in "$@"; do drive "$name"; done
tool=frameworks
say "pre-commit and prek: done ($*)"
