//! `andon check`: for CI. Re-derives every record of a range from the commits, takes the configuration from the
//! base side, trusts nothing local, and says what does not hold.

mod changes;
mod halts;
mod range;
mod records;
mod squash;
mod tamper;

use super::context::Context;
use super::derive;
use super::error::OpsError;
use crate::config::Config;
use crate::domain::findings::Level;
use crate::domain::ids::CommitId;
use crate::git::{CommitInfo, GitError, Repo};
use crate::record::normalize::Normalizer;
use crate::record::store::NotesStore;
use crate::report::check::{CheckReport, CommitRef, Undecided, Violation};

pub use self::range::Asked;
use self::range::Range;

/// What `check` works on.
pub(super) struct Case<'a> {
    repo: &'a Repo,
    store: NotesStore<'a>,
    config: Config,
    normalizer: Normalizer,
    commits: Vec<CommitInfo>,
}

/// Judges a range. Evidence that is missing is part of the report: exit code 3.
pub fn run(ctx: &Context, asked: &Asked) -> Result<CheckReport, OpsError> {
    let repo = Repo::open(&ctx.cwd, &ctx.repo_env)?;
    let spelled = range::spelled(ctx, asked)?;
    let range = match range::resolve(&repo, &spelled) {
        Ok(range) => range,
        Err(OpsError::Git(err)) if err.is_cut_off() => return Ok(cut_off(&spelled, &err)),
        Err(err) => return Err(err),
    };
    let commits = range.commits.iter().map(|id| repo.commit(*id)).collect::<Result<Vec<_>, _>>()?;
    if let Some(undecided) = missing_evidence(&repo, &commits)? {
        return Ok(without_evidence(&spelled, commits.len(), undecided));
    }
    let (config, mut violations) = range::configuration(&repo, &range)?;
    let store = NotesStore::open(&repo)?;
    let normalizer = Normalizer::new(&config.normalize)?;
    let case = Case { repo: &repo, store, config, normalizer, commits };
    let mut judged = records::judge(&case)?;
    violations.extend(judged.violations);
    violations.extend(changes::weakened(&case, &mut judged.facts)?);
    violations.extend(changes::undocumented(&case)?);
    violations.extend(halts::judge(&case, &judged.facts)?);
    violations.extend(tamper::judge(&case, &judged.facts)?);
    if let Some(squash) = &asked.squash {
        violations.extend(squash::judge(&repo, repo.resolve(squash)?, range.tip)?);
    }
    Ok(CheckReport { undecided: judged.undecided, ..report(&range, &case, violations) })
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
        case.commits.iter().position(|commit| Some(commit.id) == id)
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

/// A commit as a message names it.
fn at(commit: &CommitInfo) -> CommitRef {
    CommitRef { commit: commit.id, subject: commit.subject.clone() }
}

impl Case<'_> {
    /// A commit of the range as a message names it; outside the range without its subject.
    fn at(&self, id: CommitId) -> CommitRef {
        let subject = self.commits.iter().find(|commit| commit.id == id).map(|commit| commit.subject.clone());
        CommitRef { commit: id, subject: subject.unwrap_or_default() }
    }
}

/// Without the notes, or with the history cut off inside the range, nothing can be said.
fn missing_evidence(repo: &Repo, commits: &[CommitInfo]) -> Result<Option<Undecided>, OpsError> {
    if let Some(cut) = commits.iter().find(|commit| derive::is_cut_off(repo, commit)) {
        return Ok(Some(Undecided {
            commit: Some(at(cut)),
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
