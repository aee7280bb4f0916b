//! The hook managers that are set up here, and Andon's lines in their files.

use std::path::{Path, PathBuf};

use crate::install::managers::{self, MANAGERS};
use crate::install::{
    Edit, EditedFile, FileChange, FileKind, HookFile, HookState, InstallError, Integration, Layout, Manager,
    ManagerSpec, Manifest, ModeFacts, Owner, Result, edits, framework, husky, inspect::inspect, lefthook,
};
use crate::setup::{HUSKY, hooks_of_husky, live, place};
use andon_core::domain::GitHook;
use andon_engine::view::LostHooks;
use andon_git::Repo;

pub(super) fn situation(
    repo: &Repo,
    top: &Path,
    asked: Option<Integration>,
    manifest: &Manifest,
    states: &[HookState],
) -> ModeFacts {
    let managers = managers(repo, top, states);
    let git = repo.git_version();
    let shims = states.iter().any(|state| is_shim(&state.standing) || is_shim(&state.legacy));
    let earlier =
        manifest.mode.or_else(|| (shims || !manifest.places.is_empty()).then_some(Integration::Shim));
    let earlier = earlier.filter(|mode| match mode {
        // A manager that has taken the place makes an earlier choice void.
        Integration::Shim => shims || managers.is_empty(),
        Integration::Config => git.is_some_and(|git| git >= crate::install::mode::CONFIG_HOOKS_SINCE),
        Integration::Husky | Integration::Lefthook | Integration::PreCommit => {
            managers.iter().any(|manager| manager.mode == *mode)
        }
    });
    let shared_hooks = matches!(place::shared(repo), Ok(Some(_)));
    ModeFacts { asked, earlier, managers, git, shared_hooks }
}

fn is_shim(standing: &HookFile) -> bool {
    matches!(standing, HookFile::Shim { .. })
}

/// The managers that are set up, the one whose hooks git runs first.
fn managers(repo: &Repo, top: &Path, states: &[HookState]) -> Vec<Manager> {
    let there = |name: &&'static str| match name.strip_suffix('/') {
        Some(folder) => top.join(folder).is_dir(),
        None => top.join(name).is_file(),
    };
    let found = |spec: &ManagerSpec| {
        let shown_by = spec.shown_by.iter().find(there)?.trim_end_matches('/');
        Some(Manager { mode: spec.mode, shown_by })
    };
    let mut found: Vec<Manager> = MANAGERS.iter().filter_map(found).collect();
    let first = running(repo, states);
    found.sort_by_key(|manager| Some(manager.mode) != first);
    found
}

/// The manager whose hooks git runs now.
fn running(repo: &Repo, states: &[HookState]) -> Option<Integration> {
    if hooks_of_husky(repo).is_some() {
        return Some(Integration::Husky);
    }
    let of = |file: &HookFile| {
        let HookFile::Foreign { owner, .. } = file else { return None };
        MANAGERS.iter().find(|manager| manager.owners.contains(owner)).map(|manager| manager.mode)
    };
    states.iter().find_map(|state| of(&state.standing).or_else(|| of(&state.chained)))
}

/// The edits for `mode`; none for those that write no files of others.
pub(super) fn plan(repo: &Repo, top: &Path, mode: Integration, manifest: &Manifest) -> Result<Vec<Edit>> {
    match mode {
        Integration::Shim | Integration::Config => Ok(Vec::new()),
        Integration::Husky => husky_edits(repo, top, manifest),
        Integration::Lefthook => lefthook_edits(repo, top, manifest),
        Integration::PreCommit => framework_edits(top, manifest),
    }
}

/// A file with what is ours taken out of it.
struct Bare {
    path: PathBuf,
    before: Option<Vec<u8>>,
    rest: Vec<u8>,
}

fn bare(base: &Path, path: PathBuf, manifest: &Manifest) -> Result<Bare> {
    let before = edits::read(base, &path)?;
    let known = manifest.file(&path).map_or(&[][..], |file: &EditedFile| &file.inserted);
    let rest = before.as_deref().map(|bytes| edits::strip(bytes, known)).unwrap_or_default();
    Ok(Bare { path, before, rest })
}

fn with_block(file: Bare, at: usize, block: &str) -> Edit {
    let (after, inserted) = edits::insert(&file.rest, at, block);
    Edit { path: file.path, before: file.before, after, inserted: vec![inserted], made: FileKind::Text }
}

fn husky_edits(repo: &Repo, top: &Path, manifest: &Manifest) -> Result<Vec<Edit>> {
    let dir = top.join(HUSKY);
    let layout = hooks_of_husky(repo).unwrap_or_else(|| {
        let sourced = dir.join("_/husky.sh").is_file() && !dir.join("_/h").is_file();
        if sourced { Layout::Sourced } else { Layout::Plain }
    });
    let mut edits = Vec::new();
    for hook in GitHook::ALL {
        let file = bare(top, dir.join(hook.name()), manifest)?;
        if file.rest.is_empty() {
            let text = husky::new_file(hook, layout);
            let made = if layout == Layout::Sourced { FileKind::Program } else { FileKind::Text };
            edits.push(Edit { made, ..with_block(file, 0, &text) });
            continue;
        }
        let at = husky::position(hook, &file.rest).map_err(|early| InstallError::ByHand {
            path: file.path.clone(),
            why: format!("line {} may end the script before lines at its end run", early.line),
            lines: husky::block(hook),
        })?;
        edits.push(with_block(file, at, &husky::block(hook)));
    }
    Ok(edits)
}

