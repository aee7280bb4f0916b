//! The commands that the program names anywhere and that are no rows of the list, since they only show something: each is read
//! out of the source, run in a halted repository with facts of it, and ends well without changing anything. All others have to be
//! commands as the program reads them.

use std::collections::BTreeSet;

use super::every::{files, literals_of_the_program, refs};
use super::{Out, Stage, ground, sh};
use crate::support::people::with_ann;

/// Verbs that only show something.
const SHOWING: &[&str] = &[
    "andon calibrate",
    "andon check",
    "andon completions",
    "andon config",
    "andon doctor",
    "andon explain",
    "andon help",
    "andon ledger",
    "andon log",
    "andon man",
    "andon replay",
    "andon review concerns",
    "andon review show",
    "andon review status",
    "andon show",
    "andon status",
    "andon witness key",
    "andon witness list",
    "andon witness policy",
    "git cat-file",
    "git config --get",
    "git config --show-origin",
    "git diff",
    "git for-each-ref",
    "git fsck",
    "git help",
    "git log",
    "git ls-remote",
    "git rev-parse",
    "git show",
    "git status",
];

/// Begins of sentences.
const SENTENCES: &[&str] = &[
    "andon check found",
    "andon check --format json has",
    "andon complete says",
    "andon watch needs",
    "git log does",
    "git log shows",
    "git show another",
    "git shows",
    "andon is ",
    "andon config shown",
];

/// Commands that are not run here, each with the reason.
const NOT_RUN: &[(&str, &str)] = &[
    ("git show {commit}:evidence/", "needs evidence that was kept"),
    ("git log --oneline --graph {0}{writer} {1}{writer}", "needs the ledger of another clone"),
    ("git log -p {}{writer}", "needs the ledger of another clone"),
    ("git log refs/andon/ledger/{}", "needs the ledger of another clone"),
    ("git ls-remote {", "needs a remote"),
    ("andon calibrate --events", "needs a stream of events"),
    ("andon calibrate --good", "needs a range of good work"),
    ("andon calibrate {range} --alpha", "needs more history"),
    ("andon config show test.scopes.", "needs a scope"),
];

/// The commands of a text: a whole one, or what follows a colon, a backtick or another command.
fn commands(text: &str) -> Vec<String> {
    let begin = regex::Regex::new(r"(?:^|: |`|&& |; |then |or )((?:andon|git) [a-z][a-z-]*)").unwrap();
    let end = regex::Regex::new(r" && |; |`| \| |, |  |\)|\n| \(| > | # |: |\. |\.$").unwrap();
    let of = |at: usize| {
        let rest = &text[at..];
        rest[..end.find(rest).map_or(rest.len(), |found| found.start())].to_owned()
    };
    begin.captures_iter(text).map(|found| of(found.get(1).unwrap().start())).collect()
}

/// Facts of the repository, for any name.
fn values(stage: &Stage) -> Vec<String> {
    let log = stage.andon(&["log", "--format", "json"]).ok().stdout;
    let halt = regex::Regex::new(r#""id": ?"([0-9a-f]{64})""#).unwrap();
    let shown = stage.andon(&["status", "--format", "json"]).stdout;
    let id = halt.captures(&log).or_else(|| halt.captures(&shown)).map(|found| found[1][..8].to_owned());
    let plain = ["@", "@~1", "1", "one.c", "claude", "project", "show", "@~1..@", "shim", ""];
    plain.map(str::to_owned).into_iter().chain(id).collect()
}

/// The command with facts in place of names, in all ways.
fn filled(command: &str, values: &[String]) -> Vec<String> {
    let name = regex::Regex::new(r"\{[^}]*\}|(?-u:\b)(?:N|[A-Z]{3,})(?-u:\b)").unwrap();
    let mut found = vec![command.to_owned()];
    while name.is_match(&found[0]) {
        let of = |text: &String| {
            let at = name.find(text).unwrap().range();
            let (before, after) = (&text[..at.start], &text[at.end..]);
            values.iter().map(|value| format!("{before}{value}{after}")).collect::<Vec<_>>()
        };
        found = found.iter().flat_map(of).collect();
    }
    found
}

/// Nothing that a wrong command ends with.
fn is_well(out: &Out) -> bool {
    ![2, 70, 126, 127, 128, 129].contains(&out.code)
}

#[test]
fn commands_that_only_show_something_end_well_and_change_nothing() {
    let stage = ground();
    with_ann(&stage);
    sh(
        &stage,
        "echo 4 >> one.c; andon test; git commit -qam Next; git update-ref refs/remotes/origin/main @~1",
    );
    sh(&stage, "touch .andon/STOP; andon tick");
    let values = values(&stage);
    let all: BTreeSet<String> = literals_of_the_program().iter().flat_map(|text| commands(text)).collect();
    let known = stage.andon(&["--help"]).ok().stdout;
    let is_verb = |verb: &str| known.lines().any(|line| line.trim_start().starts_with(&format!("{verb} ")));
    let (before, refs_before) = (files(&stage), refs(&stage));
    let (mut ran, mut read, mut faults) = (0, 0, BTreeSet::new());
    for command in all {
        let begins = |rows: &[&str]| rows.iter().any(|row| command.starts_with(row));
        let not_run = NOT_RUN.iter().any(|(row, _)| command.starts_with(row));
        // Alone it is a name in reports, and what a mistyped verb is corrected to.
        let is_name = command == "andon check";
        if begins(SENTENCES) || not_run || is_name || command.matches('\'').count() % 2 == 1 {
            continue;
        }
        let is_shown = begins(SHOWING);
        let is_ours =
            command.strip_prefix("andon ").is_some_and(|rest| is_verb(rest.split(' ').next().unwrap()));
        let run = |line: &String| match line.split_once(" -- ") {
            _ if is_shown => line.clone(),
            Some((ours, _)) => format!("{ours} --help"),
            None => format!("{line} --help"),
        };
        if is_shown || is_ours {
            *(if is_shown { &mut ran } else { &mut read }) += 1;
            let ways = filled(&command, &values);
            let out = ways.iter().map(|way| sh(&stage, &run(way))).find(is_well);
            if out.is_none() {
                faults.insert(format!("{command}\n{}", sh(&stage, &run(&ways[0]))));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.into_iter().collect::<Vec<_>>().join("\n"));
    let after = files(&stage);
    let changed: Vec<&String> = after.keys().filter(|name| before.get(*name) != after.get(*name)).collect();
    assert!(changed.is_empty() && refs(&stage) == refs_before, "looking changed something: {changed:?}");
    println!("{ran} commands were run, {read} read");
}
