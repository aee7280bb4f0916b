//! post-commit: the new commit becomes a record, the rules look at it, and a halt is written if they say so.

use std::collections::BTreeMap;

use super::gate_hook;
use super::origin::{self, CommitInProgress, Making};
use andon_core::domain::{
    Attempt, CarriedAttempt, CodeId, CommitFact, CommitId, CommitKind, CommitRecord, Decision, Diagnostic,
    DiffHash, Finding, Gate, GitHook, Level, LostTests, Maker, Oid, PrevRecord, RecordedFinding, Recording,
    Skip, Stage, TestEvidence, Verdict, plural::count,
};
use andon_core::history::{self, EventEffect, NextCommit, RunStart, Strike, Timeline};
use andon_core::policy;
use andon_engine::evidence::{self, Asked, Demand, Subject, test_sets};
use andon_engine::gate::{GateContext, guard, outcomes};
use andon_engine::recording::{self, DerivedCommit, LoadedTimeline, attempts, bound, derive, skip, timeline};
use andon_engine::{Context, Result, Workspace, adapter::Actor, error::or_warn, halts, weakening};
use andon_git::{CommitInfo, ReflogEntry, missing_help, platform::test_seam::stop_point};
use andon_store::{
    GitProcess, Journal, JournalLine, Ledger, Marker, NewRecord, NotesStore, Receipt, Repair, ResultIndex,
    StoredRecord, WindowVerdict, process::git_above, receipt, union, window,
};

/// Most commits made while the hooks were off that are caught up at once.
const CATCH_UP: usize = 64;

/// The decision about a new commit, with what was recorded beside it.
pub struct RecordReport {
    /// The decision about the new commit.
    pub decision: Decision,
    /// Commits that were caught up.
    pub caught_up: LateRecords,
    pub warnings: Vec<Diagnostic>,
}

/// Counts of commits that were recorded only now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LateRecords {
    /// Those that passed the gate, so that only post-commit can have been cut short.
    pub cut_short: usize,
    /// Those of `git am`, where no hook of patches was installed.
    pub patches: usize,
    /// The others: made while the hooks were off.
    pub unseen: usize,
}

impl LateRecords {
    /// The counts in words that follow `recorded`.
    pub fn phrases(self) -> impl Iterator<Item = String> {
        let counted = [
            (self.cut_short, "whose post-commit was cut short"),
            (self.patches, "made by git am, for which post-applypatch was not installed"),
            (self.unseen, "made while the hooks were off"),
        ];
        counted
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(number, how)| format!("{} {how}", count(number, "commit")))
    }
}

/// Records HEAD. `None` when there is no commit yet or HEAD has its record already.
pub fn post_commit(ctx: &Context, ws: &Workspace, hook: GitHook) -> Result<Option<RecordReport>> {
    let Some(head) = ws.repo.head()?.commit() else { return Ok(None) };
    stop_point("post-commit:begin");
    let (store, receipts) = (NotesStore::open(&ws.repo)?, receipt::read(ws.repo.git_dir()));
    let mut recorder = Recorder { ctx, ws, store, receipts };
    if let Ok(Some(stored)) = recorder.store.get(head) {
        recorder.again(head, stored)?;
        return Ok(None);
    }
    let commit = ws.repo.commit(head)?;
    let caught_up = recorder.catch_up(&commit)?;
    let Making { kind, sources } = origin::making(ctx, ws, &commit)?;
    let made_by = git_above(ctx.parent);
    // While a patch is stopped at, a plain `git commit` is a commit as any other.
    let by_patch = hook == GitHook::PostApplypatch && ws.repo.is_applying_patches();
    // git runs no pre-commit for patches.
    let (gate, skipped) =
        if by_patch { (Gate::NotRun, Vec::new()) } else { recorder.gate(&commit, kind, &made_by)? };
    let recording = Recording::AtCommit;
    let binds = bound::binds_commit(ctx, ws, &commit);
    let (commit, made_by) = (&commit, &made_by[..]);
    let entry = Entry { commit, head, binds, kind, gate, skipped, recording, by_patch, made_by, sources };
    let (decision, mut loaded) = recorder.record(&entry)?;
    or_warn(outcomes::record(ctx, ws, &recorder.store, &loaded.window.facts), &mut loaded.warnings);
    let caught_up = if binds { caught_up } else { LateRecords::default() };
    Ok(Some(RecordReport { decision, caught_up, warnings: loaded.warnings }))
}

