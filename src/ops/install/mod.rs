//! `andon install` and `andon uninstall`.
//!
//! Everything is looked at and decided before anything changes, and what fails half way is undone: a
//! repository with half a guard is worse than one without, because somebody trusts it.

mod along;
mod fetch;
mod place;
mod remove;
#[cfg(test)]
pub(in crate::ops) mod tests;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

pub use self::along::{Along, set_push};
pub use self::fetch::{FetchSpec, set_fetch};
pub use self::place::{Override, hooks_mend, hooks_override};
pub use self::remove::{PlaceReport, UninstallReport, uninstall};
use crate::action::install::guess::Guess;
use crate::action::install::hooks::Hook;
use crate::action::install::inspect::inspect;
use crate::action::install::manifest::{Manifest, ManifestError};
use crate::action::install::plan::{self, Intent};
use crate::action::install::{InstallError, apply};
use crate::config;
use crate::domain::paths::CONFIG_FILE;
use crate::git::{ConfigScope, GitError, Repo, stop_point};
use crate::ops::test_guess;
use crate::report::escape::shell_quote_bytes;

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
        /// The scope.
        scope: ConfigScope,
        /// The file that sets it, or `command line`.
        origin: String,
        /// The value.
        value: String,
        /// What mends it.
        mend: String,
    },
    /// A file of the working tree.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
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
    /// The command or sentence that mends it.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Git(error) => error.help(),
            Self::Bare { .. } => {
                Some("run it in a clone, or in a linked worktree (git worktree add DIR BRANCH)".to_owned())
            }
            Self::ForeignHooksPath { mend, .. } => Some(mend.clone()),
            Self::Install(InstallError::NoDirectory { .. }) => {
                Some("git config --local --unset-all core.hooksPath".to_owned())
            }
            Self::Install(InstallError::Io { path, source, .. }) | Self::Write { path, source }
                if source.kind() == io::ErrorKind::PermissionDenied =>
            {
                let folder = path.parent().filter(|_| !path.is_dir()).unwrap_or(path);
                Some(format!("chmod u+w {}", quoted(folder)))
            }
            Self::RelativeProgram { .. } => Some("start andon by its absolute path".to_owned()),
            Self::Install(
                InstallError::Io { path, .. } | InstallError::Manifest(ManifestError::Io { path, .. }),
            )
            | Self::Write { path, .. } => {
                Some(format!("check the permissions of {} and the space on its disk", quoted(path)))
            }
            Self::Install(_) => None,
        }
    }
}

/// `path` as a word for a shell, to be copied.
pub(in crate::ops) fn quoted(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    shell_quote_bytes(path.as_os_str().as_bytes())
}

/// What became of `notes.displayRef`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisplayRef {
    /// A value was added.
    Added,
    /// Some value shows the records already.
    There,
}

/// What became of `andon.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigFile {
    /// Written, with the guess as test command where it is sure; else with what was seen.
    Written {
        /// The file.
        path: PathBuf,
        /// How the tests run.
        guess: Guess,
    },
    /// There was one; it was not touched.
    There {
        /// The file.
        path: PathBuf,
    },
}

/// What installing did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallReport {
    /// Where the hooks are.
    pub hooks_dir: PathBuf,
    /// Each hook.
    pub hooks: Vec<(Hook, Intent)>,
    /// `notes.displayRef`.
    pub display_ref: DisplayRef,
    /// `andon.toml`.
    pub config_file: ConfigFile,
    /// What a person should know besides, a sentence each.
    pub remarks: Vec<String>,
}

impl InstallReport {
    /// True when everything was there already.
    pub fn changed_nothing(&self) -> bool {
        self.display_ref == DisplayRef::There
            && matches!(self.config_file, ConfigFile::There { .. })
            && !self.hooks.iter().any(|(_, intent)| matches!(intent, Intent::Write(_)))
    }
}

