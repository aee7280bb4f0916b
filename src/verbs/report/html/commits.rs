//! Every commit of the range, newest first, in folds: a browser lays out only what is open.

use maud::{Markup, html};

use super::{self as markup, clipped, linked, text, time};
use andon_core::domain::{CommitRecord, Level, Span};
use andon_engine::text::phrase;
use andon_engine::view::{HistoryCommit, HistoryView, RecordState};

/// Commits of one fold.
const FOLD: usize = 250;
/// Older commits have no links, and their rules are named without messages: the page stays below 3 MB.
const IN_FULL: usize = 2_000;

/// The extent of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowDetail {
    Full,
    Brief,
}

pub(super) fn section(view: &HistoryView) -> Markup {
    let newest: Vec<&HistoryCommit> = view.commits.iter().rev().collect();
    let took = took(view);
    let body = html! {
        @if newest.is_empty() {
            p { "No commit in the range." }
        } @else {
            (form())
            div id="folds" {
                @for (number, commits) in newest.chunks(FOLD).enumerate() { (fold(view, number, commits, &took)) }
            }
        }
    };
    markup::section("h-commits", "Commits", &body)
}

/// The filters that can narrow the list, by the letters of [`kind`]; the script adds the number of each.
const KINDS: [(&str, &str); 5] =
    [("", "all"), ("f", "failing"), ("w", "with findings"), ("s", "with remarks"), ("m", "without a record")];

/// Returns the time that each commit took, the newest first, as far as that is known.
fn took(view: &HistoryView) -> Vec<Span> {
    let lasted = view.commits.iter().zip(view.begun()).map(|(commit, from)| commit.at.since(from).0);
    // Seconds of an hour say nothing.
    let shown = lasted.map(|seconds| Span(if seconds < 3_600 { seconds } else { seconds - seconds % 60 }));
    shown.rev().collect()
}

/// Hidden until the script shows it, without which it does nothing.
fn form() -> Markup {
    html! {
        form id="filter" hidden {
            label { "Find " input id="find" type="search" autocomplete="off"; } " "
            span role="group" aria-label="Show" {
                @for (kind, name) in KINDS { button type="button" data-only=(kind) { (name) } " " }
            }
            " "
            label {
                "Order "
                select id="order" {
                    option value="n" { "newest first" }
                    option value="o" { "oldest first" }
                }
            }
            " " output id="matches" for="find" {}
            span.muted { "Keys: j next, k previous" }
        }
    }
}

fn fold(view: &HistoryView, number: usize, commits: &[&HistoryCommit], took: &[Span]) -> Markup {
    let first = number * FOLD;
    let places = format!("Commits {} to {}", first + 1, first + commits.len());
    html! {
        details open[number == 0] {
            summary { (places) ", counted from the newest" }
            div.wide tabindex="0" role="region" aria-label=(places) {
                table.commits {
                    thead {
                        tr {
                            th.num scope="col" { "No." }
                            @for name in ["Commit", "Date", "Took", "Node", "Tests", "Change", "Subject"] {
                                th scope="col" { (name) }
                            }
                        }
                    }
                    tbody {
                        @for (at, commit) in commits.iter().enumerate() {
                            @let detail = if first + at < IN_FULL { RowDetail::Full } else { RowDetail::Brief };
                            @let page = view.forge.commit(commit.commit).filter(|_| detail == RowDetail::Full);
                            (row(commit, page, detail, took[first + at]))
                        }
                    }
                }
            }
        }
        "\n"
    }
}

fn row(commit: &HistoryCommit, page: Option<String>, detail: RowDetail, took: Span) -> Markup {
    let record = commit.state.record();
    let anchor = (detail == RowDetail::Full).then(|| format!("c-{}", commit.commit.short()));
    let tests = record.and_then(|record| record.tests.as_ref()).map(phrase::tests_short).unwrap_or_default();
    html! {
        "\n"
        tr id=[anchor] data-k=[kind(&commit.state)] {
            td.num { @if let Some(number) = record.and_then(CommitRecord::number) { (number) } }
            td { (linked(page, &html! { (commit.commit.short()) })) }
            td { (time(commit.at)) }
            td { @if took.0 > 0 { (took) } }
            td { (clipped(record.map_or("", |record| &record.node), 30)) }
            td { (text(&tests)) }
            td {
                @if let Some(record) = record.filter(|record| !record.diff.empty) {
                    "+" (record.diff.added) " -" (record.diff.removed)
                }
            }
            td {
                (clipped(&commit.subject, 100))
                @match &commit.state {
                    RecordState::Recorded(record) => { (remarks(record, detail)) }
                    RecordState::Missing => {}
                    RecordState::Unreadable(why) => {
                        br; span.bad { "record not readable: " (clipped(why, 200)) }
                    }
                }
            }
        }
    }
}

/// Returns the letters that the filter asks for: failing, with findings, with remarks, missing.
fn kind(state: &RecordState) -> Option<&'static str> {
    let Some(record) = state.record() else { return Some("m") };
    let fails = record.tests.as_ref().is_some_and(|tests| !tests.is_green());
    match (fails, warned(record).next().is_some()) {
        (true, true) => Some("fw"),
        (true, false) => Some("f"),
        (false, true) => Some("w"),
        (false, false) => None,
    }
}

fn warned(record: &CommitRecord) -> impl Iterator<Item = &andon_core::domain::RecordedFinding> {
    record.findings.iter().filter(|finding| finding.level >= Level::Warn)
}

fn remarks(record: &CommitRecord, detail: RowDetail) -> Markup {
    let marks = phrase::marks(record);
    html! {
        @if !marks.is_empty() { " " span.mark { "[" (text(&marks.join(", "))) "]" } }
        @for finding in warned(record) {
            br;
            span class=(if finding.level >= Level::Block { "bad" } else { "warn" }) {
                (clipped(&finding.rule, 40))
                @if detail == RowDetail::Full { ": " (clipped(&finding.message, 160)) }
            }
        }
    }
}
