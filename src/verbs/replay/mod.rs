//! `andon replay`: shows what would have happened over a range of commits, a stream of events or a session.
//!
//! `andon replay RANGE`: what would have happened. The same fold, the same rules, over existing commits, with or
//! without records; a halt is taken as answered at once, so that every one of a history shows.

mod session;
pub mod text;

use std::collections::{BTreeMap, btree_map::Entry};
use std::io::{BufRead, BufReader};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use self::text::Teller;
use crate::cli::progress::{self, stopped};
use crate::cli::{Exit, Format, FormatArg, Shell};
use crate::verbs::test::{run as test, run::OutputTarget};
use andon_config::{self as config, Config, TestCommand};
use andon_core::change::normalize::Normalizer;
use andon_core::detect::{self, Situation, Stops};
use andon_core::domain::{
    Ack, CodeId, CommitId, CommitRef, Decision, Diagnostic, EntryId, EscalationMode, Fact, Halt,
    HaltEvidence, Hint, Level, Location, Recording, RuleSettings, Span, Stage, StandingHalt, TestEvidence,
    Timestamp, Verdict,
};
use andon_core::history::{EventEffect, Fold, Timeline, failing_count};
use andon_core::policy::{self, HaltPlace};
use andon_engine::effect::{ProgramError, StopCause, program::Screens};
use andon_engine::evidence::{CommandResult, TestedCode, TestedSubject, separate_checkout};
use andon_engine::range::{
    self, EventsEnd, Lineages, RangeFacts, StreamOptions, replayed, stream::each_fact, uncertainty,
};
use andon_engine::recording::{
    CommitFacts, Job, Pace, RangeCommit, Records, WalkEnd, bulk, derive::is_cut_off,
};
use andon_engine::text::{named_files, phrase::count};
use andon_engine::{Context, OpsError, Workspace, weakening};
use andon_git::{CommitInfo, Repo, missing_help};
use andon_store::DerivedCache;
use testreport::Stream;

/// `andon replay`
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// Commits to replay, such as v1.0..HEAD; default: all of HEAD. What unrecorded commits took from the tests is judged
    /// in ranges of up to 1,000 commits
    #[arg(value_name = "RANGE", default_value = "HEAD", conflicts_with = "events")]
    pub range: String,
    /// Threads; default: one per processor
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Replay a file of events instead, one JSON object a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Walk through one session instead: state, action, next state and decision of each step
    #[arg(long, value_name = "ID", conflicts_with_all = ["events", "range"])]
    pub session: Option<String>,
    /// Run this test command on each commit first, in a checkout of its own, and judge as the hooks would have: such as
    /// `cargo check` or `python3 -m compileall -q .`. Nothing is kept
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["events", "session"])]
    pub test: Option<String>,
    /// Output format; json is one line a commit
    #[command(flatten)]
    pub format: FormatArg,
}

/// Bytes that are collected before they are printed.
const CHUNK: usize = 1 << 16;

/// Shows what would have happened. Always exit code 0: it shows, it does not judge.
pub fn run(shell: &Shell, args: &ReplayArgs) -> Result<Exit, OpsError> {
    if let Some(file) = &args.events {
        return events(shell, file, args.format.format);
    }
    let ws = Workspace::open(&shell.ctx)?;
    if let Some(session) = &args.session {
        return walk(shell, &ws, session, args.format.format);
    }
    let Some(tests) = tests(shell, &ws, args)? else { return Ok(Exit::Undecided) };
    let mut lines = ShownLines::new(shell, args.format.format);
    let ended = progress::walk(shell, "replay", args.threads, |pace, progress| {
        let mut show = |line| lines.take(&line, || progress.clear());
        run_commits(&shell.ctx, &ws, &args.range, &tests, pace, &mut show)
    });
    let ended = ended.inspect_err(|_| lines.flush())?;
    lines.end(&args.range, &ended.warnings);
    Ok(stopped(shell, ended.walked, Exit::Allowed))
}

