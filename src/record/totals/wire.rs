//! How a carry is kept: a line of JSON for the sums, then one line each for calls, outputs, ballots, the usage, the
//! answer and test runs, as the journal has them; `end` last. It is read by the version that wrote it only.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::events::{Event, What};
use crate::domain::facts::Usage;
use crate::domain::tests::{RunValidity, TestEvidence, TestRun};
use crate::domain::time::{Span, Timestamp};
use crate::history::{
    Activity, Call, Carry, Cast, Door, Marks, Newest, NodeTotals, Opening, Said, Turn, TurnChange,
    TurnIteration, Window, Windows,
};
use crate::record::format::v1::{JournalLine, decode_line, encode_line};

const END: &str = "end";
const CHANGES: [TurnChange; 4] =
    [TurnChange::Changed, TurnChange::Documents, TurnChange::Unchanged, TurnChange::Unknown];

type Counts = [Option<u64>; 5];

#[derive(Serialize, Deserialize)]
struct Sums {
    nodes: BTreeMap<String, [u64; 4]>,
    passes: Vec<(String, String, u64)>,
    turns: Vec<WireTurn>,
    open: Vec<WireTurn>,
    windows: Vec<WireWindow>,
    window_newest: Option<String>,
    within: bool,
    called: bool,
    now: Option<i64>,
    lively: Option<i64>,
    awake: Option<String>,
    marks: [u64; 4],
    begun: u64,
    last_node: Option<String>,
    epoch: u64,
    edits: Vec<String>,
    ids: Vec<String>,
    code: Option<String>,
    docs: Option<String>,
    iterations: Vec<WireIteration>,
    resets: BTreeMap<String, u64>,
    number: u64,
}

