use super::*;

/// Files with their contents.
type Files = &'static [(&'static str, &'static str)];

fn guessed(files: &[(&str, &str)]) -> Guess {
    let mut listing = Listing::default();
    for (path, content) in files {
        listing.add_file(path, content.as_bytes());
    }
    guess(&listing)
}

fn sure(cases: &[(Files, &str)]) {
    for (files, command) in cases {
        let found = guessed(files);
        assert_eq!(found.command(), Some(*command), "{files:?} {found:?}");
        assert_eq!(found.doubt(), None);
    }
}

/// Files, and what the one line says.
fn unsure(cases: &[(Files, &[&str])]) {
    for (files, words) in cases {
        let found = guessed(files);
        let doubt = found.doubt().unwrap_or_else(|| panic!("{files:?} {found:?}"));
        assert!(words.iter().all(|word| doubt.contains(word)), "{files:?}: {doubt}");
        assert!(!doubt.contains('\n') && found.command().is_none(), "{doubt}");
    }
}

const WORKSPACE: &str = "[workspace]\nmembers = [\"crates/*\"]\n";
const PACKAGE: &str = "[package]\nname = \"a\"\n";

#[test]
fn cargo() {
    sure(&[
        (&[("Cargo.toml", PACKAGE)], "cargo test"),
        (&[("Cargo.toml", WORKSPACE)], "cargo test --workspace"),
        (&[("Cargo.toml", "[package]\nname='a'\n[workspace]\n")], "cargo test --workspace"),
        (&[("Cargo.toml", "[workspace]\nmembers=['a']\ndefault-members=['a']\n")], "cargo test --workspace"),
        (&[("Cargo.toml", PACKAGE), (".config/nextest.toml", "")], "cargo nextest run"),
        (&[("Cargo.toml", WORKSPACE), (".config/nextest.toml", "")], "cargo nextest run --workspace"),
        (&[("Cargo.toml", PACKAGE), ("fuzz/Cargo.toml", "")], "cargo test"),
        (&[("Cargo.toml", WORKSPACE), ("a/Cargo.toml", ""), ("b/Cargo.toml", "")], "cargo test --workspace"),
    ]);
    unsure(&[
        (&[("Cargo.toml", PACKAGE), ("util/Cargo.toml", "")], &["util/Cargo.toml", "cargo test"]),
        (&[("Cargo.toml", "[workspace")], &["cannot be read"]),
        (&[("a/Cargo.toml", ""), ("b/Cargo.toml", "")], &["nothing at the top", "a/Cargo.toml"]),
    ]);
    let Guess::Sure(nextest) = guessed(&[("Cargo.toml", WORKSPACE), (".config/nextest.toml", "")]) else {
        panic!()
    };
    assert!(nextest.note.is_some_and(|note| note.contains("doc tests")));
}

