//! Checks of a range as a whole: documents and tests that changed with it, its squash, and the tests of its tip.
//!
//! `andon check --squash-of RANGE`: a squash merge leaves one commit without records. What was judged on the branch holds for it
//! when its tree is what the branch leads to: the same tree, or the one that merging the branch into the squash commit's parent
//! gives.

use super::{
    Case, CommitRef, Conclusion, Diagnostic, JudgedRange, Location, RangeEvidence, at, halts, level_of,
    of_finding, overrides, violation,
};
use andon_core::detect::{self, Candidate, Rule, Situation};
use andon_core::domain::{CommitFact, CommitId, Fact, Hint, Level, Stage, TestEvidence, TreeId, Weakening};
use andon_core::history::{Fold, Timeline};
use andon_engine::view::{TipOutcome, TipRun, TipRunSource, TipTests};
use andon_engine::{Result, evidence::docs, range, weakening};
use andon_git::{CommitInfo, Repo};
use andon_store::Content;

/// The losses of tests, commit after commit.
#[derive(Default)]
pub(super) struct WeakeningFold(Option<Fold>);

impl WeakeningFold {
    /// Judges the loss of tests in `commit`, and completes its fact.
    pub(super) fn judge(
        &mut self,
        case: &Case<'_>,
        commit: &CommitInfo,
        fact: &mut CommitFact,
    ) -> Result<Vec<Diagnostic>> {
        let fold = self.0.get_or_insert_with(|| halts::below(case, commit.parents.first().copied(), &[]));
        let last = weakening::last_result(&[], fold.timeline(), fact.record.code).cloned();
        let derived = weakening::find(case.repo, &case.config.rules, commit, last.as_ref())?;
        fact.record.weakening = derived.or_else(|| fact.record.weakening.take());
        fold.push(Fact::Commit(Box::new(fact.clone())));
        let situation = range::situation(fold.timeline(), Stage::Check);
        Ok(found_by(case, &situation, &detect::TEST_WEAKENING, at(commit)))
    }
}

/// Returns what the range as a whole removes from the tests of its base, where it does so in more than one step. A loss for
/// which a commit gives a reason is not reported again.
pub(super) fn weakened(whole: JudgedRange<'_>) -> Result<Vec<Diagnostic>> {
    let JudgedRange { case, examined } = whole;
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
    let found = weakening::since(
        case.repo,
        &weakening::TestReader::new(&setting),
        *below,
        case.repo.tree_of(tip.id)?,
    )?;
    let lost = detect::lost_in_all(facts().filter_map(|(_, fact)| Some(fact.record.tests?.lost)));
    let found = detect::with_lost(found, &lost);
    let later = overrides::waivers(examined).pop();
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
    let found = found.and_then(|found| detect::weakened_range(&found, &case.config.rules));
    Ok(found.map(|found| of_finding(examined.at(tip.id), &found)).into_iter().collect())
}

/// `found` without `given`, for which a reason was given.
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

/// Checks that documentation moved with the API, over the range as a whole.
pub(super) fn undocumented(whole: JudgedRange<'_>) -> Result<Vec<Diagnostic>> {
    let JudgedRange { case, examined } = whole;
    let (Some(first), Some(tip)) = (examined.commits().first(), examined.commits().last()) else {
        return Ok(Vec::new());
    };
    let Some(below) = first.parents.first() else { return Ok(Vec::new()) };
    if !examined.commits().iter().any(|commit| examined.is_bound(commit.id)) {
        return Ok(Vec::new());
    }
    let (before, after) = (case.repo.tree_of(*below)?, Content::Tree(case.repo.tree_of(tip.id)?));
    let docs = docs::between(case.repo, case.config, Some(before), after)?;
    let candidate = Candidate { docs, ..Candidate::default() };
    let timeline = Timeline::new(case.config.guard.session_gap);
    let situation = Situation { candidate: Some(&candidate), ..range::situation(&timeline, Stage::Check) };
    Ok(found_by(case, &situation, &detect::DOCS_NOT_UPDATED, examined.at(tip.id)))
}

/// The message of one rule about a commit.
fn found_by(case: &Case<'_>, situation: &Situation<'_>, rule: &Rule, at: CommitRef) -> Vec<Diagnostic> {
    let found = detect::evaluate(rule, situation, &case.config.rules);
    found.map(|found| of_finding(at, &found)).into_iter().collect()
}

/// Proves or refutes that `squash` is the squash of what `tip` adds to its parent.
pub(super) fn squashed(repo: &Repo, squash: CommitId, tip: CommitId) -> Result<Vec<Diagnostic>> {
    let commit = repo.commit(squash)?;
    let tip_tree = repo.tree_of(tip)?;
    if commit.tree == tip_tree {
        return Ok(Vec::new());
    }
    let merged = match commit.parents.first() {
        Some(parent) => repo.merged_tree(*parent, tip)?,
        None => None,
    };
    if merged == Some(commit.tree) {
        let what = "the branch was squashed onto a newer base: the tests never ran on exactly this tree";
        return Ok(vec![violation(at(&commit), "untested-squash", Level::Warn, what, Hint::Test.text())]);
    }
    Ok(vec![refuted(repo, &commit, tip, merged.unwrap_or(tip_tree))?])
}

