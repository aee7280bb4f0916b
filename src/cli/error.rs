//! Errors at the edge: each gets its kind, its hint and its exit code, in one exhaustive match.

use andon_config::ConfigErrors;
use andon_core::domain::{Diagnostic, Hint, plural::count};
use andon_engine::{OpsError, VerbError};
use andon_git::RemoteError;
use andon_store::{LedgerError, RecordError};

/// Exit codes (docs/exit-codes.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Allowed,
    /// Blocked or halted, or `check` found a violation.
    Refused,
    /// Wrong usage or configuration.
    Usage,
    /// Evidence is missing where it is required.
    Undecided,
    /// The context window must be compacted before the loop goes on.
    CompactFirst,
    /// The loop may go on, and a round waits for a person.
    Waiting,
    /// Internal error.
    Internal,
    /// The exit code of a program that was passed through.
    Passed(u8),
}

impl Exit {
    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Self::Allowed => 0,
            Self::Refused => 1,
            Self::Usage => 2,
            Self::Undecided => 3,
            Self::CompactFirst => 4,
            Self::Waiting => 5,
            Self::Internal => 70,
            Self::Passed(code) => code,
        }
    }
}

/// The exit code for an error.
pub fn exit_of(error: &OpsError) -> Exit {
    match error {
        // Before usage: behind the cut of a shallow clone a revision is unknown without any mistake.
        OpsError::Git(err) | OpsError::Record(RecordError::Git(err)) if err.is_cut_off() => Exit::Undecided,
        OpsError::Git(err) if err.is_usage() => Exit::Usage,
        OpsError::Remote(RemoteError::Unknown { .. } | RemoteError::Bundle { .. })
        | OpsError::Ledger(LedgerError::Signing(_) | LedgerError::NotHeld(_))
        | OpsError::Config(_)
        | OpsError::Normalize(_)
        | OpsError::Input(_)
        | OpsError::NoWorkTree(_) => Exit::Usage,
        OpsError::Verb { kind, .. } => match kind {
            VerbError::Usage | VerbError::ReasonMissing | VerbError::Skip => Exit::Usage,
            VerbError::AgentShell
            | VerbError::Unattended
            | VerbError::Refused
            | VerbError::Purge
            | VerbError::Unanswerable => Exit::Refused,
            VerbError::Failed => Exit::Internal,
        },
        // Nothing is known of what others recorded.
        OpsError::Record(RecordError::Unreadable { .. })
        | OpsError::Remote(
            RemoteError::Unreachable { .. } | RemoteError::Dropped { .. } | RemoteError::Raced { .. },
        ) => Exit::Undecided,
        // As the shells say it.
        OpsError::Program(_) => Exit::Passed(127),
        OpsError::Git(_)
        | OpsError::Remote(RemoteError::Git(_))
        | OpsError::Record(_)
        | OpsError::Ledger(_)
        | OpsError::Effect(_)
        | OpsError::Chain(_) => Exit::Internal,
    }
}

/// The messages of an error, each with the command that repairs it.
pub fn diagnostics(error: &OpsError) -> Vec<Diagnostic> {
    if let OpsError::Config(errors) = error {
        return config_diagnostics(errors);
    }
    let one = Diagnostic::error(error.to_string());
    let OpsError::Verb { kind, help, .. } = error else { return vec![one.helps(error.help())] };
    let one = one.helps(help.clone());
    vec![match kind {
        VerbError::AgentShell => one.code("agent-shell"),
        VerbError::Unattended => one.code("unattended"),
        VerbError::Refused => one.code("witness"),
        VerbError::Purge => one.code("purge"),
        VerbError::Skip => one.code("skip"),
        VerbError::Usage | VerbError::ReasonMissing | VerbError::Unanswerable | VerbError::Failed => one,
    }]
}

/// A panic, behind what Rust says of it.
pub fn panicked() -> Diagnostic {
    Diagnostic::error("internal error: this is a defect in Andon")
        .code("internal")
        .help("please report it with the lines above")
}

/// Every mistake of a configuration, each at its place.
pub fn config_diagnostics(errors: &ConfigErrors) -> Vec<Diagnostic> {
    let mut shown = errors.errors.clone();
    if errors.more > 0 {
        shown.push(
            Diagnostic::note(format!("and {}", count(errors.more, "more mistake"))).help(Hint::CheckConfig),
        );
    }
    shown
}