/// The sources of a new record: the workspace, the notes, and the receipts of the gate.
struct Recorder<'a> {
    ctx: &'a Context,
    ws: &'a Workspace,
    store: NotesStore<'a>,
    receipts: Vec<Receipt>,
}

impl Recorder<'_> {
    /// A commit that has its record came once more: an amend within the second, which changes nothing, gives the commit that it
    /// replaces. What its tests and the gate said since then is added to the record.
    fn again(&mut self, head: CommitId, stored: StoredRecord) -> Result<()> {
        let Self { ctx, ws, store, receipts } = self;
        let before = &stored.record;
        let is_tested = before.tests.as_ref().is_some_and(|tests| tests.code == before.code);
        if is_tested && before.gate == Gate::Passed {
            return Ok(());
        }
        let commit = ws.repo.commit(head)?;
        let loaded = timeline::load_at(ws, store, commit.parents.first().copied());
        let made_by = git_above(ctx.parent);
        let seen = receipts.iter().rev().find(|one| one.is_of(&made_by) && one.tree == commit.tree);
        let mut record = before.clone();
        if !is_tested {
            record.tests = tests(ws, &loaded, &commit, before.code).or(record.tests);
        }
        // A recorded bypass of the gate is not taken back: otherwise such a record would look like an edited one.
        if let Some(seen) = seen.filter(|_| before.gate == Gate::NotRun) {
            record.gate = Gate::Passed;
            record.skipped = skip::with_trailers(seen.skipped.clone(), &commit.trailers);
        }
        if record != *before {
            let extra = stored.extra;
            store.put_records(&[NewRecord { commit: head, record, extra }], ctx.now)?;
            receipt::clear(ws.repo.git_dir(), &made_by);
        }
        Ok(())
    }

    /// Compares the receipts of the gate with what was committed; and what was passed over on the way.
    fn gate(&self, commit: &CommitInfo, kind: CommitKind, now: &[GitProcess]) -> Result<(Gate, Vec<Skip>)> {
        let Self { ctx, ws, store, receipts } = self;
        // A receipt of another git process, or one that names none, does not count for this commit.
        let own = || receipts.iter().rev().filter(|receipt| receipt.is_of(now));
        let by_tree = |receipt: &&Receipt| receipt.tree == commit.tree;
        let seen = if now.is_empty() {
            passed(ws, commit, receipts)
        } else {
            // One process, one commit: an amend within the second may even give the commit that it replaces.
            own().find(by_tree)
        };
        match (seen, kind) {
            (Some(seen), _) => {
                Ok((Gate::Passed, skip::with_trailers(seen.skipped.clone(), &commit.trailers)))
            }
            // git runs no pre-commit for these, so its absence says nothing.
            (None, CommitKind::Merge | CommitKind::Revert | CommitKind::CherryPick | CommitKind::Rebase) => {
                Ok((Gate::NotRun, Vec::new()))
            }
            (None, CommitKind::Normal | CommitKind::Amend) => {
                let judged = own().find(|receipt| receipt.is_nearest_of(now) && is_on(ws, commit, receipt));
                let unjudged = gate_hook::CommitWithoutReceipt { commit, judged, now };
                gate_hook::without_receipt(ctx, ws, store, &unjudged)
            }
        }
    }

    /// Writes the record of one commit and returns what the rules say.
    fn record(&mut self, entry: &Entry<'_>) -> Result<(Decision, LoadedTimeline)> {
        let parent = entry.commit.parents.first().copied();
        let mut loaded = timeline::load_at(self.ws, &self.store, parent);
        let (mut fact, missing) = self.derive(entry, &loaded)?;
        let Self { ctx, ws, store, .. } = self;
        let odd = loaded.odd_results();
        loaded.warnings.extend(odd.into_iter().chain(missing.map(without_blobs)));
        let begins = history::begins(&loaded.timeline, &fact);
        let made_here = entry.recording == Recording::AtCommit && entry.binds;
        let binds = made_here || bound::counts(&ws.config, &fact);
        let effect = if binds { loaded.take_in(ws, &fact) } else { EventEffect::Nothing };
        // The record is written in any case; pre-commit refuses while the ledger cannot be read.
        let standing = or_warn(halts::standing_at(ws, Some(entry.head)), &mut loaded.warnings);
        let standing = standing.map(|found| found.halt).filter(|_| binds);
        // Editing history is no work: neither a step of a rebase is judged, nor an attempt that is there once more.
        let judged = effect != EventEffect::Nothing && entry.kind != CommitKind::Rebase;
        let findings = if judged { guard::asked(ws, &loaded, Stage::PostCommit, None) } else { Vec::new() };
        fact.record.findings = kept(&findings);
        stop_point("post-commit:derived");
        let line = store.put(&[(entry.commit.id, fact.record.clone())], ctx.now)?.pop().flatten();
        if entry.recording == Recording::AtCommit {
            receipt::clear(ws.repo.git_dir(), entry.made_by);
        }
        stop_point("post-commit:noted");
        let journal = Journal::open(ws.repo.git_dir());
        let is_turn = entry.kind != CommitKind::Rebase;
        journal.append(&JournalLine::CommitRecorded(Marker {
            node: is_turn.then(|| fact.record.node.clone()),
            iteration: is_turn.then_some(fact.record.iteration),
            begins: if is_turn { begins } else { RunStart::Nothing },
            commit: entry.commit.id,
            tree: fact.record.tree,
            code: fact.record.code,
            at: Some(ctx.now),
        }))?;
        attempts::remember(ws, entry.commit)?;
        stop_point("post-commit:told");
        recording::tell_healed_locks(ctx, ws)?;
        let max = timeline::reach(&ws.config.rules);
        loaded.window = std::mem::take(&mut loaded.window).followed_by(fact, line.as_deref(), max);
        let mut decision = policy::decide(findings, standing);
        let settled = journal
            .size()
            .filter(|_| binds && decision.verdict < Verdict::Halt && loaded.warnings.is_empty());
        window::remember(&ws.repo, store, entry.commit.id, &loaded.window, WindowVerdict { max, settled });
        stop_point("post-commit:remembered");
        let warnings = GateContext { ctx, ws, loaded: &loaded }.settle_or_warn(&mut decision)?;
        loaded.warnings.extend(warnings);
        stop_point("post-commit:end");
        Ok((decision, loaded))
    }

    /// Everything about a commit that can be derived, and what the journal knows of it; the first blob that is not there.
    fn derive(&self, entry: &Entry<'_>, loaded: &LoadedTimeline) -> Result<(CommitFact, Option<Oid>)> {
        let Self { ctx, ws, store, .. } = self;
        let commit = entry.commit;
        let derived = derived(ws, commit)?;
        let actor = ctx.actor();
        let prev = derived.parent.map_or(PrevRecord::Unsaid, |parent| {
            // Mostly known: the line is read and taken apart otherwise.
            loaded.window.line_of(parent).map_or_else(|| prev(store, parent), PrevRecord::Line)
        });
        let carries = self.carried(entry, &derived, loaded);
        let iteration = number(ctx, entry, &derived, &loaded.timeline);
        let last = weakening::last_result(&loaded.journal.runs, &loaded.timeline, derived.code);
        let weakening = weakening::find(&ws.repo, &ws.config.rules, commit, last)?;
        let node = node_of(ws, commit, &actor)?;
        let tests = tests(ws, loaded, commit, derived.code);
        let moved = tests.is_none() && carries.is_none() && self.is_moved(entry, derived.diff.hash, loaded);
        let open = loaded.timeline.activity.open.get(&node);
        let record = CommitRecord {
            uptime: ctx.uptime(),
            parent: derived.parent,
            prev,
            kind: entry.kind,
            gate: entry.gate,
            recording: if moved { Recording::Moved } else { entry.recording },
            node: node.clone(),
            session: actor.session,
            iteration,
            change: Some(derived.change),
            tests,
            weakening,
            skipped: entry.skipped.clone(),
            outputs: open.map(|turn| turn.outputs.clone()).unwrap_or_default(),
            usage: loaded.timeline.spent(&node),
            // The gate reports a ledger that cannot be read, since it asks the ledger for halts.
            ledger: Ledger::open(&ws.repo).heads().unwrap_or_default(),
            guards: origin::live_guards(ctx, ws, &made(entry, loaded)),
            worktree: linked_worktree(ws, entry.recording),
            by: (entry.recording == Recording::AtCommit).then(|| union::owner(&ws.repo)),
            carries: carries.map(Box::new),
            ..CommitRecord::new(ctx.now, derived.tree, derived.code, derived.diff)
        };
        Ok((commit.fact(record), derived.missing))
    }

    /// The attempt that the commit carries on, where git or a patch moved one, or a squash joined some.
    fn carried(
        &self,
        entry: &Entry<'_>,
        derived: &DerivedCommit,
        loaded: &LoadedTimeline,
    ) -> Option<CarriedAttempt> {
        let Self { ws, store, .. } = self;
        let moved = || attempts::carried(ws, store, entry.commit, &derived.diff);
        match entry.kind {
            CommitKind::Rebase | CommitKind::CherryPick => moved(),
            CommitKind::Normal if entry.by_patch => moved(),
            CommitKind::Normal => {
                let beside = loaded.beside.done.iter().chain(loaded.beside.aside.iter().map(|one| &one.fact));
                attempts::joined(ws, derived, &beside.collect::<Vec<_>>())
                    .or_else(|| attempts::squashed(store, &entry.sources, derived))
            }
            CommitKind::Amend | CommitKind::Merge | CommitKind::Revert => None,
        }
    }

    /// True where git only moved or reworded a commit that no hook had recorded. The commit that a patch was made of is mostly not
    /// here; that its change is recorded is seen all the same, whatever the patch says of its origin.
    fn is_moved(&self, entry: &Entry<'_>, diff: DiffHash, loaded: &LoadedTimeline) -> bool {
        let Self { ws, store, .. } = self;
        let commit = entry.commit;
        let unseen = |id: &CommitId| bound::is_unseen(&ws.repo, store, *id, &commit.committer_email);
        match entry.kind {
            CommitKind::Rebase | CommitKind::CherryPick => entry.sources.last().is_some_and(unseen),
            CommitKind::Amend => entry
                .sources
                .iter()
                .any(|id| ws.repo.tree_of(*id).is_ok_and(|tree| tree == commit.tree) && unseen(id)),
            CommitKind::Normal if entry.by_patch => {
                let says = |id: &CommitId| store.readable(*id).is_some_and(|record| !record.is_silent());
                !loaded.results_of(ws).of_diff(diff).iter().any(says)
                    && entry.sources.last().is_none_or(unseen)
            }
            CommitKind::Normal | CommitKind::Merge | CommitKind::Revert => false,
        }
    }

    /// Records the commits that HEAD's reflog shows as made here and that have no record, oldest first. They must
    /// follow a commit that has one: what was there before Andon came is not its business.
    fn catch_up(&mut self, head: &CommitInfo) -> Result<LateRecords> {
        let (ctx, ws) = (self.ctx, self.ws);
        let missing = self.unrecorded(head)?;
        let mut caught_up = LateRecords::default();
        for (id, made) in &missing {
            let commit = ws.repo.commit(*id)?;
            let kind = origin::kind_of_earlier(ws, &commit, made.kind)?;
            let (gate, skipped) = match passed(ws, &commit, &self.receipts) {
                Some(seen) => (Gate::Passed, skip::with_trailers(seen.skipped.clone(), &commit.trailers)),
                None => (Gate::NotRun, Vec::new()),
            };
            let is_patch = made.by_patch && gate_hook::is_unhooked_patch(ctx, ws, commit.committed_at);
            let recording = if is_patch { Recording::Patched } else { Recording::CaughtUp };
            let (made_by, sources) = (&[][..], Vec::new());
            let (binds, head) = (bound::binds_commit(ctx, ws, &commit), head.id);
            let (commit, by_patch) = (&commit, is_patch);
            let entry =
                Entry { commit, head, binds, kind, gate, skipped, recording, by_patch, made_by, sources };
            self.record(&entry)?;
            match gate {
                Gate::Passed => caught_up.cut_short += 1,
                Gate::NotRun | Gate::Bypassed if is_patch => caught_up.patches += 1,
                Gate::NotRun | Gate::Bypassed => caught_up.unseen += 1,
            }
        }
        for phrase in caught_up.phrases() {
            let what = format!("recorded {phrase}");
            Journal::open(ws.repo.git_dir())
                .append(&JournalLine::Healed(Repair { what, at: Some(ctx.now) }))?;
        }
        Ok(caught_up)
    }

    fn unrecorded(&self, head: &CommitInfo) -> Result<Vec<(CommitId, ReflogOrigin)>> {
        let Self { ws, store, .. } = self;
        let mut at = head.parents.first().copied();
        // The common case, without reading the reflog: the parent has its record.
        if at.is_none_or(|parent| !matches!(store.has(parent), Ok(false))) {
            return Ok(Vec::new());
        }
        let made = |entry: ReflogEntry| {
            let made = ReflogOrigin { kind: entry.made()?, by_patch: entry.is_patch() };
            Some((CommitId(entry.new), made))
        };
        let made_here: BTreeMap<CommitId, ReflogOrigin> =
            ws.repo.reflog_head(CATCH_UP)?.into_iter().filter_map(made).collect();
        let mut missing = Vec::new();
        while let Some(id) = at {
            match (store.get_written(id), made_here.get(&id)) {
                (Ok(None), Some(made)) if missing.len() < CATCH_UP => missing.push((id, *made)),
                (Ok(Some(_)), _) => {
                    missing.reverse();
                    return Ok(missing);
                }
                (Ok(None) | Err(_), _) => break,
            }
            at = ws.repo.commit(id)?.parents.first().copied();
        }
        Ok(Vec::new())
    }
}

