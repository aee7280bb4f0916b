//! `andon check`: for CI. Re-derives every record of a range from the commits, takes the configuration from the
//! base side, trusts nothing local, and says what does not hold.

mod halts;
mod range;
mod records;

use super::context::Context;
use super::derive;
use super::error::OpsError;
use crate::config::Config;
use crate::domain::findings::Level;
use crate::domain::ids::CommitId;
use crate::git::{CommitInfo, Repo};
use crate::record::normalize::Normalizer;
use crate::record::store::NotesStore;
use crate::report::check::{CheckReport, CommitRef, Violation};

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

/// Judges a range.
pub fn run(ctx: &Context, asked: &Asked) -> Result<CheckReport, OpsError> {
    let repo = Repo::open(&ctx.cwd, &ctx.repo_env)?;
    let range = range::resolve(ctx, &repo, asked)?;
    let (config, mut violations) = range::configuration(&repo, &range)?;
    let store = NotesStore::open(&repo)?;
    let commits = range.commits.iter().map(|id| repo.commit(*id)).collect::<Result<Vec<_>, _>>()?;
    require_evidence(&repo, &commits)?;
    let normalizer = Normalizer::new(&config.normalize)?;
    let case = Case { repo: &repo, store, config, normalizer, commits };
    let judged = records::judge(&case)?;
    violations.extend(judged.violations);
    violations.extend(halts::judge(&case, &judged.facts)?);
    Ok(report(&range, &case, violations))
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

/// Without the notes, or with the history cut off inside the range, nothing can be said: exit code 3.
fn require_evidence(repo: &Repo, commits: &[CommitInfo]) -> Result<(), OpsError> {
    if commits.is_empty() {
        return Ok(());
    }
    if let Some(cut) = commits.iter().find(|commit| derive::is_cut_off(repo, commit)) {
        return Err(OpsError::Undecided {
            what: format!("the history is cut off at {}: this is a shallow clone", cut.id.short()),
            help: "git fetch --unshallow origin, or fetch deeper: git fetch --deepen=100 origin".to_owned(),
        });
    }
    if repo.ref_target(crate::record::store::REF)?.is_none() {
        let hint = if repo.is_shallow() { " before deepening the clone" } else { "" };
        return Err(OpsError::Undecided {
            what: "there are no records here: refs/notes/andon does not exist".to_owned(),
            help: format!(
                "git fetch origin 'refs/notes/andon:refs/notes/andon' 'refs/andon/*:refs/andon/*'{hint}; \
                 or nobody has run `andon install` yet"
            ),
        });
    }
    Ok(())
}
