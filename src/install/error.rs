//! The ways in which setting up a repository, or putting it back, can fail.

use std::io;
use std::path::{Path, PathBuf};

use super::{Conflict, ModeProblem, managers, mode};
use andon_core::{domain::Hint, escape::shell_quote_bytes};
use andon_engine::{OpsError, VerbError};
use andon_git::{GitError, platform::paths::shell_bytes};

/// The outcome of installing or removing, or the reason why there is none.
pub type Result<T, E = InstallError> = std::result::Result<T, E>;

/// Hooks could not be installed or removed. Nothing was changed, unless it says so.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error(transparent)]
    Git(#[from] GitError),
    /// A bare repository runs none of these hooks.
    #[error("the repository at {} is bare: git runs no commit hooks in it", git_dir.display())]
    Bare {
        /// The git directory of the bare repository.
        git_dir: PathBuf,
    },
    /// The hooks path is set for this command only: installing there would change other repositories.
    #[error(
        "core.hooksPath is set to {value:?} for this command only (git -c, GIT_CONFIG_COUNT or \
         GIT_CONFIG_PARAMETERS): installing there would reach beyond this repository"
    )]
    ForeignHooksPath {
        /// The value of the key, as it is configured.
        value: String,
        /// The command that repairs it.
        hint: String,
    },
    /// The mode that was asked for cannot work here.
    #[error("{}", unfit(.0))]
    ModeProblem(ModeProblem),
    /// The path of this program, which every hook is to start.
    #[error("the path of the andon program is not absolute: {}", program.display())]
    RelativeProgram {
        /// The path as it was given.
        program: PathBuf,
    },
    /// The place for hooks is no directory: hooks are switched off.
    #[error("the hooks path {} is not a directory, so git runs no hooks; {}", dir.display(), Hint::HooksPathOrigin)]
    NoDirectory { dir: PathBuf },
    /// The disk would not have it.
    #[error("cannot {verb} {}: {source}", path.display())]
    Io {
        /// The verb of what was tried, such as `write`.
        verb: &'static str,
        /// The file or directory that it was tried on.
        path: PathBuf,
        source: io::Error,
    },
    /// Files that are not ours to decide about.
    #[error("{}", list(conflicts))]
    Conflicts {
        /// Every hook that is in the way.
        conflicts: Vec<Conflict>,
    },
    /// A file that is not touched, whatever is in it.
    #[error("{} is left alone: {why}; nothing was changed", path.display())]
    LeftAlone {
        /// The path of the file.
        path: PathBuf,
        /// The reason, as a clause.
        why: &'static str,
    },
    /// A file of a hook manager that cannot be edited safely.
    #[error("{} cannot be edited safely: {why}; nothing was changed", path.display())]
    ByHand {
        /// The file of the manager.
        path: PathBuf,
        /// The reason, as the end of a sentence.
        why: String,
        /// The lines that a person adds.
        lines: String,
    },
    /// A person's own file in the place of ours.
    #[error("{} is a file of your own; nothing was changed", path.display())]
    Theirs {
        /// The path of the file.
        path: PathBuf,
        /// The line that makes it do as ours does, where there is one.
        line: Option<String>,
    },
    /// Settings of an agent's client that cannot be read.
    #[error("{}{}: {why}; nothing was changed", path.display(), line.map_or_else(String::new, |line| format!(":{line}")))]
    Settings {
        /// The settings file.
        path: PathBuf,
        /// From 1, where a line is meant.
        line: Option<usize>,
        /// The mistake, as a clause.
        why: String,
    },
    /// The file is no manifest of an installation, or one of a newer version.
    #[error(
        "{} is no install manifest ({why}); move it away: uninstalling then goes by the hooks themselves",
        path.display()
    )]
    Manifest {
        path: PathBuf,
        /// The mistake, with line and column.
        why: String,
    },
    /// Something failed, and so did part of the way back.
    #[error("{cause}; undoing what was done so far failed too, look at: {}", paths(left))]
    HalfUndone {
        /// The failure after which everything was to be taken back.
        cause: Box<InstallError>,
        /// The changes that could not be undone.
        left: Vec<PathBuf>,
    },
}

impl InstallError {
    pub(super) fn io(verb: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { verb, path: path.to_owned(), source }
    }

    /// The command or sentence that helps.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Git(error) => return error.help(),
            Self::Bare { .. } => Hint::MakeCheckout.into(),
            Self::ForeignHooksPath { hint, .. } => hint.clone(),
            Self::ModeProblem(ModeProblem::OldGit(_)) => Hint::InstallMode.with(["shim"]),
            Self::ModeProblem(ModeProblem::NoManager(mode)) => {
                Hint::InstallByShims.with([managers::of(*mode)?.set_up])
            }
            Self::Theirs { line: Some(line), .. } => format!("let it end with this line: {line}"),
            Self::Theirs { path, line: None } => {
                Hint::MoveFileAway.with([&shell_quote_bytes(&shell_bytes(path))])
            }
            Self::ByHand { .. } => Hint::InstallBeside.into(),
            Self::NoDirectory { .. } => Hint::DropHooksPath.into(),
            Self::Conflicts { conflicts } => {
                let commands: Vec<String> = conflicts.iter().map(Conflict::hint).collect();
                Hint::InstallBehind.with([&commands.join(" && ")])
            }
            Self::RelativeProgram { .. } => "start andon by its absolute path".to_owned(),
            Self::Io { path, .. } => andon_git::access_help(path),
            Self::LeftAlone { .. }
            | Self::Settings { .. }
            | Self::Manifest { .. }
            | Self::HalfUndone { .. } => {
                return None;
            }
        })
    }
}

impl From<InstallError> for OpsError {
    fn from(err: InstallError) -> Self {
        let (what, hint) = (err.to_string(), err.help());
        let mut help = Vec::new();
        let kind = match err {
            InstallError::Git(err) => return Self::Git(err),
            InstallError::ByHand { lines, .. } => {
                help.push("add these lines yourself:".to_owned());
                help.extend(lines.lines().map(str::to_owned));
                VerbError::Usage
            }
            InstallError::Bare { .. }
            | InstallError::ForeignHooksPath { .. }
            | InstallError::ModeProblem(_)
            | InstallError::Settings { .. }
            | InstallError::LeftAlone { .. }
            | InstallError::Theirs { .. } => VerbError::Usage,
            InstallError::NoDirectory { .. }
            | InstallError::RelativeProgram { .. }
            | InstallError::Io { .. }
            | InstallError::Conflicts { .. }
            | InstallError::Manifest { .. }
            | InstallError::HalfUndone { .. } => VerbError::Failed,
        };
        help.extend(hint);
        Self::Verb { kind, what, help }
    }
}

fn unfit(unfit: &ModeProblem) -> String {
    let (major, minor, _) = mode::CONFIG_HOOKS_SINCE;
    match unfit {
        ModeProblem::OldGit(Some((a, b, c))) => {
            format!("config hooks need git {major}.{minor}; this is {a}.{b}.{c}")
        }
        ModeProblem::OldGit(None) => {
            format!("config hooks need git {major}.{minor}; the version of this one is not known")
        }
        ModeProblem::NoManager(mode) => format!("{} is not set up here", mode.as_str()),
    }
}

fn list(conflicts: &[Conflict]) -> String {
    conflicts.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
