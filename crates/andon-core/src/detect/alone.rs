//! The tests of one scope, seen alone: another scope that fails all the time hides no loop in it.

use super::situation::Situation;
use super::{REGISTRY, evaluate};
use crate::domain::findings::Finding;
use crate::domain::scopes::called;
use crate::domain::settings::RuleSettings;
use crate::history::Timeline;

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
    use super::*;
    use crate::detect::{self, Stops};
    use crate::domain::decision::Stage;
    use crate::domain::findings::Level;
    use crate::domain::ids::CodeId;
    use crate::domain::ids::CommitId;
    use crate::domain::tests::{ScopeTests, TestEvidence};
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
