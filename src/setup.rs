//! What installing leaves in a repository, and what can be wrong with it.

pub mod ask;
pub mod clients;
pub mod fetch;
pub mod leftovers;
pub mod live;
pub mod place;
mod trust;

use std::io;
use std::path::{Path, PathBuf};

use crate::install::InstallError;
use crate::install::husky::Layout;
use crate::install::mode::{self, Integration, ModeProblem};
use andon_core::domain::git_hook::GitHook;
use andon_core::escape::shell_quote_bytes;
use andon_engine::error::OpsError;
use andon_git::platform::paths::shell_bytes;
use andon_git::{ConfigScope, GitError, Repo};

/// The key that makes `git log` show notes.
pub const DISPLAY_REF_KEY: &str = "notes.displayRef";

/// What is added to [`DISPLAY_REF_KEY`]. A pattern, because git warns at every `git log` about a plain name
/// whose ref is not there yet, and it is not before the first recorded commit.
pub const DISPLAY_REF: &str = "refs/notes/andon*";

/// The ref of the records.
pub const NOTES_REF: &str = "refs/notes/andon";

/// Why a repository could not be set up or put back.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// git.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The hooks.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// A bare repository runs none of these hooks.
    #[error("the repository at {} is bare: git runs no commit hooks in it", git_dir.display())]
    Bare {
        /// The git directory.
        git_dir: PathBuf,
    },
    /// The hooks path is set where installing would change every repository of the user or the machine.
    #[error("core.hooksPath is set to {value:?} {}: installing there would reach beyond this repository", whence(*scope, origin))]
    ForeignHooksPath {
        /// The scope of the configuration file.
        scope: ConfigScope,
        /// The file that sets it, or `command line`.
        origin: String,
        /// The value as configured.
        value: String,
        /// The command that repairs it.
        hint: String,
    },
    /// The mode that was asked for cannot work here.
    #[error("{}", unfit(.0))]
    ModeProblem(ModeProblem),
    /// A file of the working tree.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The path of the file, as it was opened.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The path of this program, which every hook is to start.
    #[error("the path of the andon program is not absolute: {}", program.display())]
    RelativeProgram {
        /// As it was given.
        program: PathBuf,
    },
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

fn whence(scope: ConfigScope, origin: &str) -> String {
    match scope {
        ConfigScope::Command => {
            "for this command only (git -c, GIT_CONFIG_COUNT or GIT_CONFIG_PARAMETERS)".to_owned()
        }
        ConfigScope::System => format!("for the whole machine by {origin}"),
        ConfigScope::Global => format!("for all your repositories by {origin}"),
        ConfigScope::Local | ConfigScope::Worktree => format!("by {origin}"),
    }
}

impl SetupError {
    /// The command or sentence that helps.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Git(error) => error.help(),
            Self::Bare { .. } => {
                Some("run it in a clone, or in a linked worktree (git worktree add DIR BRANCH)".to_owned())
            }
            Self::ForeignHooksPath { hint, .. } => Some(hint.clone()),
            Self::ModeProblem(ModeProblem::OldGit(_)) => Some("andon install --mode shim".to_owned()),
            Self::ModeProblem(ModeProblem::NoManager(mode)) => Some(match mode {
                Integration::Husky => "npx husky init, or: andon install --mode shim".to_owned(),
                Integration::Lefthook => "write a lefthook.yml, or: andon install --mode shim".to_owned(),
                Integration::Shim | Integration::Config | Integration::PreCommit => {
                    "write a .pre-commit-config.yaml, or: andon install --mode shim".to_owned()
                }
            }),
            Self::Install(InstallError::Theirs { path, line }) => Some(match line {
                Some(line) => format!("let it end with this line: {line}"),
                None => format!("move it away: mv {0} {0}.own", quoted(path)),
            }),
            Self::Install(InstallError::ByHand { .. }) => {
                Some("or leave the file as it is: andon install --mode shim".to_owned())
            }
            Self::Install(InstallError::NoDirectory { .. }) => {
                Some("git config --local --unset-all core.hooksPath".to_owned())
            }
            Self::Install(InstallError::Io { path, source, .. }) | Self::Write { path, source }
                if source.kind() == io::ErrorKind::PermissionDenied && !path.ends_with("install.json") =>
            {
                let folder = path.parent().filter(|_| !path.is_dir()).unwrap_or(path);
                Some(format!("chmod u+w {}", quoted(folder)))
            }
            Self::RelativeProgram { .. } => Some("start andon by its absolute path".to_owned()),
            Self::Install(InstallError::Io { path, .. }) | Self::Write { path, .. } => {
                Some(format!("check the permissions of {} and the space on its disk", quoted(path)))
            }
            Self::Install(_) => None,
        }
    }
}

impl From<SetupError> for OpsError {
    fn from(err: SetupError) -> Self {
        let (what, hint) = (err.to_string(), err.help());
        let mut help = Vec::new();
        let is_usage = match err {
            SetupError::Git(err) => return Self::Git(err),
            SetupError::Install(InstallError::ByHand { lines, .. }) => {
                help.push("add these lines yourself:".to_owned());
                help.extend(lines.lines().map(str::to_owned));
                true
            }
            SetupError::Bare { .. }
            | SetupError::ForeignHooksPath { .. }
            | SetupError::ModeProblem(_)
            | SetupError::Install(
                InstallError::Settings { .. } | InstallError::LeftAlone { .. } | InstallError::Theirs { .. },
            ) => true,
            SetupError::Install(_) | SetupError::Write { .. } | SetupError::RelativeProgram { .. } => false,
        };
        help.extend(hint);
        Self::Setup { what, help, is_usage }
    }
}

/// `path` as a word for a shell, to be copied.
pub(crate) fn quoted(path: &Path) -> String {
    shell_quote_bytes(&shell_bytes(path))
}

/// True when `pattern`, a value of `notes.displayRef` or `notes.rewriteRef`, means our ref: by name or by a
/// glob, whose `*` crosses slashes in git.
pub(crate) fn names_notes_ref(pattern: &str) -> bool {
    pattern == NOTES_REF
        || pattern.contains(['*', '?', '['])
            && globset::Glob::new(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(NOTES_REF))
}

/// Where husky keeps its hooks.
pub(crate) const HUSKY: &str = ".husky";

/// The layout of husky's hooks when `core.hooksPath` leads to them.
pub(crate) fn hooks_of_husky(repo: &Repo) -> Option<Layout> {
    let value = repo.config_string("core.hooksPath")?;
    let path = Path::new(value.trim_end_matches('/'));
    if path.ends_with(".husky/_") {
        Some(Layout::Plain)
    } else {
        path.ends_with(HUSKY).then_some(Layout::Sourced)
    }
}

/// The key that names the event of `hook`.
pub(crate) fn event_key(hook: GitHook) -> String {
    format!("hook.andon-{}.event", hook.name())
}