fn refuted(repo: &Repo, commit: &CommitInfo, tip: CommitId, wanted: TreeId) -> Result<Diagnostic> {
    let differing = repo.changes(Some(wanted), commit.tree)?;
    let named: Vec<String> =
        differing.iter().take(3).map(|change| String::from_utf8_lossy(&change.path).into_owned()).collect();
    let what = format!(
        "the commit is no squash of that range: {} path(s) differ from what it leads to, first: {}",
        differing.len(),
        named.join(", ")
    );
    let help = Hint::Diff.with([&tip.short(), &commit.id.short()]);
    Ok(violation(at(commit), "not-the-squash", Level::Block, what, &help))
}

/// The tests of the tip's code must pass. Commits on the way may fail: that is how tests drive work.
pub(super) fn tip(whole: JudgedRange<'_>, backed: &RangeEvidence) -> Option<Diagnostic> {
    let JudgedRange { case, examined } = whole;
    let tip = examined.commits().last()?.id;
    if level_of(case, &detect::FAILING_TESTS) == Level::Off || !examined.is_bound(tip) {
        return None;
    }
    let code = examined.code(tip)?;
    let ran = examined.tested().filter_map(|fact| fact.record.tests).find(|tests| tests.code == code);
    match (ran, backed.failing(code)) {
        (Some(tests), _) => (!tests.is_green()).then(|| failing(case, examined.at(tip), &tests)),
        // The tests at the tip say it for themselves.
        (None, Some(run))
            if case.tests.is_none_or(|tests| matches!(tests.outcome(), TipOutcome::Unknown(_))) =>
        {
            let message = format!(
                "git made this code of {}, whose tests do not pass: {}; no run on it says otherwise",
                run.at.short(),
                figures(&run.tests)
            );
            Some(violation(
                examined.at(tip),
                detect::FAILING_TESTS.id,
                Level::Block,
                message,
                Hint::Test.text(),
            ))
        }
        (None, _) => None,
    }
}

/// The record of the tip says that tests fail; a run of this check says otherwise, where there is one.
fn failing(case: &Case<'_>, tip: CommitRef, tests: &TestEvidence) -> Diagnostic {
    let (level, now) = if case.stands_in() {
        (Level::Warn, " by the record, and pass in the run of this check, which counts")
    } else {
        (Level::Block, "")
    };
    let message = format!("the tests of this code do not pass{now}: {}", figures(tests));
    violation(tip, detect::FAILING_TESTS.id, level, message, Hint::Test.text())
}

/// `failed, 1 of 2 failing, first: b`
fn figures(tests: &TestEvidence) -> String {
    let named: Vec<&str> = tests.failing.iter().take(3).map(String::as_str).collect();
    let which = if named.is_empty() { String::new() } else { format!(", first: {}", named.join(", ")) };
    format!("{}, {} of {} failing{which}", tests.status.as_str(), tests.counts().failing(), tests.total)
}

/// Judges the tests that ran at the tip. They were asked for, so that no level of a rule silences them.
pub(super) fn at_tip(repo: &Repo, tests: &TipTests) -> Result<Conclusion> {
    let at = CommitRef { commit: tests.tip, subject: repo.commit(tests.tip)?.subject };
    let mut said = Conclusion::default();
    match (tests.outcome(), tests.deciding()) {
        (TipOutcome::Failed, Some(run)) => said.violations.push(fails(at.clone(), run)),
        (TipOutcome::Failed | TipOutcome::Passed, _) => {}
        (TipOutcome::Unknown(why), _) => {
            let message = format!("nothing is known of the tests of the tip: {why}");
            let missing = Diagnostic::error(message).code("tip-untested").at(Location::Commit(at.clone()));
            said.undecided.push(missing.help(Hint::ShowConfigOf.with(["test"])));
        }
    }
    said.violations.extend(other_command(at, tests));
    Ok(said)
}

fn fails(tip: CommitRef, run: &TipRun) -> Diagnostic {
    let figures = run.evidence.as_ref().map(figures).unwrap_or_default();
    let by = match run.by {
        TipRunSource::Base => format!("`{}`, the command of the base", run.command),
        TipRunSource::Tip => format!("`{}`", run.command),
        TipRunSource::Ci => run.command.clone(),
    };
    let message = format!("the tests of the tip fail: {figures}, by {by}");
    violation(tip, detect::FAILING_TESTS.id, Level::Block, message, Hint::Test.text())
}

/// The tip has another test command than the base. The check names both, whatever the result.
fn other_command(tip: CommitRef, tests: &TipTests) -> Option<Diagnostic> {
    let base = tests.at_base.as_ref().filter(|_| tests.command_differs())?;
    let now = tests.at_tip.as_ref().map_or_else(|| "not set".to_owned(), |command| format!("`{command}`"));
    let how = match &tests.runs[..] {
        [TipRun { by: TipRunSource::Ci, .. }] => "which of them ran is the word of the job".to_owned(),
        [base, tip] => format!("the one of the base {}, that of the tip {}", word(base), word(tip)),
        [TipRun { by: TipRunSource::Tip, .. }] => match &tests.base_cannot_run {
            Some(why) => format!("only that of the tip could run: {why}"),
            None => "only that of the tip ran".to_owned(),
        },
        _ => "that of the base ran".to_owned(),
    };
    let message = format!("test.command is {now} at the tip and `{base}` at the base of the range; {how}");
    let help = Hint::LogConfig.led("a person looks at the change");
    Some(violation(tip, "test-command-changed", Level::Warn, message, &help))
}

fn word(run: &TipRun) -> String {
    match &run.outcome {
        TipOutcome::Passed => "passed".to_owned(),
        TipOutcome::Failed => "failed".to_owned(),
        TipOutcome::Unknown(why) => format!("proves nothing ({why})"),
    }
}