/// The lines of a replay, printed some at a time.
struct ShownLines<'a> {
    shell: &'a Shell,
    format: Format,
    teller: Teller,
    waiting: String,
}

impl<'a> ShownLines<'a> {
    fn new(shell: &'a Shell, format: Format) -> Self {
        Self { shell, format, teller: Teller::new(shell.out.out), waiting: String::new() }
    }

    /// Takes a line; `before` is done before anything is printed.
    fn take(&mut self, line: &ReplayLine, before: impl Fn()) {
        self.waiting.push_str(&match self.format {
            Format::Text => self.teller.line(line),
            Format::Json => text::document(line),
        });
        if self.waiting.len() > CHUNK {
            before();
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.shell.out.result(&std::mem::take(&mut self.waiting));
    }

    fn end(&mut self, source: &str, warnings: &[Diagnostic]) {
        match self.format {
            Format::Text => self.waiting.push_str(&self.teller.end(source, warnings)),
            Format::Json => self.shell.tell(warnings),
        }
        self.flush();
    }
}

/// Returns the results of `--test` on each commit, reported on standard error as they come; nothing without it, `None` where it
/// was stopped.
fn tests(
    shell: &Shell,
    ws: &Workspace,
    args: &ReplayArgs,
) -> Result<Option<BTreeMap<CommitId, TestEvidence>>, OpsError> {
    let mut found = BTreeMap::new();
    let Some(command) = &args.test else { return Ok(Some(found)) };
    let (parsed, screens) = (TestCommand::Shell(command.clone()), Screens::none());
    let commits = ws.repo.range(&args.range)?;
    let mut known: BTreeMap<CodeId, Result<TestEvidence, String>> = BTreeMap::new();
    for (at, commit) in commits.iter().copied().enumerate() {
        let subject = TestedSubject::Tree(commit.to_string());
        let Some(checkout) = separate_checkout::checkout(&shell.ctx, ws, &subject)? else { continue };
        let (checkout, code) = (&checkout.ws, checkout.code);
        // A commit of documents alone has the code, and so the result, of the one before.
        let result = match known.entry(code) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let shown = OutputTarget { screens: &screens, pass: &mut |_: Stream, _: &[u8]| () };
                let tested = TestedCode::now(checkout)?;
                let (_, executed) = test::execute(&shell.ctx, checkout, tested, &parsed, shown)?;
                let Some(result) = one(executed, code, command) else { return Ok(None) };
                place.insert(result)
            }
        };
        let result = result.as_ref().map_err(String::as_str);
        let place = format!("{} of {}  {}", at + 1, commits.len(), commit.short());
        shell.out.message(&text::tested(&place, result));
        if let Ok(evidence) = result {
            found.insert(commit, evidence.clone());
        }
    }
    Ok(Some(found))
}

/// Walks through one session, and shows its steps.
fn walk(shell: &Shell, ws: &Workspace, session: &str, format: Format) -> Result<Exit, OpsError> {
    let (found, warnings) = session::run(ws, session)?;
    shell.out.result(&match format {
        Format::Text => text::trajectory(&found, shell.out.out),
        Format::Json => text::trajectory_json(&found),
    });
    shell.tell(&warnings);
    Ok(Exit::Allowed)
}

/// Replays a file of events, printed as they are judged. Exit code 2 when a line is no fact.
fn events(shell: &Shell, file: &Path, format: Format) -> Result<Exit, OpsError> {
    let config = config(shell)?;
    let mut input: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(BufReader::new(std::fs::File::open(file).map_err(OpsError::Input)?))
    };
    let mut lines = ShownLines::new(shell, format);
    let ended = run_events(&config, shell.ctx.now, &mut input, &mut |number, decision| {
        lines.take(&ReplayLine { step: ReplayStep::Event { event: number }, decision }, || ());
    })?;
    lines.end(&file.to_string_lossy(), &[]);
    shell.tell(&ended.remarks);
    Ok(if ended.refused > 0 { Exit::Usage } else { Exit::Allowed })
}