/// Installs the hooks that start `program` (absolute), shows records in `git log`, and writes the first
/// `andon.toml`. Nothing is changed when it fails.
pub fn install(repo: &Repo, program: &Path) -> Result<InstallReport, SetupError> {
    if !program.is_absolute() {
        return Err(SetupError::RelativeProgram { program: program.to_owned() });
    }
    let Some(top) = repo.workdir() else {
        return Err(SetupError::Bare { git_dir: repo.git_dir().to_owned() });
    };
    place::refuse_foreign(repo)?;
    let dir = repo.hooks_dir()?;
    let manifest_path = Manifest::path(repo.common_dir());
    let mut manifest = Manifest::read(&manifest_path).map_err(InstallError::from)?.unwrap_or_default();
    let states = inspect(&dir, &manifest)?;
    let intents =
        plan::install(&dir, &states, program).map_err(|conflicts| InstallError::Conflicts { conflicts })?;

    let config_file = write_config_file(top)?;
    let undo_file = |error: SetupError| {
        if let ConfigFile::Written { path, .. } = &config_file {
            let _ = fs::remove_file(path);
        }
        error
    };
    let display_ref = add_display_ref(repo, &mut manifest).map_err(|error| undo_file(error.into()))?;
    stop_point::pass("install:config");
    if let Err(error) = apply::install(&dir, &intents, program, (&manifest_path, &manifest)) {
        if display_ref == DisplayRef::Added {
            let _ = repo.config_remove(DISPLAY_REF_KEY, DISPLAY_REF);
        }
        return Err(undo_file(error.into()));
    }
    let remarks = place::remarks(repo, top, &dir);
    Ok(InstallReport { hooks_dir: dir, hooks: intents, display_ref, config_file, remarks })
}

fn add_display_ref(repo: &Repo, manifest: &mut Manifest) -> Result<DisplayRef, GitError> {
    if repo.config_sources(DISPLAY_REF_KEY)?.iter().any(|found| names_notes_ref(&found.value)) {
        return Ok(DisplayRef::There);
    }
    repo.config_add(DISPLAY_REF_KEY, DISPLAY_REF)?;
    if !manifest.display_refs.iter().any(|value| value == DISPLAY_REF) {
        manifest.display_refs.push(DISPLAY_REF.to_owned());
    }
    Ok(DisplayRef::Added)
}

/// True when `pattern`, a value of `notes.displayRef` or `notes.rewriteRef`, means our ref: by name or by a
/// glob, whose `*` crosses slashes in git.
pub(in crate::ops) fn names_notes_ref(pattern: &str) -> bool {
    pattern == NOTES_REF
        || pattern.contains(['*', '?', '['])
            && globset::Glob::new(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(NOTES_REF))
}

fn write_config_file(top: &Path) -> Result<ConfigFile, SetupError> {
    let path = top.join(CONFIG_FILE);
    if fs::symlink_metadata(&path).is_ok() {
        return Ok(ConfigFile::There { path });
    }
    let guess = test_guess::in_directory(top);
    let text = with_doubt(config::template(guess.command()), &guess);
    let made = fs::OpenOptions::new().write(true).create_new(true).open(&path);
    let written = made.and_then(|mut file| {
        file.write_all(text.as_bytes()).inspect_err(|_| {
            let _ = fs::remove_file(&path);
        })
    });
    match written {
        Ok(()) => Ok(ConfigFile::Written { path, guess }),
        // Somebody was faster: theirs counts.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(ConfigFile::There { path }),
        Err(source) => Err(SetupError::Write { path, source }),
    }
}

/// The file with what is not sure about the test command behind the line that leaves it open.
fn with_doubt(text: String, guess: &Guess) -> String {
    let Guess::Unsure { candidates, .. } = guess else { return text };
    let command = candidates.first().map_or("make test", |candidate| candidate.command.as_str());
    let doubt = guess.doubt().unwrap_or_default();
    let open = format!("# command = {}  # {doubt}", toml::Value::from(command));
    let lines = text.lines().map(|line| if line.starts_with("# command = ") { open.as_str() } else { line });
    lines.flat_map(|line| [line, "\n"]).collect()
}
