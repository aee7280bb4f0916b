//! The window in words and figures: what a person reads first when a loop has stopped.

use std::collections::BTreeSet;

use super::{Call, Source, Timeline, flaky::steady_count, outcome::failing_count};
use crate::change::path_hash;
use crate::domain::{CommitId, Story, TestEvidence, TriedLine};

impl Timeline {
    /// Failing counts of the test-bearing iterations, oldest first (docs/spec-map.md, loop safety: recommended UX:
    /// `7 -> 4 -> 2`). Iterations whose count is unknown are left out, and so are commits that kept the
    /// code state: they carry the result of the commit before. Flaky tests are no part of it.
    pub fn trend(&self) -> Vec<u64> {
        let mut trend = Vec::new();
        let mut before = None;
        let flaky = self.flaky();
        for iteration in &self.iterations {
            let Some(tests) = iteration.tests.as_ref() else { continue };
            let Some(failing) = steady_count(tests, &flaky) else { continue };
            if before != Some((iteration.code, tests.signature)) {
                trend.push(failing);
            }
            before = Some((iteration.code, tests.signature));
        }
        trend
    }

    /// The trend of all attempts: behind the iterations the failed runs of the open turn, each on code that was edited.
    pub(crate) fn trend_of_attempts(&self) -> Vec<u64> {
        let mut trend = self.trend();
        trend.extend(&self.activity.red.counts);
        trend
    }

    /// The commit of the window with the fewest failing tests and that count, the newest of equals.
    pub fn best(&self) -> Option<(CommitId, u64)> {
        let mut best: Option<(CommitId, u64)> = None;
        let flaky = self.flaky();
        for iteration in &self.iterations {
            let failing = iteration.tests.as_ref().and_then(|tests| steady_count(tests, &flaky));
            if let (Some(commit), Some(failing)) = (iteration.commit_here(), failing)
                && best.is_none_or(|(_, least)| failing <= least)
            {
                best = Some((commit, failing));
            }
        }
        best
    }

    /// Distinct files, where all changes of the window are known, with those that its newest tests saw edited.
    fn files_changed(&self) -> Option<u64> {
        let mut paths = BTreeSet::new();
        for iteration in self.iterations.iter().filter(|one| one.source == Source::Commit) {
            let change = iteration.change.as_ref().filter(|change| !change.truncated)?;
            paths.extend(change.paths.iter().map(|step| step.path));
        }
        let newest = self.newest().map(|newest| newest.code);
        if let Some(run) = self.runs.last().filter(|run| Some(run.evidence.code) != newest) {
            if run.overlay_truncated {
                return None;
            }
            paths.extend(run.overlay.iter().map(|entry| path_hash(&entry.path)));
        }
        u64::try_from(paths.len()).ok()
    }

    fn last_action(&self) -> Option<String> {
        let newest = self.newest();
        let since = newest.map_or(0, |newest| newest.number);
        let call = self.activity.calls.last().filter(|call| call.iteration >= since);
        if let Some(Call { call, .. }) = call {
            return Some(call.shown.clone().unwrap_or_else(|| call.tool.clone()));
        }
        newest.map(|newest| match newest.source {
            Source::Commit => format!("commit: {}", newest.subject),
            Source::Turn(_) => "a turn that ended without a commit".to_owned(),
        })
    }