/// The configuration of the repository, or the user's own where there is none: a stream needs no repository.
fn config(shell: &Shell) -> Result<Config, OpsError> {
    match Workspace::open(&shell.ctx) {
        Ok(ws) => Ok(ws.config),
        Err(OpsError::Git(err)) if err.is_usage() => Ok(config::load(&[])?),
        Err(err) => Err(err),
    }
}

/// Returns the result of a run; `None` where a signal stopped it.
fn one(
    executed: Result<CommandResult, ProgramError>,
    code: CodeId,
    command: &str,
) -> Option<Result<TestEvidence, String>> {
    match executed {
        Ok(CommandResult { end, .. }) if matches!(end.stopped, StopCause::Forwarded(_)) => None,
        Ok(CommandResult { mut parsed, .. }) => Some(match parsed.not_started.take() {
            Some(why) => Err(why),
            None => Ok(TestEvidence::from_run(parsed, code, command)),
        }),
        Err(error) => Some(Err(error.to_string())),
    }
}

/// Commits of a range up to which test files of unrecorded ones are read: of many more that would take too long.
const WEAKENING: usize = 1_000;

/// The subject of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ReplayStep {
    /// A commit of the range.
    Commit {
        /// Its full id; texts show the beginning.
        commit: CommitId,
        /// First line of its message.
        #[serde(skip)]
        subject: String,
    },
    /// An event of a stream.
    Event {
        /// The number of its line, from 1.
        event: u64,
    },
}

/// One step and the decision on it. A step under an earlier, unanswered halt has `decision.standing`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReplayLine {
    /// The commit or event that was judged.
    #[serde(flatten)]
    pub step: ReplayStep,
    /// The decision of that time, from the facts of that time.
    #[serde(flatten, serialize_with = "serialize_brief")]
    pub decision: Decision,
}

/// Writes a decision without what only the one who is stopped by it needs.
pub(super) fn serialize_brief<S: Serializer>(decision: &Decision, serializer: S) -> Result<S::Ok, S::Error> {
    let findings = decision.findings.iter().map(|finding| {
        json!({
            "rule": finding.rule,
            "level": finding.level,
            "message": finding.message(),
            "evidence": finding.evidence,
        })
    });
    let findings: Value = findings.collect();
    json!({ "decision": decision.verdict, "reason": decision.reason, "findings": findings })
        .serialize(serializer)
}

/// The end of a replay.
pub struct ReplayEnd {
    /// The end of the walk, or where it was stopped.
    pub walked: WalkEnd,
    /// Records that could not be read, and were derived again instead; what cannot be seen of the commits.
    pub warnings: Vec<Diagnostic>,
}

/// Commits of which a part cannot be seen: how many they are, the first of them, and the way out.
struct Unseen {
    found: BTreeMap<&'static str, (usize, CommitRef, String)>,
    is_shallow: bool,
}

impl Unseen {
    /// Takes the next commit.
    fn take(&mut self, repo: &Repo, commit: &CommitInfo, facts: &CommitFacts, now: Timestamp) {
        let missing = match facts {
            CommitFacts::Derived(derived, _) => derived.missing,
            CommitFacts::Recorded(_) => None,
        };
        let is_dated = commit.committed_at.0 > 0 && commit.committed_at.since(now) <= Span(86_400);
        let undated = "no date, or one of the future: rules that go by time do not see when it was made, in";
        let cut = "this clone is shallow: what was before is not seen, at";
        let ids = "this clone is partial and lacks contents: changes are compared by ids, and rules that read lines see none, in";
        for (what, help) in [
            (undated, (!is_dated).then(String::new)),
            (cut, (self.is_shallow && is_cut_off(repo, commit)).then(|| Hint::Unshallow.into())),
            (ids, missing.map(missing_help)),
        ] {
            let Some(help) = help else { continue };
            let first = CommitRef { commit: commit.id, subject: commit.subject.clone() };
            self.found.entry(what).or_insert((0, first, help)).0 += 1;
        }
    }

