//! Every record of the range against what its commit says.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use super::chain::{self, RecentNotes};
use super::makers::{self, OnceAgents};
use super::{
    Case, CheckInputs, CommitCase, Conclusion, Diagnostic, EvidenceGap, ExaminedCommits, Location,
    MessageOrder, RangeEvidence, RangeRequest, ViolationGroups, at, contradictions, level_of, overrides,
    source, tamper, violation, whole_range::WeakeningFold,
};
use andon_config as config;
use andon_core::domain::{
    CommitFact, CommitId, CommitKind, CommitRecord, Digest, Hint, Level, PathClass, TestEvidence,
};
use andon_core::format::FormatError;
use andon_core::{change::normalize::Normalizer, detect};
use andon_engine::recording::{
    CommitFacts, DerivedCommit, Job, Pace, RangeCommit, Records, WalkEnd, bulk, derive,
};
use andon_engine::{Context, Result};
use andon_git::{CommitInfo, Repo, missing_help};
use andon_store::{DerivedCache, RecordError, StoredRecord, wire::v1};

/// Findings in the commits, one by one.
#[derive(Default)]
pub(super) struct RecordFindings {
    pub examined: ExaminedCommits,
    pub violations: ViolationGroups,
    /// Records that this clone cannot compare.
    pub undecided: Vec<Diagnostic>,
    /// The evidence for the code.
    pub backed: RangeEvidence,
    weakened: WeakeningFold,
    recent: RecentNotes,
    agents: OnceAgents,
    /// The lines that records of the range name as the ones before them: asked for where a note has several.
    named: Option<BTreeSet<Digest>>,
    /// The messages about the record of the commit that is looked at.
    said: Vec<Diagnostic>,
}

/// A commit of the range, with what it derives to.
struct Subject<'a> {
    case: &'a Case<'a>,
    commit: &'a CommitInfo,
    derived: DerivedCommit,
    named: &'a dyn Fn() -> BTreeSet<Digest>,
}

/// Judges every commit of the range with its record.
pub(super) fn judge(
    ctx: &Context,
    ground: &CheckInputs,
    asked: &RangeRequest,
    pace: &mut Pace<'_>,
) -> Result<(RecordFindings, WalkEnd)> {
    let CheckInputs { common_dir, range, config, .. } = ground;
    let mut judged = RecordFindings::default();
    let salt = bulk::salt(config, None);
    let cache = if asked.cached { DerivedCache::load(common_dir, &salt) } else { DerivedCache::empty(&salt) };
    let (commits, stop) = (&range.commits[..], pace.stop);
    let job = Job { ctx, config, commits, records: Records::Ignored, tip: None, cache: &cache, rules: None };
    let repo = Repo::open(&ctx.cwd, &ctx.repo_env)?;
    let case = ground.case(&repo, asked);
    let named = || named(&case, commits, stop);
    judged.agents = OnceAgents::among(&case, commits)?;
    let walked = bulk::walk(common_dir, &job, pace, &mut |RangeCommit { commit, facts, .. }| match facts {
        CommitFacts::Derived(derived, _) => {
            judged.take(Subject { case: &case, commit: &commit, derived: *derived, named: &named })
        }
        // Records are ignored: what comes was derived.
        CommitFacts::Recorded(_) => Ok(()),
    })?;
    Ok((judged, walked))
}

/// The lines that records of the range name as the ones before them, and what is known of them when the walk is
/// stopped.
fn named(case: &Case<'_>, ids: &[CommitId], stop: &AtomicBool) -> BTreeSet<Digest> {
    let read = ids.iter().take_while(|_| !stop.load(Ordering::Relaxed));
    let notes = read.filter_map(|id| case.store.note(*id).ok().flatten());
    notes.flat_map(|note| note.lines()).filter_map(|line| line.prev).collect()
}

impl RecordFindings {
    /// Everything that one commit and its record give away.
    fn take(&mut self, subject: Subject<'_>) -> Result<()> {
        let Subject { case, commit, .. } = subject;
        let mut fact = self.one(subject)?;
        let weakened = self.weakened.judge(case, commit, &mut fact)?;
        let identity = makers::other_identity(case, commit, &fact)?;
        let tampered: Vec<Diagnostic> = tamper::of_commit(case, &self.examined, commit, &fact).collect();
        let Self { examined, violations: all, said, .. } = self;
        examined.push(commit, &fact);
        all.add(examined, MessageOrder::Records, std::mem::take(said));
        if !examined.is_bound(commit.id) {
            return Ok(());
        }
        all.add(examined, MessageOrder::Weakening, weakened);
        all.add(examined, MessageOrder::Identity, identity);
        all.add(examined, MessageOrder::Skips, overrides::skips(commit, &fact));
        all.add(examined, MessageOrder::Tampering, tampered);
        Ok(())
    }

