#!/usr/bin/env bash
# Plants faults in a copy of src/ and crates/ on disk and shows what tests/architecture.rs says about each.
# Usage: tests/architecture/plant.sh          (from anywhere; leaves the repository as it is)
# Exit 0 when every planted fault was found, 1 when one was not.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
missed=0

check() { # the sources of $scratch; prints what was found
  ANDON_ARCHITECTURE_ROOT=$scratch cargo test --quiet --locked --manifest-path "$top/Cargo.toml" \
    --test architecture the_sources_keep -- --nocapture 2>&1
}

fresh() { rm -rf "${scratch:?}"/* && cp -R "$top/src" "$top/crates" "$scratch"; }

planted=()

plant() { # NAME FILE LINE-OF-RUST EXPECTED-RULE
  mkdir -p "$(dirname "$scratch/$2")"
  [ -f "$scratch/$2" ] || : >"$scratch/$2"
  printf '%s\n' "$3" >>"$scratch/$2"
  planted+=("$1|$2:$(grep -c '' "$scratch/$2"): $4:")
}

fresh
if ! said=$(check); then
  printf '%s\nthe sources as they are break a rule: nothing can be shown by planting more\n' "$said"
  exit 1
fi
echo "clean      the sources as they are"
plant 'file system in a pure crate' crates/andon-core/src/policy/mod.rs 'use std::fs as _;' impure
plant 'file system in a pure module' crates/andon-engine/src/view/mod.rs 'use std::fs as _;' impure
plant 'file system in a pure library' crates/testreport/src/lib.rs 'use std::fs as _;' impure
plant 'clock in a pure crate' crates/andon-core/src/history/mod.rs 'use std::time::Instant as _;' impure
plant 'what one system has elsewhere' crates/andon-store/src/lib.rs 'use std::os::unix as _;' door
plant 'the screen elsewhere' src/verbs/mod.rs 'use ratatui as _;' door
plant 'the id of a rule outside of detect' src/verbs/mod.rs 'const ID: &str = "tool-loop";' rule-id
plant 'a verb that imports another' src/verbs/tick/run.rs 'use crate::verbs::pin as _;' verb
plant 'allow without a reason' crates/andon-git/src/lib.rs '#[allow(dead_code)] fn f() {}' bare-allow

said=$(check) && said=""
for fault in "${planted[@]}"; do
  if found=$(grep -F -- "${fault#*|}" <<<"$said"); then
    printf 'found      %-42s %s\n' "${fault%%|*}" "$found"
  else
    printf 'NOT FOUND  %s\n' "${fault%%|*}"
    missed=1
  fi
done
exit "$missed"
