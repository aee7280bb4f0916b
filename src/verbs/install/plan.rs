//! The plan of an installation, made before anything changes: one list of changes, which a dry run shows and which is
//! carried out as it is.
//!
//! Everything is examined and decided before anything changes, and a failure half way is undone: a repository with half
//! a guard is worse than one without, because people trust it.

use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, fs};

use super::first_config::{FirstConfig, first_config};
use super::git_config::{self, fetch_changes, push_changes};
use super::remove::{PlaceReport, Removal};
use super::{InstallArgs, managers};
use crate::install::steps::{self, missing_folders};
use crate::install::{
    AbsolutePath, Displacement, Edit, FileKind, HookFile, HookState, HooksFolder, InstallError, Integration,
    Intent, KeyValue, Manifest, ModeChoice, Result, Step, forward, inspect::inspect, lefthook, mode, plan,
    shim,
};
use crate::setup::place::{self, HOOKS_PATH, program_link, schema_file};
use crate::setup::{DISPLAY_REF, DISPLAY_REF_KEY, Override, SharedHooksPath, live, names_notes_ref};
use andon_config::{self as config, SCHEMA_FILE};
use andon_core::domain::{CONFIG_FILE, GitHook};
use andon_engine::{effect::AndonDir, sync::PUSH_KEY, view::LostHooks};
use andon_git::Repo;

/// The changes of an installation, and what they come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstallReport {
    pub hooks_dir: PathBuf,
    pub choice: ModeChoice,
    /// In the order in which they are made.
    pub steps: Vec<Step>,
    /// Each hook, in mode `shim`.
    pub hooks: Vec<(GitHook, Intent)>,
    /// The files of others with lines of ours, and whether they change.
    pub files: Vec<(PathBuf, bool)>,
    /// Something else changes: keys of the configuration, the leavings of an earlier mode.
    pub changed_besides: bool,
    /// A value is added to `notes.displayRef`.
    pub display_ref_added: bool,
    /// `None` where there is an `andon.toml`.
    pub first_config: Option<FirstConfig>,
    /// The fetch refspecs that are added.
    pub fetch: Vec<KeyValue>,
    /// The value of `andon.push` where it is set.
    pub push: Option<String>,
    /// Remarks for a person, a sentence each.
    pub remarks: Vec<String>,
    /// The steps that are left to take before git starts Andon.
    pub waits: Option<LostHooks>,
}

impl InstallReport {
    /// True when everything was there already, but for the keys of fetching and pushing.
    pub fn changed_nothing(&self) -> bool {
        !self.display_ref_added
            && !self.changed_besides
            && !self.files.iter().any(|(_, changed)| *changed)
            && self.first_config.is_none()
            && !self.hooks.iter().any(|(_, intent)| matches!(intent, Intent::Write(_)))
    }
}

/// The plan as it grows.
pub(super) struct Plan<'a> {
    repo: &'a Repo,
    program: &'a Path,
    pub(super) report: InstallReport,
    /// The manifest as it will be.
    manifest: Manifest,
    /// Takes out what an earlier mode had put in place.
    pub(super) removal: Removal,
}