    /// The fact of a commit, and the messages about its record.
    fn one(&mut self, subject: Subject<'_>) -> Result<CommitFact> {
        let stored = match self.stored(&subject) {
            Ok(Some(stored)) => stored,
            Ok(None) => {
                self.bind(&subject, None);
                return self.silent(subject, EvidenceGap::Unrecorded);
            }
            Err(err) => {
                self.unreadable(subject.commit, &err);
                return Ok(derive::unrecorded(subject.commit, subject.derived));
            }
        };
        let is_bound = self.bind(&subject, Some(&stored.record));
        let Subject { case, commit, .. } = subject;
        let compared = compare(&subject, &stored.record)?;
        self.said.extend(chain::judge(case, &self.examined, &self.recent, commit, &stored));
        if is_bound {
            self.said.extend(overrides::bypassed(case, commit, &stored.record));
            self.said.extend(overrides::unguarded(case, commit, &stored.record));
        }
        let mut record = match compared {
            // The parts of the diff are never believed: another version may describe them in other words.
            RecordMatch::Holds => {
                CommitRecord { change: Some(subject.derived.change.clone()), ..stored.record }
            }
            RecordMatch::AllBut(why) => {
                self.said.extend(why);
                under_the_rules_of_the_base(stored.record, &subject.derived)
            }
            RecordMatch::CannotTell(why) => {
                self.undecided.push(why);
                under_the_rules_of_the_base(stored.record, &subject.derived)
            }
            RecordMatch::Fails(why) => {
                self.said.push(why);
                return Ok(derive::unrecorded(commit, subject.derived));
            }
        };
        if record.is_silent() {
            // It says what the commit says, and no hook saw it: the rules see what they would see without it.
            return self.silent(subject, EvidenceGap::of_silent(&record));
        }
        self.said.extend(contradictions::judge(case, commit, &record));
        let here = CommitCase { case, examined: &self.examined, commit };
        if is_bound {
            let conclusion = self.backed.recorded(here, &mut record)?;
            self.conclude(conclusion);
        }
        Ok(commit.fact(record))
    }

    /// Finds out whether the guard binds a commit.
    fn bind(&mut self, subject: &Subject<'_>, record: Option<&CommitRecord>) -> bool {
        let Subject { case, commit, .. } = subject;
        let is_bound = self.agents.binds(case, commit, record);
        if !is_bound {
            self.examined.free.insert(commit.id);
        }
        is_bound
    }

    /// The fact of a commit without evidence in its own record.
    fn silent(&mut self, subject: Subject<'_>, silent: EvidenceGap) -> Result<CommitFact> {
        let Subject { case, commit, derived, .. } = subject;
        let mut fact = derive::unrecorded(commit, derived);
        let here = CommitCase { case, examined: &self.examined, commit };
        let conclusion = self.backed.silent(here, silent, &mut fact)?;
        self.conclude(conclusion);
        Ok(fact)
    }

    fn conclude(&mut self, conclusion: Conclusion) {
        self.said.extend(conclusion.violations);
        self.undecided.extend(conclusion.undecided);
    }

    /// The record of a commit.
    fn stored(&mut self, subject: &Subject<'_>) -> Result<Option<StoredRecord>, RecordError> {
        let Subject { case, commit, derived, named } = subject;
        let Some(note) = case.store.note(commit.id)? else {
            self.recent.push(commit.id, None);
            return Ok(None);
        };
        if note.has_several() {
            self.said.extend(contradictions::of_note(commit, &note));
            let named = self.named.get_or_insert_with(named);
            return note.choose(&derivable(derived), named).map(Some);
        }
        let stored = note.choose(&derivable(derived), &BTreeSet::new())?;
        self.recent.push(commit.id, Some(&stored));
        Ok(Some(stored))
    }

    /// A record that a partial clone left at its remote is no one's fault.
    fn unreadable(&mut self, commit: &CommitInfo, err: &RecordError) {
        if matches!(err, RecordError::Git(err) if err.is_cut_off()) {
            let missing = Diagnostic::error(format!("its record is not here: {err}")).code("partial-clone");
            self.undecided.push(missing.at(Location::Commit(at(commit))).help(Hint::FetchRecordsAgain));
            return;
        }
        let look = || Hint::ReadNotes.with([&commit.id.short()]);
        let is_newer = matches!(err, RecordError::Unreadable { source: FormatError::Schema { .. }, .. });
        let help = err.help().filter(|_| is_newer).unwrap_or_else(look);
        self.said.push(violation(at(commit), "unreadable-record", Level::Block, err.to_string(), &help));
    }
}

/// The facts that choose among several lines of one note.
fn derivable(derived: &DerivedCommit) -> v1::DerivedFacts {
    v1::DerivedFacts {
        tree: Some(derived.tree),
        parent: Some(derived.parent),
        code: Some(derived.code),
        diff: Some(derived.diff.hash),
    }
}

/// The relation of a record to its commit.
enum RecordMatch {
    /// It says what the commit gives.
    Holds,
    /// So it does with the path rules and patterns that the commit itself brings, or but for a diff that was recorded in a
    /// partial clone without the blobs: the commit itself is believed.
    AllBut(Vec<Diagnostic>),
    /// All but its diff, whose blobs this clone lacks.
    CannotTell(Diagnostic),
    /// The record is not that of the commit.
    Fails(Diagnostic),
}

