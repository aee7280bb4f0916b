//! What a person asks first: is it running, why not, since when, and what to do.

use super::markup::Html;
use super::{counted, derived, log_command};
use crate::view::history::HistoryView;
use crate::view::status::{LoopState, StatusView, TestsOf};
use andon_core::domain::facts::Gate;
use andon_core::escape::shell_quote;
use andon_engine::text::{phrase, report_file, spark};

/// The state in a word or two.
fn word(state: LoopState) -> &'static str {
    match state {
        LoopState::Idle => "Idle",
        LoopState::Running => "Running",
        LoopState::Halted => "Halted",
        LoopState::Stopped => "Stopped",
        LoopState::Paused => "Paused",
        LoopState::NotInstalled => "Not installed",
        LoopState::HooksGone => "Hooks are gone",
        LoopState::Disabled => "Switched off",
    }
}

fn class(state: LoopState) -> &'static str {
    match state {
        LoopState::Halted | LoopState::Stopped | LoopState::HooksGone => "bad",
        LoopState::Paused | LoopState::NotInstalled | LoopState::Disabled => "warn",
        LoopState::Running => "ok",
        LoopState::Idle => "none",
    }
}

/// The state, as the name of the page.
pub(super) fn title(view: &HistoryView) -> &'static str {
    view.now.as_ref().map_or("Not known", |now| word(now.state))
}

pub(super) fn section(html: &mut Html, view: &HistoryView) {
    if let Some(now) = &view.now {
        state(html, view, now);
    } else {
        html.raw("<p class=brand>Andon</p>\n<h1><span class=\"state warn\">Not known</span></h1>\n");
        html.raw("<p class=do>Where the loop stands could not be found out: ").command("andon doctor");
        html.raw("</p>\n");
    }
    tiles(html, view);
}

fn state(html: &mut Html, view: &HistoryView, now: &StatusView) {
    html.raw("<p class=brand>Andon</p>\n<h1><span class=\"state ").raw(class(now.state)).raw("\">");
    html.raw(word(now.state)).raw("</span> <span class=badge>").text(&now.badge()).raw("</span></h1>\n");
    why(html, now);
    what_to_do(html, now);
    html.raw("<dl class=place>");
    field(html, "Branch", now.branch.as_deref().unwrap_or("detached HEAD"));
    field(html, "HEAD", &now.head.map_or_else(|| "no commit yet".to_owned(), |head| head.short()));
    field(html, "Worktree", &now.worktree);
    field(html, "Node", &now.node);
    if let Some(session) = &now.session {
        field(html, "Session", session);
    }
    field(html, "Range", &view.range);
    html.raw("</dl>\n");
    if now.trend.len() > 1 {
        html.raw("<p>Failing tests of this run: ").text(&spark::trend(&now.trend)).raw("</p>\n");
        derived(html, "andon status");
    }
}

fn field(html: &mut Html, name: &'static str, value: &str) {
    html.raw("<div><dt>").raw(name).raw("</dt><dd>").clipped(value, 100).raw("</dd></div>");
}

/// Why it stands, since when.
fn why(html: &mut Html, now: &StatusView) {
    if let Some(gone) = &now.hooks_gone {
        html.raw("<p>").clipped(&gone.what, 300).raw("</p>\n");
    }
    let standing = now.last_halt.as_ref().filter(|last| last.ack.is_none());
    let Some(last) = standing.filter(|_| now.state.waits_for_a_person()) else { return };
    html.raw("<p class=why><strong>").raw(phrase::reason(last.halt.reason)).raw("</strong> (");
    html.clipped(&last.halt.rule, 100).raw("): ").clipped(&last.halt.message, 1000);
    html.raw("</p>\n<p>Since ").time(last.halt.at).raw(", iteration ").number(last.halt.iteration);
    html.raw(". <a href=\"#h-halts\">What led to it</a></p>\n");
}

/// The command of the one who reads.
fn what_to_do(html: &mut Html, now: &StatusView) {
    let resume = "andon resume --reason \"...\"";
    html.raw("<p class=do>");
    match now.state {
        LoopState::Halted | LoopState::Stopped | LoopState::Paused => {
            let file = now.last_halt.as_ref().map(|last| report_file::path(last.halt.report_file));
            if let Some(file) = file.filter(|_| now.state == LoopState::Halted) {
                html.raw("Read <code>").text(&file).raw("</code>, decide, then run ");
            } else {
                html.raw("Decide, then run ");
            }
            html.command(resume);
        }
        LoopState::NotInstalled => {
            html.raw("Nothing is guarded: ").command("andon install");
        }
        LoopState::HooksGone => {
            html.raw("Commits are neither checked nor recorded: ");
            html.command(now.hooks_gone.as_ref().map_or("andon install", |gone| gone.help.as_str()));
        }
        LoopState::Disabled => {
            html.raw("The variable <code>ANDON=0</code> is set.");
        }
        LoopState::Running | LoopState::Idle => {
            html.raw("Nothing waits for a person here.");
        }
    }
    html.raw("</p>\n");
}

/// Figures at a glance, each with the command that derives it again.
fn tiles(html: &mut Html, view: &HistoryView) {
    let records = view.commits.iter().filter_map(|commit| commit.state.record());
    let bypassed = records.clone().filter(|record| record.gate == Gate::Bypassed).count();
    let skipped: usize = records.clone().map(|record| record.skipped.len()).sum();
    let standing = view.halts.iter().filter(|last| last.ack.is_none()).count();
    html.raw("<dl class=tiles>\n<div><dt>Tests of HEAD</dt><dd>")
        .text(&view.now.as_ref().map_or_else(|| "not known".to_owned(), tests))
        .raw("</dd><dd>");
    html.command("andon status").raw("</dd></div>\n<div><dt>Commits</dt><dd>").count(view.commits.len());
    html.raw(", ").count(records.count()).raw(" recorded</dd><dd>").command(&log_command(view));
    html.raw("</dd></div>\n<div><dt>Halts</dt><dd>").count(view.halts.len());
    if standing > 0 {
        html.raw(", ").count(standing).raw(" unanswered");
    }
    html.raw("</dd><dd>")
        .command("andon log --events")
        .raw("</dd></div>\n<div><dt>Rules passed over</dt><dd>");
    html.count(skipped).raw(" skipped, ").count(bypassed).raw(" bypassed</dd><dd>");
    html.command(&format!("andon check {}", shell_quote(&view.range))).raw("</dd></div>\n</dl>\n");
    if view.left_out > 0 {
        html.raw("<p>");
        counted(html, view.left_out, "older commit");
        html.raw(" of the range not shown.</p>\n");
    }
}

fn tests(now: &StatusView) -> String {
    match &now.head_tests {
        TestsOf::Ran(evidence) => phrase::tests(evidence),
        TestsOf::Void(run) => format!("a run that proves nothing: {}", phrase::void(run.validity)),
        TestsOf::OtherCode(evidence) => format!("ran on other code: {}", phrase::tests(evidence)),
        TestsOf::NeverRan => "never ran on this code".to_owned(),
        TestsOf::Nothing => "no commit yet".to_owned(),
        TestsOf::Unknown => "not known".to_owned(),
    }
}
