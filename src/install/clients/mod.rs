//! Puts our hooks into the settings of agents' clients and takes them out again.
//!
//! The settings are other people's files: comments and order are kept, uninstalling gives the same bytes back, a file that
//! cannot be read is named and left alone, and nothing is written through a link that leads elsewhere.

pub mod memory;
pub mod merge;
pub mod place;
pub mod saved_files;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use self::merge::{OwnHook, Template, UnreadableSettings};
use self::place::SettingsFile;
use self::saved_files::{SavedFile, SavedFiles};
use super::steps::{self, missing_folders};
use super::{Birth, Edit, EditRemoval, FileKind, InstallError, Result, Step, edits};
use andon_agents::moment;
use andon_core::domain::{CommandStart, FileOwner, HookMoment};
use andon_engine::json;

/// First words of a program of ours among a person's own.
const WRITTEN: &str = "# Written by `andon agent install ";

/// The state of our hooks in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingsState {
    /// The file holds nothing of ours.
    Absent,
    /// Exactly what would be installed now.
    Installed,
    /// Hooks of ours that are not as they would be installed now.
    Outdated,
    /// Another file is in its place.
    Foreign,
    /// It cannot be read, with the reason.
    Broken(String),
}

impl SettingsState {
    /// The reason for which it cannot be read.
    pub fn problem(&self) -> Option<&str> {
        if let Self::Broken(why) = self { Some(why) } else { None }
    }
}

/// A file, and whether it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InstalledFile {
    #[serde(serialize_with = "json::serialize_path")]
    pub path: PathBuf,
    pub changed: bool,
}

fn template<'a>(file: &SettingsFile, program: &'a str) -> Template<'a> {
    Template { client: file.client, text: file.template, program }
}

fn whole(file: &SettingsFile, program: &str) -> String {
    // A string of JSON is one of JavaScript too.
    let quoted = serde_json::Value::from(program).to_string();
    let text = file.template.replace("@EVENT@", file.event).replace("@ANDON_JSON@", &quoted);
    let text = text.replace("@CLIENT@", file.client.as_str());
    Template { client: file.client, text: &text, program }.filled()
}

fn settings_error(path: &Path, broken: UnreadableSettings) -> InstallError {
    InstallError::Settings { path: path.to_owned(), line: broken.line, why: broken.why }
}

fn text_of(file: &SettingsFile) -> Result<Option<String>> {
    let Some(bytes) = edits::read(&file.top, &file.path)? else { return Ok(None) };
    let broken = |error: std::string::FromUtf8Error| {
        let good = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        let line = good.filter(|byte| **byte == b'\n').count() + 1;
        settings_error(&file.path, UnreadableSettings { line: Some(line), why: "it is not UTF-8".to_owned() })
    };
    String::from_utf8(bytes).map(Some).map_err(broken)
}

