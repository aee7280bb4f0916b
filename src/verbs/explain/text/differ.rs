//! Why two reports are not the same to Andon.

use std::collections::BTreeMap;

use andon_core::escape::terminal_clip;
use andon_engine::text::page::Page;

use super::{COLUMNS, ExplainedRun, FAILURES, lines, more};

/// A file's name and what it says.
type NamedText<'a> = (&'a str, &'a ExplainedRun);

/// The normalized error of each failure by its test; the run itself has no name.
fn errors(run: &ExplainedRun) -> BTreeMap<&str, Option<&str>> {
    let of = run.failures.iter();
    of.map(|failure| (failure.test.as_deref().unwrap_or_default(), failure.text.as_deref())).collect()
}

/// Shows what differs between two runs, from the coarse to the fine.
pub(super) fn differences(page: &mut Page, (one, first): NamedText<'_>, (two, second): NamedText<'_>) {
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
pub(super) fn changed<'a>(before: &'a str, after: &'a str) -> (Vec<&'a str>, Vec<&'a str>) {
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
