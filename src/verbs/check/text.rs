//! `andon check`: the text for CI. One message for each kind of violation, with the commits it concerns, so that a
//! hundred commits without records are one message and not a hundred.

use serde::Serialize;
use serde_json::{Value, json};

use andon_core::domain::{CommitId, CommitRef, Diagnostic, Halt, Level, Severity};
use andon_core::escape::terminal_clip;
use andon_engine::text::{Page, Style, message, phrase};
use andon_engine::view::{CheckOutcome, CheckReport, TipOutcome, TipRun, TipRunSource, TipTests};

/// Commits listed per message in the text; JSON has all.
const COMMITS: usize = 10;

/// Messages that differ in nothing but their commits are shown as one.
pub(crate) struct Group<'a> {
    pub(crate) first: &'a Diagnostic,
    pub(crate) commits: Vec<&'a CommitRef>,
}

impl Group<'_> {
    pub(crate) fn severity(&self) -> Severity {
        self.first.level.into()
    }

    fn takes(&self, other: &Diagnostic) -> bool {
        Severity::from(self.first.level) == Severity::from(other.level)
            && self.first.code == other.code
            && self.first.file == other.file
            && self.first.help == other.help
    }
}

/// Everything that a report says, gravest first.
pub(crate) fn groups(report: &CheckReport) -> Vec<Group<'_>> {
    groups_of(report.violations.iter().chain(&report.undecided).chain(&report.warnings))
}

/// Groups of messages; those that are switched off are left out.
pub(crate) fn groups_of<'a>(items: impl Iterator<Item = &'a Diagnostic>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    // Message and code decide nearly always; the index keeps a hundred thousand violations linear.
    let mut index: std::collections::BTreeMap<(Option<&str>, &str), Vec<usize>> =
        std::collections::BTreeMap::new();
    for item in items.filter(|item| item.level > Level::Off) {
        let known = index.entry((item.code.as_deref(), &item.message)).or_default();
        let at = known.iter().copied().find(|at| groups[*at].takes(item)).unwrap_or_else(|| {
            known.push(groups.len());
            groups.push(Group { first: item, commits: Vec::new() });
            groups.len() - 1
        });
        groups[at].commits.extend(item.commit());
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.severity()));
    groups
}

/// The report for a person; a single line when all is well.
pub fn text(report: &CheckReport, style: Style) -> String {
    let mut page = Page::new(style);
    for group in groups_of(report.violations.iter()).iter().chain(&groups_of(report.undecided.iter())) {
        push(&mut page, group);
    }
    for warning in &report.warnings {
        message::push(&mut page, warning);
    }
    if let Some(tests) = &report.tests {
        page.line(&terminal_clip(&tests_line(tests), 300));
    }
    page.line(&summary(report, style));
    page.finish()
}

fn push(page: &mut Page, group: &Group<'_>) {
    let first = group.first;
    let head = message::head(first.level.into(), first.code.as_deref(), page.style);
    page.wrapped(&format!("{head}: {}", phrase::message(&first.message)));
    for one in group.commits.iter().take(COMMITS) {
        page.line(&format!("  --> {} {}", one.commit.short(), terminal_clip(&one.subject, 60)));
    }
    page.all(phrase::and_more(group.commits.len(), COMMITS).map(|more| format!("  --> {more}")));
    for help in &first.help {
        message::push_help(page, help);
    }
}

fn count(report: &CheckReport, severity: Severity) -> usize {
    let all = report.warnings.iter().chain(&report.violations);
    all.filter(|one| Severity::from(one.level) == severity).count()
}

fn parts(report: &CheckReport) -> Vec<String> {
    let of = |(severity, noun)| match count(report, severity) {
        0 => None,
        number => Some(phrase::count(number, noun)),
    };
    [(Severity::Error, "error"), (Severity::Warning, "warning")].into_iter().filter_map(of).collect()
}

/// `2 errors, 1 warning`; empty when there is neither.
pub(crate) fn counted(report: &CheckReport) -> String {
    parts(report).join(", ")
}

/// The outcome of the tests at the tip, on one line.
pub(crate) fn tests_line(tests: &TipTests) -> String {
    let runs: Vec<String> = tests.runs.iter().map(run_words).collect();
    format!("tests of the tip, {}: {}", tests.tip.short(), runs.join("; "))
}

