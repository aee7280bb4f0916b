//! Compares what guards the loop before and after each tool call: hooks, the place where git looks for them, the client's
//! settings, the files of a halt, the refs of records and the person's own configuration. Whatever was removed meanwhile is put
//! back where that is safe, and reported. The text of the command does not matter.

use std::path::{Path, PathBuf};

use super::place::{LiveSession, Place, hooks_dir};
use crate::install::clients::place::{Scope, SettingsFile, files};
use crate::install::clients::{programs, programs_in};
use crate::install::manifest::Manifest;
use crate::install::shim::{self, Content, Owner};
use crate::setup::clients::{roots, saved_path};
use crate::setup::live::{self, GuardState};
use crate::verbs::agent_hook::text as words;
use andon_agents::{HookPayload, ruling::Touch};
use andon_core::domain::agent_door::{AgentAction, ToolKind};
use andon_core::domain::ids::{CommitId, TreeId};
use andon_core::domain::{
    client_spec::FileOwner, diagnostic::Diagnostic, events::EventKind, findings::ReportFile,
    git_hook::GitHook,
};
use andon_core::escape::terminal_clip;
use andon_engine::gate::rule_feed::RuleFeed;
use andon_engine::halts::{self, PAUSE_FILE, STOP_FILE};
use andon_engine::{effect, error::OpsError};
use andon_git::platform::paths::bytes_of;
use andon_git::{Repo, Update, platform::files as modes};
use andon_store::guard_state::{GuardFile, GuardPart, GuardSnapshot};
use andon_store::{ledger, process, wire};

/// Largest file that is kept.
const MAX_FILE: u64 = 256 << 10;
/// Most refs that are kept.
const MAX_REFS: usize = 64;
const HOOKS_PATH: &str = "core.hooksPath";

/// A part of the guard that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GuardChange {
    /// The lost part, in words.
    pub(super) what: String,
    /// It is as before by now.
    pub(super) is_back: bool,
    pub(super) fault: Fault,
}

/// The weight of a change against the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is recorded, and the second halts.
    Counted,
    /// It is only reported: a file of a halt, which a person may have deleted, or what a hook manager writes.
    Told,
}
fn may_change(payload: &HookPayload) -> bool {
    payload.calls.iter().any(|call| call.used.kind != ToolKind::Read)
}

/// The fate of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallState {
    /// It runs now, and its end is awaited.
    Runs,
    /// It does not run; another one may.
    Refused,
}

/// Before a tool call: takes the snapshot that the call is compared with. Finds what calls that still run have removed by now, and
/// what has disappeared since the last call.
pub(super) fn begin(
    place: &Place<'_>,
    payload: &HookPayload,
    call: CallState,
) -> Result<Vec<Diagnostic>, OpsError> {
    if !may_change(payload) {
        return Ok(Vec::new());
    }
    let kept = of_session(place);
    let notes = look(place, kept.as_ref())?;
    let running = kept.map_or(0, |kept| kept.open);
    if running > 0 || call == CallState::Runs {
        keep(place, running.saturating_add(u32::from(call == CallState::Runs)))?;
    }
    Ok(notes)
}

/// Tells the person about parts that are missing by now, while calls run or between two of them.
fn look(place: &Place<'_>, kept: Option<&GuardSnapshot>) -> Result<Vec<Diagnostic>, OpsError> {
    match kept {
        Some(kept) if kept.open > 0 => told(place, &compare(place, kept)),
        Some(kept) if kept.in_turn => Ok(told_between(&between(place, kept)).into_iter().collect()),
        Some(_) | None => Ok(Vec::new()),
    }
}

/// A call has run: what it took away is recorded, and `watch` asks the rules.
pub(super) fn end(
    place: &Place<'_>,
    payload: &HookPayload,
    feed: &mut RuleFeed<'_>,
) -> Result<Vec<GuardChange>, OpsError> {
    if !may_change(payload) {
        return Ok(Vec::new());
    }
    let Some(kept) = open(place) else {
        let taken: Vec<GuardChange> = lost_folder(place).into_iter().collect();
        record(place, &taken, feed)?;
        return Ok(taken);
    };
    let taken = compare(place, &kept);
    let left = kept.open.saturating_sub(1);
    if taken.is_empty() {
        GuardSnapshot { open: left, ..kept }.write(place.ws.repo.git_dir())?;
    } else {
        keep(place, left)?;
    }
    record(place, &taken, feed)?;
    Ok(taken)
}

