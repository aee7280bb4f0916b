//! Compares what guards the loop before and after each tool call: hooks, the place where git looks for them, the client's
//! settings, the files of a halt, the refs of records and the person's own configuration. Whatever was removed meanwhile is put
//! back where that is safe, and reported. The text of the command does not matter.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::origin_by_git::{Origin, marks, origin_by_git};
use super::place::{LiveSession, Place};
use crate::install::clients::{
    merge::switches_off, place::files, programs, starts_before_tools, starts_less,
};
use crate::install::shim::{self, Content};
use crate::install::{Manifest, Owner, Scope, SettingsFile};
use crate::setup::clients::{guard_store, leads_away, roots, saved_path};
use crate::setup::{GuardState, live, place::HOOKS_PATH};
use crate::verbs::agent_hook::text as words;
use andon_agents::{HookPayload, ruling::Touch};
use andon_core::domain::{
    AgentAction, Client, CommitId, Diagnostic, EventKind, FileOwner, GitHook, Hint, ReportFile, ToolKind,
};
use andon_core::escape::terminal_clip;
use andon_engine::halts::{self, PAUSE_FILE, STOP_FILE};
use andon_engine::{Context, Result, effect, gate::RuleFeed};
use andon_git::{Repo, Update, platform::files as modes};
use andon_store::{
    FileStamp, GuardFile, GuardPart, GuardSnapshot, guard_state::stamp, journal::extents, ledger,
    lost_records, process, wire,
};

/// Largest file that is kept.
const MAX_FILE: u64 = 256 << 10;
/// Most refs that are kept.
const MAX_REFS: usize = 64;

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

impl Fault {
    /// The fault in a file that git itself explains, or does not.
    fn of(by_git: Option<Origin>) -> Self {
        if by_git.is_some() { Self::Told } else { Self::Counted }
    }
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
pub(super) fn begin(place: &Place<'_>, payload: &HookPayload, call: CallState) -> Result<Vec<Diagnostic>> {
    if !may_change(payload) {
        return Ok(Vec::new());
    }
    let kept = of_session(place);
    let notes = look(place, kept.as_ref())?;
    let running = kept.as_ref().map_or(0, |kept| kept.open);
    if running > 0 || call == CallState::Runs {
        keep(place, kept.as_ref(), running.saturating_add(u32::from(call == CallState::Runs)))?;
    }
    Ok(notes)
}

/// Tells the person about parts that are missing by now, while calls run or between two of them.
fn look(place: &Place<'_>, kept: Option<&GuardSnapshot>) -> Result<Vec<Diagnostic>> {
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
) -> Result<Vec<GuardChange>> {
    if !may_change(payload) {
        return Ok(Vec::new());
    }
    let Some(kept) = of_session(place).filter(|kept| kept.open > 0) else { return Ok(Vec::new()) };
    let taken = compare(place, &kept);
    let left = kept.open.saturating_sub(1);
    if taken.is_empty() {
        guard_store(place.ctx, &place.ws.repo)
            .keep(&GuardSnapshot { open: left, ..kept.clone() }, Some(&kept))?;
    } else {
        keep(place, Some(&kept), left)?;
    }
    record(place, &taken, feed)?;
    Ok(taken)
}

/// The turn is over: no call runs any more. What is said to the person of what the last ones took away. A call whose end was
/// not told may have written files: some clients report nothing about one that failed, or do not wait for the hook.
pub(super) fn close(live: &mut LiveSession<'_>) -> Result<Vec<Diagnostic>> {
    let kept = of_session(live);
    let notes = look(live, kept.as_ref())?;
    if kept.is_some_and(|kept| kept.open > 0) && live.known.turn.touch < Touch::Ran {
        live.remember(AgentAction::Wrote, Touch::Ran.as_str(), None)?;
    }
    forget(live)?;
    Ok(notes)
}

/// Stops the comparison with the kept snapshot.
pub(super) fn forget(place: &Place<'_>) -> Result<()> {
    let Some(kept) = of_session(place).filter(|kept| kept.open > 0 || kept.in_turn) else { return Ok(()) };
    Ok(guard_store(place.ctx, &place.ws.repo).close(kept)?)
}

/// Says what the last tool call took from the guard, and whether it is back.
pub(super) fn taken_text(all: &[GuardChange]) -> String {
    words::bounded(&format!(
        "andon: the last call took away what guards this loop: {}.\nThat is a person's to change. Once more halts the loop.\nhelp: {}",
        fates(all),
        Hint::Status
    ))
}

fn fates(all: &[GuardChange]) -> String {
    let one = |change: &GuardChange| {
        let fate = if change.is_back { "put back" } else { "NOT put back: tell the person" };
        format!("{} ({fate})", terminal_clip(&change.what, 200))
    };
    all.iter().map(one).collect::<Vec<String>>().join("; ")
}

fn told(place: &Place<'_>, taken: &[GuardChange]) -> Result<Vec<Diagnostic>> {
    if taken.is_empty() {
        return Ok(Vec::new());
    }
    let mut feed = RuleFeed::new(place.ctx, place.ws);
    record(place, taken, &mut feed)?;
    let text = taken_text(taken);
    let note = Diagnostic::warning(text).help(Hint::Doctor);
    Ok([note].into_iter().chain(feed.end()?.1).collect())
}

fn record(place: &Place<'_>, taken: &[GuardChange], feed: &mut RuleFeed<'_>) -> Result<()> {
    let counted: Vec<&str> =
        taken.iter().filter(|one| one.fault == Fault::Counted).map(|one| one.what.as_str()).collect();
    if counted.is_empty() {
        return Ok(());
    }
    let line = place.event(None, EventKind::Disarmed(counted.join("; ")));
    place.append(&line)?;
    feed.take(line)
}

/// The snapshot of this session; its copy where the repository's own folder lost it.
fn of_session(place: &Place<'_>) -> Option<GuardSnapshot> {
    guard_store(place.ctx, &place.ws.repo).read().filter(|kept| kept.session == place.session)
}

/// The folder in which git looks for hooks, as git itself says, and the files in which that is configured.
#[derive(Default)]
struct HooksPlace {
    dir: Option<PathBuf>,
    configured_in: BTreeMap<PathBuf, Option<FileStamp>>,
}

impl HooksPlace {
    /// Asks git where none is known, or where one of the files is another than it was: libgit2 reads another file of the system
    /// than some gits do, and not every include.
    fn now(repo: &Repo, kept: Option<&GuardSnapshot>) -> Self {
        let is_as_was = |kept: &&GuardSnapshot| {
            kept.hooks_dir.is_some() && kept.configured_in.iter().all(|(path, was)| stamp(path) == *was)
        };
        if let Some(kept) = kept.filter(is_as_was) {
            return Self { dir: kept.hooks_dir.clone(), configured_in: kept.configured_in.clone() };
        }
        let files = repo.config_files().unwrap_or_default();
        let stamped = files.into_iter().map(|path| (path.clone(), stamp(&path)));
        Self { configured_in: stamped.collect(), dir: repo.hooks_dir().ok() }
    }

