//! `test-weakening`: tests disappeared, or assert less, whether the suite is green or red.

use crate::WordList;
use crate::detect::{lost::taken_by, prelude::*};
use crate::domain::{CommitKind, Extent, Hint, TestEvidence, TestStatus, Weakening};
use crate::history::{Strike, Timeline, failing_count};

const TESTS_PARAM: Param<Vec<String>> =
    Param::list("tests", WordList(include_str!("../word_lists/tests.txt")));
const SKIPS_PARAM: Param<Vec<String>> =
    Param::list("skips", WordList(include_str!("../word_lists/skips.txt")));
const ASSERTIONS_PARAM: Param<Vec<String>> =
    Param::list("assertions", WordList(include_str!("../word_lists/assertions.txt")));

/// Texts of changed tests are read only where this rule is on; `andon check` asks it about a range.
pub static RULE: Rule = Rule {
    level: Level::Warn,
    about: About {
        waiver: Some("a trailer of the message waives it: Tests-Removed: why"),
        ..About::new(EventClass::DirtyBit)
    },
    params: &[TESTS_PARAM.spec, SKIPS_PARAM.spec, ASSERTIONS_PARAM.spec],
    stages: &[Stage::PostCommit, Stage::Check, Stage::Replay],
    ..Rule::of_iterations("test-weakening", include_str!("test_weakening.md"), check)
};

/// The syntax of tests, by the parameters `tests`, `skips` and `assertions` of the rule `test-weakening`.
#[derive(Debug, Clone, Copy)]
pub struct Patterns<'a> {
    /// Beginnings of declarations.
    pub tests: &'a [String],
    /// Marks of skipped tests.
    pub skips: &'a [String],
    /// Marks of assertions.
    pub assertions: &'a [String],
}

impl<'a> Patterns<'a> {
    /// As the rule is set.
    pub fn new(setting: &'a RuleSetting) -> Self {
        Self {
            tests: setting.list(&TESTS_PARAM),
            skips: setting.list(&SKIPS_PARAM),
            assertions: setting.list(&ASSERTIONS_PARAM),
        }
    }

    /// All of it.
    pub fn lists(&self) -> [&'a [String]; 3] {
        [self.tests, self.skips, self.assertions]
    }
}

/// A change of the counts.
#[derive(Debug)]
enum Counts {
    /// So many failed before.
    Failed(u64),
    /// Fewer fail and fewer ran; and more are skipped, where a pair says so.
    Fewer { before: Open, failing: u64, ran: u64, skipped: Option<(u64, u64)> },
    /// Nothing failed before; so many ran before and now, where both are known.
    Passed(Option<(u64, u64)>),
}

/// The sentence about a change of the `counts` and about what was `taken`: tests that are `gone`, or ask less.
fn message(counts: &Counts, taken: Option<&Weakening>, gone: &str, waiver: Option<&str>) -> String {
    let taken = taken.map(|found| self::taken(found, gone)).filter(|taken| !taken.is_empty());
    let excuse = waiver.map(|reason| format!("; waived by Tests-Removed: {}", words::bounded(reason)));
    if let Counts::Passed(ran) = counts {
        return on_green(taken, *ran) + &excuse.unwrap_or_default();
    }
    let taken = taken.map(|taken| format!(": {taken}")).unwrap_or_default();
    on_red(counts) + &taken + excuse.as_deref().unwrap_or("; this does not count as progress")
}

fn on_red(counts: &Counts) -> String {
    match counts {
        Counts::Failed(failing) => format!("{} failed before this commit", words::count(*failing, "test")),
        Counts::Fewer { before: Open { failing: failed, ran: before }, failing, ran, skipped } => {
            let skipped = skipped
                .map(|(before, now)| format!(" and those that were skipped {before} -> {now}"))
                .unwrap_or_default();
            format!("{failed} -> {failing} failing while the tests that ran went {before} -> {ran}{skipped}")
        }
        Counts::Passed(_) => String::new(),
    }
}

fn on_green(taken: Option<String>, ran: Option<(u64, u64)>) -> String {
    match (taken, ran) {
        (Some(taken), None) => taken,
        (Some(taken), Some((before, now))) => format!("{taken}; the tests that ran went {before} -> {now}"),
        (None, Some((before, now))) => {
            format!("the tests that ran went {before} -> {now}, and no changed test file says why")
        }
        (None, None) => String::new(),
    }
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let newest = situation.timeline.newest()?;
    let open = open(situation.timeline);
    let before = situation.timeline.last_result_before(newest.code);
    let fewer = newest.tests.as_ref().and_then(|now| match open {
        Some(open) => fewer(open, now, before),
        None => vanished(before?, now, became_rows(situation.timeline)),
    });
    let waiver = newest.weakening.as_ref().and_then(|found| found.waiver.clone());
    let taken = taken_by(newest.weakening.as_ref(), newest.tests.as_ref());
    if taken.is_none() && fewer.is_none() {
        return None;
    }
    let meant = open.is_none() && newest.strike == Strike::Exempt && newest.kind != CommitKind::Merge;
    let level = if waiver.is_some() || meant { setting.level.min(Level::Note) } else { setting.level };
    let mut evidence: Vec<Evidence> = newest.commit.map(Evidence::Commit).into_iter().collect();
    evidence.extend(newest.tests.as_ref().map(|tests| Evidence::Tests(tests.signature)));
    evidence.extend(taken.as_ref().and_then(place));
    let mut help = Vec::new();
    if waiver.is_none() {
        help.push(Hint::SayWhy.into());
        help.extend(newest.commit.map(|commit| Hint::GitShow.with([&commit.short()])));
    }
    let known = before.zip(newest.tests.as_ref()).map(|(before, now)| ran_in_both(before, now));
    let ran = known.filter(|(before, now)| now < before && *now > 0);
    // A run that may have been asked for a part of the tests alone.
    let is_part = newest.tests.as_ref().is_some_and(|tests| tests.full_run.is_some());
    let gone = if is_part { "missing in this run" } else { REMOVED };
    let counts = fewer.unwrap_or(open.map_or(Counts::Passed(ran), |open| Counts::Failed(open.failing)));
    Some(Finding {
        evidence,
        help,
        ..RULE.finding(level, message(&counts, taken.as_ref(), gone, waiver.as_deref()))
    })
}