/// The turn is over: no call runs any more. What is said to the person of what the last ones took away. A call whose end was
/// not told may have written files: some clients report nothing about one that failed, or do not wait for the hook.
pub(super) fn close(live: &mut LiveSession<'_>) -> Result<Vec<Diagnostic>, OpsError> {
    let kept = of_session(live);
    let notes = look(live, kept.as_ref())?;
    if kept.is_some_and(|kept| kept.open > 0) && live.known.turn.touch < Touch::Ran {
        live.remember(AgentAction::Wrote, Touch::Ran.as_str(), None)?;
    }
    forget(live)?;
    Ok(notes)
}

/// Stops the comparison with the kept snapshot.
pub(super) fn forget(place: &Place<'_>) -> Result<(), OpsError> {
    let Some(kept) = of_session(place).filter(|kept| kept.open > 0 || kept.in_turn) else { return Ok(()) };
    Ok(GuardSnapshot { open: 0, in_turn: false, ..kept }.write(place.ws.repo.git_dir())?)
}

/// Says what the last tool call took from the guard, and whether it is back.
pub(super) fn taken_text(all: &[GuardChange]) -> String {
    words::bounded(&format!(
        "andon: the last call took away what guards this loop: {}.\nThat is a person's to change. Once more halts the loop.\nhelp: \
         andon status",
        fates(all)
    ))
}

fn fates(all: &[GuardChange]) -> String {
    let one = |change: &GuardChange| {
        let fate = if change.is_back { "put back" } else { "NOT put back: tell the person" };
        format!("{} ({fate})", terminal_clip(&change.what, 200))
    };
    all.iter().map(one).collect::<Vec<String>>().join("; ")
}

fn told(place: &Place<'_>, taken: &[GuardChange]) -> Result<Vec<Diagnostic>, OpsError> {
    if taken.is_empty() {
        return Ok(Vec::new());
    }
    let mut feed = RuleFeed::new(place.ctx, place.ws);
    record(place, taken, &mut feed)?;
    let text = taken_text(taken);
    let note = Diagnostic::warning(text).help("andon doctor");
    Ok([note].into_iter().chain(feed.end()?.1).collect())
}

fn record(place: &Place<'_>, taken: &[GuardChange], feed: &mut RuleFeed<'_>) -> Result<(), OpsError> {
    let counted: Vec<&str> =
        taken.iter().filter(|one| one.fault == Fault::Counted).map(|one| one.what.as_str()).collect();
    if counted.is_empty() {
        return Ok(());
    }
    let line = place.event(None, EventKind::Disarmed(counted.join("; ")));
    place.append(&line)?;
    feed.take(line)
}

/// The snapshot for calls of this session that have not ended.
fn open(place: &Place<'_>) -> Option<GuardSnapshot> {
    of_session(place).filter(|kept| kept.open > 0)
}

fn of_session(place: &Place<'_>) -> Option<GuardSnapshot> {
    GuardSnapshot::read(place.ws.repo.git_dir()).filter(|kept| kept.session == place.session)
}

fn keep(place: &Place<'_>, open: u32) -> Result<(), OpsError> {
    let repo = &place.ws.repo;
    let (head, stash) = marks(repo);
    let snapshot = GuardSnapshot {
        head,
        stash,
        session: place.session.clone(),
        open,
        in_turn: true,
        armed: hooks_dir(place.ws).is_some_and(|dir| live::look_at(repo, &dir) == GuardState::Yes),
        hooks_path: repo.config_string(HOOKS_PATH),
        files: guard_files(place),
        refs: refs(place),
        client: process::starter(place.ctx.parent),
    };
    Ok(snapshot.write(repo.git_dir())?)
}

fn refs(place: &Place<'_>) -> Vec<(String, String)> {
    let repo = &place.ws.repo;
    let notes = repo.ref_target(wire::NOTES_REF).ok().flatten().map(|id| (wire::NOTES_REF.to_owned(), id));
    let ledgers = repo.refs_with_prefix(ledger::REF_PREFIX).unwrap_or_default();
    notes.into_iter().chain(ledgers).take(MAX_REFS).map(|(name, id)| (name, id.to_string())).collect()
}