    fn state(&self, repo: &Repo) -> Option<GuardState> {
        self.dir.as_deref().map(|dir| live::look_at(repo, dir))
    }
}

fn keep(place: &Place<'_>, kept: Option<&GuardSnapshot>, open: u32) -> Result<()> {
    let repo = &place.ws.repo;
    let (head, stash) = marks(repo);
    let hooks = HooksPlace::now(repo, kept);
    let snapshot = GuardSnapshot {
        head,
        stash,
        session: place.session.clone(),
        open,
        in_turn: true,
        armed: hooks.state(repo) == Some(GuardState::Yes),
        hooks_path: repo.config_string(HOOKS_PATH),
        files: guard_files(place, hooks.dir.as_deref()),
        hooks_dir: hooks.dir,
        configured_in: hooks.configured_in,
        refs: refs(place),
        journals: extents(repo.git_dir(), repo.common_dir()),
        heard: Some(place.fact(AgentAction::Heard, "", None)),
        client: process::starter(place.ctx.parent),
    };
    Ok(guard_store(place.ctx, repo).keep(&snapshot, kept)?)
}

fn refs(place: &Place<'_>) -> Vec<(String, String)> {
    let repo = &place.ws.repo;
    let notes = repo.ref_target(wire::NOTES_REF).ok().flatten().map(|id| (wire::NOTES_REF.to_owned(), id));
    let ledgers = repo.refs_with_prefix(ledger::REF_PREFIX).unwrap_or_default();
    notes.into_iter().chain(ledgers).take(MAX_REFS).map(|(name, id)| (name, id.to_string())).collect()
}

fn guard_files(place: &Place<'_>, hooks: Option<&Path>) -> Vec<GuardFile> {
    let (ctx, repo) = (place.ctx, &place.ws.repo);
    let hooks = hooks.into_iter().flat_map(|dir| GitHook::ALL.map(|hook| dir.join(hook.name())));
    let saved = Scope::ALL.iter().filter_map(|(scope, _)| saved_path(ctx, Some(repo), *scope));
    let installed = saved.chain([Manifest::path(repo.common_dir())]);
    let halts = place.ws.andon_dir().into_iter().flat_map(|dir| {
        ReportFile::ALL
            .into_iter()
            .map(|(file, _)| file.file_name())
            .chain([STOP_FILE, PAUSE_FILE])
            .map(move |name| dir.path().join(name))
    });
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

/// The settings of every client that start Andon: the next session may be another client's.
fn settings(place: &Place<'_>) -> impl Iterator<Item = SettingsFile> {
    let roots = roots(place.ctx, Some(&place.ws.repo));
    let of = move |client| Scope::ALL.map(|(scope, _)| files(client, scope, &roots));
    Client::every().flat_map(of).flatten().filter(|file| starts(place.ctx, file))
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
        let own = (!starts(place.ctx, &file)).then(|| file.path.clone());
        own.into_iter().chain(local)
    })
}

