//! Every commit of the range, newest first, in folds: a browser lays out only what is open.

use super::markup::Html;
use super::{derived, log_command};
use crate::view::history::{HistoryCommit, HistoryView};
use crate::view::log::RecordState;
use andon_core::domain::facts::CommitRecord;
use andon_core::domain::findings::Level;
use andon_engine::text::phrase;

/// Commits of one fold.
const FOLD: usize = 250;
/// Of older commits rules are named without their messages: the page stays below 3 MB.
const IN_FULL: usize = 2_000;

pub(super) fn section(html: &mut Html, view: &HistoryView, gate: &str) {
    html.raw("<section aria-labelledby=h-commits>\n<h2 id=h-commits>Commits</h2>\n");
    if view.commits.is_empty() {
        html.raw("<p>No commit in the range.</p>\n</section>\n");
        return;
    }
    html.raw("<form id=filter hidden><label>Find <input type=search id=find autocomplete=off></label> <label>Show ");
    html.raw("<select id=only><option value=\"\">all<option value=f>failing<option value=w>with findings");
    html.raw("<option value=s>with remarks<option value=m>without a record</select></label> <label>Order <select id=order>");
    html.raw("<option value=n>newest first<option value=o>oldest first</select></label> ");
    html.raw("<output id=matches for=\"find only\"></output></form>\n<div id=folds>\n");
    let newest: Vec<&HistoryCommit> = view.commits.iter().rev().collect();
    for (number, fold) in newest.chunks(FOLD).enumerate() {
        let first = number * FOLD;
        html.raw(if number == 0 { "<details open>" } else { "<details>" });
        html.raw("<summary>Commits ").count(first + 1).raw(" to ").count(first + fold.len());
        html.raw(", counted from the newest</summary>\n<div class=wide tabindex=0 role=region aria-label=\"Commits ");
        html.count(first + 1)
            .raw(" to ")
            .count(first + fold.len())
            .raw("\">\n<table>\n<thead><tr><th scope=col>Iteration");
        html.raw(
            "<th scope=col>Commit<th scope=col>Date<th scope=col>Node<th scope=col>Tests<th scope=col>Change",
        );
        html.raw("<th scope=col>Subject</thead>\n<tbody>\n");
        for (at, commit) in fold.iter().enumerate() {
            row(html, commit, gate, first + at < IN_FULL);
        }
        html.raw("</tbody>\n</table>\n</div>\n</details>\n");
    }
    html.raw("</div>\n");
    derived(html, &log_command(view));
    html.raw("</section>\n");
}

fn row(html: &mut Html, commit: &HistoryCommit, gate: &str, in_full: bool) {
    let record = commit.state.record();
    html.raw("<tr").raw(kind(&commit.state)).raw("><td class=num>");
    if let Some(number) = record.and_then(andon_core::domain::facts::CommitRecord::number) {
        html.number(number);
    }
    html.raw("<td><code>").text(&commit.commit.short()).raw("</code><td>");
    let date = commit.at.to_string();
    html.text(date.get(..10).unwrap_or(&date)).raw("<td>");
    html.clipped(record.map_or("", |record| &record.node), 30).raw("<td>");
    html.text(&record.and_then(|record| record.tests.as_ref()).map(phrase::tests_short).unwrap_or_default());
    html.raw("<td>");
    if let Some(record) = record.filter(|record| !record.diff.empty) {
        html.raw("+").number(record.diff.added).raw(" -").number(record.diff.removed);
    }
    html.raw("<td>").clipped(&commit.subject, 100);
    match &commit.state {
        RecordState::Recorded(record) => remarks(html, record, gate, in_full),
        RecordState::Missing => {}
        RecordState::Unreadable(why) => {
            html.raw("<br><span class=bad>record not readable: ").clipped(why, 200).raw("</span>");
        }
    }
    html.raw("\n");
}

/// What the filter asks for: failing, with findings, with remarks, missing.
fn kind(state: &RecordState) -> &'static str {
    let Some(record) = state.record() else { return " data-k=m" };
    let fails = record.tests.as_ref().is_some_and(|tests| !tests.is_green());
    match (fails, warned(record).next().is_some()) {
        (true, true) => " data-k=fw",
        (true, false) => " data-k=f",
        (false, true) => " data-k=w",
        (false, false) => "",
    }
}

fn warned(record: &CommitRecord) -> impl Iterator<Item = &andon_core::domain::facts::RecordedFinding> {
    record.findings.iter().filter(|finding| finding.level >= Level::Warn)
}

fn remarks(html: &mut Html, record: &CommitRecord, gate: &str, in_full: bool) {
    let marks = phrase::marks(record, gate);
    if !marks.is_empty() {
        html.raw(" <span class=mark>[").text(&marks.join(", ")).raw("]</span>");
    }
    for finding in warned(record) {
        html.raw("<br><span class=").raw(if finding.level >= Level::Block { "bad" } else { "warn" }).raw(">");
        html.clipped(&finding.rule, 40);
        if in_full {
            html.raw(": ").clipped(&finding.message, 160);
        }
        html.raw("</span>");
    }
}