    fn warnings(self) -> impl Iterator<Item = Diagnostic> {
        self.found.into_iter().map(|(what, (commits, first, help))| {
            let warning = Diagnostic::warning(format!("{what} {}", count(commits, "commit")));
            warning.at(Location::Commit(first)).helps(Some(help).filter(|help| !help.is_empty()))
        })
    }
}

/// Replays a range, oldest first, and hands each commit's decision to `show` as it is found. Results in `tests` take the
/// place of recorded ones.
fn run_commits(
    ctx: &Context,
    ws: &Workspace,
    commits: &str,
    tests: &BTreeMap<CommitId, TestEvidence>,
    pace: &mut Pace<'_>,
    show: &mut dyn FnMut(ReplayLine),
) -> Result<ReplayEnd, OpsError> {
    let mut warnings = Vec::new();
    let mut unseen = Unseen { found: BTreeMap::new(), is_shallow: ws.repo.is_shallow() };
    let settings = settings(&ws.config.rules);
    let common_dir = ws.repo.common_dir();
    let RangeFacts { commits, parents, tip } = replayed::range_facts(ctx, commits)?;
    let rules = Some(&settings).filter(|_| commits.len() <= WEAKENING);
    let cache = DerivedCache::load(common_dir, &bulk::salt(&ws.config, rules));
    let (config, records) = (&ws.config, Records::Observed);
    let job = Job { ctx, config, commits: &commits, records, tip, cache: &cache, rules };
    let mut lines = Lineages::new(parents.into_iter());
    let walked = bulk::walk(common_dir, &job, pace, &mut |RangeCommit { commit, facts, .. }| {
        let mut fold = lines.before(commit.parents.first().copied(), || ws.config.fold());
        unseen.take(&ws.repo, &commit, &facts, ctx.now);
        let (mut fact, warning) = replayed::fact(&commit, facts, &fold);
        warnings.extend(warning);
        if let Some(tests) = tests.get(&commit.id) {
            // Judged as what the hooks saw when it was made.
            fact.record.recording = Recording::AtCommit;
            fact.record.tests = Some(tests.clone());
        }
        if fact.record.recording == Recording::Derived {
            let last = weakening::last_result(&[], fold.timeline(), fact.record.code);
            let is_red_merge = commit.parents.len() > 1 && last.and_then(failing_count) > Some(0);
            fact.record.weakening = match rules.filter(|_| is_red_merge) {
                Some(rules) => weakening::find(&ws.repo, rules, &commit, last)?,
                None => weakening::after(fact.record.weakening, last),
            };
        }
        let decision = match fold.push(Fact::Commit(Box::new(fact))) {
            // It was counted where it was made first.
            EventEffect::Nothing => policy::decide(Vec::new(), None),
            EventEffect::Within | EventEffect::Iteration => {
                range::verdict(fold.timeline(), &settings, &ws.config)
            }
        };
        let mut decision = named(ctx, ws, fold.timeline(), decision);
        let (head, at) = (Some(commit.id), commit.committed_at);
        let site = HaltPlace { head, branch: None, worktree: String::new(), at, client: None };
        decision.halted = policy::halting(&decision, fold.timeline(), &site);
        if decision.verdict == Verdict::Halt {
            let reason = "assumed, to go on".to_owned();
            fold.push(Fact::Ack(Box::new(Ack { reason, head, ..Ack::new("replay", at) })));
        }
        lines.after(commit.id, fold);
        let step = ReplayStep::Commit { commit: commit.id, subject: commit.subject };
        show(ReplayLine { step, decision });
        Ok(())
    })?;
    warnings.extend(unseen.warnings());
    Ok(ReplayEnd { walked, warnings })
}

