//! `andon watch`: the loops of all worktrees, derived from records, journals and the ledger at each look.
//!
//! A look asks the file system what has moved, and reads those worktrees again and no other. Nothing is shown that was
//! not read: what `stat` could miss (a change within the clock tick of the last one, a note that came by a sync) is
//! read again all the same, a few worktrees at each look.
//!
//! The loops that are watched: those of the worktrees, and those of other clones, whose remote-tracking branches are ahead of
//! this clone and whose commits have records that came by a sync. What is in none of their records (their journals, their
//! context) is not known here.
//!
//! The look of the files from which a worktree is read is cheap to ask, and different once any of them has moved.

use std::{collections::BTreeMap, fs, path::Path};

use rayon::prelude::*;

use crate::situation::{self, LoopSituation, SharedHooks};
use andon_core::domain::{
    CommitId, Diagnostic, Fact, HaltSummary, RunValidity, StandingHalt, TestRun, Timestamp, Usage,
};
use andon_core::{detect, history::Timeline, policy};
use andon_engine::recording::{LoadedTimeline, timeline};
use andon_engine::view::{
    AnswerBy, BranchView, LastRun, LoopState, LoopView, WatchView, WorktreeState, WorktreeView,
};
use andon_engine::{
    Context, OpsError, Result, Workspace, asking, effect::AndonDir, error::or_warn, text::halt,
};
use andon_git::platform::{FileStat, files};
use andon_git::{Repo, RepoEnv, WorktreePlace, read_plain};
use andon_store::{Ledger, NotesStore, Window, window};

/// Worktrees that are read again at a look though nothing of their own has moved.
const EXTRA: usize = 4;
/// After how many seconds that is done in any case.
const AT_LEAST_EVERY: u64 = 60;
/// After how many seconds the place of git's hooks is read again.
const HOOKS_EVERY: u64 = 60;

/// The last view of a worktree, and the stamp of its files at that time.
struct WorktreeMemory {
    stamp: Stamp,
    /// The tip of the notes, which all worktrees share.
    notes: Stamp,
    read_at: Timestamp,
    view: WorktreeView,
}

/// Watches the worktrees of a repository.
#[derive(Default)]
pub struct Watcher {
    cache: BTreeMap<String, WorktreeMemory>,
    hooks: Option<(SharedHooks, Timestamp, Stamp)>,
    ledger: Option<String>,
    branches: Option<(Stamp, Timestamp, Vec<BranchView>)>,
}

/// The result of a look at the worktrees; rounds are read separately.
pub struct WorktreeViews {
    /// Everything but the rounds.
    pub view: WatchView,
    /// True when the ledger has moved since the last look: then rounds may have, too.
    pub ledger_moved: bool,
}

impl Watcher {
    /// Looks, from the worktree of `ws`, at the time of `ctx`.
    ///
    /// # Errors
    /// No worktree is known: the repository is bare and has none.
    pub fn look(&mut self, ctx: &Context, ws: &Workspace) -> Result<WorktreeViews> {
        let places = places(&ws.repo);
        if places.is_empty() {
            return Err(OpsError::NoWorkTree(ws.repo.git_dir().to_owned()));
        }
        self.ask_for_hooks(ctx, ws);
        let mut warnings = Vec::new();
        let ledger = Ledger::open(&ws.repo);
        let state = or_warn(ledger.state(), &mut warnings);
        let ledger_moved = self.ledger.as_ref() != Some(&state);
        self.ledger = Some(state);
        self.read_what_moved(ctx, ws, &places);
        let of_place = |place: &WorktreePlace| Some(self.cache.get(&place.name)?.view.clone());
        let worktrees: Vec<WorktreeView> = places.iter().filter_map(of_place).collect();
        let elsewhere = or_warn(ledger.unanswered_elsewhere(), &mut warnings);
        let bound = |id| worktrees.iter().any(|worktree: &WorktreeView| worktree.seen.is_bound_by(id));
        // A halt that binds a worktree of this repository is shown with that worktree.
        let shown: Vec<StandingHalt> = elsewhere.iter().filter(|other| !bound(other.id)).cloned().collect();
        let branches = or_warn(self.branches(ctx, ws, &elsewhere), &mut warnings);
        let view =
            WatchView { at: ctx.now, worktrees, elsewhere: shown, branches, rounds: Vec::new(), warnings };
        Ok(WorktreeViews { view, ledger_moved })
    }

