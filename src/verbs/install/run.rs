//! The work of `andon install`.
//!
//! Everything is examined and decided before anything changes, and a failure half way is undone: a repository with half
//! a guard is worse than one without, because people trust it.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::git_config::{FetchRefspecs, PushChoice};
use super::{managers, plan::Plan};
use crate::install::mode::{Integration, ModeChoice};
use crate::install::{manifest::Manifest, plan::Intent};
use crate::setup::place::{self, schema_file};
use crate::setup::{DISPLAY_REF, DISPLAY_REF_KEY, SetupError, names_notes_ref};
use andon_config::{self as config, SCHEMA_FILE};
use andon_core::domain::{git_hook::GitHook, paths::CONFIG_FILE, scopes::Scope};
use andon_engine::guess::members::ProposedScope;
use andon_engine::view::status::LostHooks;
use andon_engine::{effect::AndonDir, evidence::test_guess, guess::Guess};
use andon_git::platform::test_seam::stop_point;
use andon_git::{GitError, Repo};

#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// `--mode`
    pub mode: Option<Integration>,
    /// `--show-notes`
    pub show_notes: bool,
    /// `--fetch`
    pub fetch: FetchRefspecs,
    /// `--push`, `--no-push`
    pub push: PushChoice,
}

/// The `andon.toml` that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstConfig {
    path: PathBuf,
    /// The test command where it is sure; else the things that were seen.
    pub guess: Guess,
    /// The number of parts of the code that got tests of their own.
    pub scopes: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallReport {
    pub hooks_dir: PathBuf,
    pub choice: ModeChoice,
    /// Each hook, in mode `shim`.
    pub hooks: Vec<(GitHook, Intent)>,
    /// The files of others with lines of ours, and whether they changed now.
    pub files: Vec<(PathBuf, bool)>,
    /// Something else changed: keys of the configuration, the leavings of an earlier mode.
    pub changed_besides: bool,
    /// A value was added to `notes.displayRef`.
    pub display_ref_added: bool,
    /// `None` where there was an `andon.toml`.
    pub first_config: Option<FirstConfig>,
    /// Remarks for a person, a sentence each.
    pub remarks: Vec<String>,
    /// The steps that are left to take before git starts Andon.
    pub waits: Option<LostHooks>,
}

impl InstallReport {
    /// True when everything was there already.
    pub fn changed_nothing(&self) -> bool {
        !self.display_ref_added
            && !self.changed_besides
            && !self.files.iter().any(|(_, changed)| *changed)
            && self.first_config.is_none()
            && !self.hooks.iter().any(|(_, intent)| matches!(intent, Intent::Write(_)))
    }
}

/// The top of the working tree, where `program` can be installed for it.
pub(super) fn top_for<'a>(repo: &'a Repo, program: &Path) -> Result<&'a Path, SetupError> {
    if !program.is_absolute() {
        return Err(SetupError::RelativeProgram { program: program.to_owned() });
    }
    repo.workdir().ok_or_else(|| SetupError::Bare { git_dir: repo.git_dir().to_owned() })
}

/// Installs the hooks that start `program` (absolute) and writes the first `andon.toml`. Nothing is changed when it
/// fails.
pub fn install(repo: &Repo, program: &Path, options: Options) -> Result<InstallReport, SetupError> {
    let top = top_for(repo, program)?;
    let mut manifest = Manifest::of(repo)?;
    let plan = Plan::make(repo, top, program, options.mode, &manifest)?;
    let first_config = write_first_config(top)?;
    let undo_file = |error: SetupError| {
        if let Some(FirstConfig { path, .. }) = &first_config {
            let _ = fs::remove_file(path);
        }
        error
    };
    // What was set once, by whomever, stays.
    let display_ref_added = options.show_notes
        && add_display_ref(repo, &mut manifest).map_err(|error| undo_file(error.into()))?;
    stop_point("install:config");
    let done = plan.carry_out(repo, program, &mut manifest).map_err(|error| {
        if display_ref_added {
            let _ = repo.config_remove(DISPLAY_REF_KEY, DISPLAY_REF);
        }
        undo_file(error)
    })?;
    // `touch .andon/STOP` has to work from now on. Anything else in its place is reported where it matters.
    let _ = AndonDir::below(top).prepare();
    let mut remarks = done.remarks;
    remarks.extend(place::remarks(repo, top, plan.choice.mode, &plan.dir));
    remarks.extend(managers::remarks(top, plan.choice.mode));
    Ok(InstallReport {
        waits: managers::waits(repo, plan.choice.mode),
        changed_besides: write_schema(repo, top) || done.changed_besides,
        hooks_dir: plan.dir,
        choice: plan.choice,
        hooks: plan.intents,
        files: done.files,
        display_ref_added,
        first_config,
        remarks,
    })
}

