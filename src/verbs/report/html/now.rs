//! The first questions of a person: is it running, why not, since when, and what to do.
//!
//! Lists for a person who looks into a halt: flaky tests, rules that were skipped, rounds, and costs.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{self as markup, SHOWN, clipped, command, field, linked, log_command, more, text, time};
use andon_core::domain::{CommitRecord, Gate, Hint, Presence, Recording, Usage};
use andon_core::escape::shell_quote;
use andon_engine::text::{halt, phrase, report_file, spark};
use andon_engine::view::{HistoryCommit, HistoryView, LoopState, StatusView, TestsOf};

/// The state in a word or two, and its class.
fn word(state: LoopState) -> (&'static str, &'static str) {
    match state {
        LoopState::Idle => ("Idle", "none"),
        LoopState::Running => ("Running", "ok"),
        LoopState::Halted => ("Halted", "bad"),
        LoopState::Stopped => ("Stopped", "bad"),
        LoopState::Paused => ("Paused", "warn"),
        LoopState::NotInstalled => ("Not installed", "warn"),
        LoopState::HooksGone => ("Hooks are gone", "bad"),
        LoopState::Disabled => ("Switched off", "warn"),
    }
}

/// The state, as the name of the page.
pub(super) fn title(view: &HistoryView) -> &'static str {
    view.now.as_ref().map_or("Not known", |now| word(now.state).0)
}

pub(super) fn section(view: &HistoryView) -> Markup {
    html! {
        p.brand { "Andon" }
        @if let Some(now) = &view.now {
            (state(view, now))
        } @else {
            h1 { span class="state warn" { "Not known" } }
            p.do { "The state of the loop could not be found out: " (command(Hint::Doctor.text())) }
        }
        (tiles(view))
    }
}

fn state(view: &HistoryView, now: &StatusView) -> Markup {
    let head = now.head.map_or_else(|| "no commit yet".to_owned(), |head| head.short());
    let page = now.head.and_then(|head| view.forge.commit(head));
    let (word, class) = word(now.state);
    let cut = |value: &str| clipped(value, 100);
    html! {
        h1 {
            span class={ "state " (class) } { (word) } " "
            span.badge { (text(&now.count.to_string())) }
        }
        "\n"
        (why(now))
        p.do { (what_to_do(now)) }
        dl.place {
            (field("Branch", &cut(now.branch.as_deref().unwrap_or("detached HEAD"))))
            (field("HEAD", &linked(page, &cut(&head))))
            (field("Worktree", &cut(&now.worktree)))
            @if !now.who.is_empty() { (field("By", &cut(&now.who.join(", ")))) }
            @if let Some(session) = &now.session { (field("Session", &cut(session))) }
            (field("Range", &cut(&view.range)))
        }
        @if now.trend.len() > 1 && now.trend.iter().any(|count| *count > 0) {
            p { "Failing tests of this run: " (text(&spark::trend(&now.trend))) }
        }
    }
}

/// Shows why it is halted, and since when.
fn why(now: &StatusView) -> Markup {
    let unanswered = now.last_halt.as_ref().filter(|last| last.ack.is_none());
    html! {
        @if let Some(gone) = &now.hooks_gone { p { (clipped(&gone.what, 300)) } }
        @if let Some(last) = unanswered.filter(|_| now.state.waits_for_a_person()) {
            p.why {
                strong { (clipped(&halt::headline(&last.halt), 300)) } " (" (clipped(&last.halt.rule, 100)) "): "
                (clipped(&halt::what(&last.halt), 1000))
            }
            @for failing in last.halt.summary.failing.iter().filter(|failing| failing.error.is_some()).take(1) {
                p { code { (clipped(&halt::failing(failing), 500)) } }
            }
            p {
                "Since " (time(last.halt.summary.since.unwrap_or(last.halt.at))) " UTC"
                @for part in halt::effort(&last.halt.summary) { ", " (part) }
                ". " a href={ "#halt-" (last.id.short()) } { "What led to it" }
            }
        }
    }
}