impl<'a> Plan<'a> {
    /// Looks and decides; nothing is changed.
    pub(super) fn make(repo: &'a Repo, program: &'a Path, args: &InstallArgs) -> Result<Self> {
        if !program.is_absolute() {
            return Err(InstallError::RelativeProgram { program: program.to_owned() });
        }
        let top = repo.workdir().ok_or_else(|| InstallError::Bare { git_dir: repo.git_dir().to_owned() })?;
        let before = Manifest::of(repo)?;
        let now = repo.hooks_dir()?;
        // A path that is no directory leaves only the shims without a place.
        let looked = inspect(&now, &before);
        let states: &[HookState] = looked.as_ref().map_or(&[], Vec::as_slice);
        let situation = managers::situation(repo, top, args.mode, &before, states);
        let choice = mode::choose(&situation).map_err(InstallError::ModeProblem)?;
        let edits = managers::plan(repo, top, choice.mode, &before)?;
        let mut manifest = Manifest { mode: Some(choice.mode), ..before.clone() };
        for edit in &edits {
            let entry = edit.entry(before.file(&edit.path));
            manifest.files.retain(|file| *file.path != edit.path);
            manifest.files.push(entry);
        }
        let removal = Removal::plan(repo, &mut manifest, Some(choice.mode), &edits)?;
        let files = edits.iter().map(|edit| (edit.path.clone(), !edit.is_there())).collect();
        let report = InstallReport { hooks_dir: now, choice, files, ..InstallReport::default() };
        let mut plan = Self { repo, program, report, manifest, removal };
        plan.first_files(top, args)?;
        match plan.report.choice.mode {
            Integration::Shim => plan.shims(&before)?,
            Integration::Config => {
                let wanted = git_config::hook_keys(program);
                plan.configure(git_config::hook_changes(repo, &wanted, &before.hook_keys)?);
                plan.manifest.hook_keys = wanted;
            }
            Integration::Husky | Integration::Lefthook | Integration::PreCommit => {
                let due = edits.into_iter().filter(|edit| !edit.is_there());
                plan.report.steps.extend(due.map(Step::Write));
                let (path, to) = (program_link(repo), program.to_owned());
                let is_there = fs::read_link(&path).is_ok_and(|found| found == program);
                plan.report.steps.extend((!is_there).then_some(Step::Link { path, to }));
            }
        }
        plan.leave_earlier();
        plan.notice()?;
        plan.settings(args)?;
        plan.keep(&before);
        Ok(plan)
    }

    /// The first `andon.toml`, and whether `git log` shows the records. What was set once, by whomever, stays.
    fn first_files(&mut self, top: &Path, args: &InstallArgs) -> Result<()> {
        let path = top.join(CONFIG_FILE);
        if fs::symlink_metadata(&path).is_err() {
            let (first, text) = first_config(top);
            self.report.first_config = Some(first);
            self.report.steps.push(Step::Write(Edit::whole(path, None, text.into_bytes(), FileKind::Text)));
        }
        let shown = || self.repo.config_sources(DISPLAY_REF_KEY);
        if args.show_notes && !shown()?.iter().any(|one| names_notes_ref(&one.value)) {
            self.report.display_ref_added = true;
            self.report.steps.push(Step::Set((DISPLAY_REF_KEY.to_owned(), DISPLAY_REF.to_owned())));
            self.manifest.display_refs.retain(|value| value != DISPLAY_REF);
            self.manifest.display_refs.push(DISPLAY_REF.to_owned());
        }
        Ok(())
    }

    fn shims(&mut self, before: &Manifest) -> Result<()> {
        let place::HookPlace { dir, theirs } = place::choose(self.repo)?;
        let mut states = inspect(&dir, before)?;
        if theirs.is_some() {
            // Hooks that call others are written next to the shims.
            for state in &mut states {
                state.chained = HookFile::Nothing;
            }
        }
        let intents = plan::install(&dir, &states, self.program)
            .map_err(|conflicts| InstallError::Conflicts { conflicts })?;
        for (hook, intent) in &intents {
            if let Intent::Write(displaced) = intent {
                self.shim(&dir, *hook, *displaced);
            }
        }
        self.remember_shims(&dir, &intents);
        (self.report.hooks_dir, self.report.hooks) = (dir, intents);
        theirs.map_or(Ok(()), |theirs| self.lead_on(&theirs))
    }

    fn shim(&mut self, dir: &Path, hook: GitHook, displaced: Displacement) {
        let (at, chained) = (dir.join(hook.name()), dir.join(hook.chained_name()));
        let (from, to) = (at.clone(), chained);
        self.report.steps.extend(match displaced {
            Displacement::Chained => Some(Step::Chain { from, to }),
            Displacement::NewerOfSameTool => Some(Step::Rename { from, to }),
            Displacement::Nothing | Displacement::OlderShim | Displacement::Twin => None,
        });
        let before = (displaced != Displacement::Nothing).then(|| fs::read(&at).unwrap_or_default());
        let shim = shim::render(self.program, hook);
        self.report.steps.push(Step::Write(Edit::whole(at, before, shim, FileKind::Hook)));
    }

