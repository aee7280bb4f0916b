//! Code without a test run in its own record: the other evidence for it, or that there is none.
//!
//! A commit's own claims count for nothing. Code that was tested at another commit is tested here; code that git made
//! of tested commits, which is shown by making it again, gets a warning; anything else is untested work: an error where
//! a record says so, missing evidence where there is no record.

use std::{collections::HashMap, rc::Rc};

use super::missing_scopes::{MissingScopes, missing_scopes};
use super::{
    Case, Diagnostic, ExaminedCommits, Location, at, contradictions, level_of, makers::HookUsers, overrides,
    violation,
};
use andon_config::HandedInRuns;
use andon_core::domain::{
    CodeId, CommitFact, CommitId, CommitKind, CommitRecord, Hint, Level, RanOn, Recording, TestEvidence,
    scopes::called,
};
use andon_core::{detect, escape::shell_quote};
use andon_engine::Result;
use andon_engine::evidence::{Archive, Backing, CodeStanding, FailingRun, Inquiry, KnownSoFar, Origins};
use andon_git::{CommitInfo, MergeClaim, TreeVerdict};
use andon_store::{Content, Fingerprinter};

/// The reason that a commit has nothing to say for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EvidenceGap {
    /// It has no record.
    Unrecorded,
    /// Its record was backfilled: no hook saw it.
    Backfilled,
    /// Its record was made when git moved a commit that no hook had recorded.
    Moved,
    /// git made it of a commit that no hook had recorded.
    Made,
}

impl EvidenceGap {
    /// The gap that a silent record leaves.
    pub(super) fn of_silent(record: &CommitRecord) -> Self {
        if record.recording == Recording::Moved { Self::Moved } else { Self::Backfilled }
    }
}

/// A commit and where it is looked at.
#[derive(Clone, Copy)]
pub(super) struct CommitCase<'a> {
    pub case: &'a Case<'a>,
    pub examined: &'a ExaminedCommits,
    pub commit: &'a CommitInfo,
}

/// The conclusion about a commit.
#[derive(Default)]
pub(super) struct Conclusion {
    pub violations: Vec<Diagnostic>,
    pub undecided: Vec<Diagnostic>,
}

impl Conclusion {
    fn says(said: Diagnostic) -> Self {
        Self { violations: vec![said], undecided: Vec::new() }
    }
}

/// The evidence for the commits of the range so far.
#[derive(Default)]
pub(super) struct RangeEvidence {
    origins: Origins,
    /// The worth of commits that have no tests of their own.
    standings: HashMap<CommitId, CodeStanding>,
    /// The runs that fail in code that git made of red code.
    failing: HashMap<CodeId, Rc<FailingRun>>,
    /// Commits outside the range whose records speak for some of it.
    sources: Vec<CommitId>,
    /// Commits that were edited while a rebase moved them, each with the commit above on whose code the tests ran.
    edited: Option<HashMap<CommitId, CommitId>>,
    /// Who has the hooks.
    users: HookUsers,
}

impl RangeEvidence {
    /// Commits outside the range whose records speak for some of it.
    pub(super) fn sources(&self) -> &[CommitId] {
        &self.sources
    }

    /// Returns the run that fails in this code, which no run has seen: that of a commit that git made it of.
    pub(super) fn failing(&self, code: CodeId) -> Option<&FailingRun> {
        self.failing.get(&code).map(|run| &**run)
    }

