//! The evidence for code that has no test run of its own: tests at another commit, or tested commits that git alone
//! combined. A result travels with its code: what git makes of red code is red until a run says otherwise.
//!
//! Only trees are believed ([`andon_git::TreeVerdict`]). A commit that merely says that it is a merge, a revert, a pick or a
//! step of a rebase is ordinary work.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::release;
use crate::evidence::scopes::{self, is_tested};
use crate::{Result, recording::derive};
use andon_config::Config;
use andon_core::change::normalize::Normalizer;
use andon_core::domain::{CodeId, CommitId, CommitKind, CommitRecord, Gate, Recording, TestEvidence};
use andon_git::{CommitInfo, MergeClaim, MergeStep, Repo, TreeVerdict};
use andon_store::{Content, Fingerprinter, NotesStore, ResultIndex};

/// Most trees that are made again in one go: a range may have any number of merges.
const DERIVED: usize = 512;
/// Most commits that are tried as squashes in one go.
const SQUASHES: usize = 16;
/// Most commits that one commit is compared with as its squash: the newest ones.
const SQUASHED: usize = 16;
/// Most steps from a commit down to the commits that it was made of, and those were made of.
const STEPS_DOWN: usize = 128;

/// The evidence for the code of a commit.
#[derive(Debug, Clone, PartialEq)]
pub enum Backing {
    /// The record of another commit, of the same tree or of the same code.
    Elsewhere(CommitId, Box<CommitRecord>),
    /// git made it of commits whose code was tested, and this fails there.
    Made(MergeClaim, Option<Rc<FailingRun>>),
    /// Only the project's own version and changelogs differ from this commit, whose code was tested, and this fails there.
    Released(CommitId, Option<Rc<FailingRun>>),
    /// git made it, and this commit that it was made of was not tested.
    Untested(CommitId),
    /// git made it of this commit, which no hook recorded.
    Unrecorded(CommitId),
    /// Nothing does.
    Missing,
}

/// A run that failed on the code of a commit.
#[derive(Debug, Clone, PartialEq)]
pub struct FailingRun {
    /// The commit on whose code the tests ran.
    pub at: CommitId,
    /// The tests, less what was mended on the way.
    pub tests: TestEvidence,
}

impl FailingRun {
    /// The failing run of a record.
    pub fn of(at: CommitId, tests: Option<&TestEvidence>) -> Option<Rc<Self>> {
        let tests = tests.filter(|tests| !tests.is_green())?;
        Some(Rc::new(Self { at, tests: tests.clone() }))
    }

    /// The failing tests; where none is named, the way in which the run ended.
    fn causes(&self) -> BTreeSet<&str> {
        match self.tests.failing.as_slice() {
            [] => BTreeSet::from([self.tests.status.as_str()]),
            named => named.iter().map(String::as_str).collect(),
        }
    }
}

/// The worth of the code of a commit.
#[derive(Debug, Clone, PartialEq)]
pub enum CodeStanding {
    /// It was tested, or needed no tests, or git made it of such code; and this fails there.
    Tested(Option<Rc<FailingRun>>),
    /// No hook saw it being made.
    Unrecorded,
    /// It was not tested, or bypassed the gate.
    Untested,
}

impl CodeStanding {
    /// The finding that the code of commit `id` is no evidence; `None` where it was tested.
    fn lack(&self, id: CommitId) -> Option<Backing> {
        match self {
            Self::Tested(_) => None,
            Self::Unrecorded => Some(Backing::Unrecorded(id)),
            Self::Untested => Some(Backing::Untested(id)),
        }
    }

    /// The run that fails there.
    fn failing(&self) -> Option<&Rc<FailingRun>> {
        if let Self::Tested(failing) = self { failing.as_ref() } else { None }
    }
}

/// The caller's own verdict on a commit.
pub enum KnownSoFar {
    /// It was judged.
    Known(CodeStanding),
    /// It lies below what is judged: that its code was not tested is not held against what was made of it.
    Below,
    /// Its record tells.
    Open,
}

/// The caller's verdict on commits.
pub type Judge<'a> = &'a dyn Fn(CommitId) -> KnownSoFar;

/// The commit in question.
pub struct Inquiry<'a> {
    /// The commit as git has it.
    pub commit: &'a CommitInfo,
    /// Its facts: what was recorded, or derived.
    pub record: &'a CommitRecord,
    /// The way git made it, as its record says; without a record, a forge's button may have made it.
    pub recorded: Option<CommitKind>,
    /// The code changed against the first parent.
    pub changed: bool,
    /// The verdict on earlier commits.
    pub judged: Judge<'a>,
}

