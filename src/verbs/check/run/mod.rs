//! `andon check`: for CI. Re-derives every record of a range from the commits, takes the configuration from the left
//! side of the range, believes nothing that a branch says of itself, and says what does not hold.

mod backing;
mod chain;
mod contradictions;
mod examined_commits;
mod halts;
mod makers;
mod overrides;
mod range;
mod records;
mod signed_answers;
mod tamper;
mod tip_tests;
mod whole_range;

pub use self::range::RangeRequest;
pub use self::tip_tests::{CommandRunner, TestsWanted, run as tests_at_tip};

use std::path::PathBuf;

use self::examined_commits::{ExaminedCommits, MessageOrder, ViolationGroups};
use self::{range::Range, records::RecordFindings};
use andon_config::{AppliesTo, Config};
use andon_core::detect::Rule;
use andon_core::domain::diagnostic::{CommitRef, Diagnostic, Location};
use andon_core::domain::findings::{Finding, Level};
use andon_core::domain::{hint::Hint, ids::CommitId};
use andon_engine::range::{cut_off, cut_off_within, interrupted};
use andon_engine::recording::bulk::{Pace, WalkEnd};
use andon_engine::view::check::{CheckReport, TipTests};
use andon_engine::{context::Context, error::OpsError, text::shown_change};
use andon_git::{CommitInfo, Repo};
use andon_store::notes::NotesStore;

/// The subject of a check.
pub(crate) struct Case<'a> {
    repo: &'a Repo,
    store: NotesStore<'a>,
    config: &'a Config,
    /// The tests at the tip, where the caller asked for them.
    tests: Option<&'a TipTests>,
    /// The range as it is shown.
    range: &'a str,
    /// The newest commit of the range.
    tip: CommitId,
}

impl Case<'_> {
    /// True when the tests at the tip passed, so that they replace missing records.
    fn stands_in(&self) -> bool {
        self.tests.is_some_and(TipTests::stand_in)
    }
}

/// The inputs that are known before the commits are examined.
struct CheckInputs {
    common_dir: PathBuf,
    range: Range,
    config: Config,
    violations: Vec<Diagnostic>,
    /// The notes commit whose records count.
    tip: Option<CommitId>,
}

impl CheckInputs {
    fn case<'a>(&'a self, repo: &'a Repo, asked: &'a RangeRequest) -> Case<'a> {
        let Self { range, config, tip, .. } = self;
        let (store, tests) = (NotesStore::at(repo, *tip), asked.tests.as_ref());
        Case { repo, store, config, tests, range: &range.shown, tip: range.tip }
    }
}

/// The subject of a check with its commits, once each of them was looked at.
#[derive(Clone, Copy)]
struct JudgedRange<'a> {
    case: &'a Case<'a>,
    examined: &'a ExaminedCommits,
}

/// Judges a range. Evidence that is missing is part of the report: exit code 3.
pub fn run(ctx: &Context, asked: &RangeRequest, pace: &mut Pace<'_>) -> Result<CheckReport, OpsError> {
    let mut report = match ground(ctx, asked)? {
        Ok(ground) => over(ctx, asked, ground, pace)?,
        Err(nothing) => *nothing,
    };
    if let Some(tests) = &asked.tests {
        let said = whole_range::at_tip(&Repo::open(&ctx.cwd, &ctx.repo_env)?, tests)?;
        report.violations.extend(said.violations);
        report.undecided.extend(said.undecided);
        report.warnings.extend(tests.warnings.iter().map(Diagnostic::warning));
        report.tests = Some(tests.clone());
    }
    Ok(report)
}

fn over(
    ctx: &Context,
    asked: &RangeRequest,
    mut ground: CheckInputs,
    pace: &mut Pace<'_>,
) -> Result<CheckReport, OpsError> {
    let (RecordFindings { examined, mut violations, undecided, backed, .. }, walked) =
        records::judge(ctx, &ground, asked, pace)?;
    let of_configuration = std::mem::take(&mut ground.violations);
    let repo = Repo::open(&ctx.cwd, &ctx.repo_env)?;
    let (case, range) = (ground.case(&repo, asked), &ground.range);
    let whole = JudgedRange { case: &case, examined: &examined };
    let mut ledger = halts::judge(whole, ctx.now)?;
    let witnessed = signed_answers::judge(whole, &ledger.halts, asked.policy, ctx.now)?;
    let mut add = |turn, said| violations.add(&examined, turn, said);
    add(MessageOrder::Witnesses, witnessed.violations);
    add(MessageOrder::Configuration, of_configuration);
    add(MessageOrder::People, overrides::by_people(&examined, &ledger));
    add(MessageOrder::Ledger, std::mem::take(&mut ledger.violations));
    add(MessageOrder::Tampering, tamper::around(whole)?);
    add(MessageOrder::Tampering, chain::replaced_notes(whole, backed.sources())?);
    // Messages about the tip, or about the range as a whole, do not hold for a part of it.
    if walked == WalkEnd::Whole {
        add(MessageOrder::Range, whole_range::tip(whole, &backed).into_iter().collect());
        add(MessageOrder::Range, whole_range::undocumented(whole)?);
        add(MessageOrder::Range, whole_range::weakened(whole)?);
        if let Some(squash) = &asked.squash {
            add(MessageOrder::Range, whole_range::squashed(&repo, repo.resolve(squash)?, range.tip)?);
        }
    }
    let open = halts::open(whole, &ledger.halts);
    let first = open.map(|open| halts::told(&examined, open));
    let judged = overrides::applied(&examined, violations.into_violations(&examined));
    Ok(CheckReport {
        range: range.shown.clone(),
        configuration: range.base.or(Some(range.tip)),
        commits: examined.commits().len(),
        violations: first.into_iter().chain(judged).collect(),
        undecided: stopped(walked).into_iter().chain(witnessed.undecided).chain(undecided).collect(),
        recorded: examined.fact(range.tip).and_then(|fact| fact.record.tests),
        halt: open.map(|open| Box::new(open.halt.clone())),
        change: open.and_then(|open| shown_change::of_halt(&repo, &open.halt).ok().flatten()),
        ..CheckReport::default()
    })
}

