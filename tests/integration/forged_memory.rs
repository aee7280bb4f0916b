//! A forged memory of the ledger: a process that can write `cache/ledger` can claim there that a witness answered a
//! halt. It changes no hook, no answer and no check, and commands that show the ledger detect it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use sha2::{Digest as _, Sha256};

use crate::rounds::deferred;
use crate::support::people::{by, halted_and_signed, resolving, sit_down, steady};
use crate::support::{Out, Stage};

const MEMORY: &str = ".git/andon/cache/ledger";
/// How a resolution goes on behind the id of its round: the trigger, and who it says it is by.
const OF_A_DEFERRAL: &[u8] = b"\x00\x01\x09human:ann";
const HALT: u8 = 6;

/// The memory, saying of `other` what it says of `round`, and sealed as Andon seals it.
fn forged(stage: &Stage, round: &str, other: &str) -> Vec<u8> {
    let mut bytes = std::fs::read(stage.path(MEMORY)).unwrap();
    let places: Vec<usize> =
        (0..bytes.len()).filter(|at| bytes[*at..].starts_with(round.as_bytes())).collect();
    let mut resolutions = 0;
    for at in places {
        let end = at + round.len();
        bytes[at..end].copy_from_slice(other.as_bytes());
        if bytes[end..].starts_with(OF_A_DEFERRAL) {
            bytes[end] = HALT;
            resolutions += 1;
        }
    }
    assert_eq!(resolutions, 1, "the form of the memory is another");
    let sum = Sha256::digest(&bytes[16..]);
    bytes[8..16].copy_from_slice(&sum[..8]);
    bytes
}

/// Every command takes some of the stage's time, so that nothing is as old as it was.
fn without_ages(text: &str) -> String {
    let age = regex::Regex::new(r"(?:just now|\d+ (?:minute|hour|day)s? ago)").unwrap();
    age.replace_all(text, "AGE").into_owned()
}

/// What a person and a program see, each time with `memory` in its place.
fn told(stage: &Stage, memory: &[u8], halt: &str) -> String {
    let said = |args: &[&str]| -> Out {
        std::fs::write(stage.path(MEMORY), memory).unwrap();
        by(stage, "ann", args)
    };
    let all: [&[&str]; 8] = [
        &["review"],
        &["review", "--format", "json"],
        &["review", "show", halt],
        &["review", "precedents"],
        &["review", "status"],
        &["status"],
        &["ledger", "verify"],
        &["check", "HEAD~3..HEAD"],
    ];
    let shown = all.map(|args| format!("$ {}\n{}", args.join(" "), steady(stage, &said(args))));
    without_ages(&shown.join("\n"))
}

#[test]
fn a_forged_memory_moves_nothing_and_is_found_out() {
    let stage = halted_and_signed();
    let listed = by(&stage, "ann", &["review", "--format", "json"]).ok().stdout;
    let halt = serde_json::from_str::<serde_json::Value>(&listed).unwrap()["id"].as_str().unwrap().to_owned();
    let round = deferred(&stage, "How do we add the column?");
    by(&stage, "ann", &["review", "accept", &round]).ok();
    let vote =
        ["--decision", "accept_opposer", "--rationale", "locks", "--sycophancy", "no", "it names a failure"];
    by(&stage, "ann", &[&["review", "resolve", &round][..], &vote].concat()).ok();
    // About an unanswered halt `andon review` itself takes nothing from the memory.
    by(&stage, "ann", &["review", "precedents"]).ok();
    let honest = std::fs::read(stage.path(MEMORY)).unwrap();
    let forged = forged(&stage, &round, &halt);
    let found = told(&stage, &honest, &halt);
    assert!(found.contains("$ review\nexit 0") && found.contains("andon review show"), "{found}");
    assert_eq!(told(&stage, &forged, &halt), found);
    // Who looks writes it anew.
    std::fs::write(stage.path(MEMORY), &forged).unwrap();
    by(&stage, "ann", &["review", "precedents"]).ok();
    assert_ne!(std::fs::read(stage.path(MEMORY)).unwrap(), forged);
    // Neither a hook nor an answer uses it: the halt is unanswered until ann herself signs.
    std::fs::write(stage.path(MEMORY), &forged).unwrap();
    stage.iterate("more\n", &["ok a", "ok b"], "Go on").refused().says("halted");
    stage.unset("GIT_CONFIG_COUNT");
    stage.andon(&["resume", "--reason", "it is answered"]).refused();
    sit_down(&stage, "ann");
    std::fs::write(stage.path(MEMORY), &forged).unwrap();
    let resolve = resolving("go on");
    by(&stage, "ann", &resolve).ok();
    stage.iterate("4\n", &["ok a", "ok b"], "Green").ok();
}