fn starts(ctx: &Context, file: &SettingsFile) -> bool {
    match file.way {
        FileOwner::Shared => !programs(file).is_empty() && !is_off(ctx, &file.path),
        FileOwner::Whole | FileOwner::Program => file.path.is_file(),
    }
}

fn file(path: PathBuf, part: GuardPart) -> GuardFile {
    let bytes = andon_git::read_plain(&path, MAX_FILE).ok().flatten();
    let executable =
        part == GuardPart::Hook && path.metadata().is_ok_and(|facts| modes::is_executable(&facts));
    let real = path.canonicalize().ok();
    GuardFile { text: bytes.and_then(|bytes| String::from_utf8(bytes).ok()), executable, real, path, part }
}

/// Hooks and records that are missing while no call runs: a program that a call left behind may have taken them, or a
/// person. It is put back without an accusation. Files of a halt and a person's own configuration are left as they are.
fn between(place: &Place<'_>, kept: &GuardSnapshot) -> Vec<GuardChange> {
    let lost = lost_hooks(place, kept, &changed(kept)).into_iter().chain(lost_refs(place, &kept.refs));
    lost.map(|taken| GuardChange { fault: Fault::Told, ..taken }).collect()
}

fn told_between(taken: &[GuardChange]) -> Option<Diagnostic> {
    let text =
        words::bounded(&format!("what guards this loop went away between two calls: {}", fates(taken)));
    (!taken.is_empty())
        .then(|| Diagnostic::warning(text).help(Hint::Uninstall.led("a person who wants that runs")))
}

fn changed(kept: &GuardSnapshot) -> Vec<&GuardFile> {
    kept.files.iter().filter(|before| file(before.path.clone(), before.part) != **before).collect()
}

/// The parts of a snapshot that are missing by now.
fn compare(place: &Place<'_>, kept: &GuardSnapshot) -> Vec<GuardChange> {
    let changed = changed(kept);
    let of = |part| changed.iter().copied().filter(move |file| file.part == part).collect::<Vec<_>>();
    let mut lost: Vec<GuardChange> = lost_hooks(place, kept, &changed).into_iter().collect();
    lost.extend(lost_settings(place, kept, &of(GuardPart::Settings)));
    lost.extend(switched_off(place, kept, &of(GuardPart::Switch)));
    lost.extend(lost_halts(place, &of(GuardPart::Halt)));
    lost.extend(of(GuardPart::UserConfig).into_iter().map(|before| GuardChange {
        what: format!("your own configuration ({})", before.path.display()),
        is_back: put_back(before),
        fault: Fault::Counted,
    }));
    lost.extend(lost_refs(place, &kept.refs));
    // Facts that no commit has are nowhere else.
    let repo = &place.ws.repo;
    if extents(repo.git_dir(), repo.common_dir()).into_iter().zip(kept.journals).any(|(now, was)| now < was) {
        let what = "facts of this loop (a journal is shorter than it was)".to_owned();
        lost.push(GuardChange { what, is_back: false, fault: Fault::Counted });
    }
    lost
}

