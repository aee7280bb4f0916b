//! What a person looks through after a halt: tests that waver, rules that were passed over, rounds, and what it cost.

use std::collections::BTreeMap;

use super::markup::Html;
use super::{SHOWN, derived, log_command, more};
use crate::view::history::{HistoryCommit, HistoryView};
use andon_core::domain::facts::{CommitRecord, Gate, Recording};
use andon_core::domain::usage::Usage;
use andon_core::escape::shell_quote;
use andon_engine::text::phrase;

fn records(view: &HistoryView) -> impl Iterator<Item = (&HistoryCommit, &CommitRecord)> {
    view.commits.iter().filter_map(|commit| Some((commit, commit.state.record()?)))
}

/// Tests that gave different results on the same code.
pub(super) fn flaky(html: &mut Html, view: &HistoryView) {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, record) in records(view) {
        for test in record.tests.iter().flat_map(|tests| &tests.caveats.flaky) {
            *found.entry(test).or_default() += 1;
        }
    }
    for test in view.now.iter().flat_map(|now| &now.flaky) {
        found.entry(test).or_insert(1);
    }
    html.raw("<section aria-labelledby=h-flaky>\n<h2 id=h-flaky>Flaky tests</h2>\n");
    if found.is_empty() {
        html.raw("<p>No test gave different results on the same code.</p>\n");
    } else {
        let all = found.len();
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_by_key(|(_, commits)| std::cmp::Reverse(*commits));
        html.raw("<ul>\n");
        for (test, commits) in found.into_iter().take(SHOWN) {
            html.raw("<li><code>").clipped(test, 200).raw("</code> at ");
            html.text(&phrase::count(commits, "commit")).raw("</li>\n");
        }
        more(html, all);
        html.raw("</ul>\n");
    }
    derived(html, &log_command(view));
    html.raw("</section>\n");
}

/// Rules that were skipped, gates that were bypassed, commits that nobody watched.
pub(super) fn passed_over(html: &mut Html, view: &HistoryView) {
    let mut lines: Vec<(&HistoryCommit, String)> = Vec::new();
    for (commit, record) in records(view) {
        lines.extend(record.skipped.iter().map(|skip| (commit, format!("skipped {}", phrase::skip(skip)))));
        match (record.gate, record.recording) {
            (Gate::Bypassed, _) => lines.push((commit, "did not pass the gate".to_owned())),
            (Gate::Passed | Gate::NotRun, Recording::CaughtUp) => {
                lines.push((commit, "made while the hooks were off, recorded later".to_owned()));
            }
            (
                Gate::Passed | Gate::NotRun,
                Recording::AtCommit | Recording::Patched | Recording::Backfilled | Recording::Derived,
            ) => {}
        }
    }
    html.raw("<section aria-labelledby=h-skipped>\n<h2 id=h-skipped>Skipped and bypassed</h2>\n");
    if lines.is_empty() {
        html.raw("<p>Nothing was passed over.</p>\n");
    } else {
        html.raw("<ul>\n");
        for (commit, line) in lines.iter().rev().take(SHOWN) {
            html.raw("<li><code>").text(&commit.commit.short()).raw("</code> ").clipped(&commit.subject, 72);
            html.raw(": ").text(line).raw("</li>\n");
        }
        more(html, lines.len());
        html.raw("</ul>\n");
    }
    derived(html, &format!("andon check {}", shell_quote(&view.range)));
    html.raw("</section>\n");
}

/// Questions to people, and what they decided.
pub(super) fn rounds(html: &mut Html, view: &HistoryView) {
    if view.open.is_empty() && view.decided.is_empty() {
        return;
    }
    html.raw("<section aria-labelledby=h-rounds>\n<h2 id=h-rounds>Rounds and resolutions</h2>\n<ul>\n");
    for round in view.open.iter().take(SHOWN) {
        html.raw("<li><strong>").text(&round.status).raw("</strong> since ").time(round.since).raw(": ");
        html.clipped(&round.question, 500)
            .raw(" ")
            .command(&format!("andon review show {}", short(&round.id)));
        if !round.may_answer.is_empty() {
            html.raw(" May answer: ").clipped(&round.may_answer.join(", "), 300).raw(".");
        }
        html.raw("</li>\n");
    }
    more(html, view.open.len());
    for round in view.decided.iter().take(SHOWN) {
        html.raw("<li><strong>")
            .clipped(&round.decision, 60)
            .raw("</strong> (")
            .raw(round.standing)
            .raw(") by ");
        html.clipped(&round.by.join(", "), 200).raw(": ").clipped(&round.question, 500);
        if !round.rationale.is_empty() {
            html.raw(" <q>").clipped(&round.rationale, 500).raw("</q>");
        }
        html.raw(" ").command(&format!("andon review show {}", short(&round.id))).raw("</li>\n");
    }
    more(html, view.decided.len());
    html.raw("</ul>\n");
    derived(html, "andon review precedents");
    html.raw("</section>\n");
}

fn short(id: &str) -> String {
    shell_quote(&id.chars().take(12).collect::<String>())
}

/// Tokens and dollars by node, as far as clients told them.
pub(super) fn costs(html: &mut Html, view: &HistoryView) {
    let mut nodes: BTreeMap<&str, Usage> = BTreeMap::new();
    for (_, record) in records(view) {
        if let Some(usage) = &record.usage {
            nodes.entry(&record.node).or_default().add(usage);
        }
    }
    if nodes.is_empty() {
        return;
    }
    html.raw("<section aria-labelledby=h-costs>\n<h2 id=h-costs>Costs</h2>\n<p>As far as it was told to Andon.</p>\n");
    html.raw("<div class=wide tabindex=0 role=region aria-labelledby=h-costs>\n<table>\n<thead><tr><th scope=col>Node");
    html.raw(
        "<th scope=col>Tokens read<th scope=col>Tokens written<th scope=col>US dollars</thead>\n<tbody>\n",
    );
    for (node, usage) in nodes.iter().take(SHOWN) {
        html.raw("<tr><td>").clipped(node, 60);
        for tokens in [usage.input_tokens, usage.output_tokens] {
            html.raw("<td class=num>")
                .text(&tokens.map_or_else(|| "-".to_owned(), |tokens| tokens.to_string()));
        }
        html.raw("<td class=num>").clipped(usage.cost_usd.as_deref().unwrap_or("-"), 30).raw("\n");
    }
    html.raw("</tbody>\n</table>\n</div>\n");
    derived(html, &log_command(view));
    html.raw("</section>\n");
}
