//! The examples of docs/cli/ are run, each in a copy of a repository whose loop is halted. What does not end with 0 there
//! is named with its exit code and the reason.

use super::{blocks, pages, scripts};
use crate::support::{Stage, image::Image};

/// Examples that end with another exit code than 0 while the loop is halted and its tests fail, and why.
const ENDS: &[(&str, i32, &str)] = &[
    ("andon agent run claude", 1, "no client is started while the loop is halted"),
    ("andon calibrate", 1, "no run of this history went well from end to end"),
    ("andon check", 1, "the loop on the branch is halted"),
    ("andon complete", 1, "the tests fail"),
    ("andon status --exit-code", 1, "a person is needed"),
    ("andon test", 1, "the tests fail"),
    ("andon test -- ", 0, "the stand-in for pytest passes"),
    ("andon tick", 1, "the loop must stop"),
];

/// What must be there for an example.
const BEFORE: &[(&str, &str)] = &[
    (
        "andon test core",
        "printf '[test.scopes.core]\\npaths = [\"*.txt\"]\\ncommand = \"sh check.sh\"\\n' >> andon.toml",
    ),
    ("report.xml", "pytest --junitxml=report.xml || pytest x=report.xml"),
    ("records.bundle", "andon sync --bundle records.bundle"),
    ("andon man --all man1", "mkdir man1"),
    ("andon pin", "echo 'Be brief.' > CLAUDE.md"),
];

/// The command as it is run: the history is shorter than that of the pages, and there is no terminal.
fn runnable(command: &str) -> String {
    let range = regex::Regex::new(r"main~\d+\.\.main").unwrap();
    range.replace(command, "main..HEAD").replace("andon resume ", "andon resume --yes ")
}

/// The command lines of the reference, each with its page.
fn examples() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for page in pages().into_iter().filter(|page| page.components().any(|part| part.as_os_str() == "cli")) {
        let name = page.file_stem().unwrap().to_string_lossy().into_owned();
        for block in blocks::read(&std::fs::read_to_string(&page).unwrap()) {
            if block.language == "sh" {
                let commands = block.text.lines().map(|line| line.split("   # ").next().unwrap().to_owned());
                found.extend(commands.map(|command| (name.clone(), command)));
            }
        }
    }
    found
}

/// A branch with green commits ahead of a remote, and three with the same failure: halted.
fn halted() -> Stage {
    let stage = scripts::ground();
    for text in ["three\n", "four\n", "five\n"] {
        stage.iterate(text, &["ok a", "not ok b"], "Work on b").ok();
    }
    assert!(stage.exists(".andon/CHECKPOINT.md"));
    stage
}

#[test]
fn the_examples_of_the_reference_run() {
    let stage = halted();
    let mut codes = vec![false; ENDS.len()];
    let examples = examples();
    let image = Image::of(stage.dir());
    for (number, (page, command)) in examples.iter().enumerate() {
        let dir = stage.root().join(format!("copy-{number}"));
        image.write(&dir);
        for (_, before) in BEFORE.iter().filter(|(part, _)| command.contains(part)) {
            stage.run_in(&dir, "bash", &["-ec", before], None).ok();
        }
        let out = stage.run_in(&dir, "bash", &["-c", &runnable(command)], None);
        let ends = ENDS.iter().rposition(|(begin, ..)| command.starts_with(begin));
        let code = ends.map_or(0, |at| ENDS[at].1);
        assert_eq!(out.code, code, "docs/cli/{page}.md: {command}\n{out}");
        if let Some(at) = ends {
            codes[at] = true;
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }
    assert!(examples.len() > 30, "{examples:?}");
    for ((begin, ..), is_met) in ENDS.iter().zip(codes) {
        assert!(is_met, "no page has {begin}");
    }
}