fn lefthook_edits(repo: &Repo, top: &Path, manifest: &Manifest) -> Result<Vec<Edit>> {
    let by_hand = |path: &Path, why: String| InstallError::ByHand {
        path: path.to_owned(),
        why,
        lines: lefthook::block(),
    };
    if let Some(other) = lefthook::OTHER_LOCALS.iter().find(|name| top.join(name).exists()) {
        return Err(by_hand(&top.join(other), format!("lefthook reads it in place of {}", lefthook::LOCAL)));
    }
    let file = bare(top, top.join(lefthook::LOCAL), manifest)?;
    if let Some(hook) = lefthook::taken(&file.rest) {
        return Err(by_hand(&file.path, format!("it configures {} already", hook.name())));
    }
    let fresh = file.before.is_none() || manifest.file(&file.path).is_some();
    let at = file.rest.len();
    let mut edits = vec![with_block(file, at, &lefthook::block())];
    // A file that git would track is code that was not tested.
    if fresh && (manifest.file(&exclude(repo)).is_some() || !repo.is_ignored(lefthook::LOCAL)) {
        let common = repo.common_dir();
        let file = bare(common, exclude(repo), manifest)?;
        let at = file.rest.len();
        edits.push(with_block(file, at, &edits::marked(0, &format!("/{}\n", lefthook::LOCAL))));
    }
    Ok(edits)
}

fn exclude(repo: &Repo) -> PathBuf {
    repo.common_dir().join("info").join("exclude")
}

fn framework_edits(top: &Path, manifest: &Manifest) -> Result<Vec<Edit>> {
    let path = top.join(framework::FILE);
    let odd = |path: &Path, text: &[u8], why: &str| {
        let text = String::from_utf8_lossy(text);
        let lines = if path.ends_with(framework::PREK_FILE) {
            framework::prek_lines(&text)
        } else {
            format!("{}{}", framework::defaults(&text), framework::entry(0))
        };
        InstallError::ByHand { path: path.to_owned(), why: why.to_owned(), lines }
    };
    if !path.exists() {
        let mut names = framework::FILES.iter().map(|name| top.join(name));
        let other = names.find(|path| path.exists()).unwrap_or(path);
        let text = edits::read(top, &other)?.unwrap_or_default();
        let is_there = if other.ends_with(framework::PREK_FILE) {
            framework::prek_names_andon(&String::from_utf8_lossy(&text))
        } else {
            framework::answer(&text) == FileChange::There
        };
        if is_there {
            return Ok(Vec::new());
        }
        return Err(odd(&other, &text, "only .pre-commit-config.yaml is edited"));
    }
    let file = bare(top, path, manifest)?;
    match framework::answer(&file.rest) {
        FileChange::There => Ok(Vec::new()),
        FileChange::Unsafe(why) => Err(odd(&file.path, &file.rest, why)),
        FileChange::Put(put) => {
            let (mut after, mut inserted) = (file.rest, Vec::new());
            for (at, block) in put {
                let (text, one) = edits::insert(&after, at, &block);
                after = text;
                inserted.push(one);
            }
            Ok(vec![Edit { path: file.path, before: file.before, after, inserted, made: FileKind::Text }])
        }
    }
}

/// Remarks for a person on the lines of `mode`.
pub(super) fn remarks(top: &Path, mode: Integration) -> Vec<String> {
    let mut remarks: Vec<String> =
        managers::of(mode).map(|manager| manager.remark.to_owned()).into_iter().collect();
    if mode == Integration::PreCommit && framework::runs_others_everywhere(&configuration(top)) {
        remarks.push(format!(
            "a hook that names no stages runs at every hook of andon; to have it run once, add:  {}: [pre-commit]",
            framework::STAGES_KEY
        ));
    }
    remarks
}

/// The configuration of pre-commit, where it can be read.
fn configuration(top: &Path) -> Vec<u8> {
    edits::read(top, &top.join(framework::FILE)).ok().flatten().unwrap_or_default()
}

/// The step that is missing before git starts the lines of `mode`: the manager puts its own hooks in place.
pub(super) fn waits(repo: &Repo, mode: Integration) -> Option<LostHooks> {
    managers::of(mode)?;
    live::look(repo).gone()
}

/// The hooks of a manager in `dir` that stay when our lines are out of its files, and how they go.
pub(super) fn stay(top: &Path, mode: Integration, dir: &Path) -> Option<String> {
    let owners = managers::of(mode)?.owners;
    let text = configuration(top);
    let needed = |hook: GitHook| {
        if mode == Integration::PreCommit {
            framework::is_listed(&text, hook)
        } else {
            hook == GitHook::PreCommit
        }
    };
    let states = inspect(dir, &Manifest::default()).ok()?;
    let owner_of = |state: &HookState| {
        let HookFile::Foreign { owner, .. } = &state.standing else { return None };
        (owners.contains(owner) && !needed(state.hook)).then_some(*owner)
    };
    let left: Vec<(GitHook, Owner)> =
        states.iter().filter_map(|state| Some((state.hook, owner_of(state)?))).collect();
    let owner = left.first()?.1;
    let names: Vec<&str> = left.iter().map(|(hook, _)| hook.name()).collect();
    let how = if owner == Owner::Lefthook {
        "lefthook uninstall && lefthook install".to_owned()
    } else {
        let types: String = names.iter().map(|name| format!(" --hook-type {name}")).collect();
        format!("{} uninstall{types}", owner.as_str())
    };
    Some(format!(
        "{} put hooks into {} that stay: {}; where nothing else needs them: {how}",
        owner.as_str(),
        dir.display(),
        names.join(", ")
    ))
}
