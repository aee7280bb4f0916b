//! Every record of the range against what its commit says.

use std::collections::BTreeSet;

use super::range::source;
use super::{Case, Violation, at, violation};
use crate::config::{self, AppliesTo, Config, HandedIn};
use crate::domain::facts::{CommitFact, CommitKind, CommitRecord, Gate, Recording};
use crate::domain::findings::Level;
use crate::domain::ids::{CodeId, CommitId, Digest};
use crate::domain::paths::PathClass;
use crate::domain::settings::ParamValue;
use crate::domain::tests::{RunOrigin, TestEvidence};
use crate::git::{CommitInfo, missing_help};
use crate::ops::derive::{self, Derived};
use crate::ops::error::OpsError;
use crate::record::RecordError;
use crate::record::format::v1;
use crate::record::normalize::Normalizer;
use crate::record::store::StoredRecord;
use crate::report::check::Undecided;

/// What was found, and the facts that may be believed.
pub(super) struct Judged {
    pub violations: Vec<Violation>,
    /// Records that this clone cannot compare.
    pub undecided: Vec<Undecided>,
    /// Oldest first; records that do not hold are replaced by what was derived.
    pub facts: Vec<CommitFact>,
}

/// Judges all commits.
pub(super) fn judge(case: &Case<'_>) -> Result<Judged, OpsError> {
    let mut judged = Judged { violations: Vec::new(), undecided: Vec::new(), facts: Vec::new() };
    let named = named(case);
    for commit in &case.commits {
        one(case, (commit, &named), &mut judged)?;
    }
    tip(case, &mut judged);
    Ok(judged)
}

/// The lines that records of the range name as the ones before them.
fn named(case: &Case<'_>) -> BTreeSet<Digest> {
    let lines = case.commits.iter().filter_map(|commit| case.store.lines(commit.id).ok());
    lines.flatten().filter_map(|(_, prev)| prev).collect()
}

fn one(
    case: &Case<'_>,
    (commit, named): (&CommitInfo, &BTreeSet<Digest>),
    judged: &mut Judged,
) -> Result<(), OpsError> {
    let derived = derive::derive(case.repo, &case.config.paths.rules, &case.normalizer, commit)?;
    let stored = match case.store.get_named(commit.id, &derivable(&derived), named) {
        Ok(Some(stored)) => stored,
        Ok(None) => {
            judged.violations.extend(missing(case, commit));
            judged.facts.push(derive::unrecorded(commit, &derived));
            return Ok(());
        }
        Err(err) => {
            unreadable(commit, &err, judged);
            judged.facts.push(derive::unrecorded(commit, &derived));
            return Ok(());
        }
    };
    let compared = compare(case, commit, &derived, &stored.record)?;
    judged.violations.extend(chain(case, commit, &stored));
    judged.violations.extend(gate(case, commit, &stored.record));
    let record = match compared {
        // What the diff is made of is never believed: another version may tell it in other words.
        Compared::Holds => CommitRecord { change: Some(derived.change.clone()), ..stored.record },
        Compared::UnderOwnRules(said) => {
            judged.violations.extend(said);
            under_the_rules_of_the_base(stored.record, &derived)
        }
        Compared::OnlyByIds(warning) => {
            judged.violations.push(warning);
            under_the_rules_of_the_base(stored.record, &derived)
        }
        Compared::CannotTell(why) => {
            judged.undecided.push(why);
            under_the_rules_of_the_base(stored.record, &derived)
        }
        Compared::Fails(why) => {
            judged.violations.push(why);
            judged.facts.push(derive::unrecorded(commit, &derived));
            return Ok(());
        }
    };
    judged.violations.extend(untested(case, commit, &record)?);
    judged.facts.push(CommitFact { id: Some(commit.id), subject: commit.subject.clone(), record });
    Ok(())
}

