//! What the journal comes to, as it is kept: one that is cut short or altered is not used; one that says other numbers
//! under a right checksum is gone on from without a panic.

use std::fs;
use std::time::Instant;

use andon_core::change::normalize::Normalizer;
use andon_core::domain::{Fact, Span, Timestamp};
use andon_core::history::Fold;
use andon_engine::adapter::{Frame, Purpose, events};
use andon_store::wire::{envelope, v1::decode_line};
use andon_store::{Journal, JournalLine, Totals, totals::SHORT};

use super::mutate::{Dice, mutate};
use super::{JOURNAL, TOKENS, holds, loops};

/// Mark, length and checksum of an entry of a cache; its key follows.
const SUM_END: usize = 16;
const HEAD: usize = SUM_END + 16;
const GAP: Span = Span(21_600);

const EVENTS: &[&str] = &[
    r#"{"type":"turn_start","node":"coder","at":"2026-11-20T15:30:00Z"}"#,
    r#"{"type":"tool_call","node":"coder","tool":"Edit","args":{"file_path":"src/a.rs"},"result":"ok","error":false}"#,
    r#"{"type":"output","node":"coder","kind":"message.final","text":"done","at":"2026-11-20T15:31:00Z"}"#,
    r#"{"type":"usage","node":"coder","context_tokens":150000,"input_tokens":1200,"output_tokens":300,"cost_usd":"0.03"}"#,
    r#"{"type":"verdict","node":"reviewer","approve":2,"reject":1}"#,
    r#"{"type":"turn_end","node":"coder","at":"2026-11-20T15:32:00Z"}"#,
];

/// Lines of a journal: the golden ones, and a few hundred turns.
fn lines() -> Vec<JournalLine> {
    let golden = JOURNAL.split(|byte| *byte == b'\n').filter_map(|line| decode_line(line).ok());
    let mut lines: Vec<JournalLine> = golden.collect();
    let patterns = Normalizer::new(&[]).unwrap();
    for second in 0..400 {
        let frame = Frame {
            now: Timestamp(1_800_000_000 + second),
            kind: None,
            purpose: Purpose::Replay,
            patterns: &patterns,
        };
        for event in EVENTS {
            if let Fact::Event(event) = events::parse(event.as_bytes(), frame).unwrap().fact {
                lines.push(JournalLine::Event(event));
            }
        }
    }
    lines
}

/// What is kept of a journal, mutated.
pub fn totals(end: Instant, dice: &mut Dice) -> (u64, u64) {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path());
    let lines = lines();
    while journal.size().unwrap_or(0) <= 2 * SHORT {
        for line in &lines {
            journal.append(line).unwrap();
        }
    }
    let truth: Totals = journal.totals(GAP, &[]).unwrap();
    let cache = journal.path().with_file_name("cache").join("totals");
    let good = fs::read(&cache).unwrap();
    loops(end, dice, &[&good], |mutant, dice| {
        let mode = dice.roll(3);
        let bytes = match mode {
            0 => good[..dice.roll(good.len())].to_vec(),
            1 => mutant.to_vec(),
            _ => sealed(&good, dice),
        };
        fs::write(&cache, &bytes).unwrap();
        let read = journal.totals(GAP, &[]).ok_or("nothing")?;
        if mode < 2 {
            return holds(read == truth, "what was altered is used");
        }
        let mut fold = Fold::new(GAP);
        fold.resume(read.snapshot);
        for line in &lines[..64] {
            match line.clone() {
                JournalLine::Event(event) => drop(fold.push(Fact::Event(event))),
                JournalLine::Ack(ack) => drop(fold.push(Fact::Ack(ack))),
                JournalLine::TestRun(_)
                | JournalLine::Safety(_)
                | JournalLine::CommitRecorded { .. }
                | JournalLine::Agent(_)
                | JournalLine::Attempt(_)
                | JournalLine::Halt(_)
                | JournalLine::Healed { .. } => {}
            }
        }
        let _ = (fold.snapshot(), fold.into_timeline());
        Ok(())
    })
}

/// The good entry with other totals, under the checksum of those.
fn sealed(good: &[u8], dice: &mut Dice) -> Vec<u8> {
    let (head, value) = good.split_at(HEAD);
    let mut other = value.to_vec();
    for _ in 0..=dice.roll(3) {
        mutate(&mut other, value, TOKENS, dice);
    }
    let rest = [&head[SUM_END..], &other].concat();
    let length = u32::try_from(rest.len()).unwrap().to_le_bytes();
    [&head[..4], &length, &envelope::checksum(&[&rest]), &rest].concat()
}
