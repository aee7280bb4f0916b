//! `andon check`: for CI. Re-derives every record of a range from the commits, takes the configuration from the left
//! side of the range, believes nothing that a branch says of itself, and says what does not hold.
//!
//! Which commits are judged, and by which configuration.

mod backing;
mod chain;
mod contradictions;
mod examined_commits;
mod halts;
mod makers;
mod missing_scopes;
mod overrides;
mod records;
mod signed_answers;
mod tamper;
mod tip_runs;
mod whole_range;

use std::path::PathBuf;

use self::backing::{CommitCase, Conclusion, EvidenceGap, RangeEvidence};
use self::examined_commits::{ExaminedCommits, MessageOrder, ViolationGroups};
use self::halts::{HaltAndAnswer, LedgerFindings};
use self::records::RecordFindings;
pub use self::tip_runs::{CommandRunner, TestsWanted, run as tests_at_tip};
use andon_config::{self as config, AppliesTo, Config, ConfigSource, Layer, MAX_BYTES, TestSettings};
use andon_core::detect::Rule;
use andon_core::domain::{
    CONFIG_FILE, CommitId, CommitRef, Diagnostic, EntryId, Finding, Hint, Level, Location, Oid,
};
use andon_engine::range::{cut_off, cut_off_within, interrupted};
use andon_engine::recording::{Pace, WalkEnd};
use andon_engine::view::{CheckReport, TipTests};
use andon_engine::{Context, OpsError, Result, adapter::git_hook, text::shown_change};
use andon_git::{CommitInfo, Repo};
use andon_store::NotesStore;

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
pub fn run(ctx: &Context, asked: &RangeRequest, pace: &mut Pace<'_>) -> Result<CheckReport> {
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
) -> Result<CheckReport> {
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
fn ground(ctx: &Context, asked: &RangeRequest) -> Result<Result<CheckInputs, Box<CheckReport>>> {
    let repo = Repo::open(&ctx.cwd, &ctx.repo_env)?;
    let spelled = spelled(ctx, asked)?;
    let range = match resolve(&repo, &spelled) {
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
    let (config, mut violations) = configuration(&repo, &range)?;
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
    help: impl Into<String>,
) -> Diagnostic {
    let location = at.into().map(|commit| Box::new(Location::Commit(commit)));
    Diagnostic { location, ..Diagnostic::new(level, message).code(code).help(help) }
}

/// A violation of the range as a whole.
fn of_range(code: &str, level: Level, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
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
fn no_records(repo: &Repo, commits: &[CommitId]) -> Result<Option<Diagnostic>> {
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

/// The request of the caller.
#[derive(Debug, Clone, Default)]
pub struct RangeRequest {
    pub range: Option<String>,
    /// `--from-ref` and `--to-ref`
    pub refs: Option<(String, String)>,
    /// The commit that is said to be the squash of the range.
    pub squash: Option<String>,
    /// The ledger whose witnesses count; default: the one that the base names.
    pub policy: Option<EntryId>,
    /// Facts that an earlier run left in the git directory are believed. A person who can edit a record can edit them.
    pub cached: bool,
    /// The tests at the tip, where the caller has them.
    pub tests: Option<TipTests>,
}

/// A range as it was asked for.
pub(super) struct RangeArgument {
    pub text: String,
    /// True if the arguments of the command name it. pre-commit and prek also name ranges in which nothing is.
    by_caller: bool,
}

/// A range whose names were resolved to commits.
pub(super) struct Range {
    /// The range as messages show it.
    pub shown: String,
    /// The left side, whose configuration counts; `None` when the range has none.
    pub base: Option<CommitId>,
    /// The commit at which the two sides parted.
    pub fork: Option<CommitId>,
    /// The newest commit of the range.
    pub tip: CommitId,
    /// The commits of the range, oldest first.
    pub commits: Vec<CommitId>,
}

/// Finds the range: the argument, the two refs, or what the pre-commit framework names. A base of zeros is that of a new
/// branch, as forges and frameworks name it: then all that the other side reaches is judged.
pub(super) fn spelled(ctx: &Context, asked: &RangeRequest) -> Result<RangeArgument> {
    if let Some(range) = &asked.range {
        let is_new = range.split_once("..").filter(|(from, to)| is_zero(from) && !to.starts_with('.'));
        let text = is_new.map_or(range.as_str(), |(_, to)| to).to_owned();
        return Ok(RangeArgument { text, by_caller: true });
    }
    let by_caller = asked.refs.is_some();
    let (from, to) = asked
        .refs
        .clone()
        .or_else(|| git_hook::from_to(&ctx.vars))
        .ok_or_else(|| OpsError::usage("no range given", Hint::NameBothSides))?;
    let text = if is_zero(&from) { to } else { format!("{from}..{to}") };
    Ok(RangeArgument { text, by_caller })
}

fn is_zero(id: &str) -> bool {
    id.parse::<Oid>().is_ok_and(|id| id.is_zero())
}

/// git reads an empty side as HEAD; here it is a variable of the CI that was not set, and `..HEAD` would judge
/// nothing and pass.
fn refuse_empty(range: &str) -> Result<()> {
    if !range.trim().is_empty() && !range.trim_start().starts_with("..") {
        return Ok(());
    }
    let what = format!("the range {range:?} has no base: is a variable empty?");
    Err(OpsError::usage(what, Hint::NameBothSides))
}

/// Resolves a range as git spells it.
pub(super) fn resolve(repo: &Repo, spelled: &RangeArgument) -> Result<Range> {
    refuse_empty(&spelled.text)?;
    let (commits, shown) = (repo.range(&spelled.text)?, spelled.text.clone());
    let (left, tip) = sides(repo, spelled)?;
    let base = left.map(|left| left.id);
    if let Some(left) = left.filter(|_| commits.is_empty() && spelled.by_caller) {
        return Err(nothing(repo, left, tip)?);
    }
    let fork = base.map(|base| repo.merge_base(base, tip.id)).transpose()?.flatten();
    Ok(Range { shown, base, fork, tip: tip.id, commits })
}

/// The base of a range, where it has one, and its tip.
pub(super) fn sides<'a>(repo: &Repo, spelled: &'a RangeArgument) -> Result<(Option<Side<'a>>, Side<'a>)> {
    let range = spelled.text.as_str();
    refuse_empty(range)?;
    let side = |name: &'a str| Ok::<_, OpsError>(Side { name, id: repo.resolve(name)? });
    match range.split_once("...").or_else(|| range.split_once("..")) {
        Some((from, to)) => Ok((Some(side(from)?), side(if to.is_empty() { "HEAD" } else { to })?)),
        None => Ok((None, side(range)?)),
    }
}

/// One side of a range.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    name: &'a str,
    pub(super) id: CommitId,
}

/// A range without commits judges nothing: said, because the caller thinks that something passed.
fn nothing(repo: &Repo, from: Side<'_>, to: Side<'_>) -> Result<OpsError> {
    let (left, right) = (from.name, to.name);
    if from.id != to.id {
        let what = format!(
            "the range is the wrong way round: {right} is an ancestor of {left}, so it holds no commit"
        );
        return Ok(OpsError::usage(what, Hint::Check.with([&format!("{right}..{left}")])));
    }
    let from = if repo.commit(to.id)?.parents.is_empty() { String::new() } else { format!("{right}~1..") };
    let what = format!("nothing to check: {left} and {right} are the same commit, {}", to.id.short());
    Ok(OpsError::usage(what, format!("to judge its newest commit: {}", Hint::Check.with([&(from + right)]))))
}

/// The configuration of the left side: what a branch says about its own guard does not count for it, whether it changed
/// that or is older than the guard. Without a left side the tip's own counts, for there is no other.
pub(super) fn configuration(repo: &Repo, range: &Range) -> Result<(Config, Vec<Diagnostic>)> {
    let at_tip = source(repo, range.tip)?;
    let Some(base) = range.base else { return Ok((config::load(at_tip.as_slice())?, Vec::new())) };
    let at_base = source(repo, base)?;
    let at_fork = range.fork.map(|fork| source(repo, fork)).transpose()?.flatten();
    let text = |source: &Option<ConfigSource>| source.as_ref().map(|source| source.text.clone());
    let changed = settings_changed(range, base, [&at_base, &at_fork, &at_tip].map(text));
    Ok((counting(repo, base, range.fork, range.tip)?, changed.into_iter().collect()))
}

/// The configuration of the left side `base`. Where that alone changed since the branch left it, at `fork`, the branch is
/// tested as it was there: it cannot know of a command that came later.
pub(super) fn counting(repo: &Repo, base: CommitId, fork: Option<CommitId>, tip: CommitId) -> Result<Config> {
    let of = |commit| source(repo, commit);
    let text = |source: &Option<ConfigSource>| source.as_ref().map(|source| source.text.clone());
    let mut config = config::load(of(base)?.as_slice())?;
    let Some(fork) = fork.filter(|fork| *fork != base) else { return Ok(config) };
    let at_fork = of(fork)?;
    if text(&at_fork) != text(&of(base)?) && text(&at_fork) == text(&of(tip)?) {
        let then = config::load(at_fork.as_slice())?.test;
        if then.command.is_some() {
            config.test = TestSettings { handed_in: config.test.handed_in, ..then };
        }
    }
    Ok(config)
}

/// The message that the tip has another configuration than the left side `base`: the range changed it, or that side did since
/// the branch left it.
fn settings_changed(
    range: &Range,
    base: CommitId,
    [left, fork, tip]: [Option<Vec<u8>>; 3],
) -> Option<Diagnostic> {
    let (at, right) = (base.short(), range.tip.short());
    let diff = Hint::DiffConfig.with([&at, &right]);
    let (code, level, what, help) = match (fork != tip, &left, &tip) {
        _ if left == tip => return None,
        (false, ..) => {
            let what = format!(
                "is another one at {at} than here, where it is older; that of {at} was used, with the tests that the \
                 branch knows"
            );
            ("config-older", Level::Note, what, diff)
        }
        (true, None, _) => {
            let what = format!("is new in this range; its base {at} has none, so the defaults were used");
            ("config-added", Level::Warn, what, diff)
        }
        (true, Some(_), Some(_)) => {
            let what = format!("changed in this range; the one of its base was used, {at}");
            ("config-changed", Level::Warn, what, diff)
        }
        (true, Some(_), None) => {
            let what = format!("was removed in this range; the one of its base was used, {at}");
            ("config-removed", Level::Block, what, Hint::BringConfigBack.with([&at]))
        }
    };
    let said = of_range(code, level, format!("{CONFIG_FILE} {what}"), &help);
    let leaving = "where the project leaves Andon, a person does it: docs/ci.md#leaving-andon".to_owned();
    Some(said.helps((level == Level::Block).then_some(leaving)))
}

/// `andon.toml` as a commit has it.
pub(super) fn source(repo: &Repo, commit: CommitId) -> Result<Option<ConfigSource>> {
    let tree = repo.tree_of(commit)?;
    let Some(blob) = repo.blob_at(tree, CONFIG_FILE.as_bytes())? else { return Ok(None) };
    let name = format!("{}:{CONFIG_FILE}", commit.short());
    let Some(text) = repo.read_blob(blob, MAX_BYTES)? else {
        let what = format!("{name} has more than the {MAX_BYTES} bytes that are read");
        return Err(OpsError::usage(what, "make it smaller"));
    };
    Ok(Some(ConfigSource { layer: Layer::Repository, name, text }))
}