#[test]
fn a_check_without_tests_is_known_by_what_it_runs() {
    let script = |script: &str| format!(r#"{{"scripts":{{"test":"{script}"}}}}"#);
    for (files, names_no_test) in [
        (vec![("package.json", script("tsc --noEmit && eslint ."))], true),
        (vec![("package.json", script("npx tsc -p . "))], true),
        (vec![("package.json", script("tsc --noEmit && jest"))], false),
        (vec![("package.json", script("jest"))], false),
        (vec![("Makefile", "test:\n\t@python3 -m compileall -q .\n\truff check\n".to_owned())], true),
        (vec![("Makefile", "test:\n\t./run-tests\n".to_owned())], false),
        (vec![("build.zig", String::new())], true),
        (vec![("Cargo.toml", PACKAGE.to_owned())], false),
    ] {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        let Guess::Sure(found) = guessed(&files) else { panic!("{files:?}") };
        assert_eq!(found.names_no_test(), names_no_test, "{files:?}");
    }
}

const TEST: &str = r#"{"scripts":{"test":"jest"}}"#;
const PLACEHOLDER: &str = r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#;
const SPACES: &str = r#"{"workspaces":["packages/*"]}"#;

#[test]
fn package_json() {
    sure(&[
        (&[("package.json", TEST)], "npm test"),
        (&[("package.json", "\u{feff}{\"scripts\":{\"test\":\"x\"}}")], "npm test"),
        (&[("package.json", TEST), ("package-lock.json", "")], "npm test"),
        (&[("package.json", TEST), ("pnpm-lock.yaml", "")], "pnpm test"),
        (&[("package.json", TEST), ("yarn.lock", "# yarn lockfile v1")], "yarn test"),
        (&[("package.json", TEST), ("bun.lock", "")], "bun run test"),
        (&[("package.json", "{}"), ("bun.lockb", "")], "bun test"),
        (
            &[
                ("package.json", r#"{"scripts":{"test":"x"},"packageManager":"pnpm@9.1.0"}"#),
                ("package-lock.json", ""),
            ],
            "pnpm test",
        ),
        (&[("package.json", r#"{"scripts":{"test":"vitest"}}"#)], "npm test -- --run"),
        (
            &[("package.json", r#"{"scripts":{"test":"tsc && vitest"}}"#), ("pnpm-lock.yaml", "")],
            "pnpm test --run",
        ),
        (&[("package.json", r#"{"scripts":{"test":"vitest run"}}"#)], "npm test"),
        (&[("package.json", r#"{"scripts":{"test":"react-scripts test"}}"#)], "CI=true npm test"),
        (&[("package.json", "{}"), ("vitest.config.ts", "")], "npx vitest run"),
        (&[("package.json", SPACES)], "npm test --workspaces --if-present"),
        (&[("package.json", "{}"), ("pnpm-workspace.yaml", ""), ("pnpm-lock.yaml", "")], "pnpm -r test"),
        (
            &[("package.json", r#"{"workspaces":["p/*"],"packageManager":"yarn@4.5.0"}"#)],
            "yarn workspaces foreach --all run test",
        ),
        (
            &[("package.json", SPACES), ("yarn.lock", "__metadata:\n")],
            "yarn workspaces foreach --all run test",
        ),
        (&[("package.json", r#"{"workspaces":["p/*"],"scripts":{"test":"turbo run test"}}"#)], "npm test"),
        (
            &[
                ("package.json", r#"{"workspaces":["p/*"],"scripts":{"test":"pnpm -r test"}}"#),
                ("pnpm-lock.yaml", ""),
            ],
            "pnpm test",
        ),
        (&[("deno.json", "{}")], "deno test"),
        (&[("deno.jsonc", "{ // x\n \"tasks\": { \"test\": \"deno test -A\" } }")], "deno task test"),
        (&[("package.json", PLACEHOLDER), ("go.mod", "")], "go test ./..."),
    ]);
}

#[test]
fn package_json_that_leaves_a_choice() {
    unsure(&[
        (&[("package.json", "not json")], &["cannot be read"]),
        (
            &[("package.json", TEST), ("yarn.lock", ""), ("package-lock.json", "")],
            &["several package managers"],
        ),
        (
            &[("package.json", r#"{"workspaces":["p/*"],"scripts":{"test":"node a.js"}}"#)],
            &["npm test | npm test --workspaces"],
        ),
        (
            &[("package.json", SPACES), ("yarn.lock", "# yarn lockfile v1")],
            &["Yarn 1", "yarn workspaces run test"],
        ),
        (&[("package.json", r#"{"workspaces":["p/*"],"packageManager":"yarn@3.6.0"}"#)], &["before 4"]),
        (&[("package.json", SPACES), ("turbo.json", "")], &["npx turbo run test"]),
        (&[("package.json", SPACES), ("nx.json", "")], &["npx nx run-many -t test"]),
        (&[("package.json", r#"{"scripts":{"test":"jest --watch"}}"#)], &["waits for changes"]),
        (&[("package.json", TEST), ("deno.json", "{}")], &["npm test | deno test"]),
    ]);
    for none in [
        PLACEHOLDER,
        "{}",
        r#"{"scripts":{"test":" "}}"#,
        r#"{"scripts":{"test":1,"x":{}}}"#,
        r#"{"scripts":[]}"#,
    ] {
        assert_eq!(guessed(&[("package.json", none)]), Guess::None, "{none}");
    }
}

#[test]
fn python_by_the_tests_themselves() {
    sure(&[
        (&[("tests/test_a.py", "import a\n\ndef test_a():\n    assert a\n")], "pytest"),
        (&[("a_test.py", "async def test_a():\n    pass\n")], "pytest"),
        (&[("test_a.py", "class T(unittest.TestCase):\n    def test_a(self):\n")], "python -m unittest"),
        (
            &[("src/test_a.py", "def test_a():\n"), ("tests/test_b.py", "import unittest\n")],
            "python -m unittest discover -s tests",
        ),
    ]);
}

#[test]
fn python() {
    sure(&[
        (&[("pyproject.toml", "[tool.pytest.ini_options]\n")], "pytest"),
        (&[("pytest.ini", "")], "pytest"),
        (&[("setup.py", ""), ("tests/conftest.py", "")], "pytest"),
        (&[("requirements-dev.txt", "pytest>=8\n"), ("setup.py", "")], "pytest"),
        (
            &[("pyproject.toml", "[dependency-groups]\ndev = [\"pytest>=8\"]\n"), ("uv.lock", "")],
            "uv run pytest",
        ),
        (
            &[
                ("pyproject.toml", "[tool.poetry.group.dev.dependencies]\npytest = \"^8\"\n"),
                ("poetry.lock", ""),
            ],
            "poetry run pytest",
        ),
        (&[("Pipfile", "pytest = '*'\n"), ("Pipfile.lock", "")], "pipenv run pytest"),
        (&[("tox.ini", "[tox]\nenvlist = py312\n[testenv]\ndeps = pytest\n"), ("setup.py", "")], "tox"),
        (&[("pyproject.toml", "[tool.tox]\n[project]\n")], "tox"),
        (&[("noxfile.py", "@nox.session\ndef tests(session):\n    session.run('pytest')\n")], "nox -s tests"),
        (&[("tests/test_a.py", ""), ("tests/__init__.py", "")], "python -m unittest"),
        (&[("tests/test_a.py", ""), ("setup.py", "")], "python -m unittest discover -s tests"),
        (&[("test_a.py", "")], "python -m unittest"),
        (&[("tests/test_a.py", ""), ("uv.lock", ""), ("tests/__init__.py", "")], "uv run python -m unittest"),
        (&[("manage.py", "")], "python manage.py test"),
        (&[("pytest.ini", ""), (".venv/bin/pytest", "")], ".venv/bin/pytest"),
        (&[("pytest.ini", ""), (".venv/bin/pytest", ""), ("uv.lock", "")], "uv run pytest"),
        (&[("pyproject.toml", "[tool.poetry]\n[tool.pytest.ini_options]\n")], "poetry run pytest"),
        (&[("pyproject.toml", "[tool.pdm.dev-dependencies]\ntest = ['pytest']\n")], "pdm run pytest"),
        (&[("pyproject.toml", "[tool.uv]\n[tool.pytest.ini_options]\n")], "uv run pytest"),
        (
            &[("pyproject.toml", "[tool.hatch.envs.hatch-test]\nextra-dependencies = ['pytest']\n")],
            "hatch test",
        ),
        (
            &[("pyproject.toml", "[tool.hatch.envs.default.scripts]\ntest = 'pytest {args}'\n[tool.ruff]\n")],
            "hatch run test",
        ),
        (&[("pyproject.toml", "[tool.ruff]\n"), ("Cargo.toml", PACKAGE)], "cargo test"),
    ]);
    unsure(&[
        (&[("pyproject.toml", "[project]\nname = 'a'\n")], &["names no test runner", "pytest"]),
        (&[("pyproject.toml", "[project]\n# not pytest\n")], &["names no test runner"]),
        (&[("tox.ini", "[testenv]\n"), ("uv.lock", ""), ("pytest.ini", "")], &["uv run pytest | tox"]),
        (&[("noxfile.py", "def docs(session): pass\n")], &["noxfile.py"]),
        (
            &[("pyproject.toml", "[tool.uv.workspace]\n[tool.pytest]\n"), ("uv.lock", "")],
            &["workspace of uv"],
        ),
        (
            &[
                ("pyproject.toml", "[tool.pytest]\n[build-system]\nrequires = ['maturin']\n"),
                ("Cargo.toml", PACKAGE),
            ],
            &["cargo test | pytest"],
        ),
    ]);
}

#[test]
fn other_languages() {
    sure(&[
        (&[("go.mod", "")], "go test ./..."),
        (&[("go.work", "go 1.22\nuse (\n\t./a // x\n\t./b/c\n)\n")], "go test ./a/... ./b/c/..."),
        (&[("go.work", "use .\nuse ./a\n"), ("go.mod", "")], "go test ./... ./a/..."),
        (&[("pom.xml", "")], "mvn test"),
        (&[("pom.xml", ""), ("mvnw", ""), ("core/pom.xml", "")], "./mvnw test"),
        (&[("build.gradle.kts", ""), ("settings.gradle.kts", ""), ("gradlew", "")], "./gradlew test"),
        (&[("settings.gradle", ""), ("app/build.gradle", "")], "gradle test"),
        (&[("a.sln", "")], "dotnet test"),
        (&[("a.csproj", "")], "dotnet test"),
        (&[("My App.sln", ""), ("a.csproj", "")], "dotnet test 'My App.sln'"),
        (&[("Gemfile", "gem 'rspec'\n"), (".rspec", "")], "bundle exec rspec"),
        (&[("Gemfile", "gem \"rspec-rails\"\n"), ("spec/a_spec.rb", "")], "bundle exec rspec"),
        (&[("Gemfile", ""), ("Rakefile", "Rake::TestTask.new do |t|\nend\n")], "bundle exec rake test"),
        (&[("Rakefile", "task :test do\nend\n")], "rake test"),
        (&[("Gemfile", "gem 'rails'\n"), ("test/a_test.rb", ""), ("Rakefile", "")], "bundle exec rails test"),
        (&[("composer.json", r#"{"scripts":{"test":"phpunit"}}"#), ("phpunit.xml", "")], "composer test"),
        (&[("composer.json", "{}"), ("phpunit.xml.dist", "")], "vendor/bin/phpunit"),
        (
            &[("composer.json", r#"{"require-dev":{"pestphp/pest":"^3"}}"#), ("phpunit.xml", "")],
            "vendor/bin/pest",
        ),
        (&[("mix.exs", "")], "mix test"),
        (&[("pubspec.yaml", "dependencies:\n  flutter:\n    sdk: flutter\n")], "flutter test"),
        (&[("pubspec.yaml", "name: a\n")], "dart test"),
        (
            &[("CMakeLists.txt", "enable_testing()\n"), ("build/CMakeCache.txt", "")],
            "cmake --build build && ctest --test-dir build",
        ),
        (&[("Package.swift", "")], "swift test"),
        (&[("artisan", ""), ("phpunit.xml", "")], "php artisan test"),
        (&[("tests/Pest.php", "")], "vendor/bin/pest"),
        (&[("meson.build", ""), ("build/build.ninja", "")], "meson test -C build"),
        (&[("MODULE.bazel", ""), ("WORKSPACE.bazel", "")], "bazel test //..."),
        (&[("noxfile.py", "def unit(session):\n"), ("setup.cfg", "")], "nox -s unit"),
        (&[("setup.cfg", "[tox:tox]\n")], "tox"),
    ]);
    unsure(&[
        (&[("go.mod", ""), ("tools2/go.mod", "")], &["tools2", "go test ./..."]),
        (&[("go.work", "use ../other\n")], &["go.work"]),
        (&[("a.sln", ""), ("b.sln", "")], &["dotnet test a.sln | dotnet test b.sln"]),
        (
            &[("build.gradle", ""), ("gradlew", ""), ("app/build.gradle", "id 'com.android.application'")],
            &["./gradlew testDebugUnitTest"],
        ),
        (
            &[("Gemfile", ""), (".rspec", ""), ("Rakefile", "task :test\n")],
            &["rspec | bundle exec rake test"],
        ),
        (&[("composer.json", r#"{"require-dev":{"phpunit/phpunit":"^11"}}"#)], &["phpunit"]),
        (&[("composer.json", "{")], &["a composer.json that cannot be read"]),
        (&[("meson.build", "")], &["meson.build, and no build directory", "meson test -C build"]),
        (&[("mix.exs", ""), ("build.sbt", "")], &["mix.exs beside build.sbt"]),
        (&[("CMakeLists.txt", "add_test(NAME a COMMAND a)\n")], &["no build directory", "ctest"]),
    ]);
    assert_eq!(guessed(&[("CMakeLists.txt", "project(a)\n")]), Guess::None);
}

#[test]
fn recipes() {
    sure(&[
        (&[("Makefile", "all:\n\ttrue\ntest: all\n\ttrue\n")], "make test"),
        (&[("makefile", "check test:: a\n")], "make test"),
        (&[("GNUmakefile", "check:\n\t./run\n")], "make check"),
        (&[("justfile", "build:\n  x\n\n@test *args: build\n  ./run {{args}}\n")], "just test"),
        (&[("Justfile", "alias test := unit\nunit:\n  x\n")], "just test"),
        (
            &[("Taskfile.yml", "version: '3'\ntasks:\n  build:\n    cmds: [x]\n  test:\n    cmds: [y]\n")],
            "task test",
        ),
        // A recipe that runs what was found is the project's own word.
        (&[("Makefile", "test: build\n\tgo test ./...\n"), ("go.mod", "")], "make test"),
        (
            &[
                ("Makefile", "test:\n\t@cargo test --workspace && npm test\n"),
                ("Cargo.toml", WORKSPACE),
                ("package.json", TEST),
            ],
            "make test",
        ),
        (
            &[
                ("justfile", "test:\n    make test\n"),
                ("Makefile", "test:\n\tpytest -q\n"),
                ("pytest.ini", ""),
            ],
            "just test",
        ),
        (
            &[
                ("Makefile", "test:\n\tcd web && npm test; go test ./...\n"),
                ("go.mod", ""),
                ("web/package.json", ""),
            ],
            "make test",
        ),
    ]);
    unsure(&[
        (
            &[("Makefile", "test:\n\tcargo test\n"), ("Cargo.toml", WORKSPACE)],
            &["cargo test --workspace | make test"],
        ),
        (&[("Makefile", "test:\n\t./run\n"), ("go.mod", "")], &["go test ./... | make test"]),
        (&[("justfile", "test:\n  a\n"), ("Makefile", "test:\n\tb\n")], &["just test | make test"]),
    ]);
    for none in [
        ("Makefile", ".PHONY: test\nall: test\n\ttest: x\n"),
        ("Makefile", "test := x\ntest = a:b\ntest::=x\n# test: x\n"),
        ("Makefile", "test-unit:\n\tx\nunittest: y\n"),
        ("justfile", "test name:\n  x\n"),
        ("justfile", "test := 'x'\ntests:\n  y\n"),
        ("Taskfile.yml", "tasks:\n  unit:\n    test: x\n"),
    ] {
        assert_eq!(guessed(&[none]), Guess::None, "{none:?}");
    }
}

#[test]
fn several_projects_in_one_repository() {
    unsure(&[
        (
            &[("Cargo.toml", PACKAGE), ("package.json", TEST)],
            &["saw Cargo.toml beside package.json", "cargo test | npm test"],
        ),
        (&[("go.mod", ""), ("web/package.json", "")], &["go.mod beside web/package.json", "go test ./..."]),
        (
            &[("api/go.mod", ""), ("web/package.json", "")],
            &["nothing at the top", "api/go.mod", "web/package.json"],
        ),
        (&[("package.json", TEST), ("client/package.json", "")], &["client/package.json"]),
    ]);
    sure(&[
        (&[("go.mod", ""), ("docs/package.json", "")], "go test ./..."),
        (
            &[("package.json", r#"{"workspaces":["a"],"scripts":{"test":"jest"}}"#), ("a/package.json", "")],
            "npm test",
        ),
    ]);
    assert_eq!(guessed(&[]), Guess::None);
    assert_eq!(guessed(&[("README.md", "")]), Guess::None);
}

#[test]
fn hostile_files_are_no_projects() {
    let deep = format!("{{\"scripts\":{}", "{\"a\":".repeat(10_000));
    assert_eq!(guessed(&[("package.json", &deep)]).command(), None);
    let raw = guessed(&[("Makefile", "\u{fffd}\ntest:\n")]);
    assert_eq!(raw.command(), Some("make test"));
    let odd = guessed(&[("package.json", "{\"scripts\":{\"test\":\"a\\nb --watch \\u001b[31m\"}}")]);
    assert!(odd.doubt().is_some_and(|line| !line.contains(char::is_control)), "{odd:?}");
    let mut listing = Listing::default();
    for number in 0..10_000 {
        listing.add_file(&format!("{number}.sln"), b"");
    }
    assert!(guess(&listing).doubt().is_some_and(|line| line.len() < 1_000));
}
