//! Rules are asked, and their findings become what is reported.
//!
//! A warning is given once, in the iteration that brings it. While its cause lasts it is a note, because the same words
//! at every commit teach nothing; a cause that lasts long enough halts, or counts together with other signs
//! ([`mod@super::signals`]). Two programs that undo each other are quiet for a few commits now and then: some causes may
//! pause at the same files and are still the same ([`pause`](crate::domain::About::pause)).
//!
//! The tests of each scope are also judged alone: another scope that fails all the time hides no loop in it.

use super::{REGISTRY, Rule, Situation, rule::LOOP};
use crate::domain::{Finding, Level, RuleSetting, RuleSettings, scopes::called};
use crate::history::{Strike, Timeline};

/// Evaluates the rules of the situation's stage, in registry order. A rule that `settings` does not name
/// has its defaults; one at [`Level::Off`] is not evaluated.
pub fn run(situation: &Situation<'_>, settings: &RuleSettings) -> Vec<Finding> {
    // The findings do not tell how to answer: of several that halt only the first is written down.
    let mut findings = REGISTRY.iter().filter_map(|rule| evaluate(rule, situation, settings)).collect();
    add_graver(&mut findings, situation, settings);
    findings
}

/// Evaluates one rule: what [`run`] has of it.
pub fn evaluate(rule: &Rule, situation: &Situation<'_>, settings: &RuleSettings) -> Option<Finding> {
    let setting = rule.stages.contains(&situation.stage).then(|| rule.setting(settings))?;
    if setting.level == Level::Off {
        return None;
    }
    let finding = rule.found(situation, &setting)?;
    Some(reported(finding, rule, situation, &setting))
}

/// `finding` as it is reported. A rule that runs within a turn or before a commit judges something new each time, and
/// its finding stays unchanged.
pub(super) fn reported(
    finding: Finding,
    rule: &Rule,
    situation: &Situation<'_>,
    setting: &RuleSetting,
) -> Finding {
    if rule.stages != LOOP || finding.level != Level::Warn {
        return finding;
    }
    let lasts =
        before_newest(situation.timeline, rule.about.pause + 1).enumerate().any(|(before, timeline)| {
            let earlier = Situation { timeline: &timeline, episode: None, ..*situation };
            rule.found(&earlier, setting).is_some_and(|told| {
                let same = before == 0 || told.files.iter().any(|file| finding.files.contains(file));
                told.level >= Level::Warn && same
            })
        });
    if lasts { Finding { level: Level::Note, ..finding } } else { finding }
}

/// `timeline` as it was at each of the newest `count` iterations before the last one, merges and the like left out.
fn before_newest(timeline: &Timeline, count: usize) -> impl Iterator<Item = Timeline> {
    let earlier = timeline.iterations.len().saturating_sub(1);
    let candidate =
        move |at: &usize| timeline.iterations.get(*at).is_some_and(|one| one.strike == Strike::Candidate);
    (0..earlier).rev().filter(candidate).take(count).map(|at| timeline.until(at + 1))
}

/// The rules about the results of tests.
const OF_TESTS: [&str; 4] =
    ["repeated-failures", "repeated-error", "failures-not-decreasing", "consecutive-failures"];

/// Most scopes that are looked at alone.
const MAX_ALONE: usize = 8;

/// Adds what the rules about tests say of each scope that failed in the newest iteration, where that is graver than what
/// they say of all together.
pub(super) fn add_graver(findings: &mut Vec<Finding>, situation: &Situation<'_>, settings: &RuleSettings) {
    for (name, timeline) in views(situation.timeline) {
        let alone = Situation { timeline: &timeline, episode: None, ..*situation };
        for rule in REGISTRY.iter().filter(|rule| OF_TESTS.contains(&rule.id)) {
            let Some(mut found) = evaluate(rule, &alone, settings) else { continue };
            found.detail = found.detail.after(&format!("{}: ", called(&name)));
            match findings.iter_mut().find(|other| other.rule == found.rule) {
                Some(other) if other.level < found.level => *other = found,
                Some(_) => {}
                None => findings.push(found),
            }
        }
    }
}

/// The loop as each scope that failed in the newest iteration has seen it. Where its tests did not run anew, neither they
/// nor its code changed, so that the iteration is no attempt at them.
fn views(timeline: &Timeline) -> Vec<(String, Timeline)> {
    let newest = timeline.newest().and_then(|newest| newest.tests.as_ref());
    let Some(newest) = newest.filter(|tests| tests.scopes.len() > 1) else { return Vec::new() };
    let failed = newest.scopes.iter().filter(|row| row.from.is_none() && !row.tests.is_green());
    let names = failed.take(MAX_ALONE).map(|row| row.name.clone());
    let own = |name: String| {
        let view = timeline.of_tests(|tests| Some(tests.of_scope(&name)?.tests.clone()));
        (name, view)
    };
    names.map(own).collect()
}

#[cfg(test)]
mod tests {
    use crate::detect::rules::{recurrence, unchanged_diff, undo_churn, weak_change};
    use crate::detect::testkit::reported;
    use crate::domain::{CommitKind::Merge, Level, Nature};
    use crate::testkit::{Commit, commit};