    /// Judges a recorded commit. One that only says that it is a revert counts as ordinary work from here on.
    pub(super) fn recorded(&mut self, here: CommitCase<'_>, record: &mut CommitRecord) -> Result<Conclusion> {
        self.users.take(here.commit, record.recording);
        let claimed = record.kind;
        if claimed == CommitKind::Revert && !reverts(here)? {
            record.kind = CommitKind::Normal;
        }
        let Some(level) = asks_for_tests(here.case) else { return Ok(Conclusion::default()) };
        if record.skipped.iter().any(|skip| skip.rule == detect::UNTESTED_EDIT.id) {
            return Ok(Conclusion::default());
        }
        let of_scopes = match &record.tests {
            Some(tests) if tests.is_own() => missing_scopes(here.case, here.commit, tests)?,
            Some(_) | None => None,
        };
        let handed_in = match &record.tests {
            None => false,
            Some(_) if of_scopes.is_some() => false,
            Some(tests) if tests.is_own() => return Ok(Conclusion::default()),
            Some(tests) if tests.ran_on == RanOn::Parent => false,
            Some(_) if here.case.config.test.handed_in == HandedInRuns::Count => {
                return Ok(Conclusion::says(by_word(here.commit)));
            }
            Some(_) => true,
        };
        let changed = self.changed(here, record.code)?;
        if !changed {
            return Ok(Conclusion::default());
        }
        let backing = self.backing(here, Some(claimed), record)?;
        let said = match backing {
            Backing::Elsewhere(source, other) if counts(here, other.tests.as_ref()) => {
                self.sources.push(source);
                record.tests = record.tests.take().filter(|_| of_scopes.is_none()).or(other.tests);
                Some(elsewhere(here, source))
            }
            Backing::Released(parent, failing) => {
                self.travels(here, record.code, failing);
                Some(released(here, parent, record.tests.as_ref()))
            }
            Backing::Made(made, failing) => self.made(here, record.code, &made, failing)?,
            nothing @ Backing::Unrecorded(_) => {
                let mut conclusion = Conclusion::default();
                self.unbacked(here, EvidenceGap::Made, &nothing, &mut conclusion)?;
                return Ok(conclusion);
            }
            nothing @ (Backing::Elsewhere(..) | Backing::Untested(_) | Backing::Missing) => {
                let gap = Gap { claimed, handed_in, of_scopes, level: level.min(Level::Block) };
                self.ordinary_work(here, record, &gap, &nothing)?
            }
        };
        Ok(said.map(Conclusion::says).unwrap_or_default())
    }

    /// Nothing shows that the code was tested, but where it was only edited on the way to code that was.
    fn ordinary_work(
        &mut self,
        here: CommitCase<'_>,
        record: &mut CommitRecord,
        gap: &Gap,
        nothing: &Backing,
    ) -> Result<Option<Diagnostic>> {
        let is_plain = !gap.handed_in && gap.of_scopes.is_none();
        if let Some(tested) = if is_plain { self.tested_later(here)? } else { None } {
            self.standings.insert(here.commit.id, CodeStanding::Tested(None));
            return Ok(edited(here, tested));
        }
        self.standings.insert(here.commit.id, CodeStanding::Untested);
        record.kind = ordinary(gap.claimed);
        Ok(Some(untested(here, gap, nothing)))
    }

    /// The tested commit above one that was edited while a rebase moved it.
    fn tested_later(&mut self, here: CommitCase<'_>) -> Result<Option<CommitId>> {
        let Case { tip, tests, .. } = *here.case;
        let run = tests.filter(|tests| tests.tip == tip && tests.stand_in()).map(|tests| tests.tip);
        if self.edited.is_none() {
            self.edited = Some(self.origins.rewritten_to_tested(archive(here.case), tip, run)?);
        }
        Ok(self.edited.as_ref().and_then(|edited| edited.get(&here.commit.id)).copied())
    }

    /// git made it of tested commits; what fails in them fails in it, until a run says otherwise.
    fn made(
        &mut self,
        here: CommitCase<'_>,
        code: CodeId,
        made: &MergeClaim,
        failing: Option<Rc<FailingRun>>,
    ) -> Result<Option<Diagnostic>> {
        if here.case.tests.is_some_and(|tests| tests.tip == here.commit.id && tests.stand_in()) {
            return Ok(None);
        }
        let scopes = self.origins.untested_scopes(archive(here.case), here.commit)?;
        let mut said = by_git(here.commit, made, failing.as_deref());
        if !scopes.is_empty() {
            let scopes: Vec<String> = scopes.iter().map(|name| called(name)).collect();
            said.message.push_str(&format!(
                "; both sides changed {}, whose tests ran on each alone",
                scopes.join(", ")
            ));
        }
        self.travels(here, code, failing);
        Ok(Some(said))
    }

