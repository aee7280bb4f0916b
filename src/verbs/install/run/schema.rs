//! The JSON Schema that the first line of `andon.toml` names: editors look into a file of this repository, since no address
//! can be promised. Installing writes it in the version of the program that is installed.

use std::fs;
use std::path::{Path, PathBuf};

use super::StepEffect;
use andon_config::{self as config, SCHEMA_FILE};
use andon_core::domain::paths::CONFIG_FILE;
use andon_git::Repo;

/// Most of `andon.toml` that is looked at.
const MAX_BYTES: u64 = 1024 * 1024;

/// Where it lies, seen from the common git directory.
pub(super) fn schema_file(repo: &Repo) -> PathBuf {
    let name = Path::new(SCHEMA_FILE).file_name().unwrap_or_default();
    repo.common_dir().join("andon").join(name)
}

/// Its bytes.
pub(super) fn text() -> String {
    let schema = serde_json::to_string_pretty(&config::schema()).unwrap_or_default();
    format!("{schema}\n")
}

/// Whether it is to be written: `andon.toml` names it, and it is not there as it should be.
pub(super) fn is_due(repo: &Repo, top: &Path) -> bool {
    let file = top.join(CONFIG_FILE);
    let short = fs::metadata(&file).is_ok_and(|facts| facts.is_file() && facts.len() <= MAX_BYTES);
    let named = short && fs::read_to_string(&file).is_ok_and(|config| config.contains(SCHEMA_FILE));
    named && fs::read_to_string(schema_file(repo)).is_ok_and(|found| found == text()).eq(&false)
}

/// Writes it where it is due. An editor can do without: what fails here fails nothing.
pub(super) fn write(repo: &Repo, top: &Path) -> StepEffect {
    let path = schema_file(repo);
    let made = |folder: &Path| fs::create_dir_all(folder).is_ok();
    if is_due(repo, top) && path.parent().is_some_and(made) && fs::write(&path, text()).is_ok() {
        return StepEffect::Something;
    }
    StepEffect::Nothing
}
