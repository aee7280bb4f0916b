//! Lists for a person who looks into a halt: flaky tests, rules that were skipped, rounds, and costs.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{self as markup, SHOWN, clipped, command, more, text, time};
use andon_core::domain::facts::{CommitRecord, Gate, Recording};
use andon_core::domain::usage::Usage;
use andon_core::escape::shell_quote;
use andon_engine::text::phrase;
use andon_engine::view::history::{HistoryCommit, HistoryView};

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
    let show = |id: &str| command(&format!("andon review show {}", short(id)));
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
