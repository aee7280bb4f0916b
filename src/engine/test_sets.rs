//! The set of tests of a run, held against that of the last recorded one.

use std::collections::BTreeSet;
use std::path::Path;

use testreport::ParsedRun;

use super::workspace::Workspace;
use crate::detect;
use crate::domain::facts::CommitKind;
use crate::domain::signatures::set_of;
use crate::domain::tests::{LostTests, TestEvidence};
use crate::history::Timeline;
use crate::store::test_sets;

/// Keeps which tests the run had, for the commits to come.
pub fn keep(ws: &Workspace, run: &ParsedRun) {
    if let Some(tests) = &run.tests {
        test_sets::keep(ws.repo.common_dir(), set_of(tests), tests);
    }
}

/// What `now`, the tests of a commit, lost against the newest record in `timeline` of a run of the same command. Where other
/// work came in between that brought no run of its own, it may have taken what is missing, and nothing is told.
pub fn lost(common_dir: &Path, timeline: &Timeline, now: &TestEvidence) -> LostTests {
    compared(common_dir, timeline, now).unwrap_or_default()
}

fn compared(common_dir: &Path, timeline: &Timeline, now: &TestEvidence) -> Option<LostTests> {
    let new = now.caveats.set.filter(|_| came_to_its_end(now))?;
    let mut before = None;
    for one in timeline.iterations.iter().rev() {
        let alike = one.tests.as_ref().filter(|tests| {
            tests.command == now.command && tests.runner == now.runner && came_to_its_end(tests)
        });
        before = alike.and_then(|tests| tests.caveats.set);
        if before.is_some() || brings_others_work(one.kind) {
            break;
        }
    }
    let old = before.filter(|old| *old != new)?;
    let load = |set| test_sets::load(common_dir, set);
    let recorded = timeline.iterations.iter().filter_map(|one| one.tests.as_ref());
    let told = recorded.flat_map(|tests| tests.caveats.lost.gone.iter().chain(&tests.caveats.lost.skipped));
    let told: BTreeSet<&str> = told.map(String::as_str).collect();
    Some(detect::lost_tests(&load(old)?, &load(new)?, &told))
}

/// Whether every test had its turn. A run with one failure may have stopped at it, and one with errors before it began.
fn came_to_its_end(tests: &TestEvidence) -> bool {
    tests.is_green() || (tests.counts.errored == 0 && tests.counts.failed >= 2)
}

fn brings_others_work(kind: CommitKind) -> bool {
    match kind {
        CommitKind::Merge | CommitKind::CherryPick | CommitKind::Rebase => true,
        CommitKind::Normal | CommitKind::Amend | CommitKind::Revert => false,
    }
}
