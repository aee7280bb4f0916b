//! `rework`: commit after commit rewrites what the ones before it wrote, or repairs it again, and says the same of it.

use std::collections::BTreeSet;

use super::undo_churn::ratio;
use crate::WordList;
use crate::detect::excuses::{GOING_BACK, begins_as, excuse, is_one_line};
use crate::detect::prelude::*;
use crate::detect::progress::{Gain, gained_since};
use crate::detect::stretch::{around_one_file, newest, say_nearly_the_same, shared_files};
use crate::domain::{change::Nature, facts::Hunk, ids::HunkHash, time::Span};
use crate::history::{Iteration, Strike};

const COMMITS: Param<u64> = Param::count("commits", 4, 2);
const AMONG: Param<u64> = Param::count("among", 10, 3).sense(Sense::Wider);
const SHARE: Param<f64> = Param::share("share", 0.3);
const WITHIN: Param<Span> = Param::span("within", Span(7_200));
const REPAIRS: Param<Vec<String>> =
    Param::list("repairs", WordList(include_str!("../word_lists/repairs.txt")));

pub(in crate::detect) static RULE: Rule = Rule {
    id: "rework",
    prose: include_str!("rework.md"),
    level: Level::Warn,
    reason: HaltReason::Stalled,
    about: About { signal: Some(Signal::Rework), ..About::new(EventClass::Stall) },
    params: &[COMMITS.spec, AMONG.spec, SHARE.spec, WITHIN.spec, REPAIRS.spec, GOING_BACK.spec],
    check,
    ..Rule::OF_ITERATIONS
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let (reworking, among) = stretch(situation, setting)?;
    if gained_since(situation.timeline, reworking.last()?.number) == Gain::NewlyPassing {
        return None;
    }
    let evidence = reworking.iter().filter_map(|one| one.commit).map(Evidence::Commit).collect();
    let files = shared_files(&reworking).into_iter().collect();
    let help = vec![format!("git log -p -{among}")];
    let (commits, among) = (reworking.len(), words::count(among, "commit"));
    let found = format!("{commits} of {among} rewrite or repair the same, under nearly the same name");
    Some(Finding { files, evidence, help, ..RULE.finding(setting.level, found) })
}

/// The commits that rewrite, and among how many they are, where there are enough.
fn stretch<'a>(situation: &Situation<'a>, setting: &RuleSetting) -> Option<(Vec<&'a Iteration>, u64)> {
    let timeline = situation.timeline;
    let commits = newest(timeline, setting.count(&AMONG), setting.span(&WITHIN));
    let last = *commits.first()?;
    let counts = |one: &Iteration| {
        one.strike == Strike::Candidate
            && one.change.as_ref().is_some_and(|change| change.nature == Nature::Work)
            && excuse(RULE.id, one, timeline, setting).is_none()
            && say_nearly_the_same(&one.subject, &last.subject)
    };
    if !counts(last) {
        return None;
    }
    let share = setting.share(&SHARE);
    let again = |at: usize| {
        let one = commits[at];
        let repairs = one.author == last.author && begins_as(one, setting.list(&REPAIRS));
        repairs || (!is_one_line(one) && rewritten(one, &commits[at + 1..]) >= share)
    };
    let counted = (0..commits.len()).filter(|at| counts(commits[*at]) && again(*at));
    let all: Vec<&Iteration> = counted.map(|at| commits[at]).collect();
    if all.first() != Some(&last) {
        return None;
    }
    let reworking = around_one_file(&all);
    let enough = words::len(&reworking) >= setting.count(&COMMITS);
    enough.then(|| (reworking, words::len(&commits)))
}