/// Looks for the evidence for commits.
#[derive(Default)]
pub struct Origins {
    /// Read when it is first asked for.
    known: Option<Rc<ResultIndex>>,
    /// Commits whose records were asked.
    standings: HashMap<CommitId, CodeStanding>,
    /// Trees that were made again.
    made: usize,
    /// Commits that were looked at as squashes: each is compared with several.
    squashes: usize,
    /// The commits that are being looked at: none is evidence for itself, by whatever way round.
    open: Vec<CommitId>,
    /// The number of times that one of them was met.
    met: usize,
}

/// The repository and records that are searched.
#[derive(Clone, Copy)]
pub struct Archive<'a> {
    /// The repository of the commits.
    pub repo: &'a Repo,
    /// Their records.
    pub store: &'a NotesStore<'a>,
    /// The configuration that counts.
    pub config: &'a Config,
}

impl Archive<'_> {
    /// The record of a commit; one that is here has to match it.
    pub(super) fn record(&self, id: CommitId) -> Option<CommitRecord> {
        let stored = self.store.readable(id)?;
        self.repo.tree_of(id).map_or(true, |tree| tree == stored.tree).then_some(stored)
    }

    fn code(&self, id: CommitId) -> Option<CodeId> {
        let derived = || {
            let mut prints = Fingerprinter::new(self.repo, &self.config.paths.rules);
            prints.of_tree(self.repo.tree_of(id).ok()?).ok()
        };
        self.record(id).map(|record| record.code).or_else(derived)
    }

    pub(super) fn parent(&self, id: CommitId) -> Option<CommitId> {
        match self.repo.commit(id) {
            Ok(commit) => commit.parents.first().copied(),
            Err(_) => self.store.readable(id)?.parent,
        }
    }
}

impl Origins {
    /// Looks where this index leads.
    pub fn of(index: ResultIndex) -> Self {
        Self { known: Some(Rc::new(index)), ..Self::default() }
    }

    /// The evidence for the code of a commit.
    pub fn backing(&mut self, archive: Archive<'_>, asked: &Inquiry<'_>) -> Result<Backing> {
        self.open.push(asked.commit.id);
        let found = self.search(archive, asked);
        self.open.pop();
        found
    }

    /// The index that is searched: that of the records, where no other was given.
    pub(super) fn index(&mut self, archive: Archive<'_>) -> Result<Rc<ResultIndex>> {
        if self.known.is_none() {
            self.known = Some(Rc::new(ResultIndex::of_records(archive.repo, archive.store)?));
        }
        Ok(self.known.clone().unwrap_or_default())
    }

    fn search(&mut self, archive: Archive<'_>, asked: &Inquiry<'_>) -> Result<Backing> {
        let known = self.index(archive)?;
        if let Some(found) = elsewhere(archive, &known, asked) {
            return Ok(found);
        }
        let mut nothing = Backing::Missing;
        let mut claims = claims(archive, &known, asked)?;
        let may_be_squash = asked.recorded.is_none() && asked.changed && asked.commit.parents.len() == 1;
        if may_be_squash && self.squashes < SQUASHES {
            self.squashes += 1;
            claims.extend(squashes(archive, &known, asked.commit));
        }
        for claimed in claims {
            // A commit made of this one, such as its merge, has its change too, and is not what it was made of.
            let is_later = |id: &CommitId| archive.repo.is_ancestor(asked.commit.id, *id).unwrap_or(false);
            if !self.is_made(archive, asked, &claimed)? || claimed.sources().iter().any(is_later) {
                continue;
            }
            nothing = self.of_what_it_is_made(archive, asked, claimed)?;
            if matches!(nothing, Backing::Made(..)) {
                return Ok(nothing);
            }
        }
        let Archive { repo, config, .. } = archive;
        if let [parent] = asked.commit.parents[..]
            && asked.changed
            && release::is_release(repo, &config.paths.rules, repo.tree_of(parent)?, asked.commit.tree)?
        {
            let standing = self.standing(archive, asked.judged, parent)?;
            let released = || Backing::Released(parent, standing.failing().cloned());
            return Ok(standing.lack(parent).unwrap_or_else(released));
        }
        Ok(nothing)
    }

