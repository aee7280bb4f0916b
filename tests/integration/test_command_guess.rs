//! Which test command is guessed for a project, and when the guess is not sure.

use insta::assert_snapshot;

use crate::support::Stage;

/// What `andon install` says and writes in a repository with these files.
fn installed(files: &[(&str, &str)]) -> (Stage, String, String) {
    let stage = Stage::new();
    for (path, text) in files {
        if let Some((dir, _)) = path.rsplit_once('/') {
            std::fs::create_dir_all(stage.dir().join(dir)).unwrap();
        }
        stage.write(path, text);
    }
    let said = stage.andon(&["install"]).ok();
    let config = std::fs::read_to_string(stage.dir().join("andon.toml")).unwrap();
    stage.andon(&["config", "check"]).ok();
    (stage, said.all(), config)
}

fn command_line(config: &str) -> &str {
    config
        .lines()
        .find(|line| line.starts_with("command = ") || line.starts_with("# command = "))
        .unwrap_or_default()
}

#[test]
fn a_workspace_is_tested_as_a_whole() {
    let members = [
        ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\n"),
        ("a/Cargo.toml", ""),
        ("b/Cargo.toml", ""),
        ("b/src/lib.rs", "#[test]\nfn it() {}\n"),
    ];
    let (_stage, said, config) = installed(&members);
    assert_eq!(command_line(&config), "command = \"cargo test --workspace\"");
    assert!(
        said.contains("with the test command cargo test --workspace (a workspace in Cargo.toml)"),
        "{said}"
    );
    let nextest = [members[0], members[3], (".config/nextest.toml", "")];
    let (_stage, said, config) = installed(&nextest);
    assert_eq!(command_line(&config), "command = \"cargo nextest run --workspace\"");
    assert!(said.contains("nextest runs no doc tests: cargo test --doc does"), "{said}");
}

#[test]
fn what_is_not_sure_is_said_in_one_line_and_left_to_people() {
    let (stage, said, config) = installed(&[
        ("go.mod", "module m\n"),
        ("m_test.go", "package m\n"),
        ("package.json", "{\"scripts\":{\"test\":\"jest\"}}"),
    ]);
    let line = "not sure how the tests run: saw package.json beside go.mod; may be: npm test | go test ./...";
    assert!(said.contains(line), "{said}");
    let written = command_line(&config);
    assert!(written.starts_with("# command = \"npm test\"") && written.contains(line), "{config}");
    stage.steps("echo two > code.txt; git add -A");
    let committed = stage.git(&["commit", "-qm", "Two"]);
    assert_snapshot!(committed.says(line).shown(), @"
    exit 0
    --- stderr
    warning[untested-edit]: code changed and no test command is configured, so nothing can show that it was tested
      help: name the test command in andon.toml ([test] command); not sure how the tests run: saw package.json beside go.mod; may be: npm test | go test ./...
      help: andon config show test
    ");
    let value = stage.andon(&["uninstall", "--format", "json"]).ok().json();
    assert!(value.is_object());
}

#[test]
fn andon_test_without_a_command_names_what_the_project_is_made_of() {
    let stage = Stage::new();
    stage.write("pyproject.toml", "[project]\nname = \"p\"\n");
    stage.andon(&["test"]).exits(2).says("pytest").lacks("cargo");
    stage.write("tests/test_a.py", "def test_a(): pass\n");
    stage.andon(&["test"]).exits(2).says("command = \"pytest\"").says("andon test -- COMMAND");
}

#[test]
fn the_message_without_a_command_names_the_one_that_is_sure() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[paths]\nignore = []\n");
    stage.write("Makefile", "test:\n\ttrue\n");
    stage.git(&["add", "-A"]).ok();
    assert_snapshot!(stage.git(&["commit", "-qm", "Make"]).shown(), @r#"
    exit 0
    --- stderr
    warning[untested-edit]: code changed and no test command is configured, so nothing can show that it was tested
      help: name it in andon.toml:  [test]  command = "make test"  (the recipe in Makefile)
      help: andon config show test
    "#);
}

#[test]
fn no_project_gives_no_command() {
    let (_stage, said, config) = installed(&[(
        "package.json",
        "{\"scripts\":{\"test\":\"echo \\\"Error: no test specified\\\" && exit 1\"}}",
    )]);
    assert!(command_line(&config).starts_with("# command = "), "{config}");
    assert!(
        said.contains("andon.toml was written without a test command: nothing here says how the tests run"),
        "{said}"
    );
}

/// Files with their texts, the command, what was seen.
type Proposed<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a str);

const CARGO: &str = "saw Cargo.toml and no tests";

#[test]
fn where_a_source_holds_a_test_the_runner_is_guessed() {
    let table: [(&[(&str, &str)], &str); 3] = [
        (
            &[("Cargo.toml", ""), ("src/a/b/c.rs", "#[cfg(test)]\nmod tests {}\n"), ("src/lib.rs", "")],
            "cargo test",
        ),
        (&[("Cargo.toml", ""), ("tests/all.rs", ""), ("src/lib.rs", "")], "cargo test"),
        (&[("go.mod", "module m\n"), ("pkg/deep/a_test.go", "package deep\n")], "go test ./..."),
    ];
    for (files, command) in table {
        let (_stage, said, config) = installed(files);
        assert_eq!(command_line(&config), format!("command = {command:?}"), "{said}");
    }
}

#[test]
fn where_there_are_no_tests_the_cheapest_check_is_proposed() {
    let table: [Proposed<'_>; 7] = [
        (
            &[("Cargo.toml", "[package]\nname = \"a\"\n"), ("src/main.rs", "fn main() {}\n")],
            "cargo check",
            CARGO,
        ),
        (
            &[("Cargo.toml", "[workspace]\n"), ("a/Cargo.toml", ""), ("a/src/lib.rs", "")],
            "cargo check --workspace",
            CARGO,
        ),
        (
            &[("go.mod", "module m\n"), ("main.go", "package main\n")],
            "go vet ./...",
            "saw go.mod and no tests",
        ),
        (&[("app.py", ""), ("util.py", "")], "python3 -m compileall -q .", "saw 2 Python files and no tests"),
        (
            &[("tsconfig.json", "{}"), ("package.json", "{\"devDependencies\":{\"typescript\":\"5\"}}")],
            "npx tsc --noEmit",
            "saw tsconfig.json and no test script",
        ),
        (
            &[("requirements.txt", "flask\n")],
            "python3 -m compileall -q .",
            "saw requirements.txt and no tests",
        ),
        (&[("notes.txt", "")], "", "nothing here says how the tests run"),
    ];
    for (files, command, seen) in table {
        let (_stage, said, config) = installed(files);
        assert!(said.contains(seen), "{said}");
        let line = command_line(&config);
        assert!(line.starts_with("# command = ") && line.contains(command), "{config}");
    }
}
