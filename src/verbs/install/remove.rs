//! `andon uninstall`: everything as it was, as far as it is certainly ours to change.

use std::{fs, path::PathBuf};

use super::{git_config::still_set, managers};
use crate::install::{
    AbsolutePath, Edit, HookFile, HookRemoval, HooksFolder, InstallError, Integration, KeyValue, Manifest,
    Step, forward, inspect::inspect, lefthook, plan, steps,
};
use crate::setup::place::{self, HOOKS_PATH, program_link, schema_file};
use crate::setup::{DISPLAY_REF_KEY, OWN_REFS, folders_of, leftovers, quoted};
use andon_core::detect::Stops;
use andon_core::domain::{CONFIG_FILE, GitHook, Hint};
use andon_engine::halts::{self, stop_files};
use andon_engine::{Context, OpsError, Result, VerbError, Workspace, effect::AndonDir};
use andon_git::{GitError, Repo, if_there};
use andon_store::union::{self, REMOTE_NOTES};
use andon_store::{Ledger, ledger, wire::NOTES_REF};

/// The outcome for the hooks of one directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceReport {
    pub dir: PathBuf,
    pub hooks: Vec<(GitHook, HookRemoval)>,
}

impl PlaceReport {
    fn left(&self, hook: &str) -> bool {
        self.hooks.iter().any(|(other, what)| other.name() == hook && matches!(what, HookRemoval::Left(_)))
    }

    fn left_any(&self) -> bool {
        self.hooks.iter().any(|(_, what)| matches!(what, HookRemoval::Left(_)))
    }

