//! `andon test` where the code has scopes: what ran green on this content does not run again.
//!
//! Each result goes into the journal as soon as it is there, together with what is known of the other scopes: what ran
//! before an interruption stays proven, and the newest run says what the whole code is worth.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;

use super::TestArgs;
use super::run::{
    ChosenCommand, CommandOrigin, OutputTarget, RunDestination, TestJob, TestOutcome, added, configured,
    texts,
};
use andon_core::domain::{
    CONFIG_FILE, CodeId, CommitId, Hint, REST, RunValidity, ScopeTests, TestEvidence, TestRun, TestStatus,
    Timestamp, TreeId,
};
use andon_core::history::{Outcome, outcome};
use andon_engine::evidence::earlier_runs::{compare, compare_scope};
use andon_engine::evidence::{
    Checkout, Demand, ScopeCode, ScopeState, Subject, TestedCode, TestedSubject, TreeSnapshot, scopes,
    separate_checkout, untracked,
};
use andon_engine::recording::{LoadedTimeline, pending, timeline};
use andon_engine::{Context, OpsError, Result, Workspace};

/// The scopes that are to be tested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeChoice {
    /// Those without a passing run on their code.
    Missing,
    /// The same of those that differ from this tree.
    Needed(Option<TreeId>),
    /// All at once, by `test.command`.
    All,
    /// These, also where they passed.
    Named(Vec<String>),
    /// A part of the tests of one.
    Part(String, Vec<OsString>),
}

/// A step of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestStep {
    /// The scope; [`REST`] for `test.command`.
    pub name: String,
    /// The command that the step runs.
    pub command: String,
}

/// A scope that does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedScope {
    /// The name of the scope.
    pub name: String,
    /// The commit whose tests passed on this code; `None` where they ran here, for no commit yet.
    pub from: Option<CommitId>,
}

/// The steps that run, and the scopes that do not.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Plan {
    /// In this order. Where `test.command` comes first and passes, the rest is not needed.
    pub steps: Vec<TestStep>,
    /// Those that passed on this code.
    pub left_out: Vec<SkippedScope>,
}

/// An event of a run, for the caller to show.
pub enum TestProgress<'a> {
    /// The plan is made, and nothing has run yet.
    Planned(&'a Plan),
    /// A step of the plan begins.
    Begins(&'a TestStep),
    /// The output of a step follows: it ran beside others.
    Printed(&'a TestStep),
    /// A step of the plan has ended.
    Ended(&'a TestStep, &'a TestOutcome),
}

/// The result of a run of scopes.
pub struct ScopesRan {
    /// Scopes that did not run.
    pub left_out: Vec<SkippedScope>,
    /// The steps that ran, in order, each with its own result.
    pub ran: Vec<(TestStep, TestOutcome)>,
    /// All scopes together, as the journal has it last; `None` where nothing could be kept.
    pub together: Option<TestRun>,
    /// Scopes that did not start, because what they need failed.
    pub held: Vec<String>,
    /// The worst exit code of all steps.
    pub code: u8,
    /// The place that keeps the last run.
    pub kept: RunDestination,
}

/// The choice that the command line makes by naming scopes or arguments; `None` where it is not about scopes.
///
/// # Errors
/// A word that can only be meant as a scope, and names none.
pub fn choice(ws: &Workspace, args: &TestArgs) -> Result<Option<ScopeChoice>> {
    let (all, words) = (args.all, &args.arguments);
    let declared = &ws.config.test.scopes.scopes;
    if declared.is_empty() {
        return Ok(None);
    }
    let texts = texts(words);
    match texts.as_slice() {
        [] if all => Ok(Some(ScopeChoice::All)),
        [] => Ok(Some(ScopeChoice::Missing)),
        _ if all => Ok(None),
        names if names.iter().all(|name| declared.has(name)) => Ok(Some(ScopeChoice::Named(texts))),
        [name, ..] if declared.has(name) => Ok(Some(ScopeChoice::Part(name.clone(), words[1..].to_vec()))),
        [name, ..] if is_word(ws, name) => {
            let known: Vec<&str> = declared.iter().map(|scope| scope.name.as_str()).collect();
            Err(OpsError::usage(
                format!("no scope is called {name}: there are {}", known.join(", ")),
                format!(
                    "{} {}",
                    andon_config::suggest(name, known.iter().copied()),
                    Hint::TestAllOf.with([name])
                ),
            ))
        }
        _ => Ok(None),
    }
}

/// True for a word that is neither an option nor a path nor an expression of a test runner.
fn is_word(ws: &Workspace, word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let there = ws.repo.workdir().is_some_and(|top| top.join(word).exists());
    !word.starts_with('-') && word.bytes().all(plain) && !there
}

/// Everything that stays the same while the scopes run, and what came of them.
pub(super) struct Session<'a> {
    pub(super) ctx: &'a Context,
    pub(super) ws: &'a Workspace,
    /// The checkout, where not the working tree is tested.
    apart: Option<Checkout>,
    loaded: LoadedTimeline,
    /// The results of this session.
    kept: BTreeSet<CodeId>,
    /// Steps that are still to come.
    pub(super) left: usize,
    /// Scopes that need one that is red do not start.
    holds: bool,
    /// As long as nothing ran since it was looked at.
    look: Option<TreeSnapshot>,
    done: ScopesRan,
}

/// A request to test scopes.
pub struct ScopeRequest<'a> {
    /// The code that is to be tested.
    pub subject: &'a TestedSubject,
    /// The scopes that are to be tested.
    pub choice: &'a ScopeChoice,
    /// Scopes that run at once, where they do not need each other.
    pub jobs: usize,
}

