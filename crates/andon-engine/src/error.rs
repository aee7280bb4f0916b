//! The errors of verbs. `andon::cli::error` gives each its kind, hint and exit code.

use std::path::PathBuf;

use crate::effect::{EffectError, HookProgramError, ProgramError};
use andon_config::ConfigErrors;
use andon_core::change::normalize::NormalizeError;
use andon_core::domain::{AgentMark, Diagnostic, Hint};
use andon_git::{GitError, RemoteError};
use andon_store::{LedgerError, RecordError};

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
    /// Standard input or a file of events could not be read.
    #[error("the events cannot be read: {0}")]
    Input(std::io::Error),
    /// The verb itself refuses or fails.
    #[error("{what}")]
    Verb { kind: VerbError, what: String, help: Vec<String> },
}

/// The classes of a verb's own errors: each has its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerbError {
    /// Wrong use that the argument parser cannot see.
    Usage,
    /// `andon resume` needs a reason when a halt is unanswered.
    ReasonMissing,
    /// A skip that cannot be granted.
    Skip,
    /// Only a person may, and this is the shell of an agent.
    AgentShell,
    /// An answer without a person who has read the halt.
    Unattended,
    /// A rule of the review forbids it.
    Refused,
    /// Evidence is not deleted now.
    Purge,
    /// There is nothing to answer, or no answer.
    Unanswerable,
    /// The system failed, or Andon.
    Failed,
}

impl OpsError {
    /// A verb's own error with one remedy.
    pub fn verb(kind: VerbError, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Verb { kind, what: what.into(), help: vec![help.into()] }
    }

    /// Wrong use that the argument parser cannot see.
    pub fn usage(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self::verb(VerbError::Usage, what, help)
    }

    /// The error for something that a rule forbids.
    pub fn refused(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self::verb(VerbError::Refused, what, help)
    }

    /// There is nothing to resume.
    pub fn nothing_to_resume() -> Self {
        let what =
            "nothing to resume: no halt waits for an answer, and there is no .andon/STOP or .andon/PAUSE";
        Self::verb(VerbError::Unanswerable, what, Hint::Status)
    }

    /// A verb that only a person may call was called in the shell of an agent.
    pub fn in_agent_shell(verb: &str, mark: &AgentMark) -> Self {
        let (person, call) = match verb {
            "resume" => ("answers a halt", "resume --reason '<decision>'"),
            "pin" => ("pins its configuration", "pin"),
            "uninstall" => ("takes its hooks out", "uninstall"),
            "agent uninstall" => ("removes its hooks", "agent uninstall CLIENT"),
            verb => ("does that", verb),
        };
        let what =
            format!("`andon {verb}` was called in the shell of an agent ({mark}): only a person {person}");
        Self::verb(VerbError::AgentShell, what, Hint::AsPerson.with([call]))
    }

    /// A file that the command line names could not be written.
    pub fn of_output(err: &EffectError) -> Self {
        Self::usage(err.to_string(), err.help().unwrap_or_else(|| "name another file".to_owned()))
    }

    /// The exact command that repairs it, where the failed module knows one.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Git(err) => err.help(),
            Self::Remote(err) => err.help(),
            Self::Record(err) => err.help(),
            Self::Ledger(err) => err.help(),
            Self::Effect(err) => err.help(),
            Self::Program(err) => err.help(),
            Self::Verb { help, .. } => help.last().cloned(),
            Self::Normalize(_) => Some(Hint::CheckConfig.into()),
            Self::NoWorkTree(_) => Some(Hint::MakeCheckout.into()),
            Self::Input(_) => Some("give a file that can be read, or `-` for standard input".to_owned()),
            Self::Config(_) | Self::Chain(_) => None,
        }
    }

    /// The error as something that was skipped on the way.
    pub fn as_warning(&self) -> Diagnostic {
        Diagnostic::warning(self.to_string()).helps(self.help())
    }
}

/// The value that was found. Where an error is in its way, the default takes its place, and one of the warnings says why.
pub fn or_warn<T: Default>(found: Result<T, impl Into<OpsError>>, warnings: &mut Vec<Diagnostic>) -> T {
    found.unwrap_or_else(|error| {
        let warning = error.into().as_warning();
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
        T::default()
    })
}