/// The subject of the judgement, or why there is none. Everything that was opened for it is closed again: the walk over the
/// commits begins with nothing.
fn ground(ctx: &Context, asked: &RangeRequest) -> Result<Result<CheckInputs, Box<CheckReport>>, OpsError> {
    let repo = Repo::open(&ctx.cwd, &ctx.repo_env)?;
    let spelled = range::spelled(ctx, asked)?;
    let range = match range::resolve(&repo, &spelled) {
        Ok(range) => range,
        Err(OpsError::Git(err)) if err.is_cut_off() => {
            return Ok(Err(Box::new(without_evidence(&spelled.text, 0, cut_off(&err)))));
        }
        Err(err) => return Err(err),
    };
    let without = |undecided| Box::new(without_evidence(&spelled.text, range.commits.len(), undecided));
    if let Some(undecided) = cut_off_within(&repo, &range.commits)? {
        return Ok(Err(without(undecided)));
    }
    if let Some(undecided) = signed_answers::cut_off(&repo)? {
        return Ok(Err(without(undecided)));
    }
    let (config, mut violations) = range::configuration(&repo, &range)?;
    violations.extend(known_red(&config.test.known_red));
    let only_agents = config.guard.applies_to == AppliesTo::Agents;
    match no_records(&repo, &range.commits)? {
        // Each commit is judged by itself: an agent's without a record is missing evidence.
        Some(none) if only_agents && !makers::were_recorded_here(&repo, &range.commits) => {
            violations.extend(asked.tests.is_some().then(|| unlooked(none)));
        }
        Some(none) if asked.tests.is_some() => violations.push(unlooked(none)),
        Some(none) => return Ok(Err(without(none))),
        None => {}
    }
    let tip = NotesStore::open(&repo)?.tip();
    Ok(Ok(CheckInputs { common_dir: repo.common_dir().to_owned(), range, config, violations, tip }))
}

/// The tests that may stay red.
fn known_red(tests: &[String]) -> Option<Diagnostic> {
    let what = format!("test.known_red: these tests halt nothing while they fail: {}", tests.join(", "));
    let help = "fix what fails, and take the tests that pass out of test.known_red";
    (!tests.is_empty()).then(|| of_range("known-red", Level::Note, what, help))
}

/// Nothing is known of the rest.
fn stopped(walked: WalkEnd) -> Option<Diagnostic> {
    interrupted(walked, "commit", "the same again with --cached: it goes on where it was")
}

fn without_evidence(range: &str, commits: usize, undecided: Diagnostic) -> CheckReport {
    CheckReport { range: range.to_owned(), commits, undecided: vec![undecided], ..CheckReport::default() }
}

/// One violation with one hint, at a commit where there is one.
fn violation(
    at: impl Into<Option<CommitRef>>,
    code: &str,
    level: Level,
    message: impl Into<String>,
    help: &str,
) -> Diagnostic {
    let location = at.into().map(|commit| Box::new(Location::Commit(commit)));
    Diagnostic { location, ..Diagnostic::new(level, message).code(code).help(help) }
}

/// A violation of the range as a whole.
fn of_range(code: &str, level: Level, message: impl Into<String>, help: &str) -> Diagnostic {
    violation(None::<CommitRef>, code, level, message, help)
}

/// The message of a rule about a commit.
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

/// Without the notes nothing can be said.
fn no_records(repo: &Repo, commits: &[CommitId]) -> Result<Option<Diagnostic>, OpsError> {
    if commits.is_empty() || NotesStore::open(repo)?.tip().is_some() {
        return Ok(None);
    }
    let none =
        Diagnostic::error("there are no records here: refs/notes/andon does not exist").code("no-records");
    Ok(Some(none.help(Hint::FetchRecords).help(Hint::InstallFirst)))
}

/// The tests of the tip tell what the code is worth; how it came about stays unknown.
fn unlooked(none: Diagnostic) -> Diagnostic {
    let message =
        format!("{}; nothing is known of halts and of commits that bypassed the gate", none.message);
    Diagnostic { level: Level::Warn, message, ..none }
}