    /// The loops of other clones: read again when something was fetched or recorded, and after a while, for they end.
    fn branches(
        &mut self,
        ctx: &Context,
        ws: &Workspace,
        halted: &[StandingHalt],
    ) -> Result<Vec<BranchView>> {
        let stamp = Stamp::of_fetched(&ws.repo);
        if let Some((known, read_at, branches)) = &self.branches
            && *known == stamp
            && stamp.is_settled(*read_at)
            && ctx.now.since(*read_at).0 < AT_LEAST_EVERY
        {
            return Ok(branches.clone());
        }
        let branches = read_branches(ctx, ws, halted)?;
        self.branches = Some((stamp, ctx.now, branches.clone()));
        Ok(branches)
    }

    /// Only git knows its hooks folder. To ask it is a process: not at each look.
    fn ask_for_hooks(&mut self, ctx: &Context, ws: &Workspace) {
        let stamp = Stamp::of_configuration(&ws.repo, ctx);
        let is_new = |asked: &Timestamp| ctx.now.since(*asked).0 < HOOKS_EVERY;
        if !self.hooks.as_ref().is_some_and(|(_, asked, known)| *known == stamp && is_new(asked)) {
            self.hooks = Some((SharedHooks::read(ctx, &ws.repo), ctx.now, stamp));
        }
    }

    fn read_what_moved(&mut self, ctx: &Context, ws: &Workspace, places: &[WorktreePlace]) {
        self.cache.retain(|name, _| places.iter().any(|place| place.name == *name));
        let Some((hooks, _, _)) = &self.hooks else { return };
        let shared = Stamp::shared(&ws.repo, ctx, hooks.dir(), self.ledger.as_deref());
        let notes = Stamp::of_notes(&ws.repo);
        let (mut due, mut later) = (Vec::new(), Vec::new());
        for place in places {
            let known = self.cache.get(&place.name);
            let stamp = shared.and(Stamp::of_worktree(&ws.repo, place));
            match known {
                Some(known) if known.stamp == stamp && stamp.is_settled(known.read_at) => {
                    let is_old = ctx.now.since(known.read_at).0 >= AT_LEAST_EVERY;
                    if is_old || known.notes != notes || !notes.is_settled(known.read_at) {
                        later.push((known.read_at, (place, stamp)));
                    }
                }
                Some(_) | None => due.push((place, stamp)),
            }
        }
        later.sort_by_key(|(read_at, _)| *read_at);
        due.extend(later.into_iter().take(EXTRA).map(|(_, one)| one));
        let read = |(place, stamp): (&WorktreePlace, Stamp)| {
            let view = read(ctx, place, hooks);
            (place.name.clone(), WorktreeMemory { stamp, notes: notes.clone(), read_at: ctx.now, view })
        };
        self.cache.extend(due.into_par_iter().map(read).collect::<Vec<_>>());
    }
}

/// Most worktrees that are watched.
const MAX_WORKTREES: usize = 1024;

/// The worktrees, the main one first.
fn places(repo: &Repo) -> Vec<WorktreePlace> {
    let mut linked: Vec<_> = repo.worktree_places().into_iter().take(MAX_WORKTREES).collect();
    linked.sort_by(|one, other| one.name.cmp(&other.name));
    let (name, git_dir) = ("main".to_owned(), repo.common_dir().to_owned());
    let main = repo.main_worktree().map(|top| WorktreePlace { name, git_dir, top: Some(top) });
    main.into_iter().chain(linked).collect()
}

/// The context of this process as if it had been started in the worktree at `top`.
pub fn context_in(ctx: &Context, top: &Path) -> Context {
    let elsewhere = RepoEnv { git_dir: None, work_tree: None, index_file: None, ..ctx.repo_env.clone() };
    Context { cwd: top.to_owned(), repo_env: elsewhere, ..ctx.clone() }
}

