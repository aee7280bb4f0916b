//! The test run, if any, that is evidence for a tree: looked up by content, never by time.

pub mod docs;
pub mod earlier_runs;
pub mod inherited_evidence;
mod path_difference;
pub mod places;
pub mod release;
pub mod results;
mod rewritten_lines;
pub mod scopes;
pub mod separate_checkout;
pub mod test_guess;
pub mod test_sets;
pub mod tested_code;
pub mod untracked;

pub use self::{
    inherited_evidence::*, places::*, scopes::*, separate_checkout::*, tested_code::*, untracked::*,
};

use std::collections::BTreeMap;

use self::results::{Told, newest};
use crate::{Result, Workspace, recording::LoadedTimeline};
use andon_core::detect::{Candidate, CodeChange, DocsChange, EvidenceState, Origin, Staging};
use andon_core::domain::{
    CodeId, CommitId, Diagnostic, Hint, RanOn, RunOrigin, RunValidity, TestEvidence, TestRun, TreeId,
};
use andon_git::Overlay;
use andon_store::{Content, Difference, NotesStore, ResultIndex, fingerprint::differing};

/// Most differing paths that are looked at.
const COMPARED: usize = 32;

/// The newest result on exactly `code`.
pub fn find(ws: &Workspace, loaded: &LoadedTimeline, code: CodeId) -> Option<TestEvidence> {
    newest(ws, loaded, code, |told| match told {
        Told::Run(run) if run.validity == RunValidity::Valid && run.evidence.code == code => {
            Some(untracked::evidence_of(run))
        }
        Told::Record(_, tests) if tests.code == code && !is_word(tests) => Some(tests.clone()),
        Told::Run(_) | Told::Record(..) => None,
    })
}

/// The newest run on exactly `code`, although it may prove nothing.
pub fn run_on(ws: &Workspace, loaded: &LoadedTimeline, code: CodeId) -> Option<TestRun> {
    newest(ws, loaded, code, |told| match told {
        Told::Run(run) if run.evidence.code == code => Some(run.clone()),
        Told::Run(_) | Told::Record(..) => None,
    })
}

/// The code for which evidence is looked for.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The worktree that asks.
    pub ws: &'a Workspace,
    /// The facts that were read.
    pub loaded: &'a LoadedTimeline,
    /// The code.
    pub subject: &'a Subject,
    /// Its fingerprint.
    pub code: CodeId,
}

/// The test run that is evidence for the code: on exactly that code, also where some of its files were not tracked yet when the
/// tests ran, or on the code before, where the subject only releases it. Where the code has scopes, those that are asked for
/// must have run.
pub fn of_subject(asked: Asked<'_>, demand: Demand) -> Result<Option<TestEvidence>> {
    match own_evidence(asked, demand)? {
        None => release::carried(asked, demand.before()),
        found => Ok(found),
    }
}

/// The same without what is carried.
fn own_evidence(asked: Asked<'_>, demand: Demand) -> Result<Option<TestEvidence>> {
    let whole = of_everything(asked)?;
    if asked.ws.config.test.scopes.settings.is_empty() {
        return Ok(whole);
    }
    let state = scopes::state(asked, demand, whole)?;
    Ok(if let EvidenceState::Tested(tests) = state { Some(*tests) } else { None })
}

/// The newest run of all tests at once on exactly this code; nothing where one of scopes is newer.
fn of_everything(asked: Asked<'_>) -> Result<Option<TestEvidence>> {
    match find(asked.ws, asked.loaded, asked.code) {
        Some(evidence) => Ok(Some(evidence).filter(|tests| tests.command != TestEvidence::OF_SCOPES)),
        None => untracked::run_before_add(asked),
    }
}

/// A failing run that was handed in counts against the loop, and opens no gate from a record either.
fn is_word(tests: &TestEvidence) -> bool {
    tests.origin == RunOrigin::HandedIn && !tests.is_green()
}

