//! What guards the loop, compared before and after each tool call: what a command line says can be written in a thousand ways,
//! what it did cannot. A few files and refs are looked at; what a call took away is put back where that is safe, and told.
//!
//! The state before a call is kept in a memory (`<git dir>/andon/cache/guard`). Whoever changes the guard between calls is a
//! person: the next call begins from there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::place::{Place, hooks_dir};
use crate::setup::live::{self, GuardState};
use andon_agents as agent;
use andon_core::detect::Stops;
use andon_core::domain::agent::Client;
use andon_core::domain::findings::ReportFile;
use andon_core::domain::git_hook::GitHook;
use andon_core::domain::ids::CommitId;
use andon_engine::effect;
use andon_engine::standing::{self, PAUSE_FILE, STOP_FILE};
use andon_git::platform::files;
use andon_git::{Update, read_plain};
use andon_store::ledger::{Ledger, REF_PREFIX};
use andon_store::memory::{Kind, Memory};
use andon_store::wire::NOTES_REF;

/// Largest file that is kept, and most files of a folder.
const MAX_FILE: u64 = 64 << 10;
const MAX_FILES: usize = 16;

/// What guards the loop now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Guard {
    /// `core.hooksPath`, of whichever configuration.
    hooks_path: Option<String>,
    /// Whether git starts Andon there.
    armed: bool,
    /// Its hooks.
    hooks: BTreeMap<PathBuf, Kept>,
    /// Settings of the client that start Andon.
    settings: BTreeMap<PathBuf, Kept>,
    /// The file of the halt that stands, and those of a person's stop, by name below `.andon/`.
    halt: BTreeMap<String, Kept>,
    /// The refs of records and of the ledger.
    refs: BTreeMap<String, String>,
}

/// A file as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    bytes: Vec<u8>,
    executable: bool,
}

/// What a call took away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Taken {
    /// What, in words.
    pub(super) what: String,
    /// Whether it is back.
    pub(super) is_back: bool,
}

/// Keeps the state before a call.
pub(super) fn before(place: &Place<'_>) {
    let now = look(place);
    let memory = memory(place);
    if memory.get::<Guard>(&()).is_none_or(|known| known != now) {
        memory.put(&(), &now);
    }
}

/// What the call took away since then; it is put back where that is safe.
pub(super) fn after(place: &Place<'_>) -> Vec<Taken> {
    let Some(known) = memory(place).get::<Guard>(&()) else { return Vec::new() };
    let now = look(place);
    if known == now {
        return Vec::new();
    }
    let found =
        [hooks(place, &known, &now), settings(place, &known), halt_files(place, &known), refs(place, &known)];
    let found: Vec<Taken> = found.into_iter().flatten().collect();
    memory(place).put(&(), &look(place));
    found
}

fn memory(place: &Place<'_>) -> Memory {
    Memory::new(&place.ws.repo, Kind::Guard)
}

fn look(place: &Place<'_>) -> Guard {
    let repo = &place.ws.repo;
    let dir = hooks_dir(place.ws);
    let armed = dir.as_ref().is_some_and(|dir| live::look_at(repo, dir) == GuardState::Yes);
    let shims = dir.iter().flat_map(|dir| GitHook::ALL.into_iter().map(|hook| dir.join(hook.name())));
    let hooks = shims.filter_map(|path| Some((path.clone(), kept(&path)?))).collect();
    let settings = settings_of(place).into_iter().filter_map(|path| {
        let file = kept(&path)?;
        calls_us(place.client, &file.bytes).then_some((path, file))
    });
    let refs =
        [REF_PREFIX, NOTES_REF].into_iter().filter_map(|prefix| repo.refs_with_prefix(prefix).ok()).flatten();
    Guard {
        hooks_path: repo.config_string("core.hooksPath").filter(|path| !path.is_empty()),
        armed,
        hooks,
        settings: settings.collect(),
        halt: halt_of(place),
        refs: refs.map(|(name, id)| (name, id.to_string())).collect(),
    }
}

fn kept(path: &Path) -> Option<Kept> {
    let executable = files::is_executable(&fs::symlink_metadata(path).ok()?);
    Some(Kept { bytes: read_plain(path, MAX_FILE).ok()??, executable })
}

/// The files of the client that may start Andon: those of the project and of the user.
fn settings_of(place: &Place<'_>) -> Vec<PathBuf> {
    let home = place.ctx.var("HOME").map(PathBuf::from);
    let roots = place.ws.repo.workdir().map(Path::to_owned).into_iter().chain(home);
    let named = roots.flat_map(|root| place.client.spec().guarded.iter().map(move |name| root.join(name)));
    named
        .flat_map(|path| {
            let inside = fs::read_dir(&path).into_iter().flatten().filter_map(Result::ok).take(MAX_FILES);
            let inside: Vec<PathBuf> = inside.map(|entry| entry.path()).collect();
            if inside.is_empty() { vec![path] } else { inside }
        })
        .collect()
}

fn calls_us(client: Client, text: &[u8]) -> bool {
    let says = |word: &[u8]| text.windows(word.len()).any(|window| window == word);
    if client == Client::Claude { agent::calls_us(text) } else { says(b"agent hook") || says(b"andon") }
}

