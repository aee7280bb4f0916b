//! `andon doctor`: what is installed, what is missing, which ways around the guard are open.
//!
//! Looking (`gather`, through git and the disk) and judging (`checks`, pure) are apart: every judgement has its test, and
//! a repository too broken to look at still gets an answer.

mod checks;
mod gather;
mod live;
#[cfg(test)]
mod tests;

use std::{ffi::OsString, path::PathBuf};

use clap::Args;
use serde::Serialize;
use serde_json::json;

use crate::cli::{Exit, FormatArg, Shell, error::config_diagnostics};
use crate::install::{HookState, Integration};
use crate::setup::{ClientHooks, FetchState, GuardState, Override, SharedHooksPath, clients};
use andon_config::TestCommand;
use andon_core::domain::{Hint, Presence};
use andon_core::escape;
use andon_engine::test_program::{self, TestProgram};
use andon_engine::text::{Page, Style, page::with_command};
use andon_engine::{Result, Workspace};
use andon_git::{GitError, Repo, SourcedValue};

/// Exit code 1 when a check failed.
pub fn run(shell: &Shell, args: &DoctorArgs) -> Result<Exit> {
    let diagnosis = match Repo::open(&shell.ctx.cwd, &shell.ctx.repo_env) {
        Ok(repo) => {
            let clients = clients::gather(&shell.ctx, Some(&repo));
            let sent = if args.live { live::live(&shell.ctx, &repo, &clients) } else { Vec::new() };
            let mut diagnosis = checks::checks(&gather::gather(&repo, outside(shell, clients)?)?);
            diagnosis.checks.extend(sent);
            diagnosis
        }
        Err(error) => unopened(&error),
    };
    let document = json!({ "state": diagnosis.worst(), "checks": diagnosis.checks });
    shell.show(args.format.format, "doctor", &document, |style| diagnosis.to_text(style));
    Ok(if diagnosis.worst() == State::Fail { Exit::Refused } else { Exit::Allowed })
}

fn program(shell: &Shell, ws: &Workspace) -> TestProgram {
    match (&ws.config.test.command, ws.repo.workdir()) {
        (Some(command), Some(top)) => test_program::look(&shell.ctx, top, command),
        (None, _) | (_, None) => TestProgram::There,
    }
}

fn outside(shell: &Shell, clients: Vec<ClientHooks>) -> Result<CallerFacts> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let config = match ws.config_errors.as_ref().map(config_diagnostics) {
        None if ws.repo.workdir().is_some_and(|top| !top.join("andon.toml").exists()) => {
            Check::ok("config", "there is no andon.toml: the defaults are used")
        }
        None => Check::ok("config", "andon.toml can be read"),
        Some(found) => {
            let message = found.first().map(ToString::to_string).unwrap_or_default();
            Check::fail("config", message, Hint::CheckConfig)
        }
    };
    Ok(CallerFacts {
        program: shell.ctx.program.clone().unwrap_or_default(),
        config,
        test_command: ws.config.test.command.as_ref().map(TestCommand::display),
        test_program: program(shell, &ws),
        last_run: gather::last_run(&ws),
        journal: gather::journal(&ws),
        ledger: gather::ledger(&ws),
        answers: gather::answers(&ws),
        switch: shell.ctx.var("ANDON").map(Into::into),
        rewrite_ref_env: shell.ctx.var("GIT_NOTES_REWRITE_REF").map(Into::into),
        clients,
    })
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Send a canary through the hook of each agent's client that has Andon's, a tool call that is always refused, and a test notice to the program of `[notify]`
    #[arg(long)]
    pub live: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

andon_core::named_enum! {
    /// The outcome of a check.
    pub enum State, "ok, warn or fail" {
        /// As it should be.
        Ok = "ok",
        /// It works, and something can go wrong or round it.
        Warn = "warn",
        /// The guard does not hold.
        Fail = "fail",
    }
}

/// One answer of the doctor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// A stable name, such as `hook-pre-commit`.
    pub id: String,
    pub state: State,
    /// The finding, in a sentence.
    pub message: String,
    /// The command or sentence that helps.
    #[serde(rename = "mend")]
    pub hint: Option<String>,
}

