//! Kinds of projects whose command is put together from names and numbers that a table cannot hold: the packages of Cargo,
//! the modules of Go, the solutions of .NET, the two runners of Ruby; and the check of a project without tests.

use super::listing::{Listing, Tests};
use super::{Guess, GuessedCommand, WORDS, beside, guessed, sure, unsure};
use andon_core::WordList;

/// Directories whose package is a helper of the one at the top, and has no tests of the project.
const HELPERS: [&str; 5] = ["fuzz", "xtask", "examples", "benches", "bench"];

pub(super) fn cargo(listing: &Listing) -> Option<Guess> {
    let manifest = listing.text("Cargo.toml").filter(|_| listing.tests != Tests::Absent)?;
    let Ok(parsed) = manifest.parse::<toml::Table>() else {
        return Some(unsure("a Cargo.toml that cannot be read", vec![guessed("cargo test", "Cargo.toml")]));
    };
    let workspace = parsed.contains_key("workspace");
    let nextest = listing.has(".config/nextest.toml");
    let (command, because) = match (nextest, workspace) {
        (true, true) => {
            ("cargo nextest run --workspace", ".config/nextest.toml, and a workspace in Cargo.toml")
        }
        (true, false) => ("cargo nextest run", ".config/nextest.toml"),
        (false, true) => ("cargo test --workspace", "a workspace in Cargo.toml"),
        (false, false) => ("cargo test", "Cargo.toml"),
    };
    let mut candidate = guessed(command, because);
    if nextest {
        candidate.note = Some("nextest runs no doc tests: cargo test --doc does");
    }
    let others: Vec<&str> =
        listing.below("Cargo.toml").into_iter().filter(|dir| !HELPERS.contains(dir)).collect();
    Some(match others.first() {
        Some(other) if !workspace => {
            unsure(format!("Cargo.toml without a workspace beside {other}/Cargo.toml"), vec![candidate])
        }
        Some(_) | None => Guess::Sure(candidate),
    })
}

/// A module, or the modules that go.work lists: a pattern reaches the packages of one module alone.
pub(super) fn go(listing: &Listing) -> Option<Guess> {
    if listing.tests == Tests::Absent {
        return None;
    }
    if let Some(text) = listing.text("go.work") {
        let used = used(text);
        let inside =
            |dir: &&str| !dir.starts_with("..") && !dir.starts_with('/') && !dir.contains([' ', '\'', '"']);
        if used.is_empty() || used.len() > 20 || !used.iter().all(inside) {
            let what = "a go.work of modules that cannot be listed here".to_owned();
            return Some(unsure(what, vec![guessed("go test ./...", "go.work")]));
        }
        let patterns: Vec<String> = used.iter().map(|dir| pattern(dir)).collect();
        return Some(sure(format!("go test {}", patterns.join(" ")), "the modules of go.work"));
    }
    let below = listing.below("go.mod");
    listing.has("go.mod").then(|| match below.first() {
        None => sure("go test ./...", "go.mod"),
        Some(other) => unsure(
            format!("go.mod, and a module of its own in {other}, which ./... does not reach"),
            vec![guessed("go test ./...", "go.mod")],
        ),
    })
}

/// `./a/...`
fn pattern(dir: &str) -> String {
    match dir.trim_start_matches("./").trim_end_matches('/') {
        "" | "." => "./...".to_owned(),
        dir => format!("./{dir}/..."),
    }
}

/// The directories of `use ./a` and `use ( ./a ./b )`.
fn used(text: &str) -> Vec<&str> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines().map(|line| line.split("//").next().unwrap_or_default().trim()) {
        match (inside, line.strip_prefix("use")) {
            (true, _) if line == ")" => inside = false,
            (true, _) if !line.is_empty() => found.push(line),
            (false, Some(rest)) if rest.trim() == "(" => inside = true,
            (false, Some(rest)) if rest.starts_with([' ', '\t']) => found.push(rest.trim()),
            (true | false, _) => {}
        }
    }
    found
}

pub(super) fn dotnet(listing: &Listing) -> Option<Guess> {
    let ending = |ends: &[&str]| -> Vec<String> {
        listing.top().filter(|name| ends.iter().any(|end| name.ends_with(end))).map(str::to_owned).collect()
    };
    let (solutions, projects) = (ending(&[".sln", ".slnx"]), ending(&[".csproj", ".fsproj", ".vbproj"]));
    match (solutions.as_slice(), projects.as_slice()) {
        ([], []) => None,
        ([one], []) | ([], [one]) => Some(sure("dotnet test", one.as_str())),
        // With both, dotnet asks which one is meant.
        ([one], _) => Some(sure(format!("dotnet test {}", word(one)), one.as_str())),
        ([], several) | (several, _) => {
            let named = |name: &String| guessed(format!("dotnet test {}", word(name)), name.as_str());
            let what = format!("{} of which none is the whole for sure", several.join(", "));
            Some(unsure(what, several.iter().map(named).collect()))
        }
    }
}

