//! Records that contradict themselves, their commit, or another line of their note.

use super::{Case, Diagnostic, at, violation};
use andon_core::domain::{
    CommitId, CommitRecord, Hint, Level, RanOn, Recording, RunOrigin, ScopeTests, TestEvidence, TestStatus,
    scopes::called, signatures,
};
use andon_git::CommitInfo;
use andon_store::{Note, wire::v1};

/// Longest text that the format does not cut, in bytes: what is longer has another signature than its record shows.
const WHOLE: usize = 250;

/// Judges a record.
pub(super) fn judge(case: &Case<'_>, commit: &CommitInfo, record: &CommitRecord) -> Vec<Diagnostic> {
    let help = Hint::ReadNotes.with([&commit.id.short()]);
    let edited = |what: String| violation(at(commit), "edited-record", Level::Block, what, &help);
    let tests = record.tests.as_ref().and_then(of_tests);
    let tests = tests.map(|what| edited(format!("the record contradicts itself: {what}")));
    let of_scopes = record.tests.as_ref().and_then(|tests| of_inherited(case, tests));
    let others = of_scopes.into_iter().chain(of_node(case, commit, record)).map(edited);
    tests.into_iter().chain(others).collect()
}

/// A scope whose result is said to come from a commit that is here, and whose record tells no such result.
fn of_inherited(case: &Case<'_>, tests: &TestEvidence) -> Option<String> {
    // A release carries the results of its parent to its own code, which is derived again elsewhere.
    let is_release = tests.ran_on == RanOn::Parent;
    let is_told =
        |row: &ScopeTests, from: CommitId| match case.store.readable(from).and_then(|record| record.tests) {
            Some(told) => told.of_scope(&row.name).is_some_and(|told| {
                told.tests.signature == row.tests.signature
                    && (is_release || told.tests.code == row.tests.code)
            }),
            // Records of commits that are gone are taken away (`git notes prune`).
            None => case.repo.commit(from).is_err(),
        };
    let lie = tests.scopes.iter().find_map(|row| Some((row, row.from.filter(|from| !is_told(row, *from))?)));
    lie.map(|(row, from)| {
        format!(
            "the record was edited: the result of {} is said to come from {}, whose record does not tell it",
            called(&row.name),
            from.short()
        )
    })
}

/// Lines of one note that contradict each other: the worst of them counts, and one of them is not true.
pub(super) fn of_note(commit: &CommitInfo, note: &Note) -> Option<Diagnostic> {
    let parent = Some(commit.parents.first().copied());
    let same_commit = v1::DerivedFacts { tree: Some(commit.tree), parent, ..v1::DerivedFacts::default() };
    let what = note.disagreement(&same_commit)?;
    let message = format!("its records contradict each other in their {what}; the worst of them counts");
    let help = Hint::ReadNotesAndLog.with([&commit.id.short()]);
    Some(violation(at(commit), "contradicting-records", Level::Block, message, &help))
}

/// Test results that cannot be true at once. Handed-in test runs are only claims.
pub(super) fn of_tests(tests: &TestEvidence) -> Option<&'static str> {
    if tests.origin == RunOrigin::HandedIn {
        return None;
    }
    if tests.command == TestEvidence::OF_SCOPES && !is_of_its_scopes(tests) {
        return Some("its tests are not those of its scopes");
    }
    let counts = tests.counts();
    let fails = counts.failing() > 0 || !tests.failing.is_empty();
    let summed = [counts.passed, counts.failed, counts.errored, counts.skipped].into_iter().sum::<u64>();
    let is_whole = !tests.truncated
        && tests.command.len() < WHOLE
        && tests.runner.len() < WHOLE
        && tests.failing.iter().all(|id| id.len() < WHOLE);
    let is_contradicted = [
        (tests.status == TestStatus::Passed && fails, "the tests passed, and it names tests that fail"),
        (tests.status == TestStatus::Failed && !fails, "the tests failed, and no test does"),
        (summed != counts.total, "the counts of its tests do not add up"),
        (is_whole && !signatures::is_signed(tests), "the signature of its tests is that of another result"),
    ];
    is_contradicted.into_iter().find_map(|(holds, what)| holds.then_some(what))
}

/// True when the result is that which its scopes come to. Where a list was cut, more cannot be said.
fn is_of_its_scopes(tests: &TestEvidence) -> bool {
    let of = TestEvidence::together(tests.code, tests.scopes.clone());
    let cut = tests.truncated || of.truncated;
    of.status == tests.status
        && of.counts() == tests.counts()
        && (cut || (of.failing == tests.failing && of.runner == tests.runner))
}

/// A node that its commit's author and trailers contradict, by the workflow of the left side.
fn of_node(case: &Case<'_>, commit: &CommitInfo, record: &CommitRecord) -> Option<String> {
    let workflow = &case.config.workflow;
    if !workflow.is_declared() || record.recording != Recording::AtCommit {
        return None;
    }
    let author = format!("{} <{}>", commit.author, commit.email);
    let may_be = workflow.may_be(&record.node, &author, &commit.trailers);
    (!may_be).then(|| {
        format!(
            "the record was edited: its node is {:?}, and author and trailers of the commit say another",
            record.node
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_testkit::facts::{green, red};

    #[test]
    fn results_that_contradict_themselves_are_named() {
        let signed = |mut tests: TestEvidence| {
            tests.passed = tests.total - tests.counts().failing() - tests.skipped;
            let TestEvidence { runner, command, status, failing, .. } = &tests;
            tests.signature = signatures::signature(runner, command, *status, failing);
            tests
        };
        let (green, red) = (signed(green(1, 9)), signed(red(1, &["a"], 9)));
        assert_eq!((of_tests(&green), of_tests(&red)), (None, None));
        let edit = |from: &TestEvidence, change: fn(&mut TestEvidence)| {
            let mut tests = from.clone();
            change(&mut tests);
            of_tests(&tests)
        };
        let whitewashed = edit(&red, |tests| tests.status = TestStatus::Passed);
        assert_eq!(whitewashed, Some("the tests passed, and it names tests that fail"));
        let emptied = edit(&red, |tests| {
            tests.status = TestStatus::Passed;
            tests.failing.clear();
            tests.passed += tests.counts().failing();
            (tests.failed, tests.errored) = (0, 0);
        });
        assert_eq!(emptied, Some("the signature of its tests is that of another result"));
        assert_eq!(edit(&green, |tests| tests.total += 1), Some("the counts of its tests do not add up"));
        assert_eq!(
            edit(&green, |tests| tests.status = TestStatus::Failed),
            Some("the tests failed, and no test does")
        );
        assert_eq!(edit(&red, |tests| tests.truncated = true), None);
        let handed_in = edit(&red, |tests| {
            tests.status = TestStatus::Passed;
            tests.origin = RunOrigin::HandedIn;
        });
        assert_eq!(handed_in, None);
    }
}