    fn is_made(&mut self, archive: Archive<'_>, asked: &Inquiry<'_>, claimed: &MergeClaim) -> Result<bool> {
        if self.made >= DERIVED {
            return Ok(false);
        }
        self.made += 1;
        Ok(match archive.repo.is_made(asked.commit, claimed)? {
            TreeVerdict::Same => true,
            TreeVerdict::Other => false,
            TreeVerdict::Unknown => is_same_change(archive, asked, claimed),
        })
    }

    /// The worth of a commit that git made as `claimed`: that of the commits it was made of. Those that were picked,
    /// reverted or squashed must have been tested.
    fn of_what_it_is_made(
        &mut self,
        archive: Archive<'_>,
        asked: &Inquiry<'_>,
        claimed: MergeClaim,
    ) -> Result<Backing> {
        let parents = &asked.commit.parents;
        for parent in parents {
            let lack = match (asked.judged)(*parent) {
                KnownSoFar::Known(standing) => standing.lack(*parent),
                KnownSoFar::Open => {
                    let lack = self.standing(archive, asked.judged, *parent)?.lack(*parent);
                    lack.filter(|lack| matches!(lack, Backing::Untested(_)))
                }
                KnownSoFar::Below => None,
            };
            if let Some(lack) = lack {
                return Ok(lack);
            }
        }
        for source in claimed.sources() {
            if let Some(lack) = self.standing(archive, asked.judged, *source)?.lack(*source) {
                return Ok(lack);
            }
        }
        let steps = if let Ok(ways) = archive.repo.merge_steps(asked.commit, &claimed) {
            ways.into_iter().next().unwrap_or_default()
        } else {
            // They are not here: their records tell what they were made on.
            let step = |source: &CommitId| MergeStep { base: archive.parent(*source), theirs: *source };
            claimed.sources().iter().map(step).collect()
        };
        let mut ours = self.side(archive, asked.judged, parents.first().copied())?;
        for MergeStep { base, theirs } in steps {
            let base = self.side(archive, asked.judged, base)?;
            let theirs = self.standing(archive, asked.judged, theirs)?;
            ours = CodeStanding::Tested(merged(&ours, &base, &theirs));
        }
        Ok(Backing::Made(claimed, ours.failing().cloned()))
    }

    /// The scopes that a merge gives code of which no side had, and whose tests no record tells of: each side was tested,
    /// and what they make together was not.
    ///
    /// # Errors
    /// Trees that are not here.
    pub fn untested_scopes(&self, archive: Archive<'_>, commit: &CommitInfo) -> Result<Vec<String>> {
        let Archive { repo, config, .. } = archive;
        if commit.parents.len() < 2 || config.test.scopes.settings.is_empty() {
            return Ok(Vec::new());
        }
        let mut untested: Option<Vec<String>> = None;
        for parent in &commit.parents {
            let (now, before) = (Content::Tree(commit.tree), repo.tree_of(*parent)?);
            let new = scopes::codes(repo, config, now, scopes::Demand::Commit(Some(before)))?
                .into_iter()
                .filter(|scope| {
                    let ran = |id: CommitId| {
                        let tests = archive.store.readable(id).and_then(|record| record.tests);
                        let row = tests.as_ref().and_then(|tests| tests.of_scope(&scope.name));
                        row.is_some_and(|row| row.tests.code == scope.code && is_tested(&row.tests))
                    };
                    let records = self.known.as_ref().map(|known| known.records(scope.code));
                    let known = records.unwrap_or_default().into_iter().any(ran);
                    scope.touched
                        && !known
                        && untested.as_ref().is_none_or(|names| names.contains(&scope.name))
                });
            untested = Some(new.map(|scope| scope.name).collect());
        }
        Ok(untested.unwrap_or_default())
    }

    fn side(&mut self, archive: Archive<'_>, judge: Judge<'_>, id: Option<CommitId>) -> Result<CodeStanding> {
        id.map_or(Ok(CodeStanding::Unrecorded), |id| self.standing(archive, judge, id))
    }

    /// Returns the worth of the code of a commit: as it was judged, else as its record says or git makes it.
    pub fn standing(&mut self, archive: Archive<'_>, judge: Judge<'_>, id: CommitId) -> Result<CodeStanding> {
        if let KnownSoFar::Known(standing) = judge(id) {
            return Ok(standing);
        }
        if let Some(standing) = self.standings.get(&id) {
            return Ok(standing.clone());
        }
        if self.open.contains(&id) || self.open.len() >= STEPS_DOWN {
            self.met += 1;
            return Ok(CodeStanding::Untested);
        }
        let met = self.met;
        let found = self.look_up(archive, judge, id)?;
        if self.met == met {
            self.standings.insert(id, found.clone());
        }
        Ok(found)
    }