fn guard_files(place: &Place<'_>) -> Vec<GuardFile> {
    let (ctx, repo) = (place.ctx, &place.ws.repo);
    let hooks =
        hooks_dir(place.ws).into_iter().flat_map(|dir| GitHook::ALL.map(|hook| dir.join(hook.name())));
    let saved = Scope::ALL.iter().filter_map(|(scope, _)| saved_path(ctx, Some(repo), *scope));
    let installed = saved.chain([Manifest::path(repo.common_dir())]);
    let halts =
        place.ws.andon_dir().into_iter().flat_map(|dir| halt_names().map(move |name| dir.path().join(name)));
    let user = ctx.user_config.clone();
    let of = |part| move |path: PathBuf| file(path, part);
    let ours = |file: &GuardFile| file.text.as_deref().is_some_and(|text| text.contains("andon"));
    let there = |file: &GuardFile| file.text.is_some();
    hooks
        .map(of(GuardPart::Hook))
        .filter(ours)
        .chain(settings(place).map(|file| file.path).map(of(GuardPart::Settings)).filter(there))
        .chain(switches(place).map(of(GuardPart::Switch)))
        .chain(halts.map(of(GuardPart::Halt)).filter(there))
        .chain(user.into_iter().map(of(GuardPart::UserConfig)))
        .chain(installed.map(of(GuardPart::Installed)))
        .chain([file(repo.common_dir().join("config"), GuardPart::Config)])
        .collect()
}

fn halt_names() -> impl Iterator<Item = &'static str> {
    ReportFile::ALL.into_iter().map(|(file, _)| file.file_name()).chain([STOP_FILE, PAUSE_FILE])
}

/// The settings of this client that start Andon.
fn settings(place: &Place<'_>) -> impl Iterator<Item = SettingsFile> {
    let roots = roots(place.ctx, Some(&place.ws.repo));
    let all = Scope::ALL.map(|(scope, _)| files(place.client, scope, &roots));
    all.into_iter().flatten().filter(starts)
}

/// Settings that do not start Andon and could switch off what others start, whether they are there or not: Claude Code and Droid
/// read a second file of settings in a project.
fn switches(place: &Place<'_>) -> impl Iterator<Item = PathBuf> {
    let roots = roots(place.ctx, Some(&place.ws.repo));
    let all = Scope::ALL.map(|(scope, _)| files(place.client, scope, &roots));
    let shared = all.into_iter().flatten().filter(|file| file.way == FileOwner::Shared);
    shared.flat_map(|file| {
        let is_settings = file.path.file_name().is_some_and(|name| name == "settings.json");
        let local = is_settings.then(|| file.path.with_file_name("settings.local.json"));
        let own = (!starts(&file)).then(|| file.path.clone());
        own.into_iter().chain(local)
    })
}

fn starts(file: &SettingsFile) -> bool {
    let is_on = || {
        let text = std::fs::read(&file.path).unwrap_or_default();
        !andon_agents::switches_off(&text)
    };
    match file.way {
        FileOwner::Shared => !programs(file).is_empty() && is_on(),
        FileOwner::Whole | FileOwner::Program => file.path.is_file(),
    }
}

fn file(path: PathBuf, part: GuardPart) -> GuardFile {
    let bytes = andon_git::read_plain(&path, MAX_FILE).ok().flatten();
    let executable =
        part == GuardPart::Hook && path.metadata().is_ok_and(|facts| modes::is_executable(&facts));
    GuardFile { text: bytes.and_then(|bytes| String::from_utf8(bytes).ok()), executable, path, part }
}

/// Hooks and records that are missing while no call runs: a program that a call left behind may have taken them, or a
/// person. It is put back without an accusation. Files of a halt and a person's own configuration are left as they are.
fn between(place: &Place<'_>, kept: &GuardSnapshot) -> Vec<GuardChange> {
    let changed = changed(kept);
    if changed.iter().any(|file| file.part == GuardPart::Installed) {
        return Vec::new();
    }
    let hooks: Vec<&GuardFile> = changed.into_iter().filter(|file| file.part == GuardPart::Hook).collect();
    let lost = lost_hooks(place, kept, &hooks).into_iter().chain(lost_refs(place, &kept.refs));
    lost.map(|taken| GuardChange { fault: Fault::Told, ..taken }).collect()
}

fn told_between(taken: &[GuardChange]) -> Option<Diagnostic> {
    let text =
        words::bounded(&format!("what guards this loop went away between two calls: {}", fates(taken)));
    (!taken.is_empty())
        .then(|| Diagnostic::warning(text).help("a person who wants that runs: andon uninstall"))
}

