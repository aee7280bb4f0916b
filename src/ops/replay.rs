//! `andon replay RANGE`: what would have happened. The same fold, the same rules, over existing commits, with or
//! without records; a halt is taken as answered at once, so that every one of a history shows.

use super::derive;
use super::error::OpsError;
use super::lineage::Lineages;
use super::workspace::Workspace;
use crate::detect::{self, Situation, Stops};
use crate::domain::decision::{Decision, Stage, Verdict};
use crate::domain::facts::{Ack, AckHow, CommitFact, CommitKind, Fact};
use crate::domain::findings::Level;
use crate::domain::ids::CommitId;
use crate::domain::settings::RuleSettings;
use crate::git::CommitInfo;
use crate::history::{self, Fold, Upcoming};
use crate::policy;
use crate::record::normalize::Normalizer;
use crate::record::store::NotesStore;

/// The judgement of one commit.
pub struct Replayed {
    /// The commit.
    pub commit: CommitId,
    /// Its subject.
    pub subject: String,
    /// What the rules would have said.
    pub decision: Decision,
}

/// Replays `range`, parents first, and hands each commit's decision to `show` as it is found. What comes back are
/// records that could not be read; their commits count as unrecorded.
pub fn run(ws: &Workspace, range: &str, show: &mut dyn FnMut(Replayed)) -> Result<Vec<String>, OpsError> {
    let store = NotesStore::open(&ws.repo)?;
    let normalizer = ws.normalizer()?;
    let settings = settings(&ws.config.rules);
    let ids = ws.repo.range(range)?;
    let commits = ids.iter().map(|id| ws.repo.commit(*id)).collect::<Result<Vec<_>, _>>()?;
    let mut warnings = Vec::new();
    let mut lines = Lineages::new(&commits, ws.config.guard.session_gap);
    for commit in &commits {
        let mut fold = lines.before(commit, |fresh| fresh);
        let recorded = store.get(commit.id).unwrap_or_else(|err| {
            warnings.push(err.to_string());
            None
        });
        let fact = match recorded {
            Some(stored) => {
                CommitFact { id: Some(commit.id), subject: commit.subject.clone(), record: stored.record }
            }
            None => unrecorded(ws, &normalizer, commit, &fold)?,
        };
        fold.push(Fact::Commit(Box::new(fact)));
        let situation = Situation {
            timeline: fold.timeline(),
            stage: Stage::Replay,
            candidate: None,
            stops: Stops::NONE,
        };
        let decision = policy::decide(detect::run(&situation, &settings), None);
        if decision.verdict == Verdict::Halt {
            fold.push(Fact::Ack(Box::new(assumed_answer(commit))));
        }
        show(Replayed { commit: commit.id, subject: commit.subject.clone(), decision });
        lines.after(commit.id, fold);
    }
    Ok(warnings)
}

/// What git alone cannot tell says nothing here: a history made before Andon came has no gate to bypass.
fn settings(rules: &RuleSettings) -> RuleSettings {
    let mut settings = rules.clone();
    if let Some(setting) = settings.get_mut("hook-bypass") {
        setting.level = Level::Off;
    }
    settings
}

/// The fact of a commit without a readable record: what it gives itself.
fn unrecorded(
    ws: &Workspace,
    normalizer: &Normalizer,
    commit: &CommitInfo,
    fold: &Fold,
) -> Result<CommitFact, OpsError> {
    let derived = derive::derive(&ws.repo, &ws.config.paths.rules, normalizer, commit)?;
    let mut fact = derive::unrecorded(commit, &derived);
    let upcoming = Upcoming {
        parent: derived.parent,
        session: None,
        at: commit.committed_at,
        kind: if fact.record.kind == CommitKind::Amend { CommitKind::Normal } else { fact.record.kind },
    };
    fact.record.iteration = history::next_iteration(fold.timeline(), &upcoming);
    Ok(fact)
}

fn assumed_answer(commit: &CommitInfo) -> Ack {
    Ack {
        halt: None,
        by: "replay".to_owned(),
        how: AckHow::Resume,
        agent: None,
        reason: "assumed, to go on".to_owned(),
        head: Some(commit.id),
        worktree: String::new(),
        at: commit.committed_at,
    }
}