fn run_words(run: &TipRun) -> String {
    let TipRun { command, .. } = run;
    let figures = run.evidence.as_ref().filter(|tests| !tests.is_by_exit_code()).map(|tests| {
        let counts = tests.counts();
        format!(" ({} passed, {} failing)", counts.passed, counts.failing())
    });
    let figures = figures.unwrap_or_default();
    let by = if run.by == TipRunSource::Ci { "handed in, " } else { "" };
    let what = match &run.outcome {
        TipOutcome::Passed | TipOutcome::Failed => figures,
        TipOutcome::Unknown(why) => format!(", {why}"),
    };
    format!("{}{what}, {by}{command}", outcome_word(&run.outcome))
}

fn tests_json(tests: &TipTests) -> Value {
    json!({
        "commit": tests.tip,
        "outcome": outcome_word(&tests.outcome()),
        "runs": tests.runs.iter().map(run_json).collect::<Value>(),
    })
}

fn run_json(run: &TipRun) -> Value {
    let evidence = run.evidence.as_ref();
    json!({
        "by": run.by,
        "command": run.command,
        "failing": evidence.map_or(&[][..], |tests| &tests.failing),
        "outcome": outcome_word(&run.outcome),
        "passed": evidence.map(|tests| tests.passed),
        "status": evidence.map(|tests| tests.status.as_str()),
        "total": evidence.map(|tests| tests.total),
    })
}

fn outcome_word(outcome: &TipOutcome) -> &'static str {
    match outcome {
        TipOutcome::Passed => "passed",
        TipOutcome::Failed => "failed",
        TipOutcome::Unknown(_) => "unknown",
    }
}

fn summary(report: &CheckReport, style: Style) -> String {
    let mut parts = parts(report);
    let verdict = match report.outcome() {
        CheckOutcome::Fine if parts.is_empty() => style.green("ok"),
        CheckOutcome::Fine => format!("{}, {}", style.green("ok"), parts.join(", ")),
        CheckOutcome::Violated => style.red(&parts.join(", ")),
        CheckOutcome::Undecided => {
            parts.insert(0, "cannot decide: evidence is missing".to_owned());
            style.red(&parts.join(", "))
        }
    };
    let range = terminal_clip(&report.range, 100);
    format!("checked {} in {range}: {verdict}", phrase::count(report.commits, "commit"))
}

/// `andon/check@1`. There may be a hundred thousand violations, so that this document alone is printed as it is declared:
/// in the order of its members, and of theirs.
#[derive(Debug, Serialize)]
pub struct CheckJson<'a> {
    /// The number of commits that were examined.
    commits: usize,
    /// The commit whose configuration counted: the left side of the range.
    configuration: Option<CommitId>,
    /// The halt that is open at the tip.
    #[serde(skip_serializing_if = "Option::is_none")]
    halt: Option<&'a Halt>,
    /// `ok`, `violated` or `undecided`: exit code 0, 1 or 3.
    outcome: &'static str,
    /// The range as it was asked for.
    range: &'a str,
    /// The name of this format.
    schema: &'static str,
    /// The tests at the tip, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    tests: Option<Value>,
    /// Questions without enough evidence.
    undecided: Vec<CheckItemJson<'a>>,
    /// Violations and notes, in the order of the commits.
    violations: Vec<CheckItemJson<'a>>,
    /// Other remarks: skipped lines, unknown versions.
    warnings: &'a [Diagnostic],
}

/// A violation, or something that could not be decided: that has no `level`.
#[derive(Debug, Serialize)]
struct CheckItemJson<'a> {
    /// The id of the rule or of the kind of finding.
    code: &'a str,
    /// The commit that it is about; `None` for the whole range.
    commit: Option<CommitId>,
    /// Commands or steps that put it right, the likeliest first.
    help: &'a [String],
    /// Its level; absent where nothing could be decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<Level>,
    /// One sentence that says what happened.
    message: &'a str,
    /// The first line of the message of that commit.
    subject: Option<&'a str>,
}

/// The report for a program; `violations` and `undecided` one value each, not grouped.
pub fn json(report: &CheckReport) -> CheckJson<'_> {
    CheckJson {
        commits: report.commits,
        configuration: report.configuration,
        halt: report.halt.as_deref(),
        outcome: match report.outcome() {
            CheckOutcome::Fine => "ok",
            CheckOutcome::Violated => "violated",
            CheckOutcome::Undecided => "undecided",
        },
        range: &report.range,
        schema: "andon/check@1",
        tests: report.tests.as_ref().map(tests_json),
        undecided: report.undecided.iter().map(undecided).collect(),
        violations: report.violations.iter().map(violation).collect(),
        warnings: &report.warnings,
    }
}

fn violation(one: &Diagnostic) -> CheckItemJson<'_> {
    CheckItemJson { level: Some(one.level), ..undecided(one) }
}

