//! The story of each halt: why, from what evidence, after what, and how it was answered.

use maud::{Markup, html};

use super::SHOWN;
use super::markup::{self, clipped, command, derived, field, text, time};
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

/// Newest first: the unanswered one matters most.
pub(super) fn section(view: &HistoryView) -> Markup {
    let body = html! {
        @if view.halts.is_empty() { p { "No halt at these commits." } }
        @for (number, last) in view.halts.iter().rev().take(SHOWN).enumerate() {
            (story(view, last, number == 0))
        }
        @if view.halts.len() > SHOWN { p { "and " (view.halts.len() - SHOWN) " more" } }
        (derived("andon log --events"))
    };
    markup::section("h-halts", "Halts", &body)
}

fn story(view: &HistoryView, last: &LastHalt, is_open: bool) -> Markup {
    let halt = &last.halt;
    let iteration = halt.iteration.to_string();
    let fields = [
        ("Iteration", iteration.as_str()),
        ("Cycle", &halt.cycle_id),
        ("Branch", halt.branch.as_deref().unwrap_or("detached HEAD")),
        ("Worktree", &halt.worktree),
        ("Entry", &last.id.short()),
    ];
    html! {
        details open[is_open] {
            summary {
                (time(halt.at)) " " strong { (phrase::reason(halt.reason)) } " (" (clipped(&halt.rule, 60)) ")"
                (if last.ack.is_some() { ", answered" } else { ", not answered" })
            }
            p { (clipped(&halt.message, 1000)) }
            dl.place { @for (name, value) in fields { (field(name, &clipped(value, 80))) } }
            (evidence(halt))
            (tried(view, halt))
            (change(view, halt))
            @if !halt.suggested_actions.is_empty() {
                h3 { "What to do next" }
                ul { @for action in &halt.suggested_actions { li { (clipped(&action.text, 500)) } } }
            }
            h3 { "Answer" }
            p { (answer(last.ack.as_ref())) }
        }
        "\n"
    }
}

fn evidence(halt: &Halt) -> Markup {
    let evidence = &halt.evidence;
    let hashes = [
        ("Changes", evidence.diffs.iter().map(DiffHash::short).collect::<Vec<_>>()),
        ("Failures", evidence.tests.iter().map(Signature::short).collect()),
        ("Outputs", evidence.outputs.iter().map(Digest::short).collect()),
    ];
    let none = evidence.trend.is_empty() && evidence.calls.is_empty();
    if none && hashes.iter().all(|(_, found)| found.is_empty()) {
        return html! {};
    }
    html! {
        h3 { "Evidence" }
        dl.place {
            @if !evidence.trend.is_empty() { (field("Failing tests", &text(&spark::trend(&evidence.trend)))) }
            @for call in evidence.calls.iter().take(CALLS) {
                div {
                    dt { "Call " (call.exact) }
                    dd { code { (clipped(call.shown.as_deref().unwrap_or("arguments not known"), MAX_SHOWN)) } }
                }
            }
            @for (name, found) in hashes.iter().filter(|(_, found)| !found.is_empty()) {
                div {
                    dt { (name) " (equal hashes are the same)" }
                    dd { @for hash in found.iter().rev().take(HASHES).rev() { code { (hash) } " " } }
                }
            }
        }
    }
}

/// What the node of the halted commit did before, and the command that shows the changes themselves.
fn tried(view: &HistoryView, halt: &Halt) -> Markup {
    let place = |head| view.commits.iter().rposition(|commit| commit.commit == head);
    let Some((head, place)) = halt.head.and_then(|head| Some((head, place(head)?))) else { return html! {} };
    let node = |commit: &HistoryCommit| commit.state.record().map(|record| record.node.clone());
    let own = node(&view.commits[place]);
    let before = view.commits[..=place].iter().rev().filter(|commit| node(commit) == own);
    let mut shown: Vec<&HistoryCommit> = before.take(BEFORE).collect();
    shown.reverse();
    html! {
        h3 { "What was tried" }
        div.wide tabindex="0" role="region" aria-label="What was tried" {
            table {
                thead { tr { @for name in ["Commit", "Subject", "Tests", "Change"] { th scope="col" { (name) } } } }
                tbody { @for commit in &shown { (attempt(commit)) } }
            }
        }
        (derived(&format!("git log -p -{} {}", shown.len(), head.short())))
    }
}

fn attempt(commit: &HistoryCommit) -> Markup {
    let record = commit.state.record();
    let run = record.and_then(|record| record.tests.as_ref());
    html! {
        tr {
            td { code { (commit.commit.short()) } }
            td { (clipped(&commit.subject, 100)) }
            td { (text(&run.map_or_else(|| "no run".to_owned(), phrase::tests))) }
            td { (text(&record.map_or_else(|| "no record".to_owned(), |record| phrase::diff(&record.diff)))) }
        }
    }
}

/// What was halted, cut where it is long.
fn change(view: &HistoryView, halt: &Halt) -> Markup {
    let found = halt.head.and_then(|head| Some((head, view.changes.get(&head)?)));
    html! {
        @if let Some((head, lines)) = found {
            h3 { "The halted change" }
            pre tabindex="0" role="region" aria-label="The halted change" {
                @for line in lines { (clipped(line, COLUMNS)) "\n" }
            }
            (derived(&format!("git show {}", head.short())))
        }
    }
}

fn answer(ack: Option<&Ack>) -> Markup {
    html! {
        @if let Some(ack) = ack {
            (time(ack.at)) " " (text(&phrase::acknowledged(ack)))
            @if !ack.reason.is_empty() { ": " q { (clipped(&ack.reason, 1000)) } }
        } @else {
            "No answer yet: " (command("andon resume --reason '<decision>'"))
        }
    }
}
