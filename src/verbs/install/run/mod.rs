//! `andon install` and `andon uninstall`.
//!
//! Everything is examined and decided before anything changes, and a failure half way is undone: a repository with half
//! a guard is worse than one without, because people trust it.

mod config_hooks;
mod fetch;
pub(crate) mod managers;
mod preview;
mod push_records;
mod remove;
mod schema;
#[cfg(test)]
pub(crate) mod tests;
mod write;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

pub use self::fetch::{FetchSpec, set_fetch};
pub use self::preview::{Additions, Preview, Step, preview};
pub use self::push_records::{PushChoice, set_push};
pub use self::remove::{PlaceReport, UninstallReport, remarks, uninstall};
use crate::install::InstallError;
use crate::install::manifest::Manifest;
use crate::install::mode::{Integration, ModeChoice};
use crate::install::plan::Intent;
use crate::setup::{DISPLAY_REF, DISPLAY_REF_KEY, SetupError, names_notes_ref, place};
use crate::view::status::LostHooks;
use andon_config as config;
use andon_core::domain::git_hook::GitHook;
use andon_core::domain::paths::CONFIG_FILE;
use andon_core::domain::scopes::Scope;
use andon_engine::effect::AndonDir;
use andon_engine::evidence::test_guess;
use andon_engine::guess::Guess;
use andon_engine::guess::members::ProposedScope;
use andon_git::platform::test_seam::stop_point;
use andon_git::{GitError, Repo};

/// Whether `git log` is to show the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Notes {
    /// It is (`--show-notes`).
    Show,
    /// It stays as it is.
    #[default]
    AsItIs,
}

/// What was asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// `--mode`
    pub mode: Option<Integration>,
    /// `--show-notes`
    pub notes: Notes,
}

/// What became of `notes.displayRef`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisplayRef {
    /// A value was added.
    Added,
    /// Some value shows the records already.
    There,
    /// It was not requested: `git log` stays as long as it was.
    NotAsked,
}

/// Whether a step did anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StepEffect {
    /// It found everything as it should be.
    #[default]
    Nothing,
    /// It did.
    Something,
}

/// What became of `andon.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigFile {
    /// Written, with the guess as test command where it is sure; else with what was seen.
    Written {
        /// The path of the file, as it was opened.
        path: PathBuf,
        /// How the tests run.
        guess: Guess,
        /// How many parts of the code got tests of their own.
        scopes: usize,
    },
    /// There was one; it was not touched.
    There {
        /// The path of the file, as it was opened.
        path: PathBuf,
    },
}

/// What installing did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallReport {
    /// Where the hooks are.
    pub hooks_dir: PathBuf,
    /// The mode, and why it was taken.
    pub choice: ModeChoice,
    /// Each hook, in mode `shim`.
    pub hooks: Vec<(GitHook, Intent)>,
    /// The files of others with lines of ours, and whether they changed now.
    pub files: Vec<(PathBuf, StepEffect)>,
    /// Whether anything else changed: keys of the configuration, what an earlier mode had left.
    pub besides: StepEffect,
    /// `notes.displayRef`.
    pub display_ref: DisplayRef,
    /// `andon.toml`.
    pub config_file: ConfigFile,
    /// What a person should know besides, a sentence each.
    pub remarks: Vec<String>,
    /// What has to be done yet before git starts Andon, if anything has.
    pub waits: Option<LostHooks>,
}

impl InstallReport {
    /// True when everything was there already.
    pub fn changed_nothing(&self) -> bool {
        self.display_ref != DisplayRef::Added
            && self.besides == StepEffect::Nothing
            && self.files.iter().all(|(_, changed)| *changed == StepEffect::Nothing)
            && matches!(self.config_file, ConfigFile::There { .. })
            && !self.hooks.iter().any(|(_, intent)| matches!(intent, Intent::Write(_)))
    }
}