fn halt_of(place: &Place<'_>) -> BTreeMap<String, Kept> {
    let Some(dir) = place.ws.andon_dir() else { return BTreeMap::new() };
    let mut names = vec![STOP_FILE, PAUSE_FILE];
    if standing::recorded(place.ws).is_ok_and(|halt| halt.is_some()) {
        names.extend(ReportFile::ALL.map(|(file, _)| file.file_name()));
    }
    names.into_iter().filter_map(|name| Some((name.to_owned(), kept(&dir.path().join(name))?))).collect()
}

/// Git's way to Andon. An uninstallation is a person's, and takes the record of what was installed with it.
fn hooks(place: &Place<'_>, known: &Guard, now: &Guard) -> Option<Taken> {
    let repo = &place.ws.repo;
    if !known.armed || now.armed {
        return None;
    }
    let what = match hooks_dir(place.ws).map(|dir| live::look_at(repo, &dir)) {
        Some(GuardState::Gone(lost)) => lost.what,
        Some(GuardState::Yes | GuardState::Never) | None => return None,
    };
    if now.hooks_path != known.hooks_path {
        if let Some(new) = &now.hooks_path {
            // What the user's own configuration says stays: it is told.
            let _only_here = repo.config_remove("core.hooksPath", new);
        }
        let shown = repo.config_string("core.hooksPath").filter(|path| !path.is_empty());
        if let Some(old) = known.hooks_path.as_ref().filter(|old| shown.as_ref() != Some(*old)) {
            let _told_below = repo.config_add("core.hooksPath", old);
        }
    }
    put_back(&known.hooks);
    Some(Taken { what: format!("git's hooks ({what})"), is_back: look(place).armed })
}

fn settings(place: &Place<'_>, known: &Guard) -> Option<Taken> {
    let gone =
        |(path, _): &(&PathBuf, &Kept)| kept(path).is_none_or(|file| !calls_us(place.client, &file.bytes));
    let lost: BTreeMap<PathBuf, Kept> =
        known.settings.iter().filter(gone).map(|(path, file)| (path.clone(), file.clone())).collect();
    let first = lost.keys().next()?.display().to_string();
    let is_back = put_back(&lost);
    Some(Taken { what: format!("the settings that start Andon ({first})"), is_back })
}

/// A file of a halt that is gone while the halt stands, or of a stop that nobody took back.
fn halt_files(place: &Place<'_>, known: &Guard) -> Option<Taken> {
    let dir = place.ws.andon_dir()?;
    let stands = standing::recorded(place.ws).is_ok_and(|halt| halt.is_some());
    let answered = !stands && standing::stop_files(place.ws) == Stops::NONE && !same_ledger(place, known);
    let lost = known.halt.iter().filter(|(name, _)| dir.size(name).is_none());
    let lost: BTreeMap<PathBuf, Kept> =
        lost.map(|(name, file)| (dir.path().join(name), file.clone())).collect();
    let first = lost.keys().next()?.file_name()?.to_string_lossy().into_owned();
    if answered {
        return None;
    }
    let is_back = put_back(&lost);
    Some(Taken { what: format!("the file of a halt (.andon/{first})"), is_back })
}

/// Whether nothing was added to the ledger: whoever answers or takes a stop back adds to it.
fn same_ledger(place: &Place<'_>, known: &Guard) -> bool {
    let now = Ledger::open(&place.ws.repo).own_ref().ok().flatten();
    let id = now.as_ref().and_then(|name| place.ws.repo.ref_target(name).ok().flatten());
    let before = now.as_ref().and_then(|name| known.refs.get(name));
    before.map(String::as_str) == id.map(|id| id.to_string()).as_deref()
}

/// Refs of records that are gone; where they moved is for the ledger's own guard.
fn refs(place: &Place<'_>, known: &Guard) -> Option<Taken> {
    let repo = &place.ws.repo;
    let gone: Vec<(&String, &String)> =
        known.refs.iter().filter(|(name, _)| repo.ref_target(name).is_ok_and(|id| id.is_none())).collect();
    let (first, _) = gone.first()?;
    let back = |(name, id): &(&String, &String)| {
        let Ok(id) = id.parse::<CommitId>() else { return false };
        let set =
            |now: Option<CommitId>| Ok(if now.is_some() { Update::Keep(()) } else { Update::Set(id, ()) });
        repo.update_ref(name, "andon: put back what a tool call removed", set).is_ok()
    };
    let is_back = gone.iter().filter(|one| !back(one)).count() == 0;
    Some(Taken { what: format!("the refs of records ({first})"), is_back })
}

/// Writes files as they were; whether all are there again.
fn put_back(files: &BTreeMap<PathBuf, Kept>) -> bool {
    let write = |(path, file): (&PathBuf, &Kept)| {
        if kept(path).as_ref() == Some(file) {
            return true;
        }
        let has_dir = path.parent().is_none_or(|dir| fs::create_dir_all(dir).is_ok());
        let text = String::from_utf8_lossy(&file.bytes);
        let mode = files::permissions(0o755).filter(|_| file.executable);
        has_dir
            && effect::replace_text(path, &text).is_ok()
            && mode.is_none_or(|mode| fs::set_permissions(path, mode).is_ok())
    };
    files.iter().filter(|one| !write(*one)).count() == 0
}