/// The loss of the folder in which all this is kept, while git still starts Andon: `andon uninstall` takes both away.
fn lost_folder(place: &Place<'_>) -> Option<GuardChange> {
    let repo = &place.ws.repo;
    let dir = hooks_dir(place.ws)?;
    let is_shim = |hook: GitHook| {
        let text = andon_git::read_plain(&dir.join(hook.name()), MAX_FILE).ok().flatten().unwrap_or_default();
        matches!(shim::classify(&text, hook, None), Content::Shim { .. })
    };
    let manifest = Manifest::path(repo.common_dir());
    let is_gone = GuardSnapshot::read(repo.git_dir()).is_none() && !manifest.exists();
    (is_gone && GitHook::needed().all(is_shim)).then(|| GuardChange {
        what: format!("what is kept of this loop ({})", manifest.parent().unwrap_or(&manifest).display()),
        is_back: false,
        fault: Fault::Counted,
    })
}

fn changed(kept: &GuardSnapshot) -> Vec<&GuardFile> {
    kept.files.iter().filter(|before| file(before.path.clone(), before.part) != **before).collect()
}

/// The parts of a snapshot that are missing by now.
fn compare(place: &Place<'_>, kept: &GuardSnapshot) -> Vec<GuardChange> {
    let changed = changed(kept);
    let of = |part| changed.iter().copied().filter(move |file| file.part == part).collect::<Vec<_>>();
    let mut lost = Vec::new();
    // `andon install`, `andon uninstall` and `andon agent` say in these what they did.
    if of(GuardPart::Installed).is_empty() {
        lost.extend(lost_hooks(place, kept, &of(GuardPart::Hook)));
        lost.extend(lost_settings(place, kept, &of(GuardPart::Settings)));
        lost.extend(switched_off(place, kept, &of(GuardPart::Switch)));
    }
    lost.extend(lost_halts(place, &of(GuardPart::Halt)));
    lost.extend(of(GuardPart::UserConfig).into_iter().map(|before| GuardChange {
        what: format!("your own configuration ({})", before.path.display()),
        is_back: put_back(before),
        fault: Fault::Counted,
    }));
    lost.extend(lost_refs(place, &kept.refs));
    lost
}

fn lost_hooks(place: &Place<'_>, kept: &GuardSnapshot, changed: &[&GuardFile]) -> Option<GuardChange> {
    let repo = &place.ws.repo;
    let now = repo.config_string(HOOKS_PATH);
    if !kept.armed || (now == kept.hooks_path && changed.is_empty()) {
        return None;
    }
    let is_pristine = |before: &GuardFile, text: &str| {
        let hook = before.path.file_name().and_then(|name| GitHook::from_name(&name.to_string_lossy()));
        hook.is_some_and(|hook| matches!(shim::classify(text.as_bytes(), hook, None), Content::Shim { .. }))
    };
    let is_edited = |before: &&&GuardFile| {
        let now = file(before.path.clone(), before.part).text.unwrap_or_default();
        let was = before.text.as_deref().unwrap_or_default();
        is_pristine(before, was) && now.contains("andon") && !is_pristine(before, &now)
    };
    let edited: Vec<&GuardFile> = changed.iter().filter(is_edited).copied().collect();
    let state = hooks_dir(place.ws).map(|dir| live::look_at(repo, &dir));
    let what = match (state, edited.first()) {
        (Some(GuardState::Gone(gone)), _) => format!("git's hooks ({})", gone.what),
        (_, Some(first)) => format!("git's hooks ({} was changed)", first.path.display()),
        (_, None) => return None,
    };
    // Hooks may be files of the project.
    let by_git = changed.iter().map(|before| origin(place, kept, before)).max();
    let origin = by_git.filter(|_| now == kept.hooks_path).unwrap_or(Origin::Written);
    if origin == Origin::Checkout {
        return None;
    }
    if is_by_manager(place) {
        return Some(GuardChange { what, is_back: false, fault: Fault::Told });
    }
    if now != kept.hooks_path {
        lead_back(repo, now.as_deref(), kept);
    }
    for before in changed {
        put_back(before);
    }
    let is_back = hooks_dir(place.ws).is_some_and(|dir| live::look_at(repo, &dir) == GuardState::Yes);
    Some(GuardChange { what, is_back, fault: fault_of(origin) })
}