impl Check {
    fn new(id: impl Into<String>, state: State, message: impl Into<String>, hint: Option<String>) -> Self {
        Self { id: id.into(), state, message: message.into(), hint }
    }

    fn ok(id: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(id, State::Ok, message, None)
    }

    fn warn(id: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(id, State::Warn, message, Some(hint.into()))
    }

    fn fail(id: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(id, State::Fail, message, Some(hint.into()))
    }
}

/// Everything the doctor found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// In the order in which they are shown.
    pub checks: Vec<Check>,
}

impl Diagnosis {
    /// The worst state; `Ok` for no checks.
    fn worst(&self) -> State {
        self.checks.iter().map(|check| check.state).max().unwrap_or(State::Ok)
    }

    /// For a terminal: a line a check, its hint below it, harmless whatever the configuration holds.
    fn to_text(&self, style: Style) -> String {
        let mut page = Page::new(style);
        for check in &self.checks {
            let state = format!("{:<4}  ", check.state.as_str());
            page.wrap(&state, &escape::terminal(&format!("{}: {}", check.id, check.message)), "      ");
            if let Some(hint) = &check.hint {
                page.wrap("      help: ", &with_command(&escape::terminal(hint)), "        ");
            }
        }
        page.finish()
    }
}

/// The diagnosis of a directory whose repository cannot even be opened.
fn unopened(error: &GitError) -> Diagnosis {
    Diagnosis { checks: vec![Check::new("repository", State::Fail, error.to_string(), error.help())] }
}

/// Facts that the caller knows and the repository does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerFacts {
    /// The running program, absolute.
    pub program: PathBuf,
    /// `andon.toml` and the user's file.
    pub config: Check,
    /// `test.command`, if one is set.
    pub test_command: Option<String>,
    pub test_program: TestProgram,
    /// The last run of the tests, where it proves nothing.
    pub last_run: Option<Check>,
    pub journal: Check,
    pub ledger: Check,
    /// The answers that end a halt, and what they leave open.
    pub answers: Check,
    /// The value of `ANDON`.
    pub switch: Option<OsString>,
    /// The value of `GIT_NOTES_REWRITE_REF`, which overrides `notes.rewriteRef`.
    pub rewrite_ref_env: Option<OsString>,
    /// The hooks in agents' clients.
    pub clients: Vec<ClientHooks>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HooksPlace {
    /// The directory that git looks into.
    pub dir: PathBuf,
    pub decided_by: Override,
    /// The mode, and whether it still holds, where Andon was installed otherwise than by hooks of its own.
    pub managed: Option<(Integration, GuardState)>,
    /// `Present` if git starts Andon for the patches of `git am`.
    pub patches: Presence,
    /// The hooks in it, or why it cannot be looked at.
    pub hooks: Result<Vec<HookState>, String>,
    /// The hooks path of all repositories, if there is one.
    pub shared: Option<SharedHooksPath>,
    /// The hooks in it run those of all repositories.
    pub leads_on: bool,
}

/// Everything that is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryFacts {
    pub outside: CallerFacts,
    /// The place of the hooks, or the reason why it is unknown.
    pub place: Result<HooksPlace, String>,
    /// Programs that shims start and that are not there.
    pub missing_programs: Vec<PathBuf>,
    /// A configuration of pre-commit or prek names andon.
    pub framework: Presence,
    /// The manifest of the installation, where it cannot be read, and why.
    pub manifest: Option<(PathBuf, String)>,
    /// The values of `notes.displayRef`.
    pub display_refs: Vec<SourcedValue>,
    /// The values of `notes.rewriteRef`.
    pub rewrite_refs: Vec<SourcedValue>,
    /// `refs/notes/andon` is here.
    pub notes: Presence,
    /// Records of remotes that are here, under `refs/notes/remotes/`.
    pub fetched: Vec<String>,
    /// There is a commit at all.
    pub commits: Presence,
    pub remotes: Vec<FetchState>,
    /// Lock files of our refs that are there now.
    pub locks: Vec<PathBuf>,
    /// Directories that have to be written and cannot, with what the system says.
    pub unwritable: Vec<(PathBuf, String)>,
    /// History was cut.
    pub is_shallow: bool,
    /// Objects are fetched on demand.
    pub is_partial: bool,
}
