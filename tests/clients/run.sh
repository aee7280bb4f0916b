#!/bin/sh
# Andon in the hands of real agents' clients, from npm, against a scripted model on the loopback address: no keys, no network
# but npm's registry, each client in a home of its own.
#
#   tests/clients/run.sh [claude] [codex] [gemini] [qwen] [copilot] [opencode] [pi] [droid] [kimi]     all of these without arguments
#   tests/clients/run.sh kilo       only when named: each of its sessions waits a minute for its own servers
#
#   ANDON_CLIENTS_PROGRAM=FILE  the andon program to test (else it is built: cargo build)
#   ANDON_CLIENTS_KEEP=DIR      work in DIR and keep it: what the model was told, what the clients said
#
# Needs git, python3, npm and its registry. Without the latter the whole run is skipped, by name. package.json has the versions.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
cache=$target/ci-clients

skip() {
  printf 'clients: SKIPPED: %s\n' "$*"
  exit 0
}

# ---- the clients, under a node of their own ---------------------------------------------------------------

command -v npm > /dev/null || skip "npm is not here"
stamp=$(cksum < "$here/package.json")
if [ "$(cat "$cache/stamp" 2> /dev/null)" != "$stamp" ]; then
  npm ping --fetch-retries 1 --fetch-timeout 20000 > /dev/null 2>&1 ||
    npm view node version --fetch-retries 1 --fetch-timeout 20000 > /dev/null 2>&1 ||
    skip "npm's registry cannot be reached"
  rm -rf "$cache"
  mkdir -p "$cache/node" "$cache/clients"
  node=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["config"]["node"])' "$here/package.json")
  printf '{ "private": true }\n' > "$cache/node/package.json"
  (cd "$cache/node" && npm install --silent --no-audit --no-fund --save-exact "node@$node" > npm.log 2>&1) ||
    { cat "$cache/node/npm.log"; exit 1; }
  cp "$here/package.json" "$cache/clients/package.json"
  # An older node makes npm take older clients.
  (cd "$cache/clients" && PATH="$cache/node/node_modules/.bin:$PATH" \
    npm install --silent --no-audit --no-fund > npm.log 2>&1) || { cat "$cache/clients/npm.log"; exit 1; }
  printf '%s\n' "$stamp" > "$cache/stamp"
fi

for name in "$@"; do
  package=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["config"]["asked"].get(sys.argv[2], ""))' "$here/package.json" "$name")
  if [ -n "$package" ] && [ ! -e "$cache/clients/node_modules/.bin/$name" ]; then
    (cd "$cache/clients" && PATH="$cache/node/node_modules/.bin:$PATH" \
      npm install --silent --no-audit --no-fund --no-save "$package" > npm.log 2>&1) || { cat "$cache/clients/npm.log"; exit 1; }
  fi
done

# ---- the program ------------------------------------------------------------------------------------------

program=${ANDON_CLIENTS_PROGRAM:-}
if [ -z "$program" ]; then
  (cd "$root" && cargo build --locked --quiet)
  program=$target/debug/andon
fi

if [ -n "${ANDON_CLIENTS_KEEP:-}" ]; then
  mkdir -p "$ANDON_CLIENTS_KEEP"
  work=$(cd "$ANDON_CLIENTS_KEEP" && pwd)
else
  work=$(mktemp -d)
  trap 'chmod -R u+w "$work" 2> /dev/null; rm -rf "$work"' EXIT
fi

python3 "$here/selftest.py" > /dev/null

# The manifests of the plugin and of its marketplace, by the client that reads them.
case " $* " in
  *" claude "* | "  ")
    mkdir -p "$work/validate"
    for manifest in "$root/hooks/agents/claude/plugin" "$root"; do
      HOME="$work/validate" PATH="$cache/node/node_modules/.bin:$PATH" "$cache/clients/node_modules/.bin/claude" \
        plugin validate --strict "$manifest" > "$work/validate/log" 2>&1 < /dev/null ||
        { cat "$work/validate/log"; exit 1; }
    done
    printf 'claude: the manifests of the plugin and of the marketplace are valid\n'
    ;;
esac
python3 "$here/story.py" --program "$program" --work "$work" \
  --path "$cache/node/node_modules/.bin:$cache/clients/node_modules/.bin" "$@"
