//! `andon check` in the forms that forges and their actions read: SARIF, JUnit, workflow commands of GitHub, code quality
//! of GitLab, and Markdown for a pull request. All are made of one [`CheckReport`], and each escapes what its reader obeys.

pub mod forge;
pub mod markdown;
pub mod sarif;

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use super::text::Group;
use andon_core::domain::{Diagnostic, Digest, Level, Severity};
use andon_core::escape;
use andon_engine::{text::phrase, view::CheckReport};

/// Readers of SARIF and of code quality show a result at a file and drop what has none. A commit is no file: the
/// configuration that judged it takes its place where the finding names none.
const ANCHOR: &str = "andon.toml";
/// Results in one file. GitHub refuses a run of 25,000 and shows the gravest 5,000.
const RESULTS: usize = 5_000;
/// Columns of one text within a result.
const TEXT: usize = 4_000;
/// A name for the outcome of the whole, where a reader wants one.
const WHOLE: &str = "andon check";

/// One message with an id that is the same in every run.
struct Entry<'a> {
    what: &'a Diagnostic,
    severity: Severity,
    /// Equal in the next run, on a rebased branch too: made of code, subject and how many of the same came before.
    fingerprint: Digest,
}

/// The entries of a file of results, gravest first, and the number of those left out.
fn entries(report: &CheckReport) -> (Vec<Entry<'_>>, usize) {
    let violations = report.violations.iter().filter(|one| one.level > Level::Off);
    let mut all: Vec<_> = violations.chain(&report.undecided).chain(&report.warnings).collect();
    all.sort_by_key(|one| std::cmp::Reverse(Severity::from(one.level)));
    let more = all.len().saturating_sub(RESULTS);
    let mut before: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let shown = all.into_iter().take(RESULTS).map(|what| {
        let nth = before.entry(subject(what)).or_default();
        *nth += 1;
        Entry { what, severity: what.level.into(), fingerprint: fingerprint(what, *nth) }
    });
    (shown.collect(), more)
}

/// The subject of a message, without the commit ids and counts in its words.
fn subject(what: &Diagnostic) -> (&str, &str) {
    let about = what.commit().map_or(what.message.as_str(), |commit| commit.subject.as_str());
    (code(what), about)
}

fn fingerprint(what: &Diagnostic, nth: usize) -> Digest {
    let (code, about) = subject(what);
    Digest(Sha256::digest(format!("{code}\0{nth}\0{about}")).into())
}

/// The code in the brackets of the text; a message of `check` has it.
fn code(what: &Diagnostic) -> &str {
    what.code.as_deref().unwrap_or("andon")
}

/// The file of a message, for readers that want one.
fn place(what: &Diagnostic) -> String {
    plain(what.file.as_deref().unwrap_or(ANCHOR))
}

/// A text of a stranger on one line, its hidden characters visible, bounded.
fn plain(text: &str) -> String {
    escape::terminal_clip(text, TEXT)
}

/// `a1b2c3d4e5f6 Subject`, of a message about a commit.
fn commit(what: &Diagnostic) -> Option<String> {
    what.commit().map(|at| plain(&format!("{} {}", at.commit.short(), at.subject)))
}

/// The message, the commit it is about and its hints, a line each.
fn lines(what: &Diagnostic) -> Vec<String> {
    let help = what.help.iter().map(|help| plain(&format!("help: {help}")));
    std::iter::once(plain(&what.message)).chain(commit(what)).chain(help).collect()
}

#[cfg(test)]
mod samples {
    use andon_core::domain::{CommitRef, Diagnostic, Level, Location};
    use andon_engine::view::{CheckReport, check::SKIPPED_RULE};
    use andon_testkit::samples::{self, HOSTILE};

    /// Text that each reader would obey: ends of commands, tags, tables, links, control characters, ends of lines.
    pub(super) const TRAP: &str =
        "100%\r\n::error::x ##[error]y,z ]]> \"'</failure>&amp; a|b [c](d)\u{0}\u{b}\u{fffe}\u{202e}";

    pub(super) fn about(byte: u8, code: &str, level: Level) -> Diagnostic {
        let commit = CommitRef { commit: samples::commit(byte), subject: format!("Change {byte}") };
        Diagnostic::new(level, format!("about {code}"))
            .code(code)
            .at(Location::Commit(commit))
            .help("andon sync")
    }

    pub(super) fn report(violations: Vec<Diagnostic>) -> CheckReport {
        CheckReport {
            range: "main..HEAD".to_owned(),
            configuration: Some(samples::commit(0xab)),
            commits: 12,
            violations,
            ..CheckReport::default()
        }
    }

    /// One of every kind, and hostile texts.
    pub(super) fn hostile() -> CheckReport {
        let subject = format!("{TRAP}{HOSTILE}");
        let commit = CommitRef { commit: samples::commit(3), subject: subject.clone() };
        let mut trap = Diagnostic::error(subject.clone()).code(TRAP).help(subject.clone());
        trap.file = Some(subject.clone().into());
        let mut report = report(vec![
            about(1, SKIPPED_RULE, Level::Warn),
            trap.at(Location::Commit(commit)),
            about(2, "answered-halt", Level::Note),
            about(4, "switched-off", Level::Off),
        ]);
        report.range = subject.clone();
        report.undecided.push(Diagnostic::error(subject.clone()).code("no-records"));
        report.warnings.push(Diagnostic::warning(subject).code("odd"));
        report
    }
}

#[cfg(test)]
mod tests {
    use super::samples::{about, report};
    use super::*;
    use andon_core::domain::{CommitRef, Location};

    #[test]
    fn a_fingerprint_outlives_a_rebase_and_tells_equal_messages_apart() {
        let of = |violations| {
            let report = report(violations);
            entries(&report).0.iter().map(|entry| entry.fingerprint).collect::<Vec<_>>()
        };
        let mut rebased = about(1, "missing-record", Level::Block);
        let Some(Location::Commit(at)) = rebased.location.as_deref() else { unreachable!() };
        let moved = CommitRef { commit: andon_testkit::samples::commit(9), ..at.clone() };
        rebased = rebased.at(Location::Commit(moved));
        let once = of(vec![about(1, "missing-record", Level::Block)]);
        assert_eq!(of(vec![rebased.clone()]), once);
        let twice = of(vec![rebased.clone(), rebased]);
        assert_eq!(twice[0], once[0]);
        assert_ne!(twice[0], twice[1]);
        assert_ne!(of(vec![about(1, "broken-chain", Level::Block)]), once);
    }

    #[test]
    fn the_gravest_results_are_the_ones_that_are_kept() {
        let mut violations = vec![about(1, "hook-bypass", Level::Warn); RESULTS];
        violations.push(about(2, "missing-record", Level::Block));
        let report = report(violations);
        let (kept, more) = entries(&report);
        assert_eq!((kept.len(), more), (RESULTS, 1));
        assert_eq!(code(kept[0].what), "missing-record");
    }
}

/// A group of messages: its text, as many of its commits as `most`, and its hints, a line each as `text` has it.
fn body(group: &Group<'_>, most: usize, text: impl Fn(&str) -> String) -> String {
    let commits = group.commits.iter().take(most);
    let mut lines = vec![text(&group.first.message)];
    lines.extend(commits.map(|at| text(&format!("{} {}", at.commit.short(), at.subject))));
    lines.extend(phrase::and_more(group.commits.len(), most));
    lines.extend(group.first.help.iter().map(|help| text(&format!("help: {help}"))));
    lines.join("\n")
}
