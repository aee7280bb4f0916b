//! `andon explain`: what a report was read as, how its failures became what is compared, and why two reports
//! differ.
//!
//! Reports are untrusted and may be huge: every line is escaped and clipped, every list is cut.

mod differ;

use crate::verbs::explain::view::{ExplainedFile, ExplainedRun};
use testreport::{Change, FailureTrace, UnreadableReport};

use crate::json::{ErrorJson, ExplainedFailureJson, ExplainedJson};
use andon_core::escape::terminal_clip;
use andon_engine::text::page::Page;
use andon_engine::text::phrase;
use andon_engine::text::style::Style;

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
        differ::differences(&mut page, (one, first), (two, second));
    }
    page.finish()
}

fn summary(page: &mut Page, run: &ExplainedRun) {
    let evidence = &run.evidence;
    let result = phrase::tests(evidence);
    let result = if evidence.is_green() { page.style.green(&result) } else { page.style.red(&result) };
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
    for (label, errors) in [("errors", evidence.errors), ("coarse", run.coarse)] {
        if let Some(errors) = errors {
            page.field(label, &errors.to_string());
        }
    }
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
        let (gone, come) = differ::changed(before, &change.text);
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

/// One object a file.
pub fn json(files: &[ExplainedFile]) -> Vec<ExplainedJson<'_>> {
    files.iter().map(file_json).collect()
}

fn file_json(file: &ExplainedFile) -> ExplainedJson<'_> {
    let read = match &file.read {
        Ok(run) => run_json(run),
        Err(UnreadableReport { name, message }) => {
            ExplainedJson { error: Some(ErrorJson { name, message }), ..ExplainedJson::default() }
        }
    };
    ExplainedJson { file: &file.name, ..read }
}

fn run_json(run: &ExplainedRun) -> ExplainedJson<'_> {
    let evidence = &run.evidence;
    let counts = evidence.counts();
    ExplainedJson {
        file: "",
        error: None,
        format: Some(&evidence.runner),
        status: Some(evidence.status.as_str()),
        total: Some(counts.total),
        passed: Some(counts.passed),
        failed: Some(counts.failed),
        errored: Some(counts.errored),
        skipped: Some(counts.skipped),
        failing: Some(&evidence.failing),
        truncated: Some(evidence.truncated),
        signature: Some(evidence.signature),
        errors: evidence.errors,
        coarse: run.coarse,
        failures: Some(run.failures.iter().take(JSON_FAILURES).map(failure_json).collect()),
        warnings: Some(&run.warnings),
    }
}

fn failure_json(failure: &FailureTrace) -> ExplainedFailureJson<'_> {
    fn rules(changes: &[Change]) -> Vec<&str> {
        changes.iter().map(|change| change.rule.as_str()).collect()
    }
    ExplainedFailureJson {
        test: failure.test.as_deref(),
        text: failure.text.as_deref(),
        coarse: failure.coarse(),
        id_as_it_came: failure.id.as_deref(),
        error_as_it_came: failure.error.as_deref(),
        id_rules: rules(&failure.id_changes),
        error_rules: rules(&failure.error_changes),
    }
}

#[cfg(test)]
mod tests;