/// Reads one worktree. What cannot be read is said in its place.
fn read(ctx: &Context, place: &WorktreePlace, hooks: &SharedHooks) -> WorktreeView {
    let path = place.top.as_ref().map_or(String::new(), |top| top.to_string_lossy().into_owned());
    let seen = match &place.top {
        Some(top) if top.is_dir() => match seen(&context_in(ctx, top), hooks) {
            Ok(found) => WorktreeState::Loop(Box::new(found)),
            Err(err) => WorktreeState::Unreadable(err.to_string()),
        },
        Some(_) | None => WorktreeState::Away,
    };
    WorktreeView { name: place.name.clone(), path, seen }
}

fn seen(ctx: &Context, hooks: &SharedHooks) -> Result<LoopView> {
    let ws = Workspace::open_lenient(ctx)?;
    let LoopSituation { head, loaded, standing, hooks, state, .. } =
        situation::look(ctx, &ws, &hooks.seen(ctx, &ws.repo))?;
    let answer = standing.as_ref().map(|standing| {
        let signed = asking::asks_signature(&ws, standing).is_some();
        if signed { AnswerBy::Signature } else { AnswerBy::Resume }
    });
    let node = loaded.timeline.context_window_node().to_owned();
    let mut warnings: Vec<Diagnostic> = loaded.warnings.clone();
    warnings.extend(ws.config_errors.iter().flat_map(|wrong| wrong.errors.iter().cloned()));
    Ok(LoopView {
        state,
        head: head.commit(),
        branch: head.branch().map(str::to_owned),
        context: detect::context_use(&loaded.timeline, &node, &ws.config.rules),
        halt: standing,
        answer,
        tests: last_run(&loaded),
        last_at: last_at(&loaded),
        hooks_gone: hooks,
        warnings,
        ..of_timeline(&ws, &loaded.timeline)
    })
}

/// The figures that the iterations of a running loop tell, and nothing of where it runs.
fn of_timeline(ws: &Workspace, timeline: &Timeline) -> LoopView {
    LoopView {
        state: LoopState::Running,
        count: situation::count(ws, timeline),
        node: timeline.context_window_node().to_owned(),
        who: policy::makers(timeline),
        trend: timeline.trend(),
        usual_pause: usual_pause(timeline),
        cost: cost(timeline),
        ..LoopView::default()
    }
}

/// The newest test run of the journal, or of the newest record.
fn last_run(loaded: &LoadedTimeline) -> Option<LastRun> {
    let of_run =
        |run: &TestRun| LastRun { evidence: run.evidence.clone(), validity: run.validity, at: run.at };
    loaded.journal.runs.last().map(of_run).or_else(|| {
        let tested = loaded.timeline.iterations.iter().rev().find(|iteration| iteration.tests.is_some())?;
        let evidence = tested.tests.clone()?;
        let at = Some(tested.at).filter(|at| at.0 != 0);
        Some(LastRun { evidence, validity: RunValidity::Valid, at })
    })
}

/// Pauses that are looked at, and the fewest that tell what is usual.
const PAUSES: (usize, usize) = (16, 3);

/// The pause in the middle between the newest iterations.
fn usual_pause(timeline: &Timeline) -> Option<u64> {
    let all = &timeline.iterations;
    let newest = all.get(all.len().saturating_sub(PAUSES.0 + 1)..).unwrap_or_default();
    let known: Vec<Timestamp> = newest.iter().map(|one| one.at).filter(|at| at.0 != 0).collect();
    let mut pauses: Vec<u64> = known.windows(2).map(|pair| pair[1].since(pair[0]).0).collect();
    pauses.sort_unstable();
    pauses.get(pauses.len() / 2).copied().filter(|_| pauses.len() >= PAUSES.1)
}

/// The cost of the iterations of the window, where clients report it.
fn cost(timeline: &Timeline) -> String {
    let usage = || timeline.iterations.iter().filter_map(|one| one.usage.as_ref());
    let tokens = usage().map(Usage::tokens).fold(0_u64, u64::saturating_add);
    let cost = usage().map(Usage::cost_micros).fold(0_u64, u64::saturating_add);
    let summary = HaltSummary {
        tokens: (tokens > 0).then_some(tokens),
        cost_micros: (cost > 0).then_some(cost),
        ..HaltSummary::default()
    };
    halt::cost(&summary).join(", ")
}