/// The share of the regions that `one` removes lines from which one of `before` wrote.
fn rewritten(one: &Iteration, before: &[&Iteration]) -> f64 {
    let wrote: BTreeSet<HunkHash> = before
        .iter()
        .filter(|earlier| match (&one.change, &earlier.change) {
            (Some(own), Some(theirs)) => own.meets(theirs),
            (None, _) | (_, None) => false,
        })
        .flat_map(|earlier| earlier.diff.hunks.iter().map(|hunk| hunk.added))
        .collect();
    let removed: BTreeSet<HunkHash> = one
        .diff
        .hunks
        .iter()
        .map(|Hunk { removed, .. }| *removed)
        .filter(|hash| *hash != Hunk::NO_LINES)
        .collect();
    let known: Vec<_> = removed.intersection(&wrote).collect();
    ratio(words::len(&known), u64::try_from(removed.len()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{checked, checked_with};
    use crate::domain::settings::ParamValue;
    use crate::testkit::{Commit, commit};

    /// Commits a minute apart on one file: each `r` replaces what the one before wrote, each `n` writes something new.
    fn row(line: &str) -> Vec<Commit> {
        let one = |(at, what): (u8, char)| {
            let removed = if what == 'r' { at - 1 } else { 100 + at };
            commit(at)
                .change(Nature::Work, &[(1, at, at + 1)])
                .hunks(&[(removed, at)])
                .lines(4, 4)
                .at(i64::from(at) * 60)
                .subject(&format!("Work on the build {at}"))
        };
        (1..).zip(line.chars()).map(one).collect()
    }

    #[test]
    fn the_fourth_rewrite_is_a_signal() {
        for (line, level) in [
            ("nrrr", None),
            ("nrrrr", Some(Level::Warn)),
            ("nrrrrn", None),
            ("nrnrnrnr", Some(Level::Warn)),
            ("nrnnnrnnnrnr", None),
            ("nnnnn", None),
            ("nrrrrrrrr", Some(Level::Warn)),
        ] {
            assert_eq!(checked(&RULE, row(line)).map(|found| found.level), level, "{line}");
        }
        let found = checked(&RULE, row("nrrrr")).unwrap();
        assert_eq!(found.message(), "4 of 5 commits rewrite or repair the same, under nearly the same name");
    }

    #[test]
    fn the_fourth_repair_of_one_name_is_a_signal() {
        let told = |line: &str, change: &dyn Fn(u8, Commit) -> Commit| {
            let commits = (1..).zip(row(line)).map(|(at, one)| change(at, one.lines(1, 1))).collect();
            checked(&RULE, commits).is_some()
        };
        for (subject, is) in [
            ("Fix the build", true),
            ("fix(build): mend the build", true),
            ("build: fix the flags", true),
            ("Assistant checkpoint: Fixed the build", true),
            ("Prefix the build", false),
            ("Look at the build: fix", true),
            ("What the release of the whole build looks like: fix", false),
            ("Fix the build of 1.2", false),
            ("Fix the build (#3)", false),
        ] {
            assert_eq!(told("nnnn", &|_, one| one.subject(subject)), is, "{subject}");
        }
        assert!(!told("nnn", &|_, one| one.subject("Fix the build")));
        let fixes = ["Fix the parser", "Fix numbers in files", "Fix printed errors", "Fix a leak"];
        assert!(!told("nnnn", &|at, one| one.subject(fixes[usize::from(at) - 1])));
        assert!(!told("nnnn", &|at, one| one.subject("Fix the build").author(&format!("Author {at}"))));
    }

    #[test]
    fn other_names_files_and_times_are_other_work() {
        let told = |change: &dyn Fn(u8, Commit) -> Commit| {
            let commits = (1..).zip(row("nrrrr")).map(|(at, one)| change(at, one)).collect();
            checked(&RULE, commits).is_some()
        };
        assert!(told(&|_, one| one));
        let names = ["Add a parser", "Teach it numbers", "Read files", "Print errors", "Use it"];
        assert!(!told(&|at, one| one.subject(names[usize::from(at) - 1])));
        assert!(!told(&|at, one| one.change(Nature::Work, &[(at, at, at + 1)])));
        assert!(!told(&|at, one| one.at(i64::from(at) * 3_600)));
        assert!(!told(&|at, one| one.subject(&format!("Bump parser to 1.{at}"))));
        assert!(!told(&|at, one| one.subject(&format!("Work on the build (#{at})"))));
        assert!(!told(&|_, one| one.lines(1, 1)));
        assert!(!told(&|at, one| one.change(Nature::Comments, &[(1, at, at + 1)])));
        assert!(!told(&|_, one| one.subject("Revert \"Fix the build\"")));
    }

    #[test]
    fn parameters_count() {
        let with = |line, name, value| checked_with(&RULE, row(line), &[(name, value)]).is_some();
        assert!(with("nrrr", "commits", ParamValue::Count(3)));
        assert!(with("nnnn", "repairs", ParamValue::List(vec!["Work".into()])));
        assert!(!with("nrrrr", "among", ParamValue::Count(4)));
        assert!(!with("nrrrr", "within", ParamValue::Span(Span(60))));
        let mixed: Vec<Commit> = (1..)
            .zip(row("nrrrr"))
            .map(|(at, one): (u8, Commit)| {
                one.hunks(&[(at - 1, at), (150 + at, 170 + at), (190 + at, 210 + at)])
            })
            .collect();
        assert!(checked(&RULE, mixed.clone()).is_some(), "a third");
        assert!(checked_with(&RULE, mixed, &[("share", ParamValue::Share(0.5))]).is_none());
    }
}
