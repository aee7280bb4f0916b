//! What the changes of the range themselves say, whatever is recorded about them: what they took from the tests
//! (`test-weakening`), and whether documentation moved with the declared API (`docs-not-updated`).

use super::{Case, Violation, at};
use crate::detect::{self, Candidate, CodeChange, EvidenceState, Situation};
use crate::domain::decision::Stage;
use crate::domain::facts::{CommitFact, Fact};
use crate::domain::findings::Finding;
use crate::git::CommitInfo;
use crate::history::{Fold, Timeline};
use crate::ops::docs;
use crate::ops::error::OpsError;
use crate::ops::verdict;
use crate::ops::weakening;
use crate::record::window;

/// How many records below the range say whether failures were open when it began.
const WINDOW: usize = 24;

/// What each commit took from the tests while earlier ones failed; completes the facts.
pub(super) fn weakened(case: &Case<'_>, facts: &mut [CommitFact]) -> Result<Vec<Violation>, OpsError> {
    let mut violations = Vec::new();
    let below = case.commits.first().and_then(|first| first.parents.first()).copied();
    let mut fold = Fold::new(case.config.guard.session_gap);
    for fact in window::read_window(case.repo, &case.store, below, WINDOW).facts {
        fold.push(Fact::Commit(Box::new(fact)));
    }
    for (commit, fact) in case.commits.iter().zip(facts) {
        let open = weakening::open_failures(&[], fold.timeline(), fact.record.code).cloned();
        if let Some(open) = open {
            let derived = weakening::of(case.repo, &case.config.rules, commit, &open)?;
            fact.record.weakening = derived.or_else(|| fact.record.weakening.take());
        }
        fold.push(Fact::Commit(Box::new(fact.clone())));
        let situation = verdict::at(fold.timeline(), Stage::Check);
        violations.extend(said(case, &situation, "test-weakening", Some(commit)));
    }
    Ok(violations)
}

/// Whether documentation moved with the API, over the range as a whole.
pub(super) fn undocumented(case: &Case<'_>) -> Result<Vec<Violation>, OpsError> {
    let (Some(first), Some(tip)) = (case.commits.first(), case.commits.last()) else { return Ok(Vec::new()) };
    let Some(below) = first.parents.first() else { return Ok(Vec::new()) };
    let before = case.repo.tree_of(*below)?;
    let candidate = Candidate {
        code_changed: CodeChange::Unchanged,
        evidence: EvidenceState::Unconfigured,
        docs: docs::between(case.repo, &case.config, Some(before), tip.tree)?,
        identity: Vec::new(),
        command: None,
    };
    let timeline = Timeline::new(case.config.guard.session_gap);
    let situation = Situation { candidate: Some(&candidate), ..verdict::at(&timeline, Stage::Check) };
    Ok(said(case, &situation, "docs-not-updated", Some(tip)))
}

/// What one rule says.
fn said(
    case: &Case<'_>,
    situation: &Situation<'_>,
    rule: &str,
    commit: Option<&CommitInfo>,
) -> Vec<Violation> {
    let findings = detect::run(situation, &case.config.rules).into_iter();
    let violation = |finding: Finding| Violation {
        commit: commit.map(at),
        code: finding.rule.to_owned(),
        level: finding.level,
        message: finding.message,
        help: finding.help,
    };
    findings.filter(|finding| finding.rule == rule).map(violation).collect()
}