/// Records that are looked at for one of a child, the newest.
const CHILDREN: usize = 64;

/// Adds to the record of a commit what its tests gave since: those of scopes that are left to the push, those of what git made,
/// and failures on the same code. A record never gets better: that would look like an edited one. A child's record names this
/// one as it is, and then it stays so.
pub(crate) fn complete(ctx: &Context, ws: &Workspace, tip: CommitId) -> Result<()> {
    let mut store = NotesStore::open(&ws.repo)?;
    let Some(stored) = store.get(tip)? else { return Ok(()) };
    let (mut record, extra) = (stored.record, stored.extra);
    let is_whole = record.tests.as_ref().is_some_and(|old| old.command != TestEvidence::OF_SCOPES);
    let newest = ResultIndex::open(&ws.repo, ws.opened).runs(record.code).next();
    if is_whole && newest.is_none_or(|run| run.at.is_some_and(|at| at <= record.recorded_at)) {
        return Ok(());
    }
    let (subject, loaded) = (&Subject::Tree(record.tree), &timeline::load_behind(ws, Some(tip)));
    let asked = Asked { ws, loaded, subject, code: record.code };
    let found = evidence::of_subject(asked, Demand::Everything)?;
    let Some(found) = found.filter(|found| found.code == record.code) else { return Ok(()) };
    let got_worse = record.tests.as_ref().is_some_and(|old| old.is_green() && !found.is_green());
    let is_worse = got_worse && !store.is_published(tip);
    let lacks =
        |old: &TestEvidence| old.command == TestEvidence::OF_SCOPES && found.scopes.len() > old.scopes.len();
    let is_child = |id: &CommitId| store.readable(*id).is_some_and(|other| other.parent == Some(tip));
    if !(is_worse || record.tests.as_ref().is_none_or(lacks))
        || loaded.results_of(ws).newest(CHILDREN).iter().any(is_child)
    {
        return Ok(());
    }
    let TestEvidence { set, names, lost, flaky, .. } = record.tests.take().unwrap_or_default();
    record.tests = Some(TestEvidence { set: set.or(found.set), names, lost, flaky, ..found });
    store.put_records(&[NewRecord { commit: tip, record, extra }], ctx.now)?;
    Ok(())
}