/// The command of the one who reads.
fn what_to_do(now: &StatusView) -> Markup {
    let resume = Hint::Answer.text();
    let file = now.last_halt.as_ref().map(|last| report_file::path(last.halt.report_file));
    match (now.state, file) {
        (LoopState::Halted, Some(file)) if now.report == Presence::Present => html! {
            "Read " code { (text(&file)) } ", decide, then run " (command(resume))
        },
        (LoopState::Halted | LoopState::Stopped | LoopState::Paused, _) => html! {
            "Decide, then run " (command(resume))
        },
        (LoopState::NotInstalled, _) => html! { "Nothing is guarded: " (command(Hint::Install.text())) },
        (LoopState::HooksGone, _) => html! {
            "Commits are neither checked nor recorded: "
            (command(now.hooks_gone.as_ref().map_or(Hint::Install.text(), |gone| gone.help.as_str())))
        },
        (LoopState::Disabled, _) => html! { "The variable " code { "ANDON=0" } " is set." },
        (LoopState::Running | LoopState::Idle, _) if failing(now) => html! {
            "No halt waits for a person; the tests of HEAD fail."
        },
        (LoopState::Running | LoopState::Idle, _) => html! { "Nothing waits for a person here." },
    }
}

/// Figures at a glance, each with the command that derives it again.
fn tiles(view: &HistoryView) -> Markup {
    let records: Vec<_> = view.commits.iter().filter_map(|commit| commit.state.record()).collect();
    let bypassed = records.iter().filter(|record| record.gate == Gate::Bypassed).count();
    let skipped: usize = records.iter().map(|record| record.skipped.len()).sum();
    let unanswered = view.halts.iter().filter(|last| last.ack.is_none()).count();
    let of_head = view.now.as_ref().map_or_else(|| "not known".to_owned(), tests);
    let of_halts = if unanswered > 0 { format!(", {unanswered} unanswered") } else { String::new() };
    let tile = |name: &str, value: &str, again: &str| {
        html! { div { dt { (name) } dd { (text(value)) } dd { (command(again)) } } "\n" }
    };
    html! {
        dl.tiles {
            (tile("Tests of HEAD", &of_head, Hint::Status.text()))
            (tile("Commits", &format!("{}, {} recorded", view.commits.len(), records.len()), &log_command(view)))
            (tile("Halts", &format!("{}{of_halts}", view.halts.len()), Hint::LogEvents.text()))
            (tile(
                "Rules passed over",
                &format!("{skipped} skipped, {bypassed} bypassed"),
                &Hint::Check.with([&shell_quote(&view.range)]),
            ))
        }
        @if view.left_out > 0 {
            p { (phrase::count(view.left_out, "older commit")) " of the range not shown." }
        }
    }
}

/// True when the tests of HEAD are known to fail.
fn failing(now: &StatusView) -> bool {
    matches!(&now.tests.head, TestsOf::Ran(evidence) if !evidence.is_green())
}

fn tests(now: &StatusView) -> String {
    match &now.tests.head {
        TestsOf::Ran(evidence) => phrase::tests(evidence),
        TestsOf::Void(run) => format!("a run that proves nothing: {}", phrase::void(run.validity)),
        TestsOf::OtherCode(evidence) => format!("ran on other code: {}", phrase::tests(evidence)),
        TestsOf::NeverRan => "never ran on this code".to_owned(),
        TestsOf::Nothing => "no commit yet".to_owned(),
        TestsOf::Unknown => "not known".to_owned(),
    }
}

fn records(view: &HistoryView) -> impl Iterator<Item = (&HistoryCommit, &CommitRecord)> {
    view.commits.iter().filter_map(|commit| Some((commit, commit.state.record()?)))
}

/// Tests that gave different results on the same code.
pub(super) fn flaky(view: &HistoryView) -> Markup {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, record) in records(view) {
        for test in record.tests.iter().flat_map(|tests| &tests.flaky) {
            *found.entry(test).or_default() += 1;
        }
    }
    for test in view.now.iter().flat_map(|now| &now.flaky) {
        found.entry(test).or_insert(1);
    }
    if found.is_empty() {
        return html! {};
    }
    let all = found.len();
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(_, commits)| std::cmp::Reverse(*commits));
    let body = html! {
        ul {
            @for (test, commits) in found.into_iter().take(SHOWN) {
                li { code { (clipped(test, 200)) } " at " (phrase::count(commits, "commit")) }
            }
            (more(all))
        }
    };
    markup::section("h-flaky", "Flaky tests", &body)
}

