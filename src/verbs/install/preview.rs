//! `andon install --dry-run`: the same looking and deciding, and then a list of what would change instead of the change.

use std::{fs, path::Path};

use serde::Serialize;

use super::git_config::{self, KeyChange, fetch_change, push_change};
use super::plan::Plan;
use super::run::{Options, first_config, is_schema_due, schema_text, top_for};
use crate::install::mode::{Integration, ModeChoice};
use crate::install::plan::{self, Displacement, Intent, Removal};
use crate::install::{edits, forward, inspect::inspect, lefthook, manifest::Manifest, shim};
use crate::setup::place::{self, program_link, schema_file};
use crate::setup::{DISPLAY_REF, DISPLAY_REF_KEY, SetupError, live, names_notes_ref};
use andon_core::domain::paths::CONFIG_FILE;
use andon_engine::effect::AndonDir;
use andon_engine::view::status::LostHooks;
use andon_git::Repo;

/// One change.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Step {
    /// A file is written, whole; without `text` one that only Andon reads.
    Write {
        path: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    Rename {
        from: String,
        to: String,
    },
    /// Lines, with their marks, go into a file of others.
    Insert {
        path: String,
        lines: String,
    },
    /// A file, or lines of ours in one, goes.
    Remove {
        path: String,
    },
    Link {
        path: String,
        to: String,
    },
    /// A value is added to the configuration of this repository.
    Set {
        key: String,
        value: String,
    },
    Unset {
        key: String,
        value: String,
    },
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl Step {
    fn write(path: &Path, bytes: &[u8]) -> Self {
        Self::Write { path: shown(path), text: Some(String::from_utf8_lossy(bytes).into_owned()) }
    }

    fn rename(from: &Path, to: &Path) -> Self {
        Self::Rename { from: shown(from), to: shown(to) }
    }
}

/// `andon/install-plan@1`
#[derive(Debug, Clone, Serialize)]
pub struct Preview {
    #[serde(flatten)]
    pub choice: ModeChoice,
    /// In the order in which it would be done.
    pub steps: Vec<Step>,
    /// The steps that a person would have to take afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<LostHooks>,
}

/// Looks and decides as installing does. Nothing is changed, and what would make it fail makes this fail.
pub fn preview(repo: &Repo, program: &Path, options: Options) -> Result<Preview, SetupError> {
    let top = top_for(repo, program)?;
    let manifest = Manifest::of(repo)?;
    let plan = Plan::make(repo, top, program, options.mode, &manifest)?;
    let mut steps = Vec::new();
    let config = top.join(CONFIG_FILE);
    let fresh = fs::symlink_metadata(&config).is_err();
    if fresh {
        steps.push(Step::write(&config, first_config(top).2.as_bytes()));
    }
    if options.show_notes
        && !repo.config_sources(DISPLAY_REF_KEY)?.iter().any(|one| names_notes_ref(&one.value))
    {
        steps.push(Step::Set { key: DISPLAY_REF_KEY.to_owned(), value: DISPLAY_REF.to_owned() });
    }
    steps.extend(of_mode(repo, program, &plan, &manifest)?);
    steps.extend(of_earlier(repo, &plan, &manifest)?);
    if fresh || is_schema_due(repo, top) {
        steps.push(Step::write(&schema_file(repo), schema_text().as_bytes()));
    }
    if let Some((path, text)) = AndonDir::below(top).unprepared() {
        steps.push(Step::write(&path, text));
    }
    steps.extend(of_change(fetch_change(repo, options.fetch)?));
    steps.extend(of_change(push_change(repo, options.push)?));
    if !steps.is_empty() {
        steps.push(Step::Write { path: shown(&Manifest::path(repo.common_dir())), text: None });
    }
    let waits = live::manager_waits(repo, plan.choice.mode, &plan.dir);
    Ok(Preview { choice: plan.choice, steps, waits })
}

fn of_change(change: KeyChange) -> impl Iterator<Item = Step> {
    let unset = change.outdated.into_iter().map(|(key, value)| Step::Unset { key, value });
    unset.chain(change.missing.into_iter().map(|(key, value)| Step::Set { key, value }))
}

fn of_mode(repo: &Repo, program: &Path, plan: &Plan, manifest: &Manifest) -> Result<Vec<Step>, SetupError> {
    let mut steps = Vec::new();
    match plan.choice.mode {
        Integration::Shim => {
            for (hook, intent) in &plan.intents {
                let Intent::Write(displaced) = intent else { continue };
                let at = plan.dir.join(hook.name());
                if matches!(displaced, Displacement::Chained | Displacement::NewerOfSameTool) {
                    steps.push(Step::rename(&at, &plan.dir.join(hook.chained_name())));
                }
                steps.push(Step::write(&at, &shim::render(program, *hook)));
            }
            if let Some(theirs) = &plan.theirs {
                let files = forward::files_to(&theirs.dir).into_iter();
                let files = files.map(|(name, bytes)| (plan.dir.join(name), bytes));
                let due = files.filter(|(path, bytes)| !fs::read(path).is_ok_and(|found| found == *bytes));
                steps.extend(due.map(|(path, bytes)| Step::write(&path, &bytes)));
                if !theirs.hidden {
                    steps.push(Step::Set { key: place::HOOKS_PATH.to_owned(), value: shown(&plan.dir) });
                }
            }
        }
        Integration::Config => {
            let wanted = git_config::hook_keys(program);
            steps.extend(of_change(git_config::hook_change(repo, &wanted, &manifest.hook_keys)?));
        }
        Integration::Husky | Integration::Lefthook | Integration::PreCommit => {
            for edit in plan.edits.iter().filter(|edit| !edit.is_there()) {
                steps.push(match edit.before {
                    None => Step::write(&edit.path, &edit.after),
                    Some(_) => Step::Insert { path: shown(&edit.path), lines: edit.inserted.concat() },
                });
            }
            let link = program_link(repo);
            if !fs::read_link(&link).is_ok_and(|found| found == program) {
                steps.push(Step::Link { path: shown(&link), to: shown(program) });
            }
            let notice = lefthook::place_of_notice(&plan.dir).filter(|path| !path.exists());
            if let Some(path) = notice.filter(|_| matches!(plan.has_notice(repo), Ok(true))) {
                steps.push(Step::write(&path, lefthook::NOTICE.as_bytes()));
            }
        }
    }
    Ok(steps)
}

/// The leavings of an earlier mode, which this one takes out.
fn of_earlier(repo: &Repo, plan: &Plan, manifest: &Manifest) -> Result<Vec<Step>, SetupError> {
    let mut steps = Vec::new();
    for file in &manifest.files {
        let kept = plan.edits.iter().any(|edit| edit.path == *file.path);
        let folder = file.path.parent().unwrap_or(Path::new("/"));
        let bytes = if kept { None } else { edits::read(folder, &file.path)? };
        if bytes.is_some_and(|bytes| edits::strip(&bytes, &file.inserted) != bytes) {
            steps.push(Step::Remove { path: shown(&file.path) });
        }
    }
    if plan.choice.mode != Integration::Config {
        steps.extend(of_change(git_config::hook_change(repo, &[], &manifest.hook_keys)?));
    }
    if plan.choice.mode == Integration::Shim {
        return Ok(steps);
    }
    for place in &manifest.places {
        for state in inspect(&place.dir, manifest).unwrap_or_default() {
            let at = place.dir.join(state.hook.name());
            match plan::uninstall(&state) {
                Removal::Remove => steps.push(Step::Remove { path: shown(&at) }),
                Removal::Restore => {
                    steps.push(Step::rename(&place.dir.join(state.hook.chained_name()), &at));
                }
                Removal::Nothing | Removal::Leave(_) => {}
            }
        }
    }
    Ok(steps)
}
