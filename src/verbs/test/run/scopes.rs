//! `andon test` where the code has scopes: what ran green on this content does not run again.
//!
//! Each result goes into the journal as soon as it is there, together with what is known of the other scopes: what ran
//! before an interruption stays proven, and the newest run says what the whole code is worth.

use std::ffi::OsString;

use super::{
    CommandOrigin, OutputTarget, Ran, RunDestination, WantedTests, arguments, execute_on, keep_not_started,
    unread, validity,
};
use andon_core::domain::ids::{CodeId, CommitId, TreeId};
use andon_core::domain::paths::CONFIG_FILE;
use andon_core::domain::scopes::REST;
use andon_core::domain::tests::{OverlayEntry, RunValidity, ScopeTests, TestEvidence, TestRun, TestStatus};
use andon_core::domain::time::Timestamp;
use andon_engine::apart::{self, Checkout, TestedSubject};
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::evidence::Subject;
use andon_engine::evidence::scopes::{self, KnownScopes, ScopeState};
use andon_engine::pending;
use andon_engine::test_sets;
use andon_engine::tested::{CommandResult, TestedCode};
use andon_engine::timeline::{self, LoadedTimeline};
use andon_engine::untracked;
use andon_engine::workspace::Workspace;
use andon_git::Overlay;

/// Which scopes are to be tested.
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
    /// Its command.
    pub command: String,
}

/// A scope that does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The scope.
    pub name: String,
    /// The commit whose tests passed on this code; `None` where they ran here, for no commit yet.
    pub from: Option<CommitId>,
}

/// What is to run, and what is not.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Plan {
    /// In this order. Where `test.command` comes first and passes, the rest is not needed.
    pub steps: Vec<TestStep>,
    /// Those that passed on this code.
    pub left_out: Vec<LeftOut>,
}

/// What happens, for whoever watches.
pub enum TestProgress<'a> {
    /// The plan is made.
    Planned(&'a Plan),
    /// A step begins.
    Begins(&'a TestStep),
    /// A step ended.
    Ended(&'a TestStep, &'a Ran),
}

/// What came of it.
pub struct ScopesRan {
    /// What did not run.
    pub left_out: Vec<LeftOut>,
    /// The steps that ran, in order, each with its own result.
    pub ran: Vec<(TestStep, Ran)>,
    /// All scopes together, as the journal has it last; `None` where nothing could be kept.
    pub together: Option<TestRun>,
    /// The worst exit code.
    pub code: u8,
    /// Where the last run is kept.
    pub kept: RunDestination,
}

/// What to test, as a scope or its arguments are named on the command line; `None` where that is not about scopes.
///
/// # Errors
/// A word that can only be meant as a scope, and names none.
pub fn choice(ws: &Workspace, all: bool, words: &[OsString]) -> Result<Option<ScopeChoice>, OpsError> {
    let declared = &ws.config.test.scopes.scopes;
    if declared.is_empty() {
        return Ok(None);
    }
    let texts: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    match texts.as_slice() {
        [] if all => Ok(Some(ScopeChoice::All)),
        [] => Ok(Some(ScopeChoice::Missing)),
        _ if all => Ok(None),
        names if names.iter().all(|name| declared.has(name)) => Ok(Some(ScopeChoice::Named(texts))),
        [name, ..] if declared.has(name) => Ok(Some(ScopeChoice::Part(name.clone(), words[1..].to_vec()))),
        [name, ..] if is_word(ws, name) => {
            let known: Vec<&str> = declared.iter().map(|scope| scope.name.as_str()).collect();
            Err(OpsError::Usage {
                what: format!("no scope is called {name}: there are {}", known.join(", ")),
                help: format!(
                    "{} Or, for an argument of test.command: andon test --all {name}",
                    andon_config::suggest(name, known.iter().copied())
                ),
            })
        }
        _ => Ok(None),
    }
}

/// Whether a word is neither an option nor a path nor an expression of a test runner.
fn is_word(ws: &Workspace, word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let there = ws.repo.workdir().is_some_and(|top| top.join(word).exists());
    !word.starts_with('-') && word.bytes().all(plain) && !there
}

/// Everything that stays the same while the scopes run.
struct Session<'a> {
    ctx: &'a Context,
    ws: &'a Workspace,
    /// The checkout, where not the working tree is tested.
    apart: Option<Checkout>,
    loaded: LoadedTimeline,
    known: KnownScopes,
    /// The working tree, as long as nothing ran since it was looked at.
    look: Option<(Overlay, Vec<OverlayEntry>)>,
    done: ScopesRan,
}