    fn look_up(&mut self, archive: Archive<'_>, judge: Judge<'_>, id: CommitId) -> Result<CodeStanding> {
        let record = archive.record(id);
        // The record of what was moved without one says no more of its code than none.
        let says = record.as_ref().is_some_and(|record| record.recording != Recording::Moved);
        let unknown = if says { CodeStanding::Untested } else { CodeStanding::Unrecorded };
        let own = record.as_ref().filter(|record| is_sound(record));
        if let Some(tests) =
            own.and_then(|record| record.tests.as_ref().filter(|tests| tests.code == record.code))
        {
            return Ok(CodeStanding::Tested(FailingRun::of(id, Some(tests))));
        }
        let Ok(commit) = archive.repo.commit(id) else {
            let sound = record.is_some_and(|record| is_sound(&record));
            return Ok(if sound { CodeStanding::Tested(None) } else { unknown });
        };
        let before = commit.parents.first().copied();
        if let Some(parent) = before.filter(|parent| archive.code(*parent) == archive.code(id)) {
            if record.is_none() && matches!(judge(parent), KnownSoFar::Below) {
                return Ok(CodeStanding::Unrecorded);
            }
            return self.standing(archive, judge, parent);
        }
        let recorded = record.as_ref().map(|record| record.kind);
        let record = match record {
            Some(record) if is_sound(&record) => return Ok(CodeStanding::Tested(None)),
            Some(record) => record,
            None => {
                let normalizer = Normalizer::new(&archive.config.normalize)?;
                let derived =
                    derive::derive(archive.repo, &archive.config.paths.rules, &normalizer, &commit)?;
                derive::unrecorded(&commit, derived).record
            }
        };
        let asked = Inquiry { commit: &commit, record: &record, recorded, changed: true, judged: judge };
        Ok(match self.backing(archive, &asked)? {
            Backing::Made(_, failing) | Backing::Released(_, failing) => CodeStanding::Tested(failing),
            Backing::Elsewhere(at, other) => CodeStanding::Tested(FailingRun::of(at, other.tests.as_ref())),
            Backing::Unrecorded(_) => CodeStanding::Unrecorded,
            Backing::Untested(_) | Backing::Missing => unknown,
        })
    }
}

/// Returns what fails in the merge of two sides: that of either, less what failed already in their base and was mended on
/// the other. Where nothing is known of a side, it mended nothing.
fn merged(ours: &CodeStanding, base: &CodeStanding, theirs: &CodeStanding) -> Option<Rc<FailingRun>> {
    let causes = |side: &CodeStanding| -> BTreeSet<String> {
        side.failing().iter().flat_map(|run| run.causes()).map(str::to_owned).collect()
    };
    let before = causes(base);
    let left = |side: &CodeStanding, other: &CodeStanding| {
        let (mut own, beside) = (causes(side), causes(other));
        let is_known = matches!(other, CodeStanding::Tested(_));
        own.retain(|cause| !(is_known && before.contains(cause) && !beside.contains(cause)));
        own
    };
    let (from_us, from_them) = (left(ours, theirs), left(theirs, ours));
    let source = if from_them.is_empty() { ours } else { theirs }.failing()?;
    let all: BTreeSet<String> = from_us.union(&from_them).cloned().collect();
    if all.is_empty() {
        return None;
    }
    let mut tests = source.tests.clone();
    if !tests.failing.is_empty() {
        tests.failing.retain(|name| all.contains(name));
        let more = all.iter().filter(|name| !tests.failing.contains(name)).cloned();
        let more: Vec<String> = more.collect();
        tests.failing.extend(more);
    }
    Some(Rc::new(FailingRun { at: source.at, tests }))
}

/// The commits that were applied are not in this clone, as after a rebase elsewhere: then their records have to tell the
/// same change: of one line by line, of several as far as lines add up.
fn is_same_change(archive: Archive<'_>, asked: &Inquiry<'_>, claimed: &MergeClaim) -> bool {
    let (MergeClaim::Applied(sources), now) = (claimed, &asked.record.diff) else { return false };
    let diffs: Vec<_> = sources.iter().filter_map(|id| Some(archive.store.readable(*id)?.diff)).collect();
    if diffs.is_empty() || diffs.len() < sources.len() || diffs.iter().any(|diff| diff.truncated) {
        return false;
    }
    if let [one] = diffs.as_slice() {
        return one == now;
    }
    let added: u64 = diffs.iter().map(|diff| diff.added).sum();
    let removed: u64 = diffs.iter().map(|diff| diff.removed).sum();
    let files: u64 = diffs.iter().map(|diff| diff.files).sum();
    now.added + removed == added + now.removed && now.files <= files && !now.truncated
}

