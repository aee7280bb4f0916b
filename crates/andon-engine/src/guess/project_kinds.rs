//! Kinds of projects whose command is put together from names and numbers that a table cannot hold: the modules of Go,
//! the solutions of .NET, the two runners of Ruby.

use super::listing::{Listing, Tests};
use super::{GuessedCommand, KindGuess, sure};

/// A module, or the modules that go.work lists: a pattern reaches the packages of one module alone.
pub(super) fn go(listing: &Listing) -> Option<KindGuess> {
    if listing.tests == Tests::Absent {
        return None;
    }
    if let Some(text) = listing.text("go.work") {
        let used = used(text);
        let inside =
            |dir: &&str| !dir.starts_with("..") && !dir.starts_with('/') && !dir.contains([' ', '\'', '"']);
        if used.is_empty() || used.len() > 20 || !used.iter().all(inside) {
            return Some(KindGuess::Unsure {
                seen: "a go.work of modules that cannot be listed here".to_owned(),
                candidates: vec![GuessedCommand::new("go test ./...", "go.work")],
            });
        }
        let patterns: Vec<String> = used.iter().map(|dir| pattern(dir)).collect();
        return Some(sure(format!("go test {}", patterns.join(" ")), "the modules of go.work"));
    }
    let below = listing.below("go.mod");
    listing.has("go.mod").then(|| match below.first() {
        None => KindGuess::Sure(GuessedCommand::new("go test ./...", "go.mod")),
        Some(other) => KindGuess::Unsure {
            seen: format!("go.mod, and a module of its own in {other}, which ./... does not reach"),
            candidates: vec![GuessedCommand::new("go test ./...", "go.mod")],
        },
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
    let mut inside = None;
    let mut found = Vec::new();
    for line in text.lines().map(|line| line.split("//").next().unwrap_or_default().trim()) {
        match (inside, line.strip_prefix("use")) {
            (Some(()), _) if line == ")" => inside = None,
            (Some(()), _) if !line.is_empty() => found.push(line),
            (None, Some(rest)) if rest.trim() == "(" => inside = Some(()),
            (None, Some(rest)) if rest.starts_with([' ', '\t']) => found.push(rest.trim()),
            (Some(()) | None, _) => {}
        }
    }
    found
}

pub(super) fn dotnet(listing: &Listing) -> Option<KindGuess> {
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
            let named =
                |name: &String| GuessedCommand::new(format!("dotnet test {}", word(name)), name.as_str());
            Some(KindGuess::Unsure {
                seen: format!("{} of which none is the whole for sure", several.join(", ")),
                candidates: several.iter().map(named).collect(),
            })
        }
    }
}

/// A file's name as a word for a shell.
fn word(name: &str) -> String {
    let plain = |each: char| each.is_alphanumeric() || matches!(each, '.' | '-' | '_');
    if name.chars().all(plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}

pub(super) fn ruby(listing: &Listing) -> Option<KindGuess> {
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
        found.push(GuessedCommand::new(format!("{bundle}rspec"), "the specs in spec/"));
    }
    if rails && tests {
        found.push(GuessedCommand::new(format!("{bundle}rails test"), "the tests of Rails in test/"));
    } else if rake {
        found.push(GuessedCommand::new(format!("{bundle}rake test"), "the task in Rakefile"));
    } else if tests && gemfile.is_some() {
        return Some(KindGuess::Unsure {
            seen: "tests in test/, and no task that runs them".to_owned(),
            candidates: vec![GuessedCommand::new(
                format!("{bundle}ruby -Itest -e 'Dir[\"./test/**/*_test.rb\"].each {{ require _1 }}'"),
                "test/",
            )],
        });
    } else if found.is_empty() && gemfile.is_some_and(|text| gem(text, "rspec")) {
        found.push(GuessedCommand::new(format!("{bundle}rspec"), "rspec in Gemfile"));
    }
    found.into_iter().map(KindGuess::Sure).reduce(KindGuess::beside)
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

/// `task :test`, `task test: [...]`, `Rake::TestTask.new` (whose name is `test` unless it is given another).
fn has_test_task(rakefile: &str) -> bool {
    rakefile.lines().map(str::trim_start).filter(|line| !line.starts_with('#')).any(|line| {
        let named = [
            "task :test",
            "task test:",
            "task \"test\"",
            "task 'test'",
            "TestTask.new(:test",
            "TestTask.new(\"test\"",
        ];
        let whole = |start: &str| {
            line.find(start).is_some_and(|at| {
                let rest = line.get(at + start.len()..).unwrap_or_default();
                !rest.starts_with(|each: char| each.is_alphanumeric() || each == '_')
            })
        };
        let unnamed = line.find("TestTask.new").and_then(|at| line.get(at + "TestTask.new".len()..));
        named.iter().any(|start| whole(start)) || unnamed.is_some_and(|rest| !rest.starts_with('('))
    })
}
