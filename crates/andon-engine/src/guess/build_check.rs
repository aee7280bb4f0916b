//! The cheapest honest check of a project in which nothing says how tests run: that its code compiles.

use super::GuessedCommand;
use super::listing::Listing;

/// The check, and what it follows from.
pub(super) fn check(listing: &Listing) -> Option<GuessedCommand> {
    typescript(listing).or_else(|| rust(listing)).or_else(|| go(listing)).or_else(|| python(listing))
}

fn typescript(listing: &Listing) -> Option<GuessedCommand> {
    let has_compiler = listing.text("package.json").is_some_and(|text| text.contains("\"typescript\""));
    (listing.has("tsconfig.json") && has_compiler)
        .then(|| GuessedCommand::new("npx tsc --noEmit", "tsconfig.json and no test script"))
}

fn rust(listing: &Listing) -> Option<GuessedCommand> {
    let manifest = listing.text("Cargo.toml")?;
    let is_workspace =
        toml::from_str::<toml::Table>(manifest).is_ok_and(|parsed| parsed.contains_key("workspace"));
    let command = if is_workspace { "cargo check --workspace" } else { "cargo check" };
    Some(GuessedCommand::new(command, "Cargo.toml and no tests"))
}

fn go(listing: &Listing) -> Option<GuessedCommand> {
    listing.has("go.mod").then(|| GuessedCommand::new("go vet ./...", "go.mod and no tests"))
}

fn python(listing: &Listing) -> Option<GuessedCommand> {
    let sources =
        listing.top().filter(|name| name.rsplit_once('.').is_some_and(|(_, end)| end == "py")).count();
    let manifest = listing.first(&["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"]);
    let seen = match (manifest, sources) {
        (Some(manifest), _) => format!("{manifest} and no tests"),
        (None, 0) => return None,
        (None, 1) => "a Python file and no tests".to_owned(),
        (None, more) => format!("{more} Python files and no tests"),
    };
    Some(GuessedCommand::new("python3 -m compileall -q .", seen))
}