#[derive(Serialize, Deserialize)]
struct WireTurn {
    node: String,
    number: u64,
    told: bool,
    started: Option<i64>,
    ended: Option<i64>,
    did: [u64; 3],
    used: Counts,
    cost: Option<String>,
    outputs: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct WireWindow {
    node: String,
    reported: Option<u64>,
    request: Option<(u64, u64)>,
    lines: u64,
    since: Option<i64>,
    session: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct WireIteration {
    node: String,
    number: u64,
    change: usize,
    code: String,
    hash: String,
    at: i64,
    outputs: Vec<String>,
}

fn texts<T: ToString>(items: impl IntoIterator<Item = T>) -> Vec<String> {
    items.into_iter().map(|item| item.to_string()).collect()
}

fn ids<T: std::str::FromStr, L: FromIterator<T>>(texts: &[String]) -> Option<L> {
    texts.iter().map(|text| text.parse().ok()).collect()
}

/// What the text says, if there is one; `Err` where it is no such thing.
fn maybe<T: std::str::FromStr>(text: Option<&String>) -> Result<Option<T>, T::Err> {
    text.map(|text| text.parse()).transpose()
}

pub(super) fn encode(carry: &Carry) -> String {
    let activity = &carry.activity;
    let mut text = serde_json::to_string(&sums(carry)).unwrap_or_default();
    text.push('\n');
    let mut put = |(kind, one, other): (char, u64, u64), node: Option<&String>, what: What| {
        let (at, session, id, trace) = (None, None, None, None);
        let event = Event { at, uptime: None, node: node.cloned(), session, id, trace, what };
        text.push_str(&format!("{kind} {one} {other} "));
        text.push_str(&encode_line(&JournalLine::Event(Box::new(event))));
    };
    for call in &activity.calls {
        put(('c', call.epoch, 0), Some(&call.node), What::ToolCall(call.call.clone()));
    }
    for said in &activity.outputs {
        let output = crate::domain::events::Output { kind: said.kind, hash: said.hash, lines: None };
        put(('o', said.turn, said.iteration), Some(&said.node), What::Output(output));
    }
    for cast in &activity.ballots {
        put(('b', cast.turn, cast.iteration), None, What::Verdict(cast.ballot.clone()));
    }
    if let Some(usage) = &activity.usage {
        put(('u', 0, 0), None, What::Usage(usage.clone()));
    }
    if let Some(ack) = &carry.ack {
        text.push_str("a 0 0 ");
        text.push_str(&encode_line(&JournalLine::Ack(Box::new(ack.clone()))));
    }
    let after =
        carry.turns.iter().enumerate().filter_map(|(at, turn)| Some(('t', at, proof(turn.tests.as_ref()?))));
    let runs = carry.runs.iter().map(|run| ('r', 0, run.clone()));
    let told = carry.told_runs.iter().map(|run| ('h', 0, run.clone()));
    for (kind, at, run) in after.chain(runs).chain(told) {
        text.push_str(&format!("{kind} {at} 0 "));
        text.push_str(&encode_line(&JournalLine::TestRun(Box::new(run))));
    }
    text.push_str(END);
    text.push('\n');
    text
}

/// A test result, as a run that says no more than that.
fn proof(evidence: &TestEvidence) -> TestRun {
    TestRun {
        at: None,
        evidence: evidence.clone(),
        validity: RunValidity::Valid,
        base: None,
        overlay: Vec::new(),
        overlay_truncated: false,
    }
}

fn sums(carry: &Carry) -> Sums {
    let activity = &carry.activity;
    let node = |totals: &NodeTotals| [totals.turns, totals.runtime.0, totals.tokens, totals.cost];
    let windows = activity.windows.of.iter().map(|(node, window)| WireWindow {
        node: node.clone(),
        reported: window.reported,
        request: window.request,
        lines: window.lines,
        since: window.since.map(|at| at.0),
        session: window.session.clone(),
    });
    let passes = activity.passes.iter().map(|((from, to), count)| (from.clone(), to.clone(), *count));
    let marks = activity.marks;
    Sums {
        nodes: activity.nodes.iter().map(|(name, totals)| (name.clone(), node(totals))).collect(),
        passes: passes.collect(),
        turns: activity.turns.iter().map(wire_turn).collect(),
        open: activity.open.values().map(wire_turn).collect(),
        windows: windows.collect(),
        window_newest: activity.windows.newest.clone(),
        within: activity.windows.door == Door::Within,
        called: activity.newest == Newest::Call,
        now: activity.now.map(|at| at.0),
        lively: activity.lively.map(|at| at.0),
        awake: activity.awake.map(|uptime| uptime.to_string()),
        marks: [marks.backwards, marks.duplicates, marks.unended, marks.crowded],
        begun: activity.begun,
        last_node: activity.last_node.clone(),
        epoch: activity.epoch,
        edits: texts(&activity.edits),
        ids: texts(&activity.ids),
        code: activity.code.map(|code| code.to_string()),
        docs: activity.docs.map(|docs| docs.to_string()),
        iterations: carry.turns.iter().map(wire_iteration).collect(),
        resets: carry.resets.clone(),
        number: carry.number,
    }
}

fn wire_turn(turn: &Turn) -> WireTurn {
    let usage = &turn.usage;
    WireTurn {
        node: turn.node.clone(),
        number: turn.number,
        told: turn.opening == Opening::Told,
        started: turn.started.map(|at| at.0),
        ended: turn.ended.map(|at| at.0),
        did: [turn.commits, turn.calls, turn.answered],
        used: [
            usage.input_tokens,
            usage.output_tokens,
            usage.context_tokens,
            usage.cached_tokens,
            usage.output_lines,
        ],
        cost: usage.cost_usd.clone(),
        outputs: texts(&turn.outputs),
    }
}

fn wire_iteration(turn: &TurnIteration) -> WireIteration {
    WireIteration {
        node: turn.node.clone(),
        number: turn.number,
        change: CHANGES.iter().position(|change| *change == turn.change).unwrap_or(0),
        code: turn.code.to_string(),
        hash: turn.hash.to_string(),
        at: turn.at.0,
        outputs: texts(&turn.outputs),
    }
}

pub(super) fn decode(text: &str) -> Option<Carry> {
    let mut lines = text.lines();
    let mut carry = summed(serde_json::from_str(lines.next()?).ok()?)?;
    let activity = &mut carry.activity;
    loop {
        let line = lines.next()?;
        if line == END {
            return Some(carry);
        }
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        let [kind, one, other, json] = words[..] else { return None };
        let (one, other) = (one.parse().ok()?, other.parse().ok()?);
        let event = match decode_line(json.as_bytes()).ok()? {
            JournalLine::Event(event) => *event,
            JournalLine::Ack(ack) if kind == "a" => {
                carry.ack = Some(*ack);
                continue;
            }
            JournalLine::TestRun(run) => {
                match kind {
                    "t" => carry.turns.get_mut(usize::try_from(one).ok()?)?.tests = Some(run.evidence),
                    "r" => carry.runs.push(*run),
                    "h" => carry.told_runs.push(*run),
                    _ => return None,
                }
                continue;
            }
            JournalLine::Ack(_)
            | JournalLine::Safety(_)
            | JournalLine::CommitRecorded { .. }
            | JournalLine::Attempt(_)
            | JournalLine::Halt(_)
            | JournalLine::Healed { .. } => return None,
        };
        let node = event.node.unwrap_or_default();
        match (kind, event.what) {
            ("c", What::ToolCall(call)) => activity.calls.push(Call { node, call, epoch: one }),
            ("o", What::Output(output)) => {
                let (kind, hash) = (output.kind, output.hash);
                activity.outputs.push(Said { node, kind, hash, turn: one, iteration: other });
            }
            ("b", What::Verdict(ballot)) => {
                activity.ballots.push(Cast { ballot, turn: one, iteration: other });
            }
            ("u", What::Usage(usage)) => activity.usage = Some(usage),
            _ => return None,
        }
    }
}

fn summed(sums: Sums) -> Option<Carry> {
    let totals =
        |[turns, runtime, tokens, cost]: [u64; 4]| NodeTotals { turns, runtime: Span(runtime), tokens, cost };
    let [backwards, duplicates, unended, crowded] = sums.marks;
    let open: Vec<Turn> = sums.open.into_iter().map(turn).collect::<Option<_>>()?;
    let activity = Activity {
        turns: sums.turns.into_iter().map(turn).collect::<Option<_>>()?,
        open: open.into_iter().map(|turn| (turn.node.clone(), turn)).collect(),
        nodes: sums.nodes.into_iter().map(|(name, of)| (name, totals(of))).collect(),
        passes: sums.passes.into_iter().map(|(from, to, count)| ((from, to), count)).collect(),
        now: sums.now.map(Timestamp),
        lively: sums.lively.map(Timestamp),
        awake: maybe(sums.awake.as_ref()).ok()?,
        marks: Marks { backwards, duplicates, unended, crowded },
        newest: if sums.called { Newest::Call } else { Newest::Other },
        windows: Windows {
            of: sums.windows.into_iter().map(window).collect(),
            newest: sums.window_newest,
            door: if sums.within { Door::Within } else { Door::Turn },
        },
        begun: sums.begun,
        last_node: sums.last_node,
        epoch: sums.epoch,
        edits: ids(&sums.edits)?,
        ids: ids(&sums.ids)?,
        code: maybe(sums.code.as_ref()).ok()?,
        docs: maybe(sums.docs.as_ref()).ok()?,
        ..Activity::default()
    };
    let turns = sums.iterations.into_iter().map(iteration).collect::<Option<_>>()?;
    Some(Carry { activity, turns, resets: sums.resets, number: sums.number, ..Carry::default() })
}

fn turn(wire: WireTurn) -> Option<Turn> {
    let [commits, calls, answered] = wire.did;
    let [input_tokens, output_tokens, context_tokens, cached_tokens, output_lines] = wire.used;
    let cost_usd = wire.cost;
    Some(Turn {
        node: wire.node,
        number: wire.number,
        opening: if wire.told { Opening::Told } else { Opening::Implied },
        started: wire.started.map(Timestamp),
        ended: wire.ended.map(Timestamp),
        commits,
        calls,
        answered,
        usage: Usage { input_tokens, output_tokens, cost_usd, context_tokens, cached_tokens, output_lines },
        outputs: ids(&wire.outputs)?,
    })
}

fn window(wire: WireWindow) -> (String, Window) {
    let WireWindow { node, reported, request, lines, since, session } = wire;
    (node, Window { reported, request, lines, since: since.map(Timestamp), session })
}

fn iteration(wire: WireIteration) -> Option<TurnIteration> {
    Some(TurnIteration {
        node: wire.node,
        number: wire.number,
        change: *CHANGES.get(wire.change)?,
        code: wire.code.parse().ok()?,
        hash: wire.hash.parse().ok()?,
        at: Timestamp(wire.at),
        outputs: ids(&wire.outputs)?,
        tests: None,
    })
}
