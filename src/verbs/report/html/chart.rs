//! Lines over the commits of a range: how many tests fail, and how many there are. Whole numbers alone, so that the
//! same facts make the same bytes everywhere. Each picture has a text: the title says what it shows.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::{self as markup, clipped, text, time};
use andon_core::domain::{CommitId, CommitRecord, Level};
use andon_core::escape::terminal_clip;
use andon_engine::text::phrase;
use andon_engine::view::{HistoryCommit, HistoryView};

/// Columns that a picture has at the most; more commits share one.
pub(super) const COLUMNS: usize = 500;
/// Width of a picture in its own units.
pub(super) const WIDTH: u64 = 10_000;
/// The place of zero in a chart of 1,000, from above; the greatest count is as far from the upper edge.
const ZERO: u64 = 950;
/// From zero to the greatest count.
const RISE: u64 = 900;

/// A count at a commit.
struct Point {
    /// Place of the commit in the range.
    place: usize,
    value: u64,
}

pub(super) fn section(view: &HistoryView) -> Markup {
    let tested = || {
        let records = view
            .commits
            .iter()
            .enumerate()
            .filter_map(|(place, commit)| Some((place, commit.state.record()?.tests.as_ref()?)));
        records.filter(|(_, tests)| tests.total > 0)
    };
    let failing: Vec<Point> =
        tested().map(|(place, tests)| Point { place, value: tests.counts().failing() }).collect();
    let total: Vec<Point> = tested().map(|(place, tests)| Point { place, value: tests.total }).collect();
    if failing.len() < 2 {
        return html! {};
    }
    let body = html! {
            @if failing.iter().any(|point| point.value > 0) {
                (figure(view, &Figure { name: "Failing tests", class: "bad", points: &failing, of_most: true }))
            }
            (figure(view, &Figure { name: "Number of tests", class: "line", points: &total, of_most: false }))
            @if view.commits.len() > COLUMNS {
                p.derived { "Commits share columns: of each, the most failing tests and the newest number." }
            }
    };
    markup::section("h-trend", "Tests", &body)
}

/// A line, its name, and how commits that share a column are taken together.
struct Figure<'a> {
    name: &'static str,
    class: &'static str,
    points: &'a [Point],
    of_most: bool,
}

fn figure(view: &HistoryView, figure: &Figure<'_>) -> Markup {
    let (Some(first), Some(last)) = (figure.points.first(), figure.points.last()) else { return html! {} };
    let top = figure.points.iter().map(|point| point.value).max().unwrap_or(0);
    let (name, first, last, commits) = (figure.name, first.value, last.value, view.commits.len());
    let over = phrase::count(commits, "commit");
    let label = format!("{name} over {over}, from {first} to {last}, {top} at the most");
    let ends = view.commits.first().zip(view.commits.last());
    html! {
        figure {
            figcaption { (name) ": " (first) " at first, " (last) " now, " (top) " at the most" }
            div.plot {
                span.top aria-hidden="true" { (top) }
                svg viewBox="0 0 10000 1000" preserveAspectRatio="none" role="group" aria-label=(label) {
                    @for x in halts(view) { path.halt d={ "M" (x) " 0V1000" } {} }
                    path class=(figure.class) d=(line(figure, commits, top.max(1))) {}
                    (tips(view, figure))
                }
                span.zero aria-hidden="true" { "0" }
                @if let Some((oldest, newest)) = ends {
                    p.axis { (time(oldest.at)) " " (time(newest.at)) }
                }
            }
        }
        "\n"
    }
}

/// Draws the tips that a pointer shows over each column that has a count of its own; a click leads to the row of the commit.
/// The list of commits is the same for the keyboard and for screen readers.
fn tips(view: &HistoryView, figure: &Figure<'_>) -> Markup {
    let commits = view.commits.len();
    if commits > COLUMNS {
        return html! {};
    }
    let wide = WIDTH / columns(commits) as u64;
    let tip = |point: &Point| {
        let commit = view.commits.get(point.place)?;
        let title = format!(
            "{} {}: {} {}",
            commit.commit.short(),
            terminal_clip(&commit.subject, 60),
            point.value,
            figure.name.to_lowercase()
        );
        Some((commit.commit.short(), wide * point.place as u64, title))
    };
    html! {
        g aria-hidden="true" {
            @for (commit, x, title) in figure.points.iter().filter_map(tip) {
                a href={ "#c-" (commit) } tabindex="-1" {
                    path.tip d={ "M" (x) " 0h" (wide) "V1000h-" (wide) "z" } { title { (text(&title)) } }
                }
            }
        }
    }
}

fn line(figure: &Figure<'_>, commits: usize, top: u64) -> String {
    let columns = columns(commits);
    let mut shared: Vec<Option<u64>> = vec![None; columns];
    for point in figure.points {
        if let Some(cell) = shared.get_mut(column(point.place, commits)) {
            let before = cell.filter(|_| figure.of_most);
            *cell = Some(before.unwrap_or_default().max(point.value));
        }
    }
    let mut path = String::new();
    for (column, value) in shared.iter().enumerate().filter_map(|(column, value)| Some((column, (*value)?))) {
        path.push(if path.is_empty() { 'M' } else { 'L' });
        path.push_str(&format!("{} {}", middle(column, columns), ZERO - RISE * value / top));
    }
    path
}

/// Returns the number of columns for so many commits.
pub(super) fn columns(commits: usize) -> usize {
    commits.clamp(1, COLUMNS)
}

/// The column of a commit.
pub(super) fn column(place: usize, commits: usize) -> usize {
    if commits <= COLUMNS { place } else { place * COLUMNS / commits }
}

/// The middle of a column.
fn middle(column: usize, columns: usize) -> u64 {
    (WIDTH * (2 * column as u64 + 1)) / (2 * columns as u64)
}

/// The columns with halts, each once.
fn halts(view: &HistoryView) -> Vec<u64> {
    let heads: std::collections::BTreeSet<_> = view.halts.iter().filter_map(|last| last.halt.head).collect();
    let all = view.commits.len();
    let places = view.commits.iter().enumerate().filter(|(_, commit)| heads.contains(&commit.commit));
    let mut found: Vec<u64> = places.map(|(place, _)| middle(column(place, all), columns(all))).collect();
    found.dedup();
    found
}

/// Lanes that are drawn.
const LANES: usize = 24;
/// Width of a halt.
const HALT: u64 = 40;

/// The mark that a column of a lane shows: that of the gravest of its commits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    Untested,
    Passed,
    Failed,
}

impl Mark {
    /// Each with its class, and the place where its bars begin.
    const ALL: [(Self, &'static str, u64); 3] =
        [(Self::Untested, "none", 80), (Self::Passed, "ok", 50), (Self::Failed, "bad", 20)];

    fn new(commit: &HistoryCommit) -> Self {
        match commit.state.record().and_then(|record| record.tests.as_ref()) {
            Some(tests) if tests.is_green() => Self::Passed,
            Some(_) => Self::Failed,
            None => Self::Untested,
        }
    }
}

/// The activity of one node.
#[derive(Default)]
struct Lane {
    commits: usize,
    failed: usize,
    marks: BTreeMap<usize, Mark>,
    found: BTreeSet<usize>,
    halted: BTreeSet<usize>,
}

pub(super) fn lanes_section(view: &HistoryView) -> Markup {
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
    let of = |(mark, class, top)| {
        let at = lane.marks.iter().filter(move |(_, shown)| **shown == mark).map(|(column, _)| *column);
        bars(class, &Bars { top, bottom: 100, columns }, at)
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