fn lost_hooks(place: &Place<'_>, kept: &GuardSnapshot, changed: &[&GuardFile]) -> Option<GuardChange> {
    let repo = &place.ws.repo;
    let now = HooksPlace::now(repo, Some(kept));
    let is_moved = now.dir != kept.hooks_dir;
    let parts = [GuardPart::Hook, GuardPart::Installed];
    let changed: Vec<&GuardFile> =
        changed.iter().copied().filter(|file| parts.contains(&file.part)).collect();
    if !kept.armed || (!is_moved && changed.is_empty()) {
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
    // Another mode was installed if the list of what is installed changed as well.
    let off: Vec<&GuardFile> = changed.iter().filter(|before| is_off_now(before)).copied().collect();
    let folder = repo.common_dir().join("andon");
    let state = now.state(repo);
    // The rest of a whole folder that went does not come back with the hooks.
    let is_whole = state != Some(GuardState::Never) || GuardSnapshot::read(repo.git_dir()).is_some();
    let what = match (&state, edited.first()) {
        (Some(GuardState::Gone(gone)), _) => format!("git's hooks ({})", gone.what),
        (Some(GuardState::Never), _) => format!("what is kept of this loop ({})", folder.display()),
        (_, Some(first)) => format!("git's hooks ({} was changed)", first.path.display()),
        (_, None) if !off.is_empty() && off.len() == changed.len() => {
            format!("git's hooks ({} does not start any more)", off[0].path.display())
        }
        (_, None) if Manifest::of(repo).is_err() => {
            format!("the list of what is installed ({})", Manifest::path(repo.common_dir()).display())
        }
        (_, None) => return None,
    };
    // Hooks may be files of the project.
    let by_git: Option<Vec<Origin>> =
        changed.iter().map(|before| origin_by_git(repo, kept, before)).collect();
    let origin = by_git.and_then(|all| all.into_iter().max()).filter(|_| !is_moved);
    if origin == Some(Origin::Checkout) {
        return None;
    }
    if now.dir.as_deref().is_some_and(is_by_manager) {
        return Some(GuardChange { what, is_back: false, fault: Fault::Told });
    }
    if is_moved {
        lead_back(repo, kept);
    }
    for before in changed {
        put_back(before);
    }
    let is_back = is_whole && HooksPlace::now(repo, None).state(repo) == Some(GuardState::Yes);
    Some(GuardChange { what, is_back, fault: Fault::of(origin) })
}

/// True for a hook that git started and does not any more.
fn is_off_now(before: &GuardFile) -> bool {
    before.part == GuardPart::Hook && before.executable && !file(before.path.clone(), before.part).executable
}

/// Has git look for hooks where it did: what the repository's own configuration says of it is set as it was, and where another
/// file has the last word, the directory is named behind that one. Best effort: whether it worked is looked at afterwards.
fn lead_back(repo: &Repo, kept: &GuardSnapshot) {
    let now = repo.config_string(HOOKS_PATH).filter(|value| kept.hooks_path.as_ref() != Some(value));
    let _ = now.iter().try_for_each(|value| repo.config_remove(HOOKS_PATH, value));
    let is_back = || repo.hooks_dir().ok() == kept.hooks_dir;
    let missing = kept.hooks_path.as_ref().filter(|_| !is_back());
    let _ = missing.iter().try_for_each(|value| repo.config_add(HOOKS_PATH, value));
    let config = kept.files.iter().find(|file| file.part == GuardPart::Config);
    if !is_back()
        && let Some(config) = config
    {
        put_back(config);
    }
    if !is_back()
        && let Some(dir) = kept.hooks_dir.as_deref().and_then(Path::to_str)
    {
        let _ = repo.config_add(HOOKS_PATH, dir);
    }
}

/// True where a hook manager wrote the hooks that are there now, as installing packages may do.
fn is_by_manager(dir: &Path) -> bool {
    [GitHook::PreCommit].into_iter().chain(GitHook::needed()).any(|hook| {
        let text = andon_git::read_plain(&dir.join(hook.name()), MAX_FILE).ok().flatten().unwrap_or_default();
        let owner = shim::classify(&text, hook, None);
        matches!(owner, Content::Foreign(owner) if owner != Owner::Somebody)
    })
}

fn is_off(ctx: &Context, path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| says_off(ctx, &text))
}

fn says_off(ctx: &Context, text: &str) -> bool {
    switches_off(text, |path| leads_away(ctx, path))
}