    fn travels(&mut self, here: CommitCase<'_>, code: CodeId, failing: Option<Rc<FailingRun>>) {
        self.failing.extend(failing.clone().map(|failing| (code, failing)));
        self.standings.insert(here.commit.id, CodeStanding::Tested(failing));
    }

    /// Judges a commit without a record that proves anything; completes its fact with the other evidence for it.
    pub(super) fn silent(
        &mut self,
        here: CommitCase<'_>,
        silent: EvidenceGap,
        fact: &mut CommitFact,
    ) -> Result<Conclusion> {
        let mut conclusion = Conclusion::default();
        if !here.examined.is_bound(here.commit.id) {
            return Ok(conclusion);
        }
        let backing = self.backing(here, None, &fact.record)?;
        match backing {
            Backing::Elsewhere(source, other)
                if asks_for_tests(here.case).is_none() || is_backed(here, &other) =>
            {
                self.sources.push(source);
                conclusion.violations.push(elsewhere(here, source));
                conclusion.violations.extend(overrides::bypassed(here.case, here.commit, &other));
                let lie = other.tests.as_ref().and_then(contradictions::of_tests);
                conclusion.violations.extend(lie.map(|what| contradictory(here.commit, source, what)));
                fact.record.tests = other.tests.filter(|tests| tests.code == fact.record.code);
            }
            Backing::Released(parent, failing) => {
                self.travels(here, fact.record.code, failing);
                conclusion.violations.push(released(here, parent, None));
            }
            Backing::Made(made, failing) => {
                conclusion.violations.extend(self.made(here, fact.record.code, &made, failing)?);
            }
            nothing @ (Backing::Elsewhere(..)
            | Backing::Untested(_)
            | Backing::Unrecorded(_)
            | Backing::Missing) => {
                self.unbacked(here, silent, &nothing, &mut conclusion)?;
            }
        }
        Ok(conclusion)
    }

    /// There is no evidence for an unrecorded commit. Green tests of the tip do where no hook could have recorded it; a
    /// committer who has the hooks bypassed them.
    fn unbacked(
        &mut self,
        here: CommitCase<'_>,
        silent: EvidenceGap,
        nothing: &Backing,
        conclusion: &mut Conclusion,
    ) -> Result<()> {
        let went = match silent {
            _ if here.case.tests.is_none() => false,
            EvidenceGap::Unrecorded | EvidenceGap::Backfilled => self.users.made(here.case, here.commit)?,
            // Who moved it has the hooks; what counts is who made it.
            EvidenceGap::Moved => self.users.wrote(here.commit),
            EvidenceGap::Made => false,
        };
        if here.case.stands_in() && !went {
            let short = here.case.tip.short();
            let message =
                format!("this commit has no record; the tests of the tip, {short}, passed and count instead");
            let message = match silent {
                EvidenceGap::Unrecorded | EvidenceGap::Backfilled => message,
                EvidenceGap::Moved | EvidenceGap::Made => {
                    format!(
                        "git made this commit of one without a record; the tests of the tip, {short}, passed and count instead"
                    )
                }
            };
            let help = Hint::LogPatches.with([&shell_quote(here.case.range)]);
            conclusion.violations.push(violation(at(here.commit), "tip-tested", Level::Note, message, &help));
            return Ok(());
        }
        self.standings.insert(here.commit.id, CodeStanding::Unrecorded);
        conclusion.undecided.push(if went {
            went_round(here.commit)
        } else {
            missing(here, silent, nothing)
        });
        Ok(())
    }