/// Installs the hooks that start `program` (absolute) and writes the first `andon.toml`. Nothing is changed when it
/// fails.
pub fn install(repo: &Repo, program: &Path, options: Options) -> Result<InstallReport, SetupError> {
    if !program.is_absolute() {
        return Err(SetupError::RelativeProgram { program: program.to_owned() });
    }
    let Some(top) = repo.workdir() else {
        return Err(SetupError::Bare { git_dir: repo.git_dir().to_owned() });
    };
    let manifest_path = Manifest::path(repo.common_dir());
    let mut manifest = Manifest::read(&manifest_path).map_err(InstallError::from)?.unwrap_or_default();
    let plan = write::Plan::make(repo, top, program, options.mode, &manifest)?;

    let config_file = write_config_file(top)?;
    let undo_file = |error: SetupError| {
        if let ConfigFile::Written { path, .. } = &config_file {
            let _ = fs::remove_file(path);
        }
        error
    };
    let display_ref =
        show_notes(repo, options.notes, &mut manifest).map_err(|error| undo_file(error.into()))?;
    stop_point("install:config");
    let done = match plan.carry_out(repo, program, &mut manifest) {
        Ok(done) => done,
        Err(error) => {
            if display_ref == DisplayRef::Added {
                let _ = repo.config_remove(DISPLAY_REF_KEY, DISPLAY_REF);
            }
            return Err(undo_file(error));
        }
    };
    // `touch .andon/STOP` has to work from now on. Anything else in its place is reported where it matters.
    let _ = AndonDir::below(top).prepare();
    let mut remarks = done.remarks;
    remarks.extend(place::remarks(repo, top, plan.choice.mode, &plan.dir));
    remarks.extend(managers::remarks(top, plan.choice.mode));
    let besides =
        if schema::write(repo, top) == StepEffect::Something { StepEffect::Something } else { done.besides };
    Ok(InstallReport {
        waits: managers::waits(repo, plan.choice.mode),
        hooks_dir: plan.dir,
        choice: plan.choice,
        hooks: plan.intents,
        files: done.files,
        besides,
        display_ref,
        config_file,
        remarks,
    })
}

fn show_notes(repo: &Repo, notes: Notes, manifest: &mut Manifest) -> Result<DisplayRef, GitError> {
    match notes {
        Notes::Show => add_display_ref(repo, manifest),
        // What was set once, by whomever, stays.
        Notes::AsItIs => Ok(DisplayRef::NotAsked),
    }
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

fn write_config_file(top: &Path) -> Result<ConfigFile, SetupError> {
    let path = top.join(CONFIG_FILE);
    if fs::symlink_metadata(&path).is_ok() {
        return Ok(ConfigFile::There { path });
    }
    let (guess, scopes, text) = first_config(top);
    let made = fs::OpenOptions::new().write(true).create_new(true).open(&path);
    let written = made.and_then(|mut file| {
        file.write_all(text.as_bytes()).inspect_err(|_| {
            let _ = fs::remove_file(&path);
        })
    });
    match written {
        Ok(()) => Ok(ConfigFile::Written { path, guess, scopes }),
        // Another process was faster: its file counts.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(ConfigFile::There { path }),
        Err(source) => Err(SetupError::Write { path, source }),
    }
}

/// How the tests run, how many scopes there are, and the file that says so.
fn first_config(top: &Path) -> (Guess, usize, String) {
    let guess = test_guess::in_directory(top);
    let mut text = with_doubt(config::template(guess.command()), &guess);
    // Without tests there is nothing that a scope could run.
    let has_tests = !matches!(guess, Guess::Compiles(_));
    let scopes = if has_tests { test_guess::scopes(top) } else { Vec::new() };
    if !scopes.is_empty() {
        text.push_str("\n# What the manifests say: a commit needs the tests of what it touches (andon test --scopes).\n");
    }
    text.extend(scopes.iter().map(of_scope));
    (guess, scopes.len(), text)
}

fn of_scope(proposed: &ProposedScope) -> String {
    let list = |texts: &[String]| toml::Value::from(texts.to_vec());
    let Scope { name, paths, needs } = &proposed.scope;
    let needs = if needs.is_empty() { String::new() } else { format!("needs = {}\n", list(needs)) };
    let (paths, command) = (list(paths), toml::Value::from(proposed.command.as_str()));
    format!("[test.scopes.{name}]\npaths = {paths}\n{needs}command = {command}\n")
}

/// The file with what is not sure about the test command behind the line that leaves it open.
fn with_doubt(text: String, guess: &Guess) -> String {
    let command = match guess {
        Guess::Unsure { candidates, .. } => {
            candidates.first().map_or("make test", |candidate| candidate.command.as_str())
        }
        Guess::Compiles(check) => check.command.as_str(),
        Guess::Sure(_) | Guess::None => return text,
    };
    let doubt = guess.doubt().unwrap_or_default();
    let open = format!("# command = {}  # {doubt}", toml::Value::from(command));
    let lines = text.lines().map(|line| if line.starts_with("# command = ") { open.as_str() } else { line });
    lines.flat_map(|line| [line, "\n"]).collect()
}
