//! `andon check`: for CI. Re-derives every record of a range from the commits, takes the configuration from the
//! base side, trusts nothing local, and says what does not hold.

mod changes;
mod halts;
mod identity;
mod overrides;
mod range;
mod records;
mod squash;
mod tamper;
mod tested;

use std::collections::HashMap;

use super::bulk::{Pace, Walked};
use super::context::Context;
use super::derive;
use super::error::OpsError;
use crate::config::Config;
use crate::domain::findings::Level;
use crate::domain::ids::CommitId;
use crate::git::{CommitInfo, GitError, Repo};
use crate::record::store::NotesStore;
use crate::report::check::{CheckReport, CommitRef, Undecided, Violation};

use self::range::Range;
pub use self::range::{Asked, Cached};

/// What `check` works on.
pub(super) struct Case<'a> {
    repo: &'a Repo,
    store: NotesStore<'a>,
    config: Config,
    /// The commits that were looked at, parents first.
    commits: Vec<CommitInfo>,
    /// Where each of them is.
    index: HashMap<CommitId, usize>,
}

/// Judges a range. Evidence that is missing is part of the report: exit code 3.
pub fn run(ctx: &Context, asked: &Asked, pace: &mut Pace<'_>) -> Result<CheckReport, OpsError> {
    let repo = Repo::open(&ctx.cwd, &ctx.repo_env)?;
    let spelled = range::spelled(ctx, asked)?;
    let range = match range::resolve(&repo, &spelled) {
        Ok(range) => range,
        Err(OpsError::Git(err)) if err.is_cut_off() => return Ok(cut_off(&spelled, &err)),
        Err(err) => return Err(err),
    };
    if let Some(undecided) = missing_evidence(&repo, &range.commits)? {
        return Ok(without_evidence(&spelled, range.commits.len(), undecided));
    }
    let (config, mut violations) = range::configuration(&repo, &range)?;
    let store = NotesStore::open(&repo)?;
    let mut case = Case { repo: &repo, store, config, commits: Vec::new(), index: HashMap::new() };
    let (mut judged, walked) = records::judge(ctx, &case, (&range.commits, asked.cached), pace)?;
    case.commits = std::mem::take(&mut judged.commits);
    case.index = case.commits.iter().enumerate().map(|(at, commit)| (commit.id, at)).collect();
    violations.extend(std::mem::take(&mut judged.violations));
    violations.extend(changes::weakened(&case, &mut judged.facts)?);
    violations.extend(identity::judge(&case, &judged.facts)?);
    violations.extend(overrides::skips(&case, &judged.facts));
    let ledger = halts::judge(&case, &judged.facts)?;
    violations.extend(overrides::hands(&case, &ledger));
    violations.extend(ledger.violations);
    violations.extend(tamper::judge(&case, &judged.facts)?);
    // What is said of the tip, or of the range as a whole, cannot be said of a part of it.
    if walked == Walked::Whole {
        violations.extend(tested::tip(&case, &judged.facts));
        violations.extend(changes::undocumented(&case)?);
        if let Some(squash) = &asked.squash {
            violations.extend(squash::judge(&repo, repo.resolve(squash)?, range.tip)?);
        }
    }
    let mut report = report(&range, &case, violations);
    report.undecided.extend(judged.undecided.into_iter().chain(stopped(walked)));
    Ok(report)
}

/// Nothing is known of the rest.
fn stopped(walked: Walked) -> Option<Undecided> {
    let Walked::Part { done, of } = walked else { return None };
    Some(Undecided {
        commit: None,
        code: "interrupted".to_owned(),
        message: format!("stopped after {done} of {of} commits: the rest was not looked at"),
        help: vec!["the same again with --cached: it goes on where it was".to_owned()],
    })
}

fn without_evidence(range: &str, commits: usize, undecided: Undecided) -> CheckReport {
    CheckReport {
        range: range.to_owned(),
        commits,
        violations: Vec::new(),
        undecided: vec![undecided],
        warnings: Vec::new(),
    }
}

fn cut_off(range: &str, err: &GitError) -> CheckReport {
    let undecided = Undecided {
        commit: None,
        code: "shallow-clone".to_owned(),
        message: err.to_string(),
        help: err.help().into_iter().collect(),
    };
    without_evidence(range, 0, undecided)
}

fn report(range: &Range, case: &Case<'_>, mut violations: Vec<Violation>) -> CheckReport {
    let place = |violation: &Violation| {
        let id = violation.commit.as_ref().map(|at| at.commit);
        id.and_then(|id| case.index.get(&id))
    };
    violations.sort_by_key(place);
    CheckReport {
        range: range.shown.clone(),
        commits: case.commits.len(),
        violations,
        undecided: Vec::new(),
        warnings: Vec::new(),
    }
}

/// One violation with one mend.
fn violation(
    at: Option<CommitRef>,
    code: &str,
    level: Level,
    message: impl Into<String>,
    help: &str,
) -> Violation {
    Violation {
        commit: at,
        code: code.to_owned(),
        level,
        message: message.into(),
        help: vec![help.to_owned()],
    }
}

/// The level of a rule in the configuration that counts.
fn level_of(case: &Case<'_>, rule: &str) -> Level {
    case.config.rules.get(rule).map_or(Level::Off, |setting| setting.level)
}

/// A commit as a message names it.
fn at(commit: &CommitInfo) -> CommitRef {
    CommitRef { commit: commit.id, subject: commit.subject.clone() }
}

impl Case<'_> {
    /// A commit of the range as a message names it; outside the range without its subject.
    fn at(&self, id: CommitId) -> CommitRef {
        let known = self.index.get(&id).and_then(|at| self.commits.get(*at));
        CommitRef { commit: id, subject: known.map(|commit| commit.subject.clone()).unwrap_or_default() }
    }

    /// Whether a commit is in the range.
    fn holds(&self, id: CommitId) -> bool {
        self.index.contains_key(&id)
    }
}

/// Without the notes, or with the history cut off inside the range, nothing can be said.
fn missing_evidence(repo: &Repo, commits: &[CommitId]) -> Result<Option<Undecided>, OpsError> {
    let shallow = if repo.is_shallow() { commits } else { &[] };
    for id in shallow {
        let commit = repo.commit(*id)?;
        if !derive::is_cut_off(repo, &commit) {
            continue;
        }
        return Ok(Some(Undecided {
            commit: Some(at(&commit)),
            code: "shallow-clone".to_owned(),
            message: "the history is cut off here: this clone is shallow".to_owned(),
            help: vec!["git fetch --unshallow".to_owned()],
        }));
    }
    if commits.is_empty() || repo.ref_target(crate::record::store::REF)?.is_some() {
        return Ok(None);
    }
    Ok(Some(Undecided {
        commit: None,
        code: "no-records".to_owned(),
        message: "there are no records here: refs/notes/andon does not exist".to_owned(),
        help: vec![
            "git fetch origin '+refs/notes/andon*:refs/notes/andon*' '+refs/andon/*:refs/andon/*'".to_owned(),
            "if nobody has installed Andon yet: andon install".to_owned(),
        ],
    }))
}