/// Has git look for hooks where it did: what the repository's own configuration says of it is set as it was, and where another
/// file has the last word, the directory is named behind that one. Best effort: whether it worked is looked at afterwards.
fn lead_back(repo: &Repo, now: Option<&str>, kept: &GuardSnapshot) {
    let _ = now.iter().try_for_each(|value| repo.config_remove(HOOKS_PATH, value));
    let is_back = || repo.config_string(HOOKS_PATH) == kept.hooks_path;
    let missing = kept.hooks_path.as_ref().filter(|_| !is_back());
    let _ = missing.iter().try_for_each(|value| repo.config_add(HOOKS_PATH, value));
    let config = kept.files.iter().find(|file| file.part == GuardPart::Config);
    if !is_back()
        && let Some(config) = config
    {
        put_back(config);
    }
    let hooks =
        kept.files.iter().find(|file| file.part == GuardPart::Hook).and_then(|file| file.path.parent());
    if !is_back()
        && let Some(dir) = hooks.and_then(Path::to_str)
    {
        let _ = repo.config_add(HOOKS_PATH, dir);
    }
}

/// True where a hook manager wrote the hooks that are there now, as installing packages may do.
fn is_by_manager(place: &Place<'_>) -> bool {
    let Some(dir) = hooks_dir(place.ws) else { return false };
    [GitHook::PreCommit].into_iter().chain(GitHook::needed()).any(|hook| {
        let text = andon_git::read_plain(&dir.join(hook.name()), MAX_FILE).ok().flatten().unwrap_or_default();
        let owner = shim::classify(&text, hook, None);
        matches!(owner, Content::Foreign(owner) if owner != Owner::Somebody)
    })
}

/// Settings that start Andon less than before.
fn lost_settings(place: &Place<'_>, kept: &GuardSnapshot, changed: &[&GuardFile]) -> Vec<GuardChange> {
    let still: Vec<SettingsFile> = settings(place).collect();
    let gone = changed.iter().filter(|before| {
        let now = still.iter().find(|file| file.path == before.path);
        now.is_none_or(|file| starts_less(file, before.text.as_deref().unwrap_or_default()))
    });
    let what = |path: &Path| format!("the settings that start Andon ({})", path.display());
    gone.filter_map(|before| taken(place, kept, before, what)).collect()
}

/// Other settings that switch off by now what those of Andon start.
fn switched_off(place: &Place<'_>, kept: &GuardSnapshot, changed: &[&GuardFile]) -> Vec<GuardChange> {
    let is_off = |file: &GuardFile| {
        file.text.as_deref().is_some_and(|text| andon_agents::switches_off(text.as_bytes()))
    };
    let now = |before: &GuardFile| file(before.path.clone(), before.part);
    let off = changed.iter().filter(|before| !is_off(before) && is_off(&now(before)));
    let what = |path: &Path| format!("the hooks of the client, which {} switched off", path.display());
    off.filter_map(|before| taken(place, kept, before, what)).collect()
}

/// Puts a file back as it was; nothing where git checked out what is there now.
fn taken(
    place: &Place<'_>,
    kept: &GuardSnapshot,
    before: &GuardFile,
    what: impl Fn(&Path) -> String,
) -> Option<GuardChange> {
    let origin = Some(origin(place, kept, before)).filter(|origin| *origin != Origin::Checkout)?;
    Some(GuardChange { what: what(&before.path), is_back: put_back(before), fault: fault_of(origin) })
}

/// The fault in a file of this origin.
fn fault_of(origin: Origin) -> Fault {
    match origin {
        Origin::Written => Fault::Counted,
        Origin::Checkout | Origin::Dropped => Fault::Told,
    }
}

/// True where settings start Andon in fewer places than `before`, or by another program. Of a file that is ours as a whole
/// any change says so.
fn starts_less(file: &SettingsFile, before: &str) -> bool {
    match file.way {
        FileOwner::Shared => {
            let (was, now) = (programs_in(before, file.client), programs(file));
            now.len() < was.len() || was.iter().any(|program| !now.contains(program))
        }
        FileOwner::Whole | FileOwner::Program => true,
    }
}

