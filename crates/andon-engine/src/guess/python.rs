//! Python: the runner that the project names, and the tool that owns its environment.

use super::{Guess, WORDS, beside, guessed, listing::Listing, sure, table, unsure};
use andon_core::WordList;

/// Files whose mention of pytest makes it the runner.
const NAMING: WordList = WordList::section(WORDS, "naming pytest");

/// Files that are nothing but pytest's.
const PYTEST: WordList = WordList::section(WORDS, "of pytest");

/// Tools that own the environment: a file, the text that it must hold, and the words before a command. The first one that
/// is there decides.
const ENVIRONMENTS: WordList = WordList::section(WORDS, "environments of Python");

pub(super) fn guess(listing: &Listing) -> Option<Guess> {
    let holds = |file: &str, word: &str| {
        word.is_empty() || listing.text(file).is_some_and(|text| text.contains(word))
    };
    let environment = ENVIRONMENTS.iter().find_map(|row| {
        let (file, rest) = row.split_once('|')?;
        let (word, before) = rest.split_once('|')?;
        (listing.has(file) && holds(file, word)).then_some((file, before.trim_end_matches('|')))
    });
    let (lock, before) = environment.unwrap_or_default();
    let direct = direct(listing, before, lock);
    let managed = [table::guess(listing, "tox"), table::guess(listing, "nox"), hatch(listing)];
    let managed = managed.into_iter().flatten().reduce(beside);
    match (direct, managed) {
        // tox and nox make environments of their own: next to a lock file either may be meant.
        (Some(direct), Some(managed))
            if !lock.is_empty() && lock != "pyproject.toml" && !lock.contains('/') =>
        {
            Some(beside(direct, managed))
        }
        (_, Some(managed)) => Some(managed),
        (direct, None) => direct,
    }
}

/// A runner that is started as it is.
fn direct(listing: &Listing, before: &str, lock: &str) -> Option<Guess> {
    let because = |file: &str| {
        if lock.is_empty() || lock == file { file.to_owned() } else { format!("{file} and {lock}") }
    };
    if listing.has("manage.py") && pytest(listing).is_none() {
        return Some(sure(format!("{before}python manage.py test"), because("manage.py")));
    }
    if let Some(file) = pytest(listing) {
        let candidate = guessed(format!("{before}pytest"), because(file));
        let members = listing.text("pyproject.toml").is_some_and(|text| text.contains("[tool.uv.workspace]"));
        if members && lock == "uv.lock" {
            return Some(unsure(
                "a workspace of uv, whose members may need packages of their own".to_owned(),
                vec![guessed("uv run --all-packages pytest", "pyproject.toml"), candidate],
            ));
        }
        return Some(Guess::Sure(candidate));
    }
    if let Some((dir, file)) = unittest(listing) {
        let package = dir.is_empty() || listing.has(&format!("{dir}/__init__.py"));
        let discover = if package { String::new() } else { format!(" discover -s {dir}") };
        let command = format!("{before}python -m unittest{discover}");
        return Some(sure(command, because(&file)));
    }
    let project = ["[project]", "[tool.poetry]", "[build-system]"];
    let named =
        listing.text("pyproject.toml").is_some_and(|text| project.iter().any(|part| text.contains(part)));
    (named || listing.has("setup.py")).then(|| {
        unsure(
            format!("{} that names no test runner", if named { "a pyproject.toml" } else { "a setup.py" }),
            vec![
                guessed(format!("{before}pytest"), "a guess"),
                guessed(format!("{before}python -m unittest"), "a guess"),
            ],
        )
    })
}

/// The file that is a sign of pytest: its own, one that names it, or a test module that only it can run.
fn pytest(listing: &Listing) -> Option<&str> {
    let named = |path: &&str| listing.text(path).is_some_and(mentions_pytest);
    let needs = |path: &&str| is_test_module(path) && listing.text(path).is_some_and(needs_pytest);
    (PYTEST.iter().find(|path| listing.has(path)))
        .or_else(|| NAMING.iter().find(named))
        .or_else(|| listing.top().find(needs))
        .or_else(|| {
            listing
                .paths()
                .find(|path| (path.starts_with("tests/") || path.starts_with("test/")) && needs(path))
        })
}

/// True for the name of a Python test module; its text tells which runner it is for.
pub(crate) fn is_test_module(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.strip_suffix(".py").is_some_and(|stem| stem.starts_with("test") || stem.ends_with("_test"))
}

/// Functions of tests outside of a class, which unittest does not find, or what only pytest has.
fn needs_pytest(text: &str) -> bool {
    text.lines().any(|line| {
        ["def test", "async def test", "import pytest", "from pytest "]
            .iter()
            .any(|start| line.starts_with(start))
    })
}

/// `pytest` as a word of its own, or one that begins so (`pytest-cov`), outside of comments.
fn mentions_pytest(text: &str) -> bool {
    text.lines().map(|line| line.split('#').next().unwrap_or_default()).any(|line| {
        line.match_indices("pytest").any(|(at, _)| {
            let before = line.get(..at).and_then(|head| head.chars().next_back());
            !before.is_some_and(|each| each.is_alphanumeric() || matches!(each, '-' | '_'))
        })
    })
}

/// The directory with files that `unittest` would find, and the first of them.
fn unittest(listing: &Listing) -> Option<(&'static str, String)> {
    let is_test = |name: &&str| name.starts_with("test") && is_test_module(name);
    for dir in ["tests", "test"] {
        if let Some(name) = listing.inside(dir).find(is_test) {
            return Some((dir, format!("{dir}/{name}")));
        }
    }
    listing.top().find(is_test).map(|name| ("", name.to_owned()))
}

/// Environments of hatch: a script of the project's own, or the tests as hatch runs them.
fn hatch(listing: &Listing) -> Option<Guess> {
    let tables = [("pyproject.toml", "[tool.hatch.envs."), ("hatch.toml", "[envs.")];
    let holds = |(file, table): &(&str, &str)| listing.text(file).is_some_and(|text| text.contains(table));
    let (file, table) = tables.into_iter().find(holds)?;
    let text = listing.text(file)?;
    let scripts = text.split(&format!("{table}default.scripts]")).nth(1).unwrap_or_default();
    let scripts = scripts.split("\n[").next().unwrap_or_default();
    let is_test = |line: &str| line.split_once('=').is_some_and(|(name, _)| name.trim() == "test");
    let command = if scripts.lines().any(is_test) { "hatch run test" } else { "hatch test" };
    Some(sure(command, file))
}