/// With the files named that go round, by a handle of its own.
fn named(ctx: &Context, ws: &Workspace, timeline: &Timeline, decision: Decision) -> Decision {
    if decision.findings.iter().all(|finding| finding.files.is_empty()) {
        return decision;
    }
    match Repo::open(&ctx.cwd, &ctx.repo_env) {
        Ok(repo) => named_files::named(&repo, &ws.config.paths.rules, timeline, decision),
        Err(_) => decision,
    }
}

/// The settings without the rule that git alone cannot judge: a history made before Andon came has no gate to bypass.
pub(super) fn settings(rules: &RuleSettings) -> RuleSettings {
    let mut settings = rules.clone();
    if let Some(setting) = settings.get_mut(detect::HOOK_BYPASS.id) {
        setting.level = Level::Off;
    }
    settings
}

/// Replays the events of `input`; `show` gets the number of each line that is a fact, from 1, and the decision on it.
pub fn run_events(
    config: &Config,
    now: Timestamp,
    input: &mut dyn BufRead,
    show: &mut dyn FnMut(u64, Decision),
) -> Result<EventsEnd, OpsError> {
    let settings = settings(&config.rules);
    let mut engine = Engine::new(config, settings);
    let patterns = Normalizer::new(&config.normalize)?;
    each_fact(StreamOptions { now, patterns: &patterns }, input, &mut |number, fact| {
        show(number, engine.take(fact));
    })
}

/// The fold, the rules and the halt that holds.
pub(super) struct Engine {
    fold: Fold,
    settings: RuleSettings,
    mode: EscalationMode,
    standing: Option<StandingHalt>,
}

impl Engine {
    pub(super) fn new(config: &Config, settings: RuleSettings) -> Self {
        Self { fold: config.fold(), settings, mode: uncertainty::mode(config), standing: None }
    }

    /// Folds a fact, and decides.
    pub(super) fn take(&mut self, fact: Fact) -> Decision {
        let answers = matches!(fact, Fact::Ack(_));
        // As in hooks: a commit is already made, and weighs less than a turn that could continue.
        let at = if matches!(fact, Fact::Commit(_)) { Stage::PostCommit } else { Stage::Turn };
        let effect = self.fold.push(fact);
        if answers {
            self.standing = None;
        }
        // While the loop is halted no rule runs: the answer begins a new window.
        let effect = if self.standing.is_some() { EventEffect::Nothing } else { effect };
        let findings = match effect {
            EventEffect::Nothing => Vec::new(),
            EventEffect::Within => self.ask(Stage::Event),
            EventEffect::Iteration => self.ask(at),
        };
        let mut decision = policy::decide(findings, self.standing.clone());
        if self.standing.is_none() && decision.verdict == Verdict::Halt {
            let at = self.fold.timeline().activity.now.unwrap_or(Timestamp(0));
            let place = HaltPlace { head: None, branch: None, worktree: String::new(), at, client: None };
            decision.halted = policy::halting(&decision, self.fold.timeline(), &place);
            self.standing = decision.halted.as_deref().map(standing);
        }
        decision
    }

    fn ask(&self, stage: Stage) -> Vec<andon_core::domain::Finding> {
        let timeline = self.fold.timeline();
        let episode = || uncertainty::episode(timeline, &self.settings, self.mode);
        let episode = (stage != Stage::Event).then(episode).flatten();
        let situation =
            Situation { timeline, stage, candidate: None, stops: Stops::NONE, episode: episode.as_ref() };
        detect::run(&situation, &self.settings)
    }
}

/// The halt from then on. It was shown in full where it was made: every later decision has it, and shows its reason
/// only.
fn standing(halt: &Halt) -> StandingHalt {
    let halt = Halt { evidence: HaltEvidence::default(), suggested_actions: Vec::new(), ..halt.clone() };
    StandingHalt { id: EntryId([0; 32]), halt }
}