/// Has `git log` show the records, where it does not; true if a value was added.
fn add_display_ref(repo: &Repo, manifest: &mut Manifest) -> Result<bool, GitError> {
    if repo.config_sources(DISPLAY_REF_KEY)?.iter().any(|found| names_notes_ref(&found.value)) {
        return Ok(false);
    }
    repo.config_add(DISPLAY_REF_KEY, DISPLAY_REF)?;
    if !manifest.display_refs.iter().any(|value| value == DISPLAY_REF) {
        manifest.display_refs.push(DISPLAY_REF.to_owned());
    }
    Ok(true)
}

fn write_first_config(top: &Path) -> Result<Option<FirstConfig>, SetupError> {
    let path = top.join(CONFIG_FILE);
    if fs::symlink_metadata(&path).is_ok() {
        return Ok(None);
    }
    let (guess, scopes, text) = first_config(top);
    let made = fs::OpenOptions::new().write(true).create_new(true).open(&path);
    let written = made.and_then(|mut file| {
        file.write_all(text.as_bytes()).inspect_err(|_| {
            let _ = fs::remove_file(&path);
        })
    });
    match written {
        Ok(()) => Ok(Some(FirstConfig { path, guess, scopes })),
        // Another process was faster: its file counts.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(source) => Err(SetupError::Write { path, source }),
    }
}

/// The guess, the number of scopes, and the text of the file.
pub(super) fn first_config(top: &Path) -> (Guess, usize, String) {
    let guess = test_guess::in_directory(top);
    let mut text = with_format(with_doubt(config::template(guess.command()), &guess), &guess);
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

/// The file with the line that asks for the exit code alone, where the command names no test.
fn with_format(text: String, guess: &Guess) -> String {
    let (candidate, open) = match guess {
        Guess::Sure(candidate) => (candidate, ""),
        Guess::Compiles(check) => (check, "# "),
        Guess::Unsure { .. } | Guess::None => return text,
    };
    if !candidate.names_no_test() {
        return text;
    }
    let exit = format!(
        "{open}format = \"exit\"  # {} names no test: its exit code is all there is to know",
        candidate.command
    );
    let is_command = |line: &&str| line.trim_start_matches("# ").starts_with("command = ");
    text.lines()
        .flat_map(|line| {
            [line, "\n"]
                .into_iter()
                .chain(is_command(&line).then_some([exit.as_str(), "\n"]).into_iter().flatten())
        })
        .collect()
}

/// The file with the doubt about the test command behind the line that leaves it open.
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

// The JSON Schema that the first line of `andon.toml` names: editors look into a file of this repository, since no address
// can be promised. Installing writes it in the version of the program that is installed.

/// Most of `andon.toml` that is searched for the name of the schema.
const MAX_BYTES: u64 = 1024 * 1024;

pub(super) fn schema_text() -> String {
    let schema = serde_json::to_string_pretty(&config::schema()).unwrap_or_default();
    format!("{schema}\n")
}

/// True if `andon.toml` names the schema, and it is not there as it should be.
pub(super) fn is_schema_due(repo: &Repo, top: &Path) -> bool {
    let file = top.join(CONFIG_FILE);
    let short = fs::metadata(&file).is_ok_and(|facts| facts.is_file() && facts.len() <= MAX_BYTES);
    let named = short && fs::read_to_string(&file).is_ok_and(|config| config.contains(SCHEMA_FILE));
    named && !fs::read_to_string(schema_file(repo)).is_ok_and(|found| found == schema_text())
}

/// Writes the schema where it is due; true if it did. An editor can do without: what fails here fails nothing.
fn write_schema(repo: &Repo, top: &Path) -> bool {
    let path = schema_file(repo);
    let made = |folder: &Path| fs::create_dir_all(folder).is_ok();
    is_schema_due(repo, top) && path.parent().is_some_and(made) && fs::write(&path, schema_text()).is_ok()
}