/// The newest run on exactly `code` that was handed in and failed: what a record keeps where nothing better is known.
pub fn reported_failing(loaded: &LoadedTimeline, code: CodeId) -> Option<TestEvidence> {
    let reported = loaded.journal.runs.iter().rev().filter(|run| run.is_reported_failing());
    reported.map(|run| &run.evidence).find(|tests| tests.code == code).cloned()
}

/// The code that the evidence has to be about.
pub enum Subject {
    /// A tree: of the index at pre-commit, of a commit later.
    Tree(TreeId),
    /// The working tree as it is now.
    WorkTree(Overlay),
}

impl Subject {
    /// True if it holds a file at `path`.
    fn has(&self, ws: &Workspace, path: &[u8]) -> Result<bool> {
        let base = match self {
            Self::Tree(tree) => Some(*tree),
            Self::WorkTree(overlay) => match overlay.entries.iter().find(|entry| entry.path == path) {
                Some(entry) => return Ok(entry.entry.is_some()),
                None => overlay.base,
            },
        };
        Ok(ws.repo.entry_at(base, path)?.is_some())
    }

    /// The content that its fingerprint is taken of.
    pub fn content(&self) -> Content<'_> {
        match self {
            Self::Tree(tree) => Content::Tree(*tree),
            Self::WorkTree(overlay) => Content::Overlay(overlay.base, &overlay.entries),
        }
    }
}

/// Judges a subject.
pub fn candidate(
    ws: &Workspace,
    loaded: &LoadedTimeline,
    subject: &Subject,
    demand: Demand,
) -> Result<Candidate> {
    let parent = demand.before();
    let mut prints = ws.fingerprinter();
    let code = prints.of(subject.content())?;
    let before = prints.of(parent.map_or(Content::Overlay(None, &[]), Content::Tree))?;
    let code_changed = if before == code { CodeChange::Unchanged } else { CodeChange::Changed };
    let asked = Asked { ws, loaded, subject, code };
    let state = match of_everything(asked)? {
        whole if !ws.config.test.scopes.settings.is_empty() => scopes::state(asked, demand, whole)?,
        Some(evidence) => EvidenceState::Tested(Box::new(evidence)),
        None => without_evidence(asked, loaded.journal.runs.last())?,
    };
    let may_be_carried = state.lacks_a_run() && code_changed == CodeChange::Changed;
    let carried = if may_be_carried { release::carried(asked, parent)? } else { None };
    let state = carried.map_or(state, |tests| EvidenceState::Tested(Box::new(tests)));
    let docs = match (subject, parent) {
        (Subject::Tree(_), Some(_)) => docs::between(&ws.repo, &ws.config, parent, subject.content())?,
        (Subject::Tree(_) | Subject::WorkTree(_), _) => DocsChange::NotAsked,
    };
    let command = ws.config.test.command.as_ref().map(andon_config::TestCommand::display);
    // Only where there is something to say: this looks at files of the project.
    let unconfigured = state == EvidenceState::Unconfigured && code_changed == CodeChange::Changed;
    let advice = ws.repo.workdir().filter(|_| unconfigured).map(test_guess::advice);
    Ok(Candidate { code_changed, evidence: state, docs, command, advice, ..Candidate::default() })
}

/// The code paths that a hook changed in what was tested: in `tree`, against the tree `before` the hook. None where the
/// tests did not run on that either.
pub fn changed_by_hook(
    ws: &Workspace,
    loaded: &LoadedTimeline,
    before: Option<TreeId>,
    tree: TreeId,
) -> Result<Vec<Vec<u8>>> {
    let Some(before) = before.filter(|before| *before != tree) else { return Ok(Vec::new()) };
    let (code, subject) = (ws.fingerprinter().of_tree(before)?, &Subject::Tree(before));
    let demand = Demand::Commit(ws.head_tree()?);
    if of_subject(Asked { ws, loaded, subject, code }, demand)?.is_none() {
        return Ok(Vec::new());
    }
    let changed = ws.repo.changes(Some(before), tree)?.into_iter().map(|change| change.path);
    Ok(changed.filter(|path| ws.is_code(path)).collect())
}