/// post-merge: the merge commit is recorded; a fast-forward brings commits with or without records of others.
pub fn post_merge(ctx: &Context, ws: &Workspace) -> Result<Option<RecordReport>> {
    let Some(head) = ws.repo.head()?.commit() else { return Ok(None) };
    if ws.repo.commit(head)?.parents.len() < 2 {
        return Ok(None);
    }
    post_commit(ctx, ws, GitHook::PostMerge)
}

/// A commit that is to be recorded.
struct Entry<'a> {
    commit: &'a CommitInfo,
    /// HEAD: this commit, or one above it.
    head: CommitId,
    /// True where the guard binds the commit.
    binds: bool,
    kind: CommitKind,
    gate: Gate,
    skipped: Vec<Skip>,
    recording: Recording,
    /// True where `git am` made it.
    by_patch: bool,
    /// The git processes that made it; none of one that is caught up.
    made_by: &'a [GitProcess],
    /// The commits that it was made of, as git named them; none of one that is caught up.
    sources: Vec<CommitId>,
}

/// The newest receipt by which the gate let this tree pass, on top of this commit's parent or in place of a sibling
/// (`--amend`).
fn passed<'r>(ws: &Workspace, commit: &CommitInfo, receipts: &'r [Receipt]) -> Option<&'r Receipt> {
    receipts.iter().rev().find(|receipt| receipt.tree == commit.tree && is_on(ws, commit, receipt))
}

