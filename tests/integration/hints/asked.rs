//! Rows whose command a person has to choose or to fill in: each state is made, the program shows the hint word for word, and its
//! commands are run with what a person would put in place of a name. They end well and lose nothing, and the state is over, or the
//! refusal of one leads on by another hint of the list.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::every::{Kept, Row, edit, list};
use super::shown::commands;
use super::states::HALTED;
use super::{Out, ROUNDS, Stage, andon_path, ground, sh};

/// The commands of a hint, in the way in which a person takes them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Take {
    /// All of them, one after the other.
    InTurn,
    /// One of them: each is run in a state of its own.
    EachAlone,
    /// Everything from the first command on, as one line of a shell.
    Whole,
    /// A line for `andon.toml`.
    Edit,
    /// None: they need what is not here, such as a key that is touched.
    Seen,
}

/// A state that asks: a block of `asked.txt`.
struct Asked {
    row: &'static str,
    take: Take,
    make: &'static str,
    trigger: &'static str,
    /// What a person gives in place of a part of the text.
    given: Vec<(&'static str, &'static str)>,
    /// What holds once the command was run; empty where the trigger no longer shows the hint.
    then: &'static str,
}

static ASKED: LazyLock<Vec<Asked>> =
    LazyLock::new(|| include_str!("asked.txt").trim_end().split("\n\n").map(read).collect());

fn read(block: &'static str) -> Asked {
    let mut lines = block.lines();
    let (row, take) = lines.next().unwrap().split_once(" | ").unwrap();
    let take = match take {
        "InTurn" => Take::InTurn,
        "EachAlone" => Take::EachAlone,
        "Whole" => Take::Whole,
        "Edit" => Take::Edit,
        "Seen" => Take::Seen,
        other => panic!("{row}: {other}"),
    };
    let mut asked = Asked { row, take, make: "true", trigger: "true", given: Vec::new(), then: "" };
    for line in lines {
        match line.split_once(": ").unwrap() {
            ("make", make) => asked.make = make,
            ("show", show) => asked.trigger = show,
            ("then", then) => asked.then = then,
            ("give", give) => asked.given.push(give.split_once(" => ").unwrap()),
            (other, _) => panic!("{row}: {other}"),
        }
    }
    asked
}

/// Rows that are not run here, each with the reason.
const NOT_RUN: &[(&str, &str)] = &[
    ("fetch-branch", "the screen of a terminal shows it"),
    ("flag", "needs a signed answer for other code than was committed, which signed_halts.rs makes"),
    ("install-lefthook", "needs lefthook from the network"),
    ("ledger-elsewhere", "needs a clock that runs ahead, which signed_faults.rs sets"),
    ("reinstate", "needs as many overturned answers as suspend a witness; beginning.rs runs the command"),
    ("reveal-there", "needs a forged ballot, which signed_refusals.rs makes"),
];

/// Rows by which a person gives something up on purpose.
const GIVES_UP: [&str; 6] =
    ["abort", "agent-uninstall", "as-person", "config-file-stays", "purge", "uninstall"];

/// Beginnings of states.
const PARTS: [(&str, &str); 6] = [
    ("@HALTED", HALTED),
    (
        "@ANN",
        "key() { ssh-keygen -q -t ed25519 -N '' -f ../$1; }; sit() { git config --global gpg.format ssh; \
         git config --global user.signingKey \"$(cd .. && pwd)/$1.pub\"; }; key ann; sit ann; \
         andon witness init --name human:ann > ../ledger;",
    ),
    (
        "@LOOP",
        "echo 'echo 1..1; echo not ok 1 - a; exit 1' > check.sh; for i in 1 2 3; do echo $i > one.c; git add -A; andon test; \
         git commit -qm $i; done;",
    ),
    (
        "@PANEL",
        "key() { ssh-keygen -q -t ed25519 -N '' -f ../$1; }; sit() { git config --global gpg.format ssh; \
         git config --global user.signingKey \"$(cd .. && pwd)/$1.pub\"; }; git clone -q --bare . ../hub; git remote add origin ../hub; \
         key ann; sit ann; andon witness init --name human:ann --no-solo; \
         for who in bo cy; do key $who; andon witness add human:$who --key ../$who.pub; done; @ROUND \
         R=$(cat ../round); all() { for who in ann bo cy; do sit $who; andon review $1 $R $2; done; };",
    ),
    (
        "@SIGNED",
        "printf '[guard]\\nack = \"signed\"\\nledger = \"%s\"\\n' $(sed -n '1s/ledger //p' ../ledger) >> andon.toml; andon test; \
         git commit -qam Sign;",
    ),
    (
        "@ROUND",
        "of() { sed -n 's/.*\"round\": *\"\\([^\"]*\\)\".*/\\1/p'; }; \
         N=$(echo '{\"question\":\"How?\",\"issuer\":\"agent:planner\"}' | andon round open | of); \
         echo \"{\\\"round\\\":\\\"$N\\\"}\" | andon round close | of | cut -c1-8 > ../round;",
    ),
];