/// Adds what is known of commit `tip` besides the runs on its code: its record, which never gets better, and where no tests are
/// evidence for it, code that git made of tested commits, and what fails in those.
pub fn at_tip(ws: &Workspace, candidate: Candidate, tip: CommitId) -> Result<Candidate> {
    let store = NotesStore::open(&ws.repo)?;
    if let EvidenceState::Tested(tests) = &candidate.evidence {
        let recorded = store.readable(tip).and_then(|record| record.tests);
        let red = recorded.filter(|told| told.code == tests.code && !told.is_green() && tests.is_green());
        let Some(red) = red else { return Ok(candidate) };
        return Ok(Candidate {
            origin: Origin::Recorded,
            evidence: EvidenceState::Tested(Box::new(red)),
            ..candidate
        });
    }
    if candidate.evidence == EvidenceState::Unconfigured {
        return Ok(candidate);
    }
    // Tests that are left to the push are owed no matter who made the code, and so is the repair of red ones.
    let is_owed = |name: &String| !ws.config.is_asked_at_commit(name);
    if let EvidenceState::Scope { name, more, red, .. } = &candidate.evidence
        && (!red.is_empty() || is_owed(name) || more.iter().any(is_owed))
    {
        return Ok(candidate);
    }
    let archive = Archive { repo: &ws.repo, store: &store, config: &ws.config };
    let mut origins = Origins::of(ResultIndex::open(&ws.repo, ws.opened));
    Ok(match origins.standing(archive, &|_| KnownSoFar::Open, tip)? {
        CodeStanding::Tested(failing) => {
            let red = failing.map(|run| EvidenceState::Tested(Box::new(run.tests.clone())));
            Candidate { origin: Origin::MadeByGit, evidence: red.unwrap_or(candidate.evidence), ..candidate }
        }
        CodeStanding::Unrecorded | CodeStanding::Untested => candidate,
    })
}

/// Remote-tracking branches that are looked at.
const TRACKED: usize = 64;

/// The tree that the remote has and that a pushed tip goes beyond: where its code is that of the tip, nothing is pushed
/// that needs tests. That is what the remote ref points to, as far as it is known here; else what the tip has in common
/// with the remote-tracking branches. `None` where nothing is known.
pub fn at_the_remote(
    ws: &Workspace,
    tip: CommitId,
    tree: TreeId,
    there: Option<CommitId>,
) -> Result<Option<TreeId>> {
    let repo = &ws.repo;
    let mut prints = ws.fingerprinter();
    let code = prints.of_tree(tree)?;
    let tracked = repo.refs_with_prefix("refs/remotes/")?;
    let tracked = tracked.into_iter().take(TRACKED).map(|(_, id)| CommitId(id));
    let mut nearest = None;
    for known in there.into_iter().chain(tracked) {
        // A commit that was never fetched is not here, and unrelated histories have nothing in common.
        let base =
            if Some(known) == there { Some(known) } else { repo.merge_base(known, tip).ok().flatten() };
        let Some(base) = base.and_then(|base| repo.tree_of(base).ok()) else { continue };
        nearest = nearest.or(Some(base));
        if prints.of_tree(base)? == code {
            return Ok(Some(base));
        }
    }
    Ok(nearest)
}

/// The remarks on the evidence, and on an index that was not as it should be.
pub fn notices(candidate: &Candidate, loaded: &LoadedTimeline) -> Vec<Diagnostic> {
    notice(candidate).into_iter().chain(loaded.odd_results()).collect()
}

/// The note on evidence that opens a gate and is not a run of `andon test` on this code.
fn notice(candidate: &Candidate) -> Option<Diagnostic> {
    let EvidenceState::Tested(tests) = &candidate.evidence else { return None };
    if candidate.code_changed == CodeChange::Unchanged {
        return None;
    }
    if tests.ran_on == RanOn::Parent {
        let message = "only version numbers and changelogs changed: the tests of the commit before count";
        return Some(
            Diagnostic::note(message).code("release").help(Hint::Test.led("to run them all the same")),
        );
    }
    if tests.origin == RunOrigin::Here {
        return None;
    }
    let message = "the tests of this code were handed in: what ran is somebody's word (test.handed_in)";
    Some(Diagnostic::note(message).code("handed-in").help(Hint::Test.led("to see for yourself")))
}

