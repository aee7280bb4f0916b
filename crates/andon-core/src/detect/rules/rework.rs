//! `rework`: commit after commit, an author rewrites the lines of a file that were only just written there.

use crate::WordList;
use crate::detect::excuses::{GOING_BACK, begins_as, excuse};
use crate::detect::prelude::*;
use crate::domain::{ChangeFacts, Hint, HunkHash, Nature, Rewrite, Span};
use crate::history::{Iteration, Source, Strike, Timeline};

const COMMITS: Param<u64> = Param::count("commits", 4, 2);
const AMONG: Param<u64> = Param::count("among", 6, 3).sense(Sense::Wider);
const REPAIRING: Param<u64> = Param::count("repairing", 2, 0);
const HALT_COMMITS: Param<u64> = Param::count("halt_commits", 6, 2);
const HALT_AMONG: Param<u64> = Param::count("halt_among", 10, 3).sense(Sense::Wider);
const HALT_REPAIRING: Param<u64> = Param::count("halt_repairing", 3, 0);
const PIPELINES: Param<u64> = Param::count("pipelines", 2, 1).sense(Sense::Wider);
const SHARE: Param<f64> = Param::share("share", 0.6);
const APART: Param<Span> = Param::span("apart", Span(45));
const WITHIN: Param<Span> = Param::span("within", Span(7_200));
const HALT_WITHIN: Param<Span> = Param::span("halt_within", Span(3_600));
const REPAIRS: Param<Vec<String>> =
    Param::list("repairs", WordList(include_str!("../word_lists/repairs.txt")));

pub(in crate::detect) static RULE: Rule = Rule {
    about: About { signal: Some(Signal::Rework), ..About::new(EventClass::Stall) },
    params: &[
        COMMITS.spec,
        AMONG.spec,
        REPAIRING.spec,
        HALT_COMMITS.spec,
        HALT_AMONG.spec,
        HALT_REPAIRING.spec,
        PIPELINES.spec,
        SHARE.spec,
        APART.spec,
        WITHIN.spec,
        HALT_WITHIN.spec,
        REPAIRS.spec,
        GOING_BACK.spec,
    ],
    ..Rule::of_iterations("rework", include_str!("rework.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let timeline = situation.timeline;
    let told = [setting.size(&COMMITS), setting.size(&AMONG), setting.size(&REPAIRING)];
    let halted = [setting.size(&HALT_COMMITS), setting.size(&HALT_AMONG), setting.size(&HALT_REPAIRING)];
    // To push the file of a build elsewhere is the only way to try it.
    let halts = stretch(timeline, setting, halted, setting.size(&PIPELINES), setting.span(&HALT_WITHIN));
    let level = if halts.is_some() { setting.level } else { setting.level.min(Level::Warn) };
    let found = halts.or_else(|| stretch(timeline, setting, told, 1, setting.span(&WITHIN)))?;
    let Stretch { path, rewriting, among } = found;
    if gained_since(timeline, rewriting.last()?.number) == Gain::NewlyPassing {
        return None;
    }
    let evidence = rewriting.iter().filter_map(|one| one.commit).map(Evidence::Commit).collect();
    let help = vec![Hint::LogNewest.with([&among.to_string(), "HEAD"])];
    let (times, among) = (rewriting.len(), words::count(among, "commit"));
    let found = format!("{times} of {among} to one file rewrite what was only just written there");
    Some(Finding { files: vec![path], evidence, help, ..RULE.finding(level, found) })
}

/// Commits that rewrite a file, the newest first, and among how many of the author's commits to it they are.
struct Stretch<'a> {
    path: HunkHash,
    rewriting: Vec<&'a Iteration>,
    among: usize,
}

/// The first file of the newest commit that is rewritten often enough: by how many commits, among how many, how many of
/// them repairing; so many `times` as often where it is that of a build elsewhere.
fn stretch<'a>(
    timeline: &'a Timeline,
    setting: &RuleSetting,
    needed: [usize; 3],
    times: usize,
    within: Span,
) -> Option<Stretch<'a>> {
    let newest = timeline.newest().filter(|newest| newest.at.0 != 0)?;
    let is_repair = |one: &&&Iteration| begins_as(one, setting.list(&REPAIRS));
    let change = newest.change.as_ref()?;
    change.rewrites.iter().find_map(|Rewrite { path, .. }| {
        let times = if change.pipelines.contains(path) { times } else { 1 };
        let [commits, among, repairing] = needed.map(|count| count.saturating_mul(times));
        let mut row = row(timeline, setting, *path, newest);
        row.retain(|one| newest.at.since(one.at).0 <= within.0);
        let among = row.len().min(among);
        let rewrites = |at: &usize| rewrites(row[*at], row.get(at + 1).copied(), *path, setting);
        let rewriting: Vec<&Iteration> = (0..among).filter(rewrites).map(|at| row[at]).collect();
        let enough = rewriting.first() == Some(&newest)
            && rewriting.len() >= commits
            && rewriting.iter().filter(is_repair).count() >= repairing;
        enough.then_some(Stretch { path: *path, rewriting, among })
    })
}