    fn backing(
        &mut self,
        here: CommitCase<'_>,
        recorded: Option<CommitKind>,
        record: &CommitRecord,
    ) -> Result<Backing> {
        let changed = self.changed(here, record.code)?;
        let Self { origins, standings, .. } = self;
        let judged = |id: CommitId| match standings.get(&id) {
            Some(standing) => KnownSoFar::Known(standing.clone()),
            // No commit is evidence for itself, by whatever way round: what was made of it is worth what it is.
            None if id == here.commit.id => KnownSoFar::Open,
            None if here.examined.holds(id) => {
                let tests = here.examined.fact(id).and_then(|fact| fact.record.tests);
                KnownSoFar::Known(CodeStanding::Tested(FailingRun::of(id, tests.as_ref())))
            }
            None => KnownSoFar::Below,
        };
        let asked = Inquiry { commit: here.commit, record, recorded, changed, judged: &judged };
        origins.backing(archive(here.case), &asked)
    }

    /// True when the code is another one than the parent's; a commit that leaves untested code as it is leaves it untested.
    fn changed(&mut self, here: CommitCase<'_>, code: CodeId) -> Result<bool> {
        let Some(parent) = here.commit.parents.first().copied() else {
            let nothing = Fingerprinter::new(here.case.repo, &here.case.config.paths.rules)
                .of(Content::Overlay(None, &[]))?;
            return Ok(nothing != code);
        };
        let before = match here.examined.code(parent) {
            Some(code) => code,
            None => code_of(here.case, parent)?,
        };
        if let Some(standing) = self.standings.get(&parent).filter(|_| before == code).cloned() {
            self.standings.insert(here.commit.id, standing);
        }
        Ok(before != code)
    }
}

fn archive<'a>(case: &'a Case<'_>) -> Archive<'a> {
    Archive { repo: case.repo, store: &case.store, config: case.config }
}

/// At which level untested code is refused; `None` where nothing asks for tests.
fn asks_for_tests(case: &Case<'_>) -> Option<Level> {
    let level = level_of(case, &detect::UNTESTED_EDIT);
    (level >= Level::Warn && case.config.test.command.is_some()).then_some(level)
}

/// True when a test result is one that counts by the left side's configuration.
fn counts(here: CommitCase<'_>, tests: Option<&TestEvidence>) -> bool {
    let by_hand = here.case.config.test.handed_in == HandedInRuns::Count;
    let is_whole = |tests: &TestEvidence| {
        missing_scopes(here.case, here.commit, tests).is_ok_and(|missing| missing.is_none())
    };
    tests.is_some_and(|tests| {
        (tests.is_own() || (by_hand && tests.ran_on == RanOn::ThisCode)) && is_whole(tests)
    })
}

/// True when another record is evidence for the code of an unrecorded commit: it was tested, or needed no tests.
fn is_backed(here: CommitCase<'_>, other: &CommitRecord) -> bool {
    counts(here, other.tests.as_ref())
        || (other.tests.is_none() && andon_engine::evidence::inherited_evidence::is_sound(other))
}

