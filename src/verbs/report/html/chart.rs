//! Lines over the commits of a range: how many tests fail, and how many there are. Whole numbers alone, so that the same
//! facts make the same bytes everywhere. A picture has its words beside it: the title says what it shows.

use super::markup::Html;
use super::{derived, log_command};
use crate::view::history::HistoryView;

/// Columns that a picture has at the most; more commits share one.
pub(super) const COLUMNS: usize = 500;
/// Width of a picture in its own units.
pub(super) const WIDTH: u64 = 10_000;
/// Where zero stands in a chart of 1,000, from above; the greatest count is as far from the upper edge.
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
enum Of {
    Most,
    Newest,
}

pub(super) fn section(html: &mut Html, view: &HistoryView) {
    let tested = || {
        let records = view
            .commits
            .iter()
            .enumerate()
            .filter_map(|(place, commit)| Some((place, commit.state.record()?.tests.as_ref()?)));
        records.filter(|(_, tests)| tests.counts.total > 0)
    };
    let failing: Vec<Point> =
        tested().map(|(place, tests)| Point { place, value: tests.counts.failing() }).collect();
    let total: Vec<Point> =
        tested().map(|(place, tests)| Point { place, value: tests.counts.total }).collect();
    html.raw("<section aria-labelledby=h-trend>\n<h2 id=h-trend>Tests</h2>\n");
    if failing.len() < 2 {
        html.raw("<p>Fewer than two commits of the range have a test run.</p>\n");
    } else {
        figure(html, view, &Figure { name: "Failing tests", class: "bad", points: &failing, of: Of::Most });
        figure(
            html,
            view,
            &Figure { name: "Number of tests", class: "line", points: &total, of: Of::Newest },
        );
        if view.commits.len() > COLUMNS {
            html.raw("<p class=derived>Commits share columns: of each, the most failing tests and the newest number.</p>\n");
        }
    }
    derived(html, &log_command(view));
    html.raw("</section>\n");
}

/// A line, its name, and how commits that share a column are taken together.
struct Figure<'a> {
    name: &'static str,
    class: &'static str,
    points: &'a [Point],
    of: Of,
}

fn figure(html: &mut Html, view: &HistoryView, figure: &Figure<'_>) {
    let (Some(first), Some(last)) = (figure.points.first(), figure.points.last()) else { return };
    let top = figure.points.iter().map(|point| point.value).max().unwrap_or(0);
    html.raw("<figure>\n<figcaption>").raw(figure.name).raw(": ").number(first.value).raw(" at first, ");
    html.number(last.value).raw(" now, ").number(top).raw(" at the most</figcaption>\n");
    html.raw("<div class=plot><span class=top aria-hidden=true>").number(top);
    html.raw("</span><svg viewBox=\"0 0 10000 1000\" preserveAspectRatio=none role=img aria-label=\"");
    html.raw(figure.name).raw(" over ").count(view.commits.len()).raw(" commits, from ").number(first.value);
    html.raw(" to ").number(last.value).raw("\">");
    for x in halts(view) {
        html.raw("<path class=halt d=\"M").number(x).raw(" 0V1000\"/>");
    }
    html.raw("<path class=\"").raw(figure.class).raw("\" d=\"");
    line(html, figure, view.commits.len(), top.max(1));
    html.raw("\"/></svg><span class=zero aria-hidden=true>0</span></div>\n</figure>\n");
}

fn line(html: &mut Html, figure: &Figure<'_>, commits: usize, top: u64) {
    let columns = columns(commits);
    let mut shared: Vec<Option<u64>> = vec![None; columns];
    for point in figure.points {
        if let Some(cell) = shared.get_mut(column(point.place, commits)) {
            *cell = Some(match (figure.of, *cell) {
                (Of::Most, Some(before)) => before.max(point.value),
                (Of::Most | Of::Newest, _) => point.value,
            });
        }
    }
    let mut begun = false;
    for (column, value) in shared.iter().enumerate().filter_map(|(column, value)| Some((column, (*value)?))) {
        html.raw(if begun { "L" } else { "M" }).number(middle(column, columns)).raw(" ");
        html.number(ZERO - RISE * value / top);
        begun = true;
    }
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

/// Where halts stand, each column once.
fn halts(view: &HistoryView) -> Vec<u64> {
    let heads: std::collections::BTreeSet<_> = view.halts.iter().filter_map(|last| last.halt.head).collect();
    let all = view.commits.len();
    let places = view.commits.iter().enumerate().filter(|(_, commit)| heads.contains(&commit.commit));
    let mut found: Vec<u64> = places.map(|(place, _)| middle(column(place, all), columns(all))).collect();
    found.dedup();
    found
}
