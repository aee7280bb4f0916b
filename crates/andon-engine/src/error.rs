//! The errors of verbs. `andon::cli::error` gives each its kind, hint and exit code.

use std::path::PathBuf;

use crate::effect::{EffectError, hook_program::HookProgramError, program::ProgramError};
use andon_config::ConfigErrors;
use andon_core::change::normalize::NormalizeError;
use andon_core::domain::{agent::AgentMark, diagnostic::Diagnostic};
use andon_git::{GitError, RemoteError};
use andon_store::{RecordError, ledger::LedgerError};

/// The error of any verb.
#[derive(Debug, thiserror::Error)]
pub enum OpsError {
    /// git could not.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A remote could not be reached, or took nothing.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// A record or the journal could not be read or written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The ledger could not be read or written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigErrors),
    /// An action could not be carried out.
    #[error(transparent)]
    Effect(#[from] EffectError),
    /// A pattern of `[normalize]` is wrong.
    #[error(transparent)]
    Normalize(#[from] NormalizeError),
    /// A chained hook could not be run.
    #[error(transparent)]
    Chain(#[from] HookProgramError),
    /// A program could not be run.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The verb needs a working tree.
    #[error("this repository has no working tree: {}", .0.display())]
    NoWorkTree(PathBuf),
    /// The hooks could not be installed or removed.
    #[error("{what}")]
    Setup {
        /// The failure, as a whole sentence.
        what: String,
        /// Remedies, a line each.
        help: Vec<String>,
        /// The request cannot be met; otherwise the system failed.
        is_usage: bool,
    },
    /// Only a person answers a halt.
    #[error("`andon resume` was called in the shell of an agent ({0}): only a person answers a halt")]
    AgentShell(AgentMark),
    /// Only a person says which agent it is.
    #[error("`andon pin` was called in the shell of an agent ({0}): only a person pins its configuration")]
    AgentPin(AgentMark),
    /// Only a person takes the hooks out of a client.
    #[error(
        "`andon agent uninstall` was called in the shell of an agent ({0}): only a person removes its hooks"
    )]
    AgentUninstall(AgentMark),
    /// Only a person names witnesses and answers rounds.
    #[error("`andon {verb}` was called in the shell of an agent ({marker}): only a person does that")]
    AgentActs {
        /// The command that was called, such as `resume`.
        verb: &'static str,
        /// The marker that gives the shell away.
        marker: AgentMark,
    },
    /// A rule of the review forbids it.
    #[error("{what}")]
    Refused {
        /// The rule, as a whole sentence.
        what: String,
        /// The remedy.
        help: String,
    },
    /// Evidence is not deleted now.
    #[error("nothing was purged: {what}")]
    Purge {
        /// The reason, as the end of the message.
        what: String,
        /// The step to take first.
        help: String,
    },
    /// Nothing to resume.
    #[error("nothing to resume: no halt waits for an answer, and there is no .andon/STOP or .andon/PAUSE")]
    NothingToResume,
    /// An answer without a person who has read the halt.
    #[error("{what}")]
    Unattended {
        /// The missing condition.
        what: String,
        /// The step to take.
        help: String,
    },
    /// `andon resume` needs a reason when a halt is unanswered.
    #[error("a reason is required: say what was decided")]
    ReasonMissing,
    /// A skip that cannot be granted.
    #[error("{what}")]
    Skip {
        /// The request, as a whole sentence.
        what: String,
        /// The command that would be right.
        help: String,
    },
    /// There is no advice that could be recorded.
    #[error("no advice to record: {0}")]
    NoAdvice(String),
    /// Standard input or a file of events could not be read.
    #[error("the events cannot be read: {0}")]
    Input(std::io::Error),
    /// The threads for a long walk could not be started.
    #[error("no threads could be started: {0}")]
    Threads(String),
    /// A step of the demo came out other than it should.
    #[error("the demo failed: {0}")]
    Demo(String),
    /// Wrong use that the argument parser cannot see.
    #[error("{what}")]
    Usage {
        /// The mistake, as a whole sentence.
        what: String,
        /// The right use.
        help: String,
    },
}

impl OpsError {
    /// Wrong use that the argument parser cannot see.
    pub fn usage(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { what: what.into(), help: help.into() }
    }

    /// What a rule forbids.
    pub fn refused(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Refused { what: what.into(), help: help.into() }
    }

    /// A file that the command line names could not be written.
    pub fn of_output(err: &EffectError) -> Self {
        let help = err.help().unwrap_or_else(|| "name another file".to_owned());
        Self::Usage { what: err.to_string(), help }
    }

    /// The exact command that repairs it, where the failed module knows one.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Git(err) => err.help(),
            Self::Remote(err) => err.help(),
            Self::Record(err) => err.help(),
            Self::Ledger(err) => err.help(),
            Self::Effect(err) => err.help(),
            Self::Setup { help, .. } => help.last().cloned(),
            Self::Program(err) => err.help(),
            Self::Usage { help, .. }
            | Self::Refused { help, .. }
            | Self::Unattended { help, .. }
            | Self::Skip { help, .. }
            | Self::Purge { help, .. } => Some(help.clone()),
            Self::Config(_)
            | Self::Normalize(_)
            | Self::Chain(_)
            | Self::NoWorkTree(_)
            | Self::AgentShell(_)
            | Self::AgentPin(_)
            | Self::AgentUninstall(_)
            | Self::AgentActs { .. }
            | Self::NothingToResume
            | Self::ReasonMissing
            | Self::NoAdvice(_)
            | Self::Input(_)
            | Self::Threads(_)
            | Self::Demo(_) => None,
        }
    }

    /// The error as something that was skipped on the way.
    pub fn as_warning(&self) -> Diagnostic {
        let warning = Diagnostic::warning(self.to_string());
        match self.help() {
            Some(help) => warning.help(help),
            None => warning,
        }
    }
}