/// Rules that were skipped and gates that were bypassed. Commits without a record are counted elsewhere on the page.
pub(super) fn passed_over(view: &HistoryView) -> Markup {
    let mut lines: Vec<(&HistoryCommit, String)> = Vec::new();
    for (commit, record) in records(view) {
        lines.extend(record.skipped.iter().map(|skip| (commit, format!("skipped {}", phrase::skip(skip)))));
        if record.gate == Gate::Bypassed {
            lines.push((commit, "bypassed the gate".to_owned()));
        } else if record.recording == Recording::CaughtUp {
            lines.push((commit, "made while the hooks were off, recorded later".to_owned()));
        }
    }
    if lines.is_empty() {
        return html! {};
    }
    let body = html! {
        ul {
            @for (commit, line) in lines.iter().rev().take(SHOWN) {
                li {
                    code { (commit.commit.short()) } " " (clipped(&commit.subject, 72)) ": " (text(line))
                }
            }
            (more(lines.len()))
        }
    };
    markup::section("h-skipped", "Skipped and bypassed", &body)
}

/// Questions to people, and what they decided.
pub(super) fn rounds(view: &HistoryView) -> Markup {
    if view.open.is_empty() && view.decided.is_empty() {
        return html! {};
    }
    let show = |id: &str| command(&Hint::ReviewShow.with([&short(id)]));
    let body = html! {
        ul {
            @for round in view.open.iter().take(SHOWN) {
                li {
                    strong { (text(&round.status)) } " since " (time(round.since)) ": "
                    (clipped(&round.question, 500)) " " (show(&round.id))
                    @if !round.may_answer.is_empty() {
                        " May answer: " (clipped(&round.may_answer.join(", "), 300)) "."
                    }
                }
            }
            (more(view.open.len()))
            @for round in view.decided.iter().take(SHOWN) {
                li {
                    strong { (clipped(&round.decision, 60)) } " (" (round.standing) ") by "
                    (clipped(&round.by.join(", "), 200)) ": " (clipped(&round.question, 500))
                    @if let Some(words) = &round.words { " " q { (clipped(words, 500)) } }
                    @if !round.rationale.is_empty() { " Why: " q { (clipped(&round.rationale, 500)) } }
                    " " (show(&round.round))
                }
            }
            (more(view.decided.len()))
        }
    };
    markup::section("h-rounds", "Rounds and resolutions", &body)
}

fn short(id: &str) -> String {
    shell_quote(&id.chars().take(12).collect::<String>())
}

/// Tokens and dollars by node, as far as clients reported them.
pub(super) fn costs(view: &HistoryView) -> Markup {
    let mut nodes: BTreeMap<&str, Usage> = BTreeMap::new();
    for (_, record) in records(view) {
        if let Some(usage) = &record.usage {
            nodes.entry(&record.node).or_default().add(usage);
        }
    }
    if nodes.is_empty() {
        return html! {};
    }
    let tokens = |count: Option<u64>| count.map_or_else(|| "-".to_owned(), |count| count.to_string());
    let body = html! {
        p { "Only what clients reported." }
        div.wide tabindex="0" role="region" aria-label="Costs of each node" {
            table.costs {
                thead {
                    tr {
                        th scope="col" { "Node" }
                        @for name in ["Tokens read", "Tokens written", "US dollars"] {
                            th.num scope="col" { (name) }
                        }
                    }
                }
                tbody {
                    @for (node, usage) in nodes.iter().take(SHOWN) {
                        tr {
                            td { (clipped(node, 60)) }
                            td.num { (tokens(usage.input_tokens)) }
                            td.num { (tokens(usage.output_tokens)) }
                            td.num { (clipped(usage.cost_usd.as_deref().unwrap_or("-"), 30)) }
                        }
                    }
                }
            }
        }
    };
    markup::section("h-costs", "Costs", &body)
}