    /// Returns the story of what was tried and what came nearest.
    pub fn story(&self) -> Story {
        let tried = self.iterations.iter().map(|iteration| {
            let tests = iteration.tests.as_ref();
            TriedLine {
                iteration: iteration.number,
                commit: iteration.commit,
                kind: iteration.kind,
                subject: iteration.subject.clone(),
                code: iteration.code,
                failing: tests.and_then(failing_count),
                passed: tests.filter(|tests| failing_count(tests).is_some()).map(|tests| tests.passed),
                status: tests.map(|tests| tests.status),
            }
        });
        let sum = |lines: fn(&super::Iteration) -> u64| {
            self.iterations.iter().map(lines).fold(0_u64, u64::saturating_add)
        };
        Story {
            tried: tried.collect(),
            best: self.best(),
            failing_now: self.newest_tests().map(|tests| tests.failing.clone()).unwrap_or_default(),
            flaky: self.flaky().iter().take(TestEvidence::MAX_FLAKY).cloned().collect(),
            files: self.files_changed(),
            last_action: self.last_action(),
            lines_added: sum(|iteration| iteration.diff.added),
            lines_removed: sum(|iteration| iteration.diff.removed),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::{Fact, OverlayEntry, TestStatus, Tracking};
    use crate::testkit::{commit, green, red, run, timeline};

    #[test]
    fn the_trend_shows_known_counts_of_new_code_only() {
        let mut broken = commit(4).tests(red(4, &["a"], 9));
        if let Some(tests) = broken.record().tests.as_mut() {
            tests.status = TestStatus::BuildFailed;
        }
        let line = timeline(vec![
            commit(1).tests(red(1, &["a", "b", "c"], 9)),
            commit(2),
            commit(3).tests(red(3, &["a", "b"], 9)),
            commit(3).tests(red(3, &["a", "b"], 9)).subject("docs"),
            broken,
            commit(5).tests(green(5, 9)),
        ]);
        assert_eq!(line.trend(), [3, 2, 0]);
    }

    #[test]
    fn the_trend_of_attempts_goes_on_within_a_turn() {
        let edited = |state: u8, failing: &[&str]| {
            let mut made = run(red(state, failing, 9));
            made.overlay_truncated = true;
            Fact::TestRun(Box::new(made))
        };
        let facts = [
            commit(1).tests(red(1, &["a", "b", "c"], 9)).fact(),
            edited(2, &["a", "b"]),
            edited(3, &["a", "b"]),
            edited(3, &["a", "b"]),
        ];
        let line = crate::history::fold(&facts, crate::testkit::GAP);
        assert_eq!((line.trend(), line.trend_of_attempts()), (vec![3], vec![3, 2, 2]));
        let ended = [facts.to_vec(), vec![commit(4).tests(red(4, &["a"], 9)).fact()]].concat();
        assert_eq!(crate::history::fold(&ended, crate::testkit::GAP).trend_of_attempts(), [3, 1]);
    }

    #[test]
    fn the_best_is_the_newest_of_the_fewest() {
        let line = timeline(vec![
            commit(1).tests(red(1, &["a"], 9)),
            commit(2).tests(red(2, &["a", "b"], 9)),
            commit(3).tests(red(3, &["b"], 9)),
            commit(4).tests(red(4, &["a", "b", "c"], 9)),
        ]);
        assert_eq!(line.best(), line.iterations[2].commit.map(|commit| (commit, 1)));
        assert_eq!(timeline(vec![commit(1)]).best(), None);
    }

    #[test]
    fn the_story_tells_of_every_iteration_and_of_what_fails_now() {
        let line = timeline(vec![commit(1).tests(red(1, &["a"], 9)), commit(2).subject("try again")]);
        let story = line.story();
        assert_eq!(story.tried.len(), 2);
        assert_eq!((story.tried[0].failing, story.tried[0].passed), (Some(1), Some(8)));
        assert_eq!((story.tried[1].failing, story.tried[1].subject.as_str()), (None, "try again"));
        assert_eq!(story.failing_now, ["a"]);
        assert_eq!((story.lines_added, story.lines_removed), (2, 2));

        let mut facts = vec![commit(1).tests(red(1, &["a"], 9)).fact()];
        let mut edited = run(red(2, &["z"], 9));
        let path =
            |path: &[u8]| OverlayEntry { path: path.to_vec(), entry: None, tracking: Tracking::Tracked };
        edited.overlay = vec![path(b"a"), path(b"b")];
        facts.push(Fact::TestRun(Box::new(edited)));
        let told = |facts: &[Fact]| crate::history::fold(facts, crate::testkit::GAP).story();
        assert_eq!(told(&facts).failing_now, ["z"]);
        assert_eq!(told(&facts[1..]).files, Some(2));
    }
}
