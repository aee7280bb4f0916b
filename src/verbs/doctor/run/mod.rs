//! `andon doctor`: what is installed, what is missing, which ways around the guard are open.
//!
//! Looking ([`gather()`], through git and the disk) and judging ([`checks()`], pure) are apart: every judgement
//! has its test, and a repository too broken to look at still gets an answer.

pub mod canary;
mod checks;
mod gather;
pub mod health;
mod live;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::PathBuf;

use serde::Serialize;

pub use self::checks::checks;
pub use self::gather::gather;
pub use self::live::live;
use crate::install::inspect::HookState;
use crate::install::mode::Integration;
use crate::setup::clients::ClientHooks;
use crate::setup::fetch::FetchState;
use crate::setup::live::GuardState;
use crate::setup::place::{Override, SharedHooksPath};
use andon_core::domain::facts::Presence;
use andon_core::escape;
use andon_engine::test_program::TestProgram;
use andon_engine::text::page::{Page, with_command};
use andon_engine::text::style::Style;
use andon_git::{GitError, SourcedValue};

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// As it should be.
    Ok,
    /// It works, and something can go wrong or round it.
    Warn,
    /// The guard does not hold.
    Fail,
}

impl State {
    /// The word in text and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One answer of the doctor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// A stable name, such as `hook-pre-commit`.
    pub id: String,
    /// How it came out.
    pub state: State,
    /// What was found.
    pub message: String,
    /// The command or sentence that helps.
    #[serde(rename = "mend")]
    pub hint: Option<String>,
}

/// The answers for programs.
#[derive(Debug, Serialize)]
pub struct DiagnosisJson<'a> {
    state: State,
    checks: &'a [Check],
}

/// Everything the doctor found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// In the order in which they are shown.
    pub checks: Vec<Check>,
}

impl Diagnosis {
    /// The worst state; `Ok` for no checks.
    pub fn worst(&self) -> State {
        self.checks.iter().map(|check| check.state).max().unwrap_or(State::Ok)
    }

    /// For a terminal: a line a check, its hint below it, harmless whatever the configuration holds.
    pub fn to_text(&self, style: Style) -> String {
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

    /// The same value for programs.
    pub fn to_json(&self) -> DiagnosisJson<'_> {
        DiagnosisJson { state: self.worst(), checks: &self.checks }
    }
}

/// The diagnosis of a directory whose repository cannot even be opened.
pub fn unopened(error: &GitError) -> Diagnosis {
    let (message, hint) = (error.to_string(), error.help());
    Diagnosis { checks: vec![Check { id: "repository".to_owned(), state: State::Fail, message, hint }] }
}

/// Whether something that another module keeps can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// It can; the message says what there is.
    Fine(String),
    /// It can, with losses.
    Shaky {
        /// What is wrong.
        message: String,
        /// The command that repairs it.
        hint: Option<String>,
    },
    /// It cannot.
    Broken {
        /// What is wrong.
        message: String,
        /// The command that repairs it.
        hint: Option<String>,
    },
}

/// How the last run of the tests could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LastTests {
    /// By a report; or nothing ran yet, or only the exit code is wanted.
    Read,
    /// By its exit code alone.
    ByExitCode,
    /// There was nothing to run, as this line says.
    NotStarted(String),
}

/// What the caller knows and the repository does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerFacts {
    /// The running program, absolute.
    pub program: PathBuf,
    /// `andon.toml` and the user's file.
    pub config: Health,
    /// `test.command`, if one is set.
    pub test_command: Option<String>,
    /// Whether its program is there.
    pub test_program: TestProgram,
    /// What the last run of the tests left to be wished for.
    pub last_run: LastTests,
    /// How the journal reads.
    pub journal: Health,
    /// How the ledger reads.
    pub ledger: Health,
    /// What ends a halt, and what that leaves open.
    pub answers: Health,
    /// The value of `ANDON`.
    pub switch: Option<OsString>,
    /// The value of `GIT_NOTES_REWRITE_REF`, which overrides `notes.rewriteRef`.
    pub rewrite_ref_env: Option<OsString>,
    /// The hooks in agents' clients.
    pub clients: Vec<ClientHooks>,
}

/// Where the hooks are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HooksPlace {
    /// The directory that git looks into.
    pub dir: PathBuf,
    /// Who says so.
    pub decided_by: Override,
    /// The exact fix, where it is not this repository.
    pub hint: Option<String>,
    /// In which way Andon was installed, and whether that still holds, where it is not by hooks of its own.
    pub managed: Option<(Integration, GuardState)>,
    /// Whether git starts Andon for the patches of `git am`.
    pub patches: Presence,
    /// The hooks in it, or why it cannot be looked at.
    pub hooks: Result<Vec<HookState>, String>,
    /// The hooks path of all repositories, if there is one.
    pub shared: Option<SharedHooksPath>,
    /// Whether the hooks in it run those of all repositories.
    pub leads_on: bool,
}

/// The records of this clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Records {
    /// Whether `refs/notes/andon` is here.
    pub notes: Presence,
    /// Records of remotes that are here, under `refs/notes/remotes/`.
    pub fetched: Vec<String>,
    /// Whether there is a commit at all.
    pub commits: Presence,
}

/// Everything that is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryFacts {
    /// What the caller knows.
    pub outside: CallerFacts,
    /// Where hooks are, or why that is unknown.
    pub place: Result<HooksPlace, String>,
    /// Programs that shims start and that are not there.
    pub missing_programs: Vec<PathBuf>,
    /// Whether a configuration of pre-commit or prek names andon.
    pub framework: Presence,
    /// The values of `notes.displayRef`.
    pub display_refs: Vec<SourcedValue>,
    /// The values of `notes.rewriteRef`.
    pub rewrite_refs: Vec<SourcedValue>,
    /// How many records there are, and how they read.
    pub records: Records,
    /// What each remote fetches.
    pub remotes: Vec<FetchState>,
    /// Lock files of our refs that are there now.
    pub locks: Vec<PathBuf>,
    /// Directories that have to be written and cannot, with what the system says.
    pub unwritable: Vec<(PathBuf, String)>,
    /// What the repository lacks.
    pub limits: Vec<Limit>,
}

/// A feature of the repository that costs Andon something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// History was cut.
    Shallow,
    /// Objects are fetched on demand.
    Partial,
}
