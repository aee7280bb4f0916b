//! The story of each halt: why, from what evidence, after what, and how it was answered.

use super::markup::Html;
use super::{SHOWN, derived};
use crate::view::history::{HistoryCommit, HistoryView};
use crate::view::status::LastHalt;
use andon_core::domain::decision::Halt;
use andon_core::domain::events::MAX_SHOWN;
use andon_core::domain::facts::Ack;
use andon_core::domain::ids::{DiffHash, Digest, Signature};
use andon_engine::text::{phrase, spark};

/// Commits before a halt that its story shows.
const BEFORE: usize = 8;
/// Columns of a line of a change.
const COLUMNS: usize = 200;
/// Hashes of each kind.
const HASHES: usize = 6;
/// Tool calls of a round: the longest that the rules look for.
const CALLS: usize = 12;

/// Newest first: the one that stands is the one that is asked about.
pub(super) fn section(html: &mut Html, view: &HistoryView) {
    html.raw("<section aria-labelledby=h-halts>\n<h2 id=h-halts>Halts</h2>\n");
    if view.halts.is_empty() {
        html.raw("<p>No halt at these commits.</p>\n");
    }
    for (number, last) in view.halts.iter().rev().take(SHOWN).enumerate() {
        story(html, view, last, number == 0);
    }
    if view.halts.len() > SHOWN {
        html.raw("<p>and ").count(view.halts.len() - SHOWN).raw(" more</p>\n");
    }
    derived(html, "andon log --events");
    html.raw("</section>\n");
}

fn story(html: &mut Html, view: &HistoryView, last: &LastHalt, is_open: bool) {
    let halt = &last.halt;
    html.raw(if is_open { "<details open>\n<summary>" } else { "<details>\n<summary>" });
    html.time(halt.at).raw(" <strong>").raw(phrase::reason(halt.reason)).raw("</strong> (");
    html.clipped(&halt.rule, 60).raw(")").raw(if last.ack.is_some() {
        ", answered"
    } else {
        ", not answered"
    });
    html.raw("</summary>\n<p>").clipped(&halt.message, 1000).raw("</p>\n<dl class=place>");
    for (name, value) in [
        ("Iteration", halt.iteration.to_string()),
        ("Cycle", halt.cycle_id.clone()),
        ("Branch", halt.branch.clone().unwrap_or_else(|| "detached HEAD".to_owned())),
        ("Worktree", halt.worktree.clone()),
        ("Entry", last.id.short()),
    ] {
        html.raw("<div><dt>").raw(name).raw("</dt><dd>").clipped(&value, 80).raw("</dd></div>");
    }
    html.raw("</dl>\n");
    evidence(html, halt);
    tried(html, view, halt);
    change(html, view, halt);
    if !halt.suggested_actions.is_empty() {
        html.raw("<h3>What to do next</h3>\n<ul>\n");
        for action in &halt.suggested_actions {
            html.raw("<li>").clipped(&action.text, 500).raw("</li>\n");
        }
        html.raw("</ul>\n");
    }
    answer(html, last.ack.as_ref());
    html.raw("</details>\n");
}

fn evidence(html: &mut Html, halt: &Halt) {
    let evidence = &halt.evidence;
    let hashes = [
        ("Changes", evidence.diffs.iter().map(DiffHash::short).collect::<Vec<_>>()),
        ("Failures", evidence.tests.iter().map(Signature::short).collect()),
        ("Outputs", evidence.outputs.iter().map(Digest::short).collect()),
    ];
    if evidence.trend.is_empty()
        && evidence.calls.is_empty()
        && hashes.iter().all(|(_, found)| found.is_empty())
    {
        return;
    }
    html.raw("<h3>Evidence</h3>\n<dl class=place>");
    if !evidence.trend.is_empty() {
        html.raw("<div><dt>Failing tests</dt><dd>").text(&spark::trend(&evidence.trend)).raw("</dd></div>");
    }
    for call in evidence.calls.iter().take(CALLS) {
        let shown = call.shown.as_deref().unwrap_or("arguments not known");
        html.raw("<div><dt>Call ").text(&call.exact.to_string()).raw("</dt><dd><code>");
        html.clipped(shown, MAX_SHOWN).raw("</code></dd></div>");
    }
    for (name, found) in hashes.into_iter().filter(|(_, found)| !found.is_empty()) {
        html.raw("<div><dt>").raw(name).raw(" (equal hashes are the same)</dt><dd>");
        for hash in found.iter().rev().take(HASHES).rev() {
            html.raw("<code>").text(hash).raw("</code> ");
        }
        html.raw("</dd></div>");
    }
    html.raw("</dl>\n");
}

/// What the node of the halted commit did before, and the command that shows the changes themselves.
fn tried(html: &mut Html, view: &HistoryView, halt: &Halt) {
    let Some(head) = halt.head else { return };
    let Some(place) = view.commits.iter().rposition(|commit| commit.commit == head) else { return };
    let node = |commit: &HistoryCommit| commit.state.record().map(|record| record.node.clone());
    let own = node(&view.commits[place]);
    let before = view.commits[..=place].iter().rev().filter(|commit| node(commit) == own);
    let mut shown: Vec<&HistoryCommit> = before.take(BEFORE).collect();
    shown.reverse();
    html.raw("<h3>What was tried</h3>\n<div class=wide tabindex=0 role=region aria-label=\"What was tried\">\n<table>\n");
    html.raw("<thead><tr><th scope=col>Commit<th scope=col>Subject<th scope=col>Tests<th scope=col>Change</thead>\n<tbody>\n");
    for commit in &shown {
        html.raw("<tr><td><code>")
            .text(&commit.commit.short())
            .raw("</code><td>")
            .clipped(&commit.subject, 100);
        let record = commit.state.record();
        html.raw("<td>").text(
            &record
                .and_then(|record| record.tests.as_ref())
                .map_or_else(|| "no run".to_owned(), phrase::tests),
        );
        html.raw("<td>")
            .text(&record.map_or_else(|| "no record".to_owned(), |record| phrase::diff(&record.diff)));
        html.raw("\n");
    }
    html.raw("</tbody>\n</table>\n</div>\n");
    derived(html, &format!("git log -p -{} {}", shown.len(), head.short()));
}

/// What was halted, cut where it is long.
fn change(html: &mut Html, view: &HistoryView, halt: &Halt) {
    let Some((head, lines)) = halt.head.and_then(|head| Some((head, view.changes.get(&head)?))) else {
        return;
    };
    html.raw("<h3>The halted change</h3>\n<pre tabindex=0 role=region aria-label=\"The halted change\">");
    for line in lines {
        html.clipped(line, COLUMNS).raw("\n");
    }
    html.raw("</pre>\n");
    derived(html, &format!("git show {}", head.short()));
}

fn answer(html: &mut Html, ack: Option<&Ack>) {
    html.raw("<h3>Answer</h3>\n<p>");
    match ack {
        None => {
            html.raw("Nobody has answered: ").command("andon resume --reason \"...\"");
        }
        Some(ack) => {
            html.time(ack.at).raw(" ").text(&phrase::acknowledged(ack));
            if !ack.reason.is_empty() {
                html.raw(": <q>").clipped(&ack.reason, 1000).raw("</q>");
            }
        }
    }
    html.raw("</p>\n");
}