/// The finding about the tests that a range takes from its base, as one line.
pub(in crate::detect) fn of_range(found: &Weakening, setting: &RuleSetting) -> Finding {
    let level = if found.waiver.is_some() { setting.level.min(Level::Note) } else { setting.level };
    let help = match found.waiver {
        Some(_) => Vec::new(),
        // Others build on these commits already, and `andon check` takes the reason from a later one of the range.
        None => vec![Hint::SayWhyLater.into()],
    };
    let (waiver, evidence) = (found.waiver.clone(), place(found).into_iter().collect());
    let weaker = message(&Counts::Passed(None), Some(found), REMOVED, waiver.as_deref());
    let found = RULE.finding(level, weaker);
    Finding { help, evidence, detail: found.detail.after("against the base: "), ..found }
}

/// The file of the first test that is weaker.
fn place(found: &Weakening) -> Option<Evidence> {
    found.file.as_deref().map(|path| Evidence::Path(words::bounded(path)))
}

/// The last run on earlier code, where it had failures.
#[derive(Debug, Clone, Copy)]
struct Open {
    failing: u64,
    ran: u64,
}

/// As the record of the newest iteration has it, else the last result of the window on other code.
fn open(timeline: &Timeline) -> Option<Open> {
    let newest = timeline.newest()?;
    let open = if let Some(found) = &newest.weakening {
        Open { failing: found.failing, ran: found.ran }
    } else {
        let last = timeline.last_result_before(newest.code)?;
        Open { failing: failing_count(last)?, ran: last.counts().ran() }
    };
    (open.failing > 0).then_some(open)
}

/// Counts how many tests ran in `before` and in `now`, of what can be compared: where the code has scopes, those whose own tests
/// were counted in both. A scope for which a run of everything speaks has no counts of its own.
fn ran_in_both(before: &TestEvidence, now: &TestEvidence) -> (u64, u64) {
    if before.scopes.is_empty() && now.scopes.is_empty() {
        return (before.counts().ran(), now.counts().ran());
    }
    let both = now.scopes.iter().filter_map(|row| Some((&before.of_scope(&row.name)?.tests, &row.tests)));
    let alike = both.filter(|(before, now)| before.command == now.command && before.runner == now.runner);
    let ran = alike.map(|(before, now)| (before.counts().ran(), now.counts().ran()));
    ran.filter(|(had, ran)| *had > 0 && *ran > 0)
        .fold((0, 0), |sum, (had, ran)| (had.saturating_add(sum.0), ran.saturating_add(sum.1)))
}

/// The counts, where both fell. Only the report shows a skip that no diff shows.
fn fewer(open: Open, now: &TestEvidence, before: Option<&TestEvidence>) -> Option<Counts> {
    let failing = failing_count(now)?;
    let (had, ran) = match before {
        Some(before) if !(before.scopes.is_empty() && now.scopes.is_empty()) => ran_in_both(before, now),
        None if !now.scopes.is_empty() => return None,
        Some(_) | None => (open.ran, now.counts().ran()),
    };
    let reported = matches!(now.status, TestStatus::Passed | TestStatus::Failed) && ran > 0;
    let skipped = before.map(|before| (before.skipped, now.skipped));
    let skipped = skipped.filter(|(before, now)| now > before);
    let fell = reported && failing < open.failing && ran < had;
    fell.then_some(Counts::Fewer { before: Open { ran: had, ..open }, failing, ran, skipped })
}

/// The least share of the tests, one in so many, that has to be gone where no file says which.
const SHARE: u64 = 20;

/// The counts, where a green suite ran fewer tests than the one before, by the same command and to its end.
fn vanished(before: &TestEvidence, now: &TestEvidence, rows: u64) -> Option<Counts> {
    let (had, ran) = ran_in_both(before, now);
    let same = before.command == now.command && before.runner == now.runner;
    // Also where all of them are declared as before: a setting of the runner leaves them out.
    let whole = now.is_green() && ran > 0;
    let gone = had.saturating_sub(ran).saturating_sub(rows);
    (same && whole && gone >= 2 && gone.saturating_mul(SHARE) >= had)
        .then_some(Counts::Passed(Some((had, ran))))
}

/// Tests that became rows of others since the last run before the newest iteration.
fn became_rows(timeline: &Timeline) -> u64 {
    let mut newest_first = timeline.iterations.iter().rev();
    let newest = newest_first.next().into_iter();
    let since = newest.chain(newest_first.take_while(|one| one.tests.is_none()));
    since.filter_map(|one| one.weakening.as_ref()).map(|found| found.rows).fold(0, u64::saturating_add)
}

const REMOVED: &str = "removed";

fn taken(found: &Weakening, gone: &str) -> String {
    let parts = [
        (gone, &found.removed),
        ("newly skipped", &found.skipped),
        ("with fewer assertions", &found.loosened),
    ];
    let parts = parts.iter().zip(found.counts()).filter(|((_, names), _)| !names.is_empty());
    let known = match found.extent {
        Extent::Whole => "",
        Extent::AtLeast => "at least ",
        Extent::About => "about ",
    };
    let parts = parts.map(|((how, names), total)| {
        format!("{known}{} {how} ({})", words::count(total, "test"), words::list(names, total))
    });
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
