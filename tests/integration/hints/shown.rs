//! Rows of the list that only show something: each is run in a halted repository with facts of it, ends well and changes nothing.
//! The other commands of the list, and those that a mistyped verb is corrected to, have to be commands as the program reads them.

use std::collections::BTreeMap;

use super::every::{Row, files, list, refs};
use super::{Out, Stage, ground, sh};
use crate::support::people::with_ann;

/// What mistyped verbs are corrected to.
const TYPED: &str = include_str!("../../../src/program/commands.txt");

/// Rows that are not run here, each with the reason.
const NOT_RUN: &[(&str, &str)] = &[("show-evidence", "needs a round whose evidence was kept")];

/// The commands of a text: a whole one, or what follows a colon, a backtick or another command.
pub(super) fn commands(text: &str) -> Vec<String> {
    let begin =
        regex::Regex::new(r"(?:^|: |`|&& |; |then |\(|\| )((?:andon|git|rm|ssh-keygen) [a-z-][A-Za-z-]*)")
            .unwrap();
    let end = regex::Regex::new(r" && |; |`| \| |, |  |\)|\n| \(| > | # |: |\. [A-Z]").unwrap();
    let of = |at: usize| {
        let rest = &text[at..];
        rest[..end.find(rest).map_or(rest.len(), |found| found.start())].to_owned()
    };
    begin.captures_iter(text).map(|found| of(found.get(1).unwrap().start())).collect()
}

/// Facts of the repository, by the names that rows have for them.
fn facts(stage: &Stage) -> BTreeMap<&'static str, String> {
    let refs = sh(stage, "git for-each-ref --format='%(refname:lstrip=3)' refs/andon/ledger").ok().stdout;
    let writer = refs.lines().next().unwrap().to_owned();
    let ledger = format!("refs/andon/ledger/{writer}");
    let rows = [
        ("alpha", "0.5"),
        ("commit", "@"),
        ("commits", "@ @~1"),
        ("count", "1"),
        ("kind", "event"),
        ("client", "claude"),
        ("directory", "\"$PWD\""),
        ("folder", "../streams"),
        ("from", "@~1"),
        ("many", "1"),
        ("one", "@"),
        ("other", &ledger),
        ("path", "x"),
        ("range", "@~1..@"),
        ("ref", "refs/notes/andon"),
        ("remote", "../hub"),
        ("round", "halt"),
        ("scope", "whole"),
        ("section", "test"),
        ("to", "@"),
        ("writer", &writer),
    ];
    rows.map(|(name, value)| (name, value.to_owned())).into()
}

/// The text of a row with facts in place of their names; nothing is left of a name that is no fact here.
fn filled(row: &Row, facts: &BTreeMap<&'static str, String>) -> String {
    let name = regex::Regex::new(r"\{([a-z_]+)\}").unwrap();
    name.replace_all(row.text, |found: &regex::Captures<'_>| {
        facts.get(&found[1]).cloned().unwrap_or_else(|| "x".to_owned())
    })
    .into_owned()
}

/// Nothing that a wrong command ends with.
fn is_well(out: &Out) -> bool {
    ![2, 70, 126, 127, 128, 129].contains(&out.code)
}

#[test]
fn rows_that_only_show_something_end_well_and_change_nothing() {
    let stage = ground();
    with_ann(&stage);
    sh(
        &stage,
        "mkdir ../streams; git clone -q --bare . ../hub; printf '[test.scopes.whole]\\npaths = [\"*.c\"]\\ncommand = \"sh check.sh\"\\n' >> andon.toml; \
         echo 4 >> one.c; andon test; git commit -qam Next; git update-ref refs/remotes/origin/main @~1; \
         echo '{\"type\":\"turn_end\",\"node\":\"coder\"}' > ../streams/one.jsonl; touch .andon/STOP; andon tick",
    );
    let facts = facts(&stage);
    let (before, refs_before) = (files(&stage), refs(&stage));
    let (mut ran, mut faults) = (0, Vec::new());
    let known = |row: &&Row| !NOT_RUN.iter().any(|(name, _)| *name == row.name);
    for row in list().iter().filter(|row| row.effect == "shows").filter(known) {
        let all = commands(&filled(row, &facts));
        assert!(!all.is_empty(), "{}: no command", row.name);
        for command in all {
            ran += 1;
            let out = sh(&stage, &command);
            if !is_well(&out) {
                faults.push(format!("{}: {command}\n{out}", row.name));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let after = files(&stage);
    let changed: Vec<&String> = after.keys().filter(|name| before.get(*name) != after.get(*name)).collect();
    assert!(changed.is_empty() && refs(&stage) == refs_before, "looking changed something: {changed:?}");
    println!("{ran} commands were run");
}

#[test]
fn all_other_commands_of_hints_are_commands_of_the_program() {
    let stage = ground();
    let named = [
        ("alpha", "0.5"),
        ("count", "1"),
        ("kind", "event"),
        ("client", "claude"),
        ("mode", "shim"),
        ("sign", "resolve"),
        ("verb", "test"),
        ("scope", "project"),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .into();
    let texts: Vec<String> = list().iter().map(|row| filled(row, &named)).collect();
    let typed = TYPED.split("=== typed words").nth(1).unwrap();
    let typed = typed.lines().flat_map(|line| line.split(" | ").skip(1));
    let mut read = std::collections::BTreeSet::new();
    for command in texts.iter().map(String::as_str).chain(typed).flat_map(commands) {
        let ours = command.split(" -- ").next().unwrap().replace(" 2>&1", "");
        if ours.starts_with("andon ") && !ours.contains(" --version") && read.insert(ours.clone()) {
            let line = ours
                .replace(['<', '>'], "")
                .replace(['[', ']'], "")
                .replace("CLIENT", "claude")
                .replace(" N", " 0");
            let out = sh(&stage, &format!("{line} --help"));
            assert!(is_well(&out), "{ours}\n{out}");
        }
    }
    println!("{} commands were read", read.len());
}