/// True where the receipt is for a commit in this commit's place.
fn is_on(ws: &Workspace, commit: &CommitInfo, receipt: &Receipt) -> bool {
    let parent = commit.parents.first();
    match &receipt.head {
        head if head.as_ref() == parent => true,
        None => false,
        // The receipt of a commit on top of this one.
        Some(head) if *head == commit.id => false,
        Some(head) => ws.repo.commit(*head).is_ok_and(|amended| amended.parents.first() == parent),
    }
}

/// The findings as the record keeps them.
fn kept(findings: &[Finding]) -> Vec<RecordedFinding> {
    let kept = |finding: &Finding| RecordedFinding {
        rule: finding.rule.to_owned(),
        level: finding.level,
        message: finding.message(),
    };
    findings.iter().filter(|finding| finding.level > Level::Off).map(kept).collect()
}

/// The link from the record of a child to that of `parent`. One that cannot be read is not said to be absent.
pub(super) fn prev(store: &NotesStore<'_>, parent: CommitId) -> PrevRecord {
    match store.get_written(parent) {
        Ok(Some(stored)) => PrevRecord::Line(stored.line_digest),
        Ok(None) => PrevRecord::Absent,
        Err(_) => PrevRecord::Unsaid,
    }
}

/// Reported, not repaired: a hook fetches nothing.
fn without_blobs(id: Oid) -> Diagnostic {
    let what = format!("blob {id} is not in this partial clone; what changed there is recorded by id");
    Diagnostic::warning(what).code("partial-clone").help(missing_help(id))
}

