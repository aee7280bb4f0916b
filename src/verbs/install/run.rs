//! The work of `andon install`.
//!
//! Everything is examined and decided before anything changes, and a failure half way is undone: a repository with half
//! a guard is worse than one without, because people trust it.

use std::{fs, path::Path};

use super::plan::{InstallReport, Plan};
use super::{InstallArgs, managers};
use crate::install::edits::{Edit, FileKind};
use crate::install::steps::{self, Step};
use crate::setup::place::{self, schema_file};
use crate::setup::{SetupError, live};
use andon_config::{self as config, SCHEMA_FILE};
use andon_core::domain::paths::CONFIG_FILE;
use andon_engine::effect::AndonDir;
use andon_git::Repo;

/// `andon install --dry-run`: nothing is changed, and what would make installing fail makes this fail.
pub fn preview(repo: &Repo, program: &Path, args: &InstallArgs) -> Result<InstallReport, SetupError> {
    let mut report = Plan::make(repo, program, args)?.report;
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
pub fn install(repo: &Repo, program: &Path, args: &InstallArgs) -> Result<InstallReport, SetupError> {
    let Plan { mut report, removal, .. } = Plan::make(repo, program, args)?;
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