/// Runs the tests of the scopes that are wanted.
///
/// # Errors
/// A file belongs to two scopes, a scope has no command, or git, the journal or the checkout fail.
pub fn run(
    ctx: &Context,
    ws: &Workspace,
    wanted: &ScopeRequest<'_>,
    shown: OutputTarget<'_>,
    tell: &mut dyn FnMut(TestProgress<'_>),
) -> Result<ScopesRan> {
    let ScopeRequest { subject, choice, jobs } = wanted;
    let mut session = Session::begin(ctx, ws, subject)?;
    let OutputTarget { screens, pass } = shown;
    let plan = session.plan(choice)?;
    session.holds = matches!(choice, ScopeChoice::Missing | ScopeChoice::Needed(_));
    session.done.left_out.clone_from(&plan.left_out);
    tell(TestProgress::Planned(&plan));
    let mut steps = VecDeque::from(plan.steps);
    while let Some(step) = steps.pop_front() {
        let shown = OutputTarget { screens, pass: &mut *pass };
        let is_scope = step.name != REST && !matches!(choice, ScopeChoice::Part(..));
        if *jobs > 1 && is_scope && !steps.is_empty() {
            steps.push_front(step);
            session.side_by_side(std::mem::take(&mut steps), *jobs, shown, tell)?;
            break;
        }
        session.left = steps.len();
        tell(TestProgress::Begins(&step));
        let ran = match choice {
            ScopeChoice::Part(_, words) => session.part(&step.name, words, shown)?,
            ScopeChoice::All => session.all(AllOf::Everything, shown)?,
            ScopeChoice::Missing | ScopeChoice::Needed(_) if step.name == REST => {
                session.all(AllOf::Rest, shown)?
            }
            ScopeChoice::Missing | ScopeChoice::Needed(_) | ScopeChoice::Named(_) => {
                session.scope(&step.name, shown)?
            }
        };
        let is_proof = ran.run.validity == RunValidity::Valid && ran.run.evidence.is_green();
        let is_over = ran.is_stopped() || step.name == REST && is_proof;
        session.ended(step, ran, tell);
        session.hold(&mut steps);
        if is_over {
            break;
        }
    }
    if session.done.ran.is_empty() {
        session.keep_what_is_known()?;
    }
    Ok(session.done)
}

/// Whom a run of `test.command` speaks for where it does not pass.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AllOf {
    /// For none: which scope failed is not known.
    Everything,
    /// The code in no scope.
    Rest,
}