/// The text that the client reads, behind a link too, which is never written to.
fn seen(file: &SettingsFile) -> String {
    let bytes = andon_git::read_plain(&file.path, edits::MAX_BYTES).ok().flatten().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

fn is_ours(file: &SettingsFile, text: &str) -> bool {
    match file.way {
        FileOwner::Shared => false,
        // The file or its folder has our name; an empty one has no owner.
        FileOwner::Whole => text.trim().is_empty() || text.contains("andon") || text.contains(" agent hook "),
        FileOwner::Program => text.contains(WRITTEN),
    }
}

/// Looks at one file, for hooks that start `program`.
pub fn look(file: &SettingsFile, program: &str) -> SettingsState {
    let text = match text_of(file) {
        Err(error) => return SettingsState::Broken(error.to_string()),
        Ok(None) => return SettingsState::Absent,
        Ok(Some(text)) => text,
    };
    if file.way != FileOwner::Shared {
        return match (text == whole(file, program), is_ours(file, &text)) {
            (true, _) => SettingsState::Installed,
            (false, true) => SettingsState::Outdated,
            (false, false) => SettingsState::Foreign,
        };
    }
    match merge::found(&text, file.client) {
        Err(broken) => SettingsState::Broken(settings_error(&file.path, broken).to_string()),
        Ok(found) if found.is_empty() => SettingsState::Absent,
        Ok(found) if is_whole(file, program, &found) => SettingsState::Installed,
        Ok(_) => SettingsState::Outdated,
    }
}

/// True if the hooks that were found are those of the template.
fn is_whole(file: &SettingsFile, program: &str, found: &[OwnHook]) -> bool {
    let fresh = merge::merge("", &template(file, program));
    let wanted = fresh.and_then(|text| merge::found(&text, file.client)).unwrap_or_default();
    wanted.len() == found.len() && wanted.iter().all(|hook| found.contains(hook))
}

/// True where settings that were `before` start us less by now, or in another way: a hook of ours is gone, or anything that is
/// written of it is different. Of a file that is ours as a whole any change says so.
pub fn starts_less(file: &SettingsFile, before: &str) -> bool {
    let now = seen(file);
    match file.way {
        FileOwner::Shared => {
            let hooks = |text: &str| merge::found(text, file.client).unwrap_or_default();
            let (was, now) = (hooks(before), hooks(&now));
            was.iter().any(|hook| !now.contains(hook))
        }
        FileOwner::Whole | FileOwner::Program => now != before,
    }
}

/// The programs that the hooks in `file` start.
pub fn programs(file: &SettingsFile) -> Vec<String> {
    let found = merge::found(&seen(file), file.client);
    found.unwrap_or_default().into_iter().filter_map(|hook| hook.words.into_iter().next()).collect()
}

/// True where settings start us before each tool.
pub fn starts_before_tools(file: &SettingsFile) -> bool {
    let found = merge::found(&seen(file), file.client);
    found.unwrap_or_default().iter().any(|hook| {
        moment(file.client, &hook.event) == Some(HookMoment::BeforeTool)
            && hook.words.join(" ").ends_with(&format!(" {}", hook.event))
    })
}

/// The command line that the client starts at `event`, in its own way; `shell` is the person's.
pub fn started(file: &SettingsFile, event: &str, shell: &str) -> Option<Vec<String>> {
    let own = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
    let text = text_of(file).ok().flatten()?;
    let start = file.client.spec().settings.start;
    match (start, file.way) {
        (_, FileOwner::Program) => {
            (file.event == event).then(|| vec![file.path.to_string_lossy().into_owned()])
        }
        (CommandStart::Plugin, _) => {
            let line = text.lines().find_map(|line| line.strip_prefix("const PROGRAM = "))?;
            let program: String = serde_json::from_str(line).ok()?;
            own(&[&program, "agent", "hook", file.client.as_str(), event])
        }
        (start, _) => {
            let found = merge::found(&text, file.client).unwrap_or_default();
            let words = found.into_iter().find(|hook| hook.event == event)?.words;
            match (words.as_slice(), start) {
                ([command], CommandStart::Login) => own(&[shell, "-lc", command]),
                ([command], CommandStart::Bash) => own(&["bash", "-c", command]),
                ([command], CommandStart::Sh | CommandStart::Plugin) => own(&["sh", "-c", command]),
                _ => Some(words),
            }
        }
    }
}

/// The planned installation of the hooks of one client.
pub struct PlannedHooks {
    steps: Vec<Step>,
    saved: SavedFiles,
    /// The outcome for each file.
    pub outcomes: Vec<InstalledFile>,
}

/// Plans how the hooks that start `program` get into `files`. What is there is remembered at `saved_path`.
///
/// # Errors
/// When a file cannot be read, or is not ours.
pub fn planned(files: &[SettingsFile], program: &str, saved_path: &Path) -> Result<PlannedHooks> {
    let mut saved = SavedFiles::read(saved_path);
    let (mut steps, mut outcomes) = (Vec::new(), Vec::new());
    for file in files {
        let changed = look(file, program) != SettingsState::Installed;
        outcomes.push(InstalledFile { path: file.path.clone(), changed });
        if changed {
            let (edit, entry) = plan(file, program, &saved)?;
            steps.push(Step::Write(edit));
            saved.put(entry);
        }
    }
    Ok(PlannedHooks { steps, saved, outcomes })
}

impl PlannedHooks {
    /// Installs: all files or none. What was changed is remembered at `saved_path`.
    ///
    /// # Errors
    /// When a file cannot be written. Nothing was changed then.
    pub fn make(&self, saved_path: &Path) -> Result<()> {
        if self.steps.is_empty() {
            return Ok(());
        }
        // First: an entry for what never came to be does no harm.
        self.saved.write(saved_path)?;
        steps::apply(None, &self.steps)
    }
}

fn plan(file: &SettingsFile, program: &str, saved: &SavedFiles) -> Result<(Edit, SavedFile)> {
    let now = text_of(file)?;
    let earlier = saved.get(&file.path);
    let made = now.is_none() || earlier.is_some_and(|entry| entry.birth == Birth::Made);
    let (before, after) = match file.way {
        FileOwner::Shared => merged(file, program, now.as_deref(), earlier)?,
        FileOwner::Whole | FileOwner::Program => {
            (empty_before(now.as_deref(), earlier), taken_over(file, program, now.as_deref())?)
        }
    };
    let created = earlier.map_or_else(|| missing_folders(&file.path), |entry| entry.created.clone());
    let kind = if file.way == FileOwner::Program { FileKind::Program } else { FileKind::Text };
    let entry = SavedFile::new(&file.path, before.as_deref().filter(|_| !made), &after, created);
    Ok((Edit::whole(file.path.clone(), now.map(String::into_bytes), after.into_bytes(), kind), entry))
}

/// The settings without our hooks, and with them.
fn merged(
    file: &SettingsFile,
    program: &str,
    now: Option<&str>,
    earlier: Option<&SavedFile>,
) -> Result<(Option<String>, String)> {
    let broken = |broken| settings_error(&file.path, broken);
    let text = now.unwrap_or_default();
    let before = match earlier.and_then(|entry| entry.undo(text)) {
        Some(before) => before,
        None => merge::strip(text, file.client).map_err(broken)?,
    };
    let mut after = merge::merge(&before, &template(file, program)).map_err(broken)?;
    if before.trim().is_empty() && !after.ends_with('\n') {
        after.push('\n');
    }
    Ok((Some(before), after))
}

/// The empty file in a place where a file is to be ours alone.
fn empty_before(now: Option<&str>, earlier: Option<&SavedFile>) -> Option<String> {
    match earlier {
        Some(entry) => entry.undo(now?),
        None => now.filter(|text| text.trim().is_empty()).map(str::to_owned),
    }
}

fn taken_over(file: &SettingsFile, program: &str, now: Option<&str>) -> Result<String> {
    let wanted = whole(file, program);
    if now.is_some_and(|text| !is_ours(file, text)) {
        let line = wanted.lines().find(|line| line.starts_with("exec ")).map(str::to_owned);
        return Err(InstallError::Theirs { path: file.path.clone(), line });
    }
    Ok(wanted)
}

/// Takes our hooks out of `files` again.
///
/// # Errors
/// When a file cannot be read or written. Nothing was changed then.
pub fn uninstall(files: &[SettingsFile], saved_path: &Path) -> Result<Vec<(PathBuf, EditRemoval)>> {
    let mut saved = SavedFiles::read(saved_path);
    let (mut steps, mut outcomes, mut made) = (Vec::new(), Vec::new(), Vec::new());
    for file in files {
        let step = clean(file, saved.get(&file.path))?;
        let outcome = EditRemoval::of(step.as_ref());
        let entry = saved.take(&file.path).filter(|_| outcome == EditRemoval::Gone);
        made.extend(entry.into_iter().flat_map(|entry| entry.created.into_iter().rev()));
        outcomes.push((file.path.clone(), outcome));
        steps.extend(step);
    }
    steps::apply(None, &steps)?;
    saved.write(saved_path)?;
    let saved_in = saved_path.parent().filter(|_| saved.files.is_empty());
    for folder in made.iter().map(PathBuf::as_path).chain(saved_in) {
        // One that holds other things by now stays.
        let _ = fs::remove_dir(folder);
    }
    Ok(outcomes)
}

/// The change that takes our hooks out of `file`; `None` where none are in it.
fn clean(file: &SettingsFile, entry: Option<&SavedFile>) -> Result<Option<Step>> {
    let Some(text) = text_of(file)? else { return Ok(None) };
    let made = entry.is_some_and(|entry| entry.birth == Birth::Made);
    let undone = entry.and_then(|entry| entry.undo(&text));
    let was_there = !made && undone.is_some();
    let before = match (undone, file.way) {
        (Some(before), _) => before,
        (None, FileOwner::Shared) => {
            merge::strip(&text, file.client).map_err(|broken| settings_error(&file.path, broken))?
        }
        (None, FileOwner::Whole | FileOwner::Program) if is_ours(file, &text) => String::new(),
        (None, FileOwner::Whole | FileOwner::Program) => return Ok(None),
    };
    let goes =
        before.is_empty() && file.way != FileOwner::Shared && !was_there || made && merge::is_bare(&before);
    let is_changed = before != text;
    let rest = (!goes).then(|| before.into_bytes());
    Ok(is_changed.then(|| Step::Remove { path: file.path.clone(), rest }))
}

#[cfg(test)]
mod tests;
