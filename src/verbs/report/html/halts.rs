//! The story of each halt: why, from what evidence, after what, and how it was answered.

use maud::{Markup, html};

use super::{self as markup, SHOWN, clipped, command, field, linked, look, text, time};
use andon_core::domain::{Ack, Halt, Hint, MAX_SHOWN, SummaryStep};
use andon_core::escape::clip;
use andon_engine::text::{ShownChange, ShownLine, halt, page::command_of, phrase, spark};
use andon_engine::view::{HistoryCommit, HistoryView, LastHalt};

/// Commits before a halt that its story shows.
const BEFORE: usize = 8;
/// Columns of a line of a change.
const COLUMNS: usize = 200;
/// Tool calls of a round: the longest that the rules look for.
const CALLS: usize = 12;
/// Columns of something to do.
const ACTION: usize = 500;

/// Newest first: the unanswered one matters most.
pub(super) fn section(view: &HistoryView) -> Markup {
    if view.halts.is_empty() {
        return html! {};
    }
    let body = html! {
        @for (number, last) in view.halts.iter().rev().take(SHOWN).enumerate() {
            (story(view, last, number))
        }
        @if view.halts.len() > SHOWN { p { "and " (view.halts.len() - SHOWN) " more" } }
    };
    markup::section("h-halts", "Halts", &body)
}

fn story(view: &HistoryView, last: &LastHalt, number: usize) -> Markup {
    let halt = &last.halt;
    let iteration = halt.iteration.to_string();
    let fields = [
        ("Iteration", iteration.as_str()),
        ("Branch", halt.branch.as_deref().unwrap_or("detached HEAD")),
        ("Worktree", &halt.worktree),
        ("Entry", &last.id.short()),
    ];
    html! {
        details id={ "halt-" (last.id.short()) } open[number == 0] {
            summary {
                (time(halt.at)) " " strong { (clipped(&halt::headline(halt), 200)) } " (" (clipped(&halt.rule, 60)) ")"
                (if last.ack.is_some() { ", answered" } else { ", not answered" })
            }
            p { (clipped(&halt.message, 1000)) }
            @if !halt.summary.failing.is_empty() {
                ul {
                    @for failing in &halt.summary.failing { li { code { (clipped(&halt::failing(failing), 500)) } } }
                }
            }
            @if let Some(since) = halt.summary.since {
                p { "Since " (time(since)) " UTC" @for part in halt::effort(&halt.summary) { ", " (part) } "." }
            }
            dl.place { @for (name, value) in fields { (field(name, &clipped(value, 80))) } }
            (evidence(halt))
            (tried(view, halt))
            (change(view, halt))
            @if !halt.suggested_actions.is_empty() {
                h3 { "What to do next" }
                ul { @for action in &halt.suggested_actions { li { (hint(&action.text)) } } }
            }
            h3 { "Answer" }
            p { (answer(last.ack.as_ref())) }
        }
        "\n"
    }
}

fn evidence(halt: &Halt) -> Markup {
    let evidence = &halt.evidence;
    let falls = evidence.trend.iter().any(|count| *count > 0);
    if !falls && evidence.calls.is_empty() {
        return html! {};
    }
    html! {
        h3 { "Evidence" }
        dl.place {
            @if falls { (field("Failing tests", &text(&spark::trend(&evidence.trend)))) }
            @for call in evidence.calls.iter().take(CALLS) {
                div {
                    dt { "Call" }
                    dd { code { (clipped(call.shown.as_deref().unwrap_or("arguments not known"), MAX_SHOWN)) } }
                }
            }
        }
    }
}