impl<'a> Session<'a> {
    /// Looks at the code that is to be tested.
    pub(super) fn begin(ctx: &'a Context, ws: &'a Workspace, subject: &TestedSubject) -> Result<Self> {
        ws.top()?;
        let loaded = timeline::load(ws)?;
        let (left_out, ran, together, held) = (Vec::new(), Vec::new(), None, Vec::new());
        let done = ScopesRan { left_out, ran, together, held, code: 0, kept: RunDestination::InJournal };
        let apart = separate_checkout::checkout(ctx, ws, subject)?;
        let (kept, left, look) = (BTreeSet::new(), 0, None);
        let mut session = Self { ctx, ws, apart, loaded, kept, left, holds: false, look, done };
        session.refuse_in_two()?;
        Ok(session)
    }

    /// A file of two scopes shows where it changed, and all of them do where the configuration changed.
    fn refuse_in_two(&mut self) -> Result<()> {
        let overlay = self.look()?.overlay;
        if overlay.entries.iter().any(|entry| entry.path == CONFIG_FILE.as_bytes()) {
            let tracked = self.ws.repo.tracked_files()?;
            scopes::refuse_these_in_two(self.ws, tracked.iter().map(|(_, path)| path.as_slice()))?;
        }
        scopes::refuse_these_in_two(self.ws, overlay.entries.iter().map(|entry| entry.path.as_slice()))
    }

    /// The workspace in which the tests run.
    pub(super) fn at(&self) -> &Workspace {
        self.apart.as_ref().map_or(self.ws, |checkout| &checkout.ws)
    }

    /// The working tree, or the checkout, as it is now.
    pub(super) fn look(&mut self) -> Result<TreeSnapshot> {
        let look = match self.look.take() {
            Some(look) => look,
            None => untracked::tested_overlay(self.at())?,
        };
        self.look = Some(look.clone());
        Ok(look)
    }

    /// Something ran: what was seen may be no more.
    pub(super) fn forget_look(&mut self) {
        self.look = None;
    }

    /// The scopes of what was seen.
    fn states(&self, seen: &TreeSnapshot, demand: Demand) -> Result<Vec<ScopeState>> {
        let subject = match &self.apart {
            Some(checkout) => Subject::Tree(checkout.tree),
            None => Subject::WorkTree(seen.overlay.clone()),
        };
        scopes::states(self.ws, &self.loaded, &subject, demand)
    }

    /// The steps for what was chosen, and the scopes that need none.
    pub(super) fn plan(&mut self, choice: &ScopeChoice) -> Result<Plan> {
        let named: Vec<&str> = match choice {
            ScopeChoice::All => vec![REST],
            ScopeChoice::Part(name, _) => vec![name],
            ScopeChoice::Named(names) => {
                let order = self.ws.config.test.scopes.scopes.in_order();
                order.into_iter().filter(|name| names.iter().any(|wanted| wanted == name)).collect()
            }
            ScopeChoice::Missing => return self.plan_missing(None),
            ScopeChoice::Needed(before) => return self.plan_missing(*before),
        };
        let steps = named.into_iter().map(|name| self.step(name)).collect::<Result<_, _>>()?;
        Ok(Plan { steps, left_out: Vec::new() })
    }

    fn step(&self, name: &str) -> Result<TestStep> {
        let command = self.ws.config.command_of_scope(name).ok_or_else(|| {
            OpsError::usage(
                "no command is configured that tests everything",
                "set it in andon.toml: [test] command = \"cargo test --workspace\"",
            )
        })?;
        Ok(TestStep { name: name.to_owned(), command: command.display() })
    }

    fn plan_missing(&mut self, before: Option<TreeId>) -> Result<Plan> {
        let seen = self.look()?;
        let states = self.states(&seen, Demand::Commit(before))?;
        let mut plan = Plan::default();
        for ScopeState { scope, found } in states.iter().filter(|state| state.scope.touched) {
            match found {
                Some(found) if found.tests.is_green() => {
                    plan.left_out.push(SkippedScope { name: scope.name.clone(), from: found.from });
                }
                Some(_) | None => plan.steps.push(self.step(&scope.name)?),
            }
        }
        Ok(plan)
    }

    /// The workspace as a scope has it, and the scope's command.
    pub(super) fn own(&self, name: &str) -> Result<(Workspace, ChosenCommand)> {
        let own = self.at().of_scope(name).and_then(|own| Some((own.config.test.command.clone()?, own)));
        let (command, own) =
            own.ok_or_else(|| OpsError::usage(format!("no scope is called {name}"), Hint::TestScopes))?;
        Ok((own, ChosenCommand { command, origin: CommandOrigin::Configured }))
    }