/// Returns the worth of a record of another configuration: the tests that it names ran on this tree.
fn under_the_rules_of_the_base(record: CommitRecord, derived: &DerivedCommit) -> CommitRecord {
    let tests = record.tests.map(|tests| TestEvidence { code: derived.code, ..tests });
    let change = Some(derived.change.clone());
    CommitRecord { code: derived.code, diff: derived.diff.clone(), change, tests, ..record }
}

/// Compares a record with its commit. Path rules may have changed inside the range: then the commit's own
/// configuration must explain the record.
fn compare(subject: &Subject<'_>, record: &CommitRecord) -> Result<RecordMatch> {
    let Subject { case, commit, derived, .. } = subject;
    let help = Hint::ReadNotes.with([&commit.id.short()]);
    let fails = |code: &str, message: String| {
        RecordMatch::Fails(violation(at(commit), code, Level::Block, message, &help))
    };
    if record.tree != derived.tree || record.parent != derived.parent {
        let message = "the record is that of another commit: tree or parent differ";
        return Ok(fails("copied-record", message.to_owned()));
    }
    if let Some(tests) = record.tests.as_ref().filter(|tests| tests.code != record.code) {
        let (theirs, own) = (tests.code.short(), record.code.short());
        let message = format!("the record claims tests on other code: {theirs} instead of {own}");
        return Ok(fails("foreign-tests", message));
    }
    // Earlier versions called an amended merge an amend.
    let several = commit.parents.len() > 1;
    if (record.kind == CommitKind::Merge) != several && !(several && record.kind == CommitKind::Amend) {
        let message = "the record was edited: its kind is not what the commit gives";
        return Ok(fails("edited-record", message.to_owned()));
    }
    if same(record, derived) {
        return Ok(RecordMatch::Holds);
    }
    if let Some(violations) = under_own_rules(case, commit, record)? {
        return Ok(RecordMatch::AllBut(violations));
    }
    if let Some(without) = without_blobs(commit, derived, record) {
        return Ok(without);
    }
    let what = if record.code == derived.code { "diff" } else { "code fingerprint" };
    Ok(fails("edited-record", format!("the record was edited: its {what} is not what the commit gives")))
}

/// Returns a match when blobs that a partial clone lacks, this one or the one that recorded, explain that the diffs differ.
fn without_blobs(commit: &CommitInfo, derived: &DerivedCommit, record: &CommitRecord) -> Option<RecordMatch> {
    if record.code != derived.code {
        return None;
    }
    if let Some(id) = derived.missing {
        let message = format!("its diff cannot be compared: blob {id} is not in this partial clone");
        let missing = Diagnostic::error(message).code("partial-clone");
        return Some(RecordMatch::CannotTell(
            missing.at(Location::Commit(at(commit))).help(missing_help(id)),
        ));
    }
    let message = "it was recorded in a partial clone, without all blobs; its diff is taken from the commit";
    let help = Hint::GitShow.with([&commit.id.short()]);
    let warning = violation(at(commit), "partial-record", Level::Warn, message, &help);
    (record.diff.truncated && !derived.diff.truncated).then(|| RecordMatch::AllBut(vec![warning]))
}

/// Returns what is to be said when the commit's own configuration explains its record; `None` when it does not. Paths that the
/// base counts as code and the commit no longer does cannot be shown to be tested.
fn under_own_rules(
    case: &Case<'_>,
    commit: &CommitInfo,
    record: &CommitRecord,
) -> Result<Option<Vec<Diagnostic>>> {
    let Ok(own) = config::load(source(case.repo, commit.id)?.as_slice()) else { return Ok(None) };
    let normalizer = Normalizer::new(&own.normalize)?;
    if !same(record, &derive::derive(case.repo, &own.paths.rules, &normalizer, commit)?) {
        return Ok(None);
    }
    let message = "the record holds under the commit's own configuration, not under that of the base";
    let help = Hint::LogConfig;
    let mut violations = vec![violation(at(commit), "other-paths", Level::Warn, message, help)];
    let before = commit.parents.first().map(|parent| case.repo.tree_of(*parent)).transpose()?;
    let left_out = case.repo.changes(before, commit.tree)?.into_iter().find(|change| {
        case.config.paths.rules.class(&change.path) == PathClass::Code
            && own.paths.rules.class(&change.path) != PathClass::Code
    });
    let level = level_of(case, &detect::UNTESTED_EDIT).min(Level::Block);
    if let Some(change) = left_out.filter(|_| level >= Level::Warn && case.config.test.command.is_some()) {
        let message = format!(
            "{} is code by the path rules of the base; the commit's own rules leave it out, so no test run on it \
             is recorded",
            String::from_utf8_lossy(&change.path)
        );
        violations.push(violation(at(commit), "untested-code", level, message, help));
    }
    Ok(Some(violations))
}

fn same(record: &CommitRecord, derived: &DerivedCommit) -> bool {
    record.code == derived.code && record.diff == derived.diff
}
