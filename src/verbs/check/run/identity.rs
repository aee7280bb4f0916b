//! Whether each commit of the range was made with the agent's configuration, session and role that the base of the range
//! pins: a pin that is changed in the range counts in none of its commits.

use super::{Case, Diagnostic, at, of_finding};
use andon_config::AppliesTo;
use andon_core::detect::{self, Candidate, CodeChange, DocsChange, EvidenceState, Origin, Situation, Stops};
use andon_core::domain::decision::Stage;
use andon_core::domain::facts::{CommitFact, Recording};
use andon_core::domain::identity::{self, Claims, Mismatch};
use andon_core::history::Timeline;
use andon_engine::adapter::agents::DEFAULT_NODE;
use andon_engine::error::OpsError;
use andon_engine::gate::identity::{is_asked, of_tree};
use andon_git::CommitInfo;

/// Judges a commit.
pub(super) fn judge(
    case: &Case<'_>,
    commit: &CommitInfo,
    fact: &CommitFact,
) -> Result<Option<Diagnostic>, OpsError> {
    if !is_asked(case.config) {
        return Ok(None);
    }
    let mut found = of_tree(case.repo, case.config, commit.tree)?;
    found.extend(unbound(case, fact));
    Ok(if found.is_empty() { None } else { mismatch_diagnostic(case, commit, found) })
}

/// A commit without a record carries nothing: that it has none is said elsewhere. Where only agents are guarded, what
/// carries nothing is a person's.
fn unbound(case: &Case<'_>, fact: &CommitFact) -> Vec<Mismatch> {
    let record = &fact.record;
    let persons = record.session.is_none() && record.node == DEFAULT_NODE;
    if record.recording == Recording::Derived
        || (persons && case.config.guard.applies_to == AppliesTo::Agents)
    {
        return Vec::new();
    }
    let claims = Claims { session: record.session.as_deref(), node: &record.node };
    identity::unbound(&case.config.identity, claims)
}

fn mismatch_diagnostic(case: &Case<'_>, commit: &CommitInfo, found: Vec<Mismatch>) -> Option<Diagnostic> {
    let candidate = Candidate {
        code_changed: CodeChange::Unchanged,
        evidence: EvidenceState::Unconfigured,
        origin: Origin::Work,
        docs: DocsChange::NotAsked,
        identity: found,
        command: None,
        advice: None,
        making: None,
        changed_by_hook: Vec::new(),
    };
    let timeline = Timeline::new(case.config.guard.session_gap);
    let situation = Situation {
        timeline: &timeline,
        stage: Stage::Check,
        candidate: Some(&candidate),
        stops: Stops::NONE,
        episode: None,
    };
    let finding = detect::evaluate(&detect::IDENTITY_DRIFT, &situation, &case.config.rules)?;
    Some(of_finding(at(commit), &finding))
}
