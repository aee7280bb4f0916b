//! Looks at everything that is judged. Nothing here changes anything, and nothing reaches the network.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::{CallerFacts, HooksPlace, Limit, Records, RepositoryFacts};
use crate::install::forward;
use crate::install::inspect::{HookFile, HookState, inspect};
use crate::install::manifest::Manifest;
use crate::install::mode::Integration;
use crate::setup::fetch::fetch_states;
use crate::setup::live;
use crate::setup::place::{Override, hooks_hint, hooks_override, shared};
use crate::setup::{DISPLAY_REF_KEY, NOTES_REF};
use andon_core::domain::facts::Presence;
use andon_git::platform::files;
use andon_git::{GitError, Repo};

/// Where the records of remotes are kept.
const REMOTE_NOTES: &str = "refs/notes/remotes/";

/// How much of a framework's configuration is searched.
const FRAMEWORK_BYTES: u64 = 256 * 1024;

/// Lock files are looked for among at most this many entries.
const MAX_ENTRIES: usize = 10_000;

/// Gathers what [`super::checks()`] judges.
pub fn gather(repo: &Repo, outside: CallerFacts) -> Result<RepositoryFacts, GitError> {
    let place = place(repo);
    let hooks = place.as_ref().ok().and_then(|place| place.hooks.as_ref().ok());
    Ok(RepositoryFacts {
        missing_programs: hooks.map(|hooks| missing_programs(hooks)).unwrap_or_default(),
        outside,
        place: place.map_err(|error| error.to_string()),
        framework: framework(repo),
        display_refs: repo.config_sources(DISPLAY_REF_KEY)?,
        rewrite_refs: repo.config_sources("notes.rewriteRef")?,
        records: records(repo)?,
        remotes: fetch_states(&repo.fetch_refspecs()?),
        locks: locks(repo),
        unwritable: unwritable(repo),
        limits: limits(repo),
    })
}

fn place(repo: &Repo) -> Result<HooksPlace, GitError> {
    let dir = repo.hooks_dir()?;
    let decided_by = hooks_override(repo)?;
    let hint = match &decided_by {
        Override::Foreign(found) => Some(hooks_hint(found.scope)),
        Override::Own(_) | Override::None => None,
    };
    // A manifest that cannot be read is reported by `uninstall`; shims are known without it.
    let manifest = Manifest::read(&Manifest::path(repo.common_dir())).ok().flatten().unwrap_or_default();
    let hooks = inspect(&dir, &manifest).map_err(|error| error.to_string());
    let managed =
        manifest.mode.filter(|mode| *mode != Integration::Shim).map(|mode| (mode, live::look(repo)));
    let patches = presence(live::patches_since(repo, &dir).is_some());
    let shared = shared(repo)?;
    let leads_on = dir == forward::dir(repo.common_dir());
    Ok(HooksPlace { dir, decided_by, hint, managed, patches, hooks, shared, leads_on })
}

fn missing_programs(hooks: &[HookState]) -> Vec<PathBuf> {
    let mut missing = Vec::new();
    for state in hooks {
        if let HookFile::Shim { program: Some(program), .. } = &state.standing
            && !is_program(program)
            && !missing.contains(program)
        {
            missing.push(program.clone());
        }
    }
    missing
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.is_file() && files::is_executable(&facts))
}

/// Whether the configuration of pre-commit or prek names andon. Absent also when there is none.
fn presence(there: bool) -> Presence {
    if there { Presence::Present } else { Presence::Absent }
}

fn framework(repo: &Repo) -> Presence {
    let Some(top) = repo.workdir() else { return Presence::Absent };
    let names = [".pre-commit-config.yaml", ".pre-commit-config.yml", "prek.toml"];
    let says = |name: &&str| {
        let mut text = Vec::new();
        let read =
            File::open(top.join(name)).and_then(|file| file.take(FRAMEWORK_BYTES).read_to_end(&mut text));
        read.is_ok() && String::from_utf8_lossy(&text).contains("andon")
    };
    presence(names.iter().any(says))
}

fn records(repo: &Repo) -> Result<Records, GitError> {
    Ok(Records {
        notes: presence(repo.ref_target(NOTES_REF)?.is_some()),
        fetched: repo.refs_with_prefix(REMOTE_NOTES)?.into_iter().map(|(name, _)| name).collect(),
        commits: presence(repo.head()?.commit().is_some()),
    })
}

fn locks(repo: &Repo) -> Vec<PathBuf> {
    let common = repo.common_dir();
    let mut found: Vec<PathBuf> =
        Some(common.join("refs/notes/andon.lock")).into_iter().filter(|path| path.exists()).collect();
    let Ok(entries) = fs::read_dir(common.join("refs/andon/ledger")) else { return found };
    let ledgers = entries.take(MAX_ENTRIES).filter_map(Result::ok).map(|entry| entry.path());
    found.extend(ledgers.filter(|path| path.extension().is_some_and(|extension| extension == "lock")));
    found
}

/// Directories in which something is written for every commit, and may not be. Asked of the system: nothing is written.
fn unwritable(repo: &Repo) -> Vec<(PathBuf, String)> {
    let (own, common) = (repo.git_dir(), repo.common_dir());
    let mut asked =
        vec![own.join("andon"), common.join("andon"), common.join("objects"), common.join("refs")];
    asked.dedup();
    let denied = |dir: PathBuf| {
        let there = if dir.exists() { dir } else { dir.parent()?.to_owned() };
        let denied = files::check_writable(&there).err()?;
        Some((there, denied.kind().to_string()))
    };
    asked.into_iter().filter_map(denied).collect()
}

fn limits(repo: &Repo) -> Vec<Limit> {
    let mut limits = Vec::new();
    if repo.is_shallow() {
        limits.push(Limit::Shallow);
    }
    if repo.is_partial() {
        limits.push(Limit::Partial);
    }
    limits
}