/// True when a commit is the revert that its message says it is.
fn reverts(here: CommitCase<'_>) -> Result<bool> {
    let repo = here.case.repo;
    for source in repo.named_sources(here.commit, CommitKind::Revert)? {
        if repo.is_made(here.commit, &MergeClaim::Revert(source))? == TreeVerdict::Same {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The kind that counts for a commit whose kind is only claimed. Several parents stay several parents.
fn ordinary(claimed: CommitKind) -> CommitKind {
    if matches!(claimed, CommitKind::Merge | CommitKind::Amend) { claimed } else { CommitKind::Normal }
}

fn code_of(case: &Case<'_>, commit: CommitId) -> Result<CodeId> {
    let mut prints = Fingerprinter::new(case.repo, &case.config.paths.rules);
    Ok(prints.of_tree(case.repo.tree_of(commit)?)?)
}

/// A run that was handed in and counts is named all the same.
fn by_word(commit: &CommitInfo) -> Diagnostic {
    let message = "the tests of this commit were handed in: what ran is somebody's word";
    let help = Hint::Show.with([&commit.id.short()]);
    violation(at(commit), "handed-in-tests", Level::Note, message, &help)
}

fn elsewhere(here: CommitCase<'_>, source: CommitId) -> Diagnostic {
    let subject =
        here.case.repo.commit(source).map(|commit| format!(" ({})", commit.subject)).unwrap_or_default();
    let message = format!("the record of {}{subject} covers it: its code is the same", source.short());
    let help = Hint::Show.with([&source.short()]);
    violation(at(here.commit), "carried-evidence", Level::Note, message, &help)
}

/// A release of tested code, whose record may hold what the record of the commit before holds.
fn released(here: CommitCase<'_>, parent: CommitId, tests: Option<&TestEvidence>) -> Diagnostic {
    let own = here.case.store.readable(parent).and_then(|record| record.tests);
    if let (Some(tests), Some(own)) = (tests, own)
        && (tests.status, tests.signature) != (own.status, own.signature)
    {
        return contradictory(here.commit, here.commit.id, "its tests are not those of the commit before");
    }
    let message = format!(
        "only version numbers and changelogs differ from {}, whose tests count for it",
        parent.short()
    );
    violation(at(here.commit), "carried-evidence", Level::Note, message, Hint::Show.with([&parent.short()]))
}

fn contradictory(commit: &CommitInfo, source: CommitId, what: &str) -> Diagnostic {
    let message = format!("the record of {} contradicts itself: {what}", source.short());
    let help = Hint::ReadNotes.with([&source.short()]);
    violation(at(commit), "edited-record", Level::Block, message, &help)
}

/// git made it of tested commits, and the tests did not run on the result.
fn by_git(commit: &CommitInfo, made: &MergeClaim, failing: Option<&FailingRun>) -> Diagnostic {
    let what = match made {
        MergeClaim::Merge => "a clean merge of tested commits".to_owned(),
        MergeClaim::Revert(source) => format!("a clean revert of {}", source.short()),
        MergeClaim::Squash(source) => {
            format!("a clean squash of what leads to {}, which was tested", source.short())
        }
        MergeClaim::Applied(all) => {
            let all: Vec<String> = all.iter().map(CommitId::short).collect();
            format!("{}, applied cleanly to tested code", all.join(" and "))
        }
    };
    let red = failing.map(|run| format!(", and the tests of {} fail", run.at.short())).unwrap_or_default();
    let message = format!("the tests never ran on exactly this code; it is {what}{red}");
    violation(at(commit), "untested-code", Level::Warn, message, Hint::Test)
}

/// A rebase moved it, somebody changed it there, and the tests ran where that led to.
fn edited(here: CommitCase<'_>, tested: CommitId) -> Option<Diagnostic> {
    let message = format!(
        "the tests never ran on exactly this code; it was changed while a rebase moved it, on the way to {}, where they ran",
        tested.short()
    );
    let said = violation(at(here.commit), "untested-code", Level::Warn, message, Hint::Test);
    (tested != here.commit.id).then_some(said)
}

/// Untested code of a recorded commit.
struct Gap {
    claimed: CommitKind,
    handed_in: bool,
    of_scopes: Option<MissingScopes>,
    level: Level,
}

fn untested(here: CommitCase<'_>, gap: &Gap, nothing: &Backing) -> Diagnostic {
    let commit = here.commit;
    let claimed = gap.claimed.as_str();
    let missing = "no test run on exactly this code is recorded";
    if let Some(MissingScopes { said, tip_decides }) = &gap.of_scopes {
        let by_tip = *tip_decides && here.case.tests.is_none();
        let help = if by_tip { Hint::CheckTest.with([&shell_quote(here.case.range)]) } else { way_out(here) };
        return violation(
            at(commit),
            "untested-code",
            gap.level,
            format!("the code changed, and {said}"),
            &help,
        );
    }
    let message = match (nothing, gap.claimed) {
        _ if gap.handed_in => {
            "the code changed, and its test run was handed in, which the base does not let count (test.handed_in)"
                .to_owned()
        }
        (Backing::Untested(source), _) => {
            format!("{missing}, and {}, of which git made it, was not tested or bypassed the gate", source.short())
        }
        (_, CommitKind::Normal | CommitKind::Amend) => format!("the code changed, and {missing}"),
        (_, CommitKind::Merge | CommitKind::Revert | CommitKind::CherryPick | CommitKind::Rebase) => format!(
            "the code changed, and {missing}; its record calls it a {claimed}, and git does not make this code of tested \
             commits, so it counts as ordinary work"
        ),
    };
    violation(at(commit), "untested-code", gap.level, message, way_out(here))
}

/// Most commits from the tip down that are looked at for merges.
const MERGES: usize = 256;

/// The command that tests a commit after all, and records it again with all that is built on it. A rebase would not make a
/// merge of another root again, and would take its files out of the work tree.
fn way_out(here: CommitCase<'_>) -> String {
    let (repo, id) = (here.case.repo, here.commit.id);
    let mut above = std::iter::successors(repo.commit(here.case.tip).ok(), |commit| {
        repo.commit(*commit.parents.first().filter(|_| commit.id != id)?).ok()
    });
    let stays = above.by_ref().take(MERGES).any(|commit| repo.is_of_another_root(&commit).unwrap_or(false));
    if id == here.case.tip && (stays || here.commit.parents.len() > 1) {
        return Hint::AmendTested.into();
    }
    if stays {
        return Hint::GitShow.with([&here.commit.id.short()]);
    }
    // From any commit of the branch: tested and recorded again from there on.
    let from = here.commit.parents.first().map_or_else(|| "--root".to_owned(), CommitId::short);
    Hint::TestAgain.with([&from])
}

/// Missing evidence is not known to be wrong: exit code 3.
fn missing(here: CommitCase<'_>, silent: EvidenceGap, nothing: &Backing) -> Diagnostic {
    let commit = here.commit;
    let range = shell_quote(here.case.range);
    let test = format!("to let the tests of the tip count instead: {}", Hint::CheckTest.with([&range]));
    let test = Some(test).filter(|_| here.case.tests.is_none());
    let (code, mut message, first, second) = match silent {
        EvidenceGap::Unrecorded => {
            ("missing-record", "the commit has no record".to_owned(), Hint::SyncThere.into(), test)
        }
        EvidenceGap::Moved | EvidenceGap::Made => (
            "missing-record",
            "git made the commit of one that has no record".to_owned(),
            Hint::AmendTested.led("at the newest commit"),
            test,
        ),
        EvidenceGap::Backfilled => (
            "backfilled-record",
            "its record was backfilled: no hook saw the commit being made, and no tests are known".to_owned(),
            "check a range that begins where Andon was installed".to_owned(),
            test,
        ),
    };
    if let Backing::Untested(source) | Backing::Unrecorded(source) = nothing {
        message.push_str(&format!(", and {}, of which git made it, was not tested", source.short()));
    }
    let missing = Diagnostic::error(message).code(code).at(Location::Commit(at(commit))).help(first);
    missing.helps(second)
}

/// A commit without a record by a person who has the hooks: they were switched off, or the record was not sent.
fn went_round(commit: &CommitInfo) -> Diagnostic {
    let message = format!(
        "the commit has no record, and earlier commits by {} have theirs: the tests of the tip do not count for it",
        commit.email
    );
    Diagnostic::error(message)
        .code("missing-record")
        .at(Location::Commit(at(commit)))
        .help(Hint::SyncThere)
        .help(Hint::AmendTestedElse)
}
