//! The work of `andon install`.
//!
//! Everything is examined and decided before anything changes, and a failure half way is undone: a repository with half
//! a guard is worse than one without, because people trust it.

use std::fs;
use std::path::{Path, PathBuf};

use super::git_config::{FetchRefspecs, PushChoice};
use super::{managers, plan::Plan};
use crate::install::edits::{Edit, FileKind};
use crate::install::mode::{Integration, ModeChoice};
use crate::install::plan::Intent;
use crate::install::steps::{self, KeyValue, Step};
use crate::setup::place::{self, schema_file};
use crate::setup::{SetupError, live};
use andon_config::{self as config, SCHEMA_FILE};
use andon_core::domain::{git_hook::GitHook, paths::CONFIG_FILE, scopes::Scope};
use andon_engine::guess::members::ProposedScope;
use andon_engine::view::status::LostHooks;
use andon_engine::{effect::AndonDir, evidence::test_guess, guess::Guess};
use andon_git::Repo;

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

/// The `andon.toml` that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstConfig {
    /// The test command where it is sure; else the things that were seen.
    pub guess: Guess,
    /// The number of parts of the code that got tests of their own.
    pub scopes: usize,
}

/// The changes of an installation, and what they come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallReport {
    pub hooks_dir: PathBuf,
    pub choice: ModeChoice,
    /// In the order in which they are made.
    pub steps: Vec<Step>,
    /// Each hook, in mode `shim`.
    pub hooks: Vec<(GitHook, Intent)>,
    /// The files of others with lines of ours, and whether they change.
    pub files: Vec<(PathBuf, bool)>,
    /// Something else changes: keys of the configuration, the leavings of an earlier mode.
    pub changed_besides: bool,
    /// A value is added to `notes.displayRef`.
    pub display_ref_added: bool,
    /// `None` where there is an `andon.toml`.
    pub first_config: Option<FirstConfig>,
    /// The fetch refspecs that are added.
    pub fetch: Vec<KeyValue>,
    /// The value of `andon.push` where it is set.
    pub push: Option<String>,
    /// Remarks for a person, a sentence each.
    pub remarks: Vec<String>,
    /// The steps that are left to take before git starts Andon.
    pub waits: Option<LostHooks>,
}

impl InstallReport {
    pub(super) fn begun(hooks_dir: PathBuf, choice: ModeChoice, edits: &[Edit]) -> Self {
        Self {
            hooks_dir,
            choice,
            steps: Vec::new(),
            hooks: Vec::new(),
            files: edits.iter().map(|edit| (edit.path.clone(), !edit.is_there())).collect(),
            changed_besides: false,
            display_ref_added: false,
            first_config: None,
            fetch: Vec::new(),
            push: None,
            remarks: Vec::new(),
            waits: None,
        }
    }

    /// True when everything was there already, but for the keys of fetching and pushing.
    pub fn changed_nothing(&self) -> bool {
        !self.display_ref_added
            && !self.changed_besides
            && !self.files.iter().any(|(_, changed)| *changed)
            && self.first_config.is_none()
            && !self.hooks.iter().any(|(_, intent)| matches!(intent, Intent::Write(_)))
    }
}

/// `andon install --dry-run`: nothing is changed, and what would make installing fail makes this fail.
pub fn preview(repo: &Repo, program: &Path, options: Options) -> Result<InstallReport, SetupError> {
    let mut report = Plan::make(repo, program, options)?.report;
    let top = repo.workdir().unwrap_or(repo.common_dir());
    let mut later = Vec::new();
    if report.first_config.is_some() || is_schema_due(repo, top) {
        later.push((schema_file(repo), schema_text().into_bytes()));
    }
    later.extend(AndonDir::below(top).unprepared().map(|(path, text)| (path, text.to_owned())));
    let written = |(path, text)| Step::Write(Edit::whole(path, None, text, FileKind::Text));
    report.steps.extend(later.into_iter().map(written));
    report.waits = live::manager_waits(repo, report.choice.mode, &report.hooks_dir);
    Ok(report)
}

/// Installs the hooks that start `program` (absolute) and writes the first `andon.toml`. Nothing is changed when it
/// fails.
pub fn install(repo: &Repo, program: &Path, options: Options) -> Result<InstallReport, SetupError> {
    let Plan { mut report, removal, .. } = Plan::make(repo, program, options)?;
    steps::apply(Some(repo), &report.steps)?;
    removal.remove_dirs();
    let top = repo.workdir().unwrap_or(repo.common_dir());
    // `touch .andon/STOP` has to work from now on. Anything else in its place is reported where it matters.
    let _ = AndonDir::below(top).prepare();
    report.remarks.extend(place::remarks(repo, top, report.choice.mode, &report.hooks_dir));
    report.remarks.extend(managers::remarks(top, report.choice.mode));
    report.waits = managers::waits(repo, report.choice.mode);
    report.changed_besides |= write_schema(repo, top);
    Ok(report)
}

/// The guess, the number of scopes, and the text of the file.
pub(super) fn first_config(top: &Path) -> (FirstConfig, String) {
    let guess = test_guess::in_directory(top);
    let mut text = with_format(with_doubt(config::template(guess.command()), &guess), &guess);
    // Without tests there is nothing that a scope could run.
    let has_tests = !matches!(guess, Guess::Compiles(_));
    let scopes = if has_tests { test_guess::scopes(top) } else { Vec::new() };
    if !scopes.is_empty() {
        text.push_str("\n# What the manifests say: a commit needs the tests of what it touches (andon test --scopes).\n");
    }
    text.extend(scopes.iter().map(of_scope));
    (FirstConfig { guess, scopes: scopes.len() }, text)
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

fn schema_text() -> String {
    let schema = serde_json::to_string_pretty(&config::schema()).unwrap_or_default();
    format!("{schema}\n")
}

/// True if `andon.toml` names the schema, and it is not there as it should be.
fn is_schema_due(repo: &Repo, top: &Path) -> bool {
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