/// The text of a row as it was shown, with what a person gives.
fn shown(row: &Row, out: &Out, asked: &Asked) -> Option<String> {
    let said = out.all().split_whitespace().collect::<Vec<_>>().join(" ");
    let found = row.found_in(&said)?;
    Some(asked.given.iter().fold(found, |text, (name, value)| text.replace(name, value)))
}

/// The lines that a person runs.
fn lines(take: Take, text: &str) -> Vec<String> {
    match take {
        Take::Whole => {
            let begin = regex::Regex::new(r"(?:^|: )((?:[A-Z_]+=\S+ )*(?:andon|git|rm|echo) )").unwrap();
            vec![text[begin.captures(text).unwrap().get(1).unwrap().start()..].to_owned()]
        }
        Take::Seen => vec!["true".to_owned()],
        Take::Edit => vec![text.rsplit_once(": ").unwrap().1.replacen("] ", "]  ", 1)],
        Take::EachAlone => commands(text),
        Take::InTurn => vec![commands(text).join(" && ")],
    }
}

fn made(asked: &Asked) -> (Stage, Out) {
    let stage = ground();
    stage.set("COLUMNS", "600");
    stage.set("GIT_EDITOR", "true");
    let path = std::env::var("PATH").unwrap_or_default();
    stage.set("PATH", &format!("{}:{path}", andon_path().parent().unwrap().display()));
    let make = PARTS.iter().fold(asked.make.to_owned(), |make, (name, lines)| make.replace(name, lines));
    sh(&stage, &make);
    let out = sh(&stage, asked.trigger);
    (stage, out)
}

/// Runs one line of a state, and what its refusal leads to.
fn follow(stage: &Stage, asked: &Asked, row: &Row, line: &str) {
    // A person is where the trouble was.
    let place =
        asked.trigger.split_once(" && ").map(|(first, _)| first).filter(|first| first.starts_with("cd "));
    let at = |line: &str| place.map_or_else(|| line.to_owned(), |place| format!("{place} && {line}"));
    let (mut line, mut told) = (at(line), format!("{}: {line}", asked.row));
    for round in 1.. {
        let kept = Kept::new(stage);
        let out = if asked.take == Take::Edit { edit(stage, &line) } else { sh(stage, &line) };
        if !GIVES_UP.contains(&asked.row) {
            kept.is_still_there(stage, &told);
        }
        if out.code == 0 {
            break;
        }
        let others = ASKED.iter().filter(|next| next.row != asked.row).filter_map(|next| {
            let row = list().into_iter().find(|row| row.name == next.row)?;
            Some(lines(next.take, &shown(&row, &out, next)?).remove(0))
        });
        let next = others.max_by_key(String::len);
        assert!(round < ROUNDS, "{told}\n{out}");
        line = at(&next.unwrap_or_else(|| panic!("{told}\n{out}")));
        told = format!("{told}, then {line}");
    }
    if asked.take == Take::Seen {
        return;
    }
    if asked.then.is_empty() {
        let again = sh(stage, asked.trigger);
        assert!(shown(row, &again, asked).is_none(), "{told}: still\n{again}");
    } else {
        let out = sh(stage, asked.then);
        assert!(out.code == 0, "{told}: {}\n{out}", asked.then);
    }
}

fn walk(asked: &Asked) {
    let rows = list();
    let row = rows.iter().find(|row| row.name == asked.row).unwrap_or_else(|| panic!("no row {}", asked.row));
    let (stage, out) = made(asked);
    let text = shown(row, &out, asked).unwrap_or_else(|| panic!("{}: not shown\n{out}", row.name));
    let all = lines(asked.take, &text);
    assert!(!all.is_empty(), "{}: no command in {text}", row.name);
    let mut stage = Some(stage);
    for number in 0..all.len() {
        let (stage, again) = stage.take().map_or_else(|| made(asked), |stage| (stage, out.clone()));
        // The ids of another run are others.
        let again = shown(row, &again, asked).unwrap();
        follow(&stage, asked, row, &lines(asked.take, &again)[number]);
    }
}

#[test]
fn every_hint_that_asks_comes_in_its_state_and_leads_out() {
    let one = std::env::var("ANDON_HINT_ROW").ok();
    let mut faults = Vec::new();
    for asked in ASKED.iter().filter(|asked| one.as_ref().is_none_or(|one| one == asked.row)) {
        if let Err(fault) = std::panic::catch_unwind(|| walk(asked)) {
            faults.push(fault.downcast_ref::<String>().cloned().unwrap_or_default());
        }
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), ASKED.len(), faults.join("\n---\n"));
    let known: BTreeSet<&str> =
        ASKED.iter().map(|asked| asked.row).chain(NOT_RUN.iter().map(|(row, _)| *row)).collect();
    let rows = list();
    let asks: BTreeSet<&str> = rows.iter().filter(|row| row.effect == "asks").map(|row| row.name).collect();
    assert_eq!(known, asks, "rows that ask have a state, or a reason");
}
