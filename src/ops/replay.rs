//! `andon replay RANGE`: what would have happened. The same fold, the same rules, over existing commits, with or
//! without records; a halt is taken as answered at once, so that every one of a history shows.

use super::derive;
use super::error::OpsError;
use super::lineage::Lineages;
use super::uncertainty;
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
use crate::report::message::Diagnostic;

/// The judgement of one commit.
pub struct Replayed {
    /// The commit.
    pub commit: CommitId,
    /// Its subject.
    pub subject: String,
    /// What the rules would have said.
    pub decision: Decision,
}

/// Replays `range`, oldest first, and hands each commit's decision to `show` as it is found.
/// Returns warnings about records that could not be read, and were derived anew instead.
pub fn run(ws: &Workspace, range: &str, show: &mut dyn FnMut(Replayed)) -> Result<Vec<Diagnostic>, OpsError> {
    let mut warnings = Vec::new();
    let store = NotesStore::open(&ws.repo)?;
    let normalizer = ws.normalizer()?;
    let settings = settings(&ws.config.rules);
    let ids = ws.repo.range(range)?;
    let commits = ids.iter().map(|id| ws.repo.commit(*id)).collect::<Result<Vec<_>, _>>()?;
    let mut lines = Lineages::new(&commits, ws.config.guard.session_gap);
    for commit in &commits {
        let mut fold = lines.before(commit, |fresh| fresh);
        let (fact, warning) = fact(ws, &store, &normalizer, commit, &fold)?;
        warnings.extend(warning);
        fold.push(Fact::Commit(Box::new(fact)));
        let episode = uncertainty::episode(fold.timeline(), &settings, uncertainty::mode(&ws.config));
        let situation = Situation {
            timeline: fold.timeline(),
            stage: Stage::Replay,
            candidate: None,
            stops: Stops::NONE,
            episode: episode.as_ref(),
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
pub(super) fn settings(rules: &RuleSettings) -> RuleSettings {
    let mut settings = rules.clone();
    if let Some(setting) = settings.get_mut("hook-bypass") {
        setting.level = Level::Off;
    }
    settings
}

fn fact(
    ws: &Workspace,
    store: &NotesStore<'_>,
    normalizer: &Normalizer,
    commit: &CommitInfo,
    fold: &Fold,
) -> Result<(CommitFact, Option<Diagnostic>), OpsError> {
    let warning = match store.get(commit.id) {
        Ok(Some(stored)) => {
            let subject = commit.subject.clone();
            return Ok((CommitFact { id: Some(commit.id), subject, record: stored.record }, None));
        }
        Ok(None) => None,
        Err(err) => Some(OpsError::from(err).as_warning()),
    };
    let derived = derive::derive(&ws.repo, &ws.config.paths.rules, normalizer, commit)?;
    let mut fact = derive::unrecorded(commit, &derived);
    let upcoming = Upcoming {
        parent: derived.parent,
        session: None,
        at: commit.committed_at,
        kind: if fact.record.kind == CommitKind::Amend { CommitKind::Normal } else { fact.record.kind },
    };
    fact.record.iteration = history::next_iteration(fold.timeline(), &upcoming);
    Ok((fact, warning))
}

fn assumed_answer(commit: &CommitInfo) -> Ack {
    Ack {
        halt: None,
        counter: None,
        by: "replay".to_owned(),
        how: AckHow::Resume,
        agent: None,
        reason: "assumed, to go on".to_owned(),
        head: Some(commit.id),
        worktree: String::new(),
        at: commit.committed_at,
    }
}
