//! What the changes of the range themselves say, whatever is recorded about them: what they took from the tests
//! (`test-weakening`), and whether documentation moved with the declared API (`docs-not-updated`).

use super::{Case, CommitRef, Diagnostic, ExaminedCommits, at, of_finding, waivers};
use andon_core::detect::{self, Candidate, CodeChange, EvidenceState, Origin, Patterns, Rule, Situation};
use andon_core::domain::decision::Stage;
use andon_core::domain::facts::{CommitFact, Fact, Weakening};
use andon_core::history::{Fold, Timeline};
use andon_engine::error::OpsError;
use andon_engine::evidence::docs;
use andon_engine::range;
use andon_engine::weakening;
use andon_git::CommitInfo;
use andon_store::window;

/// How many records below the range say whether failures were open when it began.
const WINDOW: usize = 24;

/// What the commits take from the tests, one after the other.
#[derive(Default)]
pub(super) struct WeakeningFold {
    /// The commits so far; `None` before the first.
    fold: Option<Fold>,
}

impl WeakeningFold {
    /// What `commit` took from the tests; completes its fact.
    pub(super) fn judge(
        &mut self,
        case: &Case<'_>,
        commit: &CommitInfo,
        fact: &mut CommitFact,
    ) -> Result<Vec<Diagnostic>, OpsError> {
        let fold = self.fold.get_or_insert_with(|| below(case, commit));
        let last = weakening::last_result(&[], fold.timeline(), fact.record.code).cloned();
        let derived = weakening::find(case.repo, &case.config.rules, commit, last.as_ref())?;
        fact.record.weakening = derived.or_else(|| fact.record.weakening.take());
        fold.push(Fact::Commit(Box::new(fact.clone())));
        let situation = range::situation(fold.timeline(), Stage::Check);
        Ok(found_by(case, &situation, &detect::TEST_WEAKENING, at(commit)))
    }
}

/// What the range as a whole removes from the tests of its base, where it does so in more than one step. A loss for
/// which a commit gives a reason is not reported again.
pub(super) fn weakened(case: &Case<'_>, examined: &ExaminedCommits) -> Result<Vec<Diagnostic>, OpsError> {
    let (Some(first), Some(tip)) = (examined.commits().first(), examined.commits().last()) else {
        return Ok(Vec::new());
    };
    let taken_by =
        |fact: CommitFact| detect::taken_by(fact.record.weakening.as_ref(), fact.record.tests.as_ref());
    let bound = |(_, fact): &(usize, CommitFact)| fact.id.is_none_or(|id| examined.is_bound(id));
    let facts = || examined.facts().enumerate().filter(bound);
    let taken: Vec<(usize, Weakening)> =
        facts().filter_map(|(place, fact)| Some((place, taken_by(fact)?))).collect();
    let (Some(below), Some(setting)) = (first.parents.first(), weakening::setting(&case.config.rules)) else {
        return Ok(Vec::new());
    };
    if taken.len() < 2 {
        return Ok(Vec::new());
    }
    let found = weakening::since(case.repo, &Patterns::new(&setting), *below, case.repo.tree_of(tip.id)?)?;
    let lost = detect::lost_in_all(facts().filter_map(|(_, fact)| Some(fact.record.tests?.lost)));
    let found = detect::with_lost(found, &lost);
    let later = waivers::collect(examined).pop();
    let open = taken.iter().rev().find(|(_, it)| it.waiver.is_none()).map(|(place, _)| *place);
    // A later commit that gives the reason for everything that is left is named in the line; where it covers a part,
    // the rest is reported.
    let whole = later.as_ref().filter(|waiver| open.is_some_and(|open| waiver.place > open));
    let given = |(place, it): &&(usize, Weakening)| {
        it.waiver.is_some() || (whole.is_none() && later.as_ref().is_some_and(|waiver| waiver.place > *place))
    };
    let found = found.map(|found| taken.iter().filter(given).map(|(_, it)| it).fold(found, without));
    let waiver = whole.map(|waiver| waiver.reason.clone());
    let found = found.filter(|found| found.total > 0).map(|found| Weakening { waiver, ..found });
    let found = found.and_then(|found| detect::weakened_range(found, &case.config.rules));
    Ok(found.map(|found| of_finding(examined.at(tip.id), &found)).into_iter().collect())
}

/// What is left of `found` when `given`, for which a reason was given, is taken out.
fn without(mut found: Weakening, given: &Weakening) -> Weakening {
    found.total = found.total.saturating_sub(given.total);
    found.removed.retain(|name| !given.removed.contains(name));
    found.skipped.retain(|name| !given.skipped.contains(name));
    found.loosened.retain(|name| !given.loosened.contains(name));
    if found.counts() == [0; 3] {
        found.total = 0;
    }
    found
}

/// The records below the first commit of the range.
fn below(case: &Case<'_>, first: &CommitInfo) -> Fold {
    let mut fold = Fold::new(case.config.guard.session_gap);
    let parent = first.parents.first().copied();
    for fact in window::read_window(case.repo, &case.store, parent, WINDOW).facts {
        fold.push(Fact::Commit(Box::new(fact)));
    }
    fold
}

/// Whether documentation moved with the API, over the range as a whole.
pub(super) fn undocumented(case: &Case<'_>, examined: &ExaminedCommits) -> Result<Vec<Diagnostic>, OpsError> {
    let (Some(first), Some(tip)) = (examined.commits().first(), examined.commits().last()) else {
        return Ok(Vec::new());
    };
    let Some(below) = first.parents.first() else { return Ok(Vec::new()) };
    if !examined.commits().iter().any(|commit| examined.is_bound(commit.id)) {
        return Ok(Vec::new());
    }
    let before = case.repo.tree_of(*below)?;
    let candidate = Candidate {
        code_changed: CodeChange::Unchanged,
        evidence: EvidenceState::Unconfigured,
        origin: Origin::Work,
        docs: docs::between(case.repo, case.config, Some(before), case.repo.tree_of(tip.id)?)?,
        identity: Vec::new(),
        command: None,
        advice: None,
        making: None,
        changed_by_hook: Vec::new(),
    };
    let timeline = Timeline::new(case.config.guard.session_gap);
    let situation = Situation { candidate: Some(&candidate), ..range::situation(&timeline, Stage::Check) };
    Ok(found_by(case, &situation, &detect::DOCS_NOT_UPDATED, examined.at(tip.id)))
}

/// What one rule says of a commit.
fn found_by(case: &Case<'_>, situation: &Situation<'_>, rule: &Rule, at: CommitRef) -> Vec<Diagnostic> {
    let found = detect::evaluate(rule, situation, &case.config.rules);
    found.map(|found| of_finding(at, &found)).into_iter().collect()
}