/// A record that a partial clone left at its remote is nobody's fault.
fn unreadable(commit: &CommitInfo, err: &RecordError, judged: &mut Judged) {
    if matches!(err, RecordError::Git(err) if err.is_cut_off()) {
        judged.undecided.push(Undecided {
            commit: Some(at(commit)),
            code: "partial-clone".to_owned(),
            message: format!("its record is not here: {err}"),
            help: vec!["git fetch --refetch --no-filter origin refs/notes/andon".to_owned()],
        });
        return;
    }
    let help = format!("git notes --ref=andon show {}", commit.id.short());
    let at = Some(at(commit));
    judged.violations.push(violation(at, "unreadable-record", Level::Block, err.to_string(), &help));
}

/// What chooses among several lines of one note.
fn derivable(derived: &Derived) -> v1::Derived {
    v1::Derived {
        tree: Some(derived.tree),
        parent: Some(derived.parent),
        code: Some(derived.code),
        diff: Some(derived.diff.hash),
    }
}

/// How a record stands to its commit.
enum Compared {
    /// It says what the commit gives.
    Holds,
    /// So it does, with the path rules and patterns that the commit itself brings.
    UnderOwnRules(Vec<Violation>),
    /// All but its diff, which was recorded in a partial clone without the blobs: the commit itself is believed.
    OnlyByIds(Violation),
    /// All but its diff, of which this clone has not the blobs.
    CannotTell(Undecided),
    /// It does not.
    Fails(Violation),
}

/// What a record of another configuration is worth: the tests that it names ran on this tree.
fn under_the_rules_of_the_base(record: CommitRecord, derived: &Derived) -> CommitRecord {
    let tests = record.tests.map(|tests| TestEvidence { code: derived.code, ..tests });
    let change = Some(derived.change.clone());
    CommitRecord { code: derived.code, diff: derived.diff.clone(), change, tests, ..record }
}

/// A merge may have been made where no hook runs (a forge's button): that is worth a word, not a refusal.
fn missing(case: &Case<'_>, commit: &CommitInfo) -> Option<Violation> {
    if case.config.guard.applies_to == AppliesTo::Agents {
        return None;
    }
    let level = if commit.parents.len() > 1 { Level::Warn } else { Level::Block };
    let help = "git push origin refs/notes/andon where the commit was made, if Andon ran there";
    Some(violation(Some(at(commit)), "missing-record", level, "the commit has no record".to_owned(), help))
}

