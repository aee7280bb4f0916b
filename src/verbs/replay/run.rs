//! `andon replay RANGE`: what would have happened. The same fold, the same rules, over existing commits, with or
//! without records; a halt is taken as answered at once, so that every one of a history shows.

pub mod calibrate;
pub mod events;
pub(in crate::verbs) mod lookahead;
pub mod session;
pub mod test_runs;

use std::collections::BTreeMap;

use andon_core::detect;
use andon_core::domain::decision::{Decision, Verdict};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::facts::{Ack, AckHow, CommitFact, CommitKind, Fact, Recording};
use andon_core::domain::findings::Level;
use andon_core::domain::ids::CommitId;
use andon_core::domain::settings::RuleSettings;
use andon_core::domain::tests::TestEvidence;
use andon_core::history::{self, EventEffect, Fold, NextCommit, Strike, Timeline};
use andon_core::policy::{self, HaltPlace};
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::range;
use andon_engine::range::Lineages;
use andon_engine::recording::bulk::{self, CommitFacts, Job, Pace, RangeCommit, Records, WalkEnd};
use andon_engine::recording::derive::{self, DerivedCommit};
use andon_engine::text::named_files;
use andon_engine::weakening;
use andon_engine::workspace::Workspace;
use andon_git::{CommitInfo, Repo};
use andon_store::derived::DerivedCache;
use andon_store::notes::NotesStore;

/// Commits of a range up to which test files of unrecorded ones are read: of many more that would take too long.
const WEAKENING: usize = 1_000;

/// The judgement of one commit.
pub struct CommitJudgement {
    /// The commit that was judged.
    pub commit: CommitId,
    /// The first line of its message.
    pub subject: String,
    /// What the rules would have said.
    pub decision: Decision,
}

/// How a replay ended.
pub struct ReplayEnd {
    /// Whether it was stopped before its end.
    pub walked: WalkEnd,
    /// Records that could not be read, and were derived again instead.
    pub warnings: Vec<Diagnostic>,
}

/// What is replayed.
pub struct ReplayRequest<'a> {
    /// The commits.
    pub range: &'a str,
    /// Results of tests that take the place of recorded ones.
    pub tests: &'a BTreeMap<CommitId, TestEvidence>,
}

/// Replays a range, oldest first, and hands each commit's decision to `show` as it is found.
pub fn run(
    ctx: &Context,
    ws: &Workspace,
    asked: &ReplayRequest<'_>,
    pace: &mut Pace<'_>,
    show: &mut dyn FnMut(CommitJudgement),
) -> Result<ReplayEnd, OpsError> {
    let mut warnings = Vec::new();
    let settings = settings(&ws.config.rules);
    let gap = ws.config.guard.session_gap;
    let common_dir = ws.repo.common_dir();
    let RangeFacts { commits, parents, tip } = self::asked(ctx, asked.range)?;
    let cache = DerivedCache::load(common_dir, &bulk::salt(&ws.config));
    let job =
        Job { ctx, config: &ws.config, commits: &commits, records: Records::Observed, tip, cache: &cache };
    let mut lines = Lineages::new(parents.into_iter(), gap);
    let texts = if commits.len() <= WEAKENING { Some(Repo::open(&ctx.cwd, &ctx.repo_env)?) } else { None };
    let walked = bulk::walk(common_dir, &job, pace, &mut |RangeCommit { commit, facts, .. }| {
        let mut fold = lines.before(commit.parents.first().copied(), |fresh| {
            fresh.in_workflow(ws.config.workflow.clone()).counting(ws.config.cached)
        });
        let (mut fact, warning) = fact(&commit, facts, &fold);
        warnings.extend(warning);
        if let Some(tests) = asked.tests.get(&commit.id) {
            // Judged as what the hooks saw when it was made.
            fact.record.recording = Recording::AtCommit;
            fact.record.tests = Some(tests.clone());
        }
        if let Some(repo) = texts.as_ref().filter(|_| fact.record.recording == Recording::Derived) {
            let last = weakening::last_result(&[], fold.timeline(), fact.record.code);
            fact.record.weakening = weakening::find(repo, &settings, &commit, last)?;
        }
        let decision = match fold.push(Fact::Commit(Box::new(fact))) {
            // It was counted where it was made first.
            EventEffect::Nothing => policy::decide(Vec::new(), None),
            EventEffect::Within | EventEffect::Iteration => {
                range::verdict(fold.timeline(), &settings, &ws.config)
            }
        };
        let mut decision = named(ctx, ws, fold.timeline(), decision);
        let (head, at) = (Some(commit.id), commit.committed_at);
        let site = HaltPlace { head, branch: None, worktree: String::new(), at };
        decision.halted = policy::halting(&decision, fold.timeline(), &site);
        if decision.verdict == Verdict::Halt {
            fold.push(Fact::Ack(Box::new(assumed_answer(&commit))));
        }
        lines.after(commit.id, fold);
        show(CommitJudgement { commit: commit.id, subject: commit.subject, decision });
        Ok(())
    })?;
    Ok(ReplayEnd { walked, warnings })
}