/// The commits of the author of `newest` to the file `path`, the newest first.
fn row<'a>(
    timeline: &'a Timeline,
    setting: &RuleSetting,
    path: HunkHash,
    newest: &Iteration,
) -> Vec<&'a Iteration> {
    let works = |change: &ChangeFacts| {
        change.nature == Nature::Work && change.paths.iter().any(|step| step.path == path)
    };
    let counts = |one: &&Iteration| {
        one.strike == Strike::Candidate
            && one.source == Source::Commit
            && !one.is_by_another(newest)
            && one.change.as_ref().is_some_and(works)
            && excuse(RULE.id, one, timeline, setting).is_none()
    };
    timeline.iterations.iter().rev().filter(counts).collect()
}

/// Returns whether most of what `one` removes from the file was only just added, and it is no second part of the commit
/// `before` it.
#[allow(clippy::cast_precision_loss, reason = "at most 100")]
fn rewrites(one: &Iteration, before: Option<&Iteration>, path: HunkHash, setting: &RuleSetting) -> bool {
    let share = setting.share(&SHARE) * 100.0;
    let mut files = one.change.iter().flat_map(|change| &change.rewrites);
    let apart = before.is_some_and(|before| one.at.since(before.at).0 >= setting.span(&APART).0);
    apart && files.any(|file| file.path == path && file.percent as f64 >= share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{checked, checked_with};
    use crate::domain::ParamValue;
    use crate::testkit::{Commit, commit};

    /// Commits of one author a minute apart to one file: `R` repairs it and rewrites most of what it removes there, `r` only
    /// rewrites it, `f` repairs something else in it, and `n` does neither.
    fn row(line: &str) -> Vec<Commit> {
        let one = |(at, what): (u8, char)| {
            let percent = if what.eq_ignore_ascii_case(&'r') { 60 } else { 59 };
            let subject = if "Rf".contains(what) { "parser: fix it" } else { "Work on the parser" };
            let made = commit(at).change(Nature::Work, &[(1, at, at + 1)]).rewrites(&[(1, percent)]);
            made.at(i64::from(at) * 60).subject(subject).author("A")
        };
        (1..).zip(line.chars()).map(one).collect()
    }

    /// The same with the file `pipeline` as one of a build elsewhere.
    fn built(line: &str, pipeline: u8) -> Vec<Commit> {
        row(line).into_iter().map(|one| one.pipelines(&[pipeline])).collect()
    }

    fn level(commits: Vec<Commit>) -> Option<Level> {
        checked(&RULE, commits).map(|found| found.level)
    }

    #[test]
    fn four_of_six_with_two_repairs_warn_and_six_of_ten_with_three_halt() {
        for (line, expected) in [
            ("nRRr", None),
            ("nRRrr", Some(Level::Warn)),
            ("nRrrr", None),
            ("nrfrfrr", None),
            ("nRrnRnR", Some(Level::Warn)),
            ("nRrnRnnR", None),
            ("nRRrrn", None),
            ("nRRrrrr", Some(Level::Warn)),
            ("nRRRrrr", Some(Level::Halt)),
            ("nRnRnrnRrr", Some(Level::Halt)),
            ("RRRRRR", Some(Level::Warn)),
            ("nnnnnnnnnn", None),
        ] {
            assert_eq!(level(row(line)), expected, "{line}");
        }
        let found = checked(&RULE, row("nRRrr")).unwrap();
        assert_eq!(found.message(), "4 of 5 commits to one file rewrite what was only just written there");
    }

    #[test]
    fn other_authors_files_times_and_purposes_are_other_work() {
        let told = |change: &dyn Fn(u8, Commit) -> Commit| {
            level((1..).zip(row("nRRRR")).map(|(at, one)| change(at, one)).collect()).is_some()
        };
        assert!(told(&|_, one| one));
        assert!(told(&|at, one| one.subject(&format!("Fix the other thing {at}"))), "whatever they say");
        assert!(!told(&|at, one| one.author(&format!("Author {at}"))));
        assert!(!told(&|at, one| one.change(Nature::Work, &[(at, at, at + 1)]).rewrites(&[(at, 99)])));
        assert!(!told(&|at, one| one.at(i64::from(at) * 44)), "parts of one");
        assert!(told(&|at, one| one.at(i64::from(at) * 45)));
        assert!(!told(&|at, one| one.at(i64::from(at) * 86_400)));
        assert!(!told(&|at, one| one.subject(&format!("Fix parser 1.{at}"))), "a release");
        assert!(!told(&|at, one| one.subject(&format!("Fix the parser (#{at})"))));
        assert!(!told(&|at, one| one.change(Nature::Comments, &[(1, at, at + 1)]).rewrites(&[(1, 99)])));
        assert!(!told(&|_, one| one.subject("Revert \"Fix the parser\"")));
    }

    #[test]
    fn a_build_elsewhere_is_tried_by_pushing_it() {
        for (line, expected) in [
            ("nRRrr", Some(Level::Warn)),
            ("nRRrrRRrrRRr", Some(Level::Warn)),
            ("nRRrrRrrrRRrr", Some(Level::Warn)),
            ("nRRrrRRrrRRrr", Some(Level::Halt)),
            ("nRRnRRnrrrrRRrr", Some(Level::Halt)),
        ] {
            assert_eq!(level(built(line, 1)), expected, "{line}");
        }
        assert_eq!(level(built("nRRrrRR", 1)), Some(Level::Warn));
        assert_eq!(level(built("nRRrrRR", 2)), Some(Level::Halt), "another file is one of a build");
    }

    #[test]
    fn parameters_count() {
        let with = |line, name, value| checked_with(&RULE, row(line), &[(name, value)]).map(|one| one.level);
        let (warn, halt) = (Some(Level::Warn), Some(Level::Halt));
        assert_eq!(with("nRRr", "commits", ParamValue::Count(3)), warn);
        assert_eq!(with("nRRrr", "among", ParamValue::Count(3)), None);
        assert_eq!(with("nRrrr", "repairing", ParamValue::Count(1)), warn);
        assert_eq!(with("nRRRrr", "halt_commits", ParamValue::Count(5)), halt);
        assert_eq!(with("nRRRrrr", "halt_among", ParamValue::Count(5)), warn);
        assert_eq!(with("nRRrrrr", "halt_repairing", ParamValue::Count(2)), halt);
        let once = checked_with(&RULE, built("nRRRrrr", 1), &[("pipelines", ParamValue::Count(1))]);
        assert_eq!(once.map(|one| one.level), halt);
        assert_eq!(with("nRRrr", "share", ParamValue::Share(0.61)), None);
        assert_eq!(with("nRRrr", "apart", ParamValue::Span(Span(61))), None);
        assert_eq!(with("nRRrr", "within", ParamValue::Span(Span(60))), None);
        assert_eq!(with("nRRRrrr", "halt_within", ParamValue::Span(Span(300))), warn);
        assert_eq!(with("nrrrr", "repairs", ParamValue::List(vec!["Work".into()])), warn);
    }
}