    fn remember_shims(&mut self, dir: &Path, intents: &[(GitHook, Intent)]) {
        let places = &mut self.manifest.places;
        let at = places.iter().position(|place| *place.dir == dir).unwrap_or_else(|| {
            let (dir, created) = (AbsolutePath(dir.to_owned()), Vec::new());
            places.push(HooksFolder { dir, created, shims: BTreeMap::new() });
            places.len() - 1
        });
        let created = missing_folders(&dir.join("hook"));
        if !created.is_empty() {
            places[at].created = created.into_iter().map(AbsolutePath).collect();
        }
        for (hook, _) in intents.iter().filter(|(_, intent)| !matches!(intent, Intent::RunsThrough(_))) {
            let digest = shim::digest(&shim::render(self.program, *hook));
            places[at].shims.insert(hook.name().to_owned(), digest);
        }
    }

    /// Has git look into the directory of this repository alone, whose hooks run those of all repositories.
    fn lead_on(&mut self, theirs: &SharedHooksPath) -> Result<()> {
        let dir = &self.report.hooks_dir;
        self.report.steps.extend(forward::changes(dir, &theirs.dir)?);
        self.report.remarks.push(format!(
            "core.hooksPath is {:?} for all your repositories ({}); for this one it is now {}, whose hooks are andon's and \
             then run those there",
            theirs.set_by.value,
            theirs.set_by.origin,
            dir.display()
        ));
        if !theirs.hidden {
            let entry = (HOOKS_PATH.to_owned(), dir.to_string_lossy().into_owned());
            self.remember(&entry);
            self.configure(vec![Step::Set(entry)]);
        }
        Ok(())
    }

    fn configure(&mut self, changes: Vec<Step>) {
        self.report.changed_besides |= !changes.is_empty();
        self.report.steps.extend(changes);
    }

    /// Takes out what an earlier mode had put in place.
    fn leave_earlier(&mut self) {
        let (removal, remarks) = (&self.removal, &mut self.report.remarks);
        let before = remarks.len();
        let out_of = |path: &PathBuf| format!("the lines of the earlier mode are out of {}", path.display());
        remarks.extend(removal.files.iter().map(out_of));
        if removal.hook_keys > 0 {
            remarks.push("the hooks of the earlier mode are out of the configuration".to_owned());
        }
        let out_of =
            |place: &PlaceReport| format!("the shims of the earlier mode are out of {}", place.dir.display());
        remarks.extend(removal.places.iter().filter(|place| place.took_any()).map(out_of));
        self.report.changed_besides |= remarks.len() > before;
        self.report.steps.extend(removal.steps.iter().cloned());
    }

    /// Commits report that lefthook does not run its hooks yet.
    fn notice(&mut self) -> Result<()> {
        let dir = &self.report.hooks_dir;
        let is_wanted = self.report.choice.mode == Integration::Lefthook
            && !live::lefthook_runs(dir)
            && !matches!(place::hooks_override(self.repo)?, Override::Foreign(_));
        let steps = &self.report.steps;
        let is_removed = |path: &PathBuf| steps.contains(&Step::Remove { path: path.clone(), rest: None });
        let place = lefthook::place_of_notice(dir, is_removed).filter(|_| is_wanted);
        let is_written =
            |path: &PathBuf| steps.iter().any(|step| matches!(step, Step::Write(edit) if edit.path == *path));
        let there: Vec<PathBuf> = lefthook::notices(dir).collect();
        let stays = place.as_ref().is_some_and(|place| there.contains(place));
        let goes = there.into_iter().filter(|path| place.as_ref() != Some(path) && !is_written(path));
        let mut changes: Vec<Step> = goes.map(|path| Step::Remove { path, rest: None }).collect();
        changes.retain(|step| !steps.contains(step));
        let notice = |path| Edit::whole(path, None, lefthook::NOTICE.into(), FileKind::Program);
        changes.extend(place.filter(|_| !stays).map(notice).map(Step::Write));
        self.configure(changes);
        Ok(())
    }

    /// The keys of fetching and pushing.
    fn settings(&mut self, args: &InstallArgs) -> Result<()> {
        let (fetch, push) = (fetch_changes(self.repo, args)?, push_changes(self.repo, args)?);
        for change in fetch.iter().chain(&push) {
            if let Step::Set(value) = change {
                self.remember(value);
                let report = &mut self.report;
                if value.0 == PUSH_KEY {
                    report.push = Some(value.1.clone());
                } else {
                    report.fetch.push(value.clone());
                }
            }
        }
        self.report.steps.extend(fetch.into_iter().chain(push));
        Ok(())
    }