    pub(super) fn took_any(&self) -> bool {
        self.hooks.iter().any(|(_, what)| matches!(what, HookRemoval::Gone | HookRemoval::Restored))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UninstallReport {
    /// Each directory that hooks were installed into.
    pub places: Vec<PlaceReport>,
    /// Files of others that our lines were taken out of.
    pub files: Vec<PathBuf>,
    /// The number of hooks that were taken out of the configuration.
    pub config_hooks: usize,
    /// The values that were taken out of `notes.displayRef`.
    pub display_refs: Vec<String>,
    /// The fetch refspecs that were taken out.
    pub fetch: Vec<KeyValue>,
    /// The mode in which it was installed.
    pub mode: Option<Integration>,
    /// The things that stay, and how to remove them, a sentence each.
    pub remarks: Vec<String>,
}

impl UninstallReport {
    /// True when something could not be put back: its `HookRemoval::Left` says why.
    pub fn is_incomplete(&self) -> bool {
        self.places.iter().any(PlaceReport::left_any)
    }
}

/// The changes that take out what was installed, and what they come to.
pub(super) struct Removal {
    pub(super) steps: Vec<Step>,
    /// Each directory that hooks were installed into.
    pub(super) places: Vec<PlaceReport>,
    /// Files of others that our lines are in.
    pub(super) files: Vec<PathBuf>,
    /// The number of keys of hooks in the configuration.
    pub(super) hook_keys: usize,
    /// Directories that were made for hooks, which go where they are empty by then.
    created: Vec<Vec<AbsolutePath>>,
}

impl Removal {
    /// Plans to take out everything of `manifest` but what `mode` needs and the files of `kept`. The manifest is left with the
    /// rest.
    pub(super) fn plan(
        repo: &Repo,
        manifest: &mut Manifest,
        mode: Option<Integration>,
        kept: &[Edit],
    ) -> Result<Self, InstallError> {
        let (steps, places, files, created) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut found = Self { steps, places, files, hook_keys: 0, created };
        for file in std::mem::take(&mut manifest.files) {
            if kept.iter().any(|edit| edit.path == *file.path) {
                manifest.files.push(file);
            } else if let Some(step) = steps::cleaned(&file)? {
                found.steps.push(step);
                found.files.push(file.path.0);
            }
        }
        if mode != Some(Integration::Config) {
            let keys = still_set(repo, std::mem::take(&mut manifest.hook_keys))?;
            found.hook_keys = keys.len();
            found.steps.extend(keys.into_iter().map(Step::Unset));
        }
        if mode != Some(Integration::Shim) {
            found.hooks(repo, manifest, mode)?;
        }
        Ok(found)
    }

    /// The shims in every directory that they were put into, and in the one that git looks into now, should the manifest be
    /// lost. git looks for hooks where it looked before.
    fn hooks(
        &mut self,
        repo: &Repo,
        manifest: &mut Manifest,
        mode: Option<Integration>,
    ) -> Result<(), InstallError> {
        let (own, others) =
            std::mem::take(&mut manifest.fetch).into_iter().partition(|(key, _)| key == HOOKS_PATH);
        manifest.fetch = others;
        self.steps.extend(still_set(repo, own)?.into_iter().map(Step::Unset));
        let mut dirs: Vec<PathBuf> = manifest.places.iter().map(|place| place.dir.0.clone()).collect();
        dirs.extend(Some(repo.hooks_dir()?).filter(|now| !dirs.contains(now)));
        for dir in dirs {
            let notices: Vec<PathBuf> = lefthook::notices(&dir).collect();
            let led_on = forward::led_on(&dir);
            let mut states = match inspect(&dir, manifest) {
                Ok(states) => states,
                // Hooks are switched off here, and were when Andon came.
                Err(InstallError::NoDirectory { .. }) => continue,
                Err(error) => return Err(error),
            };
            // An installation has a word of its own on the notice.
            let ours = led_on.iter().chain(notices.iter().filter(|_| mode.is_none())).cloned();
            self.steps.extend(ours.map(|path| Step::Remove { path, rest: None }));
            let goes = |name: &str| [&led_on, &notices].iter().any(|gone| gone.contains(&dir.join(name)));
            let mut hooks = Vec::new();
            for state in &mut states {
                if goes(state.hook.name()) {
                    state.standing = HookFile::Nothing;
                }
                if goes(&state.hook.chained_name()) {
                    state.chained = HookFile::Nothing;
                }
                let removal = plan::uninstall(state);
                self.steps.extend(steps::put_back(&dir, state.hook, removal));
                hooks.push((state.hook, removal));
            }
            self.places.push(PlaceReport { dir, hooks });
        }
        let places = std::mem::take(&mut manifest.places).into_iter();
        manifest.places = places.filter_map(|place| self.forget(place)).collect();
        Ok(())
    }

    /// The entry for what is left in a place; `None` where all of it goes.
    fn forget(&mut self, mut place: HooksFolder) -> Option<HooksFolder> {
        let report = self.places.iter().find(|report| report.dir == *place.dir)?;
        place.shims.retain(|hook, _| report.left(hook));
        if report.left_any() {
            return Some(place);
        }
        self.created.push(place.created);
        None
    }

    /// Removes the directories, once the steps are made.
    pub(super) fn remove_dirs(&self) {
        self.created.iter().for_each(|created| steps::remove_dirs(created));
    }
}

/// Takes the hooks out again and restores what was there. It can be run again after an error.
pub fn uninstall(repo: &Repo) -> Result<UninstallReport, InstallError> {
    let mut manifest = Manifest::of(repo)?;
    if let Some(top) = repo.workdir() {
        let _ = AndonDir::below(top).remove_unused();
    }
    let mode = manifest.mode;
    let values = std::mem::take(&mut manifest.display_refs).into_iter();
    let shown = still_set(repo, values.map(|value| (DISPLAY_REF_KEY.to_owned(), value)).collect())?;
    let fetch = still_set(repo, std::mem::take(&mut manifest.fetch))?;
    let removal = Removal::plan(repo, &mut manifest, None, &[])?;
    let is_gone = manifest.places.is_empty();
    let kept = (!is_gone).then(|| Box::new(manifest));
    let values = shown.iter().chain(&fetch).cloned().map(Step::Unset);
    let last = Step::Manifest(Manifest::path(repo.common_dir()), kept);
    let steps: Vec<Step> = values.chain(removal.steps.iter().cloned()).chain([last]).collect();
    steps::apply(Some(repo), &steps)?;
    removal.remove_dirs();
    if is_gone {
        let _ = fs::remove_file(program_link(repo));
        let _ = fs::remove_file(schema_file(repo));
        let _ = Manifest::path(repo.common_dir()).parent().map(fs::remove_dir);
    }
    let display_refs = shown.into_iter().map(|(_, value)| value).collect();
    let remarks = remarks(repo, mode);
    // A hook is two keys.
    let (places, files, config_hooks) = (removal.places, removal.files, removal.hook_keys / 2);
    Ok(UninstallReport { places, files, config_hooks, display_refs, fetch, mode, remarks })
}

/// The things that stay, and how to remove them.
pub fn remarks(repo: &Repo, mode: Option<Integration>) -> Vec<String> {
    let mut remarks: Vec<String> = place::for_all(repo).into_iter().collect();
    if let (Some(mode), Some(top), Ok(dir)) = (mode, repo.workdir(), repo.hooks_dir()) {
        remarks.extend(managers::stay(top, mode, &dir));
    }
    if let Some(file) = repo.workdir().map(|top| top.join(CONFIG_FILE)).filter(|file| file.exists()) {
        remarks.push(Hint::ConfigFileStays.with([&quoted(&file)]));
    }
    let left = leftovers(repo);
    if !left.is_empty() {
        let left = left.join(", ");
        remarks.push(format!("{left} stay; {}", Hint::Purge.led("to delete them too")));
    }
    remarks
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeReport {
    /// The number of records of commits that are gone.
    pub records: usize,
    /// Entries of the ledger: halts and answers.
    pub entries: usize,
    /// The folders that are gone.
    pub folders: Vec<PathBuf>,
    /// The refs that remotes have still, by remote, as the last fetch or push showed them.
    pub left_at_remotes: Vec<(String, Vec<String>)>,
}

// `andon uninstall --purge`: records, halts and files are deleted. They are evidence, so that only a person may, and not
// while a loop is halted.

/// Fails where the caller may not delete the evidence.
///
/// # Errors
/// `VerbError::Purge` in the shell of an agent, and while a loop is halted in any worktree.
pub(super) fn may_purge(ctx: &Context) -> Result<()> {
    if let Some(marker) = ctx.agent_mark() {
        let what = format!("this is the shell of an agent ({marker}), and only a person deletes evidence");
        return Err(purge_refused(&what, Hint::Purge.led("a person runs in a shell of their own")));
    }
    let ws = Workspace::open_lenient(ctx)?;
    let refuse = |place: &str| {
        let what = format!("a halt{place} waits for an answer, and its evidence must stay until then");
        purge_refused(&what, Hint::Answer.led("answer it first"))
    };
    if halts::unanswered(ctx, &ws)?.is_some() || stop_files(&ws) != Stops::NONE {
        return Err(refuse(""));
    }
    let ledger = Ledger::open(&ws.repo);
    let own = ws.repo.worktree_name();
    let names = ws.repo.worktree_places().into_iter().map(|one| one.name).chain(["main".to_owned()]);
    for name in names.filter(|name| *name != own) {
        if ledger.standing(&name)?.is_some() {
            return Err(refuse(&format!(" in the worktree {name}")));
        }
    }
    Ok(())
}

fn purge_refused(what: &str, help: impl Into<String>) -> OpsError {
    OpsError::verb(VerbError::Purge, format!("nothing was purged: {what}"), help)
}

/// Deletes everything that uninstalling leaves, but for `andon.toml`. `there` has the folders from before this command, which
/// makes caches of its own.
pub(super) fn purge(repo: &Repo, there: &[PathBuf]) -> Result<PurgeReport> {
    let records = repo.notes_list(NOTES_REF)?.len();
    let entries = Ledger::open(repo).read_all()?.0.len();
    let left_at_remotes = at_remotes(repo)?;
    let refs = refs_to_delete(repo)?;
    if !refs.is_empty() {
        repo.delete_refs(&refs)?;
    }
    let mut folders = Vec::new();
    for folder in folders_of(repo) {
        match if_there(fs::remove_dir_all(&folder)) {
            Ok(Some(())) if there.contains(&folder) => folders.push(folder),
            Ok(_) => {}
            Err(source) => return Err(InstallError::Io { verb: "write", path: folder, source }.into()),
        }
    }
    Ok(PurgeReport { records, entries, folders, left_at_remotes })
}

/// The refs of remotes, by the names that are kept of them here.
fn at_remotes(repo: &Repo) -> Result<Vec<(String, Vec<String>)>, GitError> {
    let mut found = Vec::new();
    for remote in repo.remotes()? {
        let kept = [
            (format!("{}{remote}/", union::REMOTE_PREFIX), union::PREFIX.to_owned()),
            (format!("{}{remote}/ledger/", ledger::REMOTE_PREFIX), ledger::REF_PREFIX.to_owned()),
            (format!("{REMOTE_NOTES}{remote}/"), "refs/notes/".to_owned()),
        ];
        let mut refs = Vec::new();
        for (here, there) in kept {
            let names = repo.refs_with_prefix(&here)?.into_iter().map(|(name, _)| name);
            let names = names.filter_map(|name| Some(format!("{there}{}", name.strip_prefix(&here)?)));
            refs.extend(names.filter(|name| !name.starts_with("refs/notes/") || name.starts_with(NOTES_REF)));
        }
        if !refs.is_empty() {
            found.push((remote, refs));
        }
    }
    Ok(found)
}

fn refs_to_delete(repo: &Repo) -> Result<Vec<String>, GitError> {
    let mut refs: Vec<String> = repo.refs_with_prefix(OWN_REFS)?.into_iter().map(|(name, _)| name).collect();
    let of_remotes = repo.refs_with_prefix(REMOTE_NOTES)?.into_iter().map(|(name, _)| name);
    refs.extend(
        of_remotes.filter(|name| name.rsplit('/').next().is_some_and(|last| last.starts_with("andon"))),
    );
    if repo.ref_target(NOTES_REF)?.is_some() {
        refs.push(NOTES_REF.to_owned());
    }
    Ok(refs)
}