/// True where settings of a client start Andon less than when the newest call of this session began, or less than before each
/// tool where none did, or where something switches them off.
pub(super) fn starts_no_more(place: &Place<'_>, changed: Option<&Path>) -> bool {
    let roots = roots(place.ctx, Some(&place.ws.repo));
    let own = Scope::ALL.map(|(scope, _)| files(place.client, scope, &roots));
    let own: Vec<SettingsFile> = own.into_iter().flatten().collect();
    if switches(place).chain(own.iter().map(|file| file.path.clone())).any(|path| is_off(place.ctx, &path))
        || changed.is_some_and(|path| is_off(place.ctx, path))
    {
        return true;
    }
    let kept = of_session(place).map(|kept| kept.files).unwrap_or_default();
    let before = |file: &SettingsFile| kept.iter().find(|before| before.path == file.path)?.text.clone();
    let known: Vec<(&SettingsFile, String)> =
        own.iter().filter_map(|file| Some((file, before(file)?))).collect();
    let is_less = known.iter().any(|(file, before)| starts_less(file, before));
    is_less || known.is_empty() && !own.iter().any(starts_before_tools)
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
    let was_off = |before: &GuardFile| before.text.as_deref().is_some_and(|text| says_off(place.ctx, text));
    let off = changed.iter().filter(|before| !was_off(before) && is_off(place.ctx, &before.path));
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
    let origin = origin_by_git(&place.ws.repo, kept, before);
    (origin != Some(Origin::Checkout)).then(|| GuardChange {
        what: what(&before.path),
        is_back: put_back(before),
        fault: Fault::of(origin),
    })
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

/// Refs that do not hold any more what they held: a commit moves them on.
fn lost_refs(place: &Place<'_>, kept: &[(String, String)]) -> Vec<GuardChange> {
    let repo = &place.ws.repo;
    let lost = |(name, was): &(String, String)| {
        let was: CommitId = was.parse().ok()?;
        let now = repo.ref_commit(name).ok().flatten();
        if let Some(now) = now.filter(|now| *now == was || repo.is_ancestor(was, *now).unwrap_or(false)) {
            return lost_notes(place, name, was, now);
        }
        // A fetch may have put the records of another clone there: they are joined with ours.
        let is_elsewhere = now.is_some_and(|now| !repo.is_ancestor(now, was).unwrap_or(false));
        let join = || lost_records::put_back(repo, place.ctx.now).is_ok_and(|records| records > 0);
        let set = |_: Option<CommitId>| Ok(Update::Set(was, ()));
        let is_back = (is_elsewhere && name == wire::NOTES_REF && join())
            || repo.commit(was).is_ok() && repo.update_ref(name, "andon: put back", set).is_ok();
        let fault = if is_elsewhere { Fault::Told } else { Fault::Counted };
        Some(GuardChange { what: format!("the refs of records ({name})"), is_back, fault })
    };
    kept.iter().filter_map(lost).collect()
}

/// Records that are missing although their ref goes on from what it was. One of a commit that is gone too is no loss.
fn lost_notes(place: &Place<'_>, name: &str, was: CommitId, now: CommitId) -> Option<GuardChange> {
    let repo = &place.ws.repo;
    if was == now || name != wire::NOTES_REF || repo.written_tips(name) == [now] {
        return None;
    }
    let changed = repo.notes_changed(was, now).ok()?;
    changed.iter().find(|commit| repo.commit(**commit).is_ok())?;
    let count = lost_records::put_back_removed(repo, place.ctx.now).ok().filter(|count| *count > 0)?;
    Some(GuardChange {
        what: format!("{count} of the records ({name})"),
        is_back: true,
        fault: Fault::Counted,
    })
}

/// Writes a file as it was; whether that worked. A link is followed where it leads to the same place as then, and only there.
fn put_back(before: &GuardFile) -> bool {
    let real = before.real.as_deref();
    if let Some(dir) = before.path.parent()
        && dir.is_symlink()
        && dir.canonicalize().ok().as_deref() != real.and_then(Path::parent)
    {
        let _ = std::fs::remove_file(dir);
    }
    let is_there = before.path.canonicalize().ok().as_deref() == real;
    let path = real.filter(|_| is_there).unwrap_or(&before.path);
    let done = match &before.text {
        Some(text) => andon_git::replace_plain(path, text.as_bytes()),
        None => std::fs::remove_file(path),
    };
    let mode = modes::permissions(0o755).filter(|_| before.executable);
    done.is_ok() && mode.is_none_or(|mode| std::fs::set_permissions(path, mode).is_ok())
}
