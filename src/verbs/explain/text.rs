//! `andon explain`: what a report was read as, how its failures became what is compared, and why two reports
//! differ.
//!
//! Reports are untrusted and may be huge: every line is escaped and clipped, every list is cut.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{ExplainedFile, ExplainedRun};
use andon_core::{detect::Rule, domain::TestEvidence, escape::terminal_clip};
use andon_engine::text::{Page, Style, phrase};
use testreport::{Change, FailureTrace};

/// Failures that are shown step by step in the text.
const FAILURES: usize = 32;
/// Lines of one text, or of one side of a change.
const LINES: usize = 12;
/// Columns of a line.
const COLUMNS: usize = 160;
/// Failures that JSON has in full.
const JSON_FAILURES: usize = 128;

/// The files for a person; of two files, why they differ. Files that cannot be read are left to the messages.
pub fn text(files: &[ExplainedFile], style: Style) -> String {
    let mut page = Page::new(style);
    for file in files {
        if let Ok(run) = &file.read {
            page.heading(&terminal_clip(&file.name, COLUMNS));
            summary(&mut page, run);
            for failure in run.failures.iter().take(FAILURES) {
                trace(&mut page, failure);
            }
            more(&mut page, run.failures.len(), FAILURES, "failure");
        }
    }
    if let [ExplainedFile { name: one, read: Ok(first) }, ExplainedFile { name: two, read: Ok(second) }] =
        files
    {
        differences(&mut page, (one, first), (two, second));
    }
    page.finish()
}

/// The rules for a person: when each trips, and the excuses that lessen its findings.
pub fn rules(rules: &[&Rule], style: Style) -> String {
    let mut page = Page::new(style);
    for rule in rules {
        page.heading(rule.id);
        page.field("trips", rule.summary());
        page.field("level", &format!("{}, {}", rule.level.as_str(), rule.reason.as_str()));
        let docs = rule.docs();
        for (title, text) in [("when", docs.trips), ("why", docs.why), ("example", docs.example)] {
            page.blank();
            page.line(&format!("  {}", page.style.bold(title)));
            text.lines().for_each(|line| page.wrap("  ", line, "  "));
        }
        page.blank();
        page.line(&format!("  {}", page.style.bold("excuses")));
        for excuse in rule.excuses() {
            page.wrap("  ", &format!("- {}: {}", excuse.name, excuse.meaning), "    ");
        }
        if rule.excuses().next().is_none() {
            page.line("  none");
        }
    }
    page.finish()
}

fn summary(page: &mut Page, run: &ExplainedRun) {
    let evidence = &run.evidence;
    let result = phrase::by_result(evidence, &phrase::tests(evidence), page.style);
    let counts = evidence.counts();
    page.field("read as", &terminal_clip(&evidence.runner, COLUMNS));
    page.field("status", &format!("{}: {result}", evidence.status.as_str()));
    page.field(
        "counts",
        &format!(
            "{} total, {} passed, {} failed, {} errored, {} skipped",
            counts.total, counts.passed, counts.failed, counts.errored, counts.skipped
        ),
    );
    page.field("signature", &evidence.signature.to_string());
    page.fields("errors", evidence.errors.map(|errors| errors.to_string()));
    page.fields("coarse", run.coarse.map(|errors| errors.to_string()));
    for warning in run.warnings.iter().take(LINES) {
        let warning = page.style.yellow(&terminal_clip(warning, phrase::MESSAGE));
        page.field("warning", &warning);
    }
}

fn more(page: &mut Page, all: usize, shown: usize, noun: &str) {
    let left = all.saturating_sub(shown);
    if left > 0 {
        page.line(&format!("  and {} more", phrase::count(left, noun)));
    }
}

fn trace(page: &mut Page, failure: &FailureTrace) {
    page.blank();
    let name = failure.test.as_deref().map_or("the run itself", |test| test);
    let name = page.style.bold(&terminal_clip(name, COLUMNS));
    page.line(&format!("  {name}"));
    if let Some(id) = failure.id.as_deref().filter(|id| Some(*id) != failure.test.as_deref()) {
        page.line("    id as it came");
        block(page, ' ', id);
        changes(page, id, &failure.id_changes);
    }
    let Some(error) = &failure.error else {
        page.line("    no error text");
        return;
    };
    page.line("    error as it came");
    block(page, ' ', error);
    changes(page, error, &failure.error_changes);
    if !failure.error_changes.is_empty() {
        page.line("    error as it counts");
        block(page, '=', failure.text.as_deref().unwrap_or_default());
    }
}

fn changes(page: &mut Page, original: &str, changes: &[Change]) {
    let mut before = original;
    for change in changes {
        let why = page.style.dim(&format!(": {}", terminal_clip(&change.why, COLUMNS)));
        page.line(&format!("    {}{why}", terminal_clip(&change.rule, COLUMNS)));
        let (gone, come) = changed(before, &change.text);
        lines(page, '-', &gone);
        lines(page, '+', &come);
        before = &change.text;
    }
}

fn block(page: &mut Page, mark: char, text: &str) {
    lines(page, mark, &text.lines().collect::<Vec<_>>());
}

/// Lines under a mark, escaped and cut.
fn lines(page: &mut Page, mark: char, lines: &[&str]) {
    for line in lines.iter().take(LINES) {
        page.line(&format!("      {mark} {}", terminal_clip(line, COLUMNS)));
    }
    let left = lines.len().saturating_sub(LINES);
    if left > 0 {
        page.line(&format!("      {mark} ... {}", phrase::count(left, "line")));
    }
}

