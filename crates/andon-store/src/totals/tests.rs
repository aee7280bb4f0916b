//! That going on from what is kept comes to the same as folding the whole journal.

use std::fs;

use proptest::prelude::*;

use super::*;
use crate::{Marker, Reach, Repair};
use andon_core::domain::{
    Arguments, Ballot, CallEnd, CallHashes, CodeId, CommitId, Digest, Event, EventKind, Oid, Output,
    OutputKind, ShortHash, ToolCall, TreeId, TurnEnd, Usage,
};
use andon_core::history::{RunStart, order::JournalItem};
use andon_testkit::facts::{red, run};

const GAP: Span = Span(3_600);

fn fresh() -> (tempfile::TempDir, Journal) {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path());
    (dir, journal)
}

fn oid(byte: u8) -> Oid {
    Oid::from_bytes(&[byte; 20]).unwrap()
}

fn said(seed: u8) -> Output {
    Output { kind: OutputKind::MessageFinal, hash: Some(Digest([seed; 32])), lines: Some(3) }
}

/// A line of the kind and the content of `seed`, at `at` seconds.
fn line(seed: u8, at: i64) -> JournalLine {
    let at = Timestamp(at);
    let code = CodeId([seed / 16; 32]);
    let what = match seed % 16 {
        0 => EventKind::TurnStart,
        1 => EventKind::TurnEnd(TurnEnd { code: Some(code), docs: None }),
        2 => EventKind::Output(said(seed)),
        3 => EventKind::Verdict(Ballot { reviewer: None, approve: 1, reject: 2 }),
        4 => {
            return JournalLine::CommitRecorded(Marker {
                node: Some("coder".into()),
                iteration: Some(u64::from(seed) + 1),
                begins: if seed > 200 { RunStart::Run } else { RunStart::Nothing },
                commit: CommitId(oid(seed)),
                tree: TreeId(oid(1)),
                code,
                at: Some(at),
            });
        }
        5 if seed > 240 => {
            return JournalLine::Ack(Box::new(Ack { worktree: "main".into(), ..Ack::new("P <p@x>", at) }));
        }
        6 => return JournalLine::Healed(Repair { what: "something ".repeat(20), at: Some(at) }),
        7..=10 => EventKind::ToolCall(ToolCall {
            args: Arguments::Known,
            hashes: CallHashes { exact: ShortHash([seed; 8]), ..CallHashes::default() },
            refusal: seed.is_multiple_of(3).then_some(ShortHash([seed; 8])),
            end: CallEnd::Done,
            shown: Some(format!("Bash: make {seed}")),
            ..ToolCall::bare(if seed.is_multiple_of(2) { "Edit" } else { "Bash" }.into())
        }),
        15 => {
            let names: &[&str] = if seed > 128 { &["a"] } else { &["a", "b"] };
            return JournalLine::TestRun(Box::new(run(red(seed / 16, names, 9))));
        }
        _ => EventKind::Usage(Usage {
            input_tokens: Some(u64::from(seed)),
            cost_usd: Some("0.01".into()),
            context_tokens: Some(u64::from(seed) * 100),
            ..Usage::default()
        }),
    };
    let node = Some(if seed.is_multiple_of(3) { "coder" } else { "reviewer" }.to_owned());
    let id = seed.is_multiple_of(7).then_some(ShortHash([seed; 8]));
    let session = Some("a session with a name of its own, as agents give them".to_owned());
    JournalLine::Event(Box::new(Event { at: Some(at), uptime: None, node, session, id, trace: None, what }))
}

fn whole(journal: &Journal) -> Snapshot {
    let mut fold = Fold::new(GAP);
    journal.read_on(Position::START, &mut |line| take(&mut fold, line)).unwrap();
    fold.snapshot()
}

/// The totals of a hook: those that are kept, and what follows in the journal.
fn hook(journal: &Journal) -> Snapshot {
    let mut fold = Fold::new(GAP);
    let totals = journal.totals(GAP, &[]);
    let since = Some(totals.as_ref().map_or(Position::START, |totals| totals.at));
    if let Some(totals) = totals {
        fold.resume(totals.snapshot);
    }
    let recent = journal.recent(Reach { runs: 200, commits: 2, turns: usize::MAX, since });
    for item in recent.items {
        match item {
            JournalItem::Event(event) => drop(fold.push(Fact::Event(event))),
            JournalItem::Ack(number) => drop(fold.push(Fact::Ack(Box::new(recent.acks[number].0.clone())))),
            JournalItem::Run(number) => drop(fold.push(Fact::TestRun(Box::new(recent.runs[number].clone())))),
            JournalItem::Commit(marked) => fold.pass(&marked.passing),
        }
    }
    fold.snapshot()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn tail_and_cache_come_to_the_whole_whatever_the_batching(
        seeds in prop::collection::vec(any::<u8>(), 900..1500),
        batches in prop::collection::vec((1_usize..500, 0_u8..8), 1..9),
        pace in 1_i64..20,
    ) {
        let (_dir, journal) = fresh();
        let mut lines = seeds.iter().enumerate();
        for (count, event) in batches {
            for (number, seed) in lines.by_ref().take(count) {
                journal.append(&line(*seed, i64::try_from(number).unwrap() * pace)).unwrap();
            }
            match event {
                0 => drop(fs::remove_file(journal.memory().path())),
                1 => fs::write(journal.dir().join("cut"), "x").unwrap(),
                2 if journal.memory().path().exists() => {
                    let text = fs::read(journal.memory().path()).unwrap();
                    fs::write(journal.memory().path(), &text[..text.len() / 2]).unwrap();
                }
                _ => {}
            }
            prop_assert_eq!(hook(&journal), whole(&journal));
        }
    }
}