fn without_evidence(asked: Asked<'_>, newest: Option<&TestRun>) -> Result<EvidenceState> {
    let Asked { ws, loaded, subject, code } = asked;
    if ws.config.test.command.is_none() {
        return Ok(EvidenceState::Unconfigured);
    }
    // A run on this very code that proves nothing says more than one on other code.
    if let Some(run) = run_on(ws, loaded, code) {
        return Ok(EvidenceState::Void(Box::new(run)));
    }
    let Some(run) = newest else { return Ok(EvidenceState::NeverRan) };
    // Nothing but the fingerprint is known of a handed-in test run.
    if run.base.is_none() && run.overlay_truncated {
        let (differing, staging) = (Vec::new(), Staging::Edited);
        return Ok(EvidenceState::OtherCode { run: Box::new(run.clone()), differing, total: 0, staging });
    }
    let head = ws.head_tree()?;
    let (found, staging) = match subject {
        Subject::Tree(tree) => {
            let (overlay, _) = untracked::as_tracked_in(ws, run, subject)?;
            let found = differing(&ws.repo, &ws.config.paths.rules, run.base, &overlay, *tree)?;
            let staging = staging(ws, run, head, &found)?;
            (found, staging)
        }
        Subject::WorkTree(overlay) => (from_worktree(ws, run, overlay)?, Staging::Edited),
    };
    // Nothing that these tests read is another: they read other paths when they ran.
    if found.is_empty() && ws.config.paths.rules.scope().is_some() {
        return Ok(EvidenceState::NeverRan);
    }
    let total = u64::try_from(found.len()).unwrap_or(u64::MAX);
    let differing = path_difference::named(ws, head, found.into_iter().take(COMPARED).collect())?;
    Ok(EvidenceState::OtherCode { run: Box::new(run.clone()), differing, total, staging })
}

/// In which paths the working tree differs from what the run saw.
fn from_worktree(ws: &Workspace, run: &TestRun, overlay: &Overlay) -> Result<Vec<Difference>> {
    let mut found: BTreeMap<Vec<u8>, Difference> = match overlay.base {
        Some(tree) => differing(&ws.repo, &ws.config.paths.rules, run.base, &run.overlay, tree)?,
        None => Vec::new(),
    }
    .into_iter()
    .map(|difference| (difference.path.clone(), difference))
    .collect();
    for now in overlay.entries.iter().filter(|now| ws.is_code(&now.path)) {
        let seen = run.overlay.iter().find(|seen| seen.path == now.path).map(|seen| seen.entry);
        let run_side = seen.map_or_else(|| ws.repo.entry_at(run.base, &now.path), Ok)?;
        if run_side == now.entry {
            found.remove(&now.path);
        } else {
            let (path, tracking) = (now.path.clone(), now.tracking);
            let difference = Difference { path: path.clone(), run_side, commit_side: now.entry, tracking };
            found.insert(path, difference);
        }
    }
    Ok(found.into_values().collect())
}

/// The difference is only work that is not staged when of each differing path the working tree still holds what the run
/// saw, or the commit has it as HEAD has it and had it then: hook managers put such work aside while hooks run, and after a
/// pull HEAD is another. Bounded by the paths that are compared; no scan.
fn staging(ws: &Workspace, run: &TestRun, head: Option<TreeId>, differing: &[Difference]) -> Result<Staging> {
    if run.overlay_truncated || differing.is_empty() || differing.len() >= COMPARED {
        return Ok(Staging::Edited);
    }
    for difference in differing {
        let in_head = ws.repo.entry_at(head, &difference.path)?;
        let not_staged = run.base == head && difference.commit_side == in_head;
        let still_there = ws.repo.worktree_blob(&difference.path) == difference.run_side.map(|(_, id)| id);
        if !(not_staged || still_there) {
            return Ok(Staging::Edited);
        }
    }
    Ok(Staging::OnlyUnstaged)
}