/// One object a file. Of one that cannot be read all but `file` and `error` are `null`.
pub fn json(files: &[ExplainedFile]) -> Vec<Value> {
    files.iter().map(file_json).collect()
}

fn file_json(file: &ExplainedFile) -> Value {
    let (run, unread) = (file.read.as_ref().ok(), file.read.as_ref().err());
    let evidence = run.map(|run| &run.evidence);
    let counts = evidence.map(TestEvidence::counts);
    let failures =
        run.map(|run| run.failures.iter().take(JSON_FAILURES).map(failure_json).collect::<Vec<_>>());
    json!({
        "file": file.name,
        "error": unread.map(|unread| json!({ "name": unread.name, "message": unread.message })),
        "format": evidence.map(|evidence| &evidence.runner),
        "status": evidence.map(|evidence| evidence.status.as_str()),
        "total": counts.map(|counts| counts.total),
        "passed": counts.map(|counts| counts.passed),
        "failed": counts.map(|counts| counts.failed),
        "errored": counts.map(|counts| counts.errored),
        "skipped": counts.map(|counts| counts.skipped),
        "failing": evidence.map(|evidence| &evidence.failing),
        "truncated": evidence.map(|evidence| evidence.truncated),
        // `signature` and `errors` are what records hold, `coarse` the error fingerprint without digits.
        "signature": evidence.map(|evidence| evidence.signature),
        "errors": evidence.and_then(|evidence| evidence.errors),
        "coarse": run.and_then(|run| run.coarse),
        "failures": failures,
        "warnings": run.map(|run| &run.warnings),
    })
}

fn failure_json(failure: &FailureTrace) -> Value {
    let rules = |changes: &[Change]| changes.iter().map(|change| json!(change.rule)).collect::<Value>();
    json!({
        "test": failure.test,
        "text": failure.text,
        "coarse": failure.coarse(),
        "id_as_it_came": failure.id,
        "error_as_it_came": failure.error,
        "id_rules": rules(&failure.id_changes),
        "error_rules": rules(&failure.error_changes),
    })
}

/// A file's name and what it says.
type NamedText<'a> = (&'a str, &'a ExplainedRun);

/// The normalized error of each failure by its test; the run itself has no name.
fn errors(run: &ExplainedRun) -> BTreeMap<&str, Option<&str>> {
    let of = run.failures.iter();
    of.map(|failure| (failure.test.as_deref().unwrap_or_default(), failure.text.as_deref())).collect()
}

/// Shows what differs between two runs, from the coarse to the fine.
fn differences(page: &mut Page, (one, first): NamedText<'_>, (two, second): NamedText<'_>) {
    page.heading("why they differ");
    let (a, b) = (&first.evidence, &second.evidence);
    if a.signature == b.signature && a.errors == b.errors {
        let word = page.style.green("they do not");
        page.line(&format!("  {word}: the same tests fail with the same errors"));
        return;
    }
    let labels =
        [("read as", a.runner.as_str(), b.runner.as_str()), ("status", a.status.as_str(), b.status.as_str())];
    for (label, was, is) in labels {
        if was != is {
            page.field(label, &format!("{} / {}", terminal_clip(was, 60), terminal_clip(is, 60)));
        }
    }
    only_in(page, one, &a.failing, &b.failing);
    only_in(page, two, &b.failing, &a.failing);
    if a.failing == b.failing {
        page.line("  the same tests fail");
    }
    other_errors(page, first, second);
}

fn only_in(page: &mut Page, name: &str, here: &[String], there: &[String]) {
    let only: Vec<&str> =
        here.iter().filter(|id| there.binary_search(id).is_err()).map(String::as_str).collect();
    if !only.is_empty() {
        page.line(&format!("  failing only in {}", terminal_clip(name, COLUMNS)));
        lines(page, ' ', &only);
    }
}

fn other_errors(page: &mut Page, first: &ExplainedRun, second: &ExplainedRun) {
    let (here, there) = (errors(first), errors(second));
    let differ: Vec<_> = here
        .iter()
        .filter_map(|(test, was)| there.get(test).map(|is| (*test, *was, *is)))
        .filter(|(_, was, is)| was != is)
        .collect();
    for (test, was, is) in differ.iter().take(FAILURES) {
        let test = if test.is_empty() { "the run itself" } else { test };
        page.line(&format!("  another error in {}", terminal_clip(test, COLUMNS)));
        let (gone, come) = changed(was.unwrap_or_default(), is.unwrap_or_default());
        lines(page, '-', &gone);
        lines(page, '+', &come);
    }
    more(page, differ.len(), FAILURES, "error");
    if first.coarse == second.coarse && first.evidence.errors != second.evidence.errors {
        page.line("  the errors differ in their digits only");
    }
}

/// The lines that differ: of texts with as many lines each line for itself, of others what is not the same at the
/// beginning and the end.
fn changed<'a>(before: &'a str, after: &'a str) -> (Vec<&'a str>, Vec<&'a str>) {
    let (gone, come): (Vec<&str>, Vec<&str>) = (before.split('\n').collect(), after.split('\n').collect());
    if gone.len() == come.len() {
        return gone.into_iter().zip(come).filter(|(one, two)| one != two).unzip();
    }
    let head = gone.iter().zip(&come).take_while(|(one, two)| one == two).count();
    let (gone, come) = (gone.get(head..).unwrap_or_default(), come.get(head..).unwrap_or_default());
    let tail = gone.iter().rev().zip(come.iter().rev()).take_while(|(one, two)| one == two).count();
    let without = |lines: &[&'a str]| lines.iter().take(lines.len().saturating_sub(tail)).copied().collect();
    (without(gone), without(come))
}

#[cfg(test)]
mod tests;
