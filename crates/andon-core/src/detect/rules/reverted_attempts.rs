//! `reverted-attempts`: one attempt after the other is reverted.

use crate::detect::excuses::{begins_as, excuse};
use crate::detect::prelude::*;
use crate::detect::stretch::{around_one_file, newest, shared_files};
use crate::domain::{CommitKind, Hint, Span};
use crate::{WordList, history::Iteration};

const REVERTS: Param<u64> = Param::count("reverts", 3, 2);
const AMONG: Param<u64> = Param::count("among", 10, 3).sense(Sense::Wider);
const WITHIN: Param<Span> = Param::span("within", Span(7_200));
const SUBJECTS: Param<Vec<String>> =
    Param::list("subjects", WordList(include_str!("../word_lists/reverts.txt")));

pub(in crate::detect) static RULE: Rule = Rule {
    reason: HaltReason::Oscillating,
    about: About { signal: Some(Signal::RevertedAttempts), ..About::new(EventClass::Oscillation) },
    params: &[REVERTS.spec, AMONG.spec, WITHIN.spec, SUBJECTS.spec],
    ..Rule::of_iterations("reverted-attempts", include_str!("reverted_attempts.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let (found, level) = match stretch(situation, setting, 2) {
        Some(found) => (found, setting.level),
        None => (stretch(situation, setting, 1)?, setting.level.min(Level::Warn)),
    };
    let (reverts, among) = found;
    let evidence = reverts.iter().filter_map(|one| one.commit).map(Evidence::Commit).collect();
    let files = shared_files(&reverts).into_iter().collect();
    let help = vec![
        "say what was learned from each attempt before the next one".to_owned(),
        Hint::LogShort.with([&among.to_string()]),
    ];
    let (times, among) = (words::times(reverts.len()), words::count(among, "commit"));
    let found = format!("work on one file was reverted {times} in {among}");
    Some(Finding { files, evidence, help, ..RULE.finding(level, found) })
}

/// The reverts that share a file, and among how many commits they are, where there are `times` as many as it takes.
fn stretch<'a>(
    situation: &Situation<'a>,
    setting: &RuleSetting,
    times: u64,
) -> Option<(Vec<&'a Iteration>, u64)> {
    let within = Span(setting.span(&WITHIN).0.saturating_mul(times));
    let commits = newest(situation.timeline, setting.count(&AMONG).saturating_mul(times), within);
    let is_revert = |one: &Iteration| {
        let by_git = one.kind == CommitKind::Revert;
        let says_so = by_git || begins_as(one, setting.list(&SUBJECTS));
        let excused = excuse(RULE.id, one, situation.timeline, setting).is_some();
        says_so && one.kind != CommitKind::Merge && !excused
    };
    // Going back step by step, or trying one version after the other, reverts one attempt.
    let counts =
        |at: usize| is_revert(commits[at]) && !commits.get(at + 1).is_some_and(|before| is_revert(before));
    if commits.is_empty() || !counts(0) {
        return None;
    }
    let all: Vec<&Iteration> = (0..commits.len()).filter(|at| counts(*at)).map(|at| commits[at]).collect();
    let reverts = around_one_file(&all);
    let first = reverts.last()?.number;
    let between = commits.iter().any(|one| one.number > first && !is_revert(one));
    let enough = words::len(&reverts) >= setting.count(&REVERTS).saturating_mul(times);
    let stretch = commits.iter().filter(|one| one.number >= first).count();
    (enough && between).then(|| (reverts, u64::try_from(stretch).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{checked, checked_with};
    use crate::domain::{Nature, ParamValue};
    use crate::testkit::{Commit, commit};

    /// Commits a minute apart: `w` works on file 1, `r` reverts there, `o` reverts elsewhere.
    fn row(line: &str) -> Vec<Commit> {
        let one = |(at, what): (u8, char)| {
            let path = if what == 'o' { 2 } else { 1 };
            let made = commit(at).change(Nature::Work, &[(path, at, at + 1)]).at(i64::from(at) * 60);
            if what == 'w' { made.subject("Try it") } else { made.subject("Revert \"Try it\"") }
        };
        (1..).zip(line.chars()).map(one).collect()
    }

    #[test]
    fn the_third_revert_warns_and_the_sixth_halts() {
        for (line, level) in [
            ("wrwrw", None),
            ("wrwr", None),
            ("wrwrwr", Some(Level::Warn)),
            ("wrwrwrw", None),
            ("rrr", None),
            ("wrrwrr", None),
            ("wrrwrwr", Some(Level::Warn)),
            ("wrwrwrr", None),
            ("wrwowr", None),
            ("wrwowrwr", Some(Level::Warn)),
            ("wrwwwwwwrwr", Some(Level::Warn)),
            ("wrwwwwwwwwrwr", None),
            ("wrwrwrwrwrwr", Some(Level::Halt)),
            ("wrwrwrwwwwwwwrwrwr", Some(Level::Halt)),
        ] {
            assert_eq!(checked(&RULE, row(line)).map(|found| found.level), level, "{line}");
        }
        let found = checked(&RULE, row("wrwrwr")).unwrap();
        assert_eq!(found.message(), "work on one file was reverted 3 times in 5 commits");
    }

    #[test]
    fn hours_and_pull_requests_make_no_stretch() {
        let every = |seconds: i64| {
            let timed = (1..).zip(row("wrwrwr")).map(|(at, one): (i64, Commit)| one.at(at * seconds));
            checked(&RULE, timed.collect()).is_some()
        };
        assert!(every(1_800));
        assert!(!every(3_600));
        let merged = row("wrwrwr").into_iter().map(|one| one.subject("Revert \"Try it (#3)\" (#4)"));
        assert!(checked(&RULE, merged.collect()).is_none());
        let by_git = row("wrwrwr").into_iter().enumerate().map(|(at, one)| {
            let one = one.subject("Take it out");
            if at % 2 == 1 { one.kind(CommitKind::Revert) } else { one }
        });
        assert!(checked(&RULE, by_git.collect()).is_some());
    }

    #[test]
    fn parameters_count() {
        let with = |line, name, value| checked_with(&RULE, row(line), &[(name, value)]).is_some();
        assert!(with("wrwr", "reverts", ParamValue::Count(2)));
        assert!(!with("wrwrwr", "among", ParamValue::Count(4)));
        assert!(!with("wrwrwr", "within", ParamValue::Span(Span(60))));
        assert!(!with("wrwrwr", "subjects", ParamValue::List(vec!["Undo".into()])));
    }
}
