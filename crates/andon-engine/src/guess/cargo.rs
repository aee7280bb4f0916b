//! Cargo: a package, or a workspace of several.

use super::listing::{Listing, Tests};
use super::{GuessedCommand, KindGuess};

/// Directories whose package is a helper of the one at the top, and has no tests of the project.
const HELPERS: [&str; 5] = ["fuzz", "xtask", "examples", "benches", "bench"];

pub(super) fn guess(listing: &Listing) -> Option<KindGuess> {
    let manifest = listing.text("Cargo.toml").filter(|_| listing.tests != Tests::Absent)?;
    let parsed: Option<toml::Table> = toml::from_str(manifest).ok();
    let Some(parsed) = parsed else {
        return Some(KindGuess::Unsure {
            seen: "a Cargo.toml that cannot be read".to_owned(),
            candidates: vec![GuessedCommand::new("cargo test", "Cargo.toml")],
        });
    };
    let workspace = parsed.contains_key("workspace");
    let nextest = listing.has(".config/nextest.toml");
    let command = match (nextest, workspace) {
        (true, true) => "cargo nextest run --workspace",
        (true, false) => "cargo nextest run",
        (false, true) => "cargo test --workspace",
        (false, false) => "cargo test",
    };
    let because = match (nextest, workspace) {
        (true, true) => ".config/nextest.toml, and a workspace in Cargo.toml",
        (true, false) => ".config/nextest.toml",
        (false, true) => "a workspace in Cargo.toml",
        (false, false) => "Cargo.toml",
    };
    let mut candidate = GuessedCommand::new(command, because);
    if nextest {
        candidate.note = Some("nextest runs no doc tests: cargo test --doc does");
    }
    let others: Vec<&str> =
        listing.below("Cargo.toml").into_iter().filter(|dir| !HELPERS.contains(dir)).collect();
    Some(match others.first() {
        Some(other) if !workspace => KindGuess::Unsure {
            seen: format!("Cargo.toml without a workspace beside {other}/Cargo.toml"),
            candidates: vec![candidate],
        },
        Some(_) | None => KindGuess::Sure(candidate),
    })
}