    /// Runs tests on what was seen.
    fn run(
        &mut self,
        seen: TreeSnapshot,
        own: Option<&Workspace>,
        chosen: &ChosenCommand,
        shown: OutputTarget<'_>,
    ) -> Result<TestOutcome> {
        self.forget_look();
        let at = own.unwrap_or_else(|| self.at());
        let tested = TestedCode::from_overlay(at, seen)?;
        TestJob { ctx: self.ctx, ws: self.ws, at, chosen }.run(tested, shown)
    }

    /// A step has come to its end.
    pub(super) fn ended(&mut self, step: TestStep, ran: TestOutcome, tell: &mut dyn FnMut(TestProgress<'_>)) {
        tell(TestProgress::Ended(&step, &ran));
        self.done.code = self.done.code.max(ran.code);
        self.done.kept = ran.kept.unwrap_or(self.done.kept);
        self.done.ran.push((step, ran));
    }

    /// Takes out the scopes that need the one that has just run and is red: after its repair they would run again.
    pub(super) fn hold(&mut self, waiting: &mut VecDeque<TestStep>) {
        let is_red = |ran: &TestOutcome| {
            ran.run.validity == RunValidity::Valid && outcome(&ran.run.evidence) == Outcome::Red
        };
        let Some((red, _)) = self.done.ran.last().filter(|(_, ran)| self.holds && is_red(ran)) else {
            return;
        };
        let needs = |step: &TestStep| {
            self.ws.config.test.scopes.scopes.needed_by(&step.name).contains(&red.name.as_str())
        };
        let (held, rest) = std::mem::take(waiting).into_iter().partition::<VecDeque<_>, _>(needs);
        *waiting = rest;
        self.done.held.extend(held.into_iter().map(|step| step.name));
    }

    /// Runs the tests of one scope.
    fn scope(&mut self, name: &str, shown: OutputTarget<'_>) -> Result<TestOutcome> {
        let (own, chosen) = self.own(name)?;
        let seen = self.look()?;
        let ran = self.run(seen.clone(), Some(&own), &chosen, shown)?;
        self.scope_ran(name, &own, seen, ran)
    }

    /// Keeps what the tests of a scope gave on what was seen before they ran.
    pub(super) fn scope_ran(
        &mut self,
        name: &str,
        own: &Workspace,
        seen: TreeSnapshot,
        mut ran: TestOutcome,
    ) -> Result<TestOutcome> {
        if let Some(checkout) = &self.apart {
            let states = self.states(&seen, Demand::Everything)?;
            let code = states.iter().find(|state| state.scope.name == name).map(|state| state.scope.code);
            ran.happened_in(checkout, code.unwrap_or(ran.run.evidence.code));
        }
        compare_scope(own, name, &mut ran.run)?;
        ran.kept = Some(if ran.run.validity == RunValidity::Valid {
            self.keep(seen, ran.run.at, Some(self.row(name, ran.run.evidence.clone())))?
        } else {
            self.keep_run(&ran.run)?
        });
        Ok(ran)
    }

    /// Runs a part of the tests of a scope: it proves nothing.
    fn part(&mut self, name: &str, words: &[OsString], shown: OutputTarget<'_>) -> Result<TestOutcome> {
        let (own, whole) = self.own(name)?;
        let chosen =
            ChosenCommand { command: added(&whole.command, texts(words))?, origin: CommandOrigin::Part };
        let seen = self.look()?;
        let mut ran = self.run(seen, Some(&own), &chosen, shown)?;
        ran.kept = Some(self.keep_run(&ran.run)?);
        Ok(ran)
    }

    /// Runs `test.command`. Where it passes it speaks for each scope.
    fn all(&mut self, of: AllOf, shown: OutputTarget<'_>) -> Result<TestOutcome> {
        let chosen = ChosenCommand { command: configured(self.ws)?, origin: CommandOrigin::Configured };
        let seen = self.look()?;
        let states = self.states(&seen, Demand::Everything)?;
        let mut ran = self.run(seen.clone(), None, &chosen, shown)?;
        if let Some(checkout) = &self.apart {
            ran.happened_in(checkout, checkout.code);
        }
        compare(self.ws, &mut ran.run)?;
        let is_valid = ran.run.validity == RunValidity::Valid;
        let rest = states.iter().find(|state| of == AllOf::Rest && state.scope.name == REST);
        ran.kept = Some(if is_valid && ran.run.evidence.is_green() {
            let touched = states.iter().map(|state| &state.scope).filter(|scope| scope.touched);
            let row = |scope: &ScopeCode| self.row(&scope.name, of_all(&ran.run.evidence, scope.code));
            let mut rows: Vec<ScopeTests> = touched.map(row).collect();
            rows.sort_by(|a, b| a.name.cmp(&b.name));
            ran.run.evidence.scopes = rows;
            self.done.together = Some(ran.run.clone());
            self.keep_run(&ran.run)?
        } else if let Some(rest) = rest.filter(|_| is_valid) {
            let tests = TestEvidence { code: rest.scope.code, ..ran.run.evidence.clone() };
            self.keep(seen, ran.run.at, Some(self.row(REST, tests)))?
        } else {
            self.keep_run(&ran.run)?
        });
        Ok(ran)
    }

    fn keep_run(&mut self, run: &TestRun) -> Result<RunDestination> {
        let kept = pending::keep(self.ctx, self.ws, run)?;
        self.loaded.take_in_run(run.clone());
        Ok(kept)
    }

    fn row(&self, name: &str, tests: TestEvidence) -> ScopeTests {
        let needs =
            self.ws.config.test.scopes.scopes.needed_by(name).into_iter().map(str::to_owned).collect();
        ScopeTests { name: name.to_owned(), needs, tests, from: None }
    }

    /// Keeps what all scopes of the code that was seen before the tests ran come to, and the result that they gave; after the
    /// last step those of all steps, for only the newest run waits where the journal cannot be written.
    fn keep(
        &mut self,
        seen: TreeSnapshot,
        at: Option<Timestamp>,
        ran: Option<ScopeTests>,
    ) -> Result<RunDestination> {
        let mut states = self.states(&seen, Demand::Everything)?;
        // Its code may have more than git tracks: files that its tests named.
        let new = ran.as_ref().map(|row| row.tests.code);
        if let Some(row) = ran
            && let Some(state) = states.iter_mut().find(|state| state.scope.name == row.name)
        {
            state.found = Some(row);
        }
        let whole = TestedCode::from_overlay(self.at(), seen)?;
        let code = self.apart.as_ref().map_or(whole.code(), |checkout| checkout.code);
        let evidence = TestEvidence::together(code, scopes::rows(&states));
        let mut run = whole.run_of(at, evidence, RunValidity::Valid);
        self.done.together = Some(run.clone());
        self.kept.extend(new);
        // A red one may be the last: what needs it does not start.
        let is_last = self.left == 0 || !run.evidence.is_green();
        let is_told = |code| if is_last { self.kept.contains(&code) } else { new == Some(code) };
        run.evidence.scopes.retain(|row| is_told(row.tests.code));
        self.keep_run(&run)
    }

    /// Nothing had to run: the journal says why, for the gate, unless it does already.
    fn keep_what_is_known(&mut self) -> Result<()> {
        let seen = self.look()?;
        let whole = TestedCode::from_overlay(self.at(), seen.clone())?;
        let code = self.apart.as_ref().map_or(whole.code(), |checkout| checkout.code);
        let says = |run: &&TestRun| {
            let tests = &run.evidence;
            run.validity == RunValidity::Valid
                && tests.code == code
                && (tests.is_green() || tests.command == TestEvidence::OF_SCOPES)
        };
        if let Some(newest) = self.loaded.journal.runs.last().filter(says) {
            self.done.together = Some(newest.clone());
            return Ok(());
        }
        self.done.kept = self.keep(seen, Some(self.ctx.later()), None)?;
        Ok(())
    }
}

/// The evidence for one scope in a passing run of all tests: the number of its own tests is not known.
fn of_all(all: &TestEvidence, code: CodeId) -> TestEvidence {
    TestEvidence {
        errors: all.errors,
        truncated: all.truncated,
        runner: all.runner.clone(),
        command: all.command.clone(),
        ..TestEvidence::new(code, TestStatus::Passed, all.signature)
    }
}