/// The record of another commit that is evidence for this one too.
fn elsewhere(archive: Archive<'_>, known: &ResultIndex, asked: &Inquiry<'_>) -> Option<Backing> {
    let parent = asked.commit.parents.first();
    let other = |id: &&CommitId| **id != asked.commit.id && Some(*id) != parent;
    let of_code = if asked.changed { known.records(asked.record.code) } else { Vec::new() };
    let of_tree = if asked.recorded.is_none() { known.of_tree(asked.record.tree) } else { Vec::new() };
    let read = |id: &CommitId| Some((*id, Box::new(archive.record(*id)?)));
    let is_tested = |(_, stored): &(CommitId, Box<CommitRecord>)| {
        stored
            .tests
            .as_ref()
            .is_some_and(|tests| tests.code == stored.code && stored.code == asked.record.code)
    };
    let of_code = of_code.iter().filter(|id| **id != asked.commit.id).filter_map(read).filter(is_tested);
    // One that says nothing itself hides no other.
    let of_tree = of_tree.iter().filter(other).filter_map(read).filter(|(_, stored)| is_sound(stored));
    of_code.chain(of_tree).map(|(id, stored)| Backing::Elsewhere(id, stored)).next()
}

/// Possible origins of a commit, the likeliest first.
fn claims(archive: Archive<'_>, known: &ResultIndex, asked: &Inquiry<'_>) -> Result<Vec<MergeClaim>> {
    let Inquiry { commit, record, recorded, .. } = asked;
    if commit.parents.len() > 1 {
        return Ok(vec![MergeClaim::Merge]);
    }
    let named = |kind, made: fn(CommitId) -> MergeClaim| -> Result<Vec<MergeClaim>> {
        Ok(archive.repo.named_sources(commit, kind)?.into_iter().map(made).collect())
    };
    let mut all = Vec::new();
    if !record.joins.is_empty() {
        all.push(MergeClaim::Applied(record.joins.clone()));
    }
    if matches!(recorded, None | Some(CommitKind::Revert)) {
        all.extend(named(CommitKind::Revert, MergeClaim::Revert)?);
    }
    if matches!(recorded, None | Some(CommitKind::CherryPick | CommitKind::Rebase)) {
        all.extend(named(CommitKind::CherryPick, MergeClaim::pick)?);
    }
    // Also a rebased commit whose message was amended, a patch that was applied: what git made of what was tested.
    if !matches!(recorded, Some(CommitKind::Merge | CommitKind::Revert)) {
        let same = known.of_diff(record.diff.hash).into_iter().filter(|id| *id != commit.id);
        let mut same: Vec<CommitId> = same.collect();
        // A tested commit says more than what git made of it.
        same.sort_by_key(|id| !archive.store.readable(*id).is_some_and(|record| is_sound(&record)));
        all.extend(same.into_iter().map(MergeClaim::pick));
    }
    Ok(all)
}

/// The newest commits with records that may have been squashed: those that the parent does not have.
fn squashes(archive: Archive<'_>, known: &ResultIndex, commit: &CommitInfo) -> Vec<MergeClaim> {
    let Some(parent) = commit.parents.first() else { return Vec::new() };
    let above = |id: &CommitId| {
        *id != commit.id && archive.repo.is_ancestor(*id, *parent).is_ok_and(|ancestor| !ancestor)
    };
    let newest = known.newest(4 * SQUASHED).into_iter().filter(above).take(SQUASHED);
    newest.map(MergeClaim::Squash).collect()
}

/// True if a record shows that its code was tested, or needed no tests, and passed the gate where git asks one.
pub fn is_sound(record: &CommitRecord) -> bool {
    let tested = record.tests.as_ref().is_some_and(|tests| tests.code == record.code);
    let observed = match (record.gate, record.recording) {
        (_, Recording::Moved) => tested,
        (_, Recording::Backfilled | Recording::Derived)
        | (Gate::Bypassed, _)
        | (Gate::NotRun, Recording::CaughtUp) => false,
        (Gate::NotRun | Gate::Passed, Recording::AtCommit | Recording::CaughtUp | Recording::Patched) => true,
    };
    // The gate lets code without tests pass only where none are required, or where the rule was skipped.
    observed && (tested || (record.gate == Gate::Passed && record.skipped.is_empty()))
}