/// Shows what the node of the halted commit did before, and the command that shows the changes themselves.
fn tried(view: &HistoryView, halt: &Halt) -> Markup {
    let place = |head| view.commits.iter().rposition(|commit| commit.commit == head);
    let Some((head, place)) = halt.head.and_then(|head| Some((head, place(head)?))) else { return html! {} };
    let node = |commit: &HistoryCommit| commit.state.record().map(|record| record.node.clone());
    let own = node(&view.commits[place]);
    let step =
        |commit: &HistoryCommit| halt.summary.steps.iter().find(|step| step.commit == Some(commit.commit));
    let stuck = |commit: &&HistoryCommit| step(commit).is_some();
    // Only the stuck part is shown; a halt of an earlier version does not name it.
    let is_known = view.commits[..=place].iter().any(|commit| stuck(&commit));
    let own = |commit: &&HistoryCommit| if is_known { stuck(commit) } else { node(commit) == own };
    let mut shown: Vec<&HistoryCommit> = view.commits[..=place]
        .iter()
        .rev()
        .filter(own)
        .take(if is_known { usize::MAX } else { BEFORE })
        .collect();
    shown.reverse();
    let letter = |commit: &HistoryCommit| step(commit).and_then(SummaryStep::letter);
    html! {
        h3 { "What was tried" }
        div.wide tabindex="0" role="region" aria-label={ "What was tried before " (head.short()) } {
            table.tried {
                thead { tr { @for name in ["Commit", "Subject", "Tests", "Change"] { th scope="col" { (name) } } } }
                tbody { @for commit in &shown { (attempt(commit, letter(commit))) } }
            }
        }
        (look(&Hint::LogNewest.with([&shown.len().to_string(), &head.short()])))
    }
}

fn attempt(commit: &HistoryCommit, letter: Option<char>) -> Markup {
    let record = commit.state.record();
    let run = record.and_then(|record| record.tests.as_ref());
    html! {
        tr {
            td {
                @if let Some(letter) = letter { strong class={ "letter l" (letter) } { (letter) } " " }
                a href={ "#c-" (commit.commit.short()) } { code { (commit.commit.short()) } }
            }
            td { (clipped(&commit.subject, 100)) }
            td { (text(&run.map_or_else(|| "no run".to_owned(), phrase::tests))) }
            td { (text(&record.map_or_else(|| "no record".to_owned(), |record| phrase::diff(&record.diff)))) }
        }
    }
}

/// Shows the change that was halted, cut where it is long.
fn change(view: &HistoryView, halt: &Halt) -> Markup {
    let found = halt.head.and_then(|head| Some((head, view.changes.get(&head)?)));
    let found = found.filter(|(_, change)| !change.lines.is_empty());
    html! {
        @if let Some((head, change)) = found {
            @let name = match halt::compared(halt) {
                Some((Some(_), _)) if halt::goes_round(halt) => "From A to B",
                Some((Some(_), _)) => "From the first to the last",
                Some((None, _)) | None => "The halted change",
            };
            h3 { (name) }
            pre.diff tabindex="0" role="region" aria-label={ (name) ", " (head.short()) } { (lines(view, change)) }
            (look(&change.command))
        }
    }
}

/// The lines of a change, with the numbers that they have in their files and where the forge shows them.
fn lines(view: &HistoryView, change: &ShownChange) -> Markup {
    let mut paths = (String::new(), String::new());
    let mut line = |line: &ShownLine| match line {
        ShownLine::File { path, old } => {
            paths = (old.clone().unwrap_or_else(|| path.clone()), path.clone());
            let page = view.forge.file(change.after, path, None);
            html! { span.file { (linked(page, &clipped(&line.to_string(), COLUMNS))) } }
        }
        ShownLine::Removed(number, text) => {
            let page = change.before.and_then(|before| view.forge.file(before, &paths.0, Some(*number)));
            changed("del", "- ", text, &linked(page, &html! { (number) }))
        }
        ShownLine::Added(number, text) => {
            let page = view.forge.file(change.after, &paths.1, Some(*number));
            changed("add", "+ ", text, &linked(page, &html! { (number) }))
        }
        ShownLine::Note(_) => html! { span.file { (line) } },
    };
    html! {
        @for one in &change.lines { (line(one)) }
        @if change.is_cut { span.file { "(cut)" } }
    }
}

/// A line that came or went: they differ by sign and by colour.
fn changed(class: &str, sign: &str, text: &str, number: &Markup) -> Markup {
    html! { span class=(class) { span.line { (number) } (sign) (clipped(text, COLUMNS)) } }
}

/// Shows what to do, with its command as one to be copied.
fn hint(action: &str) -> Markup {
    let action = clip(action, ACTION);
    let (words, run, rest) = command_of(&action);
    html! { (text(words)) @if !run.is_empty() { (command(run)) } (text(rest)) }
}

fn answer(ack: Option<&Ack>) -> Markup {
    html! {
        @if let Some(ack) = ack {
            (time(ack.at)) " " (text(&phrase::acknowledged(ack)))
            @if !ack.reason.is_empty() { ": " q { (clipped(&ack.reason, 1000)) } }
        } @else {
            "No answer yet: " (command(Hint::Answer.text()))
        }
    }
}