/// Runs the tests of the scopes that are wanted.
///
/// # Errors
/// A file belongs to two scopes, a scope has no command, or git, the journal or the checkout fail.
pub fn run(
    ctx: &Context,
    ws: &Workspace,
    (subject, choice): (&TestedSubject, &ScopeChoice),
    shown: OutputTarget<'_>,
    tell: &mut dyn FnMut(TestProgress<'_>),
) -> Result<ScopesRan, OpsError> {
    let mut session = Session::begin(ctx, ws, subject)?;
    let OutputTarget { screens, pass } = shown;
    let plan = session.plan(choice)?;
    session.done.left_out.clone_from(&plan.left_out);
    tell(TestProgress::Planned(&plan));
    for step in plan.steps {
        // Tests of everything that passed speak for each scope.
        let missing = matches!(choice, ScopeChoice::Missing | ScopeChoice::Needed(_));
        if missing && step.name != REST && session.is_green(&step.name)? {
            continue;
        }
        tell(TestProgress::Begins(&step));
        let shown = OutputTarget { screens, pass: &mut *pass };
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
        tell(TestProgress::Ended(&step, &ran));
        session.done.code = session.done.code.max(ran.code);
        session.done.kept = ran.kept;
        session.done.ran.push((step, ran));
    }
    if session.done.ran.is_empty() {
        session.keep_what_is_known()?;
    }
    Ok(session.done)
}

/// What would run, without running it.
///
/// # Errors
/// As [`run`].
pub fn plan(
    ctx: &Context,
    ws: &Workspace,
    subject: &TestedSubject,
    choice: &ScopeChoice,
) -> Result<Plan, OpsError> {
    Session::begin(ctx, ws, subject)?.plan(choice)
}

/// Whom a run of `test.command` speaks for where it does not pass.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AllOf {
    /// Nobody: which scope failed is not known.
    Everything,
    /// The code in no scope.
    Rest,
}

impl<'a> Session<'a> {
    fn begin(ctx: &'a Context, ws: &'a Workspace, subject: &TestedSubject) -> Result<Self, OpsError> {
        ws.top()?;
        let loaded = timeline::load(ws)?;
        let known = KnownScopes::from_timeline(&loaded);
        let (left_out, ran, together) = (Vec::new(), Vec::new(), None);
        let done = ScopesRan { left_out, ran, together, code: 0, kept: RunDestination::InJournal };
        let mut session =
            Self { ctx, ws, apart: apart::checkout(ctx, ws, subject)?, loaded, known, look: None, done };
        session.refuse_in_two()?;
        Ok(session)
    }

    /// A file of two scopes shows where it changed, and all of them do where the configuration changed.
    fn refuse_in_two(&mut self) -> Result<(), OpsError> {
        let (overlay, _) = self.look()?;
        let changed = |path: &[u8]| overlay.entries.iter().any(|entry| entry.path == path);
        if changed(CONFIG_FILE.as_bytes()) {
            let tracked = self.ws.repo.tracked_files()?;
            scopes::refuse_these_in_two(self.ws, tracked.iter().map(|(_, path)| path.as_slice()))?;
        }
        scopes::refuse_these_in_two(self.ws, overlay.entries.iter().map(|entry| entry.path.as_slice()))
    }

    /// Where the tests run.
    fn at(&self) -> &Workspace {
        self.apart.as_ref().map_or(self.ws, |checkout| &checkout.ws)
    }