/// Everything that follows from a commit under the settings of the workspace.
pub(super) fn derived(ws: &Workspace, commit: &CommitInfo) -> Result<DerivedCommit> {
    derive::derive(&ws.repo, &ws.config.paths.rules, &ws.normalizer()?, commit)
}

/// The number of the iteration.
fn number(ctx: &Context, entry: &Entry<'_>, derived: &DerivedCommit, timeline: &Timeline) -> u64 {
    let (uptime, code) = (ctx.uptime(), derived.code);
    // A commit that the guard does not bind is no iteration.
    let strike = if entry.binds { Strike::new(entry.kind, Some(&derived.change)) } else { Strike::Beside };
    let kind = if entry.binds { entry.kind } else { CommitKind::Normal };
    let upcoming = NextCommit { parent: derived.parent, at: ctx.now, uptime, kind, code, strike };
    history::next_iteration(timeline, &upcoming)
}

/// The worktree that the commit was made in. One that is recorded later may come from another, and says nothing.
fn linked_worktree(ws: &Workspace, recording: Recording) -> Option<String> {
    let here = ws.repo.worktree_name();
    (recording == Recording::AtCommit && here != Attempt::MAIN).then_some(here)
}

fn made<'a>(entry: &Entry<'a>, loaded: &LoadedTimeline) -> CommitInProgress<'a> {
    let before = loaded.timeline.newest().map(|newest| newest.at);
    CommitInProgress { commit: entry.commit, kind: entry.kind, recording: entry.recording, before }
}

