//! `andon check`: for CI. Re-derives every record of a range from the commits, takes the configuration from the left
//! side of the range, believes nothing that a branch says of itself, and says what does not hold.

mod backing;
mod chain;
mod changes;
mod contradictions;
mod examined;
mod gate;
mod grouped;
mod halts;
mod history;
mod identity;
mod overrides;
mod range;
mod records;
mod squash;
mod tamper;
mod tested;
mod waivers;
mod witnessed;

use std::path::PathBuf;

use crate::config::Config;
use crate::detect::Rule;
use crate::domain::diagnostic::{CommitRef, Diagnostic, Location};
use crate::domain::findings::{Finding, Level};
use crate::domain::ids::CommitId;
use crate::domain::view::check::CheckReport;
use crate::engine::bulk::{Pace, Walked};
use crate::engine::context::Context;
use crate::engine::error::OpsError;
use crate::engine::undecided;
use crate::git::{CommitInfo, Repo};
use crate::store::notes::NotesStore;

use self::examined::Examined;
use self::grouped::{Grouped, Turn};
use self::range::Range;
pub use self::range::{CacheTrust, RangeRequest};
use self::records::Judged;

/// What `check` works on.
pub(super) struct Case<'a> {
    repo: &'a Repo,
    store: NotesStore<'a>,
    config: &'a Config,
}

/// What is known before the commits are looked at.
struct Ground {
    common_dir: PathBuf,
    range: Range,
    config: Config,
    violations: Vec<Diagnostic>,
    /// The notes commit whose records count.
    tip: Option<CommitId>,
}

/// Judges a range. Evidence that is missing is part of the report: exit code 3.
pub fn run(ctx: &Context, asked: &RangeRequest, pace: &mut Pace<'_>) -> Result<CheckReport, OpsError> {
    let ground = match ground(ctx, asked)? {
        Ok(ground) => ground,
        Err(nothing) => return Ok(*nothing),
    };
    let (Judged { examined, mut violations, undecided, backed, .. }, walked) =
        records::judge(ctx, &ground, asked.cached, pace)?;
    let Ground { range, config, tip, violations: of_configuration, .. } = ground;
    let repo = Repo::open(&ctx.cwd, &ctx.repo_env)?;
    let case = Case { repo: &repo, store: NotesStore::at(&repo, tip), config: &config };
    let mut ledger = halts::judge(&case, &examined)?;
    let who = witnessed::Asked { policy: asked.policy, tip: range.tip, now: ctx.now };
    let witnessed = witnessed::judge(&case, &examined, &ledger.halts, &who)?;
    violations.add(&examined, Turn::Witnesses, witnessed.violations);
    violations.add(&examined, Turn::Configuration, of_configuration);
    violations.add(&examined, Turn::People, overrides::by_people(&examined, &ledger));
    violations.add(&examined, Turn::Ledger, std::mem::take(&mut ledger.violations));
    violations.add(&examined, Turn::Tampering, tamper::around(&case, &examined)?);
    violations.add(&examined, Turn::Tampering, history::judge(&case, &examined, backed.sources())?);
    // What is said of the tip, or of the range as a whole, cannot be said of a part of it.
    if walked == Walked::Whole {
        violations.add(&examined, Turn::Range, tested::tip(&case, &examined));
        violations.add(&examined, Turn::Range, changes::undocumented(&case, &examined)?);
        violations.add(&examined, Turn::Range, changes::weakened(&case, &examined)?);
        if let Some(squash) = &asked.squash {
            violations.add(&examined, Turn::Range, squash::judge(&repo, repo.resolve(squash)?, range.tip)?);
        }
    }
    Ok(CheckReport {
        range: range.shown,
        configuration: range.base.or(Some(range.tip)),
        commits: examined.commits().len(),
        violations: waivers::applied(&examined, violations.into_violations(&examined)),
        undecided: stopped(walked).into_iter().chain(witnessed.undecided).chain(undecided).collect(),
        warnings: Vec::new(),
    })
}

/// What is to be judged, or why it cannot be. What was opened for it is closed again: the walk over the commits begins
/// with nothing.
fn ground(ctx: &Context, asked: &RangeRequest) -> Result<Result<Ground, Box<CheckReport>>, OpsError> {
    let repo = Repo::open(&ctx.cwd, &ctx.repo_env)?;
    let spelled = range::spelled(ctx, asked)?;
    let range = match range::resolve(&repo, &spelled) {
        Ok(range) => range,
        Err(OpsError::Git(err)) if err.is_cut_off() => {
            return Ok(Err(Box::new(without_evidence(&spelled.text, 0, undecided::cut_off(&err)))));
        }
        Err(err) => return Err(err),
    };
    if let Some(undecided) = missing_evidence(&repo, &range.commits)? {
        return Ok(Err(Box::new(without_evidence(&spelled.text, range.commits.len(), undecided))));
    }
    if let Some(undecided) = witnessed::cut_off(&repo)? {
        return Ok(Err(Box::new(without_evidence(&spelled.text, range.commits.len(), undecided))));
    }
    let (config, violations) = range::configuration(&repo, &range)?;
    let tip = NotesStore::open(&repo)?.tip();
    Ok(Ok(Ground { common_dir: repo.common_dir().to_owned(), range, config, violations, tip }))
}

/// Nothing is known of the rest.
fn stopped(walked: Walked) -> Option<Diagnostic> {
    undecided::interrupted(walked, "commit", "the same again with --cached: it goes on where it was")
}

fn without_evidence(range: &str, commits: usize, undecided: Diagnostic) -> CheckReport {
    CheckReport {
        range: range.to_owned(),
        configuration: None,
        commits,
        violations: Vec::new(),
        undecided: vec![undecided],
        warnings: Vec::new(),
    }
}

/// One violation with one hint.
fn violation(
    at: Option<CommitRef>,
    code: &str,
    level: Level,
    message: impl Into<String>,
    help: &str,
) -> Diagnostic {
    let location = at.map(|commit| Box::new(Location::Commit(commit)));
    Diagnostic { location, ..Diagnostic::new(level, message).code(code).help(help) }
}

/// What a rule says of a commit.
fn of_finding(at: CommitRef, finding: &Finding) -> Diagnostic {
    Diagnostic::from(finding).at(Location::Commit(at))
}

/// The level of a rule in the configuration that counts.
fn level_of(case: &Case<'_>, rule: &Rule) -> Level {
    rule.level_in(&case.config.rules)
}

/// A commit as a message names it.
fn at(commit: &CommitInfo) -> CommitRef {
    CommitRef { commit: commit.id, subject: commit.subject.clone() }
}

/// Without the notes, or with the history cut off inside the range, nothing can be said.
fn missing_evidence(repo: &Repo, commits: &[CommitId]) -> Result<Option<Diagnostic>, OpsError> {
    if let Some(cut) = undecided::cut_off_within(repo, commits)? {
        return Ok(Some(cut));
    }
    if commits.is_empty() || repo.ref_target(crate::store::notes::REF)?.is_some() {
        return Ok(None);
    }
    let none =
        Diagnostic::error("there are no records here: refs/notes/andon does not exist").code("no-records");
    let fetch = "git fetch origin '+refs/notes/andon*:refs/notes/andon*' '+refs/andon/*:refs/andon/*'";
    Ok(Some(none.help(fetch).help("if nobody has installed Andon yet: andon install")))
}