/// Files of a halt that disappeared while the halt is unanswered. A person's `andon resume` would be in the ledger.
fn lost_halts(place: &Place<'_>, changed: &[&GuardFile]) -> Vec<GuardChange> {
    let gone: Vec<&&GuardFile> = changed.iter().filter(|before| !before.path.exists()).collect();
    let unanswered = || halts::binding(place.ws).is_ok_and(|halt| halt.is_some());
    if gone.is_empty() || !unanswered() {
        return Vec::new();
    }
    let site = place.ws.site(place.ctx);
    let shown = |before: &&&GuardFile| {
        let name = before.path.file_name()?.to_string_lossy().into_owned();
        let is_back = effect::write_andon_file(&site, &name, before.text.as_deref()?).is_ok();
        Some(GuardChange { what: format!("the file of a halt (.andon/{name})"), is_back, fault: Fault::Told })
    };
    gone.iter().filter_map(shown).collect()
}

/// Refs that are gone, or went back to what they were long ago. A commit moves them on.
fn lost_refs(place: &Place<'_>, kept: &[(String, String)]) -> Vec<GuardChange> {
    let repo = &place.ws.repo;
    let lost = |(name, was): &(String, String)| {
        let was: CommitId = was.parse().ok()?;
        let now = repo.ref_commit(name).ok()?;
        let is_back = |now: CommitId| now != was && repo.is_ancestor(now, was).unwrap_or(false);
        if now.is_some_and(|now| !is_back(now)) {
            return None;
        }
        let set = |_: Option<CommitId>| Ok(Update::Set(was, ()));
        let is_back = repo.update_ref(name, "andon: put back", set).is_ok();
        Some(GuardChange { what: format!("the refs of records ({name})"), is_back, fault: Fault::Counted })
    };
    kept.iter().filter_map(lost).collect()
}

/// Writes a file as it was; whether that worked.
fn put_back(before: &GuardFile) -> bool {
    let path: &Path = &before.path;
    let done = match &before.text {
        Some(text) => andon_git::replace_plain(path, text.as_bytes()),
        None => std::fs::remove_file(path),
    };
    let mode = modes::permissions(0o755).filter(|_| before.executable);
    done.is_ok() && mode.is_none_or(|mode| std::fs::set_permissions(path, mode).is_ok())
}

const STASH: &str = "refs/stash";

/// The origin of a file as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// HEAD is another commit, or something was stashed: the file is what the checkout says, and stays.
    Checkout,
    /// It was not committed and is gone, by `git clean`, `git restore` or a plain deletion.
    Dropped,
    /// Somebody wrote it, or committed that it is gone.
    Written,
}

/// HEAD and the newest stash, as a snapshot has them.
fn marks(repo: &Repo) -> (Option<String>, Option<String>) {
    let head = repo.head().ok().and_then(|head| head.commit());
    let stash = repo.ref_target(STASH).ok().flatten();
    (head.map(|head| head.to_string()), stash.map(|stash| stash.to_string()))
}

/// The origin of the file that is in the place of `before` now.
fn origin(place: &Place<'_>, kept: &GuardSnapshot, before: &GuardFile) -> Origin {
    origin_in(&place.ws.repo, kept, before).unwrap_or(Origin::Written)
}

fn origin_in(repo: &Repo, kept: &GuardSnapshot, before: &GuardFile) -> Option<Origin> {
    let path = before
        .path
        .strip_prefix(repo.workdir()?)
        .ok()
        .filter(|_| !before.path.starts_with(repo.common_dir()))?;
    let path = bytes_of(path.as_os_str());
    let entry = |tree: TreeId| repo.entry_at(tree, &path).ok().map(|found| found.map(|(_, id)| id));
    let head = repo.head().ok()?.commit()?;
    let now = entry(repo.tree_of(head).ok()?)?;
    if now != repo.worktree_blob(&path) {
        return None;
    }
    let was: Option<CommitId> = kept.head.as_ref().and_then(|head| head.parse().ok());
    let is_moved = was != Some(head);
    // A commit on top that takes it away is no checkout.
    let is_committed = || {
        let is_next = repo.commit(head).is_ok_and(|commit| commit.parents.first() == was.as_ref());
        let before = was.and_then(|was| entry(repo.tree_of(was).ok()?));
        is_next && before.is_some_and(|before| before != now)
    };
    if is_moved && is_committed() {
        return None;
    }
    let is_stashed = marks(repo).1 != kept.stash;
    Some(if is_moved || is_stashed { Origin::Checkout } else { Origin::Dropped })
}