    /// The working tree, or the checkout, as it is now.
    fn look(&mut self) -> Result<(Overlay, Vec<OverlayEntry>), OpsError> {
        let look = match self.look.take() {
            Some(look) => look,
            None => untracked::tested_overlay(self.at())?,
        };
        self.look = Some(look.clone());
        Ok(look)
    }

    fn states(&mut self) -> Result<Vec<ScopeState>, OpsError> {
        self.states_since(None)
    }

    fn states_since(&mut self, before: Option<TreeId>) -> Result<Vec<ScopeState>, OpsError> {
        let subject = match &self.apart {
            Some(checkout) => Subject::Tree(checkout.tree),
            None => Subject::WorkTree(self.look()?.0),
        };
        scopes::states(self.ws, (&self.loaded, &self.known), &subject, before)
    }

    fn state(&mut self, name: &str) -> Result<Option<ScopeState>, OpsError> {
        Ok(self.states()?.into_iter().find(|state| state.name == name))
    }

    fn is_green(&mut self, name: &str) -> Result<bool, OpsError> {
        Ok(self.state(name)?.is_some_and(|state| state.is_green()))
    }

    fn plan(&mut self, choice: &ScopeChoice) -> Result<Plan, OpsError> {
        let command = |ws: &Workspace, name: &str| {
            let command = ws.config.of_scope(name).and_then(|config| config.test.command);
            command.map(|command| command.display())
        };
        let step = |ws: &Workspace, name: &str| {
            let missing = || OpsError::Usage {
                what: "no command is configured that tests everything".to_owned(),
                help: "set it in andon.toml: [test] command = \"cargo test --workspace\"".to_owned(),
            };
            Ok(TestStep { name: name.to_owned(), command: command(ws, name).ok_or_else(missing)? })
        };
        let named: Vec<&str> = match choice {
            ScopeChoice::All => vec![REST],
            ScopeChoice::Part(name, _) => vec![name],
            ScopeChoice::Named(names) => {
                let order = self.ws.config.test.scopes.scopes.in_order();
                order.into_iter().filter(|name| names.iter().any(|wanted| wanted == name)).collect()
            }
            ScopeChoice::Missing => return self.plan_missing(None, &step),
            ScopeChoice::Needed(before) => return self.plan_missing(*before, &step),
        };
        let steps = named.into_iter().map(|name| step(self.ws, name)).collect::<Result<_, OpsError>>()?;
        Ok(Plan { steps, left_out: Vec::new() })
    }

    fn plan_missing(
        &mut self,
        before: Option<TreeId>,
        step: &dyn Fn(&Workspace, &str) -> Result<TestStep, OpsError>,
    ) -> Result<Plan, OpsError> {
        let is_missing = |state: &ScopeState| state.touched && !state.is_green();
        let mut states = self.states_since(before)?;
        if states.iter().any(is_missing) {
            self.known.take_elsewhere(self.ws, &states)?;
            states = self.states_since(before)?;
        }
        let mut plan = Plan::default();
        for state in states.iter().filter(|state| state.touched) {
            match &state.found {
                Some(found) if found.tests.is_green() => {
                    plan.left_out.push(LeftOut { name: state.name.clone(), from: found.from });
                }
                Some(_) | None => plan.steps.push(step(self.ws, &state.name)?),
            }
        }
        Ok(plan)
    }