/// What is known of a range before its commits are looked at.
pub(in crate::verbs) struct RangeFacts {
    pub(in crate::verbs) commits: Vec<CommitId>,
    /// The first parents of those commits.
    pub(in crate::verbs) parents: Vec<CommitId>,
    /// The notes commit whose records count.
    pub(in crate::verbs) tip: Option<CommitId>,
}

/// With a handle of its own, as everything that reads objects here: libgit2 maps and caches what it reads of each pack
/// until no handle has it open.
pub(in crate::verbs) fn asked(ctx: &Context, range: &str) -> Result<RangeFacts, OpsError> {
    Repo::cache_nothing();
    let repo = Repo::open(&ctx.cwd, &ctx.repo_env)?;
    let tip = NotesStore::open(&repo)?.tip();
    let commits = repo.range(range)?;
    // One that cannot be read is an error at its place in the walk.
    let first = |id: &CommitId| repo.commit(*id).ok()?.parents.first().copied();
    let parents = commits.iter().filter_map(first).collect();
    Ok(RangeFacts { commits, parents, tip })
}

/// With the files named that go round, by a handle of its own.
fn named(ctx: &Context, ws: &Workspace, timeline: &Timeline, decision: Decision) -> Decision {
    if decision.findings.iter().all(|finding| finding.files.is_empty()) {
        return decision;
    }
    match Repo::open(&ctx.cwd, &ctx.repo_env) {
        Ok(repo) => named_files::named(&repo, &ws.config.paths.rules, timeline, decision),
        Err(_) => decision,
    }
}

/// What git alone cannot tell says nothing here: a history made before Andon came has no gate to bypass.
fn settings(rules: &RuleSettings) -> RuleSettings {
    let mut settings = rules.clone();
    if let Some(setting) = settings.get_mut(detect::HOOK_BYPASS.id) {
        setting.level = Level::Off;
    }
    settings
}

pub(in crate::verbs) fn fact(
    commit: &CommitInfo,
    facts: CommitFacts,
    fold: &Fold,
) -> (CommitFact, Option<Diagnostic>) {
    let (derived, warning): (Box<DerivedCommit>, _) = match facts {
        CommitFacts::Recorded(record) => {
            return (commit.fact(*record), None);
        }
        CommitFacts::Derived(derived, warning) => (derived, warning),
    };
    let mut fact = derive::unrecorded(commit, *derived);
    fact.record.kind = derive::kind_after(commit, fold.timeline().newest());
    let upcoming = NextCommit {
        parent: fact.record.parent,
        at: commit.committed_at,
        uptime: None,
        kind: if fact.record.kind == CommitKind::Amend { CommitKind::Normal } else { fact.record.kind },
        code: fact.record.code,
        strike: Strike::new(fact.record.kind, fact.record.change.as_ref()),
    };
    fact.record.iteration = history::next_iteration(fold.timeline(), &upcoming);
    (fact, warning)
}

fn assumed_answer(commit: &CommitInfo) -> Ack {
    Ack {
        halt: None,
        counter: None,
        by: "replay".to_owned(),
        how: AckHow::Resume,
        halt_was: andon_core::domain::facts::HaltAssessment::Unsaid,
        agent: None,
        provider: None,
        words: None,
        reason: "assumed, to go on".to_owned(),
        head: Some(commit.id),
        worktree: String::new(),
        at: commit.committed_at,
    }
}