/// When something was last recorded: a commit, a turn, a test run.
fn last_at(loaded: &LoadedTimeline) -> Option<Timestamp> {
    let iteration = loaded.timeline.newest().map(|newest| newest.at);
    let run = loaded.journal.runs.last().and_then(|run| run.at);
    let event = loaded.timeline.activity.now;
    [iteration, run, event].into_iter().flatten().filter(|at| at.0 != 0).max()
}

const TRACKED: &str = "refs/remotes/";
/// Most branches that are shown, those with the newest commits.
const MAX_BRANCHES: usize = 32;
/// Most records of one that are read.
const MAX_RECORDS: usize = 64;

/// The loops of other clones in which something was recorded within the session gap, the newest first. One that `halted` has
/// is shown by its halt.
fn read_branches(ctx: &Context, ws: &Workspace, halted: &[StandingHalt]) -> Result<Vec<BranchView>> {
    let gap = ws.config.guard.session_gap;
    let mut tips = Vec::new();
    for (name, id) in ws.repo.refs_with_prefix(TRACKED)? {
        let tip = CommitId(id);
        // A tip that is not here, or is no commit, is no loop.
        let Ok(info) = ws.repo.commit(tip) else { continue };
        let is_halted = halted.iter().any(|standing| standing.halt.head == Some(tip));
        if !is_halted && ctx.now.since(info.committed_at) <= gap {
            tips.push((info.committed_at, name, tip));
        }
    }
    tips.sort_by(|one, other| other.cmp(one));
    tips.dedup_by_key(|(_, _, tip)| *tip);
    tips.truncate(MAX_BRANCHES);
    let store = NotesStore::open(&ws.repo)?;
    let head = ws.repo.head()?.commit();
    let is_here = |tip| head.is_some_and(|head| ws.repo.is_ancestor(tip, head).unwrap_or(false));
    let tips = tips.into_iter().filter(|(_, _, tip)| !is_here(*tip));
    let branches = tips.filter_map(|(_, name, tip)| {
        let window = window::read_apart(&ws.repo, &store, tip, MAX_RECORDS);
        let name = name.strip_prefix(TRACKED).unwrap_or(&name).to_owned();
        seen_behind(ctx, ws, tip, window).map(|found| BranchView { name, found })
    });
    Ok(branches.collect())
}

/// The loop behind `tip`; `None` where its newest commit has no record, or one that is older than the session gap.
fn seen_behind(ctx: &Context, ws: &Workspace, tip: CommitId, window: Window) -> Option<LoopView> {
    let newest = window.facts.last().filter(|fact| fact.id == Some(tip))?;
    let last_at = newest.record.recorded_at;
    if ctx.now.since(last_at) > ws.config.guard.session_gap {
        return None;
    }
    let facts = window.facts.into_iter().map(|fact| Fact::Commit(Box::new(fact)));
    let timeline = timeline::fold(ws, facts.collect());
    let tested = timeline.iterations.iter().rev().find_map(|one| Some((one.at, one.tests.clone()?)));
    let tests = tested.map(|(at, evidence)| LastRun { evidence, validity: RunValidity::Valid, at: Some(at) });
    let (head, last_at, warnings) = (Some(tip), Some(last_at), window.warnings);
    Some(LoopView { head, tests, last_at, warnings, ..of_timeline(ws, &timeline) })
}

/// Most bytes that are read of a `HEAD`.
const MAX_HEAD: u64 = 4096;
/// A file that changed less than so many seconds before it was read may have changed again within one tick of its clock.
const TICK: i64 = 2;

/// The `stat` data of some files, and the contents of some others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Stamp {
    files: Vec<Option<FileStat>>,
    texts: Vec<Vec<u8>>,
}

impl Stamp {
    fn new<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Self {
        let stat = |path: &Path| fs::metadata(path).ok().map(|facts| files::stat(&facts));
        Self { files: paths.into_iter().map(stat).collect(), texts: Vec::new() }
    }