fn undecided(one: &Diagnostic) -> CheckItemJson<'_> {
    let commit = one.commit();
    CheckItemJson {
        code: one.code.as_deref().unwrap_or_default(),
        commit: commit.map(|one| one.commit),
        help: &one.help,
        level: None,
        message: &one.message,
        subject: commit.map(|one| one.subject.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::Location;
    use andon_engine::json as printing;
    use andon_testkit::samples;

    const HELP: &str = "git fetch origin refs/notes/andon:refs/notes/andon";

    fn violation(byte: u8, code: &str, level: Level) -> Diagnostic {
        let commit = CommitRef { commit: samples::commit(byte), subject: format!("Change {byte}") };
        let about = Diagnostic::new(level, format!("about {code}")).code(code);
        about.at(Location::Commit(commit)).help(HELP)
    }

    fn report(violations: Vec<Diagnostic>) -> CheckReport {
        CheckReport { range: "main..HEAD".to_owned(), commits: 12, violations, ..CheckReport::default() }
    }

    #[test]
    fn all_well_is_one_line() {
        let fine = report(vec![]);
        assert_eq!(text(&fine, Style::Plain), "checked 12 commits in main..HEAD: ok\n");
        assert_eq!(fine.outcome(), CheckOutcome::Fine);
        assert_eq!(super::json(&fine).outcome, "ok");
    }

    #[test]
    fn like_violations_are_one_message_gravest_first() {
        let mut violations = vec![violation(200, "hook-bypass", Level::Warn)];
        violations.extend((1..=12).map(|byte| violation(byte, "missing-record", Level::Block)));
        let shown = text(&report(violations), Style::Plain);
        let commits: String = (1..=10)
            .flat_map(|byte| {
                ["  --> ".to_owned(), samples::commit(byte).short(), format!(" Change {byte}\n")]
            })
            .collect();
        let expected = format!(
            "error[missing-record]: about missing-record
{commits}  --> and 2 more
  help: git fetch origin refs/notes/andon:refs/notes/andon
warning[hook-bypass]: about hook-bypass
  --> c8c8c8c8c8c8 Change 200
  help: git fetch origin refs/notes/andon:refs/notes/andon
checked 12 commits in main..HEAD: 12 errors, 1 warning
"
        );
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_is_not_known_is_not_fine() {
        let mut unsure = report(vec![violation(1, "hook-bypass", Level::Warn)]);
        unsure
            .undecided
            .push(Diagnostic::error("this clone has no refs/notes/andon").code("notes-not-fetched"));
        assert_eq!(unsure.outcome(), CheckOutcome::Undecided);
        let shown = text(&unsure, Style::Plain);
        assert!(
            shown.ends_with(
                "error[notes-not-fetched]: this clone has no refs/notes/andon\n\
                 checked 12 commits in main..HEAD: cannot decide: evidence is missing, 1 warning\n"
            ),
            "{shown}"
        );
        unsure.violations.push(violation(2, "edited-record", Level::Block));
        assert_eq!(unsure.outcome(), CheckOutcome::Violated);
        assert_eq!(super::json(&unsure).undecided[0].code, "notes-not-fetched");
    }

    #[test]
    fn hostile_subjects_stay_on_their_line() {
        let mut one = violation(1, "missing-record", Level::Block);
        one = one.at(Location::Commit(CommitRef {
            commit: samples::commit(1),
            subject: samples::HOSTILE.repeat(100),
        }));
        let shown = text(&report(vec![one]), Style::Plain);
        assert_eq!(shown.lines().count(), 4);
        assert!(!shown.chars().any(|c| c != '\n' && andon_core::escape::is_hidden(c)));
    }

    #[test]
    fn its_keys_are_declared_in_order() {
        let mut hostile = report(vec![violation(1, "missing-record", Level::Block)]);
        hostile.range = samples::HOSTILE.to_owned();
        hostile.warnings.push(Diagnostic::warning("odd").code("x").help("do"));
        for report in [report(Vec::new()), hostile] {
            let document = super::json(&report);
            assert_eq!(printing::line_as_declared(&document), printing::line(&document));
        }
    }

    #[test]
    fn json_names_every_commit() {
        let report = report(vec![violation(1, "missing-record", Level::Block)]);
        let value = samples::value_of(&super::json(&report));
        assert_eq!(
            value["violations"][0],
            serde_json::json!({
                "commit": "01".repeat(20), "subject": "Change 1", "code": "missing-record", "level": "block",
                "message": "about missing-record", "help": ["git fetch origin refs/notes/andon:refs/notes/andon"],
            })
        );
    }
}
