//! Every other kind of project: mostly one file and the usual command for it.

use super::listing::Listing;
use super::{GuessedCommand, KindGuess};

/// A file at the top, and the command that follows from it whatever is in it.
const PLAIN: [(&str, &str); 14] = [
    ("mix.exs", "mix test"),
    ("Package.swift", "swift test"),
    ("stack.yaml", "stack test"),
    ("cabal.project", "cabal test all"),
    ("build.sbt", "sbt test"),
    ("build.zig", "zig build test"),
    ("project.clj", "lein test"),
    ("dune-project", "dune test"),
    ("shard.yml", "crystal spec"),
    ("gleam.toml", "gleam test"),
    ("MODULE.bazel", "bazel test //..."),
    ("WORKSPACE.bazel", "bazel test //..."),
    (".busted", "busted"),
    ("rebar.config", "rebar3 do eunit, ct"),
];

type Kind = fn(&Listing) -> Option<KindGuess>;

/// What is looked for, in the order of reporting.
pub(super) const KINDS: [Kind; 9] = [go, maven, gradle, dotnet, ruby, php, dart, cmake, plain];

fn sure(command: impl Into<String>, because: impl Into<String>) -> KindGuess {
    KindGuess::Sure(GuessedCommand::new(command, because))
}

fn plain(listing: &Listing) -> Option<KindGuess> {
    let found = PLAIN.iter().filter(|(name, _)| listing.has(name));
    let mut found: Vec<GuessedCommand> =
        found.map(|(name, command)| GuessedCommand::new(*command, *name)).collect();
    // One build tool may have two files.
    found.dedup_by(|one, other| one.command == other.command);
    found.into_iter().map(KindGuess::Sure).reduce(KindGuess::beside)
}

/// A module, or the modules that go.work lists: a pattern reaches the packages of one module alone.
fn go(listing: &Listing) -> Option<KindGuess> {
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

fn maven(listing: &Listing) -> Option<KindGuess> {
    let command = if listing.has("mvnw") { "./mvnw test" } else { "mvn test" };
    listing.has("pom.xml").then(|| KindGuess::Sure(GuessedCommand::new(command, "pom.xml")))
}

fn gradle(listing: &Listing) -> Option<KindGuess> {
    let files = ["build.gradle.kts", "build.gradle", "settings.gradle.kts", "settings.gradle"];
    let file = listing.first(&files)?;
    let program = if listing.has("gradlew") { "./gradlew" } else { "gradle" };
    let read = ["build.gradle.kts", "build.gradle", "app/build.gradle.kts", "app/build.gradle"];
    let android = read.iter().filter_map(|path| listing.text(path)).any(|text| text.contains("com.android."));
    if android {
        return Some(KindGuess::Unsure {
            seen: format!("{file} of an Android project, whose unit tests are one task for each variant"),
            candidates: vec![GuessedCommand::new(format!("{program} testDebugUnitTest"), file)],
        });
    }
    Some(sure(format!("{program} test"), file))
}

fn dotnet(listing: &Listing) -> Option<KindGuess> {
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

fn ruby(listing: &Listing) -> Option<KindGuess> {
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

fn php(listing: &Listing) -> Option<KindGuess> {
    let composer = listing.text("composer.json");
    let parsed: Option<serde_json::Value> = composer.and_then(|text| serde_json::from_str(text).ok());
    if composer.is_some() && parsed.is_none() {
        return Some(KindGuess::Unsure {
            seen: "a composer.json that cannot be read".to_owned(),
            candidates: Vec::new(),
        });
    }
    let script = parsed.as_ref().and_then(|all| all.pointer("/scripts/test"));
    if script.is_some_and(|script| !script.is_null() && script != "") {
        return Some(sure("composer test", "the script in composer.json"));
    }
    let configured = listing.first(&["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"]);
    let required = |name: &str| {
        parsed.as_ref().is_some_and(|all| {
            ["require-dev", "require"]
                .iter()
                .any(|part| all.get(part).and_then(|list| list.get(name)).is_some())
        })
    };
    if listing.has("artisan") {
        return Some(sure("php artisan test", "artisan"));
    }
    if listing.has("tests/Pest.php") || required("pestphp/pest") {
        return Some(sure("vendor/bin/pest", "pest in composer.json"));
    }
    match configured {
        Some(file) => Some(sure("vendor/bin/phpunit", file)),
        None if required("phpunit/phpunit") => Some(KindGuess::Unsure {
            seen: "phpunit in composer.json, and no phpunit.xml that says what it runs".to_owned(),
            candidates: vec![GuessedCommand::new("vendor/bin/phpunit tests", "composer.json")],
        }),
        None => None,
    }
}

fn dart(listing: &Listing) -> Option<KindGuess> {
    let text = listing.text("pubspec.yaml")?;
    let flutter = text.lines().any(|line| line.trim() == "sdk: flutter" || line.trim_end() == "flutter:");
    Some(sure(if flutter { "flutter test" } else { "dart test" }, "pubspec.yaml"))
}

/// `ctest` runs what was built last, which need not be this code: the command builds as well. Where it builds is
/// only known where it has been built.
fn cmake(listing: &Listing) -> Option<KindGuess> {
    let meson = listing.has("meson.build");
    let read = ["CMakeLists.txt", "tests/CMakeLists.txt", "test/CMakeLists.txt"];
    let words = ["enable_testing", "include(CTest)", "add_test", "_discover_tests"];
    let mut contents = read.iter().filter_map(|path| listing.text(path));
    let tests =
        listing.has("CMakeLists.txt") && contents.any(|text| words.iter().any(|word| text.contains(word)));
    match (tests, meson) {
        (true, _) if listing.has("build/CMakeCache.txt") => {
            Some(sure("cmake --build build && ctest --test-dir build", "CMakeLists.txt and build/"))
        }
        (true, _) => Some(KindGuess::Unsure {
            seen: "CMakeLists.txt, and no build directory that is known".to_owned(),
            candidates: vec![GuessedCommand::new(
                "cmake -S . -B build && cmake --build build && ctest --test-dir build",
                "CMakeLists.txt",
            )],
        }),
        (false, true) if listing.has("build/build.ninja") => {
            Some(sure("meson test -C build", "meson.build and build/"))
        }
        (false, true) => Some(KindGuess::Unsure {
            seen: "meson.build, and no build directory that is known".to_owned(),
            candidates: vec![GuessedCommand::new("meson test -C build", "meson.build")],
        }),
        (false, false) => None,
    }
}