/// The newest valid run on exactly this code, with the tests that the journal shows to be flaky: other clones, which
/// have no journal, then see the same window.
fn tests(ws: &Workspace, loaded: &LoadedTimeline, commit: &CommitInfo, code: CodeId) -> Option<TestEvidence> {
    let before = commit.parents.first().and_then(|parent| ws.repo.tree_of(*parent).ok());
    let asked = Asked { ws, loaded, subject: &Subject::Tree(commit.tree), code };
    let found = evidence::of_subject(asked, Demand::Commit(before)).ok().flatten();
    let mut tests = found.or_else(|| evidence::reported_failing(loaded, code))?;
    let flaky = history::flaky(loaded.timeline.runs.iter().map(|run| &run.evidence).chain([&tests]));
    tests.flaky = flaky.into_iter().take(TestEvidence::MAX_FLAKY).collect();
    // The losses of merged commits were reported where these were made.
    let is_merge = commit.parents.len() > 1;
    let lost = || test_sets::lost(ws, &loaded.timeline, &tests, commit.tree);
    tests.lost = if is_merge { LostTests::default() } else { lost() };
    tests.names = test_sets::names(ws, &loaded.timeline, &tests);
    Some(tests)
}

/// The node that made a commit: by the declared workflow, else as the environment names it.
fn node_of(ws: &Workspace, commit: &CommitInfo, actor: &Actor) -> Result<String> {
    if !ws.config.workflow.is_declared() {
        return Ok(actor.node_name());
    }
    let author = format!("{} <{}>", commit.author, commit.email);
    let head = ws.repo.head()?;
    let maker = Maker {
        environment: actor.node.as_deref(),
        author: &author,
        trailers: &commit.trailers,
        branch: head.branch(),
    };
    let node = ws.config.workflow.node_for(&maker).map(|node| node.name.clone());
    Ok(node.unwrap_or_else(|| actor.node_name()))
}

/// The making of a commit, as HEAD's reflog tells it.
#[derive(Clone, Copy)]
struct ReflogOrigin {
    kind: CommitKind,
    by_patch: bool,
}