    /// The configuration of git, as far as it lies in the repository.
    fn of_configuration(repo: &Repo, ctx: &Context) -> Self {
        let home = ctx.var("HOME").map(|home| Path::new(home).join(".gitconfig")).unwrap_or_default();
        Self::new([repo.common_dir().join("config").as_path(), home.as_path()])
    }

    /// Returns the stamp of all that every worktree depends on: packed refs, the ledgers, hooks, and the configuration of the
    /// user.
    fn shared(repo: &Repo, ctx: &Context, hooks: Option<&Path>, ledger: Option<&str>) -> Self {
        let common = repo.common_dir();
        let andon = common.join("andon");
        let mut paths = vec![common.join("packed-refs"), common.join("config"), andon.join("attempts.jsonl")];
        paths.extend(hooks.map(Path::to_owned));
        paths.extend(hooks.map(|dir| dir.join("pre-commit")));
        paths.extend(ctx.user_config.clone());
        let mut stamp = Self::new(paths.iter().map(AsRef::as_ref));
        stamp.texts.extend(ledger.map(|ledger| ledger.as_bytes().to_vec()));
        stamp
    }

    /// The tip of the notes: each commit of any worktree moves it.
    fn of_notes(repo: &Repo) -> Self {
        Self::new([repo.common_dir().join("refs/notes/andon").as_path()])
    }

    /// Returns the stamp of what git writes when it fetches, and of the tip of the notes.
    fn of_fetched(repo: &Repo) -> Self {
        let common = repo.common_dir();
        let fetched =
            [repo.git_dir().join("FETCH_HEAD"), common.join("FETCH_HEAD"), common.join("packed-refs")];
        Self::new(fetched.iter().map(AsRef::as_ref)).and(Self::of_notes(repo))
    }

    /// Returns the stamp of what one worktree depends on alone: HEAD and its branch, the journal, `.andon/` and the
    /// configuration.
    fn of_worktree(repo: &Repo, place: &WorktreePlace) -> Self {
        let head = place.git_dir.join("HEAD");
        let text = read_plain(&head, MAX_HEAD).ok().flatten().unwrap_or_default();
        let own = place.git_dir.join("andon");
        let mut paths = vec![own.join("journal.jsonl"), own.join("shown")];
        if let Some(branch) = String::from_utf8_lossy(&text).strip_prefix("ref: ") {
            paths.push(repo.common_dir().join(branch.trim_end()));
        }
        if let Some(top) = &place.top {
            paths.extend([AndonDir::below(top).path(), top.join("andon.toml"), top.clone()]);
        }
        let mut stamp = Self::new(paths.iter().map(AsRef::as_ref));
        stamp.texts.push(text);
        stamp
    }

    /// Both of them.
    fn and(&self, other: Self) -> Self {
        let files = self.files.iter().copied().chain(other.files).collect();
        let texts = self.texts.iter().cloned().chain(other.texts).collect();
        Self { files, texts }
    }

    /// True when the files were as they are for some time when they were read at `at`.
    fn is_settled(&self, at: Timestamp) -> bool {
        let is_old = |stat: &FileStat| {
            [stat.modified.0, stat.changed.0]
                .into_iter()
                .all(|then| then.abs_diff(at.0) >= TICK.unsigned_abs())
        };
        self.files.iter().flatten().all(is_old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_just_changed_is_not_settled() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        let absent = Stamp::new([file.as_path()]);
        assert!(absent.is_settled(Timestamp(0)));
        fs::write(&file, "a").unwrap();
        let there = Stamp::new([file.as_path()]);
        assert_ne!(there, absent);
        assert_eq!(there, Stamp::new([file.as_path()]));
        let changed = there.files[0].unwrap().changed.0;
        assert!(!there.is_settled(Timestamp(changed + 1)));
        assert!(there.is_settled(Timestamp(changed + 2)));
        assert!(there.is_settled(Timestamp(changed - 100)), "a clock that was set back");
        fs::write(&file, "ab").unwrap();
        assert_ne!(there, Stamp::new([file.as_path()]));
    }
}