    #[test]
    fn a_warning_is_given_once_while_it_lasts() {
        let comments = |state: u8| {
            let own = commit(state).change(Nature::Comments, &[(1, state, state + 1)]);
            own.hunks(&[(state, state + 1)])
        };
        let level = |commits: Vec<Commit>| reported(&weak_change::RULE, commits, Level::Warn);
        let row = |states: &[u8]| states.iter().copied().map(comments).collect::<Vec<_>>();
        assert_eq!(level(row(&[1, 2])), None);
        assert_eq!(level(row(&[1, 2, 3])), Some(Level::Warn), "it comes up");
        assert_eq!(level(row(&[1, 2, 3, 4])), Some(Level::Note), "it lasts");
        let mut merged = row(&[1, 2, 3, 4, 5]);
        merged[3] = merged[3].clone().kind(Merge);
        assert_eq!(level(merged), Some(Level::Note), "a merge ends nothing");
        let mut again = row(&[1, 2, 3, 4, 5, 6, 7]);
        again[3] = commit(40);
        assert_eq!(level(again), Some(Level::Warn), "it comes up again");
    }

    #[test]
    fn churn_that_pauses_at_the_same_files_is_the_same() {
        let churn = |path: u8, from: u8| -> Vec<Commit> {
            let one = |(state, hunk): (u8, &(u8, u8))| {
                commit(state).change(Nature::Work, &[(path, state, state + 1)]).hunks(&[*hunk])
            };
            (from..).zip(&[(1, 2), (2, 1), (1, 2), (2, 1)]).map(one).collect()
        };
        let quiet =
            |at: u8| commit(100 + at).change(Nature::Work, &[(9, at, at + 1)]).hunks(&[(50 + at, 90)]);
        // The level when it comes up again.
        let level = |pause: u8, path: u8| {
            let before: Vec<Commit> = churn(1, 10).into_iter().chain((0..pause).map(quiet)).collect();
            (1..=4).find_map(|count| {
                let again = churn(path, 200).into_iter().take(count);
                reported(&undo_churn::RULE, before.iter().cloned().chain(again).collect(), Level::Warn)
            })
        };
        assert_eq!(level(5, 1), Some(Level::Note), "quiet for a while");
        assert_eq!(level(12, 1), Some(Level::Warn), "for long");
        assert_eq!(level(5, 2), Some(Level::Warn), "another file");
    }

    #[test]
    fn what_refuses_or_halts_is_reported_each_time() {
        let back = |states: &[u8], level: Level| {
            reported(&recurrence::RULE, states.iter().map(|state| commit(*state)).collect(), level)
        };
        assert_eq!(back(&[1, 2, 1], Level::Warn), Some(Level::Warn));
        assert_eq!(back(&[1, 2, 1, 2], Level::Warn), Some(Level::Note));
        assert_eq!(back(&[1, 2, 1, 2], Level::Block), Some(Level::Block));
        let cosmetic =
            |count: usize| reported(&unchanged_diff::RULE, vec![commit(1).cosmetic(); count], Level::Halt);
        assert_eq!(cosmetic(2), Some(Level::Warn));
        assert_eq!(cosmetic(3), Some(Level::Note));
        assert_eq!(cosmetic(5), Some(Level::Halt));
        assert_eq!(cosmetic(6), Some(Level::Halt));
    }
}

#[cfg(test)]
mod alone_tests {
    use super::*;
    use crate::detect::{self, Stops};
    use crate::domain::{CodeId, CommitId, Level, ScopeTests, Stage, TestEvidence};
    use crate::testkit::{Commit, commit, green, oid, red, timeline};

    fn row(name: &str, tests: TestEvidence) -> ScopeTests {
        ScopeTests { name: name.to_owned(), needs: Vec::new(), tests, from: None }
    }

    fn scoped(state: u8, rows: Vec<ScopeTests>) -> Commit {
        commit(state).tests(TestEvidence::together(CodeId([state; 32]), rows))
    }

    fn found(commits: Vec<Commit>) -> Vec<(&'static str, Level, String)> {
        let timeline = timeline(commits);
        let (candidate, episode) = (None, None);
        let stage = Stage::PostCommit;
        let situation = Situation { timeline: &timeline, stage, candidate, stops: Stops::NONE, episode };
        let findings = detect::run(&situation, &detect::defaults());
        findings.into_iter().map(|one| (one.rule, one.level, one.message())).collect()
    }

    #[test]
    fn a_scope_that_fails_otherwise_each_time_hides_no_loop() {
        let noise = [&["x"][..], &["y"], &["z"]];
        let commits: Vec<Commit> = (1..=3)
            .map(|state| {
                let other = red(state + 100, noise[usize::from(state) - 1], 9);
                scoped(state, vec![row("core", red(state, &["a"], 9)), row("web", other)])
            })
            .collect();
        let said = found(commits);
        let loops = said.iter().find(|(rule, _, _)| *rule == "repeated-failures");
        let (_, level, message) = loops.unwrap_or_else(|| panic!("{said:?}"));
        assert_eq!(*level, Level::Halt);
        assert!(message.starts_with("scope core: the same test failed 3 times in a row"), "{message}");
    }

    #[test]
    fn a_scope_that_is_not_worked_on_is_no_attempt_of_its_own() {
        let commits: Vec<Commit> = (1..=3)
            .map(|state| {
                let old = ScopeTests { from: Some(CommitId(oid(9))), ..row("core", red(50, &["a"], 9)) };
                scoped(state, vec![old, row("web", green(state, 9))])
            })
            .collect();
        let said = found(commits);
        assert!(said.iter().all(|(_, _, message)| !message.contains("scope core")), "{said:?}");
    }
}