#[test]
fn nothing_is_left_out_when_the_file_is_rotated() {
    let (_dir, journal) = fresh();
    for round in 0..3 {
        for number in 0..5_000_i64 {
            let seed = u8::try_from((number * 7 + round) % 256).unwrap();
            journal.append(&line(seed, round * 5_000 + number)).unwrap();
        }
        assert_eq!(hook(&journal), whole(&journal), "round {round}");
    }
    assert!(journal.is_rotated());
    fs::remove_file(journal.memory().path()).unwrap();
    assert_eq!(hook(&journal), whole(&journal), "without the cache");
    let near = journal.totals(GAP, &[]).unwrap();
    assert!(journal.is_near(near.at, journal.size().unwrap()));
}

#[test]
fn a_line_without_its_end_is_read_when_it_has_one() {
    use std::io::Write as _;

    let (_dir, journal) = fresh();
    (0..1_000_i64).for_each(|number| journal.append(&line(11, number)).unwrap());
    crate::file::open_append(&journal.path()).unwrap().write_all(b"{\"type\":\"usage\",").unwrap();
    let before = hook(&journal);
    crate::file::open_append(&journal.path()).unwrap().write_all(b"\"cost_usd\":\"5\"}\n").unwrap();
    let after = hook(&journal);
    assert_eq!(after, whole(&journal));
    let spent = |snapshot: &Snapshot| snapshot.activity.nodes.values().map(|node| node.cost).sum::<u64>();
    assert_eq!(spent(&after) - spent(&before), 5_000_000);
}

#[test]
fn a_journal_that_was_replaced_is_read_anew() {
    let (_dir, journal) = fresh();
    (0..1_000_i64).for_each(|number| journal.append(&line(11, number)).unwrap());
    hook(&journal);
    fs::remove_file(journal.path()).unwrap();
    (0..2_000_i64).for_each(|number| journal.append(&line(12, number)).unwrap());
    assert_eq!(hook(&journal), whole(&journal));
}

#[test]
fn what_was_altered_is_not_used() {
    let (_dir, journal) = fresh();
    (0..1_000_i64).for_each(|number| journal.append(&line(11, number)).unwrap());
    let truth = hook(&journal);
    let good = fs::read(journal.memory().path()).unwrap();
    // A carry that says other numbers is as well formed as the right one.
    let mut more = good.clone();
    *more.last_mut().unwrap() += 1;
    let totals = Totals { at: Position::START, snapshot: Snapshot::default() };
    journal.memory().put(&Span(7), &(ShortHash([0; 8]), totals));
    let other_gap = fs::read(journal.memory().path()).unwrap();
    for altered in [more, good[..good.len() - 1].to_vec(), Vec::new(), other_gap] {
        assert_ne!(altered, good);
        fs::write(journal.memory().path(), altered).unwrap();
        assert_eq!(hook(&journal), truth);
        assert_eq!(fs::read(journal.memory().path()).unwrap(), good, "and the file is good again");
    }
}

#[test]
fn an_answer_from_elsewhere_ends_a_run_at_its_time() {
    let (_dir, journal) = fresh();
    (0..1_000_i64).for_each(|number| journal.append(&line(11, number)).unwrap());
    let spent = |totals: &Totals| totals.snapshot.activity.nodes.values().map(|node| node.cost).sum::<u64>();
    assert_eq!(spent(&journal.totals(GAP, &[]).unwrap()), 10_000_000);
    let JournalLine::Ack(answer) = line(245, 900) else { unreachable!() };
    let answers = [*answer];
    assert_eq!(
        spent(&journal.totals(GAP, &answers).unwrap()),
        990_000,
        "from 901 on: the answer came at 900"
    );
    assert_eq!(spent(&journal.totals(GAP, &answers).unwrap()), 990_000, "as it is kept");
}
