//! RSpec's progress and documentation formatters.
//!
//! Failures are listed under their full descriptions; the list after the summary names the files. The lines in that
//! list move with the code, so an id is the file and the description.

use super::Summary;
use super::sessions::{Explanations, Sessions, number_first, sum, whole_number};
use crate::words::{PHRASES, RUNNERS};
use crate::{Counts, WordList, tally::Trouble};

/// Whatever a summary counts.
const NAMES: WordList = WordList::section(RUNNERS, "rspec summary");
/// Beginnings of lines that hold no marks.
const SAID: WordList = WordList::section(PHRASES, "lines of RSpec beside its marks");

/// The owner of the lines that come now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Part {
    #[default]
    Other,
    /// After `Failures:`
    Failures,
    /// After `An error occurred while loading ./spec/a_spec.rb.`
    Loading,
    /// After the summary: `rspec ./spec/a_spec.rb:3 # Calc adds`
    Names,
}

/// Reads RSpec's text.
#[derive(Default)]
pub(super) struct RspecReader {
    part: Part,
    texts: Explanations,
    /// Errors outside of examples.
    loading: Explanations,
    /// Marks of the progress formatter, one for each example that ended. Something else that was printed may have taken some.
    marks: u64,
    is_unclear: bool,
}

impl RspecReader {
    fn summary(&mut self, sessions: &mut Sessions, list: &[(&str, u64)]) {
        for (file, text) in self.loading.unclaimed() {
            sessions.pending.run_error(&format!("{file}: {text}"));
        }
        let failed = sum(list, &["failure", "failures"]);
        let skipped = sum(list, &["pending"]);
        let total = sum(list, &["example", "examples"]);
        if list.iter().any(|(name, _)| name.ends_with("occurred outside of examples")) {
            sessions.pending.trouble(Trouble::GaveUp);
        } else if total == 0 {
            sessions.pending.trouble(Trouble::NoTests);
        } else if !self.is_unclear && (1..total).contains(&self.marks) {
            // An example that ends the process is counted, and those after it are not.
            sessions.pending.trouble(Trouble::Incomplete);
        }
        // Of several processes, the marks of all may come before the first summary.
        self.marks = self.marks.saturating_sub(total);
        let passed = total.saturating_sub(failed.saturating_add(skipped));
        sessions.summary(Counts { total: 0, passed, failed, errored: 0, skipped });
        self.texts.end();
        self.part = Part::Names;
    }

    fn in_failures(&mut self, line: &str) {
        if let Some(description) = numbered(line) {
            self.texts.begin(description);
        } else if line.starts_with("Finished in ") {
            self.texts.end();
            self.part = Part::Other;
        } else if !line.trim_start().starts_with("# ") {
            self.texts.line(line.strip_prefix("     ").unwrap_or(line));
        }
    }

    /// `rspec ./spec/calc_spec.rb:4 # Calc adds`, or `rspec './spec/calc_spec.rb[1:2]' # Calc adds`
    fn in_names(&mut self, sessions: &mut Sessions, line: &str) {
        let Some((place, description)) = line.strip_prefix("rspec ").and_then(|rest| rest.split_once(" # "))
        else {
            return;
        };
        let place = place.trim_matches('\'');
        let file = place.rsplit_once(':').map_or(place, |(file, _)| file);
        let file = file.split_once('[').map_or(file, |(file, _)| file);
        let text = self.texts.claim(description);
        let file = file.strip_prefix("./").unwrap_or(file);
        sessions.closed.fail(&format!("{file}::{description}"), text.as_deref());
    }

    fn mark(&mut self, line: &str) {
        if line.trim().is_empty() || SAID.begins(line) {
            return;
        }
        self.is_unclear |= !line.bytes().all(|one| b".F*".contains(&one));
        self.marks = self.marks.saturating_add(u64::try_from(line.len()).unwrap_or(u64::MAX));
    }

    /// Notes the failures that the list after the summary did not name.
    fn unnamed(&mut self, sessions: &mut Sessions) {
        if self.part == Part::Names {
            for (description, text) in self.texts.unclaimed() {
                sessions.closed.fail(&description, Some(&text));
            }
        }
    }
}

impl Summary for RspecReader {
    fn line(&mut self, sessions: &mut Sessions, line: &str) {
        if let Some(list) = summary_line(line) {
            return self.summary(sessions, &list);
        }
        if line == "Failures:" {
            self.unnamed(sessions);
            self.part = Part::Failures;
            return;
        }
        let loading = line.strip_prefix("An error occurred while loading ");
        if let Some(file) = loading.and_then(|rest| rest.strip_suffix('.')) {
            self.loading.begin(file);
            self.part = Part::Loading;
            return;
        }
        match self.part {
            Part::Other => self.mark(line),
            Part::Failures => self.in_failures(line),
            Part::Loading if line.starts_with("# ") || line.starts_with("Finished in ") => self.loading.end(),
            Part::Loading if line.trim().is_empty() => {}
            Part::Loading => self.loading.line(line),
            Part::Names => {
                self.mark(line);
                self.in_names(sessions, line);
            }
        }
    }

    fn end(&mut self, sessions: &mut Sessions) {
        self.unnamed(sessions);
    }
}

/// `3 examples, 1 failure, 1 pending, 1 error occurred outside of examples`
fn summary_line(line: &str) -> Option<Vec<(&str, u64)>> {
    if !line.contains(" example") {
        return None;
    }
    let list = number_first(line, ", ", NAMES)?;
    let has = |first: &str| list.iter().any(|(name, _)| name.starts_with(first));
    (has("example") && has("failure")).then_some(list)
}

/// `  1) Calc adds`
fn numbered(line: &str) -> Option<&str> {
    let (number, description) = line.strip_prefix("  ")?.split_once(") ")?;
    (!number.is_empty()).then(|| whole_number(number)).flatten().map(|_| description)
}

#[cfg(test)]
mod tests;
