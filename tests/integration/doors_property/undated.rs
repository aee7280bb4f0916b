//! Streams of which some lines tell no time, handed in at once and replayed: both doors date those lines alike.

use serde_json::{Value, json};

use super::outcomes::{Outcome, decision, outcome, time};
use super::{ground::ground, random::Dice};
use crate::support::andon_path;

/// What both doors say of a stream: verdict and reason of the gravest.
type StreamVerdict = (Option<String>, Option<String>);

fn said(outcome: Outcome) -> StreamVerdict {
    (outcome.verdict, outcome.reason)
}

fn rank(outcome: &Outcome) -> usize {
    let verdicts = ["allow", "warn", "block", "halt"];
    verdicts.iter().position(|known| outcome.verdict.as_deref() == Some(*known)).unwrap()
}

/// What `observe` and `replay` say of `lines`, a day after they happened.
fn told(lines: &[Value]) -> (StreamVerdict, StreamVerdict) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let stage = ground("plain");
    stage.set_clock(24 * 3600);
    let run = |args: &[&str]| stage.run_in(stage.dir(), andon_path(), args, Some(text.as_bytes()));
    let replayed = run(&["replay", "--events", "-", "--format", "json"]).ok();
    let decisions = replayed.stdout.lines().map(|line| outcome(&serde_json::from_str(line).unwrap()));
    // The first of the gravest, as a batch keeps it.
    let gravest = decisions.rev().max_by_key(rank).unwrap();
    let observed = decision(&run(&["observe", "event", "--format", "json"]));
    (said(observed), said(gravest))
}

fn line(dice: &mut Dice) -> Value {
    match dice.below(8) {
        0..=1 => json!({ "type": "turn_start" }),
        2..=3 => json!({ "type": "turn_end", "code": format!("state {}", dice.below(3)) }),
        4 => json!({ "type": "test_run", "code": format!("state {}", dice.below(3)), "status": "failed",
                     "failing": ["a"] }),
        _ => {
            json!({ "type": "tool_call", "tool": "Bash", "args": { "command": format!("make {}", dice.below(2)) },
                     "result": format!("the answer is of kind {}", dice.below(4)) })
        }
    }
}

/// The lines of a seed. The first tells its time: without one it happens when it is handed in, and a stream has no such
/// time.
fn lines(seed: u64) -> Vec<Value> {
    let mut dice = Dice(seed);
    let (length, mut now) = (4 + dice.below(16), 0);
    let dated = |number: u32, dice: &mut Dice| number == 0 || dice.chance(50);
    let next = |number| {
        now += if dice.chance(5) { 7 * 3600 } else { 60 * i64::from(1 + dice.below(4)) };
        let mut line = line(&mut dice);
        if dated(number, &mut dice) {
            line["at"] = time(now).into();
        }
        line
    };
    (0..length).map(next).collect()
}

#[test]
fn lines_without_a_time_are_dated_alike() {
    let start = json!({ "type": "turn_start", "at": time(0) });
    let call = json!({ "type": "tool_call", "tool": "Bash", "args": { "command": "make" } });
    let (observed, replayed) = told(&[start, call]);
    assert_eq!(observed.0.as_deref(), Some("allow"), "no turn of a day");
    assert_eq!(observed, replayed);
    let seeds = std::env::var("ANDON_DOORS_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(8);
    for seed in 0..seeds {
        let lines = lines(seed);
        let (observed, replayed) = told(&lines);
        assert_eq!(observed, replayed, "seed {seed}: {lines:#?}");
    }
}
