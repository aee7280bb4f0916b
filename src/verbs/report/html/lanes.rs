//! The iterations as they came, a lane for each node, the agent at work in it and its worktree: how its tests went, what
//! rules found, where it was halted. Height says what colour says.

use std::collections::{BTreeMap, BTreeSet};

use super::chart::{WIDTH, column, columns};
use super::markup::Html;
use super::{derived, log_command};
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

    fn of(commit: &HistoryCommit) -> Self {
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

pub(super) fn section(html: &mut Html, view: &HistoryView) {
    let lanes = lanes(view);
    html.raw("<section aria-labelledby=h-lanes>\n<h2 id=h-lanes>Iterations</h2>\n");
    if lanes.is_empty() {
        html.raw("<p>No commit of the range has a record.</p>\n</section>\n");
        return;
    }
    html.raw("<p class=legend><span class=\"key ok\"></span>tests passed <span class=\"key bad\"></span>tests failed \
              <span class=\"key none\"></span>no test run <span class=\"key found\"></span>a rule warned \
              <span class=\"key halt\"></span>halted. Oldest on the left.</p>\n");
    for (node, lane) in lanes.iter().take(LANES) {
        draw(html, node, lane, columns(view.commits.len()));
    }
    if lanes.len() > LANES {
        html.raw("<p>and ").count(lanes.len() - LANES).raw(" more lanes</p>\n");
    }
    derived(html, &log_command(view));
    html.raw("</section>\n");
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
        let (column, mark) = (column(place, all), Mark::of(commit));
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

fn draw(html: &mut Html, node: &str, lane: &Lane, columns: usize) {
    html.raw("<div class=lane><p>").clipped(node, 80).raw(" <span class=muted>").count(lane.commits);
    html.raw(" commits, ").count(lane.failed).raw(" failing, ").count(lane.halted.len());
    html.raw(" halted</span></p>\n<svg viewBox=\"0 0 10000 100\" preserveAspectRatio=none aria-hidden=true>");
    for mark in Mark::ALL {
        let at = lane.marks.iter().filter(|(_, shown)| **shown == mark).map(|(column, _)| *column);
        bars(html, mark.class(), &Bars { top: mark.top(), bottom: 100, columns }, at);
    }
    bars(html, "found", &Bars { top: 6, bottom: 16, columns }, lane.found.iter().copied());
    ends(html, lane, columns);
    html.raw("</svg></div>\n");
}

/// A halt is the end of its column, and hides no more of it than it has to.
fn ends(html: &mut Html, lane: &Lane, columns: usize) {
    for column in &lane.halted {
        let end = WIDTH * (*column as u64 + 1) / columns as u64;
        html.raw("<path class=halt d=\"M").number(end).raw(" 0V100H").number(end.saturating_sub(HALT));
        html.raw("V0z\"/>");
    }
}

/// How high bars stand, and how wide they are.
struct Bars {
    top: u64,
    bottom: u64,
    columns: usize,
}

/// One path for all bars of a class; neighbours are one bar.
fn bars(html: &mut Html, class: &'static str, bars: &Bars, at: impl Iterator<Item = usize>) {
    let mut at = at.peekable();
    if at.peek().is_none() {
        return;
    }
    html.raw("<path class=").raw(class).raw(" d=\"");
    while let Some(first) = at.next() {
        let mut end = first + 1;
        while at.next_if_eq(&end).is_some() {
            end += 1;
        }
        let edge = |column: usize| WIDTH * column as u64 / bars.columns as u64;
        html.raw("M").number(edge(first)).raw(" ").number(bars.top).raw("H").number(edge(end));
        html.raw("V").number(bars.bottom).raw("H").number(edge(first)).raw("z");
    }
    html.raw("\"/>");
}
