//! Every record of the range against what its commit says.

use super::range::source;
use super::{Case, Violation, at, violation};
use crate::config::{self, AppliesTo, Config};
use crate::domain::facts::{CommitFact, CommitKind, CommitRecord, Gate, Recording};
use crate::domain::findings::Level;
use crate::domain::ids::{CodeId, CommitId};
use crate::domain::tests::TestEvidence;
use crate::git::CommitInfo;
use crate::ops::derive::{self, Derived};
use crate::ops::error::OpsError;
use crate::record::normalize::Normalizer;
use crate::record::store::StoredRecord;

/// What was found, and the facts that may be believed.
pub(super) struct Judged {
    pub violations: Vec<Violation>,
    /// Oldest first; records that do not hold are replaced by what was derived.
    pub facts: Vec<CommitFact>,
}

/// Judges all commits.
pub(super) fn judge(case: &Case<'_>) -> Result<Judged, OpsError> {
    let mut judged = Judged { violations: Vec::new(), facts: Vec::new() };
    for commit in &case.commits {
        one(case, commit, &mut judged)?;
    }
    tip(case, &mut judged);
    Ok(judged)
}

fn one(case: &Case<'_>, commit: &CommitInfo, judged: &mut Judged) -> Result<(), OpsError> {
    let derived = derive::derive(case.repo, &case.config.paths.rules, &case.normalizer, commit)?;
    let stored = match case.store.get(commit.id) {
        Ok(Some(stored)) => stored,
        Ok(None) => {
            judged.violations.extend(missing(case, commit));
            judged.facts.push(derive::unrecorded(commit, &derived));
            return Ok(());
        }
        Err(err) => {
            let help = format!("git notes --ref=andon show {}", commit.id.short());
            judged.violations.push(violation(
                Some(at(commit)),
                "unreadable-record",
                Level::Block,
                err.to_string(),
                &help,
            ));
            judged.facts.push(derive::unrecorded(commit, &derived));
            return Ok(());
        }
    };
    let found = compare(case, commit, &derived, &stored.record)?;
    let holds = found.iter().all(|violation| violation.level < Level::Block);
    judged.violations.extend(found);
    judged.violations.extend(chain(case, commit, &stored));
    judged.violations.extend(gate(case, commit, &stored.record));
    judged.violations.extend(untested(case, commit, &stored.record)?);
    let fact = if holds {
        CommitFact { id: Some(commit.id), subject: commit.subject.clone(), record: stored.record }
    } else {
        derive::unrecorded(commit, &derived)
    };
    judged.facts.push(fact);
    Ok(())
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

/// Compares a record with its commit. Paths rules may have changed inside the range: then the commit's own
/// configuration must explain the record.
fn compare(
    case: &Case<'_>,
    commit: &CommitInfo,
    derived: &Derived,
    record: &CommitRecord,
) -> Result<Vec<Violation>, OpsError> {
    let help = format!("git notes --ref=andon show {}", commit.id.short());
    if record.tree != derived.tree || record.parent != derived.parent {
        let message = "the record is that of another commit: tree or parent differ".to_owned();
        return Ok(vec![violation(Some(at(commit)), "copied-record", Level::Block, message, &help)]);
    }
    let mut found = Vec::new();
    if let Some(tests) = record.tests.as_ref().filter(|tests| tests.code != record.code) {
        let message = format!(
            "the record claims tests on other code: {} instead of {}",
            tests.code.short(),
            record.code.short()
        );
        found.push(violation(Some(at(commit)), "foreign-tests", Level::Block, message, &help));
    }
    if same(record, derived) {
        return Ok(found);
    }
    if let Some(own) = own_configuration(case, commit)? {
        let normalizer = Normalizer::new(&own.normalize)?;
        if same(record, &derive::derive(case.repo, &own.paths.rules, &normalizer, commit)?) {
            let message = "the record holds under the commit's own configuration, not under that of the base";
            found.push(violation(
                Some(at(commit)),
                "other-paths",
                Level::Warn,
                message.to_owned(),
                "git log -p -- andon.toml",
            ));
            return Ok(found);
        }
    }
    let what = if record.code == derived.code { "diff" } else { "code fingerprint" };
    let message = format!("the record was edited: its {what} is not what the commit gives");
    found.push(violation(Some(at(commit)), "edited-record", Level::Block, message, &help));
    Ok(found)
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
    let parent_line = case.store.get(*parent).ok()?.map(|stored| stored.line_digest);
    let message = match (stored.record.prev, parent_line) {
        (prev, line) if prev == line => return None,
        (Some(_), Some(_)) => "the record of its parent was edited after this one was written",
        (Some(_), None) => "the record of its parent was dropped",
        (None, _) => "the record does not name its parent's, which is there",
    };
    let help = format!("git log -p refs/notes/andon -- and compare the notes of {}", parent.short());
    Some(violation(Some(at(commit)), "broken-chain", Level::Block, message.to_owned(), &help))
}

fn gate(case: &Case<'_>, commit: &CommitInfo, record: &CommitRecord) -> Option<Violation> {
    let bypassed = match (record.gate, record.kind, record.recording) {
        (Gate::Bypassed, _, _) => "the commit did not pass the gate (--no-verify)",
        (Gate::NotRun, CommitKind::Normal | CommitKind::Amend, _)
        | (Gate::NotRun, _, Recording::CaughtUp) => "the commit was made while the hooks were off",
        (Gate::Passed, _, _) | (Gate::NotRun, _, Recording::AtCommit) => return None,
    };
    let setting = case.config.rules.get("hook-bypass")?;
    if setting.level == Level::Off {
        return None;
    }
    let help =
        "a person looks at the commit; then merge by hand, or have it committed again through the hooks";
    Some(violation(Some(at(commit)), "bypassed", Level::Block, bypassed.to_owned(), help))
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
    if level < Level::Warn || case.config.test.command.is_none() || record.tests.is_some() {
        return Ok(None);
    }
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
    let message = "the code changed, and no test run on exactly this code is recorded".to_owned();
    Ok(Some(violation(Some(at(commit)), "untested-code", level, message, "andon test, then commit")))
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