    fn remember(&mut self, value: &KeyValue) {
        let is_replaced =
            |earlier: &KeyValue| earlier == value || (value.0 == PUSH_KEY && earlier.0 == PUSH_KEY);
        self.manifest.fetch.retain(|earlier| !is_replaced(earlier));
        self.manifest.fetch.push(value.clone());
    }

    /// The manifest is first: an entry for what never came to be does no harm. What goes is still in it then.
    fn keep(&mut self, before: &Manifest) {
        let path = Manifest::path(self.repo.common_dir());
        let write = |manifest: Manifest| Step::Manifest(path.clone(), Some(Box::new(manifest)));
        let both = self.manifest.with(before);
        let steps = &mut self.report.steps;
        if both != self.manifest {
            steps.push(write(self.manifest.clone()));
        }
        if both != *before {
            steps.insert(0, write(both));
        }
    }
}

/// `andon install --dry-run`: nothing is changed, and what would make installing fail makes this fail.
pub fn preview(repo: &Repo, program: &Path, args: &InstallArgs) -> Result<InstallReport> {
    let mut report = Plan::make(repo, program, args)?.report;
    let top = repo.workdir().unwrap_or(repo.common_dir());
    let mut later = Vec::new();
    if report.first_config.is_some() || is_schema_due(repo, top) {
        later.push((schema_file(repo), schema_text().into_bytes()));
    }
    later.extend(AndonDir::below(top).unprepared().map(|(path, text)| (path, text.to_owned())));
    let written = |(path, text)| Step::Write(Edit::whole(path, None, text, FileKind::Text));
    report.steps.extend(later.into_iter().map(written));
    report.waits = live::manager_waits(repo, report.choice.mode, &report.hooks_dir);
    Ok(report)
}

/// Installs the hooks that start `program` (absolute) and writes the first `andon.toml`. Nothing is changed when it
/// fails.
pub fn install(repo: &Repo, program: &Path, args: &InstallArgs) -> Result<InstallReport> {
    let Plan { mut report, removal, .. } = Plan::make(repo, program, args)?;
    steps::apply(Some(repo), &report.steps)?;
    removal.remove_dirs();
    let top = repo.workdir().unwrap_or(repo.common_dir());
    // `touch .andon/STOP` has to work from now on. Anything else in its place is reported where it matters.
    let _ = AndonDir::below(top).prepare();
    report.remarks.extend(place::remarks(repo, top, report.choice.mode, &report.hooks_dir));
    report.remarks.extend(managers::remarks(top, report.choice.mode));
    report.waits = managers::waits(repo, report.choice.mode);
    report.changed_besides |= write_schema(repo, top);
    Ok(report)
}

// The JSON Schema that the first line of `andon.toml` names: editors look into a file of this repository, since no address
// can be promised. Installing writes it in the version of the program that is installed.

/// Most of `andon.toml` that is searched for the name of the schema.
const MAX_BYTES: u64 = 1024 * 1024;

fn schema_text() -> String {
    let schema = serde_json::to_string_pretty(&config::schema()).unwrap_or_default();
    format!("{schema}\n")
}

/// True if `andon.toml` names the schema, and it is not there as it should be.
fn is_schema_due(repo: &Repo, top: &Path) -> bool {
    let file = top.join(CONFIG_FILE);
    let short = fs::metadata(&file).is_ok_and(|facts| facts.is_file() && facts.len() <= MAX_BYTES);
    let named = short && fs::read_to_string(&file).is_ok_and(|config| config.contains(SCHEMA_FILE));
    named && !fs::read_to_string(schema_file(repo)).is_ok_and(|found| found == schema_text())
}

/// Writes the schema where it is due; true if it did. An editor can do without: what fails here fails nothing.
fn write_schema(repo: &Repo, top: &Path) -> bool {
    let path = schema_file(repo);
    let made = |folder: &Path| fs::create_dir_all(folder).is_ok();
    is_schema_due(repo, top) && path.parent().is_some_and(made) && fs::write(&path, schema_text()).is_ok()
}