/// A file's name as a word for a shell.
fn word(name: &str) -> String {
    let plain = |each: char| each.is_alphanumeric() || matches!(each, '.' | '-' | '_');
    if name.chars().all(plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}

pub(super) fn ruby(listing: &Listing) -> Option<Guess> {
    let gemfile = listing.text("Gemfile");
    let bundle = if gemfile.is_some() { "bundle exec " } else { "" };
    let specs = listing.has(".rspec")
        || listing.inside("spec").any(|name| name.ends_with("_spec.rb") || name == "spec_helper.rb");
    let rails = gemfile.is_some_and(|text| gem(text, "rails"));
    let tests = listing
        .inside("test")
        .any(|name| name.ends_with("_test.rb") || name.starts_with("test_") || name == "test_helper.rb");
    let rake = listing.text("Rakefile").is_some_and(has_test_task);
    let mut found = Vec::new();
    if specs {
        found.push(guessed(format!("{bundle}rspec"), "the specs in spec/"));
    }
    if rails && tests {
        found.push(guessed(format!("{bundle}rails test"), "the tests of Rails in test/"));
    } else if rake {
        found.push(guessed(format!("{bundle}rake test"), "the task in Rakefile"));
    } else if tests && gemfile.is_some() {
        return Some(unsure(
            "tests in test/, and no task that runs them".to_owned(),
            vec![guessed(
                format!("{bundle}ruby -Itest -e 'Dir[\"./test/**/*_test.rb\"].each {{ require _1 }}'"),
                "test/",
            )],
        ));
    } else if found.is_empty() && gemfile.is_some_and(|text| gem(text, "rspec")) {
        found.push(guessed(format!("{bundle}rspec"), "rspec in Gemfile"));
    }
    found.into_iter().map(Guess::Sure).reduce(beside)
}

/// `gem "rspec"`, and those that bring it along (`rspec-rails`).
fn gem(gemfile: &str, name: &str) -> bool {
    gemfile.lines().map(str::trim_start).filter_map(|line| line.strip_prefix("gem")).any(|rest| {
        let rest = rest.trim_start_matches([' ', '(']);
        rest.strip_prefix(['"', '\''])
            .and_then(|rest| rest.strip_prefix(name))
            .is_some_and(|rest| rest.starts_with(['"', '\'']) || (name == "rspec" && rest.starts_with('-')))
    })
}

/// Beginnings of the task in a Rakefile.
const TEST_TASKS: WordList = WordList::section(WORDS, "test tasks of rake");

/// `task :test`, `task test: [...]`, `Rake::TestTask.new` (whose name is `test` unless it is given another).
fn has_test_task(rakefile: &str) -> bool {
    rakefile.lines().map(str::trim_start).filter(|line| !line.starts_with('#')).any(|line| {
        let whole = |start: &str| {
            line.find(start).is_some_and(|at| {
                let rest = line.get(at + start.len()..).unwrap_or_default();
                !rest.starts_with(|each: char| each.is_alphanumeric() || each == '_')
            })
        };
        let unnamed = line.find("TestTask.new").and_then(|at| line.get(at + "TestTask.new".len()..));
        TEST_TASKS.iter().any(whole) || unnamed.is_some_and(|rest| !rest.starts_with('('))
    })
}

/// The cheapest honest check of a project in which nothing says how tests run: that its code compiles.
pub(super) fn compiles(listing: &Listing) -> Option<GuessedCommand> {
    let typescript = listing.text("package.json").is_some_and(|text| text.contains("\"typescript\""));
    if typescript && listing.has("tsconfig.json") {
        return Some(guessed("npx tsc --noEmit", "tsconfig.json and no test script"));
    }
    if let Some(manifest) = listing.text("Cargo.toml") {
        let parsed = manifest.parse::<toml::Table>();
        let is_workspace = parsed.is_ok_and(|parsed| parsed.contains_key("workspace"));
        let command = if is_workspace { "cargo check --workspace" } else { "cargo check" };
        return Some(guessed(command, "Cargo.toml and no tests"));
    }
    if listing.has("go.mod") {
        return Some(guessed("go vet ./...", "go.mod and no tests"));
    }
    let is_python = |name: &&str| name.rsplit_once('.').is_some_and(|(_, end)| end == "py");
    let manifest = listing.first(&["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"]);
    let seen = match (manifest, listing.top().filter(is_python).count()) {
        (Some(manifest), _) => format!("{manifest} and no tests"),
        (None, 0) => return None,
        (None, 1) => "a Python file and no tests".to_owned(),
        (None, more) => format!("{more} Python files and no tests"),
    };
    Some(guessed("python3 -m compileall -q .", seen))
}
