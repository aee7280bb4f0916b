//! The examples of README.md, run: what it shows is what happens.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on fails; PATH is the machine's"
)]

use crate::support::{Out, Stage, andon_path};

const README: &str = include_str!("../../README.md");

/// A command and the lines that the README shows for it.
struct Step {
    command: String,
    shown: Vec<String>,
}

/// The steps of all `console` blocks, in order.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match (inside, line) {
            (false, "```console") => inside = true,
            (true, "```") => inside = false,
            (true, line) => match line.strip_prefix("$ ") {
                Some(command) => steps.push(Step { command: command.to_owned(), shown: Vec::new() }),
                None => steps.last_mut().expect("a block begins with a command").shown.push(line.to_owned()),
            },
            (false, _) => {}
        }
    }
    steps
}

/// Whether `found` is as shown: `...` stands for any number of lines, and at the end of a line for its rest.
fn matches(shown: &[String], found: &[&str]) -> bool {
    let Some((first, rest)) = shown.split_first() else { return found.is_empty() };
    if first == "..." {
        return (0..=found.len()).any(|skip| matches(rest, &found[skip..]));
    }
    let Some((line, found)) = found.split_first() else { return false };
    let same = match first.strip_suffix("...") {
        Some(start) => line.starts_with(start),
        None => first == line,
    };
    same && matches(rest, found)
}

#[test]
fn the_examples_are_true() {
    let stage = Stage::bare_ground();
    let program = andon_path();
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    stage.set("PATH", &path);
    let steps = steps(README);
    assert!(steps.len() > 10, "the README has its walk");
    let mut dir = stage.dir().to_owned();
    for step in steps {
        if let Some(target) = step.command.strip_prefix("cd ") {
            dir = dir.join(target);
            continue;
        }
        // Both streams in the order in which a terminal shows them.
        let out: Out = stage.run_in(&dir, "sh", &["-c", &format!("{{ {}; }} 2>&1", step.command)], None);
        let found: Vec<&str> = out.stdout.lines().collect();
        assert!(
            matches(&step.shown, &found),
            "$ {}\n--- README.md\n{}\n--- found\n{}",
            step.command,
            step.shown.join("\n"),
            out.stdout
        );
    }
}

#[test]
fn dots_stand_for_lines_and_for_the_rest_of_a_line() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    for (shown, found, same) in [
        ("a\nb", "a\nb", true),
        ("a", "a\nb", false),
        ("a\n...", "a\nb\nc", true),
        ("...\nc", "a\nb\nc", true),
        ("a ...", "a thing", true),
        ("...", "", true),
        ("", "a", false),
    ] {
        assert_eq!(matches(&lines(shown), &found.lines().collect::<Vec<_>>()), same, "{shown:?} {found:?}");
    }
}
