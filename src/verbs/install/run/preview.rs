//! `andon install --dry-run`: the same looking and deciding, and then a list of what would change instead of the change.

use std::fs;
use std::path::{Path, PathBuf};

use super::schema;
use super::write::Plan;
use super::{
    DISPLAY_REF, DISPLAY_REF_KEY, Notes, Options, PushChoice, config_hooks, fetch, first_config, push_records,
};
use crate::install::InstallError;
use crate::install::block;
use crate::install::edits;
use crate::install::forward;
use crate::install::inspect::inspect;
use crate::install::lefthook;
use crate::install::manifest::Manifest;
use crate::install::mode::{Integration, ModeChoice};
use crate::install::plan::{self, Displacement, Intent, Removal};
use crate::install::shim;
use crate::setup::live;
use crate::setup::place::{self, program_link};
use crate::setup::{SetupError, names_notes_ref};
use crate::view::status::LostHooks;
use andon_core::domain::paths::CONFIG_FILE;
use andon_engine::effect::AndonDir;
use andon_engine::sync::PUSH_KEY;
use andon_git::Repo;

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A file is written, whole.
    Write {
        /// Absolute.
        path: PathBuf,
        /// Its bytes; `None` for what only Andon reads.
        text: Option<Vec<u8>>,
    },
    /// A file gets another name.
    Rename {
        /// As it is.
        from: PathBuf,
        /// As it will be.
        to: PathBuf,
    },
    /// Lines go into a file of others.
    Insert {
        /// Absolute.
        path: PathBuf,
        /// The lines, with their marks.
        lines: String,
    },
    /// A file, or lines of ours in one, goes.
    Remove {
        /// Absolute.
        path: PathBuf,
    },
    /// A link is made.
    Link {
        /// Where.
        path: PathBuf,
        /// Where it leads.
        to: PathBuf,
    },
    /// A value is added to the configuration of this repository.
    Set {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// A value is taken out of it.
    Unset {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
}

/// What installing would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The mode, and why.
    pub choice: ModeChoice,
    /// In the order in which it would be done.
    pub steps: Vec<Step>,
    /// What would have to be done by a person afterwards.
    pub waits: Option<LostHooks>,
}

/// What is requested in addition to the hooks.
#[derive(Debug, Clone, Copy)]
pub struct Additions {
    /// `--fetch`
    pub fetch: bool,
    /// `--push`, `--no-push`
    pub push: PushChoice,
}

/// Looks and decides as installing does. Nothing is changed, and what would make it fail makes this fail.
pub fn preview(
    repo: &Repo,
    program: &Path,
    options: Options,
    besides: Additions,
) -> Result<Preview, SetupError> {
    if !program.is_absolute() {
        return Err(SetupError::RelativeProgram { program: program.to_owned() });
    }
    let Some(top) = repo.workdir() else {
        return Err(SetupError::Bare { git_dir: repo.git_dir().to_owned() });
    };
    let path = Manifest::path(repo.common_dir());
    let manifest = Manifest::read(&path).map_err(InstallError::from)?.unwrap_or_default();
    let plan = Plan::make(repo, top, program, options.mode, &manifest)?;
    let mut steps = Vec::new();
    let config = top.join(CONFIG_FILE);
    let fresh = fs::symlink_metadata(&config).is_err();
    if fresh {
        let text = Some(first_config(top).2.into_bytes());
        steps.push(Step::Write { path: config, text });
    }
    if options.notes == Notes::Show
        && !repo.config_sources(DISPLAY_REF_KEY)?.iter().any(|one| names_notes_ref(&one.value))
    {
        steps.push(Step::Set { key: DISPLAY_REF_KEY.to_owned(), value: DISPLAY_REF.to_owned() });
    }
    steps.extend(of_mode(repo, program, &plan, &manifest)?);
    steps.extend(of_earlier(repo, &plan, &manifest)?);
    if fresh || schema::is_due(repo, top) {
        steps.push(Step::Write { path: schema::schema_file(repo), text: Some(schema::text().into_bytes()) });
    }
    if let Some((path, text)) = AndonDir::below(top).unprepared() {
        steps.push(Step::Write { path, text: Some(text.to_vec()) });
    }
    if besides.fetch {
        let missing = fetch::missing(repo)?;
        steps.extend(missing.into_iter().map(|(key, value)| Step::Set { key, value }));
    }
    if let Some((value, own)) = push_records::wanted(repo, besides.push)? {
        let key = || PUSH_KEY.to_owned();
        steps.extend(own.into_iter().map(|value| Step::Unset { key: key(), value }));
        steps.push(Step::Set { key: key(), value: value.to_owned() });
    }
    if !steps.is_empty() {
        steps.push(Step::Write { path, text: None });
    }
    let waits = live::manager_waits(repo, plan.choice.mode, &plan.dir);
    Ok(Preview { choice: plan.choice, steps, waits })
}