    /// Runs the tests of one scope.
    fn scope(&mut self, name: &str, shown: OutputTarget<'_>) -> Result<Ran, OpsError> {
        let seen = self.look()?;
        let gone = || OpsError::Usage {
            what: format!("no scope is called {name}"),
            help: "andon test --scopes".to_owned(),
        };
        let own = self.at().of_scope(name).ok_or_else(gone)?;
        let command = own.config.test.command.clone().ok_or_else(gone)?;
        let whole = TestedCode::from_overlay(self.at(), seen.clone())?;
        let tested = TestedCode::from_overlay(&own, seen)?;
        self.look = None;
        let (tested, executed) = execute_on(self.ctx, &own, tested, &command, shown)?;
        let CommandResult { end, parsed, since, mut warnings } = match executed {
            Ok(executed) => executed,
            Err(error) => return self.not_started(tested, &command, &error),
        };
        let unread = unread(&own, &parsed, &command);
        let validity = validity(CommandOrigin::Yes, &end, &since, &parsed);
        test_sets::keep(self.ws, &parsed);
        let code = match self.apart {
            Some(_) => self.state(name)?.map_or(tested.code(), |state| state.code),
            None => tested.code(),
        };
        let mut run = tested.run(Some(self.ctx.later()), parsed, &command.display(), validity);
        run.evidence.code = code;
        let kept = if validity == RunValidity::Valid {
            let row = self.row(name, run.evidence.clone());
            self.known.add(row.clone());
            self.keep(whole, run.at, Some(row))?
        } else {
            pending::keep(self.ctx, self.ws, &run)?
        };
        if let Some(checkout) = self.apart.as_ref().filter(|_| end.code() != 0) {
            warnings.extend(checkout.differs());
        }
        Ok(Ran { run, code: end.code(), kept, warnings, unread, asked: WantedTests::Configured })
    }

    /// Runs a part of the tests of a scope: it proves nothing.
    fn part(&mut self, name: &str, words: &[OsString], shown: OutputTarget<'_>) -> Result<Ran, OpsError> {
        let seen = self.look()?;
        let gone = || OpsError::Usage {
            what: format!("no scope is called {name}"),
            help: "andon test --scopes".to_owned(),
        };
        let own = self.at().of_scope(name).ok_or_else(gone)?;
        let configured = own.config.test.command.clone().ok_or_else(gone)?;
        let texts = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let command = arguments::added(&configured, texts)?;
        let tested = TestedCode::from_overlay(&own, seen)?;
        let (tested, executed) = execute_on(self.ctx, &own, tested, &command, shown)?;
        let CommandResult { end, parsed, since, warnings } = match executed {
            Ok(executed) => executed,
            Err(error) => return self.not_started(tested, &command, &error),
        };
        let validity = validity(CommandOrigin::No, &end, &since, &parsed);
        let run = tested.run(Some(self.ctx.later()), parsed, &command.display(), validity);
        let kept = pending::keep(self.ctx, self.ws, &run)?;
        let (unread, asked) = (super::Unread::No, WantedTests::Part(words.to_vec()));
        Ok(Ran { run, code: end.code(), kept, warnings, unread, asked })
    }

    /// Runs `test.command`. Where it passes it speaks for each scope.
    fn all(&mut self, of: AllOf, shown: OutputTarget<'_>) -> Result<Ran, OpsError> {
        let states = self.states()?;
        let seen = self.look()?;
        let (command, _) = super::choose(self.ws, &WantedTests::Configured)?;
        let whole = TestedCode::from_overlay(self.at(), seen.clone())?;
        let tested = TestedCode::from_overlay(self.at(), seen)?;
        self.look = None;
        let (tested, executed) = execute_on(self.ctx, self.at(), tested, &command, shown)?;
        let CommandResult { end, parsed, since, mut warnings } = match executed {
            Ok(executed) => executed,
            Err(error) => return self.not_started(tested, &command, &error),
        };
        let unread = unread(self.ws, &parsed, &command);
        let validity = validity(CommandOrigin::Yes, &end, &since, &parsed);
        test_sets::keep(self.ws, &parsed);
        let code = self.apart.as_ref().map_or(tested.code(), |checkout| checkout.code);
        let mut run = tested.run(Some(self.ctx.later()), parsed, &command.display(), validity);
        run.evidence.code = code;
        super::compare(self.ws, &mut run)?;
        let valid = run.validity == RunValidity::Valid;
        let kept = if valid && run.evidence.is_green() {
            let mut rows = Vec::new();
            for state in states.iter().filter(|state| state.touched) {
                let own = of_all(&run.evidence, state.code);
                let row = self.row(&state.name, own);
                self.known.add(row.clone());
                rows.push(row);
            }
            rows.sort_by(|a, b| a.name.cmp(&b.name));
            run.evidence.scopes = rows;
            self.done.together = Some(run.clone());
            pending::keep(self.ctx, self.ws, &run)?
        } else if let Some(rest) =
            states.iter().find(|state| valid && of == AllOf::Rest && state.name == REST)
        {
            let own = TestEvidence { code: rest.code, ..run.evidence.clone() };
            let row = self.row(REST, own);
            self.known.add(row.clone());
            self.keep(whole, run.at, Some(row))?
        } else {
            pending::keep(self.ctx, self.ws, &run)?
        };
        if let Some(checkout) = self.apart.as_ref().filter(|_| end.code() != 0) {
            warnings.extend(checkout.differs());
        }
        Ok(Ran { run, code: end.code(), kept, warnings, unread, asked: WantedTests::Configured })
    }

