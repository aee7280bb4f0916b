//! Lines over the commits of a range: how many tests fail, and how many there are. Whole numbers alone, so that the
//! same facts make the same bytes everywhere. Each picture has a text: the title says what it shows.

use maud::{Markup, html};

use super::markup::{self, text, time};
use crate::view::history::HistoryView;
use andon_core::escape::terminal_clip;
use andon_engine::text::phrase;

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

/// Several counts in one column.
#[derive(Clone, Copy)]
enum ColumnValue {
    Most,
    Newest,
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
                (figure(view, &Figure { name: "Failing tests", class: "bad", points: &failing, of: ColumnValue::Most }))
            }
            (figure(view, &Figure { name: "Number of tests", class: "line", points: &total, of: ColumnValue::Newest }))
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
    of: ColumnValue,
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

/// What a pointer shows over each column that has a count of its own; a click leads to the row of the commit. The
/// list of commits is the same for the keyboard and for screen readers.
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
            *cell = Some(match (figure.of, *cell) {
                (ColumnValue::Most, Some(before)) => before.max(point.value),
                (ColumnValue::Most | ColumnValue::Newest, _) => point.value,
            });
        }
    }
    let mut path = String::new();
    for (column, value) in shared.iter().enumerate().filter_map(|(column, value)| Some((column, (*value)?))) {
        path.push(if path.is_empty() { 'M' } else { 'L' });
        path.push_str(&format!("{} {}", middle(column, columns), ZERO - RISE * value / top));
    }
    path
}

/// How many columns so many commits have.
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