/// Compares a record with its commit. Path rules may have changed inside the range: then the commit's own
/// configuration must explain the record.
fn compare(
    case: &Case<'_>,
    commit: &CommitInfo,
    derived: &Derived,
    record: &CommitRecord,
) -> Result<Compared, OpsError> {
    let help = format!("git notes --ref=andon show {}", commit.id.short());
    let fails = |code: &str, message: String| {
        Compared::Fails(violation(Some(at(commit)), code, Level::Block, message, &help))
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
    if (record.kind == CommitKind::Merge) != (commit.parents.len() > 1) {
        let message = "the record was edited: its kind is not what the commit gives";
        return Ok(fails("edited-record", message.to_owned()));
    }
    if same(record, derived) {
        return Ok(Compared::Holds);
    }
    if let Some(said) = under_own_rules(case, commit, record)? {
        return Ok(Compared::UnderOwnRules(said));
    }
    if let Some(without) = without_blobs(commit, derived, record) {
        return Ok(without);
    }
    let what = if record.code == derived.code { "diff" } else { "code fingerprint" };
    Ok(fails("edited-record", format!("the record was edited: its {what} is not what the commit gives")))
}

/// Whether blobs that a partial clone lacks, this one or the one that recorded, explain that the diffs differ.
fn without_blobs(commit: &CommitInfo, derived: &Derived, record: &CommitRecord) -> Option<Compared> {
    if record.code != derived.code {
        return None;
    }
    if let Some(id) = derived.missing {
        let message = format!("its diff cannot be compared: blob {id} is not in this partial clone");
        return Some(Compared::CannotTell(Undecided {
            commit: Some(at(commit)),
            code: "partial-clone".to_owned(),
            message,
            help: vec![missing_help(id)],
        }));
    }
    let message = "it was recorded in a partial clone, without all blobs; its diff is taken from the commit";
    let help = format!("git show {}", commit.id.short());
    let warning = violation(Some(at(commit)), "partial-record", Level::Warn, message, &help);
    (record.diff.truncated && !derived.diff.truncated).then_some(Compared::OnlyByIds(warning))
}

/// Whether the commit's own configuration explains its record, and what is to be said about that. Paths that the
/// base counts as code and the commit no longer does cannot be shown to be tested.
fn under_own_rules(
    case: &Case<'_>,
    commit: &CommitInfo,
    record: &CommitRecord,
) -> Result<Option<Vec<Violation>>, OpsError> {
    let Some(own) = own_configuration(case, commit)? else { return Ok(None) };
    let normalizer = Normalizer::new(&own.normalize)?;
    if !same(record, &derive::derive(case.repo, &own.paths.rules, &normalizer, commit)?) {
        return Ok(None);
    }
    let message = "the record holds under the commit's own configuration, not under that of the base";
    let help = "git log -p -- andon.toml";
    let mut said = vec![violation(Some(at(commit)), "other-paths", Level::Warn, message, help)];
    let before = commit.parents.first().map(|parent| case.repo.tree_of(*parent)).transpose()?;
    let left_out = case.repo.changes(before, commit.tree)?.into_iter().find(|change| {
        case.config.paths.rules.class(&change.path) == PathClass::Code
            && own.paths.rules.class(&change.path) != PathClass::Code
    });
    let level = level_of(case, "untested-edit").min(Level::Block);
    if let Some(change) = left_out.filter(|_| level >= Level::Warn && case.config.test.command.is_some()) {
        let message = format!(
            "{} is code by the path rules of the base; the commit's own rules leave it out, so no test run on it \
             is recorded",
            String::from_utf8_lossy(&change.path)
        );
        said.push(violation(Some(at(commit)), "untested-code", level, message, help));
    }
    Ok(Some(said))
}

fn same(record: &CommitRecord, derived: &Derived) -> bool {
    record.code == derived.code && record.diff == derived.diff
}

fn own_configuration(case: &Case<'_>, commit: &CommitInfo) -> Result<Option<Config>, OpsError> {
    let Some(source) = source(case.repo, commit.id)? else { return Ok(None) };
    Ok(config::load(&[source]).ok())
}

/// Each record names the hash of its parent's: one that was edited or dropped shows in the next.
fn chain(case: &Case<'_>, commit: &CommitInfo, stored: &StoredRecord) -> Option<Violation> {
    let parent = commit.parents.first()?;
    // An unreadable parent record in the range is reported at the parent.
    case.store.get(*parent).ok()?;
    // Two clones may both have recorded the parent: each line is somebody's predecessor.
    let lines = case.store.lines(*parent).ok()?;
    let message = match stored.record.prev {
        None if lines.is_empty() => return None,
        None => "the record does not name its parent's, which is there",
        Some(_) if lines.is_empty() => "the record of its parent was dropped",
        Some(prev) if lines.iter().any(|(line, _)| *line == prev) => return None,
        Some(_) => "the record of its parent was edited after this one was written",
    };
    let help = "git log -p refs/notes/andon";
    Some(violation(Some(at(commit)), "broken-chain", Level::Block, message.to_owned(), help))
}

fn gate(case: &Case<'_>, commit: &CommitInfo, record: &CommitRecord) -> Option<Violation> {
    let bypassed = match (record.gate, record.kind, record.recording) {
        (Gate::Bypassed, _, _) => "the commit did not pass the gate (--no-verify)",
        (Gate::NotRun, CommitKind::Normal | CommitKind::Amend, _)
        | (Gate::NotRun, _, Recording::CaughtUp) => "the commit was made while the hooks were off",
        (Gate::Passed, _, _) | (Gate::NotRun, _, Recording::AtCommit | Recording::Derived) => return None,
    };
    let setting = case.config.rules.get("hook-bypass")?;
    if setting.level == Level::Off {
        return None;
    }
    let level = match setting.params.get("block_in_check") {
        Some(ParamValue::Switch(false)) => setting.level,
        _ => Level::Block,
    };
    let help =
        "a person looks at the commit; then merge by hand, or have it committed again through the hooks";
    Some(violation(Some(at(commit)), "bypassed", level, bypassed.to_owned(), help))
}

fn level_of(case: &Case<'_>, rule: &str) -> Level {
    case.config.rules.get(rule).map_or(Level::Off, |setting| setting.level)
}

/// Code that nobody ran the tests on. Merges, reverts, picks and rebases pass no gate: there it is a warning.
fn untested(
    case: &Case<'_>,
    commit: &CommitInfo,
    record: &CommitRecord,
) -> Result<Option<Violation>, OpsError> {
    let level = level_of(case, "untested-edit");
    if level < Level::Warn || case.config.test.command.is_none() {
        return Ok(None);
    }
    let handed_in = match &record.tests {
        None => false,
        Some(tests) if tests.caveats.origin == RunOrigin::Here => return Ok(None),
        Some(_) if case.config.test.handed_in == HandedIn::Count => return Ok(Some(by_word(commit))),
        Some(_) => true,
    };
    let before = match commit.parents.first() {
        Some(parent) => code_of(case, *parent)?,
        None => crate::record::fingerprint::Fingerprinter::new(case.repo, &case.config.paths.rules)
            .of_overlay(None, &[])?,
    };
    if before == record.code {
        return Ok(None);
    }
    let strike = matches!(record.kind, CommitKind::Normal | CommitKind::Amend);
    let level = if strike { level.min(Level::Block) } else { Level::Warn };
    let message = if handed_in {
        "the code changed, and its test run was handed in, which the base does not let count (test.handed_in)"
    } else {
        "the code changed, and no test run on exactly this code is recorded"
    };
    let message = message.to_owned();
    Ok(Some(violation(Some(at(commit)), "untested-code", level, message, "andon test, then commit")))
}

/// A run that was handed in and counts is named all the same.
fn by_word(commit: &CommitInfo) -> Violation {
    let message = "the tests of this commit were handed in: what ran is somebody's word".to_owned();
    let help = format!("andon show {}", commit.id.short());
    violation(Some(at(commit)), "handed-in-tests", Level::Note, message, &help)
}

fn code_of(case: &Case<'_>, commit: CommitId) -> Result<CodeId, OpsError> {
    let mut prints = crate::record::fingerprint::Fingerprinter::new(case.repo, &case.config.paths.rules);
    Ok(prints.of_tree(case.repo.tree_of(commit)?)?)
}

/// The tests of the tip's code must pass. Commits on the way may fail: that is how tests drive work.
fn tip(case: &Case<'_>, judged: &mut Judged) {
    let level = level_of(case, "failing-tests");
    let (Some(commit), Some(newest)) = (case.commits.last(), judged.facts.last()) else { return };
    if level == Level::Off {
        return;
    }
    let code = newest.record.code;
    let on_this_code = |fact: &CommitFact| fact.record.tests.clone().filter(|tests| tests.code == code);
    let Some(tests) = judged.facts.iter().rev().find_map(on_this_code) else { return };
    if !tests.is_green() {
        let found = failing(commit, &tests);
        judged.violations.push(found);
    }
}

fn failing(commit: &CommitInfo, tests: &TestEvidence) -> Violation {
    let named: Vec<&str> = tests.failing.iter().take(3).map(String::as_str).collect();
    let which = if named.is_empty() { String::new() } else { format!(", first: {}", named.join(", ")) };
    let message = format!(
        "the tests of this code do not pass: {}, {} of {} failing{which}",
        tests.status.as_str(),
        tests.counts.failing(),
        tests.counts.total
    );
    violation(Some(at(commit)), "failing-tests", Level::Block, message, "andon test")
}