    /// A command that could not be started keeps no other scope from running.
    fn not_started(
        &mut self,
        tested: TestedCode,
        command: &andon_config::TestCommand,
        error: &andon_engine::effect::program::ProgramError,
    ) -> Result<Ran, OpsError> {
        let run = keep_not_started(self.ctx, self.ws, tested, command, error)?;
        let (warnings, unread, asked) =
            (error.help().into_iter().collect(), super::Unread::No, WantedTests::Configured);
        Ok(Ran { run, code: 127, kept: RunDestination::InJournal, warnings, unread, asked })
    }

    fn row(&self, name: &str, tests: TestEvidence) -> ScopeTests {
        let needs =
            self.ws.config.test.scopes.scopes.needed_by(name).into_iter().map(str::to_owned).collect();
        ScopeTests { name: name.to_owned(), needs, tests, from: None }
    }

    /// Keeps what is known of all scopes of the code that was looked at.
    fn keep(
        &mut self,
        whole: TestedCode,
        at: Option<Timestamp>,
        ran: Option<ScopeTests>,
    ) -> Result<RunDestination, OpsError> {
        // What else was edited while these tests ran shows by its own fingerprint. That of the scope that ran may have
        // more than git tracks: files that its tests named.
        let mut states = self.states()?;
        if let Some(row) = ran
            && let Some(state) = states.iter_mut().find(|state| state.name == row.name)
        {
            state.found = Some(row);
        }
        let code = self.apart.as_ref().map_or(whole.code(), |checkout| checkout.code);
        let evidence = scopes::together(&self.loaded, code, &states);
        let run = whole.run_of(at, evidence, RunValidity::Valid);
        self.done.together = Some(run.clone());
        pending::keep(self.ctx, self.ws, &run)
    }

    /// Nothing had to run: the journal says why, for the gate, unless it does already.
    fn keep_what_is_known(&mut self) -> Result<(), OpsError> {
        let seen = self.look()?;
        let whole = TestedCode::from_overlay(self.at(), seen)?;
        let code: CodeId = self.apart.as_ref().map_or(whole.code(), |checkout| checkout.code);
        let newest = self.loaded.runs.last();
        if newest.is_some_and(|run| run.evidence.code == code && !run.evidence.scopes.is_empty()) {
            self.done.together = newest.cloned();
            return Ok(());
        }
        self.done.kept = self.keep(whole, Some(self.ctx.later()), None)?;
        Ok(())
    }
}

/// What a passing run of all tests says about one scope: how many of them are its own is not known.
fn of_all(all: &TestEvidence, code: CodeId) -> TestEvidence {
    TestEvidence {
        code,
        status: TestStatus::Passed,
        counts: testreport::Counts::default(),
        failing: Vec::new(),
        caveats: andon_core::domain::tests::Caveats::default(),
        scopes: Vec::new(),
        ..all.clone()
    }
}