fn of_mode(repo: &Repo, program: &Path, plan: &Plan, manifest: &Manifest) -> Result<Vec<Step>, SetupError> {
    let mut steps = Vec::new();
    match plan.choice.mode {
        Integration::Shim => {
            for (hook, intent) in &plan.intents {
                let Intent::Write(displaced) = intent else { continue };
                let at = plan.dir.join(hook.name());
                if matches!(displaced, Displacement::Chained | Displacement::NewerOfSameTool) {
                    steps.push(Step::Rename { from: at.clone(), to: plan.dir.join(hook.chained_name()) });
                }
                steps.push(Step::Write { path: at, text: Some(shim::render(program, *hook)) });
            }
            if let Some(theirs) = &plan.theirs {
                let files = forward::files_to(&theirs.dir).into_iter();
                let files = files.map(|(name, bytes)| (plan.dir.join(name), bytes));
                let due = files.filter(|(path, bytes)| !fs::read(path).is_ok_and(|found| found == *bytes));
                steps.extend(due.map(|(path, bytes)| Step::Write { path, text: Some(bytes) }));
                if !theirs.hidden {
                    let value = plan.dir.to_string_lossy().into_owned();
                    steps.push(Step::Set { key: place::HOOKS_PATH.to_owned(), value });
                }
            }
        }
        Integration::Config => {
            let wanted = config_hooks::keys(program);
            for (key, value) in manifest.hook_keys.iter().filter(|one| !wanted.contains(one)) {
                if config_hooks::is_set(repo, key, value)? {
                    steps.push(Step::Unset { key: key.clone(), value: value.clone() });
                }
            }
            for (key, value) in wanted {
                if !config_hooks::is_set(repo, &key, &value)? {
                    steps.push(Step::Set { key, value });
                }
            }
        }
        Integration::Husky | Integration::Lefthook | Integration::PreCommit => {
            for edit in plan.edits.iter().filter(|edit| !edit.is_there()) {
                steps.push(match edit.before {
                    None => Step::Write { path: edit.path.clone(), text: Some(edit.after.clone()) },
                    Some(_) => Step::Insert { path: edit.path.clone(), lines: edit.inserted.concat() },
                });
            }
            let link = program_link(repo);
            if !fs::read_link(&link).is_ok_and(|found| found == program) {
                steps.push(Step::Link { path: link, to: program.to_owned() });
            }
            let notice = lefthook::place_of_notice(&plan.dir).filter(|path| !path.exists());
            if let Some(path) = notice.filter(|_| matches!(plan.has_notice(repo), Ok(true))) {
                steps.push(Step::Write { path, text: Some(lefthook::NOTICE.into()) });
            }
        }
    }
    Ok(steps)
}

/// What an earlier mode had put in place, and this one takes out.
fn of_earlier(repo: &Repo, plan: &Plan, manifest: &Manifest) -> Result<Vec<Step>, SetupError> {
    let mut steps = Vec::new();
    for file in &manifest.files {
        let kept = plan.edits.iter().any(|edit| edit.path == file.path);
        let folder = file.path.parent().unwrap_or(Path::new("/"));
        let bytes = if kept { None } else { edits::read(folder, &file.path)? };
        if bytes.is_some_and(|bytes| block::strip(&bytes, &file.inserted) != bytes) {
            steps.push(Step::Remove { path: file.path.clone() });
        }
    }
    if plan.choice.mode != Integration::Config {
        for (key, value) in &manifest.hook_keys {
            if config_hooks::is_set(repo, key, value)? {
                steps.push(Step::Unset { key: key.clone(), value: value.clone() });
            }
        }
    }
    if plan.choice.mode == Integration::Shim {
        return Ok(steps);
    }
    for place in &manifest.places {
        for state in inspect(&place.dir, manifest).unwrap_or_default() {
            let at = place.dir.join(state.hook.name());
            match plan::uninstall(&state) {
                Removal::Remove => steps.push(Step::Remove { path: at }),
                Removal::Restore => {
                    steps.push(Step::Rename { from: place.dir.join(state.hook.chained_name()), to: at });
                }
                Removal::Nothing | Removal::Leave(_) => {}
            }
        }
    }
    Ok(steps)
}
