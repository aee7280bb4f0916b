//! The iterations as they came, a lane for each node, the agent at work in it and its worktree: how its tests went, what
//! rules found, where it was halted. Height says what colour says.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::chart::{WIDTH, column, columns};
use super::markup::{self, clipped};
use crate::view::history::{HistoryCommit, HistoryView};
use andon_core::domain::facts::CommitRecord;
use andon_core::domain::findings::Level;
use andon_core::domain::ids::CommitId;

/// Lanes that are drawn.
const LANES: usize = 24;
/// Width of a halt.
const HALT: u64 = 40;

/// What a column of a lane shows: the gravest of its commits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    Untested,
    Passed,
    Failed,
}

impl Mark {
    const ALL: [Self; 3] = [Self::Untested, Self::Passed, Self::Failed];

    fn new(commit: &HistoryCommit) -> Self {
        match commit.state.record().and_then(|record| record.tests.as_ref()) {
            Some(tests) if tests.is_green() => Self::Passed,
            Some(_) => Self::Failed,
            None => Self::Untested,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Untested => "none",
            Self::Passed => "ok",
            Self::Failed => "bad",
        }
    }

    /// Upper edge in a lane of 100.
    fn top(self) -> u64 {
        match self {
            Self::Untested => 80,
            Self::Passed => 50,
            Self::Failed => 20,
        }
    }
}

/// What one node did.
#[derive(Default)]
struct Lane {
    commits: usize,
    failed: usize,
    marks: BTreeMap<usize, Mark>,
    found: BTreeSet<usize>,
    halted: BTreeSet<usize>,
}

pub(super) fn section(view: &HistoryView) -> Markup {
    let lanes = lanes(view);
    if lanes.is_empty() {
        return html! {};
    }
    let keys = [
        ("ok", "tests passed"),
        ("bad", "tests failed"),
        ("none", "no test run"),
        ("found", "a rule warned"),
        ("halt", "halted"),
    ];
    let body = html! {
            p.legend {
                @for (class, what) in keys { span class={ "key " (class) } {} (what) " " }
                "(the oldest is on the left)"
            }
            @for (node, lane) in lanes.iter().take(LANES) { (draw(node, lane, columns(view.commits.len()))) }
            @if lanes.len() > LANES { p { "and " (lanes.len() - LANES) " more lanes" } }
    };
    markup::section("h-lanes", "Iterations", &body)
}

/// The node, the agent's client where its hooks were live, and the worktree if it is not the main one.
fn name(record: &CommitRecord) -> String {
    let mut name = record.node.clone();
    if let Some(client) = record.guards.iter().find(|guard| *guard != CommitRecord::GIT) {
        name = format!("{name}, {client}");
    }
    record.worktree.iter().fold(name, |name, worktree| format!("{name}, worktree {worktree}"))
}

/// The busiest first.
fn lanes(view: &HistoryView) -> Vec<(String, Lane)> {
    let all = view.commits.len();
    let halted: BTreeSet<CommitId> = view.halts.iter().filter_map(|last| last.halt.head).collect();
    let mut lanes: BTreeMap<String, Lane> = BTreeMap::new();
    for (place, commit) in view.commits.iter().enumerate() {
        let Some(record) = commit.state.record() else { continue };
        let lane = lanes.entry(name(record)).or_default();
        let (column, mark) = (column(place, all), Mark::new(commit));
        lane.commits += 1;
        lane.failed += usize::from(mark == Mark::Failed);
        let shown = lane.marks.entry(column).or_insert(mark);
        *shown = mark.max(*shown);
        if record.findings.iter().any(|finding| finding.level >= Level::Warn) {
            lane.found.insert(column);
        }
        if halted.contains(&commit.commit) {
            lane.halted.insert(column);
        }
    }
    let mut lanes: Vec<_> = lanes.into_iter().collect();
    lanes.sort_by_key(|(_, lane)| std::cmp::Reverse(lane.commits));
    lanes
}

fn draw(node: &str, lane: &Lane, columns: usize) -> Markup {
    let of = |mark: Mark| {
        let at = lane.marks.iter().filter(move |(_, shown)| **shown == mark).map(|(column, _)| *column);
        bars(mark.class(), &Bars { top: mark.top(), bottom: 100, columns }, at)
    };
    html! {
        div.lane {
            p {
                (clipped(node, 80)) " "
                span.muted { (lane.commits) " commits, " (lane.failed) " failing, " (lane.halted.len()) " halted" }
            }
            svg viewBox="0 0 10000 100" preserveAspectRatio="none" aria-hidden="true" {
                @for mark in Mark::ALL { (of(mark)) }
                (bars("found", &Bars { top: 6, bottom: 16, columns }, lane.found.iter().copied()))
                // A halt is the end of its column, and hides no more of it than it has to.
                @for end in lane.halted.iter().map(|column| WIDTH * (*column as u64 + 1) / columns as u64) {
                    path.halt d={ "M" (end) " 0V100H" (end.saturating_sub(HALT)) "V0z" } {}
                }
            }
        }
        "\n"
    }
}

/// The height and the width of bars.
struct Bars {
    top: u64,
    bottom: u64,
    columns: usize,
}

/// One path for all bars of a class; neighbours are one bar.
fn bars(class: &str, bars: &Bars, at: impl Iterator<Item = usize>) -> Markup {
    let mut at = at.peekable();
    let mut path = String::new();
    while let Some(first) = at.next() {
        let mut end = first + 1;
        while at.next_if_eq(&end).is_some() {
            end += 1;
        }
        let edge = |column: usize| WIDTH * column as u64 / bars.columns as u64;
        let (left, right) = (edge(first), edge(end));
        path.push_str(&format!("M{left} {}H{right}V{}H{left}z", bars.top, bars.bottom));
    }
    html! { @if !path.is_empty() { path class=(class) d=(path) {} } }
}
